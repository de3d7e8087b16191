"""A table as the lines of two sheets of an online spreadsheet: numbers and booleans as such, the rest as text."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite

from tablewright.domain.model import PENDING, Cell, Money, Row
from tablewright.domain.text import cell_text
from tablewright.formats.tables.sheet import TableSchema, shown_fields
from tablewright.formats.tables.xlsx_writer import EVIDENCE_COLUMNS, evidence_lines, is_explained

LONGEST = 50_000
"""Characters of a cell of Google Sheets."""
CUT = "… (cut; the whole text is in the JSON or CSV export)"


class SheetLines:
    """`values` and `evidence` begin with the names of their columns."""

    def __init__(self, heading: TableSchema) -> None:
        self._fields = shown_fields(heading.fields)
        self._key_field = heading.key_field or (self._fields[0].name if self._fields else "")
        self.values: list[list[str | float | bool]] = [[field.name for field in self._fields]]
        self.evidence: list[list[str | float | bool]] = [list(EVIDENCE_COLUMNS)]

    def add(self, rows: Iterable[Row]) -> None:
        for row in rows:
            cells = [row.cells.get(field.name, PENDING) for field in self._fields]
            self.values.append([sheet_value(cell) for cell in cells])
            name = cell_text(row.cell(self._key_field))
            for field, cell in zip(self._fields, cells, strict=True):
                if is_explained(cell):
                    self.evidence += [
                        ["" if value is None else cut(value) if isinstance(value, str) else value for value in line]
                        for line in evidence_lines(row, name, field, cell)
                    ]


def sheet_value(cell: Cell) -> str | float | bool:
    value = cell.value.amount if isinstance(cell.value, Money) and not cell.value.currency else cell.value
    if isinstance(value, bool) and not (cell.is_given and cell.raw_value):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        exact = isfinite(value) and (isinstance(value, float) or abs(value) < 10**15)
        return value if exact else cut(cell_text(cell))
    return cut(cell_text(cell))


def cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - len(CUT)] + CUT
