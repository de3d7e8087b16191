"""Choose what an export shows of a table: its columns, their order, and their content. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from operator import attrgetter
from typing import Protocol, TypeAlias, TypeGuard

from tablewright.domain.model import PENDING, Cell, Evidence, Field, FieldType, Money, Row, Value, column_key
from tablewright.domain.retrieved import is_document_id
from tablewright.domain.text import cell_text, format_basis_label, format_value
from tablewright.formats.tables.incoming import find_free_name
from tablewright.formats.tables.limits import TABLE_LIMITS


class TableSchema(Protocol):
    """A table without its rows: `Table` is one, and so is a table whose rows are still in the database."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def fields(self) -> tuple[Field, ...]: ...
    @property
    def key_field(self) -> str: ...


@dataclass(frozen=True, kw_only=True)
class ExportColumn:
    """One column of an export: `field` names the cell it is made from, `value` and `text` what it shows of it."""

    name: str
    field: str
    type: FieldType
    value: Callable[[Cell], Value] = attrgetter("value")
    text: Callable[[Cell], str] = cell_text


def export_columns(
    heading: TableSchema,
    *,
    evidence: bool = False,
    cost: bool = False,
    units: bool = False,
) -> tuple[ExportColumn, ...]:
    """Return the exported columns. With `evidence`, each asked field is followed by its source, quote, confidence,
    basis and status, why it is empty and whether it is stale; with `cost` by what its cells cost. With `units`, the
    header of a number says its unit: "Weight (kg)"."""
    fields = exported_fields(heading.fields)
    asked = {field.name for field in fields if field.is_asked}
    taken = {column_key(field.name) for field in fields}
    more = (*(_EVIDENCE_COLUMNS if evidence else ()), *((("cost", "number", cell_cost),) if cost else ()))
    columns = []
    for field in fields:
        name = f"{field.name} ({field.unit})" if units and field.type == "number" and field.unit else field.name
        columns.append(ExportColumn(name=name, field=field.name, type=field.type))
        for what, type_, value in more if field.name in asked else ():
            name = find_free_name(f"{field.name} {what}", taken)
            taken.add(column_key(name))
            text = partial(lambda value, cell: format_value(value(cell)), value)
            columns.append(ExportColumn(name=name, field=field.name, type=type_, value=value, text=text))
    return tuple(columns)


def exported_fields(fields: Sequence[Field]) -> tuple[Field, ...]:
    return tuple(field for field in fields if field.role != "qualification")


def to_json_value(value: Value) -> Value:
    """Return a value as plain JSON; money becomes its text."""
    return str(value) if isinstance(value, Money) else value


def source_text(evidence: Evidence) -> str:
    """Return an address as it is, and a document with title and page, as its id means nothing elsewhere."""
    # "row" and "formula" are origins as well: values that were computed from other cells of the row.
    if not is_document_id(evidence.origin) or not evidence.title or evidence.origin in ("row", "formula"):
        return evidence.origin
    page = "" if evidence.page is None else f", page {evidence.page}"
    return f"{evidence.title}{page} ({evidence.origin})"


def cell_cost(cell: Cell) -> float | None:
    """Return the cost in dollars, or None if no run has worked on the cell."""
    return None if cell.run_id is None else cell.cost


ExtraColumn: TypeAlias = tuple[str, FieldType, Callable[[Cell], Value]]

_EVIDENCE_COLUMNS: tuple[ExtraColumn, ...] = (
    ("source", "text", lambda cell: source_text(cell.evidence[0]) or None if cell.evidence else None),
    ("quote", "text", lambda cell: cell.evidence[0].quote or None if cell.evidence else None),
    # A value of the owner has no confidence of ours, even if the table stores 1.0 for it.
    ("confidence", "number", lambda cell: None if cell.is_given else cell.confidence),
    ("basis", "text", lambda cell: format_basis_label(cell) or None),
    ("status", "text", lambda cell: cell.status),
    ("reason", "text", lambda cell: cell.reason),
    ("stale", "boolean", lambda cell: cell.stale or None),
    ("note", "text", lambda cell: cell.error),
)


