"""The web as a source: a search provider and a polite fetcher behind one cache.

| cached | used for |
|---|---|
| a search or a page of the public web, a lasting refusal | a day |
| a search that found nothing, anything from a private address | an hour after the last request of its process |
| a temporary refusal, a search that failed | offline only |

Another server may answer at a private address next time. Its pages are therefore bound to the search that led to them:
they are used as long as that search is, and a new search fetches them again, so that the pages of one server are never
read for another. Offline everything is used, however old.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import httpx2
import msgspec

from tablewright.domain.model import Struct
from tablewright.domain.retrieved import Refusal, Retrieved
from tablewright.domain.run import Usage, record_usage
from tablewright.errors import OverBudget, SearchError
from tablewright.keys import trusted_certificates
from tablewright.observe import count_event
from tablewright.sandbox.sandbox import Sandbox
from tablewright.settings import Settings
from tablewright.store.cache import Cache, Pages, StoredPage, is_older_than
from tablewright.store.records import utc_now
from tablewright.threads import SingleFlight
from tablewright.web.fetch.fetcher import Fetched, Fetcher, FetchPolicy
from tablewright.web.fetch.guard import registrable_domain
from tablewright.web.provenance import current_provenance, explain_private_words
from tablewright.web.read.reader import LIMITS, read_fetched
from tablewright.web.read.reading import Reading
from tablewright.web.search.provider import NoSearch, RetryingSearch, SearchProvider, find_search_provider
from tablewright.web.source import Query, SearchResponse

if TYPE_CHECKING:
    from tablewright.llm.budget import Budget
    from tablewright.store.store import Store


class Web:
    def __init__(self, searching: RetryingSearch, fetcher: Fetcher, kept: WebCache) -> None:
        self.kept = kept
        self._searching = searching
        self._fetcher = fetcher
        self._sandbox = Sandbox(LIMITS)
        self._asking: SingleFlight[SearchResponse] = SingleFlight()
        self._opening: SingleFlight[Retrieved | Refusal] = SingleFlight()
        self._refused: dict[str, Refusal] = {}

    async def search(self, query: Query) -> SearchResponse:
        """Return the hits; rows that need the same search at once share it. A query with private words is not sent."""
        provenance = current_provenance()
        if provenance is not None and provenance.must_look_at_queries:
            words = await asyncio.to_thread(provenance.find_private_words, f"{query.text} {query.site}")
            if words:
                return SearchResponse(hits=(), queries=(), refused=explain_private_words(words))
        key = repr(query)
        found = await (self._asking.join(key) or self._asking.start(key, self._search(query)))
        if provenance is not None:
            for hit in found.hits:
                provenance.note_result(hit.origin, hit.title, hit.snippet)
        return found

    async def open(self, origin: str) -> Retrieved | Refusal:
        """Return the page; rows that need the same page at once share it. This process does not retry a refused one."""
        if made_up := refuse_unknown_address(origin):
            return made_up
        page = await self._open_once(origin)
        note_opened_page(origin, page)
        return page

    async def _open_once(self, origin: str) -> Retrieved | Refusal:
        if refused := self._refused.get(origin):
            return refused
        since = self.kept.search_start_of(origin)
        key = f"{since} {origin}"
        return await (self._opening.join(key) or self._opening.start(key, self._open(origin, since)))

    async def open_again(self, origin: str) -> Retrieved | Refusal:
        """Return the page from its server, however fresh the cached one is; an unchanged page is not sent again."""
        if made_up := refuse_unknown_address(origin):
            return made_up
        if self.kept.offline:
            return Refusal(origin=origin, reason="error", detail="offline nothing is fetched")
        page = await self._fetch(origin, await self.kept.newest_page(origin))
        if not isinstance(page, Refusal):
            self._refused.pop(origin, None)
        note_opened_page(origin, page)
        return page

    async def keep(self, snippet: Retrieved) -> Retrieved:
        return await self.kept.keep_snippet(snippet)

    async def close(self) -> None:
        await self._asking.close()
        await self._opening.close()
        await self._sandbox.close()

    async def _search(self, query: Query) -> SearchResponse:
        kept = await self.kept.search(query, paid=self._searching.price > 0)
        if kept is not None:
            record_usage(Usage(cache_hits=1))
            count_event("cache_hits", kind="search")
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
        known = await self.kept.newest_page(origin)
        usable = await self.kept.find_usable(origin, known, since)
        if usable is not None:
            record_usage(Usage(cache_hits=1))
            count_event("cache_hits", kind="page")
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
            # Another server may answer there, with the same ETag for another page.
            known = None
        etag, last_modified = (known.etag, known.last_modified) if known else ("", "")
        fetched = await self._fetcher.fetch(origin, etag=etag, last_modified=last_modified)
        if isinstance(fetched, Refusal):
            return fetched
        if fetched.not_modified and known:
            return await self.kept.confirm_unchanged(origin, known)
        opened = await read_fetched(fetched, self._sandbox)
        if opened.blocked:
            return Refusal(origin=origin, reason="blocked", detail=opened.blocked, status=fetched.status)
        if opened.reading is None:
            return Refusal(origin=origin, reason="error", detail=opened.unreadable, status=fetched.status)
        return await self.kept.keep_page(
            origin, make_retrieved(fetched, opened.reading), etag=fetched.etag, last_modified=fetched.last_modified
        )


def refuse_unknown_address(origin: str) -> Refusal | None:
    """Return a refusal for an address from no public text: it may carry private words to its server.

    Targets of redirects are free: a site can compose them only from the address that was requested."""
    provenance = current_provenance()
    if provenance is None or provenance.knows_address(origin):
        return None
    detail = "no search result, no public page and nothing that you gave has this address"
    return Refusal(origin=origin, reason="forbidden", detail=detail)


def note_opened_page(origin: str, page: Retrieved | Refusal) -> None:
    provenance = current_provenance()
    if provenance is not None and isinstance(page, Retrieved):
        provenance.note_page(page, origin)


def make_retrieved(fetched: Fetched, reading: Reading) -> Retrieved:
    return Retrieved(
        origin=fetched.final_url,
        text=reading.text,
        title=reading.title,
        domain=registrable_domain(fetched.final_url),
        page_starts=reading.page_starts,
        links=reading.links,
        is_product=reading.is_product,
    )


# ── the cache ────────────────────────────────────────────────────────────────────────────────────────────────────────

# For answers that can change soon. It counts from the last request, so that a run of two hours can be repeated too.
BRIEFLY = timedelta(hours=1)
SEARCH, FAILED_SEARCH, REFUSAL, REQUEST = "search", "failed search", "refusal", "request"


class FailedSearch(Struct, frozen=True):
    what: str
    advice: str = ""


class KeptRefusal(Struct, frozen=True):
    refusal: Refusal
    at: str


class WebCache:
    """Cached searches, pages and refusals.

    `engine` and `policy` are part of the keys: one engine's search does not answer for another, and a page that other
    rules forbade may be fetched."""

    def __init__(
        self,
        pages: Pages,
        cache: Cache,
        *,
        engine: str,
        policy: FetchPolicy,
        # Facts on pages seldom change within a day, and a run can be repeated without a second bill.
        fresh: timedelta = timedelta(hours=24),
        offline: bool = False,
    ) -> None:
        self.fresh = fresh
        self.offline = offline
        self._pages = pages
        self._cache = cache
        self._engine = engine
        self._policy = policy
        self._began = utc_now()
        self._noted = -math.inf
        self._leads: dict[str, str] = {}
        """For each private address the start of the process that made the newest search that led there."""

    def is_private(self, address: str) -> bool:
        return self._policy.is_private(address)

    def _kept_as(self, origin: str) -> str:
        """Return the key of a page: the pages of the sample web depend on the installed version."""
        return f"{self._policy.world}: {origin}" if self._policy.serves(origin) else origin

    # ── searches ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def search(self, query: Query, *, paid: bool = False) -> SearchResponse | None:
        """Return the cached response of a search. A `paid` one is cached for a day, even if it is empty."""
        kept = await self._cache.get(SEARCH, self._key_of(query))
        if kept is None:
            return None
        found = msgspec.json.decode(kept, type=SearchResponse)
        briefly = not paid and (not found.hits or self.is_private(self._engine))
        usable = self.offline or await self._is_fresh(found.at, found.since, briefly=briefly)
        return self._remember_leads(found) if usable else None

    async def failed_search(self, query: Query) -> SearchError | None:
        kept = await self._cache.get(FAILED_SEARCH, self._key_of(query))
        if kept is None:
            return None
        failed = msgspec.json.decode(kept, type=FailedSearch)
        return SearchError(failed.what, advice=failed.advice)

    async def keep_search(self, query: Query, found: SearchResponse) -> SearchResponse:
        found = msgspec.structs.replace(found, at=utc_now(), since=self._began)
        await self._note_request()
        await self._cache.put(SEARCH, self._key_of(query), msgspec.json.encode(found))
        return self._remember_leads(found)

    async def keep_failed_search(self, query: Query, error: SearchError) -> None:
        failed = FailedSearch(what=error.what, advice=error.advice)
        await self._cache.put(FAILED_SEARCH, self._key_of(query), msgspec.json.encode(failed))

    def _remember_leads(self, found: SearchResponse) -> SearchResponse:
        """Return the response with the time of the search in each hit, and remember where it leads."""
        for hit in found.hits:
            if self.is_private(hit.origin):
                self._leads[hit.origin] = max(found.since, self._leads.get(hit.origin, ""))
        hits = tuple(msgspec.structs.replace(hit, retrieved_at=found.at) for hit in found.hits)
        return msgspec.structs.replace(found, hits=hits)

    def _key_of(self, query: Query) -> str:
        return hashlib.sha256(msgspec.json.encode((self._engine, query))).hexdigest()

    # ── pages ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def search_start_of(self, origin: str) -> str:
        """Return the start of the process whose search led there: older pages are not from that search."""
        return self._leads.get(origin, self._began)

    async def newest_page(self, origin: str) -> StoredPage | None:
        """Return the newest version of the page, even if it is too old to be used."""
        return await self._pages.newest(self._kept_as(origin))

    async def find_usable(self, origin: str, known: StoredPage | None, since: str) -> Retrieved | Refusal | None:
        """Return the page, or a newer lasting refusal; None if it must be fetched.

        `since` belongs to the search that led there."""
        kept = await self._cache.get(REFUSAL, self._refusal_key(origin))
        refused = msgspec.json.decode(kept, type=KeptRefusal) if kept else None
        if refused and (known is None or (is_lasting_refusal(refused.refusal) and refused.at > known.checked_at)):
            if self.offline or (
                is_lasting_refusal(refused.refusal) and await self._is_page_fresh(origin, refused.at, since)
            ):
                return refused.refusal
            return None
        if known and (self.offline or await self._is_page_fresh(origin, known.checked_at, since)):
            return known.page
        return None

    async def keep_page(self, origin: str, page: Retrieved, *, etag: str, last_modified: str) -> Retrieved:
        await self._note_request()
        return await self._pages.keep(self._kept_as(origin), page, etag=etag, last_modified=last_modified)

    async def confirm_unchanged(self, origin: str, known: StoredPage) -> Retrieved:
        await self._note_request()
        await self._pages.unchanged(self._kept_as(origin), known.page.content_hash)
        return known.page

    async def keep_refusal(self, refusal: Refusal) -> None:
        await self._note_request()
        kept = msgspec.json.encode(KeptRefusal(refusal=refusal, at=utc_now()))
        await self._cache.put(REFUSAL, self._refusal_key(refusal.origin), kept)

    async def keep_snippet(self, snippet: Retrieved) -> Retrieved:
        return await self._pages.keep_snippet(snippet)

    def _refusal_key(self, origin: str) -> str:
        return hashlib.sha256(msgspec.json.encode((self._kept_as(origin), self._policy.rules))).hexdigest()

    # ── how long ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _is_page_fresh(self, origin: str, at: str, since: str) -> bool:
        if self.is_private(origin):
            return at >= since and await self._is_fresh(at, since, briefly=True)
        return not is_older_than(at, self.fresh)

    async def _is_fresh(self, at: str, since: str, *, briefly: bool) -> bool:
        """Return True if it may be used; `since` is the start of its process, whose own results are fresh for a day."""
        if not at or is_older_than(at, self.fresh):
            return False
        if not briefly or since == self._began:
            return True
        return await self._cache.get(REQUEST, since, max_age=BRIEFLY) is not None

    async def _note_request(self) -> None:
        # Once a minute, because each note is a write to the store.
        if time.monotonic() - self._noted >= 60.0:
            self._noted = time.monotonic()
            await self._cache.put(REQUEST, self._began, b"")


def is_lasting_refusal(refusal: Refusal) -> bool:
    """Return True if a second request would also be refused: the page is missing, forbidden or not readable.

    A server that is overloaded, slow or unreachable may answer soon."""
    if refusal.reason == "forbidden":
        return True
    status = refusal.status or 0
    # Timeout, too early, too many requests.
    if status in (408, 425, 429) or 500 <= status < 600:
        return False
    return refusal.reason == "blocked" or 200 <= status < 300 or 400 <= status < 500


@asynccontextmanager
async def open_web(
    settings: Settings,
    store: Store,
    budget: Budget | None = None,
    *,
    searches: bool = True,
    given: SearchProvider | None = None,
) -> AsyncIterator[Web]:
    """Open the web. With the setting `search = sample` it is the small fictional web, served from this process over
    real HTTP. `given` is a search provider that replaces the one of the settings."""
    async with AsyncExitStack() as stack:
        search, engine, names = settings.search, settings.search, {}
        if search == "sample" and given is None:
            # Loaded only where it is searched.
            from tablewright.sample.server import SampleWeb

            sample = await stack.enter_async_context(SampleWeb())
            search, engine, names = f"searxng:{sample.search_url}", f"sample {sample.edition}", sample.names
        client = await stack.enter_async_context(httpx2.AsyncClient(verify=trusted_certificates()))
        key = settings.search_api_key
        provider = given or (find_search_provider(search, api_key=key, client=client) if searches else NoSearch())
        policy = fetch_policy(settings, names, world=engine)
        fetcher = await stack.enter_async_context(Fetcher(policy, slots=store.shared_limits))
        kept = WebCache(
            store.pages,
            store.cache,
            # Results in another language are other results, so they are cached apart.
            engine=" ".join(filter(None, (engine, settings.search_language))),
            policy=policy,
            offline=settings.offline,
        )
        searching = RetryingSearch(
            provider,
            price=settings.search_price,
            budget=budget,
            per_second=settings.search_requests_per_second or 0.0,
            slots=store.shared_limits,
            language=settings.search_language,
        )
        web = Web(searching, fetcher, kept)
        stack.push_async_callback(web.close)
        yield web


def fetch_policy(settings: Settings, names: Mapping[str, str], *, world: str) -> FetchPolicy:
    return FetchPolicy(
        allow=frozenset(host.lower() for host in settings.fetch_allow),
        delay=settings.fetch_delay,
        robots=settings.fetch_robots,
        names=names,
        world=world,
    )
