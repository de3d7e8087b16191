"""Conditions of the grid: the same three answers that `ask` gives, from the same comparison."""

from __future__ import annotations

import pytest

from tablewright.conditions.column_filter import COMPARATORS, filter_on
from tablewright.conditions.judge import judge
from tablewright.domain.corpus import Condition, Truth
from tablewright.domain.form import Where
from tablewright.domain.model import Field, FieldType
from tablewright.values.coerce import coerce
from tablewright.values.typed import typed


def truth(value: str, operator: str, wanted: str, field: Field) -> Truth:
    return filter_on(Where(column=field.name, operator=operator, values=(wanted,)), field)(
        coerce(value, field).value
    ).truth


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
    ],
)
def test_amounts_are_compared_in_one_currency_only(value: str, operator: str, wanted: str, expected: Truth) -> None:
    assert truth(value, operator, wanted, Field(name="Price", type="money")) == expected


def test_a_bare_amount_is_in_the_currency_of_its_column() -> None:
    pounds = Field(name="Price", type="money", unit="GBP")
    assert truth("50 USD", "<", "60", pounds) == "not stated"
    assert truth("50", "<", "60", pounds) == "match"


@pytest.mark.parametrize(
    ("value", "operator", "wanted", "expected"),
    [
        ("2018", "<", "2018-06-01", "not stated"),
        ("2017", "<", "2018-06-01", "match"),
        ("2018-05-03", "=", "2018", "match"),
        ("2019-05", ">", "2018", "match"),
    ],
)
def test_a_date_is_compared_as_far_as_it_is_known(value: str, operator: str, wanted: str, expected: Truth) -> None:
    assert truth(value, operator, wanted, Field(name="Day", type="date")) == expected


@pytest.mark.parametrize("type", ["number", "money", "date"])
@pytest.mark.parametrize("operator", COMPARATORS)
def test_the_grid_decides_as_ask_decides(type: FieldType, operator: str) -> None:
    texts = {
        "number": ["-3", "0", "1970", "12.5", "2e6"],
        "money": ["5 USD", "5 GBP", "60 GBP", "1000 JPY", "4.99 EUR"],
        "date": ["1998", "1998-05", "1998-05-03", "2021-12-31"],
    }[type]
    field = Field(name="Value", type=type)
    label = "date" if type == "date" else ""
    for one in texts:
        for other in texts:
            asked = Condition(of="Value", comparator=COMPARATORS[operator], values=(typed(other, label),))
            assert truth(one, operator, other, field) == judge(typed(one, label), asked).truth, (one, other)


def test_an_empty_cell_passes_only_where_a_difference_is_asked_for() -> None:
    field = Field(name="Price", type="money")
    for operator in COMPARATORS:
        passes = filter_on(Where(column="Price", operator=operator, values=("5 EUR",)), field)
        assert passes(None).truth == ("match" if operator == "!=" else "no match")
