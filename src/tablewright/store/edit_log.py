"""Changes of stored tables: edits go into an append-only log first, and `cells` follows from the log.

A change is the work of one transaction; its edits are numbered without gaps in commit order, so a reader that remembers
the last number it saw misses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, get_args

import msgspec
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Executable,
    Integer,
    bindparam,
    case,
    delete,
    func,
    insert,
    select,
    tuple_,
    update,
)

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
from tablewright.domain.model import Cell, Field, Row, RowId, Status, Table, make_given_cell
from tablewright.errors import NotFound
from tablewright.store import schema
from tablewright.store.database import StorePart, read_transaction, write_transaction
from tablewright.store.ledger import charge_acting, charge_bytes
from tablewright.store.records import (
    RecordMapper,
    build_upsert_for,
    clean_for_storage,
    content_text,
    count_utf8_bytes,
    decode_cell,
    decode_given,
    fetch_among,
    insert_many,
    put_record,
    split_given,
    store_cells,
    store_fields,
    texts_of_entry,
    to_json_text,
    utc_now,
    whole_text,
)
from tablewright.store.schema import cells, changes, contents, edits, fields, origins, rows, tables
from tablewright.store.staleness import (
    CELL_KINDS,
    CellKey,
    LogEntry,
    StoredCell,
    find_stale_cells,
    make_stale_marks,
)
from tablewright.store.tables import TableHead, make_cell_records, read_rows, read_table_head, same_cell, valid_row_ids

# Without PENDING, which an encoded cell leaves out: it is the default.
STATUSES = [status for status in get_args(Status) if status != "PENDING"]


change_records = RecordMapper(Change, changes, number="change")
version_records = RecordMapper(CellVersion, changes)


class EditLog(StorePart):
    """Write edits of a table, and read its history."""

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
        """Write all edits or none, in one transaction. Return None if nothing changed."""
        # The lock makes the numbers of the log continuous: one writer per table at a time.
        found = read_table_head(connection, table_id, lock=True)
        return commit_edits(connection, found, edits, actor=actor, run_id=run_id, note=note, kind=kind)

    @write_transaction
    def commit_cell(
        self, connection: Connection, table_id: str, prepare: Callable[[Table], tuple[SetCell, str]], *, actor: str
    ) -> tuple[SetCell, Change, Row]:
        """Write one cell as `prepare` says, which gets the table and returns the edit with its note. Return the row as
        it is afterwards, with what has become stale."""
        found = read_table_head(connection, table_id, lock=True)
        edit, note = prepare(found.table)
        change = commit_edits(connection, found, [edit], actor=actor, run_id=None, note=note)
        assert change is not None
        return edit, change, read_rows(connection, found, [edit.row_id])[0]

    @read_transaction
    def changes(self, connection: Connection, table_id: str, limit: int = 50) -> list[Change]:
        """Return the newest changes first."""
        found = read_table_head(connection, table_id)
        query = select(changes).where(changes.c.table_no == found.no).order_by(changes.c.change.desc()).limit(limit)
        found_changes = connection.execute(query)
        return [change_records.read(each, edits=each.last_seq - each.first_seq + 1) for each in found_changes]

    @read_transaction
    def cell_history(self, connection: Connection, table_id: str, row_id: RowId, field: str) -> list[CellVersion]:
        """Return every value the cell has had, newest first."""
        found = read_table_head(connection, table_id)
        name = Draft(found.table).field(field).name
        field_id = found.field_ids[name]
        record = connection.execute(
            select(rows.c.given).where(rows.c.table_no == found.no, rows.c.row_id.in_(valid_row_ids([row_id])))
        ).one_or_none()
        if record is None:
            raise NotFound(f"Table {found.table.id} has no row {row_id}.")
        own = decode_given(record.given)
        original = make_given_cell(own.values.get(field_id), own.raw.get(field_id))
        in_change = (changes.c.table_no == edits.c.table_no) & edits.c.seq.between(
            changes.c.first_seq, changes.c.last_seq
        )
        of_row = (edits.c.table_no == found.no, edits.c.row_id == row_id)
        written = connection.execute(
            select(*texts_of_entry(edits), changes)
            .join(changes, in_change)
            .where(*of_row, edits.c.field_id == field_id)
            .order_by(edits.c.seq.desc())
        ).all()
        created = connection.execute(
            select(changes)
            .join(edits, in_change)
            .where(*of_row, edits.c.kind == "add_row")
            .order_by(edits.c.seq)
            .limit(1)
        ).one_or_none()
        # A row that came with the table has no entry of its own: it was made by the first change.
        if created is None:
            created = connection.execute(
                select(changes).where(changes.c.table_no == found.no, changes.c.change == 1)
            ).one()
        first = (
            written[-1].before
            if written
            else connection.scalar(
                select(content_text(cells.c.cell)).where(
                    cells.c.table_no == found.no, cells.c.row_id == row_id, cells.c.field_id == field_id
                )
            )
        )
        return [
            *(
                version_records.read(entry, cell=decode_cell(entry.after) if entry.after else original)
                for entry in written
            ),
            version_records.read(created, cell=decode_cell(first) if first else original),
        ]

    @read_transaction
    def stale(self, connection: Connection, table_id: str) -> list[StaleCell]:
        """Return the cells with an input that changed since they were filled, in row order."""
        return find_stale_cells(connection, read_table_head(connection, table_id))

    @read_transaction
    def problems(self, connection: Connection, table_id: str) -> list[str]:
        """Return differences between the cells and the log; an empty list for a sound table."""
        found = read_table_head(connection, table_id)
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
        # Numbers without gaps: count, highest number and the table's counter must agree.
        if not count == last == found.last_seq:
            problems.append(f"the log of {found.table.id} has {count} entries up to {last}, not {found.last_seq}")
        return problems


def commit_edits(
    connection: Connection, found: TableHead, edits: Sequence[Edit], *, kind: str = "edit", **about: Any
) -> Change | None:
    """Write edits to a locked table; `about` is what `close_change` writes into the history."""
    writer = EditWriter(connection, found, edits)
    entries = [entry for edit in edits for entry in writer.write(edit)]
    if not entries:
        return None
    writer.finish()
    grown = writer.grown + append_log_entries(connection, found, entries)
    charge_acting(connection, "rows", sum(isinstance(edit, AddRow) for edit in edits))
    # Most changes write each cell once, and then the last entry of a cell need not be looked for.
    cells = [(entry["row_id"], entry["field_id"]) for entry in entries if entry["kind"] == "cell"]
    return close_change(
        connection,
        found,
        len(entries),
        kind=kind,
        each_cell_once=len(set(cells)) == len(cells),
        grown=grown,
        **about,
    )


class EditWriter:
    """Checks edits with `Draft`, which knows the rules, and turns each into log entries and changed rows and fields."""

    def __init__(self, connection: Connection, found: TableHead, edits: Sequence[Edit]) -> None:
        self._connection = connection
        self._no = found.no
        row_ids = [edit.row_id for edit in edits if isinstance(edit, SetCell | FlagCell | RemoveRow)]
        rows = read_rows(connection, found, row_ids)
        # The contents of cells as the log will refer to them: numbers, or cells that have none yet.
        there = read_stored_cells(connection, found.no, [row.id for row in rows])
        self._overlay: dict[CellKey, int | Cell] = {at: stored.number for at, stored in there.items()}
        self._draft = Draft(msgspec.structs.replace(found.table, rows=rows), last_row_id=found.last_row)
        self._field_ids = dict(found.field_ids)
        self._positions = list(found.positions)
        self._last_field = found.last_field
        self._last_row = found.last_row
        self.grown = 0
        """Bytes of new rows."""

    def write(self, edit: Edit) -> list[LogEntry]:
        """Write one edit, and return its log entries."""
        # The inverse tells what really happened, such as the id that a new row got.
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
                update_field(self._connection, self._no, field_id, removed=True)
                self._positions.pop(inverse.position or 0)
                return [{"kind": "remove_field", "field_id": field_id}]
            case ChangeField(), ChangeField():
                return self._change_field(edit, inverse.field)
            case _:
                raise AssertionError(f"{edit} cannot have the inverse {inverse}")

    def finish(self) -> None:
        """Write the counters and the key field once all edits are in."""
        key_field = self._draft.table().key_field
        self._connection.execute(
            update(tables)
            .where(tables.c.no == self._no)
            .values(last_row=self._last_row, last_field=self._last_field, key_field=key_field)
        )

    def _cell_entry(self, row_id: RowId, name: str) -> LogEntry:
        field_id = self._field_ids[name]
        after = self._draft.cell(row_id, name)
        before = self._overlay.get((row_id, field_id))
        self._overlay[row_id, field_id] = after
        return {"kind": "cell", "row_id": row_id, "field_id": field_id, "before": before, "after": after}

    def _add_row(self, edit: AddRow, row_id: RowId) -> list[LogEntry]:
        cells = [(self._field_ids[name], cell) for name, cell in self._draft.row(row_id).cells.items()]
        own, others = split_given(cells)
        given_text = to_json_text(own)
        self.grown += count_utf8_bytes(given_text)
        row = {"table_no": self._no, "row_id": row_id, "key": edit.key, "given": given_text, "removed": False}
        put_record(self._connection, rows, row)
        stored = schema.cells
        # A row that comes back by undo may have left cells behind.
        self._connection.execute(delete(stored).where(stored.c.table_no == self._no, stored.c.row_id == row_id))
        records, size = make_cell_records(
            self._connection, self._no, [(row_id, field_id, cell) for field_id, cell in others]
        )
        insert_many(self._connection, insert(stored), records)
        self.grown += size
        self._overlay.update({(row_id, record["field_id"]): record["cell"] for record in records})
        self._last_row = max(self._last_row, row_id)
        return [{"kind": "add_row", "row_id": row_id}]

    def _add_field(self, edit: AddField) -> list[LogEntry]:
        self._last_field += 1
        field_id = self._field_ids[edit.field.name] = self._last_field
        self._connection.execute(
            insert(fields).values(
                table_no=self._no,
                field_id=field_id,
                position=self._free_position(edit.position),
                spec=to_json_text(edit.field),
                removed=False,
            )
        )
        return [
            {"kind": "add_field", "field_id": field_id},
            *(self._cell_entry(row_id, edit.field.name) for row_id in edit.cells),
        ]

    def _free_position(self, index: int | None) -> float:
        """Return a position between the neighbours. The others keep theirs, so a field that comes back finds its place
        again."""
        at = len(self._positions) if index is None else index
        left = self._positions[at - 1] if at > 0 else self._positions[0] - 2 if self._positions else 0.0
        right = self._positions[at] if at < len(self._positions) else left + 2
        # Halves fit some fifty times between two neighbours, which a person inserting columns does not reach.
        position = (left + right) / 2
        self._positions.insert(at, position)
        return position

    def _change_field(self, edit: ChangeField, before: Field) -> list[LogEntry]:
        field_id = self._field_ids.pop(before.name)
        self._field_ids[edit.field.name] = field_id
        update_field(self._connection, self._no, field_id, spec=to_json_text(edit.field))
        return [
            {
                "kind": "change_field",
                "field_id": field_id,
                "before": before,
                "after": edit.field,
            }
        ]


def append_log_entries(connection: Connection, found: TableHead, entries: Sequence[LogEntry], skip: int = 0) -> int:
    """Write entries at the end of the log, after `skip` others of the same change. Their `before` and `after` are
    numbers of contents, or cells and fields, which are stored; return the bytes that those take."""
    # All records of one statement must have the same columns.
    blank: LogEntry = {"row_id": None, "field_id": None, "before": None, "after": None}
    first = found.last_seq + skip + 1
    records = [{"table_no": found.no, "seq": seq, **blank, **entry} for seq, entry in enumerate(entries, start=first)]
    # An entry may have as `before` what an earlier one of the same cell has as `after`; no two cells share a content.
    places = [(each, name) for each in records for name in ("before", "after")]
    new = {(each["row_id"], each["field_id"], id(each[name])): each[name] for each, name in places}
    new_cells = {key: each for key, each in new.items() if isinstance(each, Cell)}
    new_fields = {key: each for key, each in new.items() if isinstance(each, Field)}
    cell_numbers, grown = store_cells(connection, found.no, list(new_cells.values()))
    field_numbers, of_fields = store_fields(connection, list(new_fields.values()))
    number_of = dict(zip([*new_cells, *new_fields], [*cell_numbers, *field_numbers], strict=True))
    for each, name in places:
        each[name] = number_of.get((each["row_id"], each["field_id"], id(each[name])), each[name])
    insert_many(connection, insert(edits), records)
    return grown + of_fields


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
    """Finish a change whose edits are in the log: mark dependent cells as stale, update `cells` and write the line of
    the history. Charge the table's owner for the marks, and for the `grown` bytes of what was stored before."""
    first = found.last_seq + 1
    # Before `cells` is updated: the marks compare the log with what the cells still hold.
    for marks in make_stale_marks(connection, found, first, found.last_seq + count):
        grown += append_log_entries(connection, found, marks, skip=count)
        count += len(marks)
    last = found.last_seq + count
    apply_log_to_cells(connection, found.no, first, last, each_cell_once=each_cell_once)
    change = Change(
        number=found.last_change + 1,
        at=utc_now(),
        actor=actor,
        kind=kind,
        run_id=run_id,
        note=clean_for_storage(note),
        edits=count,
    )
    record = change_records.write(change, table_no=found.no, first_seq=first, last_seq=last)
    connection.execute(insert(changes), record)
    counters = {"last_change": change.number, "last_seq": last}
    connection.execute(update(tables).where(tables.c.no == found.no).values(counters))
    # Last, because charging locks the owner's line until the commit.
    charge_bytes(connection, "table", found.table.id, grown)
    return change


