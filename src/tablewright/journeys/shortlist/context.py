"""What the steps of a turn work with: the store, the tools, the limits, and the table of the conversation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tablewright.decisions.translation import translated_lines
from tablewright.domain.model import Step, Table
from tablewright.domain.run import Watch, ignore_progress
from tablewright.domain.shortlist import USUAL_LIMITS, ChatReply, Ranking, ShortlistLimits, ShortlistState
from tablewright.engine.policy import USUAL, Terms
from tablewright.errors import NotFound
from tablewright.journeys.shortlist.ranking import rank
from tablewright.store.store import Store
from tablewright.strategies.strategy import Tools
from tablewright.values.money import BUNDLED, Rates

Taken: TypeAlias = tuple[ShortlistState, ChatReply]


@dataclass(frozen=True)
class TurnContext:
    """`watch` sees the engine's progress, `tell` the steps. `folder` is where exports go, whatever place is named;
    without one, where the person says."""

    store: Store
    tools: Tools
    actor: str = ""
    terms: Terms = USUAL
    limits: ShortlistLimits = USUAL_LIMITS
    rates: Rates = BUNDLED
    concurrency: int | None = None
    watch: Watch = ignore_progress
    tell: Callable[[Step], None] = lambda _: None
    folder: Path | None = None

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

    def ranking(self, table: Table, state: ShortlistState) -> Ranking:
        """Rank what is there by what is wanted now."""
        return rank(table, state.requirements, self.rates, state.language)
