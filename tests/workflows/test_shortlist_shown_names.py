"""Commands name a column as it is shown: in the language of the conversation, or by its own name."""

from __future__ import annotations

import pytest
from msgspec import structs

from tablewright.domain.model import Cell, Field, Money, Row, Table, Value
from tablewright.domain.shortlist import MEETS_FIELD, PRICE_FIELD, PRODUCT_COLUMN, ShortlistState
from tablewright.strategies.strategy import Task
from tablewright.strategies.subject import other_columns
from tablewright.values.money import ExchangeRates
from tablewright.values.shortlist_form import parse_command
from tablewright.workflows.shortlist.ranking import format_product_value
from tablewright.workflows.shortlist.understanding import interpret_command


def row(id: int, amount: float) -> Row:
    return Row(
        id=id,
        cells={PRODUCT_COLUMN: Cell(value=f"Lamp {id}"), "Price": Cell(value=Money(amount=amount, currency="EUR"))},
    )


TABLE = Table(
    id="t", name="Lamps", fields=(Field(name=PRODUCT_COLUMN), PRICE_FIELD, MEETS_FIELD), rows=(row(1, 90), row(2, 40))
)


@pytest.mark.parametrize("name", ["Preis", "preis", "Price"])
def test_a_column_is_sorted_by_under_the_name_it_is_shown(name: str) -> None:
    command = parse_command(f"/sort {name}")
    assert command is not None
    assert interpret_command(command, ShortlistState(id="h", language="de"), TABLE, ()).products == (2, 1)


@pytest.mark.parametrize(
    ("value", "field", "shown"),
    [
        (Money(amount=1234.5, currency="EUR"), PRICE_FIELD, "1234,50 EUR"),
        (1.7, Field(name="Inhalt", type="number", unit="l"), "1,7 l"),
        ("USB 3.2", Field(name="Anschluss"), "USB 3.2"),
    ],
)
def test_figures_are_written_in_the_language_of_the_conversation(value: Value, field: Field, shown: str) -> None:
    assert format_product_value(value, field, "de") == shown


def test_a_plan_of_searches_knows_the_same_columns_for_every_row() -> None:
    warranty = Field(name="Warranty", type="number", unit="years")
    assert other_columns(Task(table=TABLE, fields=(warranty,)), PRODUCT_COLUMN) == ("Price",)


def test_prices_are_sorted_by_what_they_are_worth() -> None:
    """690 crowns are less than 60 euros."""
    crowns = Row(
        id=3, cells={PRODUCT_COLUMN: Cell(value="Lamp 3"), "Price": Cell(value=Money(amount=690, currency="NOK"))}
    )
    rates = ExchangeRates(date="2026-01-02", per_euro={"EUR": 1.0, "NOK": 12.0})
    command = parse_command("/sort Price")
    assert command is not None
    table = structs.replace(TABLE, rows=(crowns, *TABLE.rows))
    assert interpret_command(command, ShortlistState(id="h"), table, (), rates).products == (2, 3, 1)
