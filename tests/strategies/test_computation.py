"""Formulas in words, over the whole path: one translation for a table, rows written where none can be made."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Field, Money, Row, Table, make_given_cell
from tablewright.domain.proposal import ProposedCell
from tablewright.errors import BadFormula
from tablewright.formulas.formula import Formula
from tablewright.formulas.functions import Unevaluable
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import plan_fill
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.strategies.computation import ComputationStrategy
from tablewright.strategies.strategy import NO_TOOLS, Task
from tests.llm.endpoint import Asked, Endpoint, Reply, answer, refusal, running_endpoint

GROSS = "Gross:number={Price} plus 19% VAT"
KIND = "Kind:select(person, firm)=whether {Name} is a person or a firm"


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    async with running_endpoint() as running:
        yield running


def with_model(folder: Path, endpoint: Endpoint, **values: str) -> Settings:
    return Settings(
        home=str(folder),
        model="openai:gpt-4o-mini",
        model_base_url=endpoint.url,
        model_api_key="k",
        model_timeout="10",
        **values,
    )


async def compute(settings: Settings, folder: Path, table: str, *fields: str) -> tuple[list[ProposedCell], Any]:
    (folder / "table.csv").write_text(table, encoding="utf-8")
    async with Services.open(settings) as services:
        imported = await import_table_file(services, folder / "table.csv")
        run = await plan_fill(services, imported.table.id, [parse_field(text) for text in fields], "computation")
        filled = await run.run()
        assert filled.status in ("done", "over_budget")
        return list(await services.store.proposals.operations(filled.proposal_id)), filled.usage


def translation(expression: str) -> Reply:
    return answer({"expression": expression, "missing": ""})


def written(field: str, value: str, *used: str) -> Reply:
    return answer({field: {"value": value, "used": list(used)}})


def never_translated(write: Callable[[str], Reply]) -> Callable[[Asked], Reply]:
    """Says that no formula can say it, then writes each row from its prompt."""

    def reply(asked: Asked) -> Reply:
        instructions, prompt = (asked.body["messages"][at]["content"] for at in (0, -1))
        if "Columns to write:" not in instructions:
            return translation("")
        rows = prompt.split("=== ROW ")[1:]  # several in one call
        return refusal(400) if rows else write(prompt)

    return reply


def trace(operation: ProposedCell) -> list[str]:
    return [step.detail for step in operation.steps]


def test_a_formula_says_which_column_it_misses() -> None:
    formula = Formula("{Price} * 2", [Field(name="Price")])
    with pytest.raises(Unevaluable, match="Price is not there"):
        formula.evaluate({})
    assert formula.written({}) == "{Price} * 2"


# ── one translation for the table ────────────────────────────────────────────────────────────────────────────────────


def test_a_model_is_opened_only_for_words() -> None:
    table = Table(id="t", name="t", fields=(Field(name="Name"), Field(name="Price", type="number")))
    strategy = ComputationStrategy()
    exact = Task(table=table, fields=(parse_field("A:number={Price} * 2"),))
    words = Task(table=table, fields=(parse_field("A:number={Price} * 2"), parse_field(GROSS)))
    assert (strategy.needs(exact), strategy.columns(exact)) == ((), {"Price"})
    assert (strategy.needs(words), strategy.columns(words)) == (("model",), None)


async def test_words_are_translated_once_for_fifty_rows(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.otherwise = translation("round({Price} * 1.19, 2)")
    table = "Name,Price\n" + "".join(f"n{price},{price}\n" for price in range(1, 51))
    operations, usage = await compute(with_model(tmp_path, endpoint), tmp_path, table, GROSS)
    assert len(endpoint.asked) == usage.llm_calls == 1
    assert [operation.cell.value for operation in operations] == [round(price * 1.19, 2) for price in range(1, 51)]
    first = operations[0]
    assert (first.cell.confidence, first.cell.basis) == (1.0, "computed")
    assert (first.cell.evidence[0].origin, first.cell.evidence[0].quote) == ("formula", "round(1 * 1.19, 2) = 1.19")
    assert trace(first)[:2] == [
        "“{Price} plus 19% VAT” is round({Price} * 1.19, 2)",
        "round(1 * 1.19, 2) = 1.19",
    ]


async def test_a_translation_that_cannot_be_used_is_asked_again_with_what_is_wrong(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.replies = [translation("{Price} * 1.07"), translation("{Price} * 1.19")]
    operations, usage = await compute(with_model(tmp_path, endpoint), tmp_path, "Name,Price\na,100\nb,200\n", GROSS)
    assert [operation.cell.value for operation in operations] == [119, 238]
    assert usage.llm_calls == 2
    assert "The number 1.07 is not in the words." in endpoint.asked[1].body["messages"][-1]["content"]


async def test_a_translation_sees_no_value_of_any_row(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.otherwise = translation("{Price} * 1.19")
    await compute(with_model(tmp_path, endpoint), tmp_path, "Name,Price\nQuillon,31337\n", GROSS)
    assert "31337" not in str(endpoint.asked[0].body)
    assert "Quillon" not in str(endpoint.asked[0].body)


async def test_words_may_name_columns_without_braces(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.otherwise = translation("{Price} * {Amount}")
    fields = "Total:number=what the amount costs at this price"
    operations, _ = await compute(with_model(tmp_path, endpoint), tmp_path, "Name,Price,Amount\na,2,3\nb,,3\n", fields)
    assert [(each.cell.value, each.cell.reason) for each in operations] == [(6, None), (None, "not_applicable")]
    assert operations[1].cell.error == "Price is empty"


async def test_a_later_column_may_use_one_that_was_translated(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.otherwise = translation("{Price} * 1.19")
    fields = (GROSS, "Double:number={Gross} * 2")
    operations, usage = await compute(with_model(tmp_path, endpoint), tmp_path, "Name,Price\na,100\n", *fields)
    assert {each.field: each.cell.value for each in operations} == {"Gross": 119, "Double": 238}
    assert usage.llm_calls == 1


async def test_an_expression_fails_for_a_row_as_a_formula_does(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.otherwise = translation("{Price} / {Amount}")
    fields = "Each:number=the {Price} for one of {Amount}"
    operations, usage = await compute(with_model(tmp_path, endpoint), tmp_path, "Price,Amount\n4,2\n4,0\n", fields)
    assert [(each.cell.value, each.cell.error) for each in operations] == [(2, None), (None, "division by zero")]
    assert usage.llm_calls == 1


async def test_a_column_that_is_filled_already_costs_nothing(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.otherwise = translation("{Price} * 1.19")
    table = "Name,Price,Gross,Other\na,100,5,\n"
    operations, usage = await compute(
        with_model(tmp_path, endpoint), tmp_path, table, GROSS, "Other:number={Price} * 2"
    )
    assert ([each.field for each in operations], usage.llm_calls) == (["Other"], 0)


async def test_a_formula_that_can_be_read_asks_no_model(endpoint: Endpoint, tmp_path: Path) -> None:
    fields = (
        "Double:number={Price} * 2",
        "Label=IF({Price} > 100, 'dear', 'cheap')",
        "M:number=CONVERT({Price}, 'feet', 'm')",
    )
    operations, usage = await compute(with_model(tmp_path, endpoint), tmp_path, "Name,Price\na,120\n", *fields)
    assert {each.field: each.cell.value for each in operations} == {"Double": 240, "Label": "dear", "M": 36.576}
    assert (usage.llm_calls, endpoint.asked) == (0, [])


async def test_a_formula_may_say_what_becomes_of_an_empty_cell(tmp_path: Path) -> None:
    fields = ("Seat={City} or {Country}", "Known:boolean={City} <> ''", "Both={City} & ', ' & {Country}")
    settings = Settings(home=str(tmp_path), model="builtin")
    operations, _ = await compute(settings, tmp_path, "Name,City,Country\na,,Peru\n", *fields)
    cells = {each.field: each.cell for each in operations}
    assert (cells["Seat"].value, cells["Known"].value) == ("Peru", False)
    assert (cells["Both"].reason, cells["Both"].error) == ("not_applicable", "City is empty")
    assert cells["Seat"].evidence[0].quote == "empty or 'Peru' = Peru"


async def test_amounts_in_different_currencies_are_not_added_up(tmp_path: Path) -> None:
    fields = ("A:money={X}", "B:money={Y}", "Sum:money={A} + {B}", "Both={A} & ' or ' & {B}")
    settings = Settings(home=str(tmp_path), model="builtin")
    operations, _ = await compute(settings, tmp_path, "Name,X,Y\na,EUR 10,USD 10\nb,EUR 10,EUR 5\n", *fields[:2])
    assert str(operations[0].cell.value) == "10 EUR"
    strategy = ComputationStrategy()
    table = Table(id="t", name="t", fields=(Field(name="A", type="money"), Field(name="B", type="money")))
    task = Task(table=table, fields=tuple(map(parse_field, fields[2:])))
    row = Row(
        id=1,
        cells={
            "A": make_given_cell(Money(amount=10, currency="EUR")),
            "B": make_given_cell(Money(amount=10, currency="USD")),
        },
    )
    total, both = await strategy.prepare(task, NO_TOOLS)(row, lambda step, *fields: None)
    assert total.error == "EUR and USD are different currencies, which a formula does not convert"
    assert both.value == "10 EUR or 10 USD"


async def test_a_money_column_takes_the_currency_of_a_text(tmp_path: Path) -> None:
    settings = Settings(home=str(tmp_path), model="builtin")
    fields = "Gross:money={Net} * 2"
    operations, _ = await compute(settings, tmp_path, "Name,Net\na,€10.50\nb,12\nc,?\n", fields)
    assert [str(each.cell.value) for each in operations] == ["21.00 EUR", "24", "None"]


# ── written row by row ───────────────────────────────────────────────────────────────────────────────────────────────


async def test_what_no_formula_can_say_is_written_for_each_row(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.otherwise = never_translated(
        lambda prompt: written("Kind", "person" if "Ann Lee" in prompt else "firm", "Name")
    )
    operations, usage = await compute(with_model(tmp_path, endpoint), tmp_path, "Name\nAnn Lee\nLee Ltd\n", KIND)
    assert [each.cell.value for each in operations] == ["person", "firm"]
    assert usage.llm_calls == 3, "the formula, and each row by itself"
    first = operations[0]
    assert (first.cell.confidence, first.cell.basis) == (0.75, "judged")
    assert (first.cell.evidence[0].origin, first.cell.evidence[0].quote) == ("row", "Name: Ann Lee")
    assert "no formula can say it" in trace(first)[0]


async def test_a_translation_that_stays_unusable_is_said_in_every_row_and_not_bought_again(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.otherwise = translation("{Price} * 1.07")
    table = "Name,Price\n" + "".join(f"n{price},{price}\n" for price in range(1, 6))
    operations, usage = await compute(with_model(tmp_path, endpoint), tmp_path, table, GROSS)
    assert usage.llm_calls == 2
    assert {each.cell.reason for each in operations} == {"error"}
    assert "No formula could be made of “{Price} plus 19% VAT”: The number 1.07" in (operations[0].cell.error or "")


async def test_empty_columns_are_not_applicable_unless_the_words_say_what_then(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.replies = [translation("{Price} * 1.19"), translation(""), translation("UPPER({Name}) or 'nobody'")]
    fields = (GROSS, KIND, "Tag={Name} in capitals, or 'nobody'")
    operations, usage = await compute(with_model(tmp_path, endpoint), tmp_path, "Name,Price,Note\n,,x\n", *fields)
    assert {each.field: (each.cell.value, each.cell.reason, each.cell.error) for each in operations} == {
        "Gross": (None, "not_applicable", "Price is empty"),
        "Kind": (None, "not_applicable", "Name is empty"),
        "Tag": ("nobody", None, None),
    }
    assert usage.llm_calls == 3, "the three translations, and nothing for the row"


# ── when there is no model, or none that answers ─────────────────────────────────────────────────────────────────────


async def test_without_a_model_a_verbal_formula_is_refused_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(BadFormula) as caught:
        await compute(Settings(home=str(tmp_path), model="builtin"), tmp_path, "Name,Price\na,100\nb,\n", GROSS)
    assert "'{Price} plus 19% VAT' is not a formula that can be read: 'plus' cannot stand there." in str(caught.value)
    assert "TABLEWRIGHT_MODEL" in str(caught.value)


async def test_a_spent_budget_leaves_every_cell_with_its_reason(endpoint: Endpoint, tmp_path: Path) -> None:
    settings = with_model(tmp_path, endpoint, budget="0.0000001")
    operations, usage = await compute(settings, tmp_path, "Name,Price\na,1\nb,2\n", GROSS)
    assert [each.cell.reason for each in operations] == ["over_budget"] * 2
    assert all(each.cell.error for each in operations)
    assert (usage.llm_calls, endpoint.asked) == (0, [])


async def test_an_endpoint_that_is_down_is_asked_once_for_the_table(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.otherwise = refusal(401)
    table = "Name,Price\n" + "".join(f"n{price},{price}\n" for price in range(1, 31))
    operations, _ = await compute(with_model(tmp_path, endpoint), tmp_path, table, GROSS)
    assert len(endpoint.asked) == 1
    assert {(each.cell.status, each.cell.reason) for each in operations} == {("FAILED", "error")}
    assert len(operations) == 30
    assert all(each.cell.error and "built-in rule" not in each.cell.error for each in operations)


async def test_a_row_for_which_the_endpoint_fails_stays_open(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.otherwise = never_translated(
        lambda prompt: refusal(400) if "Bo Ng" in prompt else written("Kind", "person", "Name")
    )
    operations, _ = await compute(with_model(tmp_path, endpoint), tmp_path, "Name\nAnn Lee\nBo Ng\n", KIND)
    assert [(each.row_id, each.cell.value) for each in operations] == [(1, "person")]
