"""Workers and the library they share: tasks are searched side by side, and every page is there for all.

A worker brings back which pages it read, which it could not, and which steps it took. It writes no prose and no cell.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence

from tablewright.errors import OverBudget, SearchError
from tablewright.journeys.research.purse import Purse
from tablewright.sources.fetch.domain import registrable_domain
from tablewright.sources.source import Hit, Query
from tablewright.store.store import Store
from tablewright.strategies.subject import web_of
from tablewright.strategies.tools import Tools
from tablewright.table.model import Noun, Step
from tablewright.table.research import Note, ResearchTask, SeenSource
from tablewright.table.retrieved import Refusal, Retrieved, is_document
from tablewright.table.text import plural

PAGES = 5
"""Opened for a task, at most."""
OF_A_DOMAIN = 2
AT_ONCE = 4


class Brought(Noun, frozen=True, gc=True):
    note: Note
    pages: tuple[Retrieved, ...] = ()


class Library:
    """All pages that a piece of research has read, in the order in which they came. Search results are leads, never
    sources: what is cited was opened."""

    def __init__(self) -> None:
        self.pages: dict[str, Retrieved] = {}
        self.of_task: dict[str, list[str]] = {}
        self.steps: dict[str, tuple[Step, ...]] = {}

    def add(self, note: Note, pages: Sequence[Retrieved]) -> None:
        self.of_task[note.task.id] = [page.origin for page in pages]
        self.steps[note.task.id] = note.steps
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
                    page = await web_of(tools).open(source.url)
                else:
                    page = await store.pages.version(source.url, source.content_hash) or await web_of(tools).open(
                        source.url
                    )
                if isinstance(page, Retrieved):
                    pages.append(page)
            self.add(note, pages)


class Workers:
    def __init__(self, tools: Tools, library: Library, purse: Purse, tell: Callable[[ResearchTask], None]) -> None:
        """`tell` is called as each task is done."""
        self._tools = tools
        self._web = web_of(tools)
        self._library = library
        self._purse = purse
        self._tell = tell

    async def run(self, tasks: Sequence[ResearchTask]) -> list[Note]:
        """All of them side by side; what they found is put into the library in the order of the tasks."""
        if not tasks:
            return []
        turns = asyncio.Semaphore(AT_ONCE)

        async def one(task: ResearchTask) -> Brought:
            async with turns:
                if self._purse.spent:
                    return Brought(note=Note(task=task, error=self._purse.spent))
                brought = await self._work(task)
            self._tell(task)
            return brought

        working = [asyncio.create_task(one(task)) for task in tasks]
        try:
            await asyncio.wait(working, timeout=self._purse.seconds_left)
        finally:
            for each in working:
                each.cancel()
            ended = await asyncio.gather(*working, return_exceptions=True)
        notes = []
        for task, result in zip(tasks, ended, strict=True):
            if isinstance(result, asyncio.CancelledError):
                result = Brought(note=Note(task=task, error=self._purse.spent or "it was stopped"))
            elif isinstance(result, BaseException):
                raise result
            self._library.add(result.note, result.pages)
            notes.append(result.note)
        return notes

    async def read(self, task_id: str, origins: Sequence[str]) -> Note:
        """Opens pages that others link to; noted under that name."""
        steps: list[Step] = []
        pages, seen = await self._open(origins, steps)
        note = Note(
            task=ResearchTask(id=task_id, kind="fill", search_query=""), sources=tuple(seen), steps=tuple(steps)
        )
        self._library.add(note, pages)
        return note

    async def _work(self, task: ResearchTask) -> Brought:
        steps: list[Step] = []
        hits, error = await self._search(task.search_query, steps)
        pages, seen = await self._open(chosen(hits), steps)
        note = Note(task=task, sources=tuple(seen), steps=tuple(steps), error=error)
        return Brought(note=note, pages=tuple(pages))

    async def _search(self, query: str, steps: list[Step]) -> tuple[list[Hit], str]:
        try:
            found = await self._web.search(Query(text=query))
        except SearchError as error:
            steps.append(Step(type="error", detail=f"Search for “{query}” failed: {error.what}", data={"query": query}))
            over = "the budget is spent" if isinstance(error, OverBudget) else error.what
            return [], over
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


def chosen(hits: Sequence[Hit]) -> list[str]:
    """The first results, of one site only a few before those of others: five pages of one site are still one voice."""
    first: list[str] = []
    later: list[str] = []
    domains: list[str] = []
    for hit in hits:
        domain = registrable_domain(hit.origin) or hit.origin
        (first if domains.count(domain) < OF_A_DOMAIN else later).append(hit.origin)
        domains.append(domain)
    return list(dict.fromkeys((*first, *later)))[:PAGES]
