"""What a conversation or a run does to a small table in memory: the living-table operations, each made of edits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tablewright.errors import BadField
from tablewright.table.dedupe import Names, row_key
from tablewright.table.edits import AddField, AddRow, SetCell, apply
from tablewright.table.model import Cell, Field, RowId, Table, Value, given
from tablewright.table.text import show


def add_row(table: Table, name: str, values: Mapping[str, Value] | None = None) -> tuple[Table, RowId, bool]:
    """Adds a row, unless one of the same normalised name is there: the row's id, and whether it is new."""
    if not table.key_field:
        raise BadField(f"Table {table.id} has no field that names its rows.")
    known = row_names(table).find(name)
    if known is not None:
        return table, known, False
    cells = {field: given(value) for field, value in (values or {}).items()}
    cells[table.key_field] = given(name)
    grown, _ = apply(table, AddRow(key=row_key(name), cells=cells))
    return grown, grown.rows[-1].id, True


def add_field(table: Table, field: Field) -> Table:
    """Every existing row is PENDING for the new field."""
    return apply(table, AddField(field=field))[0]


def update_cell(table: Table, row_id: RowId, field: str, cell: Cell) -> Table:
    return apply(table, SetCell(row_id=row_id, field=field, cell=cell))[0]


def pending_cells(table: Table) -> Iterator[tuple[RowId, str]]:
    """The cells that need work, PENDING or FLAGGED, row by row."""
    for row in table.rows:
        for field in table.fields:
            if row.cell(field.name).needs_work:
                yield row.id, field.name


def row_names(table: Table) -> Names:
    names = Names()
    for row in table.rows:
        names.add(row.id, show(row.cell(table.key_field).value))
    return names
