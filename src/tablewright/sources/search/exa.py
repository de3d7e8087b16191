"""Exa, which searches by meaning: `exa`, with a key. Highlights are the sentences of the page that fit the query."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2

from tablewright.sources.search.http import TIMEOUT, Endpoint, address, required_key
from tablewright.sources.search.results import RawResult, clean_hits
from tablewright.sources.search.wording import domain, query_text
from tablewright.sources.source import Hit, Query

MOST_RESULTS = 100
DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}


class Exa:
    name = "exa"

    def __init__(self, argument: str, api_key: str, client: httpx2.AsyncClient, *, timeout: float = TIMEOUT) -> None:
        base = address(self.name, argument)
        key = required_key(self.name, base, api_key)
        self._endpoint = Endpoint(
            provider="Exa",
            url=f"{base}/search",
            client=client,
            headers={"x-api-key": key},
            key=key,
            timeout=timeout,
        )

    async def search(self, query: Query) -> tuple[Hit, ...]:
        body: dict[str, Any] = {
            "query": query_text(query),
            "type": "auto",
            "numResults": max(1, min(query.limit, MOST_RESULTS)),
            "contents": {"highlights": True},
        }
        if query.site:
            body["includeDomains"] = [domain(query.site)]
        if query.since:
            earliest = datetime.now(UTC) - timedelta(days=DAYS[query.since])
            body["startPublishedDate"] = earliest.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        answer = await self._endpoint.ask("POST", body=body)
        return clean_hits(
            query,
            (
                RawResult(result.get("url"), result.get("title"), _snippet(result), result.get("publishedDate"))
                for result in self._endpoint.listed(answer.get("results"))
            ),
        )


def _snippet(result: Mapping[str, object]) -> object:
    highlights = result.get("highlights")
    if isinstance(highlights, list) and highlights:
        return " … ".join(text.strip() for text in highlights if isinstance(text, str))
    return result.get("text") or result.get("summary")
