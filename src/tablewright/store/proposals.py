"""Proposals: what a run would change, kept until its owner accepts or refuses it, whole or cell by cell."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, exists, select, true, update

from tablewright.domain.model import Field, RowId
from tablewright.errors import NotFound, UsageError
from tablewright.store.applying import Applied, ApplyKind, Review, apply_operations, decide_operations
from tablewright.store.database import StorePart, read_transaction, repeatable_transaction, write_transaction
from tablewright.store.ledger import charge_table
from tablewright.store.proposal import (
    EVERYTHING,
    CellAt,
    Operation,
    ProposalHead,
    Selection,
    add_operations,
    choose,
    create_proposal,
    matching,
    open_head,
    operation_records,
    read_head,
    read_heads,
    settle,
    unknown_cell,
)
from tablewright.store.records import decode_cell
from tablewright.store.schema import operations, proposals
from tablewright.store.sharing import sees_all
from tablewright.store.tables import head


class Proposals(StorePart):
    @write_transaction
    def create(self, connection: Connection, table_id: str, run_id: str, fields: Sequence[Field]) -> str:
        """`fields` are the definitions that applying it would add to the table or change in it."""
        return create_proposal(connection, head(connection, table_id).no, run_id, fields)

    async def add(self, proposal_id: str, operations: Sequence[Operation]) -> None:
        """A later attempt replaces an earlier one; the same attempt again changes nothing (compare-and-set)."""
        if operations:
            await self._add(proposal_id, operations)

    @repeatable_transaction
    def _add(self, connection: Connection, proposal_id: str, operations: Sequence[Operation]) -> None:
        grown = add_operations(connection, proposal_id, operations)
        of_run = select(proposals.c.table_no).where(proposals.c.id == proposal_id)
        charge_table(connection, connection.execute(of_run).scalar_one(), grown)

    @read_transaction
    def of_run(self, connection: Connection, run_id: str) -> str:
        """The id of what a run proposes."""
        query = select(proposals.c.id).where(proposals.c.run_id == run_id)
        found = connection.scalar(query)
        if found is None:
            raise NotFound(f"There is no proposal of run {run_id!r}.")
        return str(found)

    @read_transaction
    def reasons(self, connection: Connection, proposal_id: str) -> dict[str, int]:
        """How many cells stayed empty for which reason; without a reason, how many have a value."""
        query = select(operations.c.status, operations.c.cell).where(operations.c.proposal_id == proposal_id)
        counts: dict[str, int] = {}
        for status, cell in connection.execute(query):
            reason = (decode_cell(cell).reason or "error") if status == "FAILED" else ""
            counts[reason] = counts.get(reason, 0) + 1
        return counts

    @repeatable_transaction
    def reopen(self, connection: Connection, proposal_id: str) -> None:
        """Its run goes on. What somebody has decided on already is not added to."""
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
        """The run is over: the proposal can be reviewed. One that says nothing, and has no new column, is closed."""
        connection.execute(
            update(proposals).where(proposals.c.id == proposal_id).values(status="open", reasoning=reasoning)
        )
        settle(connection, proposal_id)

    @read_transaction
    def all(
        self, connection: Connection, table_id: str | None = None, *, only_open: bool = False
    ) -> list[ProposalHead]:
        """The newest first."""
        wanted: ColumnElement[bool] = true()
        if table_id is not None:
            wanted = proposals.c.table_no == head(connection, table_id).no
        if only_open:
            wanted = wanted & (proposals.c.status == "open")
        return read_heads(connection, wanted)

    @read_transaction
    def get(self, connection: Connection, proposal_id: str, *, counted: bool = True) -> ProposalHead:
        return read_head(connection, proposal_id, counted=counted)

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
    ) -> list[Operation]:
        """In the order of rows, page by page; `failed` keeps only those with, or without, a value, `row_ids` and
        `field` those of these rows and of this column."""
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
        return [operation_records.read(record) for record in connection.execute(query)]

    @read_transaction
    def operation(self, connection: Connection, proposal_id: str, row_id: RowId, field: str) -> Operation:
        read_head(connection, proposal_id, counted=False)
        meant = matching(connection, proposal_id, Selection(rows=(row_id,), fields=(field,)))
        record = connection.execute(select(operations).where(meant)).one_or_none()
        if record is None:
            raise unknown_cell(proposal_id, (row_id, field))
        return operation_records.read(record)

    @read_transaction
    def open_cells(
        self,
        connection: Connection,
        proposal_id: str,
        selection: Selection = EVERYTHING,
        *,
        failed: bool | None = None,
        even_unfinished: bool = False,
    ) -> list[CellAt]:
        """What waits for a decision, in the order of rows; `failed` keeps only those without, or with, a value."""
        proposal = open_head(connection, proposal_id, even_unfinished=even_unfinished)
        query = select(operations.c.row_id, operations.c.field).where(choose(connection, proposal, selection))
        if failed is not None:
            query = query.where((operations.c.status == "FAILED") == failed)
        records = connection.execute(query.order_by(operations.c.row_id, operations.c.field))
        return [(row_id, field) for row_id, field in records]

    @write_transaction
    def apply(
        self,
        connection: Connection,
        proposal_id: str,
        selection: Selection = EVERYTHING,
        *,
        actor: str = "",
        force: bool = False,
        kind: ApplyKind = "apply",
        empties: bool = False,
    ) -> Applied:
        """Write the chosen cells, all in one transaction. `force` also overwrites what was changed since, and applies
        what a run that never finished had found. A cell for which nothing was found keeps the value that it has, unless
        `empties`."""
        return apply_operations(
            connection, proposal_id, selection, actor=actor, force=force, kind=kind, empties=empties
        )

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
    ) -> Applied:
        """Refuses, writes and edits what the review says, all in one transaction; `force` as in `apply`."""
        return decide_operations(connection, proposal_id, review, actor=actor, force=force, kind=kind)

    @write_transaction
    def reject(self, connection: Connection, proposal_id: str, selection: Selection = EVERYTHING) -> int:
        """How many operations were refused."""
        proposal = open_head(connection, proposal_id, even_unfinished=True)
        head(connection, proposal.table_id, lock=True)
        chosen = choose(connection, proposal, selection)
        refused = connection.execute(update(operations).where(chosen).values(decision="refused")).rowcount
        settle(connection, proposal_id, whole=selection == EVERYTHING)
        return refused
