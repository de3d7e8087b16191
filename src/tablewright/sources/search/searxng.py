"""A SearXNG server of one's own: `searxng:URL`, no key. It asks many engines and merges what they find."""

from __future__ import annotations

import re

import httpx2

from tablewright.errors import SearchError
from tablewright.sources.search.http import (
    TIMEOUT,
    Endpoint,
    RawResult,
    address,
    clean_hits,
    is_narrow,
    plain_text,
    query_text,
)
from tablewright.sources.source import Hit, Query

# SearXNG reads words that start so as commands: "!images", "!!g" (a redirect to Google), ":de", "<3".
_COMMAND = re.compile(r"(?<!\S)[!:<?]+")


class SearXNG:
    name = "searxng"

    def __init__(self, argument: str, api_key: str, client: httpx2.AsyncClient, *, timeout: float = TIMEOUT) -> None:
        self._endpoint = Endpoint(
            provider="SearXNG",
            url=address(self.name, argument).removesuffix("/search") + "/search",
            client=client,
            headers={"Accept": "application/json"},
            advice_when_refused="Allow JSON in the server's settings.yml: under `search:` write "
            "`formats: [html, json]`, and restart it. Most public servers do not allow it; run one of your own.",
            timeout=timeout,
        )

    async def search(self, query: Query) -> tuple[Hit, ...]:
        text = _COMMAND.sub("", query_text(query, with_site=True))
        params = {"q": text, "format": "json", "pageno": "1"}
        if query.since:
            params["time_range"] = query.since
        if query.language:
            params["language"] = query.language
        answer = await self._endpoint.ask("GET", params=params)
        results = self._endpoint.listed(answer.get("results"))
        silent = _silent_engines(answer.get("unresponsive_engines"))
        # Where engines are blocked, "nothing found" was not found out. A narrow query may still have no results; its
        # broader form then tells.
        if not results and silent and not is_narrow(query):
            raise SearchError(
                f"SearXNG found nothing, and some of its engines did not answer: {silent}.",
                advice="Look at the engines in the server's settings.yml, or wait until they answer again.",
                retryable=True,
            )
        return clean_hits(
            query,
            (
                RawResult(result.get("url"), result.get("title"), result.get("content"), result.get("publishedDate"))
                for result in results
            ),
        )


def _silent_engines(engines: object) -> str:
    """`[["google", "CAPTCHA"], …]` as a text."""
    pairs = engines if isinstance(engines, list) else []
    named = [": ".join(map(str, pair)) if isinstance(pair, list) else str(pair) for pair in pairs]
    return plain_text(", ".join(named), longest=200)
