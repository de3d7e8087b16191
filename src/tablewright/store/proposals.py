"""Proposals: what a run would change, kept until its owner accepts or refuses it, whole or cell by cell. Accepted cells
are written into the table as one change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    Subquery,
    and_,
    bindparam,
    case,
    delete,
    exists,
    func,
    literal,
    null,
    select,
    true,
    tuple_,
    update,
)

from tablewright.domain.edits import AddField, ChangeField, Edit
from tablewright.domain.model import Cell, Field, RowId
from tablewright.domain.proposal import EVERY_CELL, ApplyOutcome, CellAt, ProposalHead, ProposedCell, Review, Selection
from tablewright.errors import NotFound, UsageError
from tablewright.store.database import StorePart, read_transaction, repeatable_transaction, write_transaction
from tablewright.store.edit_log import EditWriter, append_log_entries, close_change, last_write_seq
from tablewright.store.ledger import charge_bytes, charge_table
from tablewright.store.proposal_queries import (
    add_operations,
    close_proposal,
    create_proposal,
    find_unseen_fields,
    has_no_operations,
    match_open_operations,
    match_operations,
    read_open_proposal,
    read_proposal,
    read_proposals,
    settle_proposal,
    unknown_cell_error,
)
from tablewright.store.records import (
    MAX_IDS_PER_QUERY,
    content_text,
    decode_cell,
    fetch_among,
    insert_select,
    read_operation,
    select_operations,
    store_cells,
)
from tablewright.store.schema import cells, contents, edits, operations, proposals, rows
from tablewright.store.sharing import sees_all
from tablewright.store.staleness import LogEntry, mark_outdated
from tablewright.store.tables import TableHead, read_rows, read_table_head, valid_row_ids

# The kind of change in the history: a person accepted the values, or they were applied without a review.
ApplyKind: TypeAlias = Literal["apply", "auto_apply"]

# Decisions of operations during the transaction that writes or empties their cells; no reader ever sees them.
CHOSEN, EMPTIED = "chosen", "emptied"


class Proposals(StorePart):
    """Create, read, apply and reject proposals."""

    @write_transaction
    def create(self, connection: Connection, table_id: str, run_id: str, fields: Sequence[Field]) -> str:
        """Create a proposal. `fields` are the definitions that applying it would add to the table or change in it."""
        return create_proposal(connection, read_table_head(connection, table_id).no, run_id, fields)

    @repeatable_transaction
    def add(self, connection: Connection, proposal_id: str, operations: Sequence[ProposedCell]) -> None:
        """Add operations. A later attempt replaces an earlier one; the same attempt again changes nothing
        (compare-and-set)."""
        of_run = select(proposals.c.table_no).where(proposals.c.id == proposal_id)
        table_no = connection.execute(of_run).scalar_one()
        charge_table(connection, table_no, add_operations(connection, proposal_id, table_no, operations))

    @read_transaction
    def of_run(self, connection: Connection, run_id: str) -> str:
        """Return the id of the proposal of a run."""
        query = select(proposals.c.id).where(proposals.c.run_id == run_id)
        found = connection.scalar(query)
        if found is None:
            raise NotFound(f"There is no proposal of run {run_id!r}.")
        return str(found)

    @read_transaction
    def reasons(self, connection: Connection, proposal_id: str) -> dict[str, int]:
        """Return how many cells stayed empty for each reason; under "", how many have a value."""
        query = select(operations.c.status, content_text(operations.c.cell))
        counts: dict[str, int] = {}
        for status, cell in connection.execute(query.where(operations.c.proposal_id == proposal_id)):
            reason = (decode_cell(cell).reason or "error") if status == "FAILED" else ""
            counts[reason] = counts.get(reason, 0) + 1
        return counts

    @repeatable_transaction
    def reopen(self, connection: Connection, proposal_id: str) -> None:
        """Open the proposal again because its run resumes. Refuse if a person has already decided on it."""
        decided = exists().where(operations.c.proposal_id == proposal_id, operations.c.decision != "open")
        if connection.scalar(select(decided)):
            raise UsageError(
                f"Proposal {proposal_id} was decided on already, so its run cannot go on.",
                kept="Nothing was changed.",
                advice="Run `tablewright enrich` again: what was bought is not paid for again.",
            )
        reopened = update(proposals).where(proposals.c.id == proposal_id)
        connection.execute(reopened.values(status="building", decided_at=None))

    @repeatable_transaction
    def finish(self, connection: Connection, proposal_id: str, reasoning: str) -> None:
        """Open the proposal for review after its run. Close it if it has no operation and no new column."""
        connection.execute(
            update(proposals).where(proposals.c.id == proposal_id).values(status="open", reasoning=reasoning)
        )
        settle_proposal(connection, proposal_id)

    @read_transaction
    def all(
        self, connection: Connection, table_id: str | None = None, *, only_open: bool = False
    ) -> list[ProposalHead]:
        """Return proposals, newest first."""
        condition: ColumnElement[bool] = true()
        if table_id is not None:
            condition = proposals.c.table_no == read_table_head(connection, table_id).no
        if only_open:
            condition = condition & (proposals.c.status == "open")
        return read_proposals(connection, condition)

    @read_transaction
    def get(self, connection: Connection, proposal_id: str, *, counted: bool = True) -> ProposalHead:
        return read_proposal(connection, proposal_id, counted=counted)

    @read_transaction
    def operations(
        self,
        connection: Connection,
        proposal_id: str,
        *,
        after: tuple[RowId, str] = (0, ""),
        limit: int = 2_000,
        failed: bool | None = None,
        row_ids: Sequence[RowId] | None = None,
        field: str = "",
    ) -> list[ProposedCell]:
        """Return operations in row order, page by page. `failed` keeps only those without, or with, a value; `row_ids`
        and `field` select rows and a column."""
        # A store that sees everything needs no check, which would cost a query for each page.
        if not sees_all(connection):
            read_proposal(connection, proposal_id, counted=False)
        query = (
            select_operations()
            .where(
                operations.c.proposal_id == proposal_id,
                # Compared as a pair, or SQLite would read everything before it again for each page.
                tuple_(operations.c.row_id, operations.c.field) > after,
            )
            .order_by(operations.c.row_id, operations.c.field)
            .limit(limit)
        )
        if failed is not None:
            query = query.where((operations.c.status == "FAILED") == failed)
        if row_ids is not None:
            query = query.where(operations.c.row_id.in_(row_ids))
        if field:
            query = query.where(operations.c.field == field)
        return [read_operation(record) for record in connection.execute(query)]

    @read_transaction
    def operation(self, connection: Connection, proposal_id: str, row_id: RowId, field: str) -> ProposedCell:
        read_proposal(connection, proposal_id, counted=False)
        meant = match_operations(connection, proposal_id, Selection(rows=(row_id,), fields=(field,)))
        record = connection.execute(select_operations().where(meant)).one_or_none()
        if record is None:
            raise unknown_cell_error(proposal_id, (row_id, field))
        return read_operation(record)

    @read_transaction
    def open_cells(
        self,
        connection: Connection,
        proposal_id: str,
        selection: Selection = EVERY_CELL,
        *,
        failed: bool | None = None,
        even_unfinished: bool = False,
    ) -> list[CellAt]:
        """Return the undecided cells in row order; `failed` keeps only those without, or with, a value."""
        proposal = read_open_proposal(connection, proposal_id, even_unfinished=even_unfinished)
        query = select(operations.c.row_id, operations.c.field).where(
            match_open_operations(connection, proposal, selection)
        )
        if failed is not None:
            query = query.where((operations.c.status == "FAILED") == failed)
        records = connection.execute(query.order_by(operations.c.row_id, operations.c.field))
        return [(row_id, field) for row_id, field in records]

    @write_transaction
    def apply(
        self,
        connection: Connection,
        proposal_id: str,
        selection: Selection = EVERY_CELL,
        *,
        actor: str = "",
        force: bool = False,
        kind: ApplyKind = "apply",
        empties: bool = False,
    ) -> ApplyOutcome:
        """Write the chosen cells in one transaction. `force` also overwrites what was changed since, and applies what
        an unfinished run had found. A cell for which nothing was found keeps its value, unless `empties`."""
        # A run that found nothing to propose was closed by itself; applying it is no mistake.
        if read_proposal(connection, proposal_id, counted=False).status == "rejected" and has_no_operations(
            connection, proposal_id
        ):
            return ApplyOutcome(change=None, cells=0, conflicts=0)
        proposal = read_open_proposal(connection, proposal_id, even_unfinished=force)
        found = read_table_head(connection, proposal.table_id, lock=True)
        chosen = match_open_operations(connection, proposal, selection)
        # Only a proposal that is applied as a whole adds columns without cells.
        unseen = find_unseen_fields(connection, proposal_id) if selection == EVERY_CELL else set()
        applied = write_chosen_operations(
            connection, found, proposal, chosen, actor=actor, force=force, kind=kind, empties=empties, unseen=unseen
        )
        settle_proposal(connection, proposal_id)
        if unseen and not applied.cells and not applied.conflicts:
            close_proposal(connection, proposal_id, "applied")
        return applied

    @write_transaction
    def decide(
        self,
        connection: Connection,
        proposal_id: str,
        review: Review,
        *,
        actor: str = "",
        force: bool = False,
        kind: ApplyKind = "apply",
    ) -> ApplyOutcome:
        """Refuse, write and edit cells as the review says, in one transaction; `force` as in `apply`."""
        proposal = read_open_proposal(connection, proposal_id, even_unfinished=force)
        found = read_table_head(connection, proposal.table_id, lock=True)
        answers = read_review(review)
        # All checks before the first write, so that a refused review changes nothing.
        standing = read_decisions(connection, proposal_id, [row_id for row_id, _ in answers])
        for at in answers:
            if at not in standing:
                raise unknown_cell_error(proposal_id, at)
        for row_id, field in review.emptied:
            if standing[row_id, field].status != "FAILED":
                raise UsageError(
                    f"Row {row_id}, {field} has a proposed value, so there is nothing to empty.",
                    kept="Nothing was changed.",
                    advice="Accept, reject or edit it.",
                )
        # Cells that were decided in the meantime keep their first decision; the reply counts them as too late.
        open_answers = {at: answer for at, answer in answers.items() if standing[at].decision == "open"}
        typed = {at: cell for at, (_, cell) in open_answers.items() if cell is not None}
        numbers, grown = store_cells(connection, found.no, list(typed.values()))
        number_of = dict(zip(typed, numbers, strict=True))
        timely = [
            {"at_row": at[0], "at_field": at[1], "decided": decision, "written": number_of.get(at)}
            for at, (decision, _) in open_answers.items()
        ]
        own = operations.c.proposal_id == proposal_id
        if timely:
            here = (operations.c.row_id == bindparam("at_row")) & (operations.c.field == bindparam("at_field"))
            marked = update(operations).where(own, here)
            connection.execute(marked.values(decision=bindparam("decided"), edited=bindparam("written")), timely)
        chosen = own & operations.c.decision.in_((CHOSEN, EMPTIED))
        applied = write_chosen_operations(
            connection, found, proposal, chosen, actor=actor, force=force, kind=kind, by_hand=bool(typed)
        )
        # What could not be written, such as a conflict, waits for a decision again.
        delete_edited(connection, chosen)
        connection.execute(update(operations).where(chosen).values(decision="open", edited=None))
        settle_proposal(connection, proposal_id)
        # Last, because charging locks the owner's line.
        charge_bytes(connection, "table", proposal.table_id, grown)
        return msgspec.structs.replace(
            applied,
            refused=sum(answer["decided"] == "refused" for answer in timely),
            too_late=len(answers) - len(timely),
        )

    @write_transaction
    def reject(self, connection: Connection, proposal_id: str, selection: Selection = EVERY_CELL) -> int:
        """Return how many operations were refused."""
        proposal = read_open_proposal(connection, proposal_id, even_unfinished=True)
        read_table_head(connection, proposal.table_id, lock=True)
        chosen = match_open_operations(connection, proposal, selection)
        refused = connection.execute(update(operations).where(chosen).values(decision="refused")).rowcount
        settle_proposal(connection, proposal_id, whole=selection == EVERY_CELL)
        return refused


def delete_edited(connection: Connection, chosen: ColumnElement[bool]) -> None:
    """Delete the values that a person wrote for these operations; they are not kept in a table."""
    edited = select(operations.c.edited).where(chosen, operations.c.edited.is_not(None))
    connection.execute(delete(contents).where(contents.c.no.in_(edited)))


def read_review(review: Review) -> dict[CellAt, tuple[str, Cell | None]]:
    """Return what each named cell becomes, and the cell that a person wrote for it."""
    answers: dict[CellAt, tuple[str, Cell | None]] = {
        **dict.fromkeys(review.refused, ("refused", None)),
        **dict.fromkeys(review.accepted, (CHOSEN, None)),
        **dict.fromkeys(review.emptied, (EMPTIED, None)),
        **{at: (CHOSEN, cell) for at, cell in review.edited.items()},
    }
    if len(answers) < len(review.refused) + len(review.accepted) + len(review.emptied) + len(review.edited):
        raise UsageError("A cell was answered twice.", kept="Nothing was changed.")
    return answers


class CurrentDecision(NamedTuple):
    decision: str
    status: str


def read_decisions(connection: Connection, proposal_id: str, row_ids: Iterable[RowId]) -> dict[CellAt, CurrentDecision]:
    query = select(operations.c.row_id, operations.c.field, operations.c.decision, operations.c.status)
    own = query.where(operations.c.proposal_id == proposal_id)
    found = fetch_among(connection, own, operations.c.row_id, valid_row_ids(row_ids))
    return {(row_id, field): CurrentDecision(decision, status) for row_id, field, decision, status in found}


def write_chosen_operations(
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
) -> ApplyOutcome:
    """Write the chosen cells as one change of the table. `by_hand`: they include a person's own values. `empties`: a
    missing result replaces a present value. `unseen`: columns to add without any cell."""
    known = [field.name for field in found.table.fields]
    # Columns first: cells are written under the numbers of their columns.
    entries, found = write_fields(connection, found, proposal, chosen, unseen)
    conflicts = 0
    read_first = connection.scalar(select(func.min(operations.c.as_of)).where(chosen))
    if not force and read_first is not None and read_first < found.last_seq:
        newest = last_write_seq(found, operations.c.row_id, field_id_of_operation(found))
        later = func.coalesce(newest, 0) > operations.c.as_of
        conflicts = connection.execute(select(func.count()).select_from(operations).where(chosen, later)).scalar_one()
        chosen = chosen & ~later
    kept = 0 if empties else keep_present_values(connection, found, chosen, known)
    # The operations get the number of the change before it exists: the lock guarantees it.
    number = found.last_change + 1
    # A proposal for a removed row can no longer be written, so it counts as refused.
    gone = operations.c.row_id.in_(select(rows.c.row_id).where(rows.c.table_no == found.no, rows.c.removed))
    delete_edited(connection, chosen & gone)
    settled = connection.execute(
        update(operations)
        .where(chosen)
        .values(
            decision=case((gone, "refused"), (operations.c.edited.is_not(None), "edited"), else_="applied"),
            change=case((gone, None), else_=number),
            edited=case((gone, null()), else_=operations.c.edited),
        )
    ).rowcount
    grown = append_log_entries(connection, found, entries)
    taken = (operations.c.proposal_id == proposal.id) & (operations.c.change == number)
    edited = 0
    if by_hand:
        query = select(func.count()).select_from(operations).where(taken, operations.c.decision == "edited")
        edited = connection.execute(query).scalar_one()
    written = write_operations(connection, found, taken, skip=len(entries))
    # An input may have changed between the run and its approval; then the value is stale from the start.
    outdated = []
    if read_first is not None and read_first < found.last_seq:
        outdated = mark_outdated(connection, found, select_taken_cells(found, taken), since=read_first)
        grown += append_log_entries(connection, found, outdated, skip=len(entries) + written)
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
            grown=grown,
        )
    return ApplyOutcome(
        change=change, cells=written, conflicts=conflicts, edited=edited, gone=settled - written, kept=kept
    )


def keep_present_values(
    connection: Connection, found: TableHead, chosen: ColumnElement[bool], names: Sequence[str]
) -> int:
    """Mark the chosen cells that would erase a value as "kept", and return how many there are: finding nothing does not
    disprove what another run found or a person typed. A person may have `EMPTIED` a cell, though. `names` are the
    columns that the table had before: cells of new ones have no value yet."""
    # In pages, because a proposal may have a million cells.
    unfound = (
        select(operations.c.proposal_id, operations.c.row_id, operations.c.field)
        .where(chosen, operations.c.status == "FAILED", operations.c.decision != EMPTIED)
        .where(operations.c.edited.is_(None), operations.c.field.in_(names))
        .order_by(operations.c.row_id, operations.c.field)
        .limit(MAX_IDS_PER_QUERY)
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
) -> tuple[list[LogEntry], TableHead]:
    """Add or change the proposed fields that the chosen cells belong to, and add the `unseen` ones."""
    field_names = {*connection.scalars(select(operations.c.field).where(chosen).distinct()), *unseen}
    missing = field_names - {field.name for field in (*proposal.fields, *found.table.fields)}
    if missing:
        raise NotFound(f"Table {found.table.id} has no field {min(missing)!r} any more.", kept="Nothing was changed.")
    edits: list[Edit] = []
    for field in proposal.fields:
        present = found.table.field(field.name)
        if field.name not in field_names or present == field:
            continue
        edits.append(ChangeField(name=present.name, field=field) if present else AddField(field=field))
    if not edits:
        return [], found
    writer = EditWriter(connection, found, edits)
    entries = [entry for edit in edits for entry in writer.write(edit)]
    writer.finish()
    # Read again, since it has the new columns now.
    return entries, read_table_head(connection, found.table.id)


def write_operations(connection: Connection, found: TableHead, taken: ColumnElement[bool], *, skip: int) -> int:
    """Copy the taken cells into the log after `skip` other entries. It is one SQL statement: a million cells never
    enter Python."""
    field_id = field_id_of_operation(found)
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


def select_taken_cells(found: TableHead, taken: ColumnElement[bool]) -> Subquery:
    """Select the taken cells, with the log number at which the run read their inputs."""
    cell = func.coalesce(operations.c.edited, operations.c.cell).label("cell")
    of_field = field_id_of_operation(found).label("field_id")
    return select(operations.c.row_id, of_field, operations.c.as_of, cell).where(taken).subquery()


def field_id_of_operation(found: TableHead) -> ColumnElement[int]:
    return case(found.field_ids, value=operations.c.field)
