"""An Excel workbook: the sheet "Table" with typed, coloured and annotated cells, and the sheet "Evidence".

Text is always written as a string, so nothing becomes a formula or a link. Memory stays flat (rows go to a temporary
file), except for the notes, which xlsxwriter holds: hence their cap.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterable
from datetime import datetime
from math import isfinite
from pathlib import Path
from typing import Any, BinaryIO

import xlsxwriter

from tablewright.domain.model import PENDING, Cell, Field, Money, Row, column_key
from tablewright.domain.text import cell_text, describe_basis
from tablewright.errors import UsageError
from tablewright.formats.tables.columns import is_iso_date
from tablewright.formats.tables.incoming import find_free_name
from tablewright.formats.tables.limits import TABLE_LIMITS
from tablewright.formats.tables.sheet import (
    CUT,
    EVIDENCE_COLUMNS,
    TableSchema,
    cell_cost,
    evidence_lines,
    exported_fields,
    has_evidence_line,
    is_exact_number,
    source_text,
)
from tablewright.temporary import make_temporary_folder, remove_temporary_folder

# Pale backgrounds by confidence or status, so that black text stays readable on each.
COLOURS = {"high": "#E2F0D9", "medium": "#FFF7CC", "low": "#FCE4D0", "FLAGGED": "#F8CBCB", "FAILED": "#E7E6E6"}

# Two characters that XML forbids and xlsxwriter does not escape: Excel would call the file damaged.
_NOT_XML = str.maketrans({"\ufffe": "\ufffd", "\uffff": "\ufffd"})


class XlsxWriter:
    def __init__(self, stream: BinaryIO, heading: TableSchema, *, cost: bool = False) -> None:
        """With `cost` each asked column is followed by what its cells cost."""
        fields = exported_fields(heading.fields)
        taken = {column_key(field.name) for field in fields}
        self._fields: dict[int, Field] = {}
        self._costs: dict[int, str] = {}
        names: list[str] = []
        for field in fields:
            self._fields[len(names)] = field
            names.append(field.name)
            if cost and field.is_asked:
                self._costs[len(names)] = field.name
                names.append(find_free_name(f"{field.name} cost", taken))
                taken.add(column_key(names[-1]))
        if len(names) > TABLE_LIMITS.excel_columns:
            raise UsageError(
                f"An Excel sheet holds at most {TABLE_LIMITS.excel_columns:,} columns; this table has {len(names):,}.",
                advice="Export to CSV instead.",
            )
        folder, handle = make_temporary_folder()
        # constant_memory writes each row when the next begins, so cells must come row by row and from left to right.
        self._book = xlsxwriter.Workbook(stream, {"constant_memory": True, "tmpdir": str(folder)})
        self._clean_up = weakref.finalize(
            self, _close_and_remove, self._book, folder, handle
        )  # also if close() is never called
        self._key_field = heading.key_field or (fields[0].name if fields else "")
        self._formats: dict[tuple[str, str], Any] = {}
        self._bold = self._book.add_format({"bold": True, "bottom": 1})
        self._sheet = self._book.add_worksheet("Table")
        self._evidence: EvidenceSheet | None = None
        self._line = 0
        self._notes = self._notes_left_out = 0
        # Room for the arrow of the filter.
        self._widths = [_text_width(name) + 3 for name in names]
        for column, name in enumerate(names):
            self._sheet.write_string(0, column, cut_to_cell(name), self._bold)
        self._sheet.freeze_panes(1, 0)

    def write(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self._line += 1
            if self._line >= TABLE_LIMITS.excel_rows:
                self._clean_up()
                raise UsageError(
                    f"An Excel sheet holds at most {TABLE_LIMITS.excel_rows:,} rows; this table has more.",
                    advice="Export to CSV instead.",
                )
            cells = row.cells
            for column, field in self._fields.items():
                cell = cells.get(field.name, PENDING)
                if cell is PENDING:
                    continue
                if cell.is_given:
                    self._write_cell(column, field, cell, "")
                else:
                    # Grey for an empty cell that failed, none for one that was never tried.
                    label = cell.status if cell.status in COLOURS or cell.value is None else cell.confidence_label
                    self._write_cell(column, field, cell, COLOURS.get(label, ""))
                    self._write_evidence(column, field, cell, row)
            for column, name in self._costs.items():
                cost = cell_cost(cells.get(name, PENDING))
                if cost is not None:
                    # Cents always, and up to six places: a cell often costs a fraction of a cent.
                    self._sheet.write_number(self._line, column, ExactFloat(cost), self._format("", '"$"0.00####'))

    def close(self) -> None:
        # In characters: a narrower column hides its header, a wider one pushes the others off the screen.
        for column, width in enumerate(self._widths):
            self._sheet.set_column(column, column, min(max(width, 8), 60))
        if self._widths:
            self._sheet.autofilter(0, 0, self._line, len(self._widths) - 1)
        if self._evidence is not None:
            self._evidence.finish(self._notes_left_out)
        self._book.close()
        self._clean_up()

    def _write_cell(self, column: int, field: Field, cell: Cell, colour: str) -> None:
        number, number_format = _to_excel_number(field, cell)
        format = self._format(colour, number_format) if colour or number_format else None
        text = ""
        if number is None:
            text = cut_to_cell(cell_text(cell))
            if text:
                self._sheet.write_string(self._line, column, text, format)
            elif format is not None:
                self._sheet.write_blank(self._line, column, None, format)
        elif isinstance(number, bool):
            self._sheet.write_boolean(self._line, column, number, format)
        elif isinstance(number, datetime):
            self._sheet.write_datetime(self._line, column, number, format)
        else:
            exact = ExactFloat(number) if isinstance(number, float) else number
            self._sheet.write_number(self._line, column, exact, format)
        # Rows that decide the widths of columns; measuring all of a large table takes long.
        if self._line <= 200:
            # One more than the text, because letters differ in width and Excel shows a full number as ####.
            self._widths[column] = max(self._widths[column], _text_width(text or cell_text(cell)) + 1)

    def _write_evidence(self, column: int, field: Field, cell: Cell, row: Row) -> None:
        if not has_evidence_line(cell):
            return
        if self._notes < TABLE_LIMITS.excel_notes:
            self._notes += 1
            self._sheet.write_comment(
                self._line, column, cut_to_cell(_write_note(cell)), {"author": "Tablewright", "x_scale": 2}
            )
        else:
            self._notes_left_out += 1
        if self._evidence is None:
            self._evidence = EvidenceSheet(self._book, self._bold)
        self._evidence.write(row, cell_text(row.cell(self._key_field)), field, cell)

    def _format(self, colour: str, number_format: str) -> Any:
        key = (colour, number_format)
        if key not in self._formats:
            look = {"bg_color": colour} if colour else {}
            self._formats[key] = self._book.add_format(look | ({"num_format": number_format} if number_format else {}))
        return self._formats[key]


class EvidenceSheet:
    """One line for each piece of evidence; one also for a cell that has a reason instead."""

    def __init__(self, book: Any, bold: Any) -> None:
        self._sheet = book.add_worksheet("Evidence")
        self._line = 0
        self._left_out = 0
        for column, name in enumerate(EVIDENCE_COLUMNS):
            self._sheet.write_string(0, column, name, bold)
        self._sheet.freeze_panes(1, 0)

    def write(self, row: Row, name: str, field: Field, cell: Cell) -> None:
        for line in evidence_lines(row, name, field, cell):
            if self._line + 3 >= TABLE_LIMITS.excel_rows:  # the last lines are for what has to be said below
                self._left_out += 1
                continue
            self._line += 1
            for column, value in enumerate(line):
                self._put(column, value)

    def finish(self, notes_left_out: int) -> None:
        self._sheet.autofilter(0, 0, self._line, len(EVIDENCE_COLUMNS) - 1)
        # One width for each of EVIDENCE_COLUMNS; quotes get the most room, numbers what their header needs.
        for column, width in enumerate((6, 24, 18, 24, 11, 16, 11, 10, 40, 30, 60, 6, 20, 6)):
            self._sheet.set_column(column, column, width)
        if notes_left_out:
            most = f"it holds at most {TABLE_LIMITS.excel_notes:,}"
            self._say(f"{notes_left_out:,} cells have no note in the sheet Table: {most}.")
        if self._left_out:
            self._say(f"{self._left_out:,} more lines did not fit; they are in the JSON export.")

    def _say(self, sentence: str) -> None:
        self._line += 1
        self._sheet.write_string(self._line, 0, sentence)

    def _put(self, column: int, value: str | float | bool | None) -> None:
        if isinstance(value, bool):
            self._sheet.write_boolean(self._line, column, value)
        elif isinstance(value, int | float):
            self._sheet.write_number(self._line, column, value)
        elif value:
            self._sheet.write_string(self._line, column, cut_to_cell(value))


class ExactFloat(float):
    """xlsxwriter writes 16 digits of a number; Excel itself writes, and reads, the 17 that some need."""

    def __format__(self, spec: str) -> str:
        return float.__repr__(self)


def _close_and_remove(book: Any, folder: Path, handle: int) -> None:
    for sheet in book.worksheets():
        sheet.row_data_fh.close()
    remove_temporary_folder(folder, handle)


def _to_excel_number(field: Field, cell: Cell) -> tuple[bool | float | datetime | None, str]:
    """Return the cell as an Excel number with its format, or None if it must be text."""
    value = cell.value
    if isinstance(value, str) and field.type != "date":
        return None, ""
    raw = cell.raw_value if cell.is_given else None
    if isinstance(value, bool):
        return (value, "") if raw is None else (None, "")  # an owner's "yes" stays "yes"
    if isinstance(value, int | float):
        return (value, _number_format(raw)) if is_exact_number(value) else (None, "")
    if isinstance(value, Money) and isfinite(value.amount):
        digits = "0.00" if isinstance(value.amount, float) else "0"
        if not value.currency:
            return value.amount, digits
        # It goes into a number format between quotes; anything but a code could end the quote and be run as a format.
        is_code = re.fullmatch(r"[A-Z]{3}", value.currency)
        return (value.amount, f'{digits} "{value.currency}"') if is_code else (None, "")
    # Before March 1900 Excel counts a day that never was, the 29th of February.
    if isinstance(value, str) and len(value) == 10 and is_iso_date(value) and value >= "1900-03-01":
        return (datetime.fromisoformat(value), "yyyy-mm-dd") if raw is None else (None, "")
    return None, ""


def _number_format(raw: str | None) -> str:
    """Return a format with as many decimals as the owner wrote."""
    if raw is None:
        return ""
    if match := re.fullmatch(r"[+-]?[0-9]{1,3}(,[0-9]{3})+(?:\.([0-9]+))?", raw):
        return "#,##0" + ("." + "0" * len(match[2]) if match[2] else "")
    # Excel knows at most 15 digits.
    match = re.fullmatch(r"[+-]?[0-9]*\.([0-9]{1,15})", raw)
    return "0." + "0" * len(match[1]) if match else ""


def _write_note(cell: Cell) -> str:
    lines = []
    if cell.status == "FAILED":
        lines.append(f"No value: {(cell.reason or 'not known').replace('_', ' ')}")
    elif cell.status == "FLAGGED":
        lines.append("Flagged as wrong")
    if cell.error:
        lines.append(cell.error)
    if cell.confidence is not None:
        lines.append(f"Confidence: {cell.confidence_label} ({cell.confidence:.2f})")
    if basis := describe_basis(cell):
        lines.append(basis)
    if cell.stale:
        lines.append("Stale: what it was found from has changed since")
    # A note is a small box that does not scroll; the sheet Evidence has the rest.
    for evidence in cell.evidence[:3]:
        source = source_text(evidence)
        page = f", page {evidence.page}" if evidence.page is not None and source == evidence.origin else ""
        lines.append(f"Source: {source}{page}")
        if evidence.quote:
            lines.append(f"“{evidence.quote[:1000]}”")
    if len(cell.evidence) > 3:
        lines.append(f"{len(cell.evidence) - 3} more sources are in the sheet Evidence.")
    return "\n".join(lines)


def cut_to_cell(text: str) -> str:
    """Return the text cut to what an Excel cell holds, counted in UTF-16 units."""
    text = text.translate(_NOT_XML) if not text.isascii() else text
    # No character takes more than two UTF-16 units: short texts need no encoding to be counted.
    if (
        len(text) * 2 <= TABLE_LIMITS.excel_cell_characters
        or len(text.encode("utf-16-le")) // 2 <= TABLE_LIMITS.excel_cell_characters
    ):
        return text
    room = (TABLE_LIMITS.excel_cell_characters - len(CUT)) * 2
    # "ignore" drops the half of a surrogate pair that the cut may leave.
    return text.encode("utf-16-le")[:room].decode("utf-16-le", "ignore") + CUT


def _text_width(text: str) -> int:
    return max(map(len, text.splitlines()), default=0)
