"""What every parser makes of a file: one text, where its pages begin, and the tables in it."""

from __future__ import annotations

from tablewright.domain.model import Noun


class ParsedTable(Noun, frozen=True):
    """A table: for each row the cells from left to right, each where it stands in the text (start, end); an empty cell
    has no length. `head` says that the first row names the columns."""

    rows: tuple[tuple[tuple[int, int], ...], ...]
    head: bool = True

    @property
    def start(self) -> int:
        return min(start for row in self.rows for start, _ in row)

    @property
    def end(self) -> int:
        return max(end for row in self.rows for _, end in row)


class Parsed(Noun, frozen=True):
    """`page_starts` are offsets into `text`; empty for what has no pages. `headings` are (start, end) of the lines that
    the format itself marks as headings. `notes` say what was left out, in words for people."""

    text: str
    media: str
    title: str = ""
    page_starts: tuple[int, ...] = ()
    grids: tuple[ParsedTable, ...] = ()
    headings: tuple[tuple[int, int], ...] = ()
    notes: tuple[str, ...] = ()
