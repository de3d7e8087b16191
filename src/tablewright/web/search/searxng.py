"""The user's own SearXNG server: `searxng:URL`, no key. It queries many engines and merges their results."""

from __future__ import annotations

import re

import httpx2

from tablewright.errors import SearchError
from tablewright.web.search.http import (
    TIMEOUT,
    Endpoint,
    RawResult,
    clean_hits,
    clean_result_text,
    format_query,
    is_narrow_query,
    provider_address,
)
from tablewright.web.source import Hit, Query


class SearXNG:
    name = "searxng"

    def __init__(self, argument: str, api_key: str, client: httpx2.AsyncClient, *, timeout: float = TIMEOUT) -> None:
        self._endpoint = Endpoint(
            provider="SearXNG",
            url=provider_address(self.name, argument).removesuffix("/search") + "/search",
            client=client,
            headers={"Accept": "application/json"},
            advice_when_refused="Allow JSON in the server's settings.yml: under `search:` write "
            "`formats: [html, json]`, and restart it. Most public servers do not allow it; run one of your own.",
            timeout=timeout,
        )

    async def search(self, query: Query) -> tuple[Hit, ...]:
        # SearXNG reads words that start like this as commands: "!images", "!!g" (a redirect to Google), ":de", "<3".
        text = re.sub(r"(?<!\S)[!:<?]+", "", format_query(query, with_site=True))
        params = {"q": text, "format": "json", "pageno": "1"}
        if query.since:
            params["time_range"] = query.since
        if query.language:
            params["language"] = query.language
        answer = await self._endpoint.ask("GET", params=params)
        results = self._endpoint.listed(answer.get("results"))
        silent = _format_silent_engines(answer.get("unresponsive_engines"))
        # With blocked engines, no results prove nothing. A narrow query may still have none; its broader form follows.
        if not results and silent and not is_narrow_query(query):
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


def _format_silent_engines(engines: object) -> str:
    """Return `[["google", "CAPTCHA"], …]` as text."""
    pairs = engines if isinstance(engines, list) else []
    named = [": ".join(map(str, pair)) if isinstance(pair, list) else str(pair) for pair in pairs]
    return clean_result_text(", ".join(named), longest=200)
