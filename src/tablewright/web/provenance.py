"""Decide which words of a row or a run may be sent to the public web, by where they come from.

A private text can instruct a model that reads it to carry words away, in a search query or in an address. So from the
first private text on, a query may only have words of the task (the question, the names and descriptions of columns, the
row's key, the cells that a question names) and of public pages and search results of this run. An address may only be
opened as a search, a public page or the user gave it.

`Web` asks this before a query or a request leaves (`web/web.py`); it and the user's documents (`documents/corpus.py`)
note what was read. The code that begins a row or a run opens it with `track_provenance`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date
from typing import Any

import msgspec

from tablewright.domain.retrieved import Retrieved, is_document_id
from tablewright.text import FUNCTION_WORDS, contains_word_run, content_stems, stem_words

# Words this short could spell anything when strung together: those of a page count only in the order of the page.
SHORT_WORD_CHARACTERS = 3
# Stems of function words, which are free.
SMALL = frozenset(stem for word in FUNCTION_WORDS for stem in stem_words(word))


class Provenance:
    """The provenance of one row or run; a row may also send what its run may send.

    Texts are split into words only when a query must be checked after something private was read."""

    def __init__(
        self,
        *asked: object,
        addresses: Iterable[str] = (),
        telling_cells: Iterable[str] = (),
        has_private_cells: bool = False,
    ) -> None:
        """`asked` are texts, or structs with texts in them. Of the other cells, a plan may put `telling_cells` into
        queries, to tell the row from its namesakes, and all others are private; a model that is shown the row and words
        its own queries reads them."""
        self._outer = _current.get()
        self._asked = [str(date.today().year)]
        self._pages: dict[str, str] = {}
        self._cut: dict[str, list[str]] = {}
        """The words of `_pages`, filled when they are needed."""
        self._addresses = set(map(strip_fragment, addresses))
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
        """Allow words that are the user's own, or were chosen while nothing private had been read."""
        self._asked += [text for each in asked for text in collect_texts(msgspec.to_builtins(each))]

    def allow_planned(self, queries: Collection[str]) -> None:
        """Allow queries that were worded just now, if nothing private had been read."""
        if not self.has_read_private:
            self.allow(*queries)

    def note_private(self) -> None:
        self._read_private = True

    def note_row_shown(self) -> None:
        """Note that a model that words its own queries is shown the row."""
        self._row_shown = True
        self._read_private |= self._has_private_cells

    def note_page(self, page: Retrieved, asked_for: str = "") -> None:
        """Note a public page, opened under the address `asked_for`."""
        self._pages[page.origin] = f"{page.title}\n{page.text}"
        self.note_addresses(page.origin, asked_for, *page.links)

    def note_result(self, origin: str, title: str, snippet: str) -> None:
        """Note a result of a public search."""
        self._pages.setdefault(f"result {origin}", f"{title}\n{snippet}")
        self.note_addresses(origin)

    def note_addresses(self, *addresses: str) -> None:
        self._addresses.update(map(strip_fragment, addresses))

    # ── what may leave ───────────────────────────────────────────────────────────────────────────────────────────────

    def knows_address(self, address: str) -> bool:
        known = strip_fragment(address) in self._addresses
        return known or (self._outer is not None and self._outer.knows_address(address))

    def find_private_words(self, query: str) -> tuple[str, ...]:
        """Return the parts of a query that must not be sent, as written in it.

        These are parts from no public text or, while only `telling_cells` were read, those of these cells."""
        if not self.must_look_at_queries:
            return ()
        own, pages = self._words()
        public = own.union(*pages)
        if not self.has_read_private:
            hidden = {word for text in self._telling_cells for word in significant_words(text)} - public
            return tuple(chunk for chunk in query.split() if not hidden.isdisjoint(significant_words(chunk)))
        strange: list[str] = []
        spelled: list[str] = []
        for chunk in query.split():
            words = significant_words(chunk)
            # Controls, formats and symbols, which no query needs and which could carry a hidden text.
            if any(
                unicodedata.category(letter) in {"Cc", "Cf", "Cn", "Co", "Cs", "So"} for letter in chunk
            ) or not public.issuperset(words):
                strange.append(chunk)
            spelled += [word for word in words if len(word) <= SHORT_WORD_CHARACTERS and word not in own]
        if not strange and len(spelled) > 1 and not any(contains_word_run(page, spelled) for page in pages):
            return tuple(chunk for chunk in query.split() if {*significant_words(chunk)} & {*spelled})
        return tuple(dict.fromkeys(strange))

    def _words(self) -> tuple[set[str], list[list[str]]]:
        """Return the words of the task, and those of each public text in their order."""
        own = {word for text in list(self._asked) for word in significant_words(text)}
        for origin, text in list(self._pages.items()):
            if origin not in self._cut:
                self._cut[origin] = significant_words(text)
        pages = list(self._cut.values())
        if self._outer is not None:
            asked_outside, pages_outside = self._outer._words()
            own, pages = own | asked_outside, pages + pages_outside
        return own, pages


_current: ContextVar[Provenance | None] = ContextVar("provenance", default=None)


def current_provenance() -> Provenance | None:
    return _current.get()


@contextmanager
def track_provenance(provenance: Provenance) -> Iterator[Provenance]:
    """Check everything searched and opened inside, in this task and those it starts, by this provenance."""
    token = _current.set(provenance)
    try:
        yield provenance
    finally:
        _current.reset(token)


def explain_private_words(words: Sequence[str]) -> str:
    """Return why a query was not sent, for the trace and for the model."""
    return (
        "after private text was read, a search may only have words of the question, the row's name and public pages. "
        f"Not among them: {', '.join(words)}."
    )


def significant_words(text: str) -> list[str]:
    """Return the stems of the significant words, in order."""
    return [word for word in content_stems(text) if word not in SMALL]


def collect_texts(value: Any) -> Iterator[str]:
    """Yield all texts of a JSON value, except the keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from collect_texts(each)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from collect_texts(each)


def strip_fragment(address: str) -> str:
    return address.partition("#")[0]


def note_private() -> None:
    """Note that a private text was read in the current row or run."""
    if (provenance := _current.get()) is not None:
        provenance.note_private()


def note_read_before(page: Retrieved) -> None:
    """Note a page that an earlier process had read for the same work."""
    if (provenance := _current.get()) is None:
        return
    if is_document_id(page.origin):
        provenance.note_private()
    else:
        provenance.note_page(page)
