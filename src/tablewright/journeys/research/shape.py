"""The desk that research works at: its table, the engine that fills it, and the library of pages.

Every value goes through the engine as a proposal that is applied at once, so the table has its history and can be
rolled back, whatever the research came to.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from tablewright.engine.changes import Changes
from tablewright.engine.fill import Fill, Terms
from tablewright.engine.progress import Progress, Watch
from tablewright.journeys.research.purse import Purse
from tablewright.journeys.research.worker import Library
from tablewright.store.proposals import CellAt
from tablewright.store.records import now
from tablewright.store.store import Store
from tablewright.strategies.strategy import Strategy
from tablewright.strategies.tools import Tools
from tablewright.table.confidence import confidence
from tablewright.table.dedupe import row_key
from tablewright.table.edits import AddRow
from tablewright.table.model import Cell, Evidence, Field, Row, RowId, Table
from tablewright.table.research import CatalogCandidate, FieldKind, FieldStatus, Gap, Note, ResearchTask
from tablewright.table.text import show

WEAK = 0.6
"""Below this confidence a value still is a gap."""


class Desk:
    def __init__(
        self,
        store: Store,
        tools: Tools,
        purse: Purse,
        *,
        table_id: str,
        actor: str,
        terms: Terms,
        watch: Watch,
    ) -> None:
        self.library = Library()
        self._store = store
        self._tools = tools
        self._purse = purse
        self._table_id = table_id
        self._actor = actor
        self._terms = terms
        self._watch = watch

    async def table(self) -> Table:
        return await self._store.tables.load(self._table_id)

    async def add_row(self, cells: Mapping[str, Cell]) -> None:
        """Unless it is there already: a round that was cut off is done once more."""
        table = await self.table()
        key = row_key(show(cells[table.key_field].value))
        if any(row.key == key for row in table.rows):
            return
        note = f"found {show(cells[table.key_field].value)}"
        await self._store.log.commit(self._table_id, [AddRow(key=key, cells=cells)], actor=self._actor, note=note)

    def found(self, value: str, evidence: Evidence, times: int = 1) -> Cell:
        """A name with the words that name it."""
        return Cell(
            value=value,
            raw_value=value,
            status="ENRICHED",
            confidence=confidence([0.6] * min(times, 3)),
            evidence=(evidence,),
            updated_at=now(),
        )

    async def fill(
        self,
        fields: Sequence[Field],
        strategy: Strategy,
        *,
        row_ids: Sequence[RowId] | None = None,
        only: Collection[CellAt] | None = None,
    ) -> None:
        """By the engine; what it had found when the time or the money ran out counts."""
        table = await self._store.tables.find(self._table_id)
        stop_when_late: list[Fill] = []

        def watch(progress: Progress) -> None:
            self._watch(progress)
            if self._purse.seconds_left == 0.0:
                for each in stop_when_late:
                    each.cancel()

        fill = Fill(
            self._store,
            table,
            fields,
            strategy,
            tools=self._tools,
            row_ids=row_ids,
            only=only,
            terms=self._terms,
            watch=watch,
        )
        stop_when_late.append(fill)
        filled = await fill.run()
        await Changes(self._store, self._actor).apply(filled.proposal_id)

    async def doubt(self, row_id: RowId, field: str, why: str) -> None:
        """Keeps the value, and shows that somebody says otherwise."""
        await Changes(self._store, self._actor).flag(self._table_id, row_id, field, why)

    async def drop_unfinished(self) -> None:
        """What a process that died left as a proposal: it is read once more."""
        for proposal in await self._store.proposals.all(self._table_id, only_open=True):
            await self._store.proposals.reject(proposal.id)


class Shape(Protocol):
    """What a catalog and a narrative do in their own ways."""

    @property
    def follows(self) -> Sequence[FieldKind]: ...

    async def absorb(self, tasks: Sequence[ResearchTask], notes: Sequence[Note]) -> None: ...

    def gaps(self, table: Table, round_index: int) -> tuple[Gap, ...]: ...

    def themes(self, table: Table) -> list[str]: ...

    def candidates(self, table: Table) -> list[CatalogCandidate]: ...


def status_of(cell: Cell) -> FieldStatus:
    """Sources that disagree, or one that hardly counts, are half an answer."""
    if cell.value is None or cell.status == "FAILED":
        return "missing"
    if cell.conflict or cell.status == "FLAGGED" or (cell.confidence or 0.0) < WEAK:
        return "partial"
    return "found"


def cited_origins(row: Row) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.origin for cell in row.cells.values() for each in cell.evidence))
