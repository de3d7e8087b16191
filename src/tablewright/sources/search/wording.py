"""How a query is put into words: for an engine, for people, and broader when it found nothing."""

from __future__ import annotations

import re

import msgspec

from tablewright.errors import SearchError
from tablewright.sources.source import Query
from tablewright.text.words import SMALL_WORDS

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
