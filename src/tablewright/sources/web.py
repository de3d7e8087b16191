"""The web: a search and a polite fetcher behind one cache of what was bought before.

| what | how long it is used |
|---|---|
| a search or a page of the public web, a refusal that lasts | a day |
| a search that found nothing, anything from a private address | an hour after the last request of the buyer |
| a refusal that may pass, a search that failed | only offline |

Behind a private address another server may answer next time. Its pages are therefore bound to the search that led to
them: they are used as long as that search is, and a new search asks for its pages again, so that the pages of one
server are never read for another. Offline everything is used, however old.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any, Generic, TypeVar

import msgspec

from tablewright.domain.model import Noun
from tablewright.domain.retrieved import Refusal, Retrieved
from tablewright.domain.run import Usage, spend
from tablewright.errors import OverBudget, SearchError
from tablewright.observe import count
from tablewright.sandbox.sandbox import Sandbox
from tablewright.sources.fetch.fetcher import Fetched, Fetcher, FetchPolicy
from tablewright.sources.fetch.guard import registrable_domain
from tablewright.sources.provenance import current_provenance, refusal_of
from tablewright.sources.read.reader import LIMITS, open_fetched
from tablewright.sources.read.reading import Reading
from tablewright.sources.search.provider import Searching
from tablewright.sources.source import Query, Searched
from tablewright.store.cache import Cache, Pages, StoredPage, is_older
from tablewright.store.records import now


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


# ── the cache ────────────────────────────────────────────────────────────────────────────────────────────────────────

FRESH = timedelta(hours=24)
BRIEFLY = timedelta(hours=1)
"""For what can soon be otherwise. It counts from the last request, so that a run of two hours can be repeated too."""
NOTED_EVERY = 60.0
"""Seconds between two notes that this process still asks for things."""
PASSING = frozenset({408, 425, 429})

SEARCH, FAILED_SEARCH, REFUSAL, REQUEST = "search", "failed search", "refusal", "request"


class FailedSearch(Noun, frozen=True):
    what: str
    advice: str = ""


class KeptRefusal(Noun, frozen=True):
    refusal: Refusal
    at: str


class WebCache:
    """`engine` says which search it is, and `policy` what we allow ourselves: a search of one is no answer of another,
    and what other rules forbade may be asked."""

    def __init__(
        self,
        pages: Pages,
        cache: Cache,
        *,
        engine: str,
        policy: FetchPolicy,
        fresh: timedelta = FRESH,
        offline: bool = False,
    ) -> None:
        self.fresh = fresh
        self.offline = offline
        self._pages = pages
        self._cache = cache
        self._engine = engine
        self._policy = policy
        self._began = now()
        self._noted = -NOTED_EVERY
        self._leads: dict[str, str] = {}
        """When the process began that made the newest search that led to a private address."""

    def is_private(self, address: str) -> bool:
        return self._policy.is_private(address)

    def _kept_as(self, origin: str) -> str:
        """Return the name that a page is kept under: what the sample web says depends on the installed version."""
        return f"{self._policy.world}: {origin}" if self._policy.serves(origin) else origin

    # ── searches ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def search(self, query: Query, *, paid: bool = False) -> Searched | None:
        """Return the kept answer of a search. One that was `paid` for is kept for the day, even if it is empty."""
        kept = await self._cache.get(SEARCH, self._key_of(query))
        if kept is None:
            return None
        found = msgspec.json.decode(kept, type=Searched)
        briefly = not paid and (not found.hits or self.is_private(self._engine))
        usable = self.offline or await self._is_fresh(found.at, found.since, briefly=briefly)
        return self._leading(found) if usable else None

    async def failed_search(self, query: Query) -> SearchError | None:
        kept = await self._cache.get(FAILED_SEARCH, self._key_of(query))
        if kept is None:
            return None
        failed = msgspec.json.decode(kept, type=FailedSearch)
        return SearchError(failed.what, advice=failed.advice)

    async def keep_search(self, query: Query, found: Searched) -> Searched:
        found = msgspec.structs.replace(found, at=now(), since=self._began)
        await self._note_request()
        await self._cache.put(SEARCH, self._key_of(query), msgspec.json.encode(found))
        return self._leading(found)

    async def keep_failed_search(self, query: Query, error: SearchError) -> None:
        failed = FailedSearch(what=error.what, advice=error.advice)
        await self._cache.put(FAILED_SEARCH, self._key_of(query), msgspec.json.encode(failed))

    def _leading(self, found: Searched) -> Searched:
        """Remembers where it leads; each result has the time of its search, whenever it is looked at."""
        for hit in found.hits:
            if self.is_private(hit.origin):
                self._leads[hit.origin] = max(found.since, self._leads.get(hit.origin, ""))
        hits = tuple(msgspec.structs.replace(hit, retrieved_at=found.at) for hit in found.hits)
        return msgspec.structs.replace(found, hits=hits)

    def _key_of(self, query: Query) -> str:
        return hashlib.sha256(msgspec.json.encode((self._engine, query))).hexdigest()

    # ── pages ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def led_to(self, origin: str) -> str:
        """When the process began that made the newest search that leads there: what is older is not of that search."""
        return self._leads.get(origin, self._began)

    async def page(self, origin: str) -> StoredPage | None:
        """The newest version of the page, whether it may still be used or must be asked for again."""
        return await self._pages.newest(self._kept_as(origin))

    async def usable(self, origin: str, known: StoredPage | None, since: str) -> Retrieved | Refusal | None:
        """The page, or its refusal where that lasts and is newer; None where it must be asked for. `since` is of the
        search that led there."""
        kept = await self._cache.get(REFUSAL, self._refusal_key(origin))
        refused = msgspec.json.decode(kept, type=KeptRefusal) if kept else None
        if refused and (known is None or (is_lasting(refused.refusal) and refused.at > known.checked_at)):
            if self.offline or (is_lasting(refused.refusal) and await self._is_page_fresh(origin, refused.at, since)):
                return refused.refusal
            return None
        if known and (self.offline or await self._is_page_fresh(origin, known.checked_at, since)):
            return known.page
        return None

    async def keep_page(self, origin: str, page: Retrieved, *, etag: str, last_modified: str) -> Retrieved:
        await self._note_request()
        return await self._pages.keep(self._kept_as(origin), page, etag=etag, last_modified=last_modified)

    async def unchanged(self, origin: str, known: StoredPage) -> Retrieved:
        await self._note_request()
        await self._pages.unchanged(self._kept_as(origin), known.page.content_hash)
        return known.page

    async def keep_refusal(self, refusal: Refusal) -> None:
        await self._note_request()
        kept = msgspec.json.encode(KeptRefusal(refusal=refusal, at=now()))
        await self._cache.put(REFUSAL, self._refusal_key(refusal.origin), kept)

    async def keep_snippet(self, snippet: Retrieved) -> Retrieved:
        return await self._pages.keep_snippet(snippet)

    def _refusal_key(self, origin: str) -> str:
        return hashlib.sha256(msgspec.json.encode((self._kept_as(origin), self._policy.rules))).hexdigest()

    # ── how long ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _is_page_fresh(self, origin: str, at: str, since: str) -> bool:
        if self.is_private(origin):
            return at >= since and await self._is_fresh(at, since, briefly=True)
        return not is_older(at, self.fresh)

    async def _is_fresh(self, at: str, since: str, *, briefly: bool) -> bool:
        """`since` is when the process began that bought it; what this process bought itself is fresh for the day."""
        if not at or is_older(at, self.fresh):
            return False
        if not briefly or since == self._began:
            return True
        return await self._cache.get(REQUEST, since, max_age=BRIEFLY) is not None

    async def _note_request(self) -> None:
        if time.monotonic() - self._noted >= NOTED_EVERY:
            self._noted = time.monotonic()
            await self._cache.put(REQUEST, self._began, b"")


def is_lasting(refusal: Refusal) -> bool:
    """Return True if it would be the same soon after: the page is not there, not for us, or not readable. What is
    overloaded, slow or cannot be reached may be better soon."""
    if refusal.reason == "forbidden":
        return True
    status = refusal.status or 0
    if status in PASSING or 500 <= status < 600:
        return False
    return refusal.reason == "blocked" or 200 <= status < 300 or 400 <= status < 500


T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Those who want the same thing at once get it together: it is asked for once."""

    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Task[T]] = {}

    async def get(self, name: str, ask: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """One who goes away in the meantime does not stop it for the others."""
        task = self._waiting.get(name)
        if task is None:
            task = self._waiting[name] = asyncio.create_task(ask())
            task.add_done_callback(lambda done: self._forget(name, done))
        return await asyncio.shield(task)

    def _forget(self, name: str, done: asyncio.Task[T]) -> None:
        del self._waiting[name]
        if not done.cancelled():
            done.exception()  # seen, also where nobody waits for it any more

    async def close(self) -> None:
        """Stops what is still under way, for nobody waits for it any more."""
        waiting = list(self._waiting.values())
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
