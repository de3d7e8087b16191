"""Stored tables: create, list, read and remove. `edit_log` changes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update
from sqlalchemy import Row as Record
from sqlalchemy import Table as DatabaseTable

from tablewright.domain.history import TableActivity, TableSummary
from tablewright.domain.model import PENDING, Cell, Field, Row, RowId, Struct, Table
from tablewright.domain.rowkey import row_key
from tablewright.domain.text import cell_text
from tablewright.errors import NotFound, did_you_mean
from tablewright.store import schema
from tablewright.store.conversations import delete_researches
from tablewright.store.database import StorePart, read_transaction, repeatable_transaction, write_transaction
from tablewright.store.ledger import (
    charge_acting,
    charge_bytes,
    refuse_disk_use,
    remaining_disk_bytes,
)
from tablewright.store.records import (
    MAX_IDS_PER_QUERY,
    RecordMapper,
    acquire_advisory_lock,
    build_upsert,
    clean_for_storage,
    content_text,
    count_utf8_bytes,
    decode_cell,
    decode_field,
    decode_given,
    delete_contents,
    in_batches,
    insert_many,
    make_slug,
    new_id,
    split_given,
    store_cells,
    to_json_text,
    utc_now,
)
from tablewright.store.schema import (
    attempts,
    cells,
    changes,
    contents,
    fields,
    operations,
    proposals,
    researches,
    rows,
    run_events,
    run_slices,
    runs,
    scheduled,
    shortlists,
    table_ids,
    tables,
)
from tablewright.store.sharing import check_owner, claim_ownership, is_visible, release_shares, sees_all
from tablewright.store.users import add_audit_entry

# Rows per statement and per progress message; more make no difference to the speed of an import.
ROWS_PER_BATCH = 2_000
# The largest integer of both databases: row ids above it cannot exist.
MAX_INTEGER = 2**63 - 1
# Characters of stored rows per window, so that long texts need no more memory than short ones; a longer row is a window
# by itself.
MAX_WINDOW_CHARACTERS = 8_000_000


table_summary_records = RecordMapper(
    TableSummary, tables, row_count="rows", field_count="fields", changed_at="changed_at"
)


class TableHead(Struct, frozen=True):
    """A table without its rows, and the numbers from which the log continues."""

    no: int
    table: Table
    field_ids: dict[str, int]
    positions: tuple[float, ...]
    last_row: int
    last_field: int
    last_change: int
    last_seq: int

    @property
    def names(self) -> dict[int, str]:
        return {field_id: name for name, field_id in self.field_ids.items()}

    def narrowed(self, name: str) -> TableHead:
        """Return the head with this column alone, or with none if there is no such column."""
        own = {name: self.field_ids[name]} if name in self.field_ids else {}
        return msgspec.structs.replace(self, field_ids=own)


table_head_records = RecordMapper(TableHead, tables)


class RowWindow(Struct, frozen=True):
    """Some rows of a table, as they were when the log had the number `as_of`. `table` has no rows."""

    table: Table
    rows: tuple[Row, ...]
    as_of: int
    has_more: bool = False
    """True if other rows come after these."""


class Tables(StorePart):
    """Create, read and remove tables. Rows are read in windows, so memory use does not depend on the size of a
    table."""

    async def create(
        self,
        name: str,
        fields: Sequence[Field],
        rows: Iterable[Sequence[Cell]] = (),
        *,
        key_field: str = "",
        actor: str = "",
        note: str = "",
        progress: Callable[[int], None] | None = None,
    ) -> Table:
        """Create a table with its first rows in one transaction: a file is imported completely or not at all."""

        def work(connection: Connection) -> Table:
            called = clean_for_storage(name)
            table = Table(
                id=reserve_table_id(connection, called), name=called, fields=tuple(fields), key_field=key_field
            )
            table_no = insert_table_head(connection, table)
            claim_ownership(connection, "table", [table.id])
            count, size = insert_rows(connection, table_no, table, self._watched(rows), progress)
            finish_creation(connection, table_no, count, actor=actor, note=clean_for_storage(note))
            charge_acting(connection, "rows", count)
            charge_bytes(connection, "table", table.id, size)
            return table

        # An iterator is used up by the first attempt.
        return await self._database.write(work, once=isinstance(rows, Iterator))

    def _watched(self, rows: Iterable[Sequence[Cell]]) -> Iterator[Sequence[Cell]]:
        for number, row in enumerate(rows):
            # Once a batch is soon enough for Ctrl-C.
            if number % ROWS_PER_BATCH == 0:
                self._database.check_open()
            yield row

    @read_transaction
    def all(self, connection: Connection) -> list[TableSummary]:
        rows_of = select(func.count()).where(rows.c.table_no == tables.c.no, ~rows.c.removed).scalar_subquery()
        fields_of = select(func.count()).where(fields.c.table_no == tables.c.no, ~fields.c.removed).scalar_subquery()
        changed = select(func.max(changes.c.at)).where(changes.c.table_no == tables.c.no).scalar_subquery()
        counts = rows_of.label("rows"), fields_of.label("fields"), changed.label("changed_at")
        query = select(tables, *counts).where(is_visible(connection, "table")).order_by(tables.c.no)
        return table_summary_records.read_all(connection.execute(query))

    @read_transaction
    def find(self, connection: Connection, name_or_id: str) -> Table:
        """Return the table without its rows, by id, or by name if only one has it."""
        return read_table_head(connection, name_or_id).table

    @read_transaction
    def load(self, connection: Connection, table_id: str) -> Table:
        """Return the whole table in memory. For small tables; large ones are read window by window."""
        found = read_table_head(connection, table_id)
        rows = tuple(row for window in read_windows_in_order(connection, found) for row in window)
        return msgspec.structs.replace(found.table, rows=rows)

    @read_transaction
    def activity(self, connection: Connection, table_id: str) -> TableActivity:
        """Return what tells a watcher that something happened. Cheap enough to call several times a second."""
        record = find_table_record(connection, table_id, lock=False)
        # The newest few are enough to notice a change.
        newest = (
            select(each.c.id, each.c.status).where(each.c.table_no == record.no).order_by(at.desc()).limit(20)
            for each, at in ((runs, runs.c.started_at), (proposals, proposals.c.created_at))
        )
        begun, proposed = (tuple((id, status) for id, status in connection.execute(query)) for query in newest)
        return TableActivity(change=record.last_change, runs=begun, proposals=proposed)

    @read_transaction
    def count(self, connection: Connection, table_id: str) -> int:
        here = (rows.c.table_no == read_table_head(connection, table_id).no) & ~rows.c.removed
        return connection.execute(select(func.count()).select_from(rows).where(here)).scalar_one()

    @read_transaction
    def window(
        self,
        connection: Connection,
        table_id: str,
        *,
        after: RowId = 0,
        limit: int = ROWS_PER_BATCH,
        fields: Collection[str] | None = None,
        most_cells: int = MAX_INTEGER,
    ) -> RowWindow:
        """Return the next rows after the row `after`, none at the end; with `fields`, only those cells. Long rows make
        a short window, and so do wide tables with `most_cells`: only an empty one is the end."""
        found = keep_fields(read_table_head(connection, table_id), fields)
        limit = min(limit, max(1, most_cells // max(1, len(found.field_ids))))
        window, has_more = read_window(connection, found, after, limit)
        return RowWindow(table=found.table, rows=window, as_of=found.last_seq, has_more=has_more)

    @read_transaction
    def rows(
        self, connection: Connection, table_id: str, row_ids: Sequence[RowId], *, fields: Collection[str] | None = None
    ) -> RowWindow:
        found = keep_fields(read_table_head(connection, table_id), fields)
        return RowWindow(table=found.table, rows=read_rows(connection, found, row_ids), as_of=found.last_seq)

    async def windows_of(self, table_id: str, row_ids: Sequence[RowId]) -> AsyncIterator[list[Row]]:
        """Yield the rows that exist, in the order of `row_ids`, a window at a time."""
        rest = [row_id for row_id in row_ids if abs(row_id) <= MAX_INTEGER]
        while rest:
            count, rows = await self._first_window(table_id, rest[:ROWS_PER_BATCH])
            by_id = {row.id: row for row in rows}
            yield [by_id[row_id] for row_id in rest[:count] if row_id in by_id]
            rest = rest[count:]

    @read_transaction
    def _first_window(
        self, connection: Connection, table_id: str, row_ids: Sequence[RowId]
    ) -> tuple[int, tuple[Row, ...]]:
        """Return how many of the rows, from the first, fit into a window, and those of them that exist."""
        found = read_table_head(connection, table_id)
        count = count_rows_that_fit(connection, found, row_ids)
        return count, read_rows(connection, found, row_ids[:count])

    async def refuse_missing(self, table_id: str, row_ids: Sequence[RowId]) -> None:
        """Raise NotFound for the first of the rows that does not exist."""
        present = {row.id for row in (await self.rows(table_id, row_ids, fields=())).rows}
        if missing := set(row_ids) - present:
            raise NotFound(f"Table {table_id} has no row {min(missing)}.")

    async def stream(self, table_id: str, take: Callable[[Sequence[Row]], None], *, field: str | None = None) -> None:
        """Pass every row to `take`, batch by batch, from one snapshot, in a reader's thread. With `field`, rows have no
        other cell."""

        def work(connection: Connection) -> None:
            found = read_table_head(connection, table_id)
            if field is not None:
                found = found.narrowed(field)
            for window in read_windows_in_order(connection, found):
                self._database.check_open()
                take(window)

        await self._database.stream(work)

    @read_transaction
    def row_ids(self, connection: Connection, table_id: str, *, limit: int | None = None) -> list[RowId]:
        """Return the ids of the rows, in order."""
        here = (rows.c.table_no == read_table_head(connection, table_id).no) & ~rows.c.removed
        query = select(rows.c.row_id).where(here).order_by(rows.c.row_id).limit(limit)
        return list(connection.scalars(query))

    @repeatable_transaction
    def rename(self, connection: Connection, table_id: str, name: str) -> None:
        """Change the name; the id stays."""
        no = read_table_head(connection, table_id, lock=True).no
        connection.execute(update(tables).where(tables.c.no == no).values(name=clean_for_storage(name)))

    @repeatable_transaction
    def set_tags(self, connection: Connection, table_id: str, tags: Sequence[str]) -> None:
        no = read_table_head(connection, table_id, lock=True).no
        connection.execute(update(tables).where(tables.c.no == no).values(tags=to_json_text(list(tags))))

    @repeatable_transaction
    def note_schedule(self, connection: Connection, table_id: str) -> None:
        """Record that the queue has a schedule for the table, which is removed with it."""
        statement = build_upsert(self._database.engine, scheduled).values(table_id=table_id).on_conflict_do_nothing()
        connection.execute(statement)

    @write_transaction
    def remove(self, connection: Connection, table_id: str) -> bool:
        """Remove the table and all that belongs to it, for good: its runs, and the researches and shortlists about it.
        Its id is never reused. Return True if it had a schedule, which the queue must remove."""
        found = read_table_head(connection, table_id, lock=True)
        check_owner(connection, "table", found.table.id)
        delete_contents(connection, found.no)
        proposals = select(schema.proposals.c.id).where(schema.proposals.c.table_no == found.no)
        connection.execute(delete(operations).where(operations.c.proposal_id.in_(proposals)))
        runs = select(schema.runs.c.id).where(schema.runs.c.table_no == found.no)
        for of_run in (attempts, run_slices, run_events):
            connection.execute(delete(of_run).where(of_run.c.run_id.in_(runs)))
        # What belongs to runs and proposals went first: it is found through them.
        for owned in schema.tables_with_column("table_no"):
            connection.execute(delete(owned).where(owned.c.table_no == found.no))
        about = select(researches.c.id).where(researches.c.table_id == found.table.id)
        delete_researches(connection, list(connection.scalars(about)))
        talks = select(shortlists.c.id).where(shortlists.c.table_id == found.table.id)
        release_shares(connection, "shortlist", list(connection.scalars(talks)))
        connection.execute(delete(shortlists).where(shortlists.c.table_id == found.table.id))
        connection.execute(delete(tables).where(tables.c.no == found.no))
        release_shares(connection, "table", [found.table.id])
        add_audit_entry(connection, "remove", f"table {found.table.id}", found.table.name)
        gone = delete(scheduled).where(scheduled.c.table_id == found.table.id)
        return bool(connection.execute(gone).rowcount)


def read_table_head(connection: Connection, name_or_id: str, *, lock: bool = False) -> TableHead:
    """Return a table's head. `lock` makes every other writer of the table wait until the transaction ends."""
    return build_table_head(connection, find_table_record(connection, name_or_id, lock=lock))


