"""Decide how much of each text a request to a model carries: the sizes with their reasons, the cuts, the batches.

All sizes are here, so that what a request costs can be judged in one place. Pure functions on texts; nothing is sent.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tablewright.domain.rowkey import split_words
from tablewright.domain.text import shorten_text
from tablewright.llm.tokens import estimate_tokens
from tablewright.text import page_pieces, split_sentences

T = TypeVar("T")


@dataclass(frozen=True)
class TextLimits:
    """Sizes of the texts in a request, in characters unless the name or comment says otherwise.

    A model's input is paid for, and the more it reads at once the less of it it notes, so each text is shown as long as
    its purpose needs and no longer.
    """

    # ── a whole request ──────────────────────────────────────────────────────────────────────────────────────────────
    # Upper limit however large the window is, because all of it is paid for.
    max_text: int = 48_000
    # Share of the window for retrieved texts; the rest is for instructions, the reply and thinking.
    window_share: float = 0.4
    characters_per_token: float = 3.5
    # The cells that a row is written from. Two characters per token is safe in any script.
    whole_row: int = 40_000
    row_window_share: float = 0.5
    min_characters_per_token: int = 2
    # Room for texts if the model is unknown.
    default_room: int = 20_000
    # A few pages are enough to see what pages of a kind state.
    example_pages: int = 16_000
    # A page of a list that code reads: one part, unless it is a book.
    page_without_model: int = 400_000
    # A model with tools may open this many pages before it answers, so each gets that part of the room.
    opened_page_parts: int = 6
    # A row shares a call only if its prompt takes at most this part of the room; else only few more would fit.
    shared_call_parts: int = 4
    # A summary is made from parts taken all over the text, which show what it is about.
    summary_tokens: int = 2_500
    summary_parts: int = 8

    # ── one item in a request ────────────────────────────────────────────────────────────────────────────────────────
    # A cell of the row that is searched for: a description helps to identify the row.
    row_cell: int = 500
    # A cell of one row among many that are compared, and all cells of such a row.
    compared_cell: int = 200
    listed_row: int = 600
    # Accepted values that show the form of a column: their length and number.
    example_cell: int = 200
    examples: int = 5
    # Cells and rows of a table that gets new columns: enough to see what it is about.
    sample_cell: int = 80
    sample_rows: int = 5
    # A title among many texts, of a whole page, and of a page whose title says what it lists.
    source_title: int = 70
    page_title: int = 90
    list_title: int = 100
    # Search engines return about this much.
    result_title: int = 110
    result_snippet: int = 300
    # The beginning of a document, from which its kind is classified.
    document_beginning: int = 900
    # A line of a page. Longer lines are prose, whose beginning shows the topic.
    page_line: int = 1_500
    # Number of links shown with a page.
    page_links: int = 25
    # A line of a document that contains words of the question.
    document_line: int = 160
    # Earlier questions and answers about documents: length and number.
    conversation_turn: int = 600
    conversation_turns: int = 6
    # A message of the advisor before its last reply.
    earlier_reply: int = 700
    # A reply that is sent back with what is wrong with it.
    refused_reply: int = 2_000
    # Names of what was found so far: length and number.
    found_name: int = 80
    found_names: int = 300
    # Number of columns of a table that a formula is written for.
    formula_columns: int = 200
    # A note if not all fit: a shorter one says nothing.
    min_note: int = 60
    min_full_note: int = 120

    # ── items per request ────────────────────────────────────────────────────────────────────────────────────────────
    rows_per_call: int = 8
    # A reader of more pages at once notes less of each.
    pages_per_call: int = 8
    # Only their beginnings are shown.
    documents_per_call: int = 20
    # What is shown besides the text itself: the links of a page, the number of a line.
    around_page: int = 1_500
    around_line: int = 8

    # ── cuts ─────────────────────────────────────────────────────────────────────────────────────────────────────────
    # Share of the room for the beginning of a text, which says what it is about.
    head_share: float = 0.3
    max_piece: int = 600


TEXT_LIMITS = TextLimits()


def text_room(window: int) -> int:
    """Return the characters of retrieved texts for a model with a window of so many tokens."""
    limits = TEXT_LIMITS
    return min(limits.max_text, int(window * limits.window_share * limits.characters_per_token))


def cell_room(window: int, cells: int) -> int:
    """Return the characters for each of the cells that others are written from."""
    limits = TEXT_LIMITS
    row = min(limits.whole_row, int(limits.min_characters_per_token * window * limits.row_window_share))
    return row // max(1, cells)


# ── cuts ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def cut_text(text: str, limit: int, mark: str = "") -> str:
    """Return the beginning of a text with its lines kept, followed by the mark if something is left out."""
    return text if len(text) <= limit else f"{text[:limit]}{mark}"


def shorten_evenly(texts: Sequence[str], room: int, least: int) -> Sequence[str]:
    """Return all texts: whole if they fit together, else each on one line with an equal share of the room."""
    if sum(map(len, texts)) <= room:
        return texts
    return [shorten_text(text, max(least, room // len(texts))) for text in texts]


def take_fitting(texts: Iterable[str], room: int, around: int = 0) -> list[str]:
    """Return the first texts that fit together; each takes `around` characters besides its own."""
    taken = []
    for text in texts:
        room -= len(text) + around
        if room < 0:
            break
        taken.append(text)
    return taken


def fit_texts(texts: Sequence[str], asked: str, room: int, name: str = "") -> list[str]:
    """Return each text whole, or cut to its share by `extract_relevant`. Room that short texts leave goes to others."""
    shares: dict[int, int] = {}
    # The shortest texts first, so that the room that they leave is divided among the longer ones.
    places = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    for waiting, place in zip(range(len(texts), 0, -1), places, strict=True):
        shares[place] = min(len(texts[place]), room // waiting)
        room -= shares[place]
    return [extract_relevant(text, asked, shares[place], name) for place, text in enumerate(texts)]


def extract_relevant(text: str, asked: str, limit: int, name: str = "") -> str:
    """Return the beginning, then the sentences and lines that share the most words with `asked` and the row's name, in
    their order, each different one once.

    A word counts by how rare it is in the text: in a long list that is the row's name, on a page about the row it is
    the words of the columns.
    """
    if len(text) <= limit:
        return text
    # Two letters tell names apart ("BP", "LG"); words of a question that short tell nothing.
    words = _word_stems(asked) | _word_stems(name, shortest=2)
    head = _word_end(text, int(limit * TEXT_LIMITS.head_share))
    # Reversed, so that of equal passages the first stays.
    places = {text[start:end]: (start, end) for start, end in reversed(page_pieces(text)) if start >= head}
    shared = {place: _word_stems(piece, shortest=2) & words for piece, place in places.items()}
    counts = Counter(stem for stems in shared.values() for stem in stems)
    rarity = {stem: math.log(len(places) / count) for stem, count in counts.items()}
    scores = {place: math.fsum(map(rarity.__getitem__, stems)) for place, stems in shared.items()}
    chosen, used = [(0, head)], head
    for start, end in sorted(scores, key=lambda place: (-scores[place], place)):
        if not shared[start, end] or used >= limit:
            break
        shown = min(end, start + TEXT_LIMITS.max_piece)
        if used + shown - start <= limit:
            chosen.append((start, shown))
            used += shown - start + len(" … ")
    return " … ".join(text[start:end] for start, end in sorted(chosen))


def _word_stems(text: str, shortest: int = 3) -> set[str]:
    # Six letters are enough to take two forms of a word for one.
    return {word[:6] for word in split_words(text) if len(word) >= shortest}


def _word_end(text: str, place: int) -> int:
    end = text.find(" ", place)
    # Scripts without spaces have no end of a word nearby.
    return end if 0 <= end < place + 40 else place


def sample_text(text: str, tokens: int) -> str:
    """Return the text, or parts from all over it if it is too long, each beginning with a whole sentence."""
    size = estimate_tokens(text)
    if size <= tokens:
        return text
    places = list(split_sentences(text))
    share = len(text) * tokens // size // TEXT_LIMITS.summary_parts
    parts = []
    for number in range(TEXT_LIMITS.summary_parts):
        begin = next((start for start, _ in places if start >= len(text) * number // TEXT_LIMITS.summary_parts), None)
        if begin is not None:
            space = text.rfind(" ", begin, begin + share)
            parts.append(text[begin : space if space > begin else begin + share])
    return "\n…\n".join(dict.fromkeys(parts))


# ── batches ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(eq=False)
class RequestBatch(Generic[T]):
    """The items of one request: at most `most`, with at most `room` characters. A longer item gets its own batch."""

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


def split_batches(
    items: Iterable[T],
    size: Callable[[T], int] = lambda item: 0,
    *,
    room: float = math.inf,
    most: float = math.inf,
    opening: Callable[[T], Sequence[T]] = lambda item: (),
) -> Iterator[tuple[T, ...]]:
    """Yield the items in their order, in batches as full as they may be. Each batch after the first begins with the
    `opening` of its first item, such as the header of a table."""
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
