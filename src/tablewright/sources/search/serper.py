"""Serper, Google's results as JSON: `serper`, with a key. More than 10 results cost a second credit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tablewright.sources.search.http import JsonSearch, query_text
from tablewright.sources.source import Query


class Serper(JsonSearch):
    name = "serper"
    shown_name = "Serper"
    most_results = 100
    key_header = "X-API-KEY"
    result_keys = ("link", "title", "snippet", "date")

    def request(self, query: Query, count: int) -> dict[str, Any]:
        body: dict[str, Any] = {"q": query_text(query, with_site=True), "num": count}
        if query.since:
            body["tbs"] = f"qdr:{query.since[0]}"  # qdr:d, qdr:w, qdr:m, qdr:y
        if query.language:
            body["hl"] = query.language
        return body

    def results(self, answer: Mapping[str, object]) -> object:
        return answer.get("organic", [] if "searchParameters" in answer else None)
