"""Staleness: cells that a run found from other cells of their row, one of which has another value now.

Staleness is data, not an order: a stale cell keeps its value, is shown and priced as stale, and nothing runs by itself.
The marks are log entries of the kind "stale" next to their cause: undoing the cause removes them. A mark is not a
value: it does not prevent undoing a cell, or a write by a run that had read it before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, Subquery, exists, func, select

from tablewright.domain.history import StaleCell
from tablewright.domain.model import Cell, RowId, make_given_cell
from tablewright.store.records import content_text, decode_cell, decode_given, fetch_among, texts_of_entry
from tablewright.store.schema import cells, edits, rows
from tablewright.store.tables import TableHead, same_row

# The id of a row and the number of a field.
CellKey: TypeAlias = tuple[RowId, int]
LogEntry: TypeAlias = dict[str, Any]

# Log entries that set a cell: its value, or only that it is stale.
CELL_KINDS = ("cell", "stale")
# The sum keeps the database from scanning the whole log by its number instead of using the index by cell.
entry_number = edits.c.seq + 0


class StoredCell(NamedTuple):
    """A cell as the database has it: the number of its content, and the text."""

    number: int
    text: str


class CellChange(NamedTuple):
    """A cell between two points of the log, as texts; None if it had its given value."""

    row_id: RowId
    field_id: int
    before: str | None
    after: str | None


def is_found_by_run(cell: Cell) -> bool:
    """Return True if a run found the value, or found nothing, which another input may change as well.

    A value that a person typed during a review belongs to the run too, but stays valid when inputs change.
    """
    return cell.run_id is not None and cell.basis != "given"


def make_stale_marks(connection: Connection, found: TableHead, first: int, last: int) -> Iterator[list[LogEntry]]:
    """Yield, batch by batch, the marks that log entries `first` to `last` require; each batch is logged before the next
    is read. `cells` is as it was before all of them.

    A cell that is itself among the entries gets none: its writer knew what it depends on. A cell that is stale already
    is marked again, so that undoing the earlier cause does not make it look fresh.
    """
    dependents = find_dependent_fields(found)
    if not dependents:
        return
    reachable = sorted({field_id for ids in dependents.values() for field_id in ids})
    # Rows without any dependent cell are skipped in SQL.
    of_row = (cells.c.table_no == found.no, cells.c.row_id == edits.c.row_id, cells.c.field_id.in_(reachable))
    # PostgreSQL turns EXISTS into a join, which without statistics compares every row with every other.
    a_dependent = select(cells.c.field_id).where(*of_row).limit(1).scalar_subquery()
    query = (
        select(edits.c.seq, edits.c.row_id, edits.c.field_id, *texts_of_entry(edits))
        .where(edits.c.table_no == found.no, edits.c.seq <= last, edits.c.kind.in_(CELL_KINDS))
        .where(edits.c.field_id.in_(dependents), a_dependent.is_not(None))
        .order_by(edits.c.seq)
        # Entries per query, so that a change of a million cells needs little memory.
        .limit(2_000)
    )
    while records := connection.execute(query.where(edits.c.seq >= first)).all():
        first = records[-1].seq + 1
        changed = find_value_changes(connection, found, records)
        there = read_untouched_cells(connection, found, {row_id for row_id, _ in changed}, reachable)
        yield [entry for place, after in changed.items() for entry in mark_dependents(place, after, dependents, there)]


def mark_dependents(
    place: CellKey, after: Cell, dependents: dict[int, list[int]], there: dict[CellKey, StoredCell]
) -> list[LogEntry]:
    """Return marks for all that depends on a changed cell, directly or through others. They are removed from `there`,
    so each is marked once.

    Two cells of one run fit together, even when they are applied one after the other, unless one has become stale.
    """
    row_id, field_id = place
    entries: list[LogEntry] = []
    waiting = [(field_id, after.run_id if is_found_by_run(after) and not after.stale else None)]
    while waiting:
        changed, same_run = waiting.pop()
        for dependent in dependents.get(changed, ()):
            stored = there.get((row_id, dependent))
            cell = decode_cell(stored.text) if stored else None
            if stored is not None and cell is not None and is_found_by_run(cell) and cell.run_id != same_run:
                entries.append(mark_stale(row_id, dependent, stored.number, cell))
                waiting.append((dependent, None))
                del there[row_id, dependent]
    return entries


def mark_stale(row_id: RowId, field_id: int, number: int, cell: Cell) -> LogEntry:
    """Return the mark for a cell whose content has this number."""
    after = msgspec.structs.replace(cell, stale=True)
    return {"kind": "stale", "row_id": row_id, "field_id": field_id, "before": number, "after": after}


def mark_outdated(
    connection: Connection,
    found: TableHead,
    written: Subquery,
    *,
    since: int,
    standing: ColumnElement[bool] | None = None,
) -> list[LogEntry]:
    """Return marks for written cells whose inputs changed after they were read, and for those written with them that
    depend on them. Each cell was read at its own `as_of`, no earlier than `since`. `written` has row_id, field_id, cell
    (the number of its content) and as_of. `standing` selects entries that are not being undone: without any since then,
    an input returns to what it was."""
    marks: dict[CellKey, LogEntry] = {}
    for field_id, inputs in find_input_fields(found).items():
        later = [
            edits.c.table_no == found.no,
            edits.c.field_id.in_(inputs),
            edits.c.kind.in_(CELL_KINDS),
            edits.c.seq.between(since + 1, found.last_seq),
        ]
        later += [] if standing is None else [standing]
        # Most applied proposals have no changed inputs: one index lookup settles that.
        if not connection.scalar(select(exists().where(*later))):
            continue
        of_field = select(written.c.row_id, written.c.as_of, written.c.cell).where(written.c.field_id == field_id)
        rows = select(edits.c.row_id).where(*later)
        spans, there = read_input_changes(
            connection, found, inputs, of_field.subquery(), rows, undoing=standing is not None
        )
        for (row_id, _), cause in find_value_changes(connection, found, spans).items():
            number, text = there[row_id]
            cell = decode_cell(text)
            # An input that the same run found fits to the cell, however late it was applied.
            fits = is_found_by_run(cause) and cause.run_id == cell.run_id and not cause.stale
            if is_found_by_run(cell) and not fits:
                marks[row_id, field_id] = mark_stale(row_id, field_id, number, cell)
    return [*marks.values(), *mark_written_dependents(connection, found, written, marks)]


def read_input_changes(
    connection: Connection,
    found: TableHead,
    inputs: Sequence[int],
    written: Subquery,
    rows: Select[RowId],
    *,
    undoing: bool,
) -> tuple[list[CellChange], dict[RowId, StoredCell]]:
    """Return the changes of the inputs of the written cells since their `as_of`, in these rows, and the cells.

    An undo restores inputs, which counts; an input that is applied together with the cell fits to it.
    """
    entries = edits.alias()
    # The sum keeps the database from scanning the whole log by its number.
    since = (written.c.row_id == entries.c.row_id) & (entries.c.seq + 0 > written.c.as_of)
    query = (
        select(entries.c.seq, entries.c.row_id, entries.c.field_id, *texts_of_entry(entries), written.c.cell)
        .add_columns(content_text(written.c.cell).label("text"))
        .join(written, since)
        .where(entries.c.table_no == found.no, entries.c.field_id.in_(inputs), entries.c.kind.in_(CELL_KINDS))
        .where(entries.c.row_id.in_(rows))
        .order_by(entries.c.row_id, entries.c.seq)
    )
    first: dict[CellKey, Any] = {}
    last: dict[CellKey, Any] = {}
    for entry in connection.execute(query):
        first.setdefault((entry.row_id, entry.field_id), entry)
        last[entry.row_id, entry.field_id] = entry
    spans = [
        CellChange(*place, first[place].before, entry.after)
        for place, entry in last.items()
        if undoing or entry.seq <= found.last_seq
    ]
    return spans, {entry.row_id: StoredCell(entry.cell, entry.text) for entry in first.values()}


def mark_written_dependents(
    connection: Connection, found: TableHead, written: Subquery, marked: Collection[CellKey]
) -> Iterator[LogEntry]:
    """Yield marks for the other written cells that depend on a marked one, directly or through others, of any run: a
    value found from an outdated cell is outdated, even in the same run."""
    if not marked:
        return
    dependents, rows = find_dependent_fields(found), {row_id for row_id, _ in marked}
    reachable = sorted({field_id for ids in dependents.values() for field_id in ids})
    query = select(written.c.row_id, written.c.field_id, written.c.cell, content_text(written.c.cell))
    records = connection.execute(query.where(written.c.field_id.in_(reachable)))
    there = {(row_id, field_id): StoredCell(*stored) for row_id, field_id, *stored in records if row_id in rows}
    waiting, seen = list(marked), set(marked)
    while waiting:
        row_id, field_id = waiting.pop()
        for place in ((row_id, dependent) for dependent in dependents.get(field_id, ())):
            cell = decode_cell(there[place].text) if place in there and place not in seen else None
            if cell is not None and is_found_by_run(cell):
                seen.add(place)
                waiting.append(place)
                yield mark_stale(*place, there[place].number, cell)


def find_value_changes(connection: Connection, found: TableHead, records: Sequence[Any]) -> dict[CellKey, Cell]:
    """Return the cells that got another value or became stale, as they are now."""
    query = select(rows.c.row_id, rows.c.given).where(rows.c.table_no == found.no)
    wanted = {each.row_id for each in records if not (each.before and each.after)}
    as_given = {row_id: decode_given(text) for row_id, text in fetch_among(connection, query, rows.c.row_id, wanted)}

    def cell_of(text: str | None, row_id: RowId, field_id: int) -> Cell:
        if text:
            return decode_cell(text)
        own = as_given[row_id]
        return make_given_cell(own.values.get(field_id), own.raw.get(field_id))

    changed = {}
    for each in records:
        before, after = (cell_of(text, each.row_id, each.field_id) for text in (each.before, each.after))
        if before.value != after.value or (after.stale and not before.stale):
            changed[each.row_id, each.field_id] = after
    return changed


def read_untouched_cells(
    connection: Connection, found: TableHead, row_ids: Collection[RowId], fields: list[int]
) -> dict[CellKey, StoredCell]:
    """Return the cells of these rows that the change has neither written nor marked yet."""
    of_cell = (edits.c.table_no == found.no, edits.c.row_id == cells.c.row_id, edits.c.field_id == cells.c.field_id)
    newest = select(func.max(entry_number)).where(*of_cell).scalar_subquery()
    query = select(cells.c.row_id, cells.c.field_id, cells.c.cell, content_text(cells.c.cell)).where(
        cells.c.table_no == found.no, cells.c.field_id.in_(fields), func.coalesce(newest, 0) <= found.last_seq
    )
    found_cells = fetch_among(connection, query, cells.c.row_id, row_ids)
    return {(row_id, field_id): StoredCell(*stored) for row_id, field_id, *stored in found_cells}


def find_input_fields(found: TableHead) -> dict[int, list[int]]:
    """Return for each field that depends on others the numbers of those."""
    # Questions may name a column in other letters than its own.
    ids = {name.casefold(): field_id for name, field_id in found.field_ids.items()}
    inputs = {
        found.field_ids[field.name]: [ids[name.casefold()] for name in field.depends_on if name.casefold() in ids]
        for field in found.table.fields
        if field.depends_on
    }
    return {field_id: its for field_id, its in inputs.items() if its}


def find_dependent_fields(found: TableHead) -> dict[int, list[int]]:
    dependents: dict[int, list[int]] = {}
    for field_id, inputs in find_input_fields(found).items():
        for each in inputs:
            dependents.setdefault(each, []).append(field_id)
    return dependents


def find_stale_cells(connection: Connection, found: TableHead) -> list[StaleCell]:
    """Return stale cells in row order; a table without dependent fields is not read."""
    inputs, names = find_input_fields(found), found.names
    if not inputs:
        return []
    # Quotes inside the strings of an encoded cell are escaped, so only the key itself can match.
    text = content_text(cells.c.cell)
    is_stale = text.like('%"stale":true%')
    query = (
        select(cells.c.row_id, cells.c.field_id, text)
        .join(rows, same_row(rows, cells))
        .where(cells.c.table_no == found.no, ~rows.c.removed, cells.c.field_id.in_(names), is_stale)
        .order_by(cells.c.row_id, cells.c.field_id)
    )
    found_cells = [(row_id, names[field_id], decode_cell(text)) for row_id, field_id, text in connection.execute(query)]
    return [
        StaleCell(row_id=row_id, field=name, run_id=cell.run_id or "", cost=cell.cost)
        for row_id, name, cell in found_cells
    ]
