"""The edits of a table. Every edit has an inverse; `apply_edit` is the only function that makes a changed table.

The store keeps the same edits in an append-only log and checks them with `Draft`, so the meaning of an edit is defined
once, here. No I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import msgspec

from tablewright.domain.model import PENDING, Cell, Field, Row, RowId, Struct, Table, column_key, require_field
from tablewright.errors import BadField, EditConflict, NotFound


class AddRow(Struct, frozen=True, tag_field="edit", tag="add_row"):
    """Add a row. `row_id` is set only to restore an earlier row; otherwise the table numbers it."""

    key: str = ""
    cells: Mapping[str, Cell] = {}
    row_id: RowId | None = None


class RemoveRow(Struct, frozen=True, tag_field="edit", tag="remove_row"):
    row_id: RowId


class AddField(Struct, frozen=True, tag_field="edit", tag="add_field"):
    """Add a field at `position`, or at the end. Its cells are PENDING, except those restored by `cells`."""

    field: Field
    position: int | None = None
    cells: Mapping[RowId, Cell] = {}


class RemoveField(Struct, frozen=True, tag_field="edit", tag="remove_field"):
    name: str


class ChangeField(Struct, frozen=True, tag_field="edit", tag="change_field"):
    """Replace the definition of the field called `name`. If it is renamed, its cells move with it."""

    name: str
    field: Field


class SetCell(Struct, frozen=True, tag_field="edit", tag="set_cell"):
    """Write a cell; with `expected`, only if it still has that content (compare-and-set)."""

    row_id: RowId
    field: str
    cell: Cell
    expected: Cell | None = None


class FlagCell(Struct, frozen=True, tag_field="edit", tag="flag_cell"):
    """Mark a doubtful cell: it keeps its value and evidence, and runs fill it again."""

    row_id: RowId
    field: str
    note: str = ""


Edit: TypeAlias = AddRow | RemoveRow | AddField | RemoveField | ChangeField | SetCell | FlagCell


def apply_edit(table: Table, edit: Edit) -> tuple[Table, Edit]:
    """Return the table after the edit, and the edit that undoes it."""
    draft = Draft(table)
    inverse = draft.apply(edit)
    return draft.table(), inverse


def apply_edits(table: Table, edits: Iterable[Edit]) -> tuple[Table, list[Edit]]:
    """Return the table after all edits, and the edits that undo them, in the order to apply them."""
    draft = Draft(table)
    inverses = [draft.apply(edit) for edit in edits]
    return draft.table(), inverses[::-1]


class Draft:
    """A table while edits are applied to it. The work is proportional to the edits, not to the table."""

    def __init__(self, table: Table, last_row_id: RowId | None = None) -> None:
        """`last_row_id` is the highest number ever used, so that the number of a removed row is not reused."""
        self._source = table
        self.fields: list[Field] = list(table.fields)
        self._key_field = table.key_field
        self._rows: dict[RowId, Row] = {row.id: row for row in table.rows}
        self._numbers_are_kept = last_row_id is not None
        self._last_row_id = last_row_id

    def table(self) -> Table:
        return msgspec.structs.replace(
            self._source,
            fields=tuple(self.fields),
            rows=tuple(self._rows[row_id] for row_id in sorted(self._rows)),
            key_field=self._key_field,
        )

    def apply(self, edit: Edit) -> Edit:
        """Apply the edit and return its inverse. An edit that does not fit raises and changes nothing."""
        match edit:
            case SetCell():
                return self._set_cell(edit.row_id, edit.field, edit.cell, edit.expected)
            case FlagCell():
                flagged = mark_cell_flagged(self.cell(edit.row_id, edit.field), edit.note)
                return self._set_cell(edit.row_id, edit.field, flagged, None)
            case AddRow():
                return self._add_row(edit)
            case RemoveRow():
                row = self.row(edit.row_id)
                del self._rows[row.id]
                if not self._numbers_are_kept:
                    self._last_row_id = None
                return AddRow(key=row.key, cells=row.cells, row_id=row.id)
            case AddField():
                return self._add_field(edit)
            case RemoveField():
                return self._remove_field(edit.name)
            case ChangeField():
                return self._change_field(edit)

    def row(self, row_id: RowId) -> Row:
        try:
            return self._rows[row_id]
        except KeyError:
            raise NotFound(f"Table {self._source.id} has no row {row_id}.") from None

    def field(self, name: str) -> Field:
        """Return the field by its exact name, or by another spelling of it."""
        return require_field(self._source.id, self.fields, name)

    def cell(self, row_id: RowId, field: str) -> Cell:
        return self.row(row_id).cell(self.field(field).name)

    def _set_cell(self, row_id: RowId, name: str, cell: Cell, expected: Cell | None) -> SetCell:
        row, field = self.row(row_id), self.field(name)
        before = row.cell(field.name)
        if expected is not None and before != expected:
            raise EditConflict(
                f"Row {row_id}, {field.name} was changed in the meantime.",
                kept="The newer value was kept.",
                advice="Look at it with `tablewright tables history` and try again.",
            )
        self._put(row, field.name, cell)
        return SetCell(row_id=row_id, field=field.name, cell=before, expected=cell)

    def _put(self, row: Row, field: str, cell: Cell) -> None:
        cells = {**row.cells, field: cell}
        if cell == PENDING:
            del cells[field]
        self._rows[row.id] = msgspec.structs.replace(row, cells=cells)

    def _add_row(self, edit: AddRow) -> RemoveRow:
        if self._last_row_id is None:
            self._last_row_id = max(self._rows, default=0)
        row_id = self._last_row_id + 1 if edit.row_id is None else edit.row_id
        if row_id in self._rows:
            raise EditConflict(f"Table {self._source.id} already has a row {row_id}.")
        cells = {self.field(name).name: cell for name, cell in edit.cells.items() if cell != PENDING}
        self._rows[row_id] = Row(id=row_id, key=edit.key, cells=cells)
        self._last_row_id = max(self._last_row_id, row_id)
        return RemoveRow(row_id=row_id)

    def _add_field(self, edit: AddField) -> RemoveField:
        self._refuse_taken_name(edit.field.name, besides=None)
        missing = next((row_id for row_id in edit.cells if row_id not in self._rows), None)
        if missing is not None:
            raise NotFound(f"Table {self._source.id} has no row {missing}.")
        position = len(self.fields) if edit.position is None else edit.position
        self.fields.insert(position, edit.field)
        for row_id, cell in edit.cells.items():
            self._put(self._rows[row_id], edit.field.name, cell)
        return RemoveField(name=edit.field.name)

    def _remove_field(self, name: str) -> AddField:
        field = self.field(name)
        if field.name == self._key_field:
            raise BadField(f"{field.name} names the rows of table {self._source.id} and cannot be removed.")
        position = self.fields.index(field)
        cells = {row.id: row.cells[field.name] for row in self._rows.values() if field.name in row.cells}
        for row_id in cells:
            self._put(self._rows[row_id], field.name, PENDING)
        self.fields.pop(position)
        return AddField(field=field, position=position, cells=cells)

    def _change_field(self, edit: ChangeField) -> ChangeField:
        before = self.field(edit.name)
        self._refuse_taken_name(edit.field.name, besides=before)
        self.fields[self.fields.index(before)] = edit.field
        if edit.field.name != before.name:
            self._rename_cells(before.name, edit.field.name)
        return ChangeField(name=edit.field.name, field=before)

    def _rename_cells(self, old: str, new: str) -> None:
        if self._key_field == old:
            self._key_field = new
        for row in self._rows.values():
            if old in row.cells:
                cells = {new if name == old else name: cell for name, cell in row.cells.items()}
                self._rows[row.id] = msgspec.structs.replace(row, cells=cells)

    def _refuse_taken_name(self, name: str, besides: Field | None) -> None:
        if not name.strip():
            raise BadField("A field needs a name.")
        wanted = column_key(name)
        if any(column_key(field.name) == wanted and field is not besides for field in self.fields):
            raise BadField(f"Table {self._source.id} already has a field called {name!r}.")


# Opens the note of a flagged cell; what the person wrote follows it.
FLAG_PREFIX = "flagged"


def mark_cell_flagged(cell: Cell, note: str) -> Cell:
    return msgspec.structs.replace(cell, status="FLAGGED", error=f"{FLAG_PREFIX}: {note}" if note else FLAG_PREFIX)


def read_flag_note(cell: Cell) -> str:
    """Return the note with which the cell was flagged, or ""."""
    return (cell.error or "").removeprefix(FLAG_PREFIX).removeprefix(":").strip()
