"""What was really retrieved: the only thing that evidence can point to."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, TypeAlias

from tablewright.domain.model import Noun

RetrievedKind: TypeAlias = Literal["page", "snippet", "document"]


class Retrieved(Noun, frozen=True):
    """The stored text of a web page, a search snippet or a document. Quotes are offsets into `text`.

    `origin` is a URL or a document id. `page_starts` are the offsets at which the pages of a paged document begin.
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

    def words_at(self, start: int, end: int) -> str:
        """A span of the text; the title counts as one line behind it."""
        behind = len(self.text) + 1
        return self.text[start:end] if start < behind else self.title[start - behind : end - behind]

    def page_at(self, offset: int) -> int | None:
        return bisect_right(self.page_starts, offset) or None if self.page_starts else None


class Refusal(Noun, frozen=True):
    """Something that could not be retrieved, and why: what an empty cell says about the places that were looked at."""

    origin: str
    reason: Literal["blocked", "forbidden", "error"]
    """The site refused us; our own rules forbid it (private address, robots.txt, too large); it failed."""
    detail: str
    status: int | None = None

    @property
    def is_outage(self) -> bool:
        """Return True if nobody answered, or a server that cannot; a page that is not there, or not for us, is an
        answer."""
        return self.reason == "error" and (self.status is None or self.status >= 500)


def content_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def is_document(origin: str) -> bool:
    """Return True if it is the id of one of the user's documents rather than an address."""
    return "://" not in origin


_about: ContextVar[tuple[str, ...]] = ContextVar("about", default=())


@contextmanager
def concerning(origins: Iterable[str]) -> Iterator[None]:
    """Inside, models are asked about the documents among these."""
    token = _about.set((*_about.get(), *filter(is_document, origins)))
    try:
        yield
    finally:
        _about.reset(token)


def concerned() -> tuple[str, ...]:
    return _about.get()
