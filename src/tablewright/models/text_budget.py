"""How much of each text one request to a model carries: the sizes with their reasons, the cuts, and the batches.

Sizes are characters unless they say otherwise. What a model reads is also paid for, and the more it reads at once the
less of it it notes, so a text is shown as long as its purpose needs and no longer.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tablewright.domain.rowkey import split_words
from tablewright.domain.text import shortened
from tablewright.models.tokens import estimate_tokens
from tablewright.text import page_pieces, split_sentences

T = TypeVar("T")

# ── what a whole request carries ─────────────────────────────────────────────────────────────────────────────────────

MOST_TEXT = 48_000
"""However large the window: what is read is also paid for."""
TEXT_SHARE = 0.4
"""Of a window, for retrieved texts; the rest is for instructions, the reply and second thoughts."""
CHARACTERS_A_TOKEN = 3.5
WHOLE_ROW, ROW_SHARE, LEAST_CHARACTERS_A_TOKEN = 40_000, 0.5, 2
"""The cells that a row is written from: as much as a window surely takes in, whatever language they are in."""
USUAL_ROOM = 20_000
"""Where nobody says which model reads."""
EXAMPLE_PAGES_ROOM = 16_000
"""A few pages are enough to see what pages of a kind state."""
ROOM_WITHOUT_MODEL = 400_000
"""A page of a list as code reads it, in one part unless it is a book."""
PAGE_SHARE = 6
"""A page that a steering model opens takes at most one part in so many: it may open that many before it answers."""
SHARED_CALL_SHARE = 4
"""A row may share a call if its prompt takes at most one part in so many of the room."""
SUMMARY_TOKENS, SUMMARY_PARTS = 2_500, 8
"""A text to summarise: parts from all over it tell what it is about."""

# ── what a request carries of one thing ──────────────────────────────────────────────────────────────────────────────

ROW_CELL = 500
"""Of a row that is looked for: a description tells which row it is."""
COMPARED_CELL = 200
"""Of a row among many that are compared."""
LISTED_ROW = 600
"""Of a row among many, all cells together."""
EXAMPLE_CELL, EXAMPLES = 200, 5
"""Accepted values that show the form of a column."""
SAMPLE_CELL, SAMPLE_ROWS = 80, 5
"""Of a table that gets new columns: enough to see what it is about."""
SOURCE_TITLE, PAGE_TITLE, LIST_TITLE = 70, 90, 100
"""A title among many texts, of a whole page, and of a page whose title says what it lists."""
RESULT_TITLE, RESULT_SNIPPET = 110, 300
"""Of a search result: search engines give about as much."""
BEGINNING = 900
"""Of a document whose kind is told from how it begins."""
PAGE_LINE = 1_500
"""Of a line of a page: more is prose, of which the beginning tells what it is about."""
PAGE_LINKS = 25
DOCUMENT_LINE = 160
"""Of a line that the words of a question lead to."""
TURN, TURNS = 600, 6
"""Of an earlier question or answer about documents."""
EARLIER_REPLY = 700
"""Of what an adviser said before its last reply."""
REFUSED_REPLY = 2_000
"""Of a reply that is sent back with what is wrong with it."""
NAME, NAMES = 80, 300
"""Of things that were found so far, the first."""
COLUMNS = 200
"""Of a table that a formula is written for."""
LEAST_OF_NOTE, LEAST_OF_FULL_NOTE = 60, 120
"""Of a note where not all fit: less says nothing."""

# ── how many go into one request ─────────────────────────────────────────────────────────────────────────────────────

ROWS_A_CALL = 8
PAGES_A_CALL = 8
"""A reader of many pages notes less of each."""
DOCUMENTS_A_CALL = 20
"""Only their beginnings are shown."""
AROUND_A_PAGE, AROUND_A_LINE = 1_500, 8
"""What is shown beside the text itself: the links of a page, the number of a line."""


def text_room(window: int) -> int:
    """Return the characters of retrieved texts for a model that takes in so many tokens at once."""
    return min(MOST_TEXT, int(window * TEXT_SHARE * CHARACTERS_A_TOKEN))


def cell_room(window: int, cells: int) -> int:
    """Return the characters of each of the cells that others are written from."""
    return min(WHOLE_ROW, int(LEAST_CHARACTERS_A_TOKEN * window * ROW_SHARE)) // max(1, cells)


# ── cuts ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

HEAD_SHARE = 0.3
"""Of the room for a text, the share that its beginning takes: what it is about."""
LONGEST_PIECE = 600
SKIPPED = " … "
STEM = 6
"""Letters by which two forms of a word are taken for one."""


def cut_text(text: str, limit: int, mark: str = "") -> str:
    """Return the beginning of a text with its lines kept, and the mark where something is left out."""
    return text if len(text) <= limit else f"{text[:limit]}{mark}"


def shorten_evenly(texts: Sequence[str], room: int, least: int) -> Sequence[str]:
    """Return all texts: whole where they fit together, else each on one line with an equal share of the room."""
    if sum(map(len, texts)) <= room:
        return texts
    return [shortened(text, max(least, room // len(texts))) for text in texts]


def take_fitting(texts: Iterable[str], room: int, around: int = 0) -> list[str]:
    """Return the first texts that fit together, each with so many characters `around` it."""
    taken = []
    for text in texts:
        room -= len(text) + around
        if room < 0:
            break
        taken.append(text)
    return taken


def fit_texts(texts: Sequence[str], asked: str, room: int, name: str = "") -> list[str]:
    """Return each text whole, or cut to its share by `excerpt`; what short texts leave over goes to the long ones."""
    shares: dict[int, int] = {}
    places = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    for waiting, place in zip(range(len(texts), 0, -1), places, strict=True):
        shares[place] = min(len(texts[place]), room // waiting)
        room -= shares[place]
    return [excerpt(text, asked, shares[place], name) for place, text in enumerate(texts)]


def excerpt(text: str, asked: str, limit: int, name: str = "") -> str:
    """Return the beginning, then the sentences and lines that share the most with what is asked and the row's name, in
    their order. A word counts by how rare it is in the text: in a long list that is the name, on a page about the row
    it is what the columns ask. What stands there twice is shown once."""
    if len(text) <= limit:
        return text
    words = _stems(asked) | _stems(name, shortest=2)
    head = _word_end(text, int(limit * HEAD_SHARE))
    places = {text[start:end]: (start, end) for start, end in reversed(page_pieces(text)) if start >= head}
    shared = {place: _stems(piece, shortest=2) & words for piece, place in places.items()}
    counts = Counter(stem for stems in shared.values() for stem in stems)
    rarity = {stem: math.log(len(places) / count) for stem, count in counts.items()}
    scores = {place: math.fsum(map(rarity.__getitem__, stems)) for place, stems in shared.items()}
    chosen, used = [(0, head)], head
    for start, end in sorted(scores, key=lambda place: (-scores[place], place)):
        if not shared[start, end] or used >= limit:
            break
        shown = min(end, start + LONGEST_PIECE)
        if used + shown - start <= limit:
            chosen.append((start, shown))
            used += shown - start + len(SKIPPED)
    return SKIPPED.join(text[start:end] for start, end in sorted(chosen))


def _stems(text: str, shortest: int = 3) -> set[str]:
    return {word[:STEM] for word in split_words(text) if len(word) >= shortest}


def _word_end(text: str, place: int) -> int:
    end = text.find(" ", place)
    return end if 0 <= end < place + 40 else place


def sample_text(text: str, tokens: int) -> str:
    """Return a text that is too long as parts from all over it, each beginning with a whole sentence."""
    size = estimate_tokens(text)
    if size <= tokens:
        return text
    places = list(split_sentences(text))
    share = len(text) * tokens // size // SUMMARY_PARTS
    parts = []
    for number in range(SUMMARY_PARTS):
        begin = next((start for start, _ in places if start >= len(text) * number // SUMMARY_PARTS), None)
        if begin is not None:
            space = text.rfind(" ", begin, begin + share)
            parts.append(text[begin : space if space > begin else begin + share])
    return "\n…\n".join(dict.fromkeys(parts))


# ── batches ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(eq=False)
class RequestBatch(Generic[T]):
    """What one request carries: at most so many items, and as many characters as there is room for. An item that is
    too long by itself has a batch of its own."""

    room: float = math.inf
    most: float = math.inf
    items: list[T] = field(default_factory=list)
    size: int = 0

    @property
    def is_full(self) -> bool:
        return len(self.items) >= self.most

    def fits(self, size: int) -> bool:
        return not self.items or (not self.is_full and self.size + size <= self.room)

    def add(self, item: T, size: int) -> None:
        self.items.append(item)
        self.size += size


def batches(
    items: Iterable[T],
    size: Callable[[T], int] = lambda item: 0,
    *,
    room: float = math.inf,
    most: float = math.inf,
    opening: Callable[[T], Sequence[T]] = lambda item: (),
) -> Iterator[tuple[T, ...]]:
    """Yield the items in their order, as many in each batch as it takes. A further batch begins with the `opening` of
    its first item."""
    batch = RequestBatch[T](room, most)
    for item in items:
        if not batch.fits(size(item)):
            yield tuple(batch.items)
            batch = RequestBatch(room, most)
            for each in opening(item):
                batch.add(each, size(each))
        batch.add(item, size(item))
    if batch.items:
        yield tuple(batch.items)
