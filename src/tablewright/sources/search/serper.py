"""Serper, Google's results as JSON: `serper`, with a key. More than 10 results cost a second credit."""

from __future__ import annotations

from typing import Any

import httpx2

from tablewright.sources.search.http import TIMEOUT, Endpoint, address, required_key
from tablewright.sources.search.results import RawResult, clean_hits
from tablewright.sources.search.wording import query_text
from tablewright.sources.source import Hit, Query

MOST_RESULTS = 100


class Serper:
    name = "serper"

    def __init__(self, argument: str, api_key: str, client: httpx2.AsyncClient, *, timeout: float = TIMEOUT) -> None:
        base = address(self.name, argument)
        key = required_key(self.name, base, api_key)
        self._endpoint = Endpoint(
            provider="Serper",
            url=f"{base}/search",
            client=client,
            headers={"X-API-KEY": key},
            key=key,
            timeout=timeout,
        )

    async def search(self, query: Query) -> tuple[Hit, ...]:
        body: dict[str, Any] = {
            "q": query_text(query, with_site=True),
            "num": max(1, min(query.limit, MOST_RESULTS)),
        }
        if query.since:
            body["tbs"] = f"qdr:{query.since[0]}"  # qdr:d, qdr:w, qdr:m, qdr:y
        if query.language:
            body["hl"] = query.language
        answer = await self._endpoint.ask("POST", body=body)
        if "organic" not in answer and "searchParameters" in answer:
            return ()
        return clean_hits(
            query,
            (
                RawResult(result.get("link"), result.get("title"), result.get("snippet"), result.get("date"))
                for result in self._endpoint.listed(answer.get("organic"))
            ),
        )
