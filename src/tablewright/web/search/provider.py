"""The interface of search providers, and searching with retries: wait if a provider asks for it, and broaden once.

Built-ins, other packages and plugin files use the same group, `tablewright.search`: a class that is created as
`cls(argument, api_key, client)`, or a function of the query text. In "searxng:http://localhost:8888" the entry is
`searxng`.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

import httpx2
from msgspec import structs

from tablewright.domain.run import Usage, record_usage
from tablewright.errors import BadSetting, OverBudget, SearchError, TablewrightError
from tablewright.keys import KEYLESS_PROVIDERS, PROVIDER_ADDRESSES, Key, bind_key, find_key_address
from tablewright.llm.pace import LocalSlots, Pace, Slots
from tablewright.observe import availability_of, count_event, trace_span
from tablewright.plugins import Plugin, find_plugins, is_plain_function, plugin_names, suggest_plugin
from tablewright.threads import run_in_foreign_thread
from tablewright.web.search.http import broaden_query, query_for_trace
from tablewright.web.source import Hit, Query, SearchResponse

if TYPE_CHECKING:
    from tablewright.llm.budget import Budget

SearchFunction: TypeAlias = "Callable[[str], Iterable[Hit] | Awaitable[Iterable[Hit]]]"


@runtime_checkable
class SearchProvider(Protocol):
    name: str

    async def search(self, query: Query) -> Sequence[Hit]:
        """Send one request and return its hits. Raise `SearchError`, `retryable` if trying again may help."""
        ...


class FunctionSearch:
    """A plain function as a provider: it takes the query text and returns hits; it may be `async`."""

    def __init__(self, function: SearchFunction) -> None:
        self._function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    async def search(self, query: Query) -> Sequence[Hit]:
        try:
            if inspect.iscoroutinefunction(self._function):
                found: Any = await self._function(query.text)
            else:
                found = await run_in_foreign_thread(self._function, query.text)
                found = await found if inspect.isawaitable(found) else found
        except TablewrightError:
            raise
        except Exception as error:
            # Another author's code may raise anything; the search has failed.
            raise SearchError(f"{self.name} failed: {type(error).__name__}: {error}") from error
        hits = list(found or ())
        wrong = next((each for each in hits if not isinstance(each, Hit)), None)
        if wrong is not None:
            raise SearchError(f"{self.name} returned a {type(wrong).__name__} where a Hit is needed.")
        return hits


def make_search_provider(given: SearchProvider | SearchFunction) -> SearchProvider:
    if isinstance(given, type) or not isinstance(given, SearchProvider | Callable):
        raise BadSetting(
            f"{given!r} does not search.", advice="Give a name, an object of a SearchProvider, or a function."
        )
    return given if isinstance(given, SearchProvider) else FunctionSearch(given)


class NoSearch:
    """The provider of a run that only opens pages: it needs neither a setting nor a key."""

    name = "none"

    async def search(self, query: Query) -> Sequence[Hit]:
        raise SearchError("Nothing is searched here.")


def find_search_provider(setting: str, *, api_key: str, client: httpx2.AsyncClient) -> SearchProvider:
    """Return the provider of a setting. Raise `BadSetting` if it is unknown, or its key or address is missing."""
    name, _, argument = setting.strip().partition(":")
    found = find_plugins("tablewright.search", name.strip().lower())
    if not found:
        raise BadSetting(
            f"There is no search provider {name!r}.",
            advice=suggest_plugin(name, ["sample", *plugin_names("tablewright.search")]),
        )
    added = _load_provider(found[0])
    if is_plain_function(added, 1):
        return FunctionSearch(added)
    made: SearchProvider = added(argument.strip(), find_search_key(name.strip().lower(), setting, api_key), client)
    return made


def find_search_key(provider: str, setting: str, api_key: str) -> Key:
    """Return the key for a provider.

    A provider of another package gets no key for another provider or address; ours check this when they send it."""
    if provider in KEYLESS_PROVIDERS:
        return Key()
    key = bind_key(api_key, "search_api_key", {"search": setting})
    if provider not in PROVIDER_ADDRESSES["search_api_key"]:
        key.check_provider(provider)
        if address := find_key_address("search_api_key", {"search": setting}):
            key.check(address)
    return key


def _load_provider(entry: Plugin) -> Any:
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        raise BadSetting(
            f"The search provider {entry.name!r} cannot be loaded: {error}.",
            advice="Install what it needs, or set TABLEWRIGHT_SEARCH to another provider.",
        ) from error


# ── searching ────────────────────────────────────────────────────────────────────────────────────────────────────────

# Seconds before the first and the second retry if the provider gives none.
WAITS = (1.0, 2.5)
# A provider that asks for a longer pause is given up for this search.
LONGEST_WAIT_SECONDS = 20.0
# A search that took longer to fail is not repeated: waiting does not help such an engine. For as long as it took, up to
# the longest wait, all other searches fail at once with the same message.
PATIENCE_SECONDS = 10.0


class RetryingSearch:
    """A provider with retries, shared by all rows of a run. `price` is the cost of an answered request in dollars.

    All processes that share `slots` together send at most `per_second` requests (0: no limit)."""

    def __init__(
        self,
        provider: SearchProvider,
        *,
        price: float = 0.0,
        budget: Budget | None = None,
        per_second: float = 0.0,
        slots: Slots | None = None,
        language: str = "",
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.provider = provider
        self.price = price
        self._budget = budget
        self._language = language
        self._pace = Pace(slots or LocalSlots(), f"search {provider.name}", per_second) if per_second else None
        self._sleep = sleep
        self._available = availability_of("search", provider.name)
        self._clock = clock
        self._answered_at = self._rests_until = -math.inf
        self._hangs: SearchError | None = None
        """The error for searches during the rest."""
        self._is_down = False
        """The last search failed after all retries: until one succeeds, each is tried only once."""

    async def search(self, query: Query) -> SearchResponse:
        """Return the hits, of a broader query if there are none.

        Raise the provider's `SearchError` if retries do not help, and `OverBudget` if it is too expensive."""
        hits = await self._ask(query)
        wider = None if hits else broaden_query(query)
        if wider is None:
            return SearchResponse(hits=tuple(hits), queries=(query_for_trace(query),))
        return SearchResponse(
            hits=tuple(await self._ask(wider)), queries=(query_for_trace(query), query_for_trace(wider))
        )

    async def _ask(self, query: Query) -> Sequence[Hit]:
        started = self._clock()
        if self._hangs and started < self._rests_until:
            raise SearchError(self._hangs.what, advice=self._hangs.advice, retryable=True)
        for usual in (*WAITS, None):
            try:
                hits = await self._request(query)
                self._is_down, self._answered_at = False, self._clock()
                self._available.answered()
                return hits
            except SearchError as error:
                wait = usual if error.retry_after is None else error.retry_after
                took = self._clock() - started
                gives_up = error.retry_after is None and (self._is_down or took > PATIENCE_SECONDS)
                if usual is None or wait is None or wait > LONGEST_WAIT_SECONDS or gives_up or not error.retryable:
                    self._is_down = error.retryable
                    if not isinstance(error, OverBudget):
                        self._available.failed(error.what)
                    if error.retryable and took > PATIENCE_SECONDS and self._answered_at < started:
                        self._rests_until, self._hangs = self._clock() + min(LONGEST_WAIT_SECONDS, took), error
                    raise
            # Random, so that rows that were refused together do not retry together.
            await self._sleep(wait * random.uniform(1.0, 1.5))
        raise AssertionError("unreachable: the last try returns or raises")

    async def _request(self, query: Query) -> Sequence[Hit]:
        """Send one request and count its cost; a failed request is free, as with models."""
        paid = self._budget.purchase(self.price) if self._budget and self.price else nullcontext()
        async with paid:
            if self._pace is not None:
                await self._pace.wait_turn()
            record_usage(Usage(searches=1))
            count_event("searches", provider=self.provider.name)
            with trace_span("search", provider=self.provider.name):
                found = await self.provider.search(structs.replace(query, language=self._language))
        record_usage(Usage(cost_usd=self.price))
        count_event("dollars", self.price, provider=self.provider.name)
        return found
