"""A page as numbered lines, so that a reader can name rows of its tables and lists by their numbers.

The page reader writes a row of a table as one line, its cells between bars, and an item of a list as a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tablewright.citations.quotes import LEFT_OUT, clean, looks_like_prompt_injection
from tablewright.domain.model import Noun
from tablewright.extraction.layout.pairs import cells_between_bars, is_row, is_rule
from tablewright.models.text_budget import AROUND_A_LINE, PAGE_LINE, batches, cut_text

_FOOTNOTE = re.compile(r"\s{0,4}\[(?:\d{1,3}|[a-z]|(?:nb|note|n) \d{1,3})\]")


class NumberedLine(Noun, frozen=True):
    """`text[start:end]` of its page; numbers begin with 1."""

    number: int
    text: str
    start: int
    end: int

    @property
    def cells(self) -> tuple[str, ...]:
        """Of a row of a table, without the marks of footnotes; a single one for any other line."""
        cells = [cell.text for cell in cells_between_bars(self.text, 0)] if self.is_row else [self.text]
        return tuple(_FOOTNOTE.sub("", cell).strip() for cell in cells)

    @property
    def is_row(self) -> bool:
        return is_row(self.text)


def lines_of(text: str) -> tuple[NumberedLine, ...]:
    found = (match for match in re.finditer(r"[^\n]+", text) if match[0].strip() and not is_rule(match[0]))
    return tuple(
        NumberedLine(number=number, text=match[0], start=match.start(), end=match.end())
        for number, match in enumerate(found, start=1)
    )


def shown(lines: Sequence[NumberedLine]) -> str:
    """The lines with their numbers; what gives orders to machines is left out before a number could hide it."""
    return "\n".join(
        f"[{line.number}] "
        f"{LEFT_OUT if looks_like_prompt_injection(line.text) else cut_text(clean(line.text), PAGE_LINE, ' …')}"
        for line in lines
    )


def parts_that_fit(lines: Sequence[NumberedLine], room: int) -> Iterator[tuple[NumberedLine, ...]]:
    """Yield the lines in parts that fit; one that begins inside a table begins with the line above the table and its
    first row, which name what it lists and its columns."""
    opening: dict[int, tuple[NumberedLine, ...]] = {}
    above: tuple[NumberedLine, ...] = ()
    header: tuple[NumberedLine, ...] = ()
    for line in lines:
        opening[line.number] = (*above, *header) if line.is_row else ()
        header = (header or (line,)) if line.is_row else ()
        above = above if line.is_row else (line,)
    return batches(
        lines,
        lambda line: min(len(line.text), PAGE_LINE) + AROUND_A_LINE,
        room=room,
        opening=lambda line: opening[line.number],
    )
