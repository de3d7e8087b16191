"""Brave Search API: `brave`, with a key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tablewright.sources.fetch.guard import read_retry_after
from tablewright.sources.search.http import JsonSearch, RawResult, query_text
from tablewright.sources.source import Query


class Brave(JsonSearch):
    name = "brave"
    shown_name = "Brave"
    path = "/res/v1/web/search"
    method = "GET"
    key_header = "X-Subscription-Token"
    result_keys = ("url", "title", "description", "page_age")

    def request(self, query: Query, count: int) -> dict[str, Any]:
        params = {
            "q": query_text(query, with_site=True),
            "count": str(count),
            "result_filter": "web",
            "text_decorations": "false",
        }
        if query.since:
            params["freshness"] = f"p{query.since[0]}"  # pd, pw, pm, py
        if query.language:
            params["search_lang"] = query.language
        return params

    def results(self, answer: Mapping[str, object]) -> object:
        web = answer.get("web")
        if web is None and answer.get("type") == "search":
            return []  # without results it leaves the section out
        return web.get("results") if isinstance(web, dict) else None

    def raw_result(self, result: Mapping[str, object]) -> RawResult:
        return super().raw_result({**result, "page_age": result.get("page_age") or result.get("age")})

    def wait_asked(self, headers: Mapping[str, str]) -> float | None:
        """Brave limits seconds and months: `X-RateLimit-Remaining: 0, 1000`, `X-RateLimit-Reset: 1, 1419704`.

        What counts is the longest wait among the limits that are used up.
        """
        if (asked := read_retry_after(headers)) is not None:
            return asked
        try:
            left = [int(number) for number in headers.get("x-ratelimit-remaining", "").split(",")]
            resets = [float(number) for number in headers.get("x-ratelimit-reset", "").split(",")]
        except ValueError:
            return None
        return max((reset for remaining, reset in zip(left, resets, strict=False) if remaining <= 0), default=None)
