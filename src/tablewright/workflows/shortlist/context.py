"""The context of a turn: store, tools, limits, and access to the table of the conversation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tablewright.domain.model import Step, Table
from tablewright.domain.run import ProgressCallback, ignore_progress
from tablewright.domain.shortlist import DEFAULT_LIMITS, ChatReply, Ranking, ShortlistLimits, ShortlistState
from tablewright.engine.policy import DEFAULT_POLICY, RunPolicy
from tablewright.errors import NotFound
from tablewright.llm.tasks.translation import translate_lines
from tablewright.store.store import Store
from tablewright.strategies.strategy import Tools
from tablewright.values.money import BUNDLED_RATES, ExchangeRates
from tablewright.workflows.shortlist.ranking import rank_products

Taken: TypeAlias = tuple[ShortlistState, ChatReply]
TurnWork: TypeAlias = Callable[[], Awaitable[Taken]]
"""The part of a turn that searches or fills cells."""


async def do_at_once(work: TurnWork) -> Taken:
    return await work()


@dataclass(frozen=True)
class TurnContext:
    """Dependencies of every step of a turn. `watch` gets the engine's progress, `tell` the steps. `folder` receives all
    exports, whatever path the user names; None allows any path. `perform` does the work of a turn, such as a run."""

    store: Store
    tools: Tools
    actor: str = ""
    policy: RunPolicy = DEFAULT_POLICY
    limits: ShortlistLimits = DEFAULT_LIMITS
    rates: ExchangeRates = BUNDLED_RATES
    concurrency: int | None = None
    watch: ProgressCallback = ignore_progress
    tell: Callable[[Step], None] = lambda _: None
    folder: Path | None = None
    perform: Callable[[TurnWork], Awaitable[Taken]] = do_at_once

    def translate_for(self, state: ShortlistState) -> Callable[..., str]:
        """Return the translation of texts about products. Without a model pages stand for products, so the texts, which
        are English then, do not call them candidates."""
        if self.tools.model is not None:
            return state.translate
        return lambda text, /, **values: state.translate(text.replace("candidate", "page"), **values)

    async def speak(self, language: str) -> None:
        await translate_lines("shortlist", language, self.tools.model, self.tell)

    async def has_table(self, state: ShortlistState) -> bool:
        try:
            await self.store.tables.find(state.table_id)
        except NotFound:
            return False
        return True

    async def table(self, state: ShortlistState) -> Table:
        return await self.store.tables.load(state.table_id) if state.table_id else Table(id="", name="")

    def ranking(self, table: Table, state: ShortlistState) -> Ranking:
        """Rank the products of the table by the current requirements. Without a model nothing is ranked: code cannot
        tell a product's page from a list or an article."""
        return rank_products(
            table,
            state.requirements,
            self.rates,
            state.language,
            preferred=state.preferred,
            is_scored=self.tools.model is not None,
        )
