"""Workers and the library they share: tasks are searched side by side, and every page is there for all.

A worker brings back which pages it read, which it could not, and which steps it took. It writes no prose and no cell.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from typing import TypeVar

from tablewright.citations.untrusted import looks_like_prompt_injection
from tablewright.decisions.choose_pages import Offer
from tablewright.decisions.choose_sources import ChooseSources, SourcesToChoose
from tablewright.decisions.decision import Tell, decide
from tablewright.domain.model import Step
from tablewright.domain.research import Brief, Note, ResearchTask, SeenSource
from tablewright.domain.retrieved import Refusal, Retrieved, is_document
from tablewright.domain.text import plural
from tablewright.errors import OverBudget, SearchError
from tablewright.formats.reports.wording import Words
from tablewright.journeys.research.limits import ResearchLimits
from tablewright.models.document_scope import concerning
from tablewright.sources.fetch.domain import registrable_domain
from tablewright.sources.provenance import note_private, note_read_before
from tablewright.sources.source import Hit, Query
from tablewright.store.store import Store
from tablewright.strategies.subject import web_of
from tablewright.strategies.tools import Tools

Done = TypeVar("Done")
OF_A_DOMAIN = 2
AT_ONCE = 4


class Library:
    """All pages that a piece of research has read, in the order in which they came. Search results are leads, never
    sources: what is cited was opened."""

    def __init__(self) -> None:
        self.pages: dict[str, Retrieved] = {}
        self.refused: set[str] = set()
        """Addresses that could not be read."""
        self.of_task: dict[str, list[str]] = {}
        self.steps: dict[str, tuple[Step, ...]] = {}

    def add(self, note: Note, pages: Sequence[Retrieved]) -> None:
        self.of_task[note.task.id] = [page.origin for page in pages]
        self.steps[note.task.id] = note.steps
        self.refused |= {source.url for source in note.sources if source.status != "read"}
        for page in pages:
            self.pages.setdefault(page.origin, page)

    def read_by(self, tasks: Collection[str]) -> list[Retrieved]:
        origins = dict.fromkeys(origin for task in tasks for origin in self.of_task.get(task, ()))
        return [self.pages[origin] for origin in origins]

    async def reopen(self, store: Store, tools: Tools, notes: Sequence[Note]) -> None:
        """As it was: from what is stored, without asking anybody."""
        for note in notes:
            pages = []
            for source in note.sources:
                if source.status != "read" or not (source.content_hash or is_document(source.url)):
                    continue
                if is_document(source.url):
                    note_private()
                    page = await web_of(tools).open(source.url)
                else:
                    page = await store.pages.version(source.url, source.content_hash) or await web_of(tools).open(
                        source.url
                    )
                if isinstance(page, Retrieved):
                    pages.append(page)
                    note_read_before(page)
            self.add(note, pages)


class SearchWorkers:
    def __init__(
        self,
        tools: Tools,
        brief: Brief,
        library: Library,
        limits: ResearchLimits,
        *,
        searched: Callable[[ResearchTask], None],
        tell: Tell,
    ) -> None:
        """`searched` is called as each search is done."""
        self._tools = tools
        self._brief = brief
        self._web = web_of(tools)
        self._library = library
        self._limits = limits
        self._searched = searched
        self._tell = tell

    async def run(self, tasks: Sequence[ResearchTask]) -> list[Note]:
        """All searches side by side, then the results that are worth opening; the pages are put into the library in the
        order of the tasks."""
        steps: dict[str, list[Step]] = {task.id: [] for task in tasks}

        async def search(task: ResearchTask) -> tuple[list[Hit], str]:
            hits, error = await self._search(task.search_query, steps[task.id])
            if not error:
                self._searched(task)
            return hits, error

        found = [each or ([], self._stopped) for each in await self._in_time([partial(search, task) for task in tasks])]
        wanted = await self._choose(tasks, [hits for hits, _ in found])
        opened = await self._in_time(
            [partial(self._open, origins, steps[task.id]) for task, origins in zip(tasks, wanted, strict=True)]
        )
        notes = []
        for task, (_, error), brought in zip(tasks, found, opened, strict=True):
            pages, seen = brought or ([], [])
            problem = error or ("" if brought else self._stopped)
            note = Note(task=task, sources=tuple(seen), steps=tuple(steps[task.id]), error=problem)
            self._library.add(note, pages)
            notes.append(note)
        return notes

    @property
    def _stopped(self) -> str:
        return self._limits.spent or "it was stopped"

    async def _in_time(self, works: Sequence[Callable[[], Awaitable[Done]]]) -> list[Done | None]:
        """What each comes to, a few at once; None for what a limit cut off."""
        turns = asyncio.Semaphore(AT_ONCE)

        async def one(work: Callable[[], Awaitable[Done]]) -> Done | None:
            async with turns:
                return None if self._limits.spent else await work()

        working = [asyncio.create_task(one(work)) for work in works]
        try:
            if working:
                await asyncio.wait(working, timeout=self._limits.seconds_left)
        finally:
            for each in working:
                each.cancel()
            ended = await asyncio.gather(*working, return_exceptions=True)
        done: list[Done | None] = []
        for result in ended:
            if isinstance(result, BaseException) and not isinstance(result, asyncio.CancelledError):
                raise result
            done.append(None if isinstance(result, BaseException) else result)
        return done

    async def _choose(self, tasks: Sequence[ResearchTask], found: Sequence[Sequence[Hit]]) -> list[list[str]]:
        """For each task the addresses to open. With a model it chooses from all results together; a page that was
        chosen before is not offered again, but is there for the task that found it, too."""
        chosen_before = {*self._library.pages, *self._library.refused}
        before = [[hit.origin for hit in hits if hit.origin in chosen_before] for hits in found]
        if self._tools.model is None or self._limits.spent:
            return [chosen(hits, self._limits.extent.pages) for hits in found]
        offers = {
            hit.origin: Offer(origin=hit.origin, title=hit.title, snippet=hit.snippet)
            for hits in found
            for hit in hits
            if hit.origin not in chosen_before
        }
        if not offers:
            return before
        asked = SourcesToChoose(
            brief=self._brief,
            aims=tuple(
                f"{task.search_query} ({task.target_gap})" if task.target_gap else task.search_query for task in tasks
            ),
            offers=tuple(offers.values()),
            most=self._limits.extent.pages * len(tasks),
        )
        with concerning([origin for origin in offers if is_document(origin)]):
            outcome = await self._limits.in_time(decide(ChooseSources(), asked, self._tools.model, self._tell))
        if outcome is None:
            return before
        if outcome.degraded:
            return [chosen(hits, self._limits.extent.pages) for hits in found]
        wanted = set(outcome.decided)
        return [
            list(dict.fromkeys((*known, *(hit.origin for hit in hits if hit.origin in wanted))))
            for known, hits in zip(before, found, strict=True)
        ]

    async def _search(self, query: str, steps: list[Step]) -> tuple[list[Hit], str]:
        try:
            found = await self._web.search(Query(text=query))
        except SearchError as error:
            steps.append(Step(type="error", detail=f"Search for “{query}” failed: {error.what}", data={"query": query}))
            over = "the budget is spent" if isinstance(error, OverBudget) else error.what
            return [], over
        if found.refused:
            detail = f"Did not send the search “{query}” to the web: {found.refused}"
            steps.append(Step(type="thinking", detail=detail, data={"refused_query": query}))
            if not found.queries:
                return [], ""
        count = len(found.hits)
        results = f"{count} {plural('result', count)}" if count else "nothing found"
        steps.append(
            Step(type="search", detail=f"Searched “{query}”: {results}.", data={"query": query, "results": count})
        )
        return list(found.hits), ""

    async def _open(self, origins: Sequence[str], steps: list[Step]) -> tuple[list[Retrieved], list[SeenSource]]:
        pages, seen = [], []
        opened = await asyncio.gather(*map(self._page, origins))
        for origin, page in zip(origins, opened, strict=True):
            if isinstance(page, Refusal):
                domain = registrable_domain(origin)
                seen.append(SeenSource(url=origin, domain=domain, status=page.reason, detail=page.detail))
                detail = f"Could not read {origin}: {page.detail}"
                steps.append(Step(type="error", detail=detail, data={"url": origin, "reason": page.reason}))
                continue
            source = SeenSource(
                url=page.origin,
                domain=page.domain,
                title=page.title,
                status="read" if page.text.strip() else "empty",
                detail=self._limits.words("gives orders")
                if any(map(looks_like_prompt_injection, page.text.splitlines()))
                else "",
                content_hash=page.content_hash,
            )
            seen.append(source)
            if page.text.strip():
                pages.append(page)
                where = f" ({page.domain})" if page.domain else ""
                detail = f"Read “{page.title or page.origin}”{where}."
                steps.append(Step(type="fetch", detail=detail, data={"url": page.origin}))
        return pages, seen

    async def _page(self, origin: str) -> Retrieved | Refusal:
        """A page that this research has read is not asked for again."""
        return self._library.pages.get(origin) or await self._web.open(origin)


def chosen(hits: Sequence[Hit], most: int) -> list[str]:
    """The first results, of one site only a few before those of others: five pages of one site are still one voice."""
    first: list[str] = []
    later: list[str] = []
    domains: list[str] = []
    for hit in hits:
        domain = registrable_domain(hit.origin) or hit.origin
        (first if domains.count(domain) < OF_A_DOMAIN else later).append(hit.origin)
        domains.append(domain)
    return list(dict.fromkeys((*first, *later)))[:most]


def failures(results: Sequence[Note], words: Words) -> list[str]:
    """Searches that failed, and those that were not sent, with the reason."""
    failed = [
        words("search failed", query=each.task.search_query, why=why)
        for each in results
        for why in (each.error, *(step.detail for step in each.steps if "refused_query" in step.data))
        if why
    ]
    return list(dict.fromkeys(failed))