def build_table_head(connection: Connection, record: Record[Any]) -> TableHead:
    found = connection.execute(
        select(fields.c.field_id, fields.c.spec, fields.c.position)
        .where(fields.c.table_no == record.no, ~fields.c.removed)
        .order_by(fields.c.position, fields.c.field_id)
    ).all()
    specs = [(field_id, decode_field(spec)) for field_id, spec, _ in found]
    table = Table(id=record.id, name=record.name, fields=tuple(field for _, field in specs), key_field=record.key_field)
    return table_head_records.read(
        record,
        table=table,
        field_ids={field.name: field_id for field_id, field in specs},
        positions=tuple(position for _, _, position in found),
    )


def keep_fields(found: TableHead, fields: Collection[str] | None) -> TableHead:
    """Return the head with these fields alone, or with all for None."""
    if fields is None:
        return found
    field_ids = {name: field_id for name, field_id in found.field_ids.items() if name in fields}
    return msgspec.structs.replace(found, field_ids=field_ids)


def find_table_record(connection: Connection, name_or_id: str, *, lock: bool) -> Record[Any]:
    query = select(tables).where(is_visible(connection, "table"))
    # SQLite ignores FOR UPDATE; its single writer gives the same guarantee.
    query = query.with_for_update() if lock else query
    record = connection.execute(query.where(tables.c.id == name_or_id)).one_or_none()
    if record is not None:
        return record
    # Ids win over names, so a table cannot be hidden by naming another one like its id.
    by_name = connection.execute(query.where(func.lower(tables.c.name) == name_or_id.lower())).all()
    if len(by_name) == 1:
        return by_name[0]
    if by_name:
        raise NotFound(
            f"{len(by_name)} tables are called {name_or_id!r}.",
            advice=f"Use an id: {', '.join(record.id for record in by_name[:5])}.",
        )
    known = connection.scalars(select(tables.c.id).where(is_visible(connection, "table"))).all()
    near = did_you_mean(name_or_id, known)
    raise NotFound(f"There is no table {name_or_id!r}.", advice=f"{near}`tablewright tables list` shows the tables.")


