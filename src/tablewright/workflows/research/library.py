"""The library of a research run: its tasks search concurrently and share every page that was opened.

Each task leaves a note of the pages it read, those it could not read, and its steps. Nothing is written to the store.
Also the limits on time and money that all steps of the run share (`ResearchLimits`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from tablewright.citations.quotes import looks_like_prompt_injection
from tablewright.domain.model import Step
from tablewright.domain.research import DEFAULT_EXTENT, Brief, Note, ResearchExtent, ResearchTask, SeenSource, TaskKind
from tablewright.domain.retrieved import Refusal, Retrieved, is_document_id
from tablewright.formats.reports.wording import ReportWords
from tablewright.llm.tasks.choose_pages import pages_for_research
from tablewright.llm.tasks.decision import Tell
from tablewright.store.store import Store
from tablewright.strategies.gathering import NO_TEXT, Gathering
from tablewright.strategies.strategy import Tools
from tablewright.strategies.subject import require_web
from tablewright.web.fetch.guard import registrable_domain
from tablewright.web.provenance import note_private, note_read_before
from tablewright.web.source import Hit

if TYPE_CHECKING:
    from tablewright.llm.budget import Budget

Done = TypeVar("Done")


class ResearchLimits:
    """The time and money left for a research run."""

    def __init__(self, budget: Budget | None, minutes: float | None, extent: ResearchExtent = DEFAULT_EXTENT) -> None:
        self.extent = extent
        self.words = ReportWords()
        """The language in which it says that a limit is reached."""
        self._budget = budget
        self._minutes = minutes
        self._ends = None if minutes is None else time.monotonic() + minutes * 60

    @property
    def seconds_left(self) -> float | None:
        """Seconds left for searching and reading; None if there is no limit."""
        if self._ends is None or self._minutes is None:
            return None
        # The share of the time reserved for writing the report.
        return max(0.0, self._ends - self._minutes * 60 * 0.15 - time.monotonic())

    async def in_time(self, work: Awaitable[Done]) -> Done | None:
        """Return the result, or None if the time is up before."""
        try:
            async with asyncio.timeout(self.seconds_left) as limit:
                return await work
        except TimeoutError:
            if limit.expired():
                return None
            raise

    @property
    def seconds_to_write(self) -> float | None:
        return None if self._ends is None else max(0.0, self._ends - time.monotonic())

    @property
    def money_spent(self) -> str:
        """The cap that was reached, as text."""
        return self._budget.exhausted if self._budget is not None else ""

    @property
    def spent(self) -> str:
        """The limit that was reached, in words; "" if there is time and money left."""
        if self.seconds_left == 0.0:
            return self.words("the time of {minutes} minutes was up", minutes=f"{self._minutes:g}")
        if cap := self.money_spent:
            return self.words("the cap of {cap} was reached", cap=cap)
        return ""


class Library(Gathering):
    """All pages that a research run has read, in the order in which they came. Search results are leads, never sources:
    only opened pages are cited."""

    def __init__(
        self,
        tools: Tools,
        brief: Brief,
        limits: ResearchLimits,
        *,
        searched: Callable[[ResearchTask], None],
        tell: Tell,
    ) -> None:
        """`searched` is called after each search."""
        super().__init__(require_web(tools), tools.model, tell)
        self._brief = brief
        self._limits = limits
        self._searched = searched
        self._of_task: dict[str, tuple[str, ...]] = {}
        self._refused_before: set[str] = set()

    def read_by(self, tasks: Collection[str]) -> list[Retrieved]:
        origins = dict.fromkeys(origin for task in tasks for origin in self._of_task.get(task, ()))
        return [page for origin in origins if (page := self.page_of(origin)) is not None]

    async def reopen(self, store: Store, notes: Sequence[Note]) -> None:
        """Restore the library from stored pages."""
        for note in notes:
            for source in note.sources:
                if source.status != "read":
                    self._refused_before.add(source.url)
                elif is_document_id(source.url) or source.content_hash:
                    page: Retrieved | Refusal | None = None
                    if is_document_id(source.url):
                        note_private()
                    else:
                        page = await store.pages.version(source.url, source.content_hash)
                    # Cited versions come from the store, so that quotes still match after the page has changed.
                    page = page or await self._web.open(source.url)
                    if isinstance(page, Retrieved):
                        note_read_before(page)
                        self._led_to[source.url] = page.origin
                        self.pages.setdefault(page.origin, page)
            self._keep(note)

    def _keep(self, note: Note) -> None:
        self._of_task[note.task.id] = tuple(source.url for source in note.sources if source.status == "read")

    async def search_for(self, tasks: Sequence[ResearchTask]) -> list[Note]:
        """Run all searches concurrently, then open the results worth reading; return a note for each task. Pages enter
        the library in the order of the tasks."""
        before = dict(self.pages)
        steps: dict[str, list[Step]] = {task.id: [] for task in tasks}

        async def search(task: ResearchTask) -> list[Hit]:
            hits = await self.search(task.search_query, tell=steps[task.id].append)
            if task.search_query not in self.failed_searches:
                self._searched(task)
            return hits

        found = await self._in_time([partial(search, task) for task in tasks])
        wanted = await self._choose(tasks, [hits or [] for hits in found])
        opened = await self._in_time(
            [
                partial(self.open, origins, tell=steps[task.id].append)
                for task, origins in zip(tasks, wanted, strict=True)
            ]
        )
        notes = []
        for task, hits, origins, pages in zip(tasks, found, wanted, opened, strict=True):
            failed = self.failed_searches.get(task.search_query)
            # None means that a limit ended the work, an empty list that nothing was found.
            is_cut_off = hits is None or pages is None
            error = failed.what if failed else (self._limits.spent or "it was stopped") if is_cut_off else ""
            sources = () if pages is None else tuple(map(self._seen, origins))
            notes.append(Note(task=task, sources=sources, steps=tuple(steps[task.id]), error=error))
            self._keep(notes[-1])
        # Pages arrive in the order in which sites answer; sorted by task, a run that is repeated numbers its sources
        # alike.
        in_order = dict.fromkeys((*before, *(page.origin for page in self.read_by(list(steps))), *self.pages))
        self.pages = {origin: self.pages[origin] for origin in in_order}
        return notes

    async def _in_time(self, works: Sequence[Callable[[], Awaitable[Done]]]) -> list[Done | None]:
        """Return the result of each work, a few at a time; None for those a limit cut off."""
        # Tasks that search or open pages at the same time.
        turns = asyncio.Semaphore(4)

        async def one(work: Callable[[], Awaitable[Done]]) -> Done | None:
            async with turns:
                return None if self._limits.spent else await self._limits.in_time(work())

        return await asyncio.gather(*map(one, works))

    async def _choose(self, tasks: Sequence[ResearchTask], found: Sequence[Sequence[Hit]]) -> list[list[str]]:
        """Return the addresses to open for each task. The model chooses from all results together; a page that was
        opened before is not offered again, but counts for every task that found it."""
        most = self._limits.extent.pages
        if self.model is None or self._limits.spent:
            return [spread_over_sites(hits, most) for hits in found]
        # A page that refused before is known, too: opening it again would cost time and fail again.
        known = {hit.origin for hits in found for hit in hits if self.result_of(hit.origin)} | self._refused_before
        new = {hit.origin: hit for hits in found for hit in hits if hit.origin not in known}
        aims = [f"{task.search_query} ({task.target_gap})" if task.target_gap else task.search_query for task in tasks]
        wanted = pages_for_research(self._brief, aims)
        outcome = await self._limits.in_time(self.choose(wanted, most * len(tasks), new.values()))
        if outcome is not None and outcome.degraded:
            return [spread_over_sites(hits, most) for hits in found]
        chosen = known | set(outcome.decided if outcome is not None else ())
        return [
            sorted((hit.origin for hit in hits if hit.origin in chosen), key=lambda origin: origin not in known)
            for hits in found
        ]

    def _seen(self, origin: str) -> SeenSource:
        page = self.result_of(origin)
        assert page is not None
        if isinstance(page, Refusal):
            is_empty = page.detail == NO_TEXT
            return SeenSource(
                url=origin,
                domain=registrable_domain(origin),
                status="empty" if is_empty else page.reason,
                detail="" if is_empty else page.detail,
            )
        orders = any(map(looks_like_prompt_injection, page.text.splitlines()))
        return SeenSource(
            url=page.origin,
            domain=page.domain,
            title=page.title,
            detail=self._limits.words("has passages that give orders to machines; they were not followed")
            if orders
            else "",
            content_hash=page.content_hash,
        )


def spread_over_sites(hits: Sequence[Hit], most: int) -> list[str]:
    """Return the first results, at most two of a site before those of others: five pages of one site are one voice."""
    first: list[str] = []
    later: list[str] = []
    domains: list[str] = []
    for hit in hits:
        domain = registrable_domain(hit.origin) or hit.origin
        # A second page of a site may hold details; further ones only repeat its voice.
        (first if domains.count(domain) < 2 else later).append(hit.origin)
        domains.append(domain)
    return list(dict.fromkeys((*first, *later)))[:most]


def number_tasks(
    prefix: str, kind: TaskKind, queries: Sequence[str], targets: Sequence[str] = ()
) -> list[ResearchTask]:
    """Return a task for each search; `targets` are their purposes."""
    return [
        ResearchTask(id=f"{prefix}_{number}", kind=kind, search_query=query, target_gap=target)
        for number, (query, target) in enumerate(zip(queries, targets or [""] * len(queries), strict=True), start=1)
    ]


def describe_failed_searches(results: Sequence[Note], words: ReportWords) -> list[str]:
    """Return a sentence for each search that failed or was not sent, with the reason."""
    failed = [
        words("The search for “{query}” failed: {why}", query=each.task.search_query, why=why)
        for each in results
        for why in (each.error, *(step.detail for step in each.steps if "refused_query" in step.data))
        if why
    ]
    return list(dict.fromkeys(failed))
