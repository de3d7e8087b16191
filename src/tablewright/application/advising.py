"""The advisor: a conversation about what to buy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tablewright.application.base import Application
from tablewright.domain.model import Step
from tablewright.domain.run import Watch, ignore_progress
from tablewright.domain.shortlist import ChatReply, Ranking, ShortlistState
from tablewright.domain.wording import within_bounds
from tablewright.errors import EditConflict


class ShortlistVerbs(Application):
    async def begin_shortlist(self) -> ShortlistState:
        """A new conversation about what to buy."""
        return await self.store.shortlists.start()

    async def shortlist_turn(
        self,
        shortlist_id: str,
        message: str,
        *,
        watch: Watch = ignore_progress,
        tell: Callable[[Step], None] = lambda _: None,
        exports: Path | None = None,
    ) -> tuple[ShortlistState, ChatReply]:
        """What somebody says, or the label of a button, and what the advisor replies. `exports` is the folder for the
        files that they ask for, whatever place they name: on a server it must be given. While one turn is taken no
        other is: both would spend, and one reply would be lost."""
        from tablewright.journeys.shortlist.context import TurnContext
        from tablewright.journeys.shortlist.shortlist import Shortlist

        if shortlist_id in self.turns_under_way:
            raise EditConflict(
                "The last turn of this conversation is still under way; nothing was done.",
                advice="Wait for its reply, then say it again.",
            )
        self.turns_under_way.add(shortlist_id)
        try:
            context = TurnContext(
                self.store,
                await self.open_tools(("web", "model")),
                actor=self.actor,
                terms=self.terms,
                limits=self.shortlist_limits,
                rates=self.rates,
                concurrency=self.settings.concurrency,
                watch=watch,
                tell=tell,
                folder=exports,
            )
            async with self.spending():
                return await Shortlist(context).turn(shortlist_id, within_bounds(message, "message"))
        finally:
            self.turns_under_way.discard(shortlist_id)

    async def shortlist(self, shortlist_id: str) -> ShortlistState:
        return await self.store.shortlists.get(shortlist_id)

    async def shortlist_ranking(self, shortlist_id: str) -> Ranking:
        """The candidates in the order in which they meet what is wanted, and those that are excluded, by the cells as
        they are now."""
        from tablewright.journeys.shortlist.ranking import rank

        state = await self.shortlist(shortlist_id)
        if not state.table_id:
            return Ranking()
        return rank(await self.store.tables.load(state.table_id), state.requirements, self.rates)

    async def shortlists(self) -> list[ShortlistState]:
        """The newest first."""
        return await self.store.shortlists.all()

    async def remove_shortlist(self, shortlist_id: str) -> None:
        """Its table stays."""
        await self.store.shortlists.remove(shortlist_id)
