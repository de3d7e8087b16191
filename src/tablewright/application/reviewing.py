"""What runs propose, to be looked at before it is applied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tablewright.application.base import Application
from tablewright.domain.model import Attempt, Cell, RowId
from tablewright.engine.outcome import Filled
from tablewright.errors import NotFound
from tablewright.journeys import enrich
from tablewright.store.proposal import EVERYTHING, CellAt, Operation, ProposalHead, Selection


class ReviewVerbs(Application):
    async def enrich_report(self, filled: Filled) -> dict[str, Any]:
        """The run as one JSON document."""
        return await enrich.run_report(self.store, filled)

    async def attempts(self, run_id: str) -> dict[RowId, list[Attempt]]:
        """What each attempt of a run tried and came to, by row; nothing for rows that are looked at only once."""
        await self.store.runs.get(run_id)
        return await self.store.attempts.of_run(run_id)

    async def proposals(self, table_id: str | None = None, *, only_open: bool = False) -> list[ProposalHead]:
        return await self.store.proposals.all(table_id, only_open=only_open)

    async def proposal(self, proposal_id: str, *, counted: bool = True) -> ProposalHead:
        """`counted` fills in `counts`, for which all of its cells are looked at."""
        return await self.store.proposals.get(proposal_id, counted=counted)

    async def proposal_report(self, proposal_id: str) -> dict[str, Any]:
        """The proposal as one JSON document: reasoning, operations, research log."""
        return await enrich.proposal_report(self.store, proposal_id)

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
        """In the order of rows, page by page; of these rows and this column alone, where they are given."""
        return await self.store.proposals.operations(
            proposal_id, after=after, limit=limit, failed=failed, row_ids=row_ids, field=field
        )

    async def operation(self, proposal_id: str, row_id: RowId, field: str) -> Operation:
        return await self.store.proposals.operation(proposal_id, row_id, field)

    async def operation_behind(self, cell: Cell, row_id: RowId, field: str) -> Operation | None:
        """How the run that wrote a cell went about it; None where no run did, or where that is not kept."""
        if not cell.run_id:
            return None
        try:
            await self.store.runs.get(cell.run_id)
            return await self.operation(await self.store.proposals.of_run(cell.run_id), row_id, field)
        except NotFound:
            return None

    async def open_cells(
        self,
        proposal_id: str,
        selection: Selection = EVERYTHING,
        *,
        failed: bool | None = None,
        even_unfinished: bool = False,
    ) -> list[CellAt]:
        """What of a proposal waits for a decision."""
        return await self.store.proposals.open_cells(
            proposal_id, selection, failed=failed, even_unfinished=even_unfinished
        )
