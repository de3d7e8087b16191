"""Undo one run, one change, or everything after a point in time. Undoing is itself a change in the log.

Later changes by others are kept and counted, never overwritten; only going back to a point in time undoes all later
changes.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Subquery, and_, case, exists, func, literal, select, update

from tablewright.domain.history import Rollback
from tablewright.domain.model import column_key
from tablewright.errors import NotFound, UsageError
from tablewright.store import schema
from tablewright.store.database import StorePart, write_transaction
from tablewright.store.edit_log import append_log_entries, close_change, last_write_seq, set_row_removed, update_field
from tablewright.store.records import ERASED_EDIT_KIND, content_text, decode_field, insert_select
from tablewright.store.schema import cells, changes, edits, fields, tables
from tablewright.store.staleness import CELL_KINDS, LogEntry, mark_outdated
from tablewright.store.tables import TableHead, read_table_head, same_cell


class UndoLog(StorePart):
    """Undo changes of a table."""

    @write_transaction
    def undo_run(self, connection: Connection, table_id: str, run_id: str, *, actor: str = "") -> Rollback:
        found = read_table_head(connection, table_id, lock=True)
        of_run = (changes.c.table_no == found.no) & (changes.c.run_id == run_id) & (changes.c.kind != "rollback")
        if not connection.scalar(select(exists().where(of_run))):
            raise NotFound(
                f"Run {run_id} has changed nothing in table {found.table.id}.",
                advice=f"`tablewright tables history {found.table.id}` shows the runs that did.",
            )
        return undo_changes(connection, found, of_run, actor=actor, note=f"undid run {run_id}", run_id=run_id)

    @write_transaction
    def undo_change(self, connection: Connection, table_id: str, number: int, *, actor: str = "") -> Rollback:
        found = read_table_head(connection, table_id, lock=True)
        # Undoing change 1 would leave a table that never was.
        refuse_bad_change(found, number, lowest=2)
        this = (changes.c.table_no == found.no) & (changes.c.change == number)
        return undo_changes(connection, found, this, actor=actor, note=f"undid change {number}")

    @write_transaction
    def go_back(
        self,
        connection: Connection,
        table_id: str,
        *,
        change: int | None = None,
        at: str | None = None,
        actor: str = "",
    ) -> Rollback:
        """Restore the table as it was after change number `change`, or at the time `at` (ISO 8601, UTC)."""
        found = read_table_head(connection, table_id, lock=True)
        target = change
        if at is not None:
            query = select(func.max(changes.c.change)).where(changes.c.table_no == found.no, changes.c.at <= at)
            target = connection.scalar(query)
            # No change at or before that time: the table was created later.
            if target is None:
                raise UsageError(f"Table {found.table.id} did not exist yet at {at}.")
        assert target is not None
        refuse_bad_change(found, target, lowest=1)
        later = (changes.c.table_no == found.no) & (changes.c.change > target)
        return undo_changes(connection, found, later, actor=actor, note=f"went back to change {target}")


def refuse_bad_change(found: TableHead, number: int, *, lowest: int) -> None:
    if not lowest <= number <= found.last_change:
        begins = " Change 1 is where the table begins." if number == 1 else ""
        raise UsageError(
            f"Table {found.table.id} has no change {number} to undo or go back to.{begins}",
            advice=f"`tablewright tables history {found.table.id}` lists them.",
        )


def undo_changes(
    connection: Connection,
    found: TableHead,
    of_changes: ColumnElement[bool],
    *,
    actor: str,
    note: str,
    run_id: str | None = None,
) -> Rollback:
    in_scope = exists().where(of_changes, edits.c.seq.between(changes.c.first_seq, changes.c.last_seq))
    touched = select_touched_cells(found, in_scope)
    # Cells before rows and columns, while the columns that they belong to are still known.
    cells, kept_cells = undo_cells(connection, found, touched)
    entries, kept_fields = undo_rows_and_fields(connection, found, in_scope)
    # Inputs of its fields may have been restored too.
    found = read_table_head(connection, found.table.id)
    began = connection.scalar(select(func.min(changes.c.first_seq)).where(of_changes)) or 1
    outdated = mark_outdated(
        connection, found, select_restored_cells(found, touched), since=began - 1, standing=~in_scope
    )
    grown = append_log_entries(connection, found, [*outdated, *entries], skip=cells)
    count = cells + len(outdated) + len(entries)
    change = None
    if count:
        change = close_change(
            connection,
            found,
            count,
            kind="rollback",
            actor=actor,
            run_id=run_id,
            note=note,
            each_cell_once=not outdated,
            grown=grown,
        )
    return Rollback(change=change, cells=cells, kept_cells=kept_cells, kept_fields=tuple(kept_fields))


def select_touched_cells(found: TableHead, in_scope: ColumnElement[bool]) -> Subquery:
    """Select for each cell its first and last entry in scope, and the last that wrote it rather than marked it as
    stale."""
    return (
        select(
            edits.c.row_id,
            edits.c.field_id,
            func.min(edits.c.seq).label("first"),
            func.max(edits.c.seq).label("last"),
            func.max(case((edits.c.kind == "cell", edits.c.seq))).label("written"),
        )
        .where(edits.c.table_no == found.no, edits.c.kind.in_(CELL_KINDS), in_scope)
        .group_by(edits.c.row_id, edits.c.field_id)
        .subquery()
    )


def undo_cells(connection: Connection, found: TableHead, touched: Subquery) -> tuple[int, int]:
    """Log the previous value of every touched cell that was not changed since; return (undone, kept)."""
    first = edits.alias()
    changed_since = is_touched_cell_changed(found, touched)
    kept = connection.execute(select(func.count()).select_from(touched).where(changed_since)).scalar_one()
    source = (
        select(
            literal(found.no),
            found.last_seq + func.row_number().over(order_by=(touched.c.row_id, touched.c.field_id)),
            case((touched.c.written.is_(None), "stale"), else_="cell"),
            touched.c.row_id,
            touched.c.field_id,
            cells.c.cell,
            first.c.before,
        )
        .select_from(touched)
        .join(first, and_(first.c.table_no == found.no, first.c.seq == touched.c.first))
        .join(
            cells,
            and_(
                cells.c.table_no == found.no,
                cells.c.row_id == touched.c.row_id,
                cells.c.field_id == touched.c.field_id,
            ),
            isouter=True,
        )
        .where(~changed_since, cells.c.cell.is_distinct_from(first.c.before))
    )
    columns = ["table_no", "seq", "kind", "row_id", "field_id", "before", "after"]
    return insert_select(connection, edits, columns, source), kept


def is_touched_cell_changed(found: TableHead, touched: Subquery) -> ColumnElement[bool]:
    """Return the condition that the cell was written later and now differs from what the undone change left: one that
    was undone back to it does not. A mark of staleness also gives way to a later mark."""
    later = last_write_seq(found, touched.c.row_id, touched.c.field_id) > touched.c.written
    edits, cells = schema.edits.alias(), schema.cells.alias()
    left = select(edits.c.after).where(edits.c.table_no == found.no, edits.c.seq == touched.c.written)
    stands = select(cells.c.cell).where(
        cells.c.table_no == found.no, cells.c.row_id == touched.c.row_id, cells.c.field_id == touched.c.field_id
    )
    written = and_(later, stands.scalar_subquery().is_distinct_from(left.scalar_subquery()))
    marked = last_write_seq(found, touched.c.row_id, touched.c.field_id, CELL_KINDS) > touched.c.last
    return case((touched.c.written.is_(None), marked), else_=written)


def select_restored_cells(found: TableHead, touched: Subquery) -> Subquery:
    """Select the found cells that this undo has just logged, as they were before the change with the first entry in
    scope."""
    undone, changes = edits.alias(), schema.changes.alias()
    as_of = (changes.c.first_seq - 1).label("as_of")
    in_change = touched.c.first.between(changes.c.first_seq, changes.c.last_seq)
    return (
        select(touched.c.row_id, touched.c.field_id, as_of, undone.c.after.label("cell"))
        .select_from(touched)
        .join(undone, (undone.c.row_id == touched.c.row_id) & (undone.c.field_id == touched.c.field_id))
        .join(changes, (changes.c.table_no == found.no) & in_change)
        .where(undone.c.table_no == found.no, undone.c.seq > found.last_seq, undone.c.after.is_not(None))
        .where(touched.c.written.is_not(None))
        .subquery()
    )


def undo_rows_and_fields(
    connection: Connection, found: TableHead, in_scope: ColumnElement[bool]
) -> tuple[list[LogEntry], list[str]]:
    """Undo from newest to oldest: remove added rows and fields, restore removed ones and old definitions."""
    query = (
        select(edits.c.seq, edits.c.kind, edits.c.row_id, edits.c.field_id, edits.c.before, edits.c.after)
        .add_columns(content_text(edits.c.before).label("old_text"), content_text(edits.c.after).label("new_text"))
        .where(edits.c.table_no == found.no, edits.c.kind.not_in((*CELL_KINDS, ERASED_EDIT_KIND)), in_scope)
        # Newest first: a column is renamed back before it is removed.
        .order_by(edits.c.seq.desc())
    )
    entries: list[LogEntry] = []
    kept_fields: list[str] = []
    for edit in connection.execute(query).all():
        # Removing the row or field would delete what others have written into it.
        if edit.kind.startswith("add_") and is_touched_by_others(connection, found, edit, in_scope):
            if edit.field_id is not None:
                kept_fields.append(found.names.get(edit.field_id, f"field {edit.field_id}"))
            continue
        verb, _, noun = edit.kind.partition("_")
        # An undo is logged as what it does, so that it can be undone itself.
        inverse = {"add": "remove", "remove": "add"}.get(verb, verb)
        entry: LogEntry = {"kind": f"{inverse}_{noun}", "row_id": edit.row_id, "field_id": edit.field_id}
        match edit.kind:
            case "add_row" | "remove_row":
                set_row_removed(connection, found.no, edit.row_id, removed=edit.kind == "add_row")
            case "add_field" | "remove_field":
                removed = edit.kind == "add_field"
                # Another column got the name since; two of one name could not be distinguished.
                if not removed and is_field_name_taken(connection, found, edit.field_id):
                    continue
                update_field(connection, found.no, edit.field_id, removed=removed)
            case "change_field":
                if not restore_field_definition(connection, found, edit):
                    continue
                entry |= {"before": edit.after, "after": edit.before}
        entries.append(entry)
    return entries, kept_fields


def is_touched_by_others(connection: Connection, found: TableHead, edit: Any, in_scope: ColumnElement[bool]) -> bool:
    """Return True if the row or field holds cells written outside the undone scope."""
    column = edits.c.row_id if edit.kind == "add_row" else edits.c.field_id
    number = edit.row_id if edit.kind == "add_row" else edit.field_id
    still_there = exists().where(same_cell(cells, edits))
    query = select(edits.c.seq).where(
        edits.c.table_no == found.no, column == number, edits.c.kind == "cell", ~in_scope, still_there
    )
    return connection.execute(query.where(edits.c.seq <= found.last_seq).limit(1)).one_or_none() is not None


def restore_field_definition(connection: Connection, found: TableHead, edit: Any) -> bool:
    """Return True if the field got its old definition back; False if it was changed since or its old name is taken."""
    this = (fields.c.table_no == found.no) & (fields.c.field_id == edit.field_id)
    now = connection.execute(select(fields.c.spec).where(this)).scalar_one()
    before, after = decode_field(edit.old_text).name, decode_field(edit.new_text).name
    if now != edit.new_text or is_field_name_taken(connection, found, edit.field_id, before):
        return False
    update_field(connection, found.no, edit.field_id, spec=edit.old_text)
    names_rows = (tables.c.no == found.no) & (tables.c.key_field == after)
    connection.execute(update(tables).where(names_rows).values(key_field=before))
    return True


def is_field_name_taken(connection: Connection, found: TableHead, field_id: int, name: str | None = None) -> bool:
    """Return True if another field has `name`, or the name that this removed field had."""
    specs = connection.execute(
        select(fields.c.field_id, fields.c.spec).where(
            fields.c.table_no == found.no, (fields.c.field_id == field_id) | ~fields.c.removed
        )
    ).all()
    names = {number: column_key(decode_field(spec).name) for number, spec in specs}
    key = column_key(name) if name is not None else names.get(field_id)
    return any(taken == key for number, taken in names.items() if number != field_id)
