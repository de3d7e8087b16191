"""Exa, which searches by meaning: `exa`, with a key. Highlights are the sentences of the page that fit the query."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tablewright.sources.search.http import JsonSearch, RawResult, domain, query_text
from tablewright.sources.source import Query

DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}


class Exa(JsonSearch):
    name = "exa"
    shown_name = "Exa"
    most_results = 100
    key_header = "x-api-key"
    result_keys = ("url", "title", "text", "publishedDate")

    def request(self, query: Query, count: int) -> dict[str, Any]:
        body: dict[str, Any] = {
            "query": query_text(query),
            "type": "auto",
            "numResults": count,
            "contents": {"highlights": True},
        }
        if query.site:
            body["includeDomains"] = [domain(query.site)]
        if query.since:
            earliest = datetime.now(UTC) - timedelta(days=DAYS[query.since])
            body["startPublishedDate"] = earliest.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        return body

    def raw_result(self, result: Mapping[str, object]) -> RawResult:
        highlights = result.get("highlights")
        if isinstance(highlights, list) and highlights:
            said: object = " … ".join(text.strip() for text in highlights if isinstance(text, str))
        else:
            said = result.get("text") or result.get("summary")
        return super().raw_result({**result, "text": said})
