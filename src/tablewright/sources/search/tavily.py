"""Tavily: `tavily`, with a key. Its "content" is the passage of the page that fits the query."""

from __future__ import annotations

from typing import Any

from tablewright.sources.search.http import JsonSearch, domain, query_text
from tablewright.sources.source import Query


class Tavily(JsonSearch):
    name = "tavily"
    shown_name = "Tavily"
    key_header = "Authorization: Bearer "
    result_keys = ("url", "title", "content", "published_date")

    def request(self, query: Query, count: int) -> dict[str, Any]:
        body: dict[str, Any] = {"query": query_text(query), "max_results": count, "search_depth": "basic"}
        if query.site:
            body["include_domains"] = [domain(query.site)]
        if query.since:
            body["time_range"] = query.since
        return body
