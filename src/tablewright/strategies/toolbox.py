"""Build the tools of strategies from the settings: the web, documents and models. Nothing is built before it is
needed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tablewright.domain.run import Usage
from tablewright.extras import require_extra
from tablewright.llm.budget import Budget, spend_of_usage
from tablewright.llm.spec import BUILTIN
from tablewright.settings import Settings
from tablewright.store.store import Store
from tablewright.strategies.strategy import Need, Tools
from tablewright.web.breaker import CircuitBreaker

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from tablewright.documents.corpus import Corpus
    from tablewright.documents.parse.parser import Parser
    from tablewright.llm.embedder import Embedder
    from tablewright.llm.model import LanguageModel
    from tablewright.llm.rate_limit import RateLimits
    from tablewright.strategies.row_answers import SearchPlans
    from tablewright.web.search.provider import SearchProvider
    from tablewright.web.source import Source
    from tablewright.web.web import Web

# What takes long to import is imported when it is opened: models, the web, documents. No run needs all of them.


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """Objects that a program provides instead of what the settings name."""

    search: SearchProvider | None = None
    model: Model | None = None
    parsers: Mapping[str, Parser] = field(default_factory=dict)
    """By the file endings that they read."""


NO_OVERRIDES = Overrides()


class Toolbox:
    """The tools of one process: each is opened when it is first needed, and closed with `stack`."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        stack: AsyncExitStack,
        on_missing_model: Callable[[], None] | None = None,
        given: Overrides = NO_OVERRIDES,
    ) -> None:
        """`on_missing_model` is called once, when a model is needed and none is configured."""
        self._settings = settings
        self._on_missing_model = on_missing_model
        self._store = store
        self._stack = stack
        self._given = given
        self.parsers = given.parsers
        self._web: Web | None = None
        self._pages: Web | None = None
        self._embedder: Embedder | None = None
        self._model: LanguageModel | None = None
        self._strong: LanguageModel | None = None
        self.budget = build_budget(settings)
        self._strict = settings.evidence == "strict"
        self._cascade = settings.cascade
        self._limits: RateLimits | None = None
        self._plans: SearchPlans | None = None
        # Runs have breakers of their own, which may pause them.
        self.breaker = CircuitBreaker(limit=sys.maxsize)
        """Only records services that do not answer; its limit is never reached."""

    async def open(self, needs: Collection[Need], seen: Store | None = None) -> Tools:
        """Return the tools needed, with the documents of `seen`, the store as one person sees it; without it, with
        all."""
        if not needs:
            return Tools(strict=self._strict)
        places = read_source_places(self._settings)
        if "model" in needs and self._model is None:
            self._model = await self._open_model(self._settings, self._given.model)
            if self._settings.model_strong and self._strong is None:
                self._strong = await self._open_model(settings_of_strong_model(self._settings))
        if "model" in needs and self._model is None and self._on_missing_model is not None:
            self._on_missing_model()
            self._on_missing_model = None
        if "web" in needs and "model" in needs and self._model is None:
            # The built-in reader compares words by their meaning, with the same library as documents.
            require_extra("documents", "Reading pages without a model")
        if "web" in needs and self._plans is None:
            from tablewright.strategies.row_answers import SearchPlans

            self._plans = SearchPlans(self._store.cache)
        both = len(places) > 1 and "web" in needs
        tools = Tools(
            web=await self._open_places(places, seen) if "web" in needs else None,
            documents=await self.open_corpus(seen) if "documents" in needs else None,
            # With one place only, there is nothing to prefer.
            prefers="" if not both else "document" if places[0] == "docs" else "page",
            model=self._model if "model" in needs else None,
            strong=self._strong if "model" in needs else None,
            strict=self._strict,
            cascade=self._cascade,
            plans=self._plans,
            budget=self.budget,
        )
        return tools.watched_by(self.breaker)

    async def _open_places(self, places: tuple[str, ...], seen: Store | None) -> Source:
        if places == ("docs",):
            return (await self.open_corpus(seen)).source
        from tablewright.web.source import CombinedSource
        from tablewright.web.web import open_web

        if self._web is None:
            self._web = await self._stack.enter_async_context(
                open_web(self._settings, self._store, self.budget, given=self._given.search)
            )
        if places == ("web",):
            return self._web
        documents = (await self.open_corpus(seen)).source
        return CombinedSource(web=self._web, documents=documents, documents_first=places[0] == "docs")

    async def open_corpus(self, seen: Store | None = None) -> Corpus:
        require_extra("documents", "Working with documents")
        from tablewright.documents.corpus import Corpus
        from tablewright.llm.embedder import build_embedder

        if self._embedder is None:
            self._embedder = build_embedder(self._settings)
            self._stack.push_async_callback(self._embedder.close)
        return Corpus(seen or self._store, self._embedder)

    async def open_model(self) -> LanguageModel | None:
        needs: tuple[Need, ...] = ("model",)
        return (await self.open(needs)).model

    async def open_pages(self) -> Web:
        """Return the web for callers that only read pages: a broken search provider does not matter to them."""
        if self._pages is None:
            from tablewright.web.web import open_web

            opened = open_web(self._settings, self._store, searches=False)
            self._pages = await self._stack.enter_async_context(opened)
        return self._pages

    async def _open_model(self, settings: Settings, given: Model | None = None) -> LanguageModel | None:
        if given is None and settings.model == BUILTIN and not settings.model_fallback:
            return None
        from tablewright.llm.build import build_model, build_rate_limits

        self._limits = self._limits or build_rate_limits(settings, self._store.shared_limits)
        replay = settings.offline
        model = build_model(
            settings, self._store.cache, self.budget, limits=self._limits, replay_only=replay, given=given
        )
        return await self._stack.enter_async_context(model) if model is not None else None

    def apart(self, before: Usage | None = None) -> AbstractContextManager[None]:
        """Give the whole budget to the work inside, minus what it has used `before`."""
        return self.budget.separate_account(spend_of_usage(before or Usage()))

    @property
    def unpriced(self) -> Sequence[str]:
        """Models that were asked under a spending limit although their price is not known."""
        return sorted(self.budget.unpriced)


def build_budget(settings: Settings) -> Budget:
    """Return the budget. Without a limit in the settings it still counts, and applies the user's own limit."""
    return Budget(usd=settings.budget, tokens=settings.budget_tokens)


def read_source_places(settings: Settings) -> tuple[str, ...]:
    """Return where evidence is looked for, the preferred place first."""
    return tuple(settings.sources.split(","))


def settings_of_strong_model(settings: Settings) -> Settings:
    """Return the settings for the strong model. It shares the address, the key and the window only with a model of its
    provider."""
    same = settings.model.partition(":")[0] == settings.model_strong.partition(":")[0]
    return replace(
        settings,
        model=settings.model_strong,
        model_fallback="",
        model_base_url=settings.model_base_url if same else "",
        model_api_key=settings.model_api_key if same else "",
        model_window=settings.model_window if same else None,
    )
