"""Filters of the grid: what they let through, and what they refuse."""

from __future__ import annotations

import pytest

from tablewright.conditions.evaluate import make_column_filter
from tablewright.domain.condition import CONDITION_OPERATORS, Condition
from tablewright.domain.documents import Truth
from tablewright.domain.model import Cell, Evidence, Field, FieldType, Money, Value
from tablewright.errors import UsageError
from tablewright.values.coerce import coerce_value


def truth(value: Value, operator: str, *wanted: str, field: Field) -> Truth:
    value = coerce_value(value, field).value if isinstance(value, str) else value
    test = make_column_filter(Condition(column=field.name, operator=operator, values=wanted), [field])
    return test({field.name: Cell(value=value)}).truth


@pytest.mark.parametrize(
    ("value", "operator", "wanted", "expected"),
    [
        ("50 GBP", "<", "60 GBP", "match"),
        ("70 GBP", "<", "60 GBP", "no match"),
        ("50 USD", "<", "60 GBP", "not stated"),
        ("55 KWD", "<", "60 GBP", "not stated"),
        ("50 USD", ">=", "60 GBP", "not stated"),
        ("60 USD", "=", "60 GBP", "not stated"),
        ("60 USD", "!=", "60 GBP", "not stated"),
        ("60 GBP", "=", "60 GBP", "match"),
        ("60 GBP", "!=", "60 GBP", "no match"),
        ("50 USD", "<", "60", "match"),
        ("50 USD", "=", "USD", "match"),
    ],
)
def test_amounts_are_compared_in_one_currency_only(value: str, operator: str, wanted: str, expected: Truth) -> None:
    assert truth(value, operator, wanted, field=Field(name="Price", type="money")) == expected


def test_a_bare_amount_is_in_the_currency_of_its_column() -> None:
    pounds = Field(name="Price", type="money", unit="GBP")
    assert truth("50 USD", "<", "60", field=pounds) == "not stated"
    assert truth("50", "<", "60", field=pounds) == "match"


@pytest.mark.parametrize(
    ("value", "operator", "wanted", "expected"),
    [
        ("2018", "<", "2018-06-01", "not stated"),
        ("2017", "<", "2018-06-01", "match"),
        ("2018-05-03", "=", "2018", "match"),
        ("2019-05", ">", "2018", "match"),
        ("2019-05", "in month", "5", "match"),
        ("2019-05", "in month", "6", "no match"),
    ],
)
def test_a_date_is_compared_as_far_as_it_is_known(value: str, operator: str, wanted: str, expected: Truth) -> None:
    assert truth(value, operator, wanted, field=Field(name="Day", type="date")) == expected


@pytest.mark.parametrize(
    ("type", "value", "operator", "wanted", "expected"),
    [
        ("text", "Tyres & Co", "=", "tires and co", "no match"),
        ("text", "The Tyre-Shop", "=", "the tire shop", "match"),
        ("text", "Nordwind GmbH", "contains", "wind", "match"),
        ("text", "Nordwind GmbH", "not contains", "wind", "no match"),
        ("text", "10 kg", "<", "3 kg", "no match"),
        ("text", "Ann", "<", "Bob", "match"),
        ("boolean", "yes", "=", "yes", "match"),
        ("boolean", "yes", "=", "true", "match"),
        ("boolean", "no", "contains", "yes", "no match"),
        ("list", "red, blue", "!=", "blue", "no match"),
    ],
)
def test_texts_are_compared_as_people_mean_them(
    type: FieldType, value: str, operator: str, wanted: str, expected: Truth
) -> None:
    assert truth(value, operator, wanted, field=Field(name="Value", type=type)) == expected


def test_a_filter_takes_several_values_and_both_ends_of_a_range() -> None:
    weight = Field(name="Weight", type="number", unit="kg")
    assert truth("2 kg", "between", "1500 g", "3", field=weight) == "match"
    assert truth("2 kg", "=", "1", "2", field=weight) == "match"