def read_windows_in_order(connection: Connection, found: TableHead) -> Iterator[tuple[Row, ...]]:
    after = 0
    has_more = True
    while has_more:
        window, has_more = read_window(connection, found, after, ROWS_PER_BATCH)
        if window:
            yield window
            after = window[-1].id


def read_window(connection: Connection, found: TableHead, after: RowId, limit: int) -> tuple[tuple[Row, ...], bool]:
    """Return the next rows, and True if others come after them."""
    here = (rows.c.table_no == found.no, rows.c.row_id > after, ~rows.c.removed)
    row_ids = connection.scalars(select(rows.c.row_id).where(*here).order_by(rows.c.row_id).limit(limit + 1)).all()
    if not row_ids:
        return (), False
    # Sizes are measured before texts are read, so that a window of long rows never fills the memory.
    count = count_rows_that_fit(connection, found, row_ids[:limit])
    last = row_ids[count - 1]
    records = connection.execute(
        select(rows.c.row_id, rows.c.key, rows.c.given).where(*here, rows.c.row_id <= last).order_by(rows.c.row_id)
    ).all()
    written = connection.execute(
        select(cells.c.row_id, cells.c.field_id, content_text(cells.c.cell)).where(
            cells.c.table_no == found.no,
            cells.c.row_id > after,
            cells.c.row_id <= last,
            cells.c.field_id.in_(found.names),
        )
    )
    return join_cells(found, records, written), count < len(row_ids)


