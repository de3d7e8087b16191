"""Search providers, and searching that does not give up at once: it waits where a provider asks for it, and asks more
broadly once.

Built-ins, other packages and plugin files enter by the same door, the group `tablewright.search`: a class that is made
as `cls(argument, api_key, client)`, or a function of the words. In "searxng:http://localhost:8888" the entry is
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

from tablewright.domain.run import Usage, spend
from tablewright.errors import BadSetting, OverBudget, SearchError, TablewrightError
from tablewright.keys import KEYLESS, OWN_ADDRESSES, Key, address_in, as_key
from tablewright.models.pace import OwnSlots, Pace, Slots
from tablewright.observe import availability, count, span
from tablewright.plugins import Plugin, is_plain_function, names, plugins, suggestion
from tablewright.sources.search.http import broader, shown_query
from tablewright.sources.source import Hit, Query, Searched
from tablewright.threads import run_foreign

if TYPE_CHECKING:
    from tablewright.models.budget import Budget

GROUP = "tablewright.search"

SearchFunction: TypeAlias = "Callable[[str], Iterable[Hit] | Awaitable[Iterable[Hit]]]"


@runtime_checkable
class SearchProvider(Protocol):
    name: str

    async def search(self, query: Query) -> Sequence[Hit]:
        """One request. Raises SearchError, which says whether trying again may help; nothing found is empty."""
        ...


class FunctionSearch:
    """A plain function as a provider: it takes the words, and returns hits; it may be `async`."""

    def __init__(self, function: SearchFunction) -> None:
        self._function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    async def search(self, query: Query) -> Sequence[Hit]:
        try:
            if inspect.iscoroutinefunction(self._function):
                found: Any = await self._function(query.text)
            else:
                found = await run_foreign(self._function, query.text)
                found = await found if inspect.isawaitable(found) else found
        except TablewrightError:
            raise
        except Exception as error:  # somebody else's code; whatever it raises, a search has failed
            raise SearchError(f"{self.name} failed: {type(error).__name__}: {error}") from error
        hits = list(found or ())
        wrong = next((each for each in hits if not isinstance(each, Hit)), None)
        if wrong is not None:
            raise SearchError(f"{self.name} returned a {type(wrong).__name__} where a Hit is needed.")
        return hits


def as_provider(given: SearchProvider | SearchFunction) -> SearchProvider:
    if isinstance(given, type) or not isinstance(given, SearchProvider | Callable):
        raise BadSetting(
            f"{given!r} does not search.", advice="Give a name, an object of a SearchProvider, or a function."
        )
    return given if isinstance(given, SearchProvider) else FunctionSearch(given)


class NoSearch:
    """For those who only open pages: they need no provider, nor a key for one."""

    name = "none"

    async def search(self, query: Query) -> Sequence[Hit]:
        raise SearchError("Nothing is searched here.")


def find_provider(setting: str, *, api_key: str, client: httpx2.AsyncClient) -> SearchProvider:
    """Raises BadSetting where the name is unknown, or the key or the address is missing."""
    name, _, argument = setting.strip().partition(":")
    found = plugins(GROUP, name.strip().lower())
    if not found:
        raise BadSetting(
            f"There is no search provider {name!r}.",
            advice=suggestion(name, ["sample", *names(GROUP)]),
        )
    added = _load(found[0])
    if is_plain_function(added):
        return FunctionSearch(added)
    made: SearchProvider = added(argument.strip(), key_for(name.strip().lower(), setting, api_key), client)
    return made


def key_for(provider: str, setting: str, api_key: str) -> Key:
    """Return the key for a provider; a provider of another package is not handed one for another provider or
    address. Ours see to it where they send it."""
    if provider in KEYLESS:
        return Key()
    key = as_key(api_key, "search_api_key", {"search": setting})
    if provider not in OWN_ADDRESSES["search_api_key"]:
        key.check_provider(provider)
        if address := address_in("search_api_key", {"search": setting}):
            key.check(address)
    return key


def _load(entry: Plugin) -> Any:
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        raise BadSetting(
            f"The search provider {entry.name!r} cannot be loaded: {error}.",
            advice="Install what it needs, or set TABLEWRIGHT_SEARCH to another provider.",
        ) from error


# ── searching ────────────────────────────────────────────────────────────────────────────────────────────────────────

WAITS = (1.0, 2.5)
"""Seconds before the first and the second retry, where the provider does not say."""
LONGEST_WAIT = 20.0
PATIENCE = 10.0
"""Seconds after which a search that failed is not tried again: an engine that takes so long to fail will not get
better by waiting. For as long as it took, at most the longest wait, whoever else searches is told the same at once."""


class Searching:
    """Wraps a provider. May be shared by all rows of a run. `price` is what an answered request costs, in dollars.

    At most `per_second` requests are sent (0: no limit), by all processes together that share `slots`."""

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
        self._pace = Pace(slots or OwnSlots(), f"search {provider.name}", per_second) if per_second else None
        self._sleep = sleep
        self._available = availability("search", provider.name)
        self._clock = clock
        self._answered_at = self._rests_until = -math.inf
        self._hangs = SearchError("")
        """What to say while it rests."""
        self._is_down = False
        """Whether the last search failed after all tries: until one works again, each is tried once."""

    async def search(self, query: Query) -> Searched:
        """Raises the provider's SearchError when retries do not help, and OverBudget where a cap forbids to pay for it;
        nothing found, even broadly, has no hits."""
        hits = await self._ask(query)
        wider = None if hits else broader(query)
        if wider is None:
            return Searched(hits=tuple(hits), queries=(shown_query(query),))
        return Searched(hits=tuple(await self._ask(wider)), queries=(shown_query(query), shown_query(wider)))

    async def _ask(self, query: Query) -> Sequence[Hit]:
        started = self._clock()
        if started < self._rests_until:
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
                gives_up = error.retry_after is None and (self._is_down or took > PATIENCE)
                if usual is None or wait is None or wait > LONGEST_WAIT or gives_up or not error.retryable:
                    self._is_down = error.retryable
                    if not isinstance(error, OverBudget):
                        self._available.failed(error.what)
                    if error.retryable and took > PATIENCE and self._answered_at < started:
                        self._rests_until, self._hangs = self._clock() + min(LONGEST_WAIT, took), error
                    raise
            # Rows that were refused together do not come back together.
            await self._sleep(wait * random.uniform(1.0, 1.5))
        raise AssertionError("unreachable: the last try returns or raises")

    async def _request(self, query: Query) -> Sequence[Hit]:
        """As with models, a request that failed counts as free."""
        paid = self._budget.buying(self.price) if self._budget and self.price else nullcontext()
        async with paid:
            if self._pace is not None:
                await self._pace.turn()
            spend(Usage(searches=1))
            count("searches", provider=self.provider.name)
            with span("search", provider=self.provider.name):
                found = await self.provider.search(structs.replace(query, language=self._language))
        spend(Usage(cost_usd=self.price))
        count("dollars", self.price, provider=self.provider.name)
        return found
