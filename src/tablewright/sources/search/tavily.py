"""Tavily: `tavily`, with a key. Its "content" is the passage of the page that fits the query."""

from __future__ import annotations

from typing import Any

import httpx2

from tablewright.sources.search.http import TIMEOUT, Endpoint, address, required_key
from tablewright.sources.search.results import RawResult, clean_hits
from tablewright.sources.search.wording import domain, query_text
from tablewright.sources.source import Hit, Query

MOST_RESULTS = 20


class Tavily:
    name = "tavily"

    def __init__(self, argument: str, api_key: str, client: httpx2.AsyncClient, *, timeout: float = TIMEOUT) -> None:
        base = address(self.name, argument)
        key = required_key(self.name, base, api_key)
        self._endpoint = Endpoint(
            provider="Tavily",
            url=f"{base}/search",
            client=client,
            headers={"Authorization": f"Bearer {key}"},
            key=key,
            timeout=timeout,
        )

    async def search(self, query: Query) -> tuple[Hit, ...]:
        body: dict[str, Any] = {
            "query": query_text(query),
            "max_results": max(1, min(query.limit, MOST_RESULTS)),
            "search_depth": "basic",
        }
        if query.site:
            body["include_domains"] = [domain(query.site)]
        if query.since:
            body["time_range"] = query.since
        answer = await self._endpoint.ask("POST", body=body)
        return clean_hits(
            query,
            (
                RawResult(result.get("url"), result.get("title"), result.get("content"), result.get("published_date"))
                for result in self._endpoint.listed(answer.get("results"))
            ),
        )