def count_rows_that_fit(connection: Connection, found: TableHead, row_ids: Sequence[RowId]) -> int:
    """Return how many of these rows, from the first, fit into a window; at least one, if there are any."""
    size = count = 0
    # Few per query, because measuring stops once long rows have filled a window.
    for chunk in in_batches(row_ids, 100):
        ordered = valid_row_ids(chunk)
        given = select(rows.c.row_id, func.length(rows.c.given)).where(
            rows.c.table_no == found.no, match_row_ids(rows.c.row_id, ordered)
        )
        written = (
            select(cells.c.row_id, func.sum(func.length(contents.c.text)))
            .join(contents, contents.c.no == cells.c.cell)
            .where(
                cells.c.table_no == found.no, match_row_ids(cells.c.row_id, ordered), cells.c.field_id.in_(found.names)
            )
            .group_by(cells.c.row_id)
        )
        sizes: Counter[RowId] = Counter()
        for query in (given, written):
            for row_id, length in connection.execute(query):
                sizes[row_id] += int(length)
        for row_id in chunk:
            # 200 is about the memory of a cell without its text, so that many empty cells fill a window too.
            size += sizes[row_id] + 200 * len(found.field_ids)
            if size > MAX_WINDOW_CHARACTERS and count:
                return count
            count += 1
    return count


