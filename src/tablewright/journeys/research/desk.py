"""The desk that research works at: its table, the engine that fills it, and the library of pages.

Every value goes through the engine as a proposal that is applied at once, so the table has its history and can be
rolled back, whatever the research came to.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from tablewright.engine.changes import Changes
from tablewright.engine.fill import Fill, Terms
from tablewright.engine.progress import Watch
from tablewright.journeys.research.purse import Purse
from tablewright.journeys.research.worker import Library
from tablewright.store.operations import CellAt
from tablewright.store.proposals import Review
from tablewright.store.records import now
from tablewright.store.store import Store
from tablewright.strategies.gathered import Gathered
from tablewright.strategies.strategy import Strategy
from tablewright.strategies.tools import Tools
from tablewright.table.confidence import confidence
from tablewright.table.dedupe import row_key
from tablewright.table.edits import AddRow
from tablewright.table.model import Cell, Evidence, Field, Row, RowId, Table
from tablewright.table.research import FieldStatus
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
            basis="stated",
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
        """By the engine, with the model as long as there are time and money. What was gathered is read to the end, then
        by the rules alone: that costs nothing, and a partial report has something to say."""
        if not self._purse.spent:
            read = await self._read(self._tools, fields, strategy, row_ids, only)
            only = None if only is None else set(only) - read
        if self._purse.spent and only != set():
            rules = replace(self._tools, model=None, strong=None, budget=None)
            await self._read(rules, fields, strategy, row_ids, only, in_time=False)

    async def _read(
        self,
        tools: Tools,
        fields: Sequence[Field],
        strategy: Strategy,
        row_ids: Sequence[RowId] | None,
        only: Collection[CellAt] | None,
        *,
        in_time: bool = True,
    ) -> set[CellAt]:
        """The cells that it came to."""
        fill = Fill(
            self._store,
            await self._store.tables.find(self._table_id),
            fields,
            strategy,
            tools=tools,
            row_ids=row_ids,
            only=only,
            terms=self._terms,
            watch=self._watch,
        )
        filled = await fill.run_within(self._purse.seconds_left if in_time else None)
        return await self._keep(filled.proposal_id)

    async def _keep(self, proposal_id: str) -> set[CellAt]:
        """All but what would empty a cell: that more pages, or another answer of a model, do not say it is no reason to
        give up a value that has its evidence."""
        proposed = await self._store.proposals.open_cells(proposal_id)
        rows = (await self.table()).rows
        values = {(row.id, name) for row in rows for name, cell in row.cells.items() if cell.value is not None}
        emptied = [at for at in await self._store.proposals.open_cells(proposal_id, failed=True) if at in values]
        accepted = [at for at in proposed if at not in emptied]
        if proposed:
            review = Review(accepted=tuple(accepted), refused=tuple(emptied))
            await Changes(self._store, self._actor).decide(proposal_id, review, kind="auto_apply")
        return set(proposed)

    async def doubt(self, row_id: RowId, field: str, why: str) -> None:
        """Keeps the value, and shows that somebody says otherwise."""
        await Changes(self._store, self._actor).flag(self._table_id, row_id, field, why)

    async def drop_unfinished(self) -> None:
        """What a process that died left as proposals: it is read once more. The owner's own stay."""
        for proposal in await self._store.proposals.all(self._table_id):
            if proposal.status in ("building", "open"):
                run = await self._store.runs.get(proposal.run_id)
                if run.spec.get("strategy") == Gathered.name:
                    await self._store.proposals.reject(proposal.id)


def status_of(cell: Cell) -> FieldStatus:
    """Sources that disagree, or one that hardly counts, are half an answer."""
    if cell.value is None or cell.status == "FAILED":
        return "missing"
    if cell.conflict or cell.status == "FLAGGED" or (cell.confidence or 0.0) < WEAK:
        return "partial"
    return "found"


def cited_origins(row: Row) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.origin for cell in row.cells.values() for each in cell.evidence))
