"""From what a provider says it found to hits. Strangers wrote all of it: only plain text and web addresses pass."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from tablewright.sources.search.wording import domain
from tablewright.sources.source import Hit, Query
from tablewright.text.characters import one_line

LONGEST_URL = 2_048
LONGEST_TITLE = 300
LONGEST_SNIPPET = 1_000
LONGEST_DATE = 60

_WITHIN_A_WORD = re.compile(r"</?(?:a|b|em|i|mark|span|strong|u|wbr)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_TAG = re.compile(r"<(?:script|style)\b[^<>]*>[^<]*|<[a-z/!?][^<>]*>", re.IGNORECASE)


class RawResult(NamedTuple):
    """A result as a provider gives it: any of these may be missing or of the wrong type."""

    url: object
    title: object = None
    snippet: object = None
    published: object = None


def clean_hits(query: Query, found: Iterable[RawResult]) -> tuple[Hit, ...]:
    """At most `query.limit` different pages, in the provider's order; of `query.site` alone where that is asked."""
    hits: dict[tuple[str, str, str], Hit] = {}
    for result in found:
        if len(hits) >= query.limit:
            break
        url = result.url.strip() if isinstance(result.url, str) else ""
        parts = web_address(url)
        if parts is None or "@" in parts.netloc or not _is_of(query.site, parts):  # https://bank.example@evil.example
            continue
        hit = Hit(
            origin=url,
            title=plain_text(result.title, longest=LONGEST_TITLE),
            snippet=plain_text(result.snippet, longest=LONGEST_SNIPPET),
            published=plain_text(result.published, longest=LONGEST_DATE),
        )
        hits.setdefault((parts.netloc.lower(), parts.path.rstrip("/"), parts.query), hit)
    return tuple(hits.values())


def plain_text(text: object, *, longest: int) -> str:
    """Without markup, entities and characters nobody sees, on one line, cut at a word where it is too long."""
    if not isinstance(text, str):
        return ""
    shown = _TAG.sub(" ", _WITHIN_A_WORD.sub("", unescape(text[: longest * 10])))
    shown = one_line(shown)
    if len(shown) <= longest:
        return shown
    head = shown[: longest - 1]
    return (head.rpartition(" ")[0] or head) + "…"


def web_address(url: str) -> SplitResult | None:
    """Its parts if it is an http or https address that can be asked for."""
    if len(url) > LONGEST_URL or " " in url or not url.isprintable():
        return None
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if usable else None


def _is_of(site: str, parts: SplitResult) -> bool:
    """Not every engine keeps to `site:`, so we look ourselves."""
    wanted, host = domain(site), (parts.hostname or "").rstrip(".")
    return not wanted or host == wanted or host.endswith(f".{wanted}")
