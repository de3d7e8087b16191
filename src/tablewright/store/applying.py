"""Writes what was accepted of a proposal into its table, as one change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import msgspec
from sqlalchemy import ColumnElement, Connection, Subquery, and_, bindparam, case, func, literal, null, select, update

from tablewright.domain.edits import AddField, ChangeField, Edit
from tablewright.domain.model import Cell, Noun, RowId
from tablewright.errors import NotFound, UsageError
from tablewright.store.dialect import fetch_among, insert_select
from tablewright.store.ledger import charge_bytes, octets
from tablewright.store.log import Change, EditWriter, append, close_change, last_write
from tablewright.store.proposal import (
    EVERYTHING,
    CellAt,
    ProposalHead,
    Selection,
    choose,
    close,
    is_empty,
    open_head,
    read_head,
    settle,
    unknown_cell,
    unseen_fields,
)
from tablewright.store.records import to_text
from tablewright.store.schema import cells, edits, operations, rows
from tablewright.store.staleness import Entry, marks_for_outdated
from tablewright.store.tables import TableHead, head, possible, read_rows

ApplyKind: TypeAlias = Literal["apply", "auto_apply"]
"""How the history calls it: somebody saw the values and accepted them, or they were applied without a look."""

CHOSEN, EMPTIED = "chosen", "emptied"
"""What is being written, inside a transaction, and which of it empties a cell; no reader ever sees these."""
KEPT_AT_ONCE = 500
"""Cells without a finding that are compared with their rows in one query."""


class Review(Noun, frozen=True):
    """A person's answers, cell by cell. What is not named stays open.

    An accepted cell for which nothing was found keeps the value that it has; only `emptied` takes that value away."""

    accepted: tuple[CellAt, ...] = ()
    refused: tuple[CellAt, ...] = ()
    edited: Mapping[CellAt, Cell] = {}
    emptied: tuple[CellAt, ...] = ()


class Applied(Noun, frozen=True):
    """`conflicts` are cells that somebody changed since the run read them: kept as they are, still open here.

    Of the `cells` that were written, `edited` hold a person's own value. `gone` are cells of rows that were removed
    since, and `too_late` those that somebody else had decided in the meantime: their decision stands. For `kept` cells
    nothing was found, so the value that they have stays.
    """

    change: Change | None
    cells: int
    conflicts: int
    edited: int = 0
    refused: int = 0
    gone: int = 0
    too_late: int = 0
    kept: int = 0


def apply_operations(
    connection: Connection,
    proposal_id: str,
    selection: Selection,
    *,
    actor: str,
    force: bool,
    kind: ApplyKind,
    empties: bool = False,
) -> Applied:
    if read_head(connection, proposal_id, counted=False).status == "rejected" and is_empty(connection, proposal_id):
        return Applied(change=None, cells=0, conflicts=0)
    proposal = open_head(connection, proposal_id, even_unfinished=force)
    found = head(connection, proposal.table_id, lock=True)
    chosen = choose(connection, proposal, selection)
    unseen = unseen_fields(connection, proposal_id) if selection == EVERYTHING else set()
    applied = write_chosen(
        connection, found, proposal, chosen, actor=actor, force=force, kind=kind, empties=empties, unseen=unseen
    )
    settle(connection, proposal_id)
    if unseen and not applied.cells and not applied.conflicts:
        close(connection, proposal_id, "applied")
    return applied


def decide_operations(
    connection: Connection, proposal_id: str, review: Review, *, actor: str, force: bool, kind: ApplyKind
) -> Applied:
    proposal = open_head(connection, proposal_id, even_unfinished=force)
    found = head(connection, proposal.table_id, lock=True)
    wanted = answers(review)
    standing = decisions_of(connection, proposal_id, [row_id for row_id, _ in wanted])
    for at in wanted:
        if at not in standing:
            raise unknown_cell(proposal_id, at)
    for row_id, field in review.emptied:
        if standing[row_id, field].status != "FAILED":
            raise UsageError(
                f"Row {row_id}, {field} has a proposed value, so there is nothing to empty.",
                kept="Nothing was changed.",
                advice="Accept, reject or edit it.",
            )
    timely = [
        {"at_row": at[0], "at_field": at[1], "decided": decision, "written": written}
        for at, (decision, written) in wanted.items()
        if standing[at].decision == "open"
    ]
    own = operations.c.proposal_id == proposal_id
    if timely:
        here = (operations.c.row_id == bindparam("at_row")) & (operations.c.field == bindparam("at_field"))
        marked = update(operations).where(own, here)
        connection.execute(marked.values(decision=bindparam("decided"), edited=bindparam("written")), timely)
    chosen = own & operations.c.decision.in_((CHOSEN, EMPTIED))
    by_hand = any(answer["written"] for answer in timely)
    applied = write_chosen(connection, found, proposal, chosen, actor=actor, force=force, kind=kind, by_hand=by_hand)
    connection.execute(update(operations).where(chosen).values(decision="open", edited=None))
    settle(connection, proposal_id)
    by_person = (text for at, (_, text) in wanted.items() if standing[at].decision == "open")
    charge_bytes(connection, "table", proposal.table_id, octets(*by_person))
    return msgspec.structs.replace(
        applied,
        refused=sum(answer["decided"] == "refused" for answer in timely),
        too_late=len(wanted) - len(timely),
    )


def answers(review: Review) -> dict[CellAt, tuple[str, str | None]]:
    """What each named cell becomes, and the text of the cell a person wrote for it."""
    wanted: dict[CellAt, tuple[str, str | None]] = {
        **dict.fromkeys(review.refused, ("refused", None)),
        **dict.fromkeys(review.accepted, (CHOSEN, None)),
        **dict.fromkeys(review.emptied, (EMPTIED, None)),
        **{at: (CHOSEN, to_text(cell)) for at, cell in review.edited.items()},
    }
    if len(wanted) < len(review.refused) + len(review.accepted) + len(review.emptied) + len(review.edited):
        raise UsageError("A cell was answered twice.", kept="Nothing was changed.")
    return wanted


class Standing(NamedTuple):
    decision: str
    status: str


def decisions_of(connection: Connection, proposal_id: str, row_ids: Iterable[RowId]) -> dict[CellAt, Standing]:
    query = select(operations.c.row_id, operations.c.field, operations.c.decision, operations.c.status)
    own = query.where(operations.c.proposal_id == proposal_id)
    found = fetch_among(connection, own, operations.c.row_id, possible(row_ids))
    return {(row_id, field): Standing(decision, status) for row_id, field, decision, status in found}


def write_chosen(
    connection: Connection,
    found: TableHead,
    proposal: ProposalHead,
    chosen: ColumnElement[bool],
    *,
    actor: str,
    force: bool,
    kind: ApplyKind,
    by_hand: bool = False,
    empties: bool = False,
    unseen: Collection[str] = (),
) -> Applied:
    """The chosen cells, as one change of the table. `by_hand`: a person's own values are among them; `empties`: what
    was not found takes the place of a value that is there; `unseen`: columns that are added without any cell."""
    known = [field.name for field in found.table.fields]
    entries, found = write_fields(connection, found, proposal, chosen, unseen)
    conflicts = 0
    read_first = connection.scalar(select(func.min(operations.c.as_of)).where(chosen))
    if not force and read_first is not None and read_first < found.last_seq:
        later = changed_since(found)
        conflicts = connection.execute(select(func.count()).select_from(operations).where(chosen, later)).scalar_one()
        chosen = chosen & ~later
    kept = 0 if empties else keep_present_values(connection, found, chosen, known)
    number = found.last_change + 1
    gone = row_is_gone(found)
    settled = connection.execute(
        update(operations)
        .where(chosen)
        .values(
            decision=case((gone, "refused"), (operations.c.edited.is_not(None), "edited"), else_="applied"),
            change=case((gone, None), else_=number),
            edited=case((gone, null()), else_=operations.c.edited),
        )
    ).rowcount
    append(connection, found, entries)
    taken = (operations.c.proposal_id == proposal.id) & (operations.c.change == number)
    edited = 0
    if by_hand:
        query = select(func.count()).select_from(operations).where(taken, operations.c.decision == "edited")
        edited = connection.execute(query).scalar_one()
    written = write_operations(connection, found, taken, skip=len(entries))
    outdated = []
    if read_first is not None and read_first < found.last_seq:
        outdated = marks_for_outdated(connection, found, as_read(found, taken), since=read_first)
        append(connection, found, outdated, skip=len(entries) + written)
    change = None
    if entries or written:
        change = close_change(
            connection,
            found,
            len(entries) + written + len(outdated),
            kind=kind,
            actor=actor,
            run_id=proposal.run_id,
            note=f"{proposal.reasoning}; {edited} edited by hand" if edited else proposal.reasoning,
            each_cell_once=not outdated,
        )
    return Applied(change=change, cells=written, conflicts=conflicts, edited=edited, gone=settled - written, kept=kept)


def keep_present_values(
    connection: Connection, found: TableHead, chosen: ColumnElement[bool], names: Sequence[str]
) -> int:
    """Settle the chosen cells that would erase a value as "kept", and return how many there are: that a run found
    nothing says nothing against what somebody else has found or typed. A person may have `EMPTIED` a cell, though.
    `names` are the columns that the table had before: cells of new ones have no value yet."""
    unfound = (
        select(operations.c.proposal_id, operations.c.row_id, operations.c.field)
        .where(chosen, operations.c.status == "FAILED", operations.c.decision != EMPTIED)
        .where(operations.c.edited.is_(None), operations.c.field.in_(names))
        .order_by(operations.c.row_id, operations.c.field)
        .limit(KEPT_AT_ONCE)
    )
    row_id, field = operations.c.row_id, operations.c.field
    keep = (
        update(operations)
        .where(operations.c.proposal_id == bindparam("at_proposal"), row_id == bindparam("at_row"))
        .where(field == bindparam("at_field"))
        .values(decision="kept")
    )
    count = 0
    page = connection.execute(unfound).all()
    while page:
        rows = {row.id: row for row in read_rows(connection, found, [at.row_id for at in page])}
        kept = [
            {"at_proposal": at.proposal_id, "at_row": at.row_id, "at_field": at.field}
            for at in page
            if at.row_id in rows and rows[at.row_id].cell(at.field).stays_if_not_found
        ]
        if kept:
            connection.execute(keep, kept)
        count += len(kept)
        last = page[-1]
        later = (row_id > last.row_id) | ((row_id == last.row_id) & (field > last.field))
        page = connection.execute(unfound.where(later)).all()
    return count


def write_fields(
    connection: Connection,
    found: TableHead,
    proposal: ProposalHead,
    chosen: ColumnElement[bool],
    unseen: Collection[str],
) -> tuple[list[Entry], TableHead]:
    """Add or change the proposed fields that the chosen cells belong to, and add those that are `unseen`."""
    wanted = {*connection.scalars(select(operations.c.field).where(chosen).distinct()), *unseen}
    missing = wanted - {field.name for field in (*proposal.fields, *found.table.fields)}
    if missing:
        raise NotFound(f"Table {found.table.id} has no field {min(missing)!r} any more.", kept="Nothing was changed.")
    edits: list[Edit] = []
    for field in proposal.fields:
        present = found.table.field(field.name)
        if field.name not in wanted or present == field:
            continue
        edits.append(ChangeField(name=present.name, field=field) if present else AddField(field=field))
    if not edits:
        return [], found
    writer = EditWriter(connection, found, edits)
    entries = [entry for edit in edits for entry in writer.write(edit)]
    writer.finish()
    return entries, head(connection, found.table.id)


def write_operations(connection: Connection, found: TableHead, taken: ColumnElement[bool], *, skip: int) -> int:
    """Copies the taken cells into the log, behind `skip` other entries, in SQL: a million cells never enter Python."""
    field_id = number_of_field(found)
    before = and_(cells.c.table_no == found.no, cells.c.row_id == operations.c.row_id, cells.c.field_id == field_id)
    seq = found.last_seq + skip + func.row_number().over(order_by=(operations.c.row_id, operations.c.field))
    after = func.coalesce(operations.c.edited, operations.c.cell)
    source = (
        select(literal(found.no), seq, literal("cell"), operations.c.row_id, field_id, cells.c.cell, after)
        .select_from(operations.outerjoin(cells, before))
        .where(taken)
    )
    columns = ["table_no", "seq", "kind", "row_id", "field_id", "before", "after"]
    return insert_select(connection, edits, columns, source)


def as_read(found: TableHead, taken: ColumnElement[bool]) -> Subquery:
    """The taken cells, and where the log stood when the run read their inputs."""
    cell = func.coalesce(operations.c.edited, operations.c.cell).label("cell")
    of_field = number_of_field(found).label("field_id")
    return select(operations.c.row_id, of_field, operations.c.as_of, cell).where(taken).subquery()


def row_is_gone(found: TableHead) -> ColumnElement[bool]:
    gone = select(rows.c.row_id).where(rows.c.table_no == found.no, rows.c.removed)
    return operations.c.row_id.in_(gone)


def number_of_field(found: TableHead) -> ColumnElement[int]:
    return case(found.field_ids, value=operations.c.field)


def changed_since(found: TableHead) -> ColumnElement[bool]:
    """Somebody wrote the cell after the run had read its row."""
    newest = last_write(found, operations.c.row_id, number_of_field(found))
    return func.coalesce(newest, 0) > operations.c.as_of
