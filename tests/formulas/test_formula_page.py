"""What docs/formulas.md shows is what comes of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Field, Money, Row, Value, make_given_cell
from tablewright.formulas.formula import LAZY_FUNCTIONS, Formula
from tablewright.formulas.functions import FORMULA_FUNCTIONS, Unevaluable
from tablewright.strategies.compute import CellComputer

PAGE = (Path(__file__).parents[2] / "docs" / "formulas.md").read_text(encoding="utf-8")
ROW: dict[str, Value] = {
    "Price": 12.5,
    "Quantity": 3,
    "First": "Ann",
    "Last": "Lee",
    "Product": "Kettle",
    "Gross": Money(amount=119, currency="EUR"),
    "City": None,
    "Country": "Peru",
    "Height": "5 ft 11 in",
    "Celsius": 35,
    "A": 0,
    "B": 5,
    "Size": 20,
    "Text": "x" * 600,
}
FIELDS = [Field(name=name) for name in ROW]
EXPECTED: dict[str, Value] = {
    "Total": 37.5,
    "Name": "Ann Lee",
    "Label": "Kettle x 3",
    "Class": "cheap",
    "Net": Money(amount=100, currency="EUR"),
    "Seat": "Peru",
    "Height": 180.34,
}


async def test_the_examples_of_the_page_compute_what_they_say() -> None:
    block = PAGE.split("```")[1]
    computer = CellComputer()
    row = Row(id=1, key="k", cells={name: make_given_cell(value) for name, value in ROW.items() if value is not None})
    try:
        found = {}
        for line in block.strip().splitlines():
            field = parse_field(line)
            finding = await computer.compute(field, Formula(field.question, FIELDS), FIELDS, row)
            found[field.name] = finding.value
    finally:
        await computer.close()
    assert found == EXPECTED


def test_the_page_names_every_function_and_no_other() -> None:
    table = PAGE.split("## The language")[1].split("**Numbers in text.**")[0]
    named = set(re.findall(r"\b([A-Z]{2,})\b", table)) - {"TRUE", "FALSE"}
    assert named == FORMULA_FUNCTIONS.keys() | LAZY_FUNCTIONS.keys() | {"NOT"}


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ('"€20" + 5', 25),
        ('"100" > "20"', True),
        ("'1.200,00' * 1", 1200),
        ("'3 pieces' * 1", 3),
        ("'12%' * 1", 0.12),
        ("{First} + {Last}", "AnnLee"),
        ("{A} or {B}", 5),
        ("FALSE or {B}", 5),
        ("{City} or {B}", 5),
        ("IF({City} = '', 'none', 'some')", "none"),
        ("SUM({City}, {B}) + AVERAGE({City}, {B}) + MIN({City}, {B}) + MAX({City}, {B})", 20),
        ("CONCAT({City}, {B})", "5"),
        ("10 < {Size} <= 20", True),
        ("'ann' = {First}", True),
        ("'2024-02-28' < '2024-03-02'", True),
        ("0.1 * 3", 0.3),
        ("ROUND(0.5) + ROUND(-1.5)", -1),
        ("CONVERT({Celsius}, '°C', '°F')", 95),
        ("CONVERT('72 in', 'ft', 'cm')", 182.88),
        ("CONVERT('6', 'ft', 'cm')", 182.88),
        ("INT(2.9) + INT(-2.9)", 0),
        ("FIND('b', 'abc')", 2),
        ("LEFT({Text}, 500)", "x" * 500),
    ],
)
def test_the_sentences_of_the_page_hold(template: str, expected: Value) -> None:
    assert Formula(template, FIELDS).evaluate(ROW) == expected


@pytest.mark.parametrize("text", ["5 ft 11 in", "10–20", "Studio 54"])
def test_what_the_page_calls_no_number_is_none(text: str) -> None:
    with pytest.raises(Unevaluable):
        Formula(f"'{text}' * 1", FIELDS).evaluate(ROW)


@pytest.mark.parametrize("of", ["money", "text"])
async def test_amounts_in_different_currencies_are_not_combined(of: str) -> None:
    fields = [Field(name=name, type="money" if of == "money" else "text") for name in ("Here", "There")]
    texts: list[Value] = ["€10", "$5"]
    amounts: list[Value] = [Money(amount=10, currency="EUR"), Money(amount=5, currency="USD")]
    here, there = amounts if of == "money" else texts
    field = parse_field("Sum:money={Here} + {There}")
    computer = CellComputer()
    row = Row(id=1, key="k", cells={"Here": make_given_cell(here), "There": make_given_cell(there)})
    try:
        finding = await computer.compute(field, Formula(field.question, fields), fields, row)
    finally:
        await computer.close()
    assert (finding.value, finding.reason) == (None, "error")
    assert "EUR and USD are different currencies" in finding.error
