"""The user's own SearXNG server: `searxng:URL`, no key. It queries many engines and merges their results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tablewright.errors import SearchError
from tablewright.web.search.http import JsonSearch, QueryKeys, clean_result_text, is_narrow_query
from tablewright.web.source import Query


class SearXNG(JsonSearch):
    name, shown_name = "searxng", "SearXNG"
    method = "GET"
    query_keys = QueryKeys(text="q", since="time_range", language="language")
    always_sent: ClassVar = {"format": "json", "pageno": "1"}
    result_keys = ("url", "title", "content", "publishedDate")
    advice_when_refused = (
        "Allow JSON in the server's settings.yml: under `search:` write `formats: [html, json]`, and restart it. Most "
        "public servers do not allow it; run one of your own."
    )

    def request(self, query: Query) -> dict[str, Any]:
        asked = super().request(query)
        # SearXNG reads words that start like this as commands: "!images", "!!g" (a redirect to Google), ":de", "<3".
        return asked | {"q": re.sub(r"(?<!\S)[!:<?]+", "", asked["q"])}

    def check_answer(self, query: Query, answer: Mapping[str, object], found: Sequence[Mapping[str, object]]) -> None:
        # With blocked engines, no results prove nothing. A narrow query may still have none; its broader form follows.
        silent = _format_silent_engines(answer.get("unresponsive_engines"))
        if silent and not found and not is_narrow_query(query):
            raise SearchError(
                f"SearXNG found nothing, and some of its engines did not answer: {silent}.",
                advice="Look at the engines in the server's settings.yml, or wait until they answer again.",
                retryable=True,
            )


def _format_silent_engines(engines: object) -> str:
    """Return `[["google", "CAPTCHA"], …]` as text."""
    pairs = engines if isinstance(engines, list) else []
    named = [": ".join(map(str, pair)) if isinstance(pair, list) else str(pair) for pair in pairs]
    return clean_result_text(", ".join(named), longest=200)
