"""What a row, or a run, may tell the public web, by where its words come from.

A model that has read a private text can be told by it to carry other words away: in a search query, or in an address.
So from the first private text on, a query may only have words of what was asked (the question, the names and
descriptions of columns, the row's key, the cells that a question names) and of public pages and search results of this
run. An address may only be opened as a search, a public page or the user gave it.

`Web` asks this before a query or a request leaves (`sources/web.py`); it and the user's documents (`corpus/corpus.py`)
note what was read. Whoever begins a row or a run opens it with `telling`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date
from typing import Any

import msgspec

from tablewright.domain.retrieved import Retrieved, is_document
from tablewright.text import FUNCTION_WORDS, holds_phrase, weighty_words, words_of

SHORT = 3
"""Letters or digits of a word at most that could spell anything when strung together: such words of a page count only
in the order in which the page has them."""
SMALL = frozenset(stem for word in FUNCTION_WORDS for stem in words_of(word))
"""Stems of words that only hold a sentence together, which are free."""
ODD = frozenset(("Cc", "Cf", "Cn", "Co", "Cs", "So"))
"""Unicode categories of characters that no query needs, and that could carry a text: controls, formats, symbols."""


class Provenance:
    """Of one row or run; a row inside a run may tell what the run may tell. Texts are cut into words only when a query
    is looked at after something private was read."""

    def __init__(
        self,
        *asked: object,
        addresses: Iterable[str] = (),
        telling_cells: Iterable[str] = (),
        has_private_cells: bool = False,
    ) -> None:
        """`asked` are texts, or nouns with texts in them. Of the cells that nothing asks about, `telling_cells` may be
        put into queries by a plan, to tell the row from its namesakes, and all others are private; a model that is
        shown the row and words its own queries reads them."""
        self._outer = _current.get()
        self._asked = [str(date.today().year)]
        self._pages: dict[str, str] = {}
        self._cut: dict[str, list[str]] = {}
        """The words of `_pages`, once they were needed."""
        self._addresses = set(map(without_fragment, addresses))
        self._telling_cells = tuple(telling_cells)
        self._has_private_cells = has_private_cells
        self._row_shown = False
        self._read_private = False
        self.allow(*asked)

    @property
    def has_read_private(self) -> bool:
        return self._read_private or (self._outer is not None and self._outer.has_read_private)

    @property
    def must_look_at_queries(self) -> bool:
        return self.has_read_private or (self._row_shown and bool(self._telling_cells))

    # ── what was read ────────────────────────────────────────────────────────────────────────────────────────────────

    def allow(self, *asked: object) -> None:
        """Also these words are the user's own, or were chosen while nothing private had been read."""
        self._asked += [text for each in asked for text in texts_in(msgspec.to_builtins(each))]

    def allow_planned(self, queries: Collection[str]) -> None:
        """Queries that were worded just now: they are free if nothing private had been read."""
        if not self.has_read_private:
            self.allow(*queries)

    def note_private(self) -> None:
        self._read_private = True

    def note_row_shown(self) -> None:
        """A model that words its own queries is shown the row."""
        self._row_shown = True
        self._read_private |= self._has_private_cells

    def note_page(self, page: Retrieved, asked_for: str = "") -> None:
        """A public page, opened under the address `asked_for`."""
        self._pages[page.origin] = f"{page.title}\n{page.text}"
        self.note_addresses(page.origin, asked_for, *page.links)

    def note_result(self, origin: str, title: str, snippet: str) -> None:
        """A result of a public search."""
        self._pages.setdefault(f"result {origin}", f"{title}\n{snippet}")
        self.note_addresses(origin)

    def note_addresses(self, *addresses: str) -> None:
        self._addresses.update(map(without_fragment, addresses))

    # ── what may leave ───────────────────────────────────────────────────────────────────────────────────────────────

    def knows_address(self, address: str) -> bool:
        known = without_fragment(address) in self._addresses
        return known or (self._outer is not None and self._outer.knows_address(address))

    def find_private_words(self, query: str) -> tuple[str, ...]:
        """Return the parts of a query that must not leave, as they are written in it: those that come from nowhere
        public or, while only the cells were read by which a plan may tell the row apart, those of these cells."""
        if not self.must_look_at_queries:
            return ()
        own, pages = self._words()
        public = own.union(*pages)
        if not self.has_read_private:
            hidden = {word for text in self._telling_cells for word in words_in(text)} - public
            return tuple(chunk for chunk in query.split() if not hidden.isdisjoint(words_in(chunk)))
        strange: list[str] = []
        spelled: list[str] = []
        for chunk in query.split():
            words = words_in(chunk)
            if any(unicodedata.category(letter) in ODD for letter in chunk) or not public.issuperset(words):
                strange.append(chunk)
            spelled += [word for word in words if len(word) <= SHORT and word not in own]
        if not strange and len(spelled) > 1 and not any(holds_phrase(page, spelled) for page in pages):
            return tuple(chunk for chunk in query.split() if {*words_in(chunk)} & {*spelled})
        return tuple(dict.fromkeys(strange))

    def _words(self) -> tuple[set[str], list[list[str]]]:
        """Those of what was asked, and of each public text in their order."""
        own = {word for text in list(self._asked) for word in words_in(text)}
        for origin, text in list(self._pages.items()):
            if origin not in self._cut:
                self._cut[origin] = words_in(text)
        pages = list(self._cut.values())
        if self._outer is not None:
            asked_outside, pages_outside = self._outer._words()
            own, pages = own | asked_outside, pages + pages_outside
        return own, pages


_current: ContextVar[Provenance | None] = ContextVar("provenance", default=None)


def current_provenance() -> Provenance | None:
    return _current.get()


@contextmanager
def telling(provenance: Provenance) -> Iterator[Provenance]:
    """What is searched and opened inside, in this task and those it starts, is told by this."""
    token = _current.set(provenance)
    try:
        yield provenance
    finally:
        _current.reset(token)


def refusal_of(words: Sequence[str]) -> str:
    """Return why a query was not sent, for the trace and for the model."""
    return (
        "after private text was read, a search may only have words of the question, the row's name and public pages. "
        f"Not among them: {', '.join(words)}."
    )


def words_in(text: str) -> list[str]:
    """The stems of the words that say something, in order."""
    return [word for word in weighty_words(text) if word not in SMALL]


def texts_in(value: Any) -> Iterator[str]:
    """All texts of what JSON could hold, but for the keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from texts_in(each)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from texts_in(each)


def without_fragment(address: str) -> str:
    return address.partition("#")[0]


def note_private() -> None:
    """Note that a private text was read, in whatever row or run this is."""
    if (provenance := _current.get()) is not None:
        provenance.note_private()


def note_read_before(page: Retrieved) -> None:
    """Note a page that an earlier process had read for the same work."""
    if (provenance := _current.get()) is None:
        return
    if is_document(page.origin):
        provenance.note_private()
    else:
        provenance.note_page(page)
