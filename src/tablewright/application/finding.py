"""Finding the rows of a table from a description."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tablewright.application.base import Application
from tablewright.domain.condition import parse_conditions
from tablewright.domain.listing import DEFAULT_ROWS, FindEvent, FoundRows, Listing, ListPlan
from tablewright.domain.model import Field
from tablewright.domain.wording import within_bounds
from tablewright.policies import rates_of, terms_of

if TYPE_CHECKING:
    from tablewright.engine.estimate import Estimate
    from tablewright.journeys.find.find import Finder


class FindVerbs(Application):
    async def begin_find(
        self,
        question: str,
        *,
        fields: Sequence[Field] = (),
        where: str = "",
        rows: int = DEFAULT_ROWS,
    ) -> Listing:
        """Plans a table of the things that are described; `find_rows` finds its rows. `fields` are its columns, the
        first of which names the things; without them the model chooses. `where` has the conditions that every row must
        meet, beside what the question says."""
        conditions = parse_conditions(where)
        finder = await self._finder()
        async with self.spending():
            return await finder.begin(within_bounds(question), fields=fields, conditions=conditions, rows=rows)

    async def find_rows(
        self,
        table_id: str,
        *,
        fill: bool = True,
        more: bool = False,
        rows: int = 0,
        watch: Callable[[FindEvent], None] = lambda _: None,
    ) -> FoundRows:
        """Finds the rows of a planned table, to the end or on from where it was cut off; with `more`, further ones,
        for `rows` in all. With `fill`, cells that no list states are looked for."""
        listing = await self.store.listings.get(table_id)
        spec = {"question": listing.plan.question, "fill": fill, "more": more, "rows": rows}
        found: FoundRows = await self.jobs.perform("find", listing.table_id, spec, watch)
        return found

    async def start_find(self, table_id: str, *, fill: bool = True, more: bool = False, rows: int = 0) -> str:
        """As `find_rows`, but does not wait for it; the id of its run."""
        listing = await self.store.listings.get(table_id)
        spec = {"question": listing.plan.question, "fill": fill, "more": more, "rows": rows}
        return await self.jobs.begin("find", listing.table_id, spec)

    async def found_rows(self, table_id: str) -> FoundRows:
        """What the search for the rows of a table came to so far."""
        from tablewright.journeys.find.account import account

        return await account(self.store, await self.store.listings.get(table_id), rates_of(self.settings))

    async def list_plan(self, table_id: str) -> ListPlan:
        """What a search for the rows of a table looks for."""
        return (await self.store.listings.get(table_id)).plan

    async def estimate_find(self, table_id: str) -> Estimate:
        """What finding the rows of a planned table is likely to take."""
        from tablewright.journeys.find.find import estimate_search

        listing = await self.store.listings.get(table_id)
        return estimate_search(listing, await self.open_tools(("web", "model")), terms_of(self.settings))

    async def _finder(self) -> Finder:
        from tablewright.journeys.find.find import Finder

        return Finder(
            self.store, await self.open_tools(("web", "model")), actor=self.actor, terms=terms_of(self.settings)
        )
