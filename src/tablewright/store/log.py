"""How kept tables change: edits go into an append-only log first, and `cells` follows from the log.

A change is what one transaction wrote; its edits are numbered without gaps, in the order of commits, so a reader that
remembers the last number it saw misses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import msgspec
from sqlalchemy import ColumnElement, Connection, case, delete, func, insert, select, tuple_, update

from tablewright.domain.edits import (
    AddField,
    AddRow,
    ChangeField,
    Draft,
    Edit,
    FlagCell,
    RemoveField,
    RemoveRow,
    SetCell,
)
from tablewright.domain.history import CellVersion, Change, StaleCell
from tablewright.domain.model import Field, RowId, Status, given
from tablewright.errors import NotFound
from tablewright.store import schema
from tablewright.store.database import StorePart, read_transaction, write_transaction
from tablewright.store.ledger import charge_acting, charge_bytes, octet_length, octets
from tablewright.store.records import (
    RecordMapper,
    decode_cell,
    decode_given,
    fetch_among,
    insert_many,
    now,
    printable,
    put_record,
    split_given,
    to_text,
    upsert,
)
from tablewright.store.schema import cells, changes, edits, fields, rows, tables
from tablewright.store.staleness import CELL_KINDS, Entry, marks_for, stale_cells
from tablewright.store.tables import TableHead, cell_record, head, read_rows, same_cell, without_impossible_ids

STATUSES = [status for status in get_args(Status) if status != "PENDING"]


change_records = RecordMapper(Change, changes, number="change")
version_records = RecordMapper(CellVersion, changes)


class Log(StorePart):
    @write_transaction
    def commit(
        self,
        connection: Connection,
        table_id: str,
        edits: Sequence[Edit],
        *,
        actor: str = "",
        run_id: str | None = None,
        note: str = "",
        kind: str = "edit",
    ) -> Change | None:
        """All edits or none, in one transaction. None when there was nothing to do."""
        found = head(connection, table_id, lock=True)
        writer = EditWriter(connection, found, edits)
        entries = [entry for edit in edits for entry in writer.write(edit)]
        if not entries:
            return None
        writer.finish()
        append_entries(connection, found, entries)
        charge_acting(connection, "rows", sum(isinstance(edit, AddRow) for edit in edits))
        cells = [(entry["row_id"], entry["field_id"]) for entry in entries if entry["kind"] == "cell"]
        return close_change(
            connection,
            found,
            len(entries),
            kind=kind,
            actor=actor,
            run_id=run_id,
            note=note,
            each_cell_once=len(set(cells)) == len(cells),
            grown=writer.grown,
        )

    @read_transaction
    def changes(self, connection: Connection, table_id: str, limit: int = 50) -> list[Change]:
        """The newest first."""
        found = head(connection, table_id)
        query = select(changes).where(changes.c.table_no == found.no).order_by(changes.c.change.desc()).limit(limit)
        found_changes = connection.execute(query)
        return [change_records.read(each, edits=each.last_seq - each.first_seq + 1) for each in found_changes]

    @read_transaction
    def cell_history(self, connection: Connection, table_id: str, row_id: RowId, field: str) -> list[CellVersion]:
        """Every value the cell has had, the newest first."""
        found = head(connection, table_id)
        name = Draft(found.table).field(field).name
        field_id = found.field_ids[name]
        record = connection.execute(
            select(rows.c.given).where(rows.c.table_no == found.no, rows.c.row_id.in_(without_impossible_ids([row_id])))
        ).one_or_none()
        if record is None:
            raise NotFound(f"Table {found.table.id} has no row {row_id}.")
        own = decode_given(record.given)
        original = given(own.values.get(field_id), own.raw.get(field_id))
        in_change = (changes.c.table_no == edits.c.table_no) & edits.c.seq.between(
            changes.c.first_seq, changes.c.last_seq
        )
        of_row = (edits.c.table_no == found.no, edits.c.row_id == row_id)
        written = connection.execute(
            select(edits.c.before, edits.c.after, changes)
            .join(changes, in_change)
            .where(*of_row, edits.c.field_id == field_id)
            .order_by(edits.c.seq.desc())
        ).all()
        born = connection.execute(
            select(changes)
            .join(edits, in_change)
            .where(*of_row, edits.c.kind == "add_row")
            .order_by(edits.c.seq)
            .limit(1)
        ).one_or_none()
        if born is None:
            born = connection.execute(
                select(changes).where(changes.c.table_no == found.no, changes.c.change == 1)
            ).one()
        first = written[-1].before if written else overlay_texts(connection, found.no, [row_id]).get((row_id, field_id))
        return [
            *(
                version_records.read(entry, cell=decode_cell(entry.after) if entry.after else original)
                for entry in written
            ),
            version_records.read(born, cell=decode_cell(first) if first else original),
        ]

    @read_transaction
    def stale(self, connection: Connection, table_id: str) -> list[StaleCell]:
        """The cells of which an input has changed since they were filled, in the order of rows."""
        return stale_cells(connection, head(connection, table_id))

    @read_transaction
    def problems(self, connection: Connection, table_id: str) -> list[str]:
        """Whether the cells are what the log says; an empty list for a sound table."""
        found = head(connection, table_id)
        here = (edits.c.table_no == found.no, edits.c.kind.in_(CELL_KINDS))
        latest = select(func.max(edits.c.seq)).where(*here).group_by(edits.c.row_id, edits.c.field_id)
        differing = connection.execute(
            select(func.count())
            .select_from(edits)
            .outerjoin(cells, same_cell(cells, edits))
            .where(*here, edits.c.seq.in_(latest), cells.c.cell.is_distinct_from(edits.c.after))
        ).scalar_one()
        count, last = connection.execute(
            select(func.count(), func.coalesce(func.max(edits.c.seq), 0)).where(edits.c.table_no == found.no)
        ).one()
        problems = []
        if differing:
            problems.append(f"{differing} cells of {found.table.id} differ from the log")
        if not count == last == found.last_seq:
            problems.append(f"the log of {found.table.id} has {count} entries up to {last}, not {found.last_seq}")
        return problems


class EditWriter:
    """Judges edits with `Draft`, the rule book, and turns each into log entries and changed rows and fields."""

    def __init__(self, connection: Connection, found: TableHead, edits: Sequence[Edit]) -> None:
        self._connection = connection
        self._no = found.no
        row_ids = [edit.row_id for edit in edits if isinstance(edit, SetCell | FlagCell | RemoveRow)]
        rows = read_rows(connection, found, row_ids)
        self._overlay = overlay_texts(connection, found.no, [row.id for row in rows])
        self._draft = Draft(msgspec.structs.replace(found.table, rows=rows), last_row_id=found.last_row)
        self._field_ids = dict(found.field_ids)
        self._positions = list(found.positions)
        self._last_field = found.last_field
        self._last_row = found.last_row
        self.grown = 0
        """Bytes of new rows, which are beside the log."""

    def write(self, edit: Edit) -> list[Entry]:
        inverse = self._draft.apply(edit)
        match edit, inverse:
            case ((SetCell() | FlagCell()), SetCell()):
                return [self._cell_entry(inverse.row_id, inverse.field)]
            case AddRow(), RemoveRow():
                return self._add_row(edit, inverse.row_id)
            case RemoveRow(), _:
                set_row_removed(self._connection, self._no, edit.row_id, removed=True)
                return [{"kind": "remove_row", "row_id": edit.row_id}]
            case AddField(), _:
                return self._add_field(edit)
            case RemoveField(), AddField():
                field_id = self._field_ids.pop(inverse.field.name)
                set_field(self._connection, self._no, field_id, removed=True)
                self._positions.pop(inverse.position or 0)
                return [{"kind": "remove_field", "field_id": field_id}]
            case ChangeField(), ChangeField():
                return self._change_field(edit, inverse.field)
            case _:
                raise AssertionError(f"{edit} cannot have the inverse {inverse}")

    def finish(self) -> None:
        """Writes what is left to write once all edits are in."""
        key_field = self._draft.table().key_field
        self._connection.execute(
            update(tables)
            .where(tables.c.no == self._no)
            .values(last_row=self._last_row, last_field=self._last_field, key_field=key_field)
        )

    def _cell_entry(self, row_id: RowId, name: str) -> Entry:
        field_id = self._field_ids[name]
        after = to_text(self._draft.cell(row_id, name))
        before = self._overlay.get((row_id, field_id))
        self._overlay[row_id, field_id] = after
        return {"kind": "cell", "row_id": row_id, "field_id": field_id, "before": before, "after": after}

    def _add_row(self, edit: AddRow, row_id: RowId) -> list[Entry]:
        cells = [(self._field_ids[name], cell) for name, cell in self._draft.row(row_id).cells.items()]
        own, others = split_given(cells)
        given_text = to_text(own)
        self.grown += octets(given_text)
        row = {"table_no": self._no, "row_id": row_id, "key": edit.key, "given": given_text, "removed": False}
        put_record(self._connection, rows, row)
        stored = schema.cells
        self._connection.execute(delete(stored).where(stored.c.table_no == self._no, stored.c.row_id == row_id))
        if others:
            records = [cell_record(self._no, row_id, field_id, cell) for field_id, cell in others]
            self.grown += sum(octets(str(record["cell"])) for record in records)
            self._connection.execute(insert(stored), records)
        self._overlay.update({(row_id, field_id): to_text(cell) for field_id, cell in others})
        self._last_row = max(self._last_row, row_id)
        return [{"kind": "add_row", "row_id": row_id}]

    def _add_field(self, edit: AddField) -> list[Entry]:
        self._last_field += 1
        field_id = self._field_ids[edit.field.name] = self._last_field
        self._connection.execute(
            insert(fields).values(
                table_no=self._no,
                field_id=field_id,
                position=self._free_position(edit.position),
                spec=to_text(edit.field),
                removed=False,
            )
        )
        return [
            {"kind": "add_field", "field_id": field_id},
            *(self._cell_entry(row_id, edit.field.name) for row_id in edit.cells),
        ]

    def _free_position(self, index: int | None) -> float:
        """Between its neighbours: the others keep theirs, so a field that comes back finds its own place again."""
        at = len(self._positions) if index is None else index
        left = self._positions[at - 1] if at > 0 else self._positions[0] - 2 if self._positions else 0.0
        right = self._positions[at] if at < len(self._positions) else left + 2
        position = (left + right) / 2
        self._positions.insert(at, position)
        return position

    def _change_field(self, edit: ChangeField, before: Field) -> list[Entry]:
        field_id = self._field_ids.pop(before.name)
        self._field_ids[edit.field.name] = field_id
        set_field(self._connection, self._no, field_id, spec=to_text(edit.field))
        return [{"kind": "change_field", "field_id": field_id, "before": to_text(before), "after": to_text(edit.field)}]


def append_entries(connection: Connection, found: TableHead, entries: Sequence[Entry], skip: int = 0) -> None:
    """Writes entries at the end of the log, behind `skip` others of the same change."""
    blank: Entry = {"row_id": None, "field_id": None, "before": None, "after": None}
    first = found.last_seq + skip + 1
    records = [{"table_no": found.no, "seq": seq, **blank, **entry} for seq, entry in enumerate(entries, start=first)]
    insert_many(connection, insert(edits), records)


def close_change(
    connection: Connection,
    found: TableHead,
    count: int,
    *,
    kind: str,
    actor: str,
    run_id: str | None,
    note: str,
    each_cell_once: bool = True,
    grown: int = 0,
) -> Change:
    """Once all edits of a change are in the log: what depends on them becomes stale, the cells follow, and the change
    gets its line in the history. The table's owner is charged for it, and for the bytes it has `grown` by beside."""
    first = found.last_seq + 1
    for marks in marks_for(connection, found, first, found.last_seq + count):
        append_entries(connection, found, marks, skip=count)
        count += len(marks)
    last = found.last_seq + count
    write_cells(connection, found.no, first, last, each_cell_once=each_cell_once)
    change = Change(
        number=found.last_change + 1,
        at=now(),
        actor=actor,
        kind=kind,
        run_id=run_id,
        note=printable(note),
        edits=count,
    )
    record = change_records.write(change, table_no=found.no, first_seq=first, last_seq=last)
    connection.execute(insert(changes), record)
    counters = {"last_change": change.number, "last_seq": last}
    connection.execute(update(tables).where(tables.c.no == found.no).values(counters))
    charge_bytes(connection, "table", found.table.id, grown + bytes_of_edits(connection, found.no, first, last))
    return change


