"""Proposals: what a run would change, kept until its owner accepts or refuses it, whole or cell by cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    Subquery,
    and_,
    bindparam,
    case,
    exists,
    func,
    literal,
    null,
    select,
    true,
    update,
)

from tablewright.errors import NotFound, UsageError
from tablewright.store import schema
from tablewright.store.database import Database
from tablewright.store.dialect import insert_select
from tablewright.store.log import Change, EditWriter, append, close_change, last_write
from tablewright.store.operations import CellAt, Operation, add_operations, as_operation, create_proposal
from tablewright.store.records import decode_cell, decode_fields, now, to_text
from tablewright.store.sharing import sees_all, visible
from tablewright.store.staleness import Entry, marks_for_outdated
from tablewright.store.tables import Head, chunks, head, possible
from tablewright.table.edits import AddField, ChangeField, Edit
from tablewright.table.model import Cell, Field, Noun, RowId, column_key

ProposalStatus: TypeAlias = Literal["building", "open", "applied", "rejected"]
ApplyKind: TypeAlias = Literal["apply", "auto_apply"]
"""How the history calls it: somebody saw the values and accepted them, or they were applied without a look."""

CHOSEN = "chosen"
"""What is being written, inside a transaction; no reader ever sees it."""


class ProposalHead(Noun, frozen=True):
    id: str
    table_id: str
    run_id: str
    status: ProposalStatus
    reasoning: str
    fields: tuple[Field, ...]
    created_at: str
    counts: dict[str, int]
    decided_at: str | None = None


class Selection(Noun, frozen=True):
    """Which operations of a proposal are meant; everything, unless narrowed. A bound on the confidence leaves out the
    cells without a value; `below` itself is not below."""

    rows: tuple[RowId, ...] = ()
    fields: tuple[str, ...] = ()
    min_confidence: float | None = None
    below: float | None = None


EVERYTHING = Selection()


class Review(Noun, frozen=True):
    """A person's answers, cell by cell. What is not named stays open."""

    accepted: tuple[CellAt, ...] = ()
    refused: tuple[CellAt, ...] = ()
    edited: Mapping[CellAt, Cell] = {}


class Applied(Noun, frozen=True):
    """`conflicts` are cells that somebody changed since the run read them: kept as they are, still open here.

    Of the `cells` that were written, `edited` hold a person's own value. `gone` are cells of rows that were removed
    since, and `too_late` those that somebody else had decided in the meantime: their decision stands.
    """

    change: Change | None
    cells: int
    conflicts: int
    edited: int = 0
    refused: int = 0
    gone: int = 0
    too_late: int = 0


