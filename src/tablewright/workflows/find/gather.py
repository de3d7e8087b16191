"""Search for lists and read them: pages in, mentions out. Every page is saved as soon as it is read, by `keep`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import msgspec

from tablewright.domain.listing import FindEvent, Listing, ListSource, Mention, ReadStatus
from tablewright.domain.retrieved import Refusal, Retrieved, find_continuation_links
from tablewright.errors import ModelError, OverBudget, SearchError
from tablewright.extraction.page_lines import split_lines_to_fit, split_numbered_lines
from tablewright.llm.tasks.choose_pages import pages_for_list
from tablewright.llm.tasks.decision import Outcome, Tell
from tablewright.llm.tasks.plan_list import PlanMoreSearches, SearchSoFar
from tablewright.llm.tasks.read_lists import ListedThings, PageToRead, ReadLists
from tablewright.llm.text_budget import TEXT_LIMITS
from tablewright.strategies.gathering import Gathering
from tablewright.strategies.strategy import Tools
from tablewright.strategies.subject import require_web
from tablewright.web.fetch.guard import registrable_domain
from tablewright.workflows.find.entities import Entity, label_mention

# A round opens no more pages: more of them repeat each other before the completeness can be judged.
MAX_PAGES_PER_ROUND = 6

Keep: TypeAlias = Callable[[Listing], Awaitable[Listing]]


class ListGatherer(Gathering):
    def __init__(self, tools: Tools, keep: Keep, tell: Callable[[FindEvent], None], note: Tell) -> None:
        """`keep` saves the listing whenever something new was found."""
        super().__init__(require_web(tools), tools.model, note)
        self._keep = keep
        self._report = tell
        self._followed = 0

    async def next_queries(
        self, listing: Listing, entities: Sequence[Entity], *, insists: bool = False
    ) -> tuple[str, ...]:
        """Return the planned queries that were not sent yet, then those the model proposes. With `insists`, the model
        must propose some even if it takes the list for complete."""
        tried = (*listing.queries, *listing.failed_queries)
        if planned := tuple(query for query in listing.plan.queries if query not in tried):
            return planned
        asked = SearchSoFar(
            plan=listing.plan,
            rows=listing.rows,
            names=tuple(label_mention(entity.mentions[0], listing.plan) for entity in entities),
            sources=tuple((each.title or each.origin, describe_read_outcome(each)) for each in listing.sources),
            tried=tried,
            aside=len(listing.aside),
            insists=insists,
        )
        return (await self.decide(PlanMoreSearches(), asked, ())).decided

    async def search_lists(self, listing: Listing, queries: Sequence[str]) -> Listing:
        """Send the queries and choose which of their results to open."""
        self._report(FindEvent(stage="searching", detail="; ".join(queries)))
        # Results of a search: lists often rank behind what search engines prefer.
        hits = await self.search_all(queries, limit=20)
        # A spent budget ends the whole search; any other failure concerns one query.
        for error in self.failed_searches.values():
            if isinstance(error, OverBudget):
                raise error
        failed = self.problems(queries)
        # What waits or was read must not be offered again; it would use up places of the choice.
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
            chosen = (await self.choose(pages_for_list(listing.plan), MAX_PAGES_PER_ROUND, hits, read)).decided
            listing = msgspec.structs.replace(listing, waiting=tuple(dict.fromkeys((*listing.waiting, *chosen))))
        return await self._keep(listing)

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def read_waiting(self, listing: Listing) -> Listing:
        """Open and read the waiting pages in their order, a few at a time."""
        total = len(listing.sources) + len(listing.waiting)
        while listing.waiting:
            # Pages read at the same time; a page with many lines takes several model calls.
            some = listing.waiting[:3]
            self._report(
                FindEvent(stage="reading", detail="; ".join(some), done=len(listing.sources), total=max(total, 1))
            )
            read = await asyncio.gather(*(self._read(listing, origin) for origin in some))
            sources = {source.origin: source for source in (*listing.sources, *(source for source, _ in read))}
            known = {*sources, *listing.waiting}
            # Pages that continue a list wait behind those chosen: new sites tell more about completeness.
            following = [url for _, each in read for url in each if url not in known and self.result_of(url) is None]
            # Following pages of lists in one run, so that a directory with thousands of pages ends.
            following = following[: 20 - self._followed]
            self._followed += len(following)
            total += len(following)
            listing = await self._keep(
                msgspec.structs.replace(
                    listing,
                    sources=tuple(sources.values()),
                    waiting=tuple(dict.fromkeys((*listing.waiting[len(some) :], *following))),
                )
            )
            # One page may be too long or odd; if all fail, the model is down, and reading on would mark every page as
            # failed.
            if all(source.status == "not judged" for source, _ in read):
                raise ModelError(
                    f"The model could not be asked about {some[0]}: {read[0][0].detail}",
                    kept=f"What {len(listing.sources) - len(read)} pages list is kept.",
                    advice="Continue once the model answers.",
                )
        return listing

    async def _read(self, listing: Listing, origin: str) -> tuple[ListSource, tuple[str, ...]]:
        """Return what a page lists, and the addresses of the pages that continue it."""
        is_new = bool(await self.open([origin]))
        page = self.result_of(origin)
        assert page is not None
        if isinstance(page, Refusal):
            domain = registrable_domain(origin)
            return ListSource(origin=origin, domain=domain, status=page.reason, detail=page.detail), ()
        if not is_new:
            return make_list_source(page, origin, (), status="nothing", detail=f"the same page as {page.origin}"), ()
        model = self.model
        # Links of a page shown to the model as possible continuations of its list.
        links = find_continuation_links(origin, page.links, 40)
        found: list[ListedThings] = []
        room = model.text_room if model is not None else TEXT_LIMITS.page_without_model
        for lines in split_lines_to_fit(split_numbered_lines(page.text), room):
            asked = PageToRead(plan=listing.plan, source=page, lines=lines, links=links)
            outcome: Outcome[ListedThings] = await self.decide(ReadLists(), asked, [origin])
            if outcome.over_budget:
                raise OverBudget(outcome.degraded)
            if outcome.degraded:
                return make_list_source(page, origin, (), status="not judged", detail=outcome.degraded), ()
            found.append(outcome.decided)
        mentions = tuple(each for part in found for each in part.sightings)
        source = make_list_source(page, origin, mentions, status="read" if mentions else "nothing")
        return source, tuple(dict.fromkeys(url for part in found for url in part.next))


def make_list_source(
    page: Retrieved, origin: str, mentions: tuple[Mention, ...], *, status: ReadStatus = "read", detail: str = ""
) -> ListSource:
    return ListSource(
        origin=origin,
        domain=page.domain,
        title=page.title,
        status=status,
        detail=detail,
        sightings=mentions,
    )


def describe_read_outcome(source: ListSource) -> str:
    """Describe what was read from a page."""
    if source.status == "read":
        return f"{len(source.sightings)} of the things"
    return source.detail or "none of the things" if source.status == "nothing" else f"{source.status}: {source.detail}"
