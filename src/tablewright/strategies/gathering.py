"""Gathering: what was searched, offered, opened and refused for one piece of work: a row, a list of rows, a report.

Each piece of work has its own task that chooses among the offers, and its own way of reading. What happens between is
the same for all and happens here: a page is opened once, under whichever address, and what failed is remembered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from tablewright.decisions.choose_pages import Choose, ChoosePages, Offer
from tablewright.decisions.decision import Decision, Outcome, Tell, decide
from tablewright.domain.model import Step
from tablewright.domain.retrieved import Refusal, Retrieved, concerning
from tablewright.domain.text import count_noun
from tablewright.errors import OverBudget, SearchError
from tablewright.sources.source import Hit, Query, Source

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel

Decided = TypeVar("Decided")
SEARCHES_AT_ONCE = 4
"""Of one piece of work."""
RESULTS = 10
NO_TEXT = "the page has no text"


class Gathering:
    search_seconds: float | None = None
    """After which a search counts as failed; None: when the web says so."""

    def __init__(self, web: Source, model: LanguageModel | None, tell: Tell) -> None:
        self.model = model
        self.queries: list[str] = []
        self.failed_searches: dict[str, SearchError] = {}
        """Queries that no search engine answered."""
        self.unsent: dict[str, str] = {}
        """Queries that were not sent to the web, and why."""
        self.hits: dict[str, Hit] = {}
        self.pages: dict[str, Retrieved] = {}
        """What was read, by its own address, which a redirect may have led to."""
        self.refusals: dict[str, Refusal] = {}
        self.over_budget = False
        self.patterns: dict[str, str] = {}
        """By query, what it was made of, for the record."""
        self._web = web
        self._tell = tell
        self._turns = asyncio.Semaphore(SEARCHES_AT_ONCE)
        self._led_to: dict[str, str] = {}
        """By the address that was asked for, that of the page it led to."""
        self._avoided: frozenset[str] = frozenset()
        self._declined: set[str] = set()

    @property
    def opened(self) -> int:
        """Number of pages asked for, whether they could be read or not."""
        return len(self._led_to) + len(self.refusals)

    def avoid(self, origins: Collection[str]) -> None:
        """Offer and open these no more."""
        self._avoided = frozenset(origins)

    # ── searching ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def search(self, query: str, *, tell: Tell | None = None) -> list[Hit]:
        """Return all results, those that are known included. `tell` is told of it instead of whoever watches the whole
        work."""
        return self._remember(await self._search(query, RESULTS, tell or self._tell))

    async def search_all(self, queries: Sequence[str], *, limit: int = RESULTS) -> list[Hit]:
        """Search side by side; return the results in the order of the queries, each once."""
        found = await asyncio.gather(*(self._search(query, limit, self._tell) for query in queries))
        return self._remember(hit for hits in found for hit in hits)

    def problems(self, queries: Iterable[str]) -> dict[str, str]:
        """Return those of the queries that failed or were not sent to the web, and why."""
        failed = {query: error.what for query, error in self.failed_searches.items()}
        return {query: why for query in queries if (why := failed.get(query) or self.unsent.get(query))}

    def _remember(self, hits: Iterable[Hit]) -> list[Hit]:
        found: dict[str, Hit] = {}
        for hit in hits:
            found.setdefault(hit.origin, hit)
            self.hits.setdefault(hit.origin, hit)
        return list(found.values())

    async def _search(self, query: str, limit: int, tell: Tell) -> tuple[Hit, ...]:
        self.queries.append(query)
        try:
            async with self._turns, asyncio.timeout(self.search_seconds):
                found = await self._web.search(Query(text=query, limit=limit))
        except (SearchError, TimeoutError) as problem:
            error = problem if isinstance(problem, SearchError) else SearchError(self._too_slow())
            self.failed_searches[query] = error
            self.over_budget |= isinstance(error, OverBudget)
            tell(Step(type="error", detail=f"Search for “{query}” failed: {error.what}", data={"query": query}))
            return ()
        self.failed_searches.pop(query, None)
        self.unsent.pop(query, None)
        if found.refused:
            self.unsent[query] = found.refused
            detail = f"Did not send the search “{query}” to the web: {found.refused}"
            tell(Step(type="thinking", detail=detail, data={"refused_query": query}))
            if not found.queries:
                return ()
        sent = "”, then “".join(found.queries) or query
        count = len(found.hits)
        results = f"{count_noun(count, 'result')}" if count else "nothing found"
        data: dict[str, Any] = {"query": query, "results": count}
        if pattern := self.patterns.get(query):
            data["pattern"] = pattern
        tell(Step(type="search", detail=f"Searched “{sent}”: {results}.", data=data))
        return found.hits

    def _too_slow(self) -> str:
        return "It was not answered in time."

    # ── choosing ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def offers(self, among: Iterable[Hit] | None = None) -> tuple[Offer, ...]:
        """Return the results that may still be opened: not opened, not to be avoided, not declined when they were
        offered, be it under another address."""
        gone = {*self._led_to, *self.pages, *self.refusals, *self._avoided, *self._declined}
        seen = {(hit.title, hit.snippet) for hit in self.hits.values() if hit.origin in gone and hit.snippet}
        return tuple(
            offer_of(hit)
            for hit in (self.hits.values() if among is None else among)
            if hit.origin not in gone and (hit.title, hit.snippet) not in seen
        )

    async def choose(
        self, wanted: ChoosePages, most: int, among: Iterable[Hit] | None = None, read: Iterable[str] | None = None
    ) -> Outcome[tuple[str, ...]]:
        """Return the addresses worth opening among the results that may still be opened, the best first. `read` are
        addresses read already, if these are others than those of its own pages."""
        offers = self.offers(among)
        if not offers:
            return Outcome(decided=())
        request = wanted.among(offers, most, self.pages if read is None else read)
        return await self.decide(Choose(), request, [offer.origin for offer in offers])

    async def decide(
        self, task: Decision[Any, Decided], request: Any, about: Iterable[str] | None = None
    ) -> Outcome[Decided]:
        """Return the outcome of a task. An answer about the user's documents is forgotten with them: those among
        `about`, or all that were found."""
        with concerning(sorted({*self.hits, *self.pages}) if about is None else about):
            outcome = await self._ask(task, request)
        self.over_budget |= outcome.over_budget
        return outcome

    async def _ask(self, task: Decision[Any, Decided], request: Any) -> Outcome[Decided]:
        return await decide(task, request, self.model, self._tell)

    # ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def open(self, origins: Sequence[str], *, tell: Tell | None = None) -> tuple[Retrieved, ...]:
        """Return the pages that were not read before; those that could not be read are noted with the reason."""
        tell = tell or self._tell
        wanted = [origin for origin in dict.fromkeys(origins) if self.result_of(origin) is None]
        pages: list[Retrieved] = []
        for origin, page in zip(wanted, await asyncio.gather(*map(self._web.open, wanted)), strict=True):
            if isinstance(page, Retrieved) and not page.text.strip():
                page = Refusal(origin=origin, reason="error", detail=NO_TEXT, status=200)
            if isinstance(page, Refusal):
                self.refusals[origin] = page
                detail = f"Could not read {origin}: {page.detail}"
                tell(Step(type="error", detail=detail, data={"url": origin, "reason": page.reason}))
                continue
            self._led_to[origin] = page.origin
            if page.origin not in self.pages:
                self.pages[page.origin] = page
                pages.append(page)
                where = f" ({page.domain})" if page.domain else ""
                tell(Step(type="fetch", detail=f"Read “{page.title or origin}”{where}.", data={"url": page.origin}))
        return tuple(pages)

    def page_of(self, origin: str) -> Retrieved | None:
        """Return the page that an address led to, be it by a redirect."""
        return self.pages.get(self._led_to.get(origin, origin))

    def result_of(self, origin: str) -> Retrieved | Refusal | None:
        """Return what came of opening an address; None if it was not opened."""
        return self.page_of(origin) or self.refusals.get(origin)


def offer_of(hit: Hit) -> Offer:
    return Offer(origin=hit.origin, title=hit.title, snippet=hit.snippet)
