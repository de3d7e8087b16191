"""The currency of an amount in a workbook is in its number format."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

from tablewright.domain.model import Money, Value
from tablewright.formats.tables.read import read_table


def prices(tmp_path: Path, *cells: tuple[object, str], corner: str = "A1") -> tuple[str, list[Value]]:
    """The type and the values of a column of numbers with formats, as another program writes them."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    start = sheet[corner]
    sheet.cell(start.row, start.column, "Name")
    sheet.cell(start.row, start.column + 1, "Price")
    for line, (value, format) in enumerate(cells, start=start.row + 1):
        sheet.cell(line, start.column, "n")
        sheet.cell(line, start.column + 1, value).number_format = format
    book.save(tmp_path / "prices.xlsx")
    table = read_table(tmp_path / "prices.xlsx")
    return table.fields[1].type, [row[1].value for row in table.rows()]


@pytest.mark.parametrize(
    ("format", "currency"),
    [
        ('0.00 "GBP"', "GBP"),
        ("[$£-809]#,##0.00", "GBP"),
        ("#,##0.00 [$€-407]", "EUR"),
        ('"€"#,##0.00;[Red]-"€"#,##0.00', "EUR"),
        ("[$CHF] #,##0.00", "CHF"),
    ],
)
def test_a_format_that_names_a_currency_makes_an_amount(tmp_path: Path, format: str, currency: str) -> None:
    assert prices(tmp_path, (38.5, format)) == ("money", [Money(amount=38.5, currency=currency)])


@pytest.mark.parametrize(
    "format", ["General", "0.00", '"$"#,##0.00', '0 "kg"', '0.0 "units sold"', "[$-409]d-mmm", "0%"]
)
def test_other_formats_leave_a_number_a_number(tmp_path: Path, format: str) -> None:
    type, values = prices(tmp_path, (38.5, format))
    assert (type == "money", [isinstance(value, Money) for value in values]) == (False, [False])


def test_currencies_may_differ_from_cell_to_cell_wherever_the_table_begins(tmp_path: Path) -> None:
    cells = [(10, '0 "USD"'), (9.5, '0.00 "EUR"'), (7, "General"), (None, "General")]
    expected = ("money", [Money(amount=10, currency="USD"), Money(amount=9.5, currency="EUR"), Money(amount=7.0), None])
    assert prices(tmp_path, *cells) == expected
    assert prices(tmp_path, *cells, corner="D7") == expected


def test_a_text_with_a_money_format_stays_a_text(tmp_path: Path) -> None:
    assert prices(tmp_path, ("on request", '0.00 "EUR"')) == ("text", ["on request"])
