"""Gathering: search, choose and open pages for one piece of work: a row, a list of rows, a report.

The one loop between the search and the reading, shared by all strategies and workflows: each brings its own task that
chooses among the offers, and its own way of reading. A page is opened once, under any address, and failures are
remembered. Nothing here decides about values.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from tablewright.domain.model import Step
from tablewright.domain.retrieved import Refusal, Retrieved, track_documents
from tablewright.domain.text import count_noun
from tablewright.errors import OverBudget, SearchError
from tablewright.llm.tasks.choose_pages import ChoosePages, Offer, PagesToChoose
from tablewright.llm.tasks.decision import Decision, Outcome, Tell, decide
from tablewright.web.source import Hit, Query, Source

if TYPE_CHECKING:
    from tablewright.llm.model import LanguageModel

Decided = TypeVar("Decided")
# Engines put what matters on the first page of results.
RESULTS_PER_SEARCH = 10
NO_TEXT = "the page has no text"


class Gathering:
    search_seconds: float | None = None
    """Seconds after which a search counts as failed; None leaves that to the web."""

    def __init__(
        self, web: Source, model: LanguageModel | None, tell: Tell, searches: asyncio.Semaphore | None = None
    ) -> None:
        """`searches` limits the concurrent searches of several pieces of work."""
        self.model = model
        self.queries: list[str] = []
        self.failed_searches: dict[str, SearchError] = {}
        """Queries that no search engine answered, and why."""
        self.unsent: dict[str, str] = {}
        """Queries that were not sent to the web, and why."""
        self.hits: dict[str, Hit] = {}
        self.pages: dict[str, Retrieved] = {}
        """Pages read, by their own address, which a redirect may have led to."""
        self.refusals: dict[str, Refusal] = {}
        self.over_budget = False
        self.patterns: dict[str, str] = {}
        """By query, the pattern it was made from, for the trace."""
        self._web = web
        self._tell = tell
        # Concurrent searches of one piece of work; more would only hit the limits of the search engine.
        self._turns = searches or asyncio.Semaphore(4)
        self._led_to: dict[str, str] = {}
        """By requested address, the address of the page it led to."""
        self._avoided: frozenset[str] = frozenset()
        self._declined: set[str] = set()

    @property
    def opened(self) -> int:
        """Number of pages asked for, whether they could be read or not."""
        return len(self._led_to) + len(self.refusals)

    def avoid(self, origins: Collection[str]) -> None:
        """Neither offer nor open these addresses again."""
        self._avoided = frozenset(origins)

    # ── searching ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def search(self, query: str, *, tell: Tell | None = None) -> list[Hit]:
        """Return all results, including known ones. `tell` gets the steps instead of the watcher of the whole work."""
        return self._remember(await self._search(query, RESULTS_PER_SEARCH, tell or self._tell))

    async def search_all(self, queries: Sequence[str], *, limit: int = RESULTS_PER_SEARCH) -> list[Hit]:
        """Search concurrently; return the results in the order of the queries, each once."""
        found = await asyncio.gather(*(self._search(query, limit, self._tell) for query in queries))
        return self._remember(hit for hits in found for hit in hits)

    def problems(self, queries: Iterable[str]) -> dict[str, str]:
        """Return the queries that failed or were not sent to the web, and why."""
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
        # It may have failed, or not been sent, in an earlier attempt.
        self.failed_searches.pop(query, None)
        self.unsent.pop(query, None)
        if found.refused:
            self.unsent[query] = found.refused
            detail = f"Did not send the search “{query}” to the web: {found.refused}"
            tell(Step(type="thinking", detail=detail, data={"refused_query": query}))
            if not found.queries:
                return ()
        # The engine may have been asked in other words after those of the query gave nothing.
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
        """Return the results that may still be opened: not opened, avoided or declined before, also under another
        address."""
        gone = {*self._led_to, *self.pages, *self.refusals, *self._avoided, *self._declined}
        # The same page under another address has the same title and snippet.
        seen = {(hit.title, hit.snippet) for hit in self.hits.values() if hit.origin in gone and hit.snippet}
        return tuple(
            make_offer(hit)
            for hit in (self.hits.values() if among is None else among)
            if hit.origin not in gone and (hit.title, hit.snippet) not in seen
        )

    async def choose(
        self, task: PagesToChoose, most: int, among: Iterable[Hit] | None = None, read: Iterable[str] | None = None
    ) -> Outcome[tuple[str, ...]]:
        """Return the addresses worth opening among the results that may still be opened, the best first. `read` are
        addresses read already, if these are others than those of its own pages."""
        offers = self.offers(among)
        if not offers:
            return Outcome(decided=())
        request = task.among(offers, most, self.pages if read is None else read)
        return await self.decide(ChoosePages(), request, [offer.origin for offer in offers])

    async def decide(
        self, task: Decision[Any, Decided], request: Any, about: Iterable[str] | None = None
    ) -> Outcome[Decided]:
        """Return the outcome of a task. Its cached answer is deleted together with the user's documents it is about:
        those among `about`, or all that were found."""
        # A model saw all of it, so its cached answer may have parts of these documents.
        with track_documents(sorted({*self.hits, *self.pages}) if about is None else about):
            outcome = await self._ask(task, request)
        self.over_budget |= outcome.over_budget
        return outcome

    async def _ask(self, task: Decision[Any, Decided], request: Any) -> Outcome[Decided]:
        return await decide(task, request, self.model, self._tell)

    # ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def open(self, origins: Sequence[str], *, tell: Tell | None = None) -> tuple[Retrieved, ...]:
        """Open pages and return those that were not read before; note why others could not be read."""
        tell = tell or self._tell
        wanted = [origin for origin in dict.fromkeys(origins) if self.result_of(origin) is None]
        pages: list[Retrieved] = []
        for origin, page in zip(wanted, await asyncio.gather(*map(self._web.open, wanted)), strict=True):
            # A page of scripts or pictures: it was reached, but says nothing to a reader of text.
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
        """Return the page that an address led to, directly or by a redirect."""
        return self.pages.get(self._led_to.get(origin, origin))

    def result_of(self, origin: str) -> Retrieved | Refusal | None:
        """Return the page or refusal of an address; None if it was not opened."""
        return self.page_of(origin) or self.refusals.get(origin)


def make_offer(hit: Hit) -> Offer:
    return Offer(origin=hit.origin, title=hit.title, snippet=hit.snippet)
