"""The web as a source: search and open, each thing bought once. What was bought is kept in the store (`kept`)."""

from __future__ import annotations

from tablewright.errors import OverBudget, SearchError
from tablewright.observe import count
from tablewright.sandbox.sandbox import Sandbox
from tablewright.sources.fetch.domain import registrable_domain
from tablewright.sources.fetch.fetcher import Fetched, Fetcher
from tablewright.sources.opened import LIMITS, open_fetched
from tablewright.sources.read.reading import Reading
from tablewright.sources.search.searching import Searching
from tablewright.sources.single_flight import SingleFlight
from tablewright.sources.source import Query, Searched
from tablewright.sources.web_cache import WebCache
from tablewright.store.pages import StoredPage
from tablewright.table.retrieved import Refusal, Retrieved
from tablewright.table.usage import Usage, spend


class Web:
    def __init__(self, searching: Searching, fetcher: Fetcher, kept: WebCache) -> None:
        self.kept = kept
        self._searching = searching
        self._fetcher = fetcher
        self._sandbox = Sandbox(LIMITS)
        self._asking: SingleFlight[Searched] = SingleFlight()
        self._opening: SingleFlight[Retrieved | Refusal] = SingleFlight()
        self._refused: dict[str, Refusal] = {}

    async def search(self, query: Query) -> Searched:
        """A search wanted by several rows at once is made once."""
        return await self._asking.get(repr(query), lambda: self._search(query))

    async def open(self, origin: str) -> Retrieved | Refusal:
        """A page wanted by several rows at once is fetched once; a refusal is not asked for again by this process."""
        if refused := self._refused.get(origin):
            return refused
        since = self.kept.led_to(origin)
        return await self._opening.get(f"{since} {origin}", lambda: self._open(origin, since))

    async def open_again(self, origin: str) -> Retrieved | Refusal:
        """Asked of its server, however fresh the kept page is; the same page as before need not be sent once more."""
        if self.kept.offline:
            return Refusal(origin=origin, reason="error", detail="offline nothing is fetched")
        page = await self._fetch(origin, await self.kept.page(origin))
        if not isinstance(page, Refusal):
            self._refused.pop(origin, None)
        return page

    async def keep(self, snippet: Retrieved) -> Retrieved:
        return await self.kept.keep_snippet(snippet)

    async def close(self) -> None:
        await self._asking.close()
        await self._opening.close()
        await self._sandbox.close()

    async def _search(self, query: Query) -> Searched:
        kept = await self.kept.search(query, paid=self._searching.price > 0)
        if kept is not None:
            spend(Usage(cache_hits=1))
            count("cache_hits", kind="search")
            return kept
        if self.kept.offline:
            raise await self.kept.failed_search(query) or SearchError(
                f"Nothing is kept of the search for {query.text!r}, and offline nothing is searched."
            )
        try:
            return await self.kept.keep_search(query, await self._searching.search(query))
        except OverBudget:
            raise
        except SearchError as error:
            await self.kept.keep_failed_search(query, error)
            raise

    async def _open(self, origin: str, since: str) -> Retrieved | Refusal:
        known = await self.kept.page(origin)
        usable = await self.kept.usable(origin, known, since)
        if usable is not None:
            spend(Usage(cache_hits=1))
            count("cache_hits", kind="page")
            return usable
        if self.kept.offline:
            return Refusal(origin=origin, reason="error", detail="it is not kept, and offline nothing is fetched")
        page = await self._fetch(origin, known)
        if isinstance(page, Refusal):
            self._refused[origin] = page
            await self.kept.keep_refusal(page)
        return page

    async def _fetch(self, origin: str, known: StoredPage | None) -> Retrieved | Refusal:
        if self.kept.is_private(origin):
            known = None  # another server there may call another page by the same ETag, or older than the one we have
        etag, last_modified = (known.etag, known.last_modified) if known else ("", "")
        fetched = await self._fetcher.fetch(origin, etag=etag, last_modified=last_modified)
        if isinstance(fetched, Refusal):
            return fetched
        if fetched.not_modified and known:
            return await self.kept.unchanged(origin, known)
        opened = await open_fetched(fetched, self._sandbox)
        if opened.blocked:
            return Refusal(origin=origin, reason="blocked", detail=opened.blocked, status=fetched.status)
        if opened.reading is None:
            return Refusal(origin=origin, reason="error", detail=opened.unreadable, status=fetched.status)
        return await self.kept.keep_page(
            origin, retrieved(fetched, opened.reading), etag=fetched.etag, last_modified=fetched.last_modified
        )


def retrieved(fetched: Fetched, reading: Reading) -> Retrieved:
    return Retrieved(
        origin=fetched.final_url,
        text=reading.text,
        title=reading.title,
        domain=registrable_domain(fetched.final_url),
        page_starts=reading.page_starts,
        links=reading.links,
    )
