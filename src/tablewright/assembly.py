"""From settings to the tools that strategies work with: the web, the model. Nothing is built before it is needed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from urllib.parse import urlsplit

import httpx2

from tablewright.errors import BadSetting
from tablewright.models.budget import Budget
from tablewright.models.build import build
from tablewright.models.model import LanguageModel
from tablewright.sample.server import SampleWeb
from tablewright.settings import Settings
from tablewright.sources.fetch.fetcher import Fetcher, FetchPolicy
from tablewright.sources.search.provider import find_provider
from tablewright.sources.search.searching import Searching
from tablewright.sources.web import Web
from tablewright.store.store import Store
from tablewright.strategies.tools import Need, Tools

SAMPLE = "sample"
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Toolbox:
    """The tools of one app: each is opened when it is first needed, and closed with the app."""

    def __init__(self, settings: Settings, store: Store, stack: AsyncExitStack) -> None:
        self._settings = settings
        self._store = store
        self._stack = stack
        self._web: Web | None = None
        self._model: LanguageModel | None = None
        usd = number(settings.budget, "budget")
        self._budget = Budget(usd=usd) if usd is not None else None
        self._cascade = yes_or_no(settings.cascade, "cascade")

    async def open(self, needs: Collection[Need]) -> Tools:
        if "web" in needs and self._web is None:
            self._web = await self._stack.enter_async_context(open_web(self._settings, self._store))
        if "model" in needs and self._model is None:
            offline = yes_or_no(self._settings.offline, "offline")
            model = build(self._settings, self._store.cache, self._budget, replay_only=offline)
            self._model = await self._stack.enter_async_context(model) if model is not None else None
        return Tools(
            web=self._web if "web" in needs else None,
            model=self._model if "model" in needs else None,
            cascade=self._cascade,
        )

    @property
    def unpriced(self) -> Sequence[str]:
        """Models that were asked under a cap on dollars although their price is not known."""
        return sorted(self._budget.unpriced) if self._budget else []


@asynccontextmanager
async def open_web(settings: Settings, store: Store) -> AsyncIterator[Web]:
    """With the setting `search = sample` it is the small fictional web, served from this process over real HTTP."""
    async with AsyncExitStack() as stack:
        search, names = settings.search, {}
        if search == SAMPLE:
            sample = await stack.enter_async_context(SampleWeb())
            search, names = f"searxng:{sample.search_url}", sample.names
        client = await stack.enter_async_context(httpx2.AsyncClient())
        provider = find_provider(search, api_key=settings.search_api_key, client=client)
        policy = fetch_policy(settings, names)
        fetcher = await stack.enter_async_context(Fetcher(policy))
        web = Web(
            Searching(provider),
            fetcher,
            store.pages,
            store.cache,
            engine=settings.search,
            is_private=lambda address: is_private(address, policy),
            offline=yes_or_no(settings.offline, "offline"),
        )
        stack.push_async_callback(web.close)
        yield web


def fetch_policy(settings: Settings, names: Mapping[str, str]) -> FetchPolicy:
    delay = number(settings.fetch_delay, "fetch_delay")
    return FetchPolicy(
        allow=frozenset(host.strip().lower() for host in settings.fetch_allow.split(",") if host.strip()),
        delay=0.5 if delay is None else delay,
        robots=yes_or_no(settings.fetch_robots, "fetch_robots"),
        names=names,
    )


def is_private(address: str, policy: FetchPolicy) -> bool:
    """Whether an address, or a search setting with an address in it, is on this machine or allowed by name."""
    if address == SAMPLE:
        return True
    name, _, argument = address.partition(":")
    parts = urlsplit(address if name in ("http", "https") else argument)
    host = parts.hostname or ""
    if host in LOOPBACK or host in policy.allow or parts.netloc.lower() in policy.allow:
        return True
    return any(host == suffix or host.endswith(f".{suffix}") for suffix in policy.names)


def number(text: str, setting: str) -> float | None:
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise BadSetting(f"{setting} must be a number, not {text!r}.")
    return value


def yes_or_no(text: str, setting: str) -> bool:
    word = text.strip().lower()
    if word not in ("yes", "no", "true", "false", "1", "0"):
        raise BadSetting(f"{setting} must be yes or no, not {text!r}.")
    return word in ("yes", "true", "1")