def apply_log_to_cells(connection: Connection, table_no: int, first: int, last: int, *, each_cell_once: bool) -> None:
    """Update `cells` with the log entries `first` to `last`; of several for one cell, the last counts."""
    span = {"of_table": table_no, "first": first, "last": last}
    for statement in build_cell_updates(connection.dialect.name, each_cell_once=each_cell_once):
        connection.execute(statement, span)


@cache
def build_cell_updates(dialect: str, *, each_cell_once: bool) -> tuple[Executable, Executable]:
    """Return the statements that write and remove cells; building them takes longer than to run them for one cell."""
    of_table = bindparam("of_table", type_=Integer)
    here = [
        edits.c.table_no == of_table,
        edits.c.seq.between(bindparam("first", type_=BigInteger), bindparam("last", type_=BigInteger)),
        edits.c.kind.in_(CELL_KINDS),
    ]
    # Finding the last entry of each cell takes time, which most changes do not need.
    if not each_cell_once:
        here.append(
            edits.c.seq.in_(select(func.max(edits.c.seq)).where(*here).group_by(edits.c.row_id, edits.c.field_id))
        )
    # Joined, not looked up: the condition names the text once for each status.
    with_texts = edits.join(contents, contents.c.no == edits.c.after).outerjoin(
        origins, origins.c.no == contents.c.origin
    )
    source = (
        select(edits.c.table_no, edits.c.row_id, edits.c.field_id, stored_status(whole_text()), edits.c.after)
        .select_from(with_texts)
        .where(*here)
    )
    columns = ["table_no", "row_id", "field_id", "status", "cell"]
    upsert = build_upsert_for(dialect, cells).from_select(columns, source)
    write = upsert.on_conflict_do_update(
        index_elements=columns[:3], set_={"status": upsert.excluded.status, "cell": upsert.excluded.cell}
    )
    cleared = select(edits.c.row_id, edits.c.field_id).where(*here, edits.c.after.is_(None))
    remove = delete(cells).where(cells.c.table_no == of_table, tuple_(cells.c.row_id, cells.c.field_id).in_(cleared))
    return write, remove


