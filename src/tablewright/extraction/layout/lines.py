"""A text as lines, cells and tables, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from tablewright.domain.model import Noun
from tablewright.text import BAR


class LineCell(Noun, frozen=True):
    """A piece of a line: `text` stands at `start`, without space around it."""

    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


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

    @property
    def is_row(self) -> bool:
        return is_row(self.text)


_GAP = re.compile(r"[ \u00a0\t]{2,}|\t")
_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\s*+(?:\|\s*+)?:?-{2,}+:?\s*+(?:\|\s*+:?-{2,}+:?\s*+)*+\|?\s*+")
WIDE = 70  # characters; prose that is so wide has been broken to fit the page


def lines_in(text: str, start: int, end: int, headings: Sequence[tuple[int, int]] = ()) -> Iterator[TextLine]:
    """The lines of `text[start:end]`; an empty one is told too, for it parts what stands above and below."""
    marked = frozenset(place for place, _ in headings)
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        line = cell_at(text, start, stop)
        at = line.start if line.text else start
        wraps = bool(line.text) and (text[stop - 1] == " " or len(line.text) >= WIDE)
        heading = bool(marked) and (at in marked or start in marked)
        yield TextLine(text=line.text, start=at, cells=cells_in(line.text, at), wraps=wraps, is_heading=heading)
        start = stop + 1


def cells_in(line: str, start: int) -> tuple[LineCell, ...]:
    """The parts of a line that stand apart by a tab or by two spaces and more."""
    if "  " not in line and "\t" not in line and "\u00a0" not in line:
        return (LineCell(text=line, start=start),) if line else ()
    return tuple(cell for cell in _parts(_GAP, line, start, 0, len(line)) if cell.text)


def cells_between_bars(line: str, start: int) -> tuple[LineCell, ...]:
    """The cells of a row. Bars at both ends are its frame; a bar at one end has an empty cell beside it."""
    first, last = len(line) - len(line.lstrip()), len(line.rstrip())
    if last - first > 2 and line[first] == line[last - 1] == "|" and line[last - 2] != "\\":
        first, last = first + 1, last - 1
    return tuple(_parts(_BAR, line, start, first, last))


def _parts(mark: re.Pattern[str], line: str, start: int, first: int, last: int) -> Iterator[LineCell]:
    for found in mark.finditer(line, first, last):
        yield cell_at(line, first, found.start(), start)
        first = found.end()
    yield cell_at(line, first, last, start)


def cell_at(text: str, start: int, end: int, moved: int = 0) -> LineCell:
    """The same place without the space around it; `moved` is where the text itself stands."""
    raw = text[start:end]
    return LineCell(text=raw.strip(), start=moved + start + len(raw) - len(raw.lstrip()))


def is_row(line: str) -> bool:
    """Whether it has cells between bars: "a | b" or, as in Markdown, "|a|b|"."""
    line = line.strip()
    return BAR in f" {line} " or (len(line) > 2 and line[0] == line[-1] == "|")


def is_rule(line: str) -> bool:
    """Whether it is what Markdown puts below the header of a table: "|---|---|"."""
    return "|" in line and bool(_RULE.fullmatch(line))


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def barred_tables(lines: Sequence[TextLine]) -> list[tuple[tuple[LineCell, ...], ...]]:
    """The rows of each run of lines with cells between bars."""
    runs = (run for is_row, run in groupby(lines, key=lambda line: line.is_row) if is_row)
    found = (tuple(cells_between_bars(line.text, line.start) for line in run if not is_rule(line.text)) for run in runs)
    return [rows for rows in found if rows]


def aligned_tables(lines: Sequence[TextLine]) -> Iterator[tuple[int, int, list[list[LineCell]]]]:
    """Runs of lines with three cells and more under a line of names: from, to (exclusive), and the rows."""
    number = 0
    while number < len(lines) - 1:
        head = lines[number]
        after = number + 1
        if len(head.cells) >= 3 and _names_columns(head):
            while after < len(lines) and len(lines[after].cells) >= 2:
                after += 1
            if after > number + 1:
                yield number, after, [list(head.cells), *(_placed(line, head) for line in lines[number + 1 : after])]
        number = after


def _names_columns(line: TextLine) -> bool:
    return ":" not in line.text and all(len(cell.text) <= 40 and not cell.text[0].isdecimal() for cell in line.cells)


def _placed(line: TextLine, head: TextLine) -> list[LineCell]:
    """The cells of a line under the names of the columns: in order, or where they stand where some are missing."""
    if len(line.cells) == len(head.cells):
        return list(line.cells)
    row = [LineCell(text="", start=line.start) for _ in head.cells]
    centres = [cell.start - head.start + len(cell.text) / 2 for cell in head.cells]
    for cell in line.cells:
        centre = cell.start - line.start + len(cell.text) / 2
        nearest = min(range(len(centres)), key=lambda place: abs(centres[place] - centre))
        if not row[nearest].text:
            row[nearest] = cell
    return row
