"""A text as lines and cells with their places, and what the whole text says about how it writes dates."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from tablewright.domain.model import Noun
from tablewright.values.dates import read_dates

LOOKED_AT_FOR_DATES = 200_000  # characters


class LineCell(Noun, frozen=True):
    """A piece of a line: `text` stands at `start`, without space around it."""

    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def moved(self, by: int) -> LineCell:
        return LineCell(text=self.text, start=self.start + by)


class TextLine(Noun, frozen=True):
    """`text` stands at `start`, stripped. `wraps`: it was written as if the next line went on with it."""

    text: str
    start: int
    cells: tuple[LineCell, ...]
    wraps: bool = False
    is_heading: bool = False

    @property
    def end(self) -> int:
        return self.start + len(self.text)


_GAP = re.compile(r"[ \u00a0\t]{2,}|\t")
WIDE = 70  # characters; prose that is so wide has been broken to fit the page


def lines_in(text: str, start: int, end: int, headings: Sequence[tuple[int, int]] = ()) -> Iterator[TextLine]:
    """The lines of `text[start:end]`; an empty one is told too, for it parts what stands above and below."""
    marked = frozenset(place for place, _ in headings)
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        raw = text[start:stop]
        stripped = raw.strip()
        at = start + len(raw) - len(raw.lstrip()) if stripped else start
        wraps = bool(stripped) and (raw[-1:] == " " or len(stripped) >= WIDE)
        heading = bool(marked) and (at in marked or start in marked)
        yield TextLine(text=stripped, start=at, cells=cells_in(stripped, at), wraps=wraps, is_heading=heading)
        start = stop + 1


def cells_in(line: str, start: int) -> tuple[LineCell, ...]:
    """The parts of a line that stand apart by a tab or by two spaces and more."""
    if "  " not in line and "\t" not in line and "\u00a0" not in line:
        return (LineCell(text=line, start=start),) if line else ()
    found: list[LineCell] = []
    place = 0
    for gap in _GAP.finditer(line):
        if gap.start() > place:
            found.append(LineCell(text=line[place : gap.start()], start=start + place))
        place = gap.end()
    found.append(LineCell(text=line[place:], start=start + place))
    return tuple(cell for cell in found if cell.text)


def cell_at(text: str, start: int, end: int) -> LineCell:
    """The same place without the space around it."""
    raw = text[start:end]
    return LineCell(text=raw.strip(), start=start + len(raw) - len(raw.lstrip()))


def page_at(page_starts: Sequence[int], offset: int) -> int | None:
    return (bisect_right(page_starts, offset) or None) if page_starts else None


_POINT = re.compile(r"(?<![\d.,])\d+\.(?:\d{1,2}|\d{4,})(?![\d.,]\d|\d)|\d,\d{3}\.\d")
_COMMA = re.compile(r"(?<![\d.,])\d+,(?:\d{1,2}|\d{4,})(?![\d.,]\d|\d)|\d\.\d{3},\d")


def decimal_mark_in(text: str) -> str:
    """How the text writes fractions, where its numbers agree on it: it settles whether 1.575 m is more than a km."""
    text = text[:LOOKED_AT_FOR_DATES]
    point, comma = bool(_POINT.search(text)), bool(_COMMA.search(text))
    return "" if point == comma else "." if point else ","


_WRITTEN_DATE = re.compile(r"(?<![\d/.-])(\d{1,2})\s?([/-])\s?(\d{1,2})\s?\2\s?(?:\d{4}|\d{2})(?![\d/])")
_IN_WORDS = re.compile(
    r"(?<!\w)(?:[^\W\d_]{3,12}\.?\s\d{1,2},?|\d{1,2}(?:st|nd|rd|th|\.)?\s[^\W\d_]{3,12}\.?,?)\s\d{4}(?!\d)"
)


def day_first_in(text: str) -> bool | None:
    """Whether 03/05/2021 is the third of May here; None where no other date of the text tells."""
    text = text[:LOOKED_AT_FOR_DATES]
    day, month, written = False, False, ""
    for date in _WRITTEN_DATE.finditer(text):
        first, second = int(date[1]), int(date[3])
        day = day or (12 < first <= 31 and 1 <= second <= 12)
        month = month or (12 < second <= 31 and 1 <= first <= 12)
        if first != second and max(first, second) <= 12:
            written = date[0]
    if day != month:
        return day
    return _reading_in_words(text, written) if written and not day else None


def _reading_in_words(text: str, written: str) -> bool | None:
    """Whether one reading of a date stands in words elsewhere: "12/06/2007" and "On December 6, 2007"."""
    found = next(iter(read_dates(written)), None)
    if found is None or not found.other_iso:
        return None
    named = {date.iso for words in set(_IN_WORDS.findall(text)) for date in read_dates(words)}
    return None if (found.iso in named) == (found.other_iso in named) else found.iso in named