def last_write_seq(
    found: TableHead, row_id: ColumnElement[int], field_id: ColumnElement[int], kinds: Sequence[str] = ("cell",)
) -> ColumnElement[int]:
    """Return the number of a cell's newest log entry. As a maximum over the cell's own entries this is one index
    lookup; as "is there a later one", or as a maximum of the bare number, SQLite reads the log from its end for every
    cell."""
    edits = schema.edits.alias()
    newest = select(func.max(edits.c.seq + 0)).where(
        edits.c.table_no == found.no,
        edits.c.row_id == row_id,
        edits.c.field_id == field_id,
        edits.c.kind.in_(kinds),
    )
    return newest.scalar_subquery()


def stored_status(cell: ColumnElement[Any]) -> ColumnElement[str]:
    """Return the status inside an encoded cell. Quotes inside its strings are escaped, so only the key itself can
    match; PostgreSQL's JSON operators refuse a cell whose text holds a NUL."""
    return case(*((cell.like(f'%"status":"{status}"%'), status) for status in STATUSES), else_="PENDING")


def read_stored_cells(connection: Connection, table_no: int, row_ids: Sequence[RowId]) -> dict[CellKey, StoredCell]:
    """Return the cells of these rows that were written since the rows were given."""
    query = select(cells.c.row_id, cells.c.field_id, cells.c.cell, content_text(cells.c.cell))
    found = fetch_among(connection, query.where(cells.c.table_no == table_no), cells.c.row_id, row_ids)
    return {(row_id, field_id): StoredCell(*stored) for row_id, field_id, *stored in found}


def set_row_removed(connection: Connection, table_no: int, row_id: RowId, *, removed: bool) -> None:
    connection.execute(update(rows).where(rows.c.table_no == table_no, rows.c.row_id == row_id).values(removed=removed))


def update_field(connection: Connection, table_no: int, field_id: int, **values: object) -> None:
    connection.execute(
        update(fields).where(fields.c.table_no == table_no, fields.c.field_id == field_id).values(values)
    )
