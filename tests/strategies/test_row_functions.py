"""Functions as strategies: they declare what a class declares, and are asked in the same way."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tablewright as tw
from tablewright.domain.fieldspec import parse_field
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import FillOptions, plan_fill
from tablewright.operations.rows import SetCellRequest, set_cell
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.strategies.strategy import FunctionOptions
from tests.pages import Page, small_web
from tests.strategies.running import fill, notes

DOCS = Path(__file__).parents[2] / "docs" / "strategies.md"


def test_a_function_declares_all_that_a_class_declares() -> None:
    attributes = {name for name in {*vars(tw.Strategy), *tw.Strategy.__annotations__} if not name.startswith("_")}
    # The name is that of the function, or of its place in the file; the function itself is the answer.
    assert attributes - {"name", "prepare"} == FunctionOptions.__annotations__.keys()
    with pytest.raises(TypeError, match="takes no concurency"):
        tw.declare_strategy(concurency=2)  # type: ignore[call-arg]


async def test_the_function_of_the_page_has_parameters_pages_several_columns_and_an_estimate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (code,) = re.findall(r"^`plugins/labels\.py`\n\n```python\n(.*?)^```$", DOCS.read_text(), re.MULTILINE | re.DOTALL)
    plugins = tmp_path / "plugins"
    plugins.mkdir(mode=0o755)
    (plugins / "labels.py").write_text(code)
    monkeypatch.setenv("TABLEWRIGHT_PLUGINS", str(plugins))
    table = "Company,Notes\nAcme,a\nBell,b\n"
    fields = ("Founded:number", "Seat")
    async with AsyncExitStack() as stack:
        web = await stack.enter_async_context(
            small_web(
                {
                    "/acme": Page(title="Acme", body="<p>Founded: 1987</p><p>Seat: Aldermoor</p>"),
                }
            )
        )
        settings = web.settings(tmp_path)
        cells, operations, usage = await fill(settings, tmp_path, table, *fields, strategy="labels", words="profile")
        assert set(web.queries) == {"Acme profile", "Bell profile"}
        assert (cells["Founded"].value, cells["Seat"].value) == (1987, "Aldermoor")
        assert [(each.quote, each.origin) for each in cells["Founded"].evidence] == [
            ("Founded: 1987", web.url("/acme"))
        ]
        assert f"Read {web.url('/acme')}" in notes(operations[0], "fetch")
        assert usage.searches == 2
        with pytest.raises(tw.UsageError, match="pages must be a whole number from 1 to 5"):
            await fill(settings, tmp_path, table, *fields, strategy="labels", pages="9")
        async with Services.open(settings) as services:
            (tmp_path / "others.csv").write_text(table)
            imported = await import_table_file(services, tmp_path / "others.csv")
            run = await plan_fill(services, imported.table.id, [parse_field(text) for text in fields], "labels")
            estimate = await run.estimate()
    assert (run.rows_at_once, estimate.rows, estimate.searches, estimate.pages) == (2, 2, 2, 4)


class Quoteless(tw.Strategy):
    name, display_name = "quoteless", "Quoteless"

    def prepare(self, task: tw.Task, tools: tw.Tools) -> tw.Answer:
        async def answer(row: tw.Row, tell: tw.Tell) -> Sequence[tw.Finding]:
            return [tw.Finding(field=field.name, value="Aldermoor", confidence=0.9) for field in task.fields]

        return answer


def quoteless(row: dict[str, Any]) -> dict[str, str]:
    return {"Seat": "Aldermoor"}


@pytest.mark.parametrize("strategy", [Quoteless(), quoteless], ids=["class", "function"])
def test_a_value_without_a_quote_is_kept_and_marked_and_refused_if_evidence_is_strict(strategy: Any) -> None:
    cell = tw.enrich([{"Company": "Acme"}], ["Seat"], strategy=strategy).cell(0, "Seat")
    assert (cell.value, cell.confidence_label, cell.error) == ("Aldermoor", "medium", "No quote states it.")
    with pytest.warns(tw.TablewrightWarning, match="without a quote"):
        strict = tw.enrich([{"Company": "Acme"}], ["Seat"], strategy=strategy, evidence="strict").cell(0, "Seat")
    assert (strict.value, strict.error) == (None, "a value without a quote that states it")


def test_parameters_with_a_default_are_the_function_s_own() -> None:
    def remember(row: dict[str, Any], known: dict[str, str] = {"Acme": "Aldermoor"}, **_: str) -> dict[str, str]:  # noqa: B006
        return {"Seat": known[row["Company"]]}

    assert tw.enrich([{"Company": "Acme"}], ["Seat"], strategy=remember).column("Seat") == ["Aldermoor"]


async def test_a_function_in_a_thread_sees_open_columns_and_accepted_values_and_tells_its_steps(
    tmp_path: Path,
) -> None:
    asked: list[tuple[Any, ...]] = []

    def look(row: dict[str, Any], ask: tw.AskedRow) -> list[tw.Finding]:
        accepted = ask.task.examples.get("Seat", ())
        asked.append((row["Company"], [field.name for field in ask.fields], accepted, ask.question(ask.fields[0])))
        ask.tell(tw.Step(type="search", detail=f"asked for {row['Company']}"), ask.fields[0].name)
        return [tw.Finding(field="Staff", value=7)]

    (tmp_path / "table.csv").write_text("Company,Seat\nAcme,\nBell,Calder\n")
    async with Services.open(Settings(home=tmp_path)) as services:
        table = (await import_table_file(services, tmp_path / "table.csv")).table
        await set_cell(services, SetCellRequest(table=table.id, row_id=2, field="Seat", value="Dunmore"))
        fields = [parse_field("Seat=Where is {Company}?"), parse_field("Staff:number=How many work at {company}?")]
        filled = await (await plan_fill(services, table.id, fields, look, how=FillOptions(concurrency=1))).run()
        operations = await services.store.proposals.operations(filled.proposal_id)
    assert asked == [
        ("Acme", ["Seat", "Staff"], ("Dunmore",), "Where is Acme?"),
        ("Bell", ["Staff"], ("Dunmore",), "How many work at Bell?"),
    ]
    told = {(each.row_id, each.field): notes(each, "search") for each in operations}
    assert told == {(1, "Seat"): ["asked for Acme"], (1, "Staff"): [], (2, "Staff"): ["asked for Bell"]}


async def test_a_further_attempt_gives_a_function_the_weak_columns_and_what_was_tried(tmp_path: Path) -> None:
    seen: list[tuple[int, list[str]]] = []

    @tw.declare_strategy(needs=("web",))
    async def look(row: dict[str, Any], ask: tw.AskedRow) -> list[tw.Finding]:
        seen.append((ask.feedback.attempt, [field.name for field in ask.fields]))
        proof = (tw.Evidence(origin="https://a.example", quote="31 people"),)
        sure = tw.Finding(field="Staff", value=31, confidence=0.9, evidence=proof)
        return [sure] if ask.feedback.attempt == 1 else [tw.Finding(field="Seat", value="Calder", confidence=0.9)]

    async with small_web({}) as web:
        settings = replace(web.settings(tmp_path), attempts="2")
        cells, _, _ = await fill(settings, tmp_path, "Company\nAcme\n", "Seat", "Staff:number", strategy=look)  # type: ignore[arg-type]
    assert seen == [(1, ["Seat", "Staff"]), (2, ["Seat"])]
    assert (cells["Staff"].value, cells["Seat"].value) == (31, "Calder")


def test_rows_begin_in_the_order_of_the_table() -> None:
    begun: list[int] = []

    async def look(row: dict[str, Any]) -> dict[str, int]:
        begun.append(row["Number"])
        return {"Twice": 2 * row["Number"]}

    tw.enrich([{"Number": number} for number in range(60)], ["Twice:number"], strategy=look)
    assert begun == list(range(60))
