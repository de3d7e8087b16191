"""The web as a source: search and open, each thing bought once. What was bought is kept in the store (`kept`).

All that leaves for a search engine or a site passes here, so here it is checked that it tells nothing private."""

from __future__ import annotations

import asyncio

from tablewright.domain.retrieved import Refusal, Retrieved
from tablewright.domain.usage import Usage, spend
from tablewright.errors import OverBudget, SearchError
from tablewright.observe import count
from tablewright.sandbox.sandbox import Sandbox
from tablewright.sources.fetch.fetcher import Fetched, Fetcher
from tablewright.sources.fetch.guard import registrable_domain
from tablewright.sources.opened import LIMITS, open_fetched
from tablewright.sources.provenance import current_provenance, refusal_of
from tablewright.sources.read.reading import Reading
from tablewright.sources.search.searching import Searching
from tablewright.sources.source import Query, Searched
from tablewright.sources.web_cache import SingleFlight, WebCache
from tablewright.store.cache import StoredPage


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
        """A search wanted by several rows at once is made once. One that would tell private words is not sent."""
        provenance = current_provenance()
        if provenance is not None and provenance.must_look_at_queries:
            words = await asyncio.to_thread(provenance.find_private_words, f"{query.text} {query.site}")
            if words:
                return Searched(hits=(), queries=(), refused=refusal_of(words))
        found = await self._asking.get(repr(query), lambda: self._search(query))
        if provenance is not None:
            for hit in found.hits:
                provenance.note_result(hit.origin, hit.title, hit.snippet)
        return found

    async def open(self, origin: str) -> Retrieved | Refusal:
        """A page wanted by several rows at once is fetched once; a refusal is not asked for again by this process."""
        if made_up := refuse_unknown(origin):
            return made_up
        page = await self._open_once(origin)
        note_opened(origin, page)
        return page

    async def _open_once(self, origin: str) -> Retrieved | Refusal:
        if refused := self._refused.get(origin):
            return refused
        since = self.kept.led_to(origin)
        return await self._opening.get(f"{since} {origin}", lambda: self._open(origin, since))

    async def open_again(self, origin: str) -> Retrieved | Refusal:
        """Asked of its server, however fresh the kept page is; the same page as before need not be sent once more."""
        if made_up := refuse_unknown(origin):
            return made_up
        if self.kept.offline:
            return Refusal(origin=origin, reason="error", detail="offline nothing is fetched")
        page = await self._fetch(origin, await self.kept.page(origin))
        if not isinstance(page, Refusal):
            self._refused.pop(origin, None)
        note_opened(origin, page)
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


def refuse_unknown(origin: str) -> Refusal | None:
    """Return a refusal for an address that nothing public gave: it may carry private words to whoever is there. The
    target of a redirect is free: a site composes it of what it knows, which is the address that it was asked for."""
    provenance = current_provenance()
    if provenance is None or provenance.knows_address(origin):
        return None
    detail = "no search result, no public page and nothing that you gave has this address"
    return Refusal(origin=origin, reason="forbidden", detail=detail)


def note_opened(origin: str, page: Retrieved | Refusal) -> None:
    provenance = current_provenance()
    if provenance is not None and isinstance(page, Retrieved):
        provenance.note_page(page, origin)


def retrieved(fetched: Fetched, reading: Reading) -> Retrieved:
    return Retrieved(
        origin=fetched.final_url,
        text=reading.text,
        title=reading.title,
        domain=registrable_domain(fetched.final_url),
        page_starts=reading.page_starts,
        links=reading.links,
    )