def bytes_of_edits(connection: Connection, table_no: int, first: int, last: int) -> int:
    """Return what these log entries take, and by how much they make the cells larger."""
    before, after = (octet_length(connection, column) for column in (edits.c.before, edits.c.after))
    in_cells = case((edits.c.kind.in_(CELL_KINDS), after - before), else_=0)
    here = (edits.c.table_no == table_no) & edits.c.seq.between(first, last)
    return int(connection.scalar(select(func.sum(before + after + in_cells)).where(here)) or 0)


def write_cells(connection: Connection, table_no: int, first: int, last: int, *, each_cell_once: bool) -> None:
    """Brings `cells` up to the log entries `first` to `last`; of several for one cell, the last counts."""
    here = [edits.c.table_no == table_no, edits.c.seq.between(first, last), edits.c.kind.in_(CELL_KINDS)]
    if not each_cell_once:
        here.append(
            edits.c.seq.in_(select(func.max(edits.c.seq)).where(*here).group_by(edits.c.row_id, edits.c.field_id))
        )
    source = select(edits.c.table_no, edits.c.row_id, edits.c.field_id, status_of(edits.c.after), edits.c.after).where(
        *here, edits.c.after.is_not(None)
    )
    columns = ["table_no", "row_id", "field_id", "status", "cell"]
    statement = upsert(connection, cells).from_select(columns, source)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=columns[:3], set_={"status": statement.excluded.status, "cell": statement.excluded.cell}
        )
    )
    cleared = select(edits.c.row_id, edits.c.field_id).where(*here, edits.c.after.is_(None))
    connection.execute(
        delete(cells).where(cells.c.table_no == table_no, tuple_(cells.c.row_id, cells.c.field_id).in_(cleared))
    )


