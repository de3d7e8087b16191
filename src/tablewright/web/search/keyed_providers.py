"""The search providers with a key and a JSON API: `brave`, `exa`, `serper`, `tavily`.

Each class says how a query becomes a request and which keys of a result hold its parts; `JsonSearch` does the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tablewright.web.fetch.guard import read_retry_after
from tablewright.web.search.http import JsonSearch, RawResult, format_query, site_domain
from tablewright.web.source import Query


class Brave(JsonSearch):
    """Brave Search API."""

    name = "brave"
    shown_name = "Brave"
    path = "/res/v1/web/search"
    method = "GET"
    key_header = "X-Subscription-Token"
    result_keys = ("url", "title", "description", "page_age")

    def request(self, query: Query, count: int) -> dict[str, Any]:
        params = {
            "q": format_query(query, with_site=True),
            "count": str(count),
            "result_filter": "web",
            "text_decorations": "false",
        }
        if query.since:
            # Pd, pw, pm, py.
            params["freshness"] = f"p{query.since[0]}"
        if query.language:
            params["search_lang"] = query.language
        return params

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

    name = "exa"
    shown_name = "Exa"
    most_results = 100
    key_header = "x-api-key"
    result_keys = ("url", "title", "text", "publishedDate")

    def request(self, query: Query, count: int) -> dict[str, Any]:
        body: dict[str, Any] = {
            "query": format_query(query),
            "type": "auto",
            "numResults": count,
            "contents": {"highlights": True},
        }
        if query.site:
            body["includeDomains"] = [site_domain(query.site)]
        if query.since:
            # Exa takes a date, not a period.
            earliest = datetime.now(UTC) - timedelta(days={"day": 1, "week": 7, "month": 31, "year": 366}[query.since])
            body["startPublishedDate"] = earliest.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        return body

    def raw_result(self, result: Mapping[str, object]) -> RawResult:
        highlights = result.get("highlights")
        if isinstance(highlights, list) and highlights:
            snippet: object = " … ".join(text.strip() for text in highlights if isinstance(text, str))
        else:
            snippet = result.get("text") or result.get("summary")
        return super().raw_result({**result, "text": snippet})


class Serper(JsonSearch):
    """Serper: Google's results as JSON. More than 10 results cost a second credit."""

    name = "serper"
    shown_name = "Serper"
    most_results = 100
    key_header = "X-API-KEY"
    result_keys = ("link", "title", "snippet", "date")

    def request(self, query: Query, count: int) -> dict[str, Any]:
        body: dict[str, Any] = {"q": format_query(query, with_site=True), "num": count}
        if query.since:
            # Qdr:d, qdr:w, qdr:m, qdr:y.
            body["tbs"] = f"qdr:{query.since[0]}"
        if query.language:
            body["hl"] = query.language
        return body

    def results(self, answer: Mapping[str, object]) -> object:
        return answer.get("organic", [] if "searchParameters" in answer else None)


class Tavily(JsonSearch):
    """Tavily. Its "content" is the passage of the page that fits the query."""

    name = "tavily"
    shown_name = "Tavily"
    key_header = "Authorization: Bearer "
    result_keys = ("url", "title", "content", "published_date")

    def request(self, query: Query, count: int) -> dict[str, Any]:
        body: dict[str, Any] = {"query": format_query(query), "max_results": count, "search_depth": "basic"}
        if query.site:
            body["include_domains"] = [site_domain(query.site)]
        if query.since:
            body["time_range"] = query.since
        return body
