"""Which link of a page leads to the page of a thing that it names, by the address alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from tablewright.table.rowkey import row_key

SHORTEST = 4
"""Letters and digits of a name, at least, that an address must have to be its own."""


def own_page(name: str, links: Sequence[str]) -> str:
    """The link whose last part, or whose domain, is the name: "…/wiki/Abbey_Road" for "Abbey Road"; "" if none is."""
    squeezed = row_key(name).replace(" ", "")
    return _by_name(tuple(links)).get(squeezed, "") if len(squeezed) >= SHORTEST else ""


@lru_cache(maxsize=64)
def _by_name(links: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for link in links:
        parts = urlsplit(link)
        last = unquote(parts.path.rstrip("/").rpartition("/")[2]).rpartition(".")[0] or unquote(
            parts.path.rstrip("/").rpartition("/")[2]
        )
        if last:
            found.setdefault(row_key(last.replace("_", " ").replace("-", " ")).replace(" ", ""), link)
        elif parts.hostname:
            label = parts.hostname.removeprefix("www.").partition(".")[0]
            found.setdefault(row_key(label.replace("-", " ")).replace(" ", ""), link)
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
