"""Queries in the words of an engine, and what a provider says it found as hits. Strangers wrote the results: only plain
text and web addresses pass."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

import msgspec

from tablewright.errors import SearchError
from tablewright.sources.source import Hit, Query
from tablewright.text.characters import one_line
from tablewright.text.words import SMALL_WORDS

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


LONGEST_QUERY = 400
MOST_WORDS = 50
"""What Brave and Tavily take (Brave: 50 words, both: 400 characters); no engine answers longer ones better."""

_QUOTES = re.compile(r"[\"“”„«»]")
_OPERATOR = re.compile(
    r"(?<!\S)(?:-\S+|\(?(?:site|filetype|ext|intitle|allintitle|inurl|intext|before|after):\S+|OR|AND|\|)(?!\S)"
)


def query_text(query: Query, *, with_site: bool = False) -> str:
    """On one line and of a length that engines take; `with_site` for those that know a site only as an operator."""
    operator = [f"site:{domain(query.site)}"] if with_site and query.site else []
    words = query.text.split()[: MOST_WORDS - len(operator)]
    while len(text := " ".join([*words, *operator])) > LONGEST_QUERY and words:
        words.pop()
    if not text:
        raise SearchError("There is nothing to search for: the query is empty or one endless word.")
    return text


def shown_query(query: Query) -> str:
    """The query as a trace shows it."""
    site = f" site:{domain(query.site)}" if query.site else ""
    since = f" (last {query.since})" if query.since else ""
    return f"{' '.join(query.text.split())}{site}{since}".strip()


def domain(site: str) -> str:
    """`example.com` for "example.com", "www.example.com" and "https://www.example.com/about"."""
    host = re.sub(r"^[a-z]+://", "", site.strip().lower())
    return re.split(r"[/?#:\s]", host, maxsplit=1)[0].removeprefix("www.").strip(".")


def is_narrow(query: Query) -> bool:
    """Asks for something that may well not exist: an exact phrase, one site, the last days."""
    return bool(query.site or query.since or _QUOTES.search(query.text) or _OPERATOR.search(query.text))


def broader(query: Query) -> Query | None:
    """A query that finds more, or None where there is none.

    What narrows most goes first: quotes, operators, site and time. A query without these loses the words that tell
    least: those that every question has ("what", "is", "the"), or, where it has none of them, its second half, since
    people name what they look for first and the details after.
    """
    words = _QUOTES.sub(" ", _OPERATOR.sub(" ", query.text)).split()
    if not is_narrow(query):
        telling = [word for word in words if word.strip("?!.,;:()").casefold() not in SMALL_WORDS]
        words = telling if len(telling) < len(words) else words[: max(2, len(words) // 2)]
    wider = msgspec.structs.replace(query, text=" ".join(words).rstrip("?"), site="", since="")
    return wider if wider.text and shown_query(wider) != shown_query(query) else None
