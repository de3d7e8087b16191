"""The filters of the grid, `--where`, `ask`, `find` and the adviser decide alike of the same cell and condition."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablewright.conditions.evaluate import NameSpellings, make_column_filter
from tablewright.domain.condition import Condition, parse_conditions
from tablewright.domain.documents import Document, Truth
from tablewright.domain.listing import ListPlan
from tablewright.domain.model import Cell, Field, FieldType, Row, Table, column_key
from tablewright.domain.shortlist import Requirements, Wish
from tablewright.llm.tasks.plan_question import PlannedColumn, PlannedCondition, text_search_plan
from tablewright.values.coerce import coerce_value
from tablewright.values.money import BUNDLED_RATES, ExchangeRates
from tablewright.workflows.ask.query import evaluate_plan
from tablewright.workflows.ask.query_rows import QueryRow, QueryScope, make_stated_facts
from tablewright.workflows.find.entities import judge_row
from tablewright.workflows.shortlist.ranking import ProductJudge

Decide = Callable[[Cell, Condition, Field, ExchangeRates], Truth]
NO_RATES = ExchangeRates(date="2026-01-02", per_euro={})


def decide_in_grid(cell: Cell, condition: Condition, field: Field, rates: ExchangeRates) -> Truth:
    return make_column_filter(condition, [field])({field.name: cell}).truth


def decide_in_ask(cell: Cell, condition: Condition, field: Field, rates: ExchangeRates) -> Truth:
    key = column_key(field.name)
    member = QueryRow(
        document=Document(id="d", name="d", path="d"), title="d", values={key: make_stated_facts(field, cell)}
    )
    column = PlannedColumn.model_validate({"name": field.name, "type": field.type, "question": "", "unit": field.unit})
    stated = {"column": condition.column, "operator": condition.operator, "values": list(condition.values)}
    planned = {"columns": [column], "conditions": [PlannedCondition.model_validate(stated)]}
    found, _ = evaluate_plan(
        text_search_plan("").model_copy(update=planned), QueryScope(members=[member]), NameSpellings()
    )
    return "match" if found.matches else "not stated" if found.undecided else "no match"


def decide_in_find(cell: Cell, condition: Condition, field: Field, rates: ExchangeRates) -> Truth:
    plan = ListPlan(question="", things="", fields=(Field(name="Name"), field), conditions=(condition,))
    return judge_row({field.name: cell}, plan, NameSpellings(), rates).truth


def decide_in_shortlist(cell: Cell, condition: Condition, field: Field, rates: ExchangeRates) -> Truth:
    wish = Wish(words="", hard=False, column=condition.column, operator=condition.operator, values=condition.values)  # type: ignore[arg-type]
    row = Row(id=1, cells={field.name: cell})
    table = Table(id="t", name="t", fields=(Field(name="Product"), field), rows=(row,))
    return ProductJudge(table, Requirements(wishes=(wish,)), rates, "").verdict(row, wish).truth


def decide_in_where(cell: Cell, condition: Condition, field: Field, rates: ExchangeRates) -> Truth:
    (written,) = parse_conditions(str(condition))
    return decide_in_find(cell, written, field, rates)


CALLERS: list[Decide] = [decide_in_grid, decide_in_ask, decide_in_find, decide_in_shortlist, decide_in_where]
PRICE, STAFF, WEIGHT = Field(name="Price", type="money"), Field(name="Staff", type="number"), "Weight"
DAY, WARM, MAKER = Field(name="Day", type="date"), Field(name="Keep warm", type="boolean"), Field(name="Maker")
TEXTS: dict[Field, list[str]] = {
    PRICE: ["50 USD", "50 GBP", "60 GBP", "55 KWD", "£60.00", "59.99 GBP"],
    STAFF: ["1,000,000", "1,004,000", "12.5", "0", "-3", "2018"],
    Field(name=WEIGHT, type="number", unit="kg"): ["2 kg", "2000 g", "1.5 kg", "4 lb", "2", "2.01"],
    DAY: ["2018", "2018-05", "3 May 2018", "2018-05-03", "2021-12-31"],
    WARM: ["yes", "Keep warm: Yes", "no", "true", "Nein"],
    MAKER: ["Nordwind GmbH", "NORDWIND GMBH", "Nord-Wind GmbH", "Südwind", "12", "Tyres", "tires"],
    Field(name="Colours", type="list"): ["red, blue", "blue", "green; red"],
}
ORDERED = ["<", "<=", ">", ">="]


def truths(
    text: str, operator: str, wanted: tuple[str, ...], field: Field, rates: ExchangeRates = NO_RATES
) -> dict[str, Truth]:
    value = coerce_value(text, field).value
    assert value is not None
    cell = Cell(value=value, raw_value=text, status="ENRICHED", confidence=1.0)
    condition = Condition(column=field.name, operator=operator, values=wanted)
    return {decide.__name__: decide(cell, condition, field, rates) for decide in CALLERS}


@st.composite
def comparisons(draw: st.DrawFn) -> tuple[str, str, tuple[str, ...], Field]:
    field = draw(st.sampled_from(list(TEXTS)))
    texts = st.sampled_from(TEXTS[field])
    is_figure = field.type in ("money", "number", "date")
    operator = draw(st.sampled_from(["=", "!=", *([*ORDERED, "between"] if is_figure else [])]))
    wanted = draw(st.tuples(texts, texts) if operator == "between" else st.lists(texts, min_size=1, max_size=2))
    return draw(texts), operator, tuple(wanted), field


@settings(max_examples=400)
@given(compared=comparisons())
def test_all_callers_decide_alike(compared: tuple[str, str, tuple[str, ...], Field]) -> None:
    found = truths(*compared)
    assert len(set(found.values())) == 1, found


@settings(max_examples=100)
@given(
    text=st.sampled_from(TEXTS[PRICE]),
    operator=st.sampled_from(["=", "!=", *ORDERED]),
    limit=st.sampled_from(TEXTS[PRICE]),
)
def test_a_rate_of_exchange_decides_only_what_is_not_stated(text: str, operator: str, limit: str) -> None:
    without, converted = truths(text, operator, (limit,), PRICE), truths(text, operator, (limit,), PRICE, BUNDLED_RATES)
    for caller, truth in without.items():
        assert truth in ("not stated", converted[caller])
    assert converted["decide_in_find"] == converted["decide_in_shortlist"]


@pytest.mark.parametrize(
    ("text", "operator", "wanted", "field", "expected"),
    [
        ("50 USD", "<", "60 GBP", PRICE, "not stated"),
        ("55 KWD", "<", "60 GBP", PRICE, "not stated"),
        ("50 GBP", "<", "60 GBP", PRICE, "match"),
        ("1,004,000", "=", "1,000,000", STAFF, "no match"),
        ("1,004,000", ">", "1,000,000", STAFF, "match"),
        ("Keep warm: Yes", "=", "yes", WARM, "match"),
        ("yes", "=", "Keep warm: Yes", WARM, "match"),
        ("yes", "=", "true", WARM, "match"),
        ("2 kg", "<=", "2000 g", Field(name=WEIGHT, type="number", unit="kg"), "match"),
        ("4 lb", "<", "2", Field(name=WEIGHT, type="number", unit="kg"), "match"),
        ("2018", "<", "2018-06-01", DAY, "not stated"),
        ("2018-05", "=", "2018", DAY, "match"),
        ("Nord-Wind GmbH", "=", "Nordwind GmbH", MAKER, "match"),
        ("12", "=", "13", MAKER, "no match"),
    ],
)
def test_what_they_decide(text: str, operator: str, wanted: str, field: Field, expected: Truth) -> None:
    assert set(truths(text, operator, (wanted,), field).values()) == {expected}


@pytest.mark.parametrize("type", ["money", "number", "date", "boolean", "text"])
def test_of_what_nobody_looked_for_nobody_but_a_filter_decides(type: FieldType) -> None:
    """A filter hides empty cells; whoever searches goes on searching for them."""
    field = Field(name="Value", type=type)
    condition = Condition(column="Value", operator="=", values=("5",))
    found = {decide.__name__: decide(Cell(), condition, field, NO_RATES) for decide in CALLERS}
    assert found.pop("decide_in_grid") == "no match"
    assert set(found.values()) == {"not stated"}