# Said inside the cell, because a cut text looks whole otherwise.
CUT = "… (cut; the whole text is in the JSON or CSV export)"


# The order of `evidence_lines`: the cell first, then what was decided about it, then one source.
EVIDENCE_COLUMNS = (
    *("row", "name", "field", "value", "status", "reason"),
    *("confidence", "basis", "source", "title", "quote", "page", "retrieved_at", "stale"),
)


def has_evidence_line(cell: Cell) -> bool:
    """Return True if the sheet of evidence says something of it; a value of the owner's own needs none."""
    if cell is PENDING or cell.is_given:
        return False
    return bool(cell.evidence or cell.reason or cell.error or cell.stale or cell.status in ("FAILED", "FLAGGED"))


def evidence_lines(row: Row, name: str, field: Field, cell: Cell) -> Iterator[tuple[str | float | bool | None, ...]]:
    """Yield a line with the EVIDENCE_COLUMNS for each piece of evidence, or one for a cell that has none."""
    about = (
        row.id,
        name,
        field.name,
        cell_text(cell),
        cell.status,
        explain_empty(cell),
        cell.confidence,
        format_basis_label(cell),
    )
    stale = True if cell.stale else None
    for found in cell.evidence:
        yield (*about, found.origin, found.title, found.quote, found.page, found.retrieved_at, stale)
    if not cell.evidence:
        yield (*about, "", "", "", None, "", stale)


def explain_empty(cell: Cell) -> str:
    """Return the reason for an empty cell with its note: "not_found: looked at 3 pages"."""
    return ": ".join(part for part in (cell.reason, cell.error) if part)


class SheetLines:
    """A table as the lines of two sheets of an online spreadsheet, each starting with its column names."""

    def __init__(self, heading: TableSchema) -> None:
        self._fields = exported_fields(heading.fields)
        self._key_field = heading.key_field or (self._fields[0].name if self._fields else "")
        self.values: list[list[str | float | bool]] = [[field.name for field in self._fields]]
        self.evidence: list[list[str | float | bool]] = [list(EVIDENCE_COLUMNS)]

    def add(self, rows: Iterable[Row]) -> None:
        for row in rows:
            cells = [row.cells.get(field.name, PENDING) for field in self._fields]
            self.values.append([to_sheet_value(cell) for cell in cells])
            name = cell_text(row.cell(self._key_field))
            for field, cell in zip(self._fields, cells, strict=True):
                if has_evidence_line(cell):
                    self.evidence += [
                        [
                            "" if value is None else cut_to_sheet(value) if isinstance(value, str) else value
                            for value in line
                        ]
                        for line in evidence_lines(row, name, field, cell)
                    ]


def to_sheet_value(cell: Cell) -> str | float | bool:
    """Return numbers and booleans as such, the rest as text."""
    value = cell.value.amount if isinstance(cell.value, Money) and not cell.value.currency else cell.value
    # An owner's "yes" stays "yes"; as a boolean the sheet would show TRUE.
    is_owners_word = isinstance(value, bool) and cell.is_given and bool(cell.raw_value)
    return value if is_exact_number(value) and not is_owners_word else cut_to_sheet(cell_text(cell))


def is_exact_number(value: Value) -> TypeGuard[int | float]:
    """Return True for a number, or a boolean, that a spreadsheet holds exactly."""
    if not isinstance(value, int | float):
        return False
    # A spreadsheet stores every number as a float, and shows 15 digits of it.
    return isfinite(value) if isinstance(value, float) else abs(value) < 10**15


def cut_to_sheet(text: str) -> str:
    return (
        text
        if len(text) <= TABLE_LIMITS.sheets_cell_characters
        else text[: TABLE_LIMITS.sheets_cell_characters - len(CUT)] + CUT
    )
