"""What a change makes stale: cells that a run found from other cells of their row, one of which has another value now.

Staleness is data, not an order: a stale cell keeps its value, is shown and priced as stale, and nothing runs by itself.
The marks stand in the log beside what caused them, as entries of the kind "stale": undoing the cause takes them back.
A mark is no value: it does not keep a cell from being undone, or written by a run that had read it before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, Subquery, exists, func, select

from tablewright.domain.history import StaleCell
from tablewright.domain.model import Cell, RowId, given
from tablewright.store.records import GivenRow, decode_cell, decode_given, fetch_among, to_text
from tablewright.store.schema import cells, edits, rows
from tablewright.store.tables import TableHead, same_row

Place: TypeAlias = tuple[RowId, int]
"""A row and the number of a field."""
Entry: TypeAlias = dict[str, Any]

CELL_KINDS = ("cell", "stale")
"""The entries of the log that say what a cell is now: its value, or only that it is stale."""
BATCH = 2_000
entry_number = edits.c.seq + 0
"""Where the entries of some cells are wanted: by the bare number a database may look for them in the whole log."""
MARKED = '%"stale":true%'
"""In an encoded cell; quotes inside its strings are escaped, so only the key itself can match."""


class CellChange(NamedTuple):
    """A cell between two points of the log, as texts; None where it was what its owner gave."""

    row_id: RowId
    field_id: int
    before: str | None
    after: str | None


def is_found(cell: Cell) -> bool:
    """Return True if a run found the value, or found nothing, which another input may change as well.

    What a person typed during a review belongs to the run too, but stays theirs, whatever the inputs become."""
    return cell.run_id is not None and cell.basis != "given"


def marks_for(connection: Connection, found: TableHead, first: int, last: int) -> Iterator[list[Entry]]:
    """The marks that log entries `first` to `last` call for, batch by batch; each is put into the log before the next
    is asked for. `cells` is as it was before all of them.

    A cell that is itself among the entries gets none: who wrote it knew what it depends on. One that is stale already
    is marked again, so that undoing the earlier cause does not make it look fresh."""
    dependents = dependents_of(found)
    if not dependents:
        return
    reachable = sorted({field_id for ids in dependents.values() for field_id in ids})
    of_row = (cells.c.table_no == found.no, cells.c.row_id == edits.c.row_id, cells.c.field_id.in_(reachable))
    # As EXISTS it is a join to PostgreSQL, which without statistics compares every row with every other.
    a_dependent = select(cells.c.field_id).where(*of_row).limit(1).scalar_subquery()
    query = (
        select(edits.c.seq, edits.c.row_id, edits.c.field_id, edits.c.before, edits.c.after)
        .where(edits.c.table_no == found.no, edits.c.seq <= last, edits.c.kind.in_(CELL_KINDS))
        .where(edits.c.field_id.in_(dependents), a_dependent.is_not(None))
        .order_by(edits.c.seq)
        .limit(BATCH)
    )
    while records := connection.execute(query.where(edits.c.seq >= first)).all():
        first = records[-1].seq + 1
        changed = changed_cells(connection, found, records)
        texts = untouched_texts(connection, found, {row_id for row_id, _ in changed}, reachable)
        yield [entry for place, after in changed.items() for entry in marks_after(place, after, dependents, texts)]


def marks_after(place: Place, after: Cell, dependents: dict[int, list[int]], texts: dict[Place, str]) -> list[Entry]:
    """All that depends on a changed cell, directly or through others; taken out of `texts`, so each is marked once.

    Two cells of one run fit together, also when they are applied one after the other, unless one has become stale."""
    row_id, field_id = place
    entries: list[Entry] = []
    waiting = [(field_id, after.run_id if is_found(after) and not after.stale else None)]
    while waiting:
        changed, same_run = waiting.pop()
        for dependent in dependents.get(changed, ()):
            text = texts.get((row_id, dependent))
            cell = decode_cell(text) if text else None
            if cell is not None and is_found(cell) and cell.run_id != same_run:
                entries.append(mark_stale(row_id, dependent, texts.pop((row_id, dependent)), cell))
                waiting.append((dependent, None))
    return entries


def mark_stale(row_id: RowId, field_id: int, text: str, cell: Cell) -> Entry:
    after = to_text(msgspec.structs.replace(cell, stale=True))
    return {"kind": "stale", "row_id": row_id, "field_id": field_id, "before": text, "after": after}


def marks_for_outdated(
    connection: Connection,
    found: TableHead,
    written: Subquery,
    *,
    since: int,
    standing: ColumnElement[bool] | None = None,
) -> list[Entry]:
    """Marks for cells that are written as they were found, or stood, at their own `as_of`, no earlier than `since`,
    where an input is not what it was then, and for those that are written beside them and depend on them. `written` has
    row_id, field_id, cell and as_of. `standing` are the entries that are not being undone: where there are none since,
    an input becomes what it was."""
    marks: dict[Place, Entry] = {}
    for field_id, inputs in inputs_of(found).items():
        later = [
            edits.c.table_no == found.no,
            edits.c.field_id.in_(inputs),
            edits.c.kind.in_(CELL_KINDS),
            edits.c.seq.between(since + 1, found.last_seq),
        ]
        later += [] if standing is None else [standing]
        if not connection.scalar(select(exists().where(*later))):
            continue
        of_field = select(written.c.row_id, written.c.as_of, written.c.cell).where(written.c.field_id == field_id)
        rows = select(edits.c.row_id).where(*later)
        spans, texts = spans_since(connection, found, inputs, of_field.subquery(), rows, undoing=standing is not None)
        for (row_id, _), cause in changed_cells(connection, found, spans).items():
            cell = decode_cell(texts[row_id])
            fits = is_found(cause) and cause.run_id == cell.run_id and not cause.stale
            if is_found(cell) and not fits:
                marks[row_id, field_id] = mark_stale(row_id, field_id, texts[row_id], cell)
    return [*marks.values(), *marks_beside(connection, found, written, marks)]


def spans_since(
    connection: Connection,
    found: TableHead,
    inputs: Sequence[int],
    written: Subquery,
    rows: Select[RowId],
    *,
    undoing: bool,
) -> tuple[list[CellChange], dict[RowId, str]]:
    """Return what became of the inputs of the written cells since their `as_of`, in these rows, and the texts of the
    cells.

    An undo brings inputs back, which counts; an input that is applied together with the cell fits to it."""
    entries = edits.alias()
    # By the bare number a database may look for the entries in the whole log.
    since = (written.c.row_id == entries.c.row_id) & (entries.c.seq + 0 > written.c.as_of)
    query = (
        select(entries.c.seq, entries.c.row_id, entries.c.field_id, entries.c.before, entries.c.after, written.c.cell)
        .join(written, since)
        .where(entries.c.table_no == found.no, entries.c.field_id.in_(inputs), entries.c.kind.in_(CELL_KINDS))
        .where(entries.c.row_id.in_(rows))
        .order_by(entries.c.row_id, entries.c.seq)
    )
    first: dict[Place, Any] = {}
    last: dict[Place, Any] = {}
    for entry in connection.execute(query):
        first.setdefault((entry.row_id, entry.field_id), entry)
        last[entry.row_id, entry.field_id] = entry
    spans = [
        CellChange(*place, first[place].before, entry.after)
        for place, entry in last.items()
        if undoing or entry.seq <= found.last_seq
    ]
    return spans, {entry.row_id: entry.cell for entry in first.values()}


def marks_beside(
    connection: Connection, found: TableHead, written: Subquery, marked: Collection[Place]
) -> Iterator[Entry]:
    """Marks for the other written cells that depend on a marked one, directly or through others, whichever run found
    them: of one run too, what was found from an outdated cell is outdated."""
    if not marked:
        return
    dependents, rows = dependents_of(found), {row_id for row_id, _ in marked}
    reachable = sorted({field_id for ids in dependents.values() for field_id in ids})
    query = select(written.c.row_id, written.c.field_id, written.c.cell).where(written.c.field_id.in_(reachable))
    records = connection.execute(query)
    texts = {(row_id, field_id): text for row_id, field_id, text in records if row_id in rows}
    waiting, seen = list(marked), set(marked)
    while waiting:
        row_id, field_id = waiting.pop()
        for place in ((row_id, dependent) for dependent in dependents.get(field_id, ())):
            cell = decode_cell(texts[place]) if place in texts and place not in seen else None
            if cell is not None and is_found(cell):
                seen.add(place)
                waiting.append(place)
                yield mark_stale(*place, texts[place], cell)


def changed_cells(connection: Connection, found: TableHead, records: Sequence[Any]) -> dict[Place, Cell]:
    """The cells that got another value, or became stale, and what they are now."""
    as_given = given_values(connection, found, {each.row_id for each in records if not (each.before and each.after)})

    def cell_of(text: str | None, row_id: RowId, field_id: int) -> Cell:
        if text:
            return decode_cell(text)
        own = as_given[row_id]
        return given(own.values.get(field_id), own.raw.get(field_id))

    changed = {}
    for each in records:
        before, after = (cell_of(text, each.row_id, each.field_id) for text in (each.before, each.after))
        if before.value != after.value or (after.stale and not before.stale):
            changed[each.row_id, each.field_id] = after
    return changed


def given_values(connection: Connection, found: TableHead, row_ids: Collection[RowId]) -> dict[RowId, GivenRow]:
    query = select(rows.c.row_id, rows.c.given).where(rows.c.table_no == found.no)
    found_rows = fetch_among(connection, query, rows.c.row_id, row_ids)
    return {row_id: decode_given(text) for row_id, text in found_rows}


def untouched_texts(
    connection: Connection, found: TableHead, row_ids: Collection[RowId], fields: list[int]
) -> dict[Place, str]:
    """The cells of these rows that the change has neither written nor marked yet."""
    of_cell = (edits.c.table_no == found.no, edits.c.row_id == cells.c.row_id, edits.c.field_id == cells.c.field_id)
    newest = select(func.max(entry_number)).where(*of_cell).scalar_subquery()
    query = select(cells.c.row_id, cells.c.field_id, cells.c.cell).where(
        cells.c.table_no == found.no, cells.c.field_id.in_(fields), func.coalesce(newest, 0) <= found.last_seq
    )
    found_cells = fetch_among(connection, query, cells.c.row_id, row_ids)
    return {(row_id, field_id): text for row_id, field_id, text in found_cells}


def inputs_of(found: TableHead) -> dict[int, list[int]]:
    """For each field that depends on others the numbers of those."""
    ids = {name.casefold(): field_id for name, field_id in found.field_ids.items()}
    inputs = {
        found.field_ids[field.name]: [ids[name.casefold()] for name in field.depends_on if name.casefold() in ids]
        for field in found.table.fields
        if field.depends_on
    }
    return {field_id: its for field_id, its in inputs.items() if its}


def dependents_of(found: TableHead) -> dict[int, list[int]]:
    dependents: dict[int, list[int]] = {}
    for field_id, inputs in inputs_of(found).items():
        for each in inputs:
            dependents.setdefault(each, []).append(field_id)
    return dependents


def stale_cells(connection: Connection, found: TableHead) -> list[StaleCell]:
    """In the order of rows; a table whose fields depend on nothing is not looked through."""
    inputs, names = inputs_of(found), found.names
    if not inputs:
        return []
    query = (
        select(cells.c.row_id, cells.c.field_id, cells.c.cell)
        .join(rows, same_row(rows, cells))
        .where(cells.c.table_no == found.no, ~rows.c.removed, cells.c.field_id.in_(names), cells.c.cell.like(MARKED))
        .order_by(cells.c.row_id, cells.c.field_id)
    )
    found_cells = [(row_id, names[field_id], decode_cell(text)) for row_id, field_id, text in connection.execute(query)]
    return [
        StaleCell(row_id=row_id, field=name, run_id=cell.run_id or "", cost=cell.cost)
        for row_id, name, cell in found_cells
    ]
