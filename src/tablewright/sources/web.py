"""The web as a source: search and open, each thing bought once. Results and pages are kept in the store.

What this process has seen is not asked for again. What an earlier one has seen is, after a day: a page is asked whether
it changed, a search is made anew. What comes from a private address costs nothing and may be another thing tomorrow, so
it is taken from the store only within the process. Offline everything comes from the store, however old.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from datetime import timedelta

import msgspec

from tablewright.errors import SearchError
from tablewright.sources.fetch.blocked import why_blocked
from tablewright.sources.fetch.domain import registrable_domain
from tablewright.sources.fetch.fetcher import Fetched, Fetcher
from tablewright.sources.read.reader import read
from tablewright.sources.read.reading import Reading, Unreadable
from tablewright.sources.search.searching import Searching
from tablewright.sources.source import Query, Searched
from tablewright.store.cache import Cache, is_older
from tablewright.store.pages import Pages, StoredPage
from tablewright.table.retrieved import Refusal, Retrieved
from tablewright.table.usage import Usage, spend

FRESH = timedelta(hours=24)

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Searched)


class Web:
    """`engine` says which search it is, for the cache. `is_private` tells which addresses are this machine's own."""

    def __init__(
        self,
        searching: Searching,
        fetcher: Fetcher,
        pages: Pages,
        cache: Cache,
        *,
        engine: str,
        is_private: Callable[[str], bool],
        fresh: timedelta = FRESH,
        offline: bool = False,
    ) -> None:
        self._searching = searching
        self._engine = engine
        self._is_private = is_private
        self._fetcher = fetcher
        self._pages = pages
        self._cache = cache
        self._fresh = fresh
        self._offline = offline
        self._opening: dict[str, asyncio.Task[Retrieved | Refusal]] = {}
        self._refused: dict[str, Refusal] = {}
        self._seen: set[str] = set()

    async def search(self, query: Query) -> Searched:
        key = hashlib.sha256(_encoder.encode((self._engine, query))).hexdigest()
        if self._offline or key in self._seen or not self._is_private(self._engine):
            kept = await self._cache.get("search", key, max_age=None if self._offline else self._fresh)
            if kept is not None:
                spend(Usage(cache_hits=1))
                return _decoder.decode(kept)
        if self._offline:
            raise SearchError(f"Nothing is kept of the search for {query.text!r}, and offline nothing is searched.")
        found = await self._searching.search(query)
        if found.hits:
            await self._cache.put("search", key, _encoder.encode(found))
            self._seen.add(key)
        return found

    async def open(self, origin: str) -> Retrieved | Refusal:
        """A page wanted by several rows at once is fetched once; a refusal is not asked for again by this process."""
        if refused := self._refused.get(origin):
            return refused
        task = self._opening.get(origin)
        if task is None:
            task = self._opening[origin] = asyncio.create_task(self._open(origin))
            task.add_done_callback(lambda _: self._opening.pop(origin, None))
        page = await asyncio.shield(task)
        if isinstance(page, Refusal):
            self._refused[origin] = page
        else:
            self._seen.add(origin)
        return page

    async def keep(self, snippet: Retrieved) -> Retrieved:
        return await self._pages.keep_snippet(snippet)

    async def close(self) -> None:
        """Stops what is still being opened, for nobody waits for it any more."""
        opening = list(self._opening.values())
        for task in opening:
            task.cancel()
        await asyncio.gather(*opening, return_exceptions=True)

    async def _open(self, origin: str) -> Retrieved | Refusal:
        known = await self._pages.newest(origin)
        if known and (self._offline or self._is_fresh(origin, known)):
            spend(Usage(cache_hits=1))
            return known.page
        if self._offline:
            return Refusal(origin=origin, reason="error", detail="it is not kept, and offline nothing is fetched")
        etag, last_modified = (known.etag, known.last_modified) if known else ("", "")
        fetched = await self._fetcher.fetch(origin, etag=etag, last_modified=last_modified)
        if isinstance(fetched, Refusal):
            return fetched
        if fetched.not_modified and known:
            return await self._unchanged(origin, known)
        return await self._keep(origin, fetched)

    def _is_fresh(self, origin: str, known: StoredPage) -> bool:
        if origin not in self._seen and self._is_private(origin):
            return False
        return not is_older(known.checked_at, self._fresh)

    async def _unchanged(self, origin: str, known: StoredPage) -> Retrieved:
        await self._pages.unchanged(origin, known.page.content_hash)
        return known.page

    async def _keep(self, origin: str, fetched: Fetched) -> Retrieved | Refusal:
        try:
            reading = await asyncio.to_thread(
                read,
                fetched.body,
                content_type=fetched.content_type,
                charset=fetched.charset,
                url=fetched.final_url,
            )
        except Unreadable as problem:
            return Refusal(origin=origin, reason="error", detail=str(problem), status=fetched.status)
        if reason := why_blocked(fetched.status, fetched.headers, _html(fetched), reading.text):
            return Refusal(origin=origin, reason="blocked", detail=reason, status=fetched.status)
        return await self._pages.keep(
            origin, retrieved(fetched, reading), etag=fetched.etag, last_modified=fetched.last_modified
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


def _html(fetched: Fetched) -> str:
    return (
        fetched.body[:200_000].decode(fetched.charset or "utf-8", "replace") if "html" in fetched.content_type else ""
    )
