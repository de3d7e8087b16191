"""The search providers with a key and a JSON API: `brave`, `exa`, `serper`, `tavily`.

Each class is data, and what cannot be said as data; `JsonSearch` does the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from tablewright.retry_after import read_retry_after
from tablewright.web.search.http import JsonSearch, QueryKeys, RawResult
from tablewright.web.source import Query


class Brave(JsonSearch):
    """Brave Search API."""

    name, shown_name = "brave", "Brave"
    path = "/res/v1/web/search"
    method = "GET"
    key_header = "X-Subscription-Token"
    query_keys = QueryKeys(text="q", limit="count", since="freshness", language="search_lang")
    since_form = "p{0[0]}"
    always_sent: ClassVar = {"result_filter": "web", "text_decorations": "false"}
    result_keys = ("url", "title", "description", "page_age")

    def results(self, answer: Mapping[str, object]) -> object:
        web = answer.get("web")
        if web is None and answer.get("type") == "search":
            # Without results the section is missing.
            return []
        return web.get("results") if isinstance(web, dict) else None

    def raw_result(self, result: Mapping[str, object]) -> RawResult:
        return super().raw_result({**result, "page_age": result.get("page_age") or result.get("age")})

    def wait_asked(self, headers: Mapping[str, str]) -> float | None:
        """Brave limits seconds and months: `X-RateLimit-Remaining: 0, 1000`, `X-RateLimit-Reset: 1, 1419704`.

        Return the longest wait among the limits that are used up.
        """
        if (asked := read_retry_after(headers)) is not None:
            return asked
        try:
            left = [int(number) for number in headers.get("x-ratelimit-remaining", "").split(",")]
            resets = [float(number) for number in headers.get("x-ratelimit-reset", "").split(",")]
        except ValueError:
            return None
        return max((reset for remaining, reset in zip(left, resets, strict=False) if remaining <= 0), default=None)


class Exa(JsonSearch):
    """Exa, which searches by meaning. Its highlights are the page's sentences that fit the query."""

    name, shown_name = "exa", "Exa"
    key_header = "x-api-key"
    most_results = 100
    query_keys = QueryKeys(text="query", limit="numResults", site="includeDomains")
    always_sent: ClassVar = {"type": "auto", "contents": {"highlights": True}}
    result_keys = ("url", "title", "text", "publishedDate")

    def request(self, query: Query) -> dict[str, Any]:
        # Exa takes a date, not a period.
        days = {"day": 1, "week": 7, "month": 31, "year": 366}.get(query.since)
        if days is None:
            return super().request(query)
        earliest = (datetime.now(UTC) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        return super().request(query) | {"startPublishedDate": earliest}

    def raw_result(self, result: Mapping[str, object]) -> RawResult:
        highlights = result.get("highlights")
        if isinstance(highlights, list) and highlights:
            snippet: object = " … ".join(text.strip() for text in highlights if isinstance(text, str))
        else:
            snippet = result.get("text") or result.get("summary")
        return super().raw_result({**result, "text": snippet})


class Serper(JsonSearch):
    """Serper: Google's results as JSON. More than 10 results cost a second credit."""

    name, shown_name = "serper", "Serper"
    key_header = "X-API-KEY"
    most_results = 100
    query_keys = QueryKeys(text="q", limit="num", since="tbs", language="hl")
    since_form = "qdr:{0[0]}"
    result_keys = ("link", "title", "snippet", "date")

    def results(self, answer: Mapping[str, object]) -> object:
        return answer.get("organic", [] if "searchParameters" in answer else None)


class Tavily(JsonSearch):
    """Tavily. Its "content" is the passage of the page that fits the query."""

    name, shown_name = "tavily", "Tavily"
    key_header = "Authorization: Bearer "
    query_keys = QueryKeys(text="query", limit="max_results", site="include_domains", since="time_range")
    always_sent: ClassVar = {"search_depth": "basic"}
    result_keys = ("url", "title", "content", "published_date")
