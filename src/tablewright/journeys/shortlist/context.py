"""What the steps of a turn work with: the store, the tools, the limits; the table of a conversation and its advice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from msgspec import structs

from tablewright.decisions.translation import translated_lines
from tablewright.domain.feed import Progress
from tablewright.domain.model import Step, Table
from tablewright.domain.shortlist import (
    USUAL_LIMITS,
    ChatReply,
    Ranking,
    ReplySentence,
    ShortlistLimits,
    ShortlistState,
)
from tablewright.engine.fill import USUAL, Terms
from tablewright.engine.progress import ignore
from tablewright.errors import NotFound
from tablewright.journeys.shortlist.advising import Adviser
from tablewright.journeys.shortlist.comparison import ProductComparison
from tablewright.journeys.shortlist.ranking import rank
from tablewright.store.store import Store
from tablewright.strategies.tools import Tools
from tablewright.values.money import BUNDLED, Rates

Taken: TypeAlias = tuple[ShortlistState, ChatReply]


class TurnContext:
    """`watch` sees the engine's progress, `tell` the steps. `folder` is where exports go, whatever place is named."""

    def __init__(
        self,
        store: Store,
        tools: Tools,
        *,
        actor: str = "",
        terms: Terms = USUAL,
        limits: ShortlistLimits = USUAL_LIMITS,
        rates: Rates = BUNDLED,
        concurrency: int | None = None,
        watch: Callable[[Progress], None] = ignore,
        tell: Callable[[Step], None] = lambda _: None,
        folder: Path | None = None,
    ) -> None:
        self.store = store
        self.tools = tools
        self.terms = terms
        self.limits = limits
        self.tell = tell
        self._actor = actor
        self.rates = rates
        self._concurrency = concurrency
        self._watch = watch
        self._folder = folder

    async def speak(self, language: str) -> None:
        await translated_lines("shortlist", language, self.tools.model, self.tell)

    async def has_table(self, state: ShortlistState) -> bool:
        try:
            await self.store.tables.find(state.table_id)
        except NotFound:
            return False
        return True

    async def table(self, state: ShortlistState) -> Table:
        return await self.store.tables.load(state.table_id) if state.table_id else Table(id="", name="")

    async def comparison(self, state: ShortlistState) -> ProductComparison:
        return ProductComparison(
            self.store,
            self.tools,
            table_id=state.table_id or await self._make_table(state),
            actor=self._actor,
            terms=self.terms,
            limits=self.limits,
            concurrency=self._concurrency,
            watch=self._watch,
            requirements=state.requirements,
            rates=self.rates,
        )

    async def _make_table(self, state: ShortlistState) -> str:
        """Known to the conversation at once: where the turn fails, the next one goes on with the same table."""
        name = state.requirements.product_type.capitalize() or "Shortlist"
        table_id = await ProductComparison.make(self.store, name, self._actor, has_model=self.tools.model is not None)
        before = await self.store.shortlists.get(state.id)
        await self.store.shortlists.save(structs.replace(before, table_id=table_id))
        return table_id

    def ranking(self, table: Table, state: ShortlistState) -> Ranking:
        """What is there, by what is wanted now."""
        return rank(table, state.requirements, self.rates, state.language)

    async def present(
        self,
        state: ShortlistState,
        said: Sequence[ReplySentence] = (),
        *,
        heading: str = "",
        notes: Sequence[str] = (),
        new: Sequence[str] = (),
        found: Sequence[str] = (),
    ) -> Taken:
        state = structs.replace(state, phase="advise", waiting="", has_presented=True)
        advising = self.advising(state, await self.comparison(state))
        return await advising.present(said, heading=heading, notes=notes, new=new, found=found)

    def advising(self, state: ShortlistState, comparison: ProductComparison) -> Adviser:
        return Adviser(state, comparison, self.store, self.tools, self.rates, self.tell, self._folder)
