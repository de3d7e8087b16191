"""DuckDuckGo and other engines through the `ddgs` package: `ddgs`, or `ddgs:duckduckgo,brave` to choose. No key.

It reads the engines' result pages as a browser does, so they may refuse it at any time: good for a first try.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any

import httpx2
from ddgs.base import BaseSearchEngine

# `ddgs.DDGS` is a stand-in that cannot be subclassed.
from ddgs.ddgs import DDGS
from ddgs.engines import ENGINES
from ddgs.exceptions import DDGSException, TimeoutException
from ddgs.http_client import HttpClient, Response

from tablewright.errors import BadSetting, SearchError
from tablewright.threads import run_in_foreign_thread
from tablewright.web.search.http import TIMEOUT, RawResult, clean_hits, clean_result_text, format_query, is_narrow_query
from tablewright.web.source import Hit, Query

ADVICE = "Wait a little, work on fewer rows at once, or set TABLEWRIGHT_SEARCH to a provider with an API."


class Ddgs:
    name = "ddgs"

    def __init__(self, argument: str, api_key: str, client: httpx2.AsyncClient, *, timeout: float = TIMEOUT) -> None:
        self._engines = argument.replace(" ", "") or "auto"
        self._timeout = timeout
        for engine in self._engines.split(","):
            if engine != "auto" and engine not in ENGINES["text"]:
                known = ", ".join(sorted(ENGINES["text"]))
                raise BadSetting(
                    f"ddgs has no search engine {engine!r}.",
                    advice=f"Set TABLEWRIGHT_SEARCH to ddgs, or to ddgs: and some of {known}.",
                )

    async def search(self, query: Query) -> tuple[Hit, ...]:
        text = format_query(query, with_site=True)
        # Seconds for each of several engines.
        engines = WatchedDDGS(timeout=min(8, math.ceil(self._timeout)))
        try:
            async with asyncio.timeout(self._timeout):
                results = await run_in_foreign_thread(self._ask, engines, text, query)
        except TimeoutError:
            raise SearchError(
                f"The search engines did not answer within {self._timeout:g} seconds.", advice=ADVICE, retryable=True
            ) from None
        except DDGSException as error:
            if engines.found_nothing(error, is_narrow_query(query)):
                return ()
            outcome = (
                "The search engines found nothing, and some failed" if engines.answered else "No search engine answered"
            )
            raise SearchError(
                f"{outcome}: {engines.failures(error)}.",
                advice=ADVICE,
                retryable=True,
            ) from None
        return clean_hits(
            query, (RawResult(result.get("href"), result.get("title"), result.get("body")) for result in results)
        )

    def _ask(self, engines: DDGS, text: str, query: Query) -> Sequence[Mapping[str, object]]:
        return engines.text(
            text,
            max_results=max(1, query.limit),
            # D, w, m, y.
            timelimit=query.since[:1] or None,
            backend=self._engines,
        )


class WatchedDDGS(DDGS):
    """Record which engines answered: ddgs treats one that refuses (202, 403, 429) as one that found nothing."""

    def __init__(self, *, timeout: int) -> None:
        super().__init__(timeout=timeout)
        self.answered: set[str] = set()
        self.failed: dict[str, str] = {}

    def found_nothing(self, error: DDGSException, narrow: bool) -> bool:
        """Return True if the error means that there are no results.

        If an engine failed, it does only for a narrow query that another engine answered: such a query may have no
        results, and its broader form follows.
        """
        if narrow and self.answered:
            return True
        return str(error) == "No results found." and not self.failed

    def failures(self, error: DDGSException) -> str:
        named = ", ".join(f"{engine} ({why})" for engine, why in sorted(self.failed.items()))
        return clean_result_text(named or str(error), longest=300)

    def _get_engines(self, category: str, backend: str) -> list[BaseSearchEngine[Any]]:
        engines = super()._get_engines(category, backend)
        for engine in engines:
            engine.http_client = _WatchedClient(engine.http_client, engine.name, self)
        return engines


class _WatchedClient(HttpClient):
    def __init__(self, watched: HttpClient, engine: str, watcher: WatchedDDGS) -> None:
        self.client = watched.client
        self._engine = engine
        self._watcher = watcher

    def request(self, *args: Any, **kwargs: Any) -> Response:
        try:
            response = super().request(*args, **kwargs)
        except TimeoutException:
            self._watcher.failed[self._engine] = "timed out"
            raise
        except DDGSException:
            self._watcher.failed[self._engine] = "cannot be reached"
            raise
        # DuckDuckGo answers 202 with a bot challenge.
        if response.status_code in {202, 403, 408, 429} or response.status_code >= 500:
            self._watcher.failed[self._engine] = str(response.status_code)
        else:
            self._watcher.answered.add(self._engine)
        return response
