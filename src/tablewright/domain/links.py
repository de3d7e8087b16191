"""Which link of a page leads to the page of a thing that it names, by the address alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from tablewright.domain.rowkey import row_key

SHORTEST = 4
"""Letters and digits of a name, at least, that an address must have to be its own."""


def own_page(name: str, links: Sequence[str]) -> str:
    """The link whose last part, or whose domain, is the name or its last words: "…/kettles/basic-17" for "Ollivant
    Basic 17"; "" if none is."""
    words = row_key(name).split()
    known = _by_name(tuple(links))
    endings = ("".join(words[place:]) for place in range(len(words)))
    return next((known[end] for end in endings if len(end) >= SHORTEST and end in known), "")


@lru_cache(maxsize=64)
def _by_name(links: tuple[str, ...]) -> dict[str, str]:
    """By the letters and digits that an address is named with; what two addresses have in common names neither."""
    found: dict[str, str] = {}
    for link in links:
        parts = urlsplit(link)
        last = unquote(parts.path.rstrip("/").rpartition("/")[2])
        called = last.partition(".")[0] or (parts.hostname or "").removeprefix("www.").partition(".")[0]
        key = row_key(called.replace("_", " ").replace("-", " ")).replace(" ", "")
        found[key] = "" if found.get(key, link) != link else link
    return found


def continuations(origin: str, links: Sequence[str], most: int) -> tuple[str, ...]:
    """The links that may continue the page's list: of the same site, below the same folder, or the same page with
    another query."""
    page = urlsplit(origin)
    folder = page.path.rpartition("/")[0]
    near = []
    for link in links:
        parts = urlsplit(link)
        same_page = parts.path == page.path and parts.query != page.query
        beside = parts.path.startswith(f"{page.path.rstrip('/')}/") or (parts.query and parts.path.startswith(folder))
        if parts.netloc == page.netloc and (same_page or beside) and link != origin:
            near.append(link.partition("#")[0])
    return tuple(link for link in dict.fromkeys(near) if link != origin)[:most]