def last_write(
    found: TableHead, row_id: ColumnElement[int], field_id: ColumnElement[int], kinds: Sequence[str] = ("cell",)
) -> ColumnElement[int]:
    """The number of the newest log entry of a cell. As a maximum over the cell's own entries it is one look into their
    index; as "is there a later one", or as a maximum of the bare number, SQLite reads the log from its end, for every
    cell."""
    edits = schema.edits.alias()
    newest = select(func.max(edits.c.seq + 0)).where(
        edits.c.table_no == found.no,
        edits.c.row_id == row_id,
        edits.c.field_id == field_id,
        edits.c.kind.in_(kinds),
    )
    return newest.scalar_subquery()


def status_of(cell: ColumnElement[Any]) -> ColumnElement[str]:
    """The status inside an encoded cell. Quotes inside its strings are escaped, so only the key itself can match;
    PostgreSQL's JSON operators refuse a cell whose text holds a NUL."""
    return case(*((cell.like(f'%"status":"{status}"%'), status) for status in STATUSES), else_="PENDING")


def overlay_texts(connection: Connection, table_no: int, row_ids: Sequence[RowId]) -> dict[tuple[RowId, int], str]:
    query = select(cells.c.row_id, cells.c.field_id, cells.c.cell).where(cells.c.table_no == table_no)
    found = fetch_among(connection, query, cells.c.row_id, row_ids)
    return {(row_id, field_id): text for row_id, field_id, text in found}


def set_row_removed(connection: Connection, table_no: int, row_id: RowId, *, removed: bool) -> None:
    connection.execute(update(rows).where(rows.c.table_no == table_no, rows.c.row_id == row_id).values(removed=removed))


def set_field(connection: Connection, table_no: int, field_id: int, **values: object) -> None:
    connection.execute(
        update(fields).where(fields.c.table_no == table_no, fields.c.field_id == field_id).values(values)
    )
