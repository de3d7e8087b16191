"""Searching for lists and reading them: pages in, sightings out. Every page is kept as soon as it is read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import msgspec

from tablewright.decisions.choose_pages import pages_for_list
from tablewright.decisions.decision import Outcome, Tell
from tablewright.decisions.more_searches import MoreSearches, SearchSoFar
from tablewright.decisions.read_lists import ListedThings, PageToRead, ReadLists
from tablewright.domain.links import continuations
from tablewright.domain.listing import FindEvent, Listing, ListSource, ReadStatus, Sighting
from tablewright.domain.retrieved import Refusal, Retrieved
from tablewright.errors import ModelError, OverBudget, SearchError
from tablewright.extraction.page_lines import lines_of, parts_that_fit
from tablewright.journeys.find.things import ListedThing, label_of
from tablewright.models.text_budget import ROOM_WITHOUT_MODEL
from tablewright.sources.fetch.guard import registrable_domain
from tablewright.strategies.gathering import Gathering
from tablewright.strategies.strategy import Tools
from tablewright.strategies.subject import web_of

PAGES = 6
"""Opened in a round, at most."""
RESULTS = 20
"""Of a search: lists often stand behind what search engines prefer."""
AT_ONCE = 3
LINKS = 40
"""Links that may continue a page's list, as they are shown."""
NEXT_PAGES = 20
"""Further pages of lists in one run, at most."""

Keep: TypeAlias = Callable[[Listing], Awaitable[Listing]]


class ListGatherer(Gathering):
    def __init__(self, tools: Tools, keep: Keep, tell: Callable[[FindEvent], None], note: Tell) -> None:
        """`keep` is called with what the search has come to, as soon as there is something new."""
        super().__init__(web_of(tools), tools.model, note)
        self._keep = keep
        self._report = tell
        self._followed = 0

    async def next_queries(
        self, listing: Listing, things: Sequence[ListedThing], *, insists: bool = False
    ) -> tuple[str, ...]:
        """Those of the plan that were not searched; then what the model makes of what was found. `insists`: somebody
        asks for more, although the model may have taken the list for complete."""
        tried = (*listing.queries, *listing.failed_queries)
        if planned := tuple(query for query in listing.plan.queries if query not in tried):
            return planned
        asked = SearchSoFar(
            plan=listing.plan,
            rows=listing.rows,
            names=tuple(label_of(thing.sightings[0], listing.plan) for thing in things),
            sources=tuple((each.title or each.origin, outcome_text(each)) for each in listing.sources),
            tried=tried,
            aside=len(listing.aside),
            insists=insists,
        )
        return (await self.decide(MoreSearches(), asked, ())).decided

    async def search_lists(self, listing: Listing, queries: Sequence[str]) -> Listing:
        """The searches, and which of their results are to be opened."""
        self._report(FindEvent(stage="searching", detail="; ".join(queries)))
        hits = await self.search_all(queries, limit=RESULTS)
        for error in self.failed_searches.values():
            if isinstance(error, OverBudget):
                raise error
        failed = self.problems(queries)
        self.avoid({*listing.waiting, *(source.origin for source in listing.sources)})
        offers = self.offers(hits)
        done = [query for query in queries if query not in failed]
        listing = msgspec.structs.replace(
            listing,
            queries=tuple(dict.fromkeys((*listing.queries, *done))),
            failed_queries={name: why for name, why in listing.failed_queries.items() if name not in done} | failed,
        )
        if failed and not (done or offers or listing.sources or listing.waiting):
            await self._keep(listing)
            raise SearchError(
                f"No search worked: {next(iter(failed.values()))}",
                kept="The plan of the table is kept.",
                advice=f"`tablewright find --more {listing.table_id}` continues once the search answers.",
            )
        if offers:
            self._report(FindEvent(stage="choosing", detail=f"{len(offers)} search results"))
            read = [source.origin for source in listing.sources]
            chosen = (await self.choose(pages_for_list(listing.plan), PAGES, hits, read)).decided
            listing = msgspec.structs.replace(listing, waiting=tuple(dict.fromkeys((*listing.waiting, *chosen))))
        return await self._keep(listing)

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def read_waiting(self, listing: Listing) -> Listing:
        """Opens and reads what waits, a few pages at a time, in their order."""
        total = len(listing.sources) + len(listing.waiting)
        while listing.waiting:
            some = listing.waiting[:AT_ONCE]
            self._report(
                FindEvent(stage="reading", detail="; ".join(some), done=len(listing.sources), total=max(total, 1))
            )
            read = await asyncio.gather(*(self._read(listing, origin) for origin in some))
            sources = {source.origin: source for source in (*listing.sources, *(source for source, _ in read))}
            known = {*sources, *listing.waiting}
            following = [url for _, each in read for url in each if url not in known and self.result_of(url) is None]
            following = following[: NEXT_PAGES - self._followed]
            self._followed += len(following)
            total += len(following)
            listing = await self._keep(
                msgspec.structs.replace(
                    listing,
                    sources=tuple(sources.values()),
                    waiting=tuple(dict.fromkeys((*listing.waiting[len(some) :], *following))),
                )
            )
            if all(source.status == "not judged" for source, _ in read):
                raise ModelError(
                    f"The model could not be asked about {some[0]}: {read[0][0].detail}",
                    kept=f"What {len(listing.sources) - len(read)} pages list is kept.",
                    advice="Continue once the model answers.",
                )
        return listing

    async def _read(self, listing: Listing, origin: str) -> tuple[ListSource, tuple[str, ...]]:
        """What a page lists, and the pages that go on with it."""
        is_new = bool(await self.open([origin]))
        page = self.result_of(origin)
        assert page is not None
        if isinstance(page, Refusal):
            domain = registrable_domain(origin)
            return ListSource(origin=origin, domain=domain, status=page.reason, detail=page.detail), ()
        if not is_new:
            return source_of(page, origin, (), status="nothing", detail=f"the same page as {page.origin}"), ()
        model = self.model
        links = continuations(origin, page.links, LINKS)
        found: list[ListedThings] = []
        room = model.text_room if model is not None else ROOM_WITHOUT_MODEL
        for lines in parts_that_fit(lines_of(page.text), room):
            asked = PageToRead(plan=listing.plan, source=page, lines=lines, links=links)
            outcome: Outcome[ListedThings] = await self.decide(ReadLists(), asked, [origin])
            if outcome.over_budget:
                raise OverBudget(outcome.degraded)
            if outcome.degraded:
                return source_of(page, origin, (), status="not judged", detail=outcome.degraded), ()
            found.append(outcome.decided)
        sightings = tuple(each for part in found for each in part.sightings)
        source = source_of(page, origin, sightings, status="read" if sightings else "nothing")
        return source, tuple(dict.fromkeys(url for part in found for url in part.next))


def source_of(
    page: Retrieved, origin: str, sightings: tuple[Sighting, ...], *, status: ReadStatus = "read", detail: str = ""
) -> ListSource:
    return ListSource(
        origin=origin,
        domain=page.domain,
        title=page.title,
        status=status,
        detail=detail,
        sightings=sightings,
    )


def outcome_text(source: ListSource) -> str:
    """What a page came to, in words."""
    if source.status == "read":
        return f"{len(source.sightings)} of the things"
    return source.detail or "none of the things" if source.status == "nothing" else f"{source.status}: {source.detail}"
