"""Retrieved texts, the only thing that evidence can point to; refusals, and what the links of a page lead to.

Also tracks the documents that a model is asked about, so that cached answers can be deleted with them. No I/O.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Literal, TypeAlias
from urllib.parse import unquote, urlsplit

from tablewright.domain.model import Struct
from tablewright.domain.rowkey import row_key

RetrievedKind: TypeAlias = Literal["page", "snippet", "document"]


class Retrieved(Struct, frozen=True):
    """The stored text of a web page, a search snippet or a document. Quotes are offsets into `text`.

    `origin` is a URL or a document id. `page_starts` are the offsets of the pages of a paged document.
    """

    origin: str
    text: str
    title: str = ""
    kind: RetrievedKind = "page"
    domain: str = ""
    """The registrable domain of a URL: two sources of one domain are not independent."""
    retrieved_at: str = ""
    content_hash: str = ""
    page_starts: tuple[int, ...] = ()
    links: tuple[str, ...] = ()
    is_product: bool = False
    """True if the page's markup says that it is about one product."""

    def words_at(self, start: int, end: int) -> str:
        """Return a span of the text, or of the title, which counts as one line after the text."""
        behind = len(self.text) + 1
        return self.text[start:end] if start < behind else self.title[start - behind : end - behind]

    def page_at(self, offset: int) -> int | None:
        return bisect_right(self.page_starts, offset) or None if self.page_starts else None


class Refusal(Struct, frozen=True):
    """Something that could not be retrieved, and why: an empty cell reports it as one of the places searched."""

    origin: str
    reason: Literal["blocked", "forbidden", "error"]
    """blocked: the site refused; forbidden: our rules (private address, robots.txt, size); error: it failed."""
    detail: str
    status: int | None = None

    @property
    def is_outage(self) -> bool:
        """True if the server did not answer or failed; a missing or refused page is an answer."""
        return self.reason == "error" and (self.status is None or self.status >= 500)


def hash_content(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def is_document_id(origin: str) -> bool:
    """Return True if it is the id of one of the user's documents rather than an address."""
    return "://" not in origin


_about: ContextVar[tuple[str, ...]] = ContextVar("about", default=())


@contextmanager
def track_documents(origins: Iterable[str]) -> Iterator[None]:
    """Record, for requests to models inside, that they are about the documents among these origins."""
    token = _about.set((*_about.get(), *filter(is_document_id, origins)))
    try:
        yield
    finally:
        _about.reset(token)


def tracked_documents() -> tuple[str, ...]:
    return _about.get()


def find_own_page(name: str, links: Sequence[str]) -> str:
    """Return the link whose last part or domain is the name or its last words, or "": "…/kettles/basic-17" for
    "Ollivant Basic 17"."""
    words = row_key(name).split()
    known = _index_links_by_name(tuple(links))
    endings = ("".join(words[place:]) for place in range(len(words)))
    # Shorter names occur in unrelated addresses by chance.
    return next((known[end] for end in endings if len(end) >= 4 and end in known), "")


# The links of a page are the same for each of the names that are found on it.
@lru_cache(maxsize=64)
def _index_links_by_name(links: tuple[str, ...]) -> dict[str, str]:
    """Return links by the letters and digits of their last part; a name that two addresses share maps to ""."""
    found: dict[str, str] = {}
    for link in links:
        parts = urlsplit(link)
        last = unquote(parts.path.rstrip("/").rpartition("/")[2])
        called = last.partition(".")[0] or (parts.hostname or "").removeprefix("www.").partition(".")[0]
        key = row_key(called.replace("_", " ").replace("-", " ")).replace(" ", "")
        found[key] = "" if found.get(key, link) != link else link
    return found


def find_continuation_links(origin: str, links: Sequence[str], most: int) -> tuple[str, ...]:
    """Return the links that may continue the page's list: on the same site, below the same folder, or the same page
    with another query."""
    page = urlsplit(origin)
    folder = page.path.rpartition("/")[0]
    near = []
    for link in links:
        parts = urlsplit(link)
        same_page = parts.path == page.path and parts.query != page.query
        is_below = parts.path.startswith(f"{page.path.rstrip('/')}/") or (parts.query and parts.path.startswith(folder))
        if parts.netloc == page.netloc and (same_page or is_below) and link != origin:
            near.append(link.partition("#")[0])
    return tuple(link for link in dict.fromkeys(near) if link != origin)[:most]
