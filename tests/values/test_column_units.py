"""The unit that a column's own words say."""

from __future__ import annotations

import pytest

from tablewright.domain.model import Field, FieldType
from tablewright.values.units import find_column_unit, set_named_unit


@pytest.mark.parametrize(
    ("name", "question", "unit"),
    [
        ("Arm mm", "", "mm"),
        ("Height (m)", "", "m"),
        ("Length, mm", "", "mm"),
        ("Battery hours", "", "hours"),
        ("Share %", "", "%"),
        ("Height", "How tall is {Tower} in metres?", "metres"),
        ("Founded (year)", "", ""),
        ("Release year", "", ""),
        ("World cup", "", ""),
        ("Model T", "", ""),
        ("Sign in", "", ""),
        ("Author(s)", "", ""),
        ("Players (min)", "", ""),
        ("Wins", "How many did {Team} win in US?", ""),
        ("Price (EUR)", "", ""),
    ],
)
def test_a_number_has_the_unit_that_its_name_or_question_says(name: str, question: str, unit: str) -> None:
    assert find_column_unit(Field(name=name, type="number", question=question)) == unit


@pytest.mark.parametrize(("type", "unit"), [("money", "EUR"), ("text", ""), ("date", "")])
def test_only_numbers_and_amounts_get_one(type: FieldType, unit: str) -> None:
    assert set_named_unit(Field(name="Price (EUR)", type=type)).unit == unit


def test_a_given_unit_stays() -> None:
    assert set_named_unit(Field(name="Arm mm", type="number", unit="cm")).unit == "cm"