def read_rows(connection: Connection, found: TableHead, row_ids: Sequence[RowId]) -> tuple[Row, ...]:
    result: list[Row] = []
    for chunk in in_batches(valid_row_ids(row_ids), MAX_IDS_PER_QUERY):
        records = connection.execute(
            select(rows.c.row_id, rows.c.key, rows.c.given)
            .where(rows.c.table_no == found.no, match_row_ids(rows.c.row_id, chunk), ~rows.c.removed)
            .order_by(rows.c.row_id)
        ).all()
        written = connection.execute(
            select(cells.c.row_id, cells.c.field_id, content_text(cells.c.cell)).where(
                cells.c.table_no == found.no, match_row_ids(cells.c.row_id, chunk)
            )
        )
        result.extend(join_cells(found, records, written))
    return tuple(result)


def join_cells(
    found: TableHead, records: Sequence[Record[int, str, str]], written: Iterable[Record[int, int, str]]
) -> tuple[Row, ...]:
    names = found.names
    by_row = {row_id: decode_given(values).cells(names) for row_id, _, values in records}
    for row_id, field_id, text in written:
        own = by_row.get(row_id)
        name = names.get(field_id)
        if own is not None and name is not None:
            cell = decode_cell(text)
            # An emptied cell overrides the given value.
            if cell == PENDING:
                own.pop(name, None)
            else:
                own[name] = cell
    return tuple(Row(id=row_id, key=key, cells=by_row[row_id]) for row_id, key, _ in records)


def valid_row_ids(row_ids: Iterable[RowId]) -> list[RowId]:
    """Return each id once, in order, without those that no row can have."""
    return sorted({row_id for row_id in row_ids if abs(row_id) <= MAX_INTEGER})


def same_row(one: DatabaseTable, other: DatabaseTable) -> ColumnElement[bool]:
    return (one.c.table_no == other.c.table_no) & (one.c.row_id == other.c.row_id)


def same_cell(one: DatabaseTable, other: DatabaseTable) -> ColumnElement[bool]:
    return same_row(one, other) & (one.c.field_id == other.c.field_id)


