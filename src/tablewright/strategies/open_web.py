"""Open the web of the settings: its search provider, the fetcher of pages and what is kept of both."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

import httpx2

from tablewright.keys import trusted_certificates
from tablewright.sample.server import SampleWeb
from tablewright.settings import Settings
from tablewright.web.fetch.fetcher import Fetcher, FetchPolicy
from tablewright.web.search.provider import NoSearch, RetryingSearch, SearchProvider, find_search_provider
from tablewright.web.source import CombinedSource
from tablewright.web.web import Web, WebCache

if TYPE_CHECKING:
    from tablewright.llm.budget import Budget
    from tablewright.store.store import Store

__all__ = ["CombinedSource", "open_web"]


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
