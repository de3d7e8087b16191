"""Brave Search API: `brave`, with a key."""

from __future__ import annotations

from collections.abc import Mapping

import httpx2

from tablewright.sources.search.http import TIMEOUT, Endpoint, address, required_key, retry_after
from tablewright.sources.search.results import RawResult, clean_hits
from tablewright.sources.search.wording import query_text
from tablewright.sources.source import Hit, Query

MOST_RESULTS = 20


class Brave:
    name = "brave"

    def __init__(self, argument: str, api_key: str, client: httpx2.AsyncClient, *, timeout: float = TIMEOUT) -> None:
        base = address(self.name, argument)
        key = required_key(self.name, base, api_key)
        self._endpoint = Endpoint(
            provider="Brave",
            url=f"{base}/res/v1/web/search",
            client=client,
            headers={"Accept": "application/json", "X-Subscription-Token": key},
            key=key,
            wait_asked=wait_asked,
            timeout=timeout,
        )

    async def search(self, query: Query) -> tuple[Hit, ...]:
        params = {
            "q": query_text(query, with_site=True),
            "count": str(max(1, min(query.limit, MOST_RESULTS))),
            "result_filter": "web",
            "text_decorations": "false",
        }
        if query.since:
            params["freshness"] = f"p{query.since[0]}"  # pd, pw, pm, py
        if query.language:
            params["search_lang"] = query.language
        answer = await self._endpoint.ask("GET", params=params)
        web = answer.get("web")
        if web is None and answer.get("type") == "search":
            return ()  # without results it leaves the section out
        results = self._endpoint.listed(web.get("results") if isinstance(web, dict) else None)
        return clean_hits(
            query,
            (
                RawResult(
                    result.get("url"),
                    result.get("title"),
                    result.get("description"),
                    result.get("page_age") or result.get("age"),
                )
                for result in results
            ),
        )


def wait_asked(headers: Mapping[str, str]) -> float | None:
    """Brave has a limit a second and one a month: `X-RateLimit-Remaining: 0, 1000`, `X-RateLimit-Reset: 1, 1419704`.

    What counts is the longest wait among the limits that are used up.
    """
    if (asked := retry_after(headers)) is not None:
        return asked
    try:
        left = [int(number) for number in headers.get("x-ratelimit-remaining", "").split(",")]
        resets = [float(number) for number in headers.get("x-ratelimit-reset", "").split(",")]
    except ValueError:
        return None
    return max((reset for remaining, reset in zip(left, resets, strict=False) if remaining <= 0), default=None)