def test_a_column_is_compared_with_another_one_of_its_row() -> None:
    fields = [Field(name="Paid", type="date"), Field(name="Due date", type="date")]
    late = make_column_filter(Condition(column="Paid", operator=">", values=("{due date}",)), fields)
    dates = [("2026-04-02", "2026-04-01"), ("2026-04-01", "2026-04-01"), ("2026-04-02", None)]
    found = [late({"Paid": Cell(value=paid), "Due date": Cell(value=due)}).truth for paid, due in dates]
    assert found == ["match", "no match", "not stated"]


def test_cells_that_are_equal_but_written_differently_get_their_own_verdicts() -> None:
    field = Field(name="Size")
    cells = [
        Cell(value=1),
        Cell(value=1.0),
        Cell(value=True),
        Cell(value="1"),
        Cell(value=Money(amount=1)),
        Cell(value=Money(amount=1.0)),
        Cell(value=1, raw_value="1.00", status="ENRICHED"),
        Cell(value=1, raw_value="1.00", status="ENRICHED", run_id="r"),
    ]
    for operator, wanted in (("contains", "1.0"), ("contains", "yes"), ("=", "1"), ("<", "2")):
        condition = Condition(column="Size", operator=operator, values=(wanted,))
        of_all = make_column_filter(condition, [field])
        alone = [make_column_filter(condition, [field])({"Size": cell}) for cell in cells]
        assert [of_all({"Size": cell}) for cell in cells * 2] == alone * 2


def test_the_quote_of_a_date_decides_how_sure_it_is() -> None:
    day, clear, open = (
        "2026-04-02",
        Evidence(origin="u", quote="2 April 2026"),
        Evidence(origin="u", quote="02/04/2026"),
    )
    before_march = make_column_filter(
        Condition(column="Day", operator="<", values=("2026-03-01",)), [Field(name="Day", type="date")]
    )
    guesses = [bool(before_march({"Day": Cell(value=day, evidence=(each,))}).guess) for each in (clear, open, clear)]
    assert guesses == [False, True, False]


def test_an_empty_cell_passes_only_where_a_difference_is_asked_for() -> None:
    field = Field(name="Price", type="money")
    for operator in ("=", "!=", "<", "<=", ">", ">=", "contains", "not contains"):
        passes = truth(None, operator, "5 EUR", field=field)
        assert passes == ("match" if operator in ("!=", "not contains") else "no match")


@pytest.mark.parametrize(
    ("operator", "values"),
    [("like", ("5",)), ("<", ()), ("<", ("cheap",)), ("between", ("5",)), ("in month", ("13",)), ("=", ("{Cost}",))],
)
def test_a_filter_that_cannot_be_applied_is_refused(operator: str, values: tuple[str, ...]) -> None:
    field = Field(name="Price", type="money")
    with pytest.raises(UsageError):
        make_column_filter(Condition(column="Price", operator=operator, values=values), [field])


def test_a_refusal_is_a_sentence() -> None:
    with pytest.raises(UsageError, match=r"^The condition on Price needs 2 value\(s\)\.$"):
        make_column_filter(Condition(column="Price", operator="between", values=("5",)), [Field(name="Price")])


def test_every_operator_has_a_filter() -> None:
    wanted = {"between": ("1", "2"), "in month": ("3",), "known": (), "unknown": ()}
    for operator in CONDITION_OPERATORS:
        make_column_filter(
            Condition(column="Day", operator=operator, values=wanted.get(operator, ("2024",))), [Field(name="Day")]
        )


def test_filled_and_empty_cells_are_told_apart() -> None:
    cells = {name: {"Day": cell} for name, cell in (("filled", Cell(value="2024")), ("empty", Cell(value=None)))}
    for operator, passing in (("known", "filled"), ("unknown", "empty")):
        test = make_column_filter(Condition(column="Day", operator=operator), [Field(name="Day")])
        assert [name for name, row in cells.items() if test(row).truth == "match"] == [passing]
        assert test({}).truth == test(cells["empty"]).truth, "a cell that was never written is empty"