def match_row_ids(column: ColumnElement[RowId], chunk: Sequence[RowId]) -> ColumnElement[bool]:
    """Return the condition that the column is one of these sorted ids. Ids without a gap become a range, which is
    faster."""
    if len(chunk) == chunk[-1] - chunk[0] + 1:
        return column.between(chunk[0], chunk[-1])
    return column.in_(chunk)


def reserve_table_id(connection: Connection, name: str) -> str:
    """Return a new id. A user who sees all tables gets the name if no table ever had it. Others get a random ending, so
    that no id is reused or reveals a table that they do not see."""
    start = make_slug(name)
    # Two imports of the same file would both find the id free.
    acquire_advisory_lock(connection, f"table id {start}")
    free = start if sees_all(connection) else new_id(f"{start}-")
    while connection.scalar(select(table_ids.c.id).where(table_ids.c.id == free)):
        free = new_id(f"{start}-")
    connection.execute(insert(table_ids).values(id=free))
    return free


def insert_table_head(connection: Connection, table: Table) -> int:
    inserted = connection.execute(
        insert(tables).values(
            id=table.id,
            name=table.name,
            key_field=table.key_field,
            created_at=utc_now(),
            last_row=0,
            last_field=len(table.fields),
            last_change=0,
            last_seq=0,
        )
    )
    table_no = int(inserted.inserted_primary_key[0])  # type: ignore[index]  # a single-row INSERT always has one
    if table.fields:
        connection.execute(
            insert(fields),
            [
                {
                    "table_no": table_no,
                    "field_id": number,
                    "position": number,
                    "spec": to_json_text(field),
                    "removed": False,
                }
                for number, field in enumerate(table.fields, start=1)
            ],
        )
    return table_no


def insert_rows(
    connection: Connection,
    table_no: int,
    table: Table,
    rows: Iterable[Sequence[Cell]],
    progress: Callable[[int], None] | None,
) -> tuple[int, int]:
    """Insert rows as they were given, numbered from 1; return how many, and their bytes."""
    names = [field.name for field in table.fields]
    key_at = names.index(table.key_field) if table.key_field else None
    numbered = enumerate(rows, start=1)
    count = size = 0
    room = remaining_disk_bytes(connection)
    # In batches, so that a large file is never in memory as a whole.
    while batch := list(islice(numbered, ROWS_PER_BATCH)):
        records = []
        carried: list[tuple[RowId, int, Cell]] = []
        for row_id, row in batch:
            own, others = split_given(list(enumerate(row, start=1)))
            key = row_key(cell_text(row[key_at])) if key_at is not None else ""
            records.append(
                {"table_no": table_no, "row_id": row_id, "key": key, "given": to_json_text(own), "removed": False}
            )
            carried.extend((row_id, field_id, cell) for field_id, cell in others)
        cell_records, grown = make_cell_records(connection, table_no, carried)
        size += grown + sum(count_utf8_bytes(str(record["given"])) for record in records)
        # Refuse a large file early, not after writing all of it.
        if size > room:
            refuse_disk_use(connection, size)
        insert_many(connection, insert(schema.rows), records)
        insert_many(connection, insert(cells), cell_records)
        count += len(batch)
        if progress:
            progress(count)
    return count, size


def make_cell_records(
    connection: Connection, table_no: int, carried: Sequence[tuple[RowId, int, Cell]]
) -> tuple[list[dict[str, Any]], int]:
    """Store the contents of new cells, and return the records of the cells and the bytes stored."""
    numbers, grown = store_cells(connection, table_no, [cell for _, _, cell in carried])
    records = [
        {"table_no": table_no, "row_id": row_id, "field_id": field_id, "status": cell.status, "cell": number}
        for number, (row_id, field_id, cell) in zip(numbers, carried, strict=True)
    ]
    return records, grown


def finish_creation(connection: Connection, table_no: int, count: int, *, actor: str, note: str) -> None:
    connection.execute(tables.update().where(tables.c.no == table_no).values(last_row=count, last_change=1))
    connection.execute(
        insert(changes).values(
            table_no=table_no, change=1, at=utc_now(), actor=actor, kind="create", note=note, first_seq=1, last_seq=0
        )
    )