class Proposals:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, table_id: str, run_id: str, fields: Sequence[Field]) -> str:
        """`fields` are the definitions that applying it would add to the table or change in it."""
        return await self._database.write(
            lambda connection: create_proposal(connection, head(connection, table_id).no, run_id, fields)
        )

    async def add(self, proposal_id: str, operations: Sequence[Operation]) -> None:
        """A later attempt replaces an earlier one; the same attempt again changes nothing (compare-and-set)."""
        if operations:
            await self._database.write(
                lambda connection: add_operations(connection, proposal_id, operations), repeatable=True
            )

    async def of_run(self, run_id: str) -> str:
        """The id of what a run proposes."""

        def work(connection: Connection) -> str:
            query = select(schema.proposals.c.id).where(schema.proposals.c.run_id == run_id)
            found = connection.execute(query).scalar()
            if found is None:
                raise NotFound(f"There is no proposal of run {run_id!r}.")
            return str(found)

        return await self._database.read(work)

    async def reasons(self, proposal_id: str) -> dict[str, int]:
        """How many cells stayed empty for which reason; without a reason, how many have a value."""

        def work(connection: Connection) -> dict[str, int]:
            operations = schema.operations
            query = select(operations.c.status, operations.c.cell).where(operations.c.proposal_id == proposal_id)
            counts: dict[str, int] = {}
            for status, cell in connection.execute(query):
                reason = (decode_cell(cell).reason or "error") if status == "FAILED" else ""
                counts[reason] = counts.get(reason, 0) + 1
            return counts

        return await self._database.read(work)

    async def reopen(self, proposal_id: str) -> None:
        """Its run goes on. What somebody has decided on already is not added to."""

        def work(connection: Connection) -> None:
            operations, proposals = schema.operations, schema.proposals
            decided = exists().where(operations.c.proposal_id == proposal_id, operations.c.decision != "open")
            if connection.execute(select(decided)).scalar():
                raise UsageError(
                    f"Proposal {proposal_id} was decided on already, so its run cannot go on.",
                    kept="Nothing was changed.",
                    advice="Run `tablewright enrich` again: what was bought is not paid for again.",
                )
            reopened = update(proposals).where(proposals.c.id == proposal_id)
            connection.execute(reopened.values(status="building", decided_at=None))

        await self._database.write(work, repeatable=True)

    async def finish(self, proposal_id: str, reasoning: str) -> None:
        """The run is over: the proposal can be reviewed. One that says nothing is settled."""

        def work(connection: Connection) -> None:
            proposals = schema.proposals
            connection.execute(
                update(proposals).where(proposals.c.id == proposal_id).values(status="open", reasoning=reasoning)
            )
            settle(connection, proposal_id)

        await self._database.write(work, repeatable=True)

    async def all(self, table_id: str | None = None, *, only_open: bool = False) -> list[ProposalHead]:
        """The newest first."""

        def work(connection: Connection) -> list[ProposalHead]:
            wanted: ColumnElement[bool] = true()
            if table_id is not None:
                wanted = schema.proposals.c.table_no == head(connection, table_id).no
            if only_open:
                wanted = wanted & (schema.proposals.c.status == "open")
            return read_heads(connection, wanted)

        return await self._database.read(work)

    async def get(self, proposal_id: str) -> ProposalHead:
        return await self._database.read(lambda connection: read_head(connection, proposal_id))

    async def operations(
        self,
        proposal_id: str,
        *,
        after: tuple[RowId, str] = (0, ""),
        limit: int = 2_000,
        failed: bool | None = None,
        row_ids: Sequence[RowId] | None = None,
        field: str = "",
    ) -> list[Operation]:
        """In the order of rows, page by page; `failed` keeps only those with, or without, a value, `row_ids` and
        `field` those of these rows and of this column."""

        def work(connection: Connection) -> list[Operation]:
            operations = schema.operations
            row_id, name = after
            if not sees_all(connection):
                read_head(connection, proposal_id, counted=False)
            query = (
                select(operations)
                .where(
                    operations.c.proposal_id == proposal_id,
                    (operations.c.row_id > row_id) | ((operations.c.row_id == row_id) & (operations.c.field > name)),
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
            return [as_operation(record) for record in connection.execute(query)]

        return await self._database.read(work)

    async def operation(self, proposal_id: str, row_id: RowId, field: str) -> Operation:
        def work(connection: Connection) -> Operation:
            read_head(connection, proposal_id, counted=False)
            meant = matching(connection, proposal_id, Selection(rows=(row_id,), fields=(field,)))
            record = connection.execute(select(schema.operations).where(meant)).one_or_none()
            if record is None:
                raise unknown_cell(proposal_id, (row_id, field))
            return as_operation(record)

        return await self._database.read(work)

    async def open_cells(
        self,
        proposal_id: str,
        selection: Selection = EVERYTHING,
        *,
        failed: bool | None = None,
        even_unfinished: bool = False,
    ) -> list[CellAt]:
        """What waits for a decision, in the order of rows; `failed` keeps only those without, or with, a value."""

        def work(connection: Connection) -> list[CellAt]:
            operations = schema.operations
            proposal = open_head(connection, proposal_id, even_unfinished=even_unfinished)
            query = select(operations.c.row_id, operations.c.field).where(choose(connection, proposal, selection))
            if failed is not None:
                query = query.where((operations.c.status == "FAILED") == failed)
            records = connection.execute(query.order_by(operations.c.row_id, operations.c.field))
            return [(row_id, field) for row_id, field in records]

        return await self._database.read(work)

    async def apply(
        self,
        proposal_id: str,
        selection: Selection = EVERYTHING,
        *,
        actor: str = "",
        force: bool = False,
        kind: ApplyKind = "apply",
    ) -> Applied:
        """Writes the chosen cells, all in one transaction. `force` also overwrites what was changed since, and applies
        what a run that never finished had found."""
        return await self._database.write(
            lambda connection: apply_operations(connection, proposal_id, selection, actor=actor, force=force, kind=kind)
        )

    async def decide(
        self, proposal_id: str, review: Review, *, actor: str = "", force: bool = False, kind: ApplyKind = "apply"
    ) -> Applied:
        """Refuses, writes and edits what the review says, all in one transaction; `force` as in `apply`."""
        return await self._database.write(
            lambda connection: decide_operations(connection, proposal_id, review, actor=actor, force=force, kind=kind)
        )

    async def reject(self, proposal_id: str, selection: Selection = EVERYTHING) -> int:
        """How many operations were refused."""

        def work(connection: Connection) -> int:
            proposal = open_head(connection, proposal_id, even_unfinished=True)
            head(connection, proposal.table_id, lock=True)
            chosen = choose(connection, proposal, selection)
            refused = connection.execute(update(schema.operations).where(chosen).values(decision="refused")).rowcount
            settle(connection, proposal_id)
            return refused

        return await self._database.write(work)


def apply_operations(
    connection: Connection, proposal_id: str, selection: Selection, *, actor: str, force: bool, kind: ApplyKind
) -> Applied:
    if read_head(connection, proposal_id, counted=False).status == "rejected" and is_empty(connection, proposal_id):
        return Applied(change=None, cells=0, conflicts=0)
    proposal = open_head(connection, proposal_id, even_unfinished=force)
    found = head(connection, proposal.table_id, lock=True)
    chosen = choose(connection, proposal, selection)
    applied = write_chosen(connection, found, proposal, chosen, actor=actor, force=force, kind=kind)
    settle(connection, proposal_id)
    return applied


def decide_operations(
    connection: Connection, proposal_id: str, review: Review, *, actor: str, force: bool, kind: ApplyKind
) -> Applied:
    operations = schema.operations
    proposal = open_head(connection, proposal_id, even_unfinished=force)
    found = head(connection, proposal.table_id, lock=True)
    wanted = answers(review)
    standing = decisions_of(connection, proposal_id, [row_id for row_id, _ in wanted])
    for at in wanted:
        if at not in standing:
            raise unknown_cell(proposal_id, at)
    timely = [
        {"at_row": at[0], "at_field": at[1], "decided": decision, "written": written}
        for at, (decision, written) in wanted.items()
        if standing[at] == "open"
    ]
    own = operations.c.proposal_id == proposal_id
    if timely:
        here = (operations.c.row_id == bindparam("at_row")) & (operations.c.field == bindparam("at_field"))
        marked = update(operations).where(own, here)
        connection.execute(marked.values(decision=bindparam("decided"), edited=bindparam("written")), timely)
    chosen = own & (operations.c.decision == CHOSEN)
    by_hand = any(answer["written"] for answer in timely)
    applied = write_chosen(connection, found, proposal, chosen, actor=actor, force=force, kind=kind, by_hand=by_hand)
    connection.execute(update(operations).where(chosen).values(decision="open", edited=None))
    settle(connection, proposal_id)
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
        **{at: (CHOSEN, to_text(cell)) for at, cell in review.edited.items()},
    }
    if len(wanted) < len(review.refused) + len(review.accepted) + len(review.edited):
        raise UsageError("A cell was answered twice.", kept="Nothing was changed.")
    return wanted


def decisions_of(connection: Connection, proposal_id: str, row_ids: Iterable[RowId]) -> dict[CellAt, str]:
    operations = schema.operations
    query = select(operations.c.row_id, operations.c.field, operations.c.decision)
    return {
        (row_id, field): decision
        for chunk in chunks(possible(row_ids), 500)
        for row_id, field, decision in connection.execute(
            query.where(operations.c.proposal_id == proposal_id, operations.c.row_id.in_(chunk))
        )
    }


def write_chosen(
    connection: Connection,
    found: Head,
    proposal: ProposalHead,
    chosen: ColumnElement[bool],
    *,
    actor: str,
    force: bool,
    kind: ApplyKind,
    by_hand: bool = False,
) -> Applied:
    """The chosen cells, as one change of the table. `by_hand`: a person's own values are among them."""
    operations = schema.operations
    entries, found = write_fields(connection, found, proposal, chosen)
    conflicts = 0
    read_first = connection.execute(select(func.min(operations.c.as_of)).where(chosen)).scalar()
    if not force and read_first is not None and read_first < found.last_seq:
        later = changed_since(found)
        conflicts = connection.execute(select(func.count()).select_from(operations).where(chosen, later)).scalar_one()
        chosen = chosen & ~later
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
    return Applied(change=change, cells=written, conflicts=conflicts, edited=edited, gone=settled - written)


def write_fields(
    connection: Connection, found: Head, proposal: ProposalHead, chosen: ColumnElement[bool]
) -> tuple[list[Entry], Head]:
    """Adds or changes the proposed fields that the chosen cells belong to."""
    wanted = set(connection.execute(select(schema.operations.c.field).where(chosen).distinct()).scalars())
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


def write_operations(connection: Connection, found: Head, taken: ColumnElement[bool], *, skip: int) -> int:
    """Copies the taken cells into the log, behind `skip` other entries, in SQL: a million cells never enter Python."""
    operations, cells = schema.operations, schema.cells
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
    return insert_select(connection, schema.edits, columns, source)


def as_read(found: Head, taken: ColumnElement[bool]) -> Subquery:
    """The taken cells, and where the log stood when the run read their inputs."""
    operations = schema.operations
    cell = func.coalesce(operations.c.edited, operations.c.cell).label("cell")
    of_field = number_of_field(found).label("field_id")
    return select(operations.c.row_id, of_field, operations.c.as_of, cell).where(taken).subquery()


def row_is_gone(found: Head) -> ColumnElement[bool]:
    rows = schema.rows
    gone = select(rows.c.row_id).where(rows.c.table_no == found.no, rows.c.removed)
    return schema.operations.c.row_id.in_(gone)


def number_of_field(found: Head) -> ColumnElement[int]:
    return case(found.field_ids, value=schema.operations.c.field)


def changed_since(found: Head) -> ColumnElement[bool]:
    """Somebody wrote the cell after the run had read its row."""
    operations = schema.operations
    newest = last_write(found, operations.c.row_id, number_of_field(found))
    return func.coalesce(newest, 0) > operations.c.as_of


def choose(connection: Connection, proposal: ProposalHead, selection: Selection) -> ColumnElement[bool]:
    return matching(connection, proposal.id, selection) & (schema.operations.c.decision == "open")


def matching(connection: Connection, proposal_id: str, selection: Selection) -> ColumnElement[bool]:
    operations = schema.operations
    meant = operations.c.proposal_id == proposal_id
    if selection.rows:
        meant = meant & operations.c.row_id.in_(possible(selection.rows))
    if selection.fields:
        meant = meant & operations.c.field.in_(proposed_names(connection, proposal_id, selection.fields))
    if selection.min_confidence is not None:
        meant = meant & (operations.c.confidence >= selection.min_confidence) & (operations.c.status == "ENRICHED")
    if selection.below is not None:
        meant = meant & (operations.c.confidence < selection.below) & (operations.c.status == "ENRICHED")
    return meant


def proposed_names(connection: Connection, proposal_id: str, wanted: Sequence[str]) -> list[str]:
    names = connection.scalars(
        select(schema.operations.c.field).where(schema.operations.c.proposal_id == proposal_id).distinct()
    ).all()
    by_key = {column_key(name): name for name in names} | {name: name for name in names}
    found = [by_key.get(name) or by_key.get(column_key(name)) for name in wanted]
    unknown = [name for name, column in zip(wanted, found, strict=True) if column is None]
    if unknown:
        raise NotFound(
            f"Proposal {proposal_id} says nothing about {unknown[0]!r}.",
            advice=f"It is about: {', '.join(sorted(names))}.",
        )
    return [column for column in found if column is not None]


def unknown_cell(proposal_id: str, at: CellAt) -> NotFound:
    return NotFound(
        f"Proposal {proposal_id} says nothing about row {at[0]}, {at[1]}.",
        advice=f"`tablewright proposal show {proposal_id}` shows what it is about.",
    )


def open_head(connection: Connection, proposal_id: str, *, even_unfinished: bool) -> ProposalHead:
    proposal = read_head(connection, proposal_id, counted=False)
    if proposal.status == "building" and not even_unfinished:
        raise UsageError(
            f"The run of proposal {proposal_id} has not finished.",
            advice="If its process is gone, --force applies what it had found, and `proposal reject` discards it.",
        )
    if proposal.status not in ("open", "building"):
        raise UsageError(f"Proposal {proposal_id} is already {proposal.status}.", kept="Nothing was changed.")
    return proposal


def is_empty(connection: Connection, proposal_id: str) -> bool:
    """Whether the run had nothing to propose: then there is nothing to decide either."""
    return not connection.execute(select(exists().where(schema.operations.c.proposal_id == proposal_id))).scalar()


def settle(connection: Connection, proposal_id: str) -> None:
    """A proposal without open operations is decided."""
    operations = schema.operations
    own = operations.c.proposal_id == proposal_id
    if connection.execute(select(exists().where(own, operations.c.decision == "open"))).scalar():
        return
    written = operations.c.decision.in_(("applied", "edited"))
    applied = connection.execute(select(exists().where(own, written))).scalar()
    status: ProposalStatus = "applied" if applied else "rejected"
    proposals = schema.proposals
    connection.execute(update(proposals).where(proposals.c.id == proposal_id).values(status=status, decided_at=now()))


def read_head(connection: Connection, proposal_id: str, *, counted: bool = True) -> ProposalHead:
    heads = read_heads(connection, schema.proposals.c.id == proposal_id, counted=counted)
    if not heads:
        raise NotFound(f"There is no proposal {proposal_id!r}.", advice="`tablewright proposal list` shows them.")
    return heads[0]


def read_heads(connection: Connection, wanted: ColumnElement[bool], *, counted: bool = True) -> list[ProposalHead]:
    """`counted` fills in `counts`, for which all operations are looked at."""
    proposals, tables = schema.proposals, schema.tables
    records = connection.execute(
        select(proposals, tables.c.id.label("table_id"))
        .join(tables, tables.c.no == proposals.c.table_no)
        .where(wanted, visible(connection, "table"))
        .order_by(proposals.c.created_at.desc())
    ).all()
    counts = decision_counts(connection, [record.id for record in records] if counted else [])
    return [
        ProposalHead(
            id=record.id,
            table_id=record.table_id,
            run_id=record.run_id,
            status=record.status,
            reasoning=record.reasoning,
            fields=decode_fields(record.fields),
            created_at=record.created_at,
            decided_at=record.decided_at,
            counts=counts.get(record.id, {}),
        )
        for record in records
    ]


def decision_counts(connection: Connection, proposal_ids: Sequence[str]) -> dict[str, dict[str, int]]:
    """For each proposal: operations by decision, and how many propose a value or say why there is none."""
    operations = schema.operations
    counts: dict[str, dict[str, int]] = {proposal_id: {} for proposal_id in proposal_ids}
    query = (
        select(operations.c.proposal_id, operations.c.decision, operations.c.status, func.count())
        .where(operations.c.proposal_id.in_(proposal_ids))
        .group_by(operations.c.proposal_id, operations.c.decision, operations.c.status)
    )
    for proposal_id, decision, status, count in connection.execute(query):
        own = counts[proposal_id]
        for name in (decision, "without_value" if status == "FAILED" else "with_value"):
            own[name] = own.get(name, 0) + count
    return counts
