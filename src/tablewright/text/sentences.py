"""Where the sentences of a text begin and end, and the rows of its tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from tablewright.domain.model import Noun

LOOKED_AT = 400_000  # characters of a page
BAR = " | "
"""Between the cells of a row of a table."""


class PageSentence(Noun, frozen=True):
    """`text` stands at `start`; `number` counts from the beginning of the page."""

    text: str
    start: int
    number: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


# ── of a page, on which a sentence is on one line ────────────────────────────────────────────────────────────────────

_LINE_END = re.compile(r"[.!?…]['\"”’)\]]*(?:\[\d+\])*\s+(?=[\"“'‘(\[]?[A-ZÀ-ÞА-ЯΑ-Ω0-9\u0900-\uffff])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Inc|Corp|Ltd|Co|Cos|Bros|St|Mt|Ft|Dr|Mr|Mrs|Ms|Jr|Sr|No|Nos|vs|v|Gov|Sen|Rep|Gen|Col|Capt|Lt|Prof|Rev|Hon"
    r"|approx|ca|c|est|b|d|fl|Vol|vol|pp|p|ed|eds|Ave|Blvd|Rd|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec|e\.g"
    r"|i\.e|etc|U\.S|U\.K|D\.C|a\.m|p\.m)|\b[A-Z]|(?:\b[A-Z]\.){1,6}[A-Z])\.$"
)


@lru_cache(maxsize=128)
def page_sentences(text: str) -> tuple[PageSentence, ...]:
    found = (piece for line, start in _lines(text) if BAR not in line for piece in _in_line(line, start))
    return tuple(PageSentence(text=said, start=start, number=number) for number, (said, start) in enumerate(found))


@lru_cache(maxsize=128)
def page_pieces(text: str) -> tuple[tuple[int, int], ...]:
    """Where each sentence, then where each row of a table begins and ends."""
    rows = ((start, start + len(line)) for line, start in _lines(text) if BAR in line)
    return (*((each.start, each.end) for each in page_sentences(text)), *rows)


def _lines(text: str) -> Iterator[tuple[str, int]]:
    start = 0
    for line in text[:LOOKED_AT].split("\n"):
        if stripped := line.strip():
            yield stripped, start + line.index(stripped[0])
        start += len(line) + 1


def _in_line(line: str, at: int) -> Iterator[tuple[str, int]]:
    start = 0
    for end in _LINE_END.finditer(line):
        if not _ABBREVIATION.search(line, max(start, end.start() - 12), end.start() + 1):
            yield line[start : end.end()].rstrip(), at + start
            start = end.end()
    if start < len(line):
        yield line[start:], at + start


# ── of any text, whose lines may be broken to fit ────────────────────────────────────────────────────────────────────

_END = re.compile(
    r"[.!?。！？][\"”’')\]]{0,3}(?=\s)\s{1,20}(?=[\"“‘'(\[]{0,2}[^\W_a-z])"
    r"|(?<!\n)\n(?:[^\S\n]*+\n)++"  # an empty line
)
_SHORTENED = re.compile(r"(?<![^\W_])[^\W\d_]{1,2}\.$")  # "Dr.", "J. R.", "No."


def sentences(text: str) -> list[tuple[int, int]]:
    """All that has a letter in it, in order, without the space around it. A line that is broken to fit goes on."""
    found = []
    start = 0
    for end in _END.finditer(text):
        if not _SHORTENED.search(text, max(0, end.start() - 3), end.start() + 1):
            found.append((start, end.end()))
            start = end.end()
    found.append((start, len(text)))
    return [_stripped(text, start, end) for start, end in found if any(map(str.isalpha, text[start:end]))]


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
