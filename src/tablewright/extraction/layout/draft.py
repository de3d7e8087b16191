"""The result of every parser, and the writer that builds it: one text, its pages, its headings and its tables.

`TextDraft` records the offsets of each line, cell and heading while the text is written. Forms become "Label: value"
lines, tables rows of cells. Parsers of documents and the PDF reader of the web share it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from tablewright.domain.model import Struct
from tablewright.extraction.layout.page_layout import Columns
from tablewright.extraction.layout.pairs import LineCell, is_table_rule, split_bar_cells
from tablewright.text import CELL_SEPARATOR, SMALL_WORDS, clean_one_line


class ParsedTable(Struct, frozen=True):
    """A table: for each row its cells from left to right, each as (start, end) in the text.

    An empty cell has no length. `head` says that the first row names the columns."""

    rows: tuple[tuple[tuple[int, int], ...], ...]
    head: bool = True

    @property
    def start(self) -> int:
        return min(start for row in self.rows for start, _ in row)

    @property
    def end(self) -> int:
        return max(end for row in self.rows for _, end in row)


class Parsed(Struct, frozen=True):
    """A parsed file. `page_starts` are offsets into `text`, empty for formats without pages.

    `headings` are (start, end) of the lines that the format itself marks as headings. `notes` tell people what was
    left out."""

    text: str
    media: str
    title: str = ""
    page_starts: tuple[int, ...] = ()
    grids: tuple[ParsedTable, ...] = ()
    headings: tuple[tuple[int, int], ...] = ()
    notes: tuple[str, ...] = ()


class DraftLimits(Struct, frozen=True):
    # About twenty thousand pages; a longer text would not fit into the memory of a worker several times.
    characters: int = 50_000_000
    # A cell takes a hundred bytes and more in every process that it passes through.
    cells: int = 2_000_000


DRAFT_LIMITS = DraftLimits()

Place = tuple[int, int]

_WORD = re.compile(r"\w+")
# The number of a section, and what is before it: "Article " and "2" of "Article 2 – Rent".
_NUMBER = re.compile(r"(\D{0,20})(\d{1,4})\b")


class TextDraft:
    def __init__(self) -> None:
        self.length = 0
        self.notes: list[str] = []
        self._pieces: list[str] = []
        self._pages: list[int] = []
        self._grids: list[ParsedTable] = []
        self._headings: list[Place] = []
        self._rows: list[tuple[Place, ...]] = []
        self._cells = 0

    @property
    def has_text(self) -> bool:
        return any(self._pieces)

    @property
    def is_full(self) -> bool:
        return self.length >= DRAFT_LIMITS.characters

    def add_line(self, text: str) -> Place:
        """Add a line and return its place; an empty one is a blank line."""
        if self.is_full:
            return self.length, self.length
        text = text[: DRAFT_LIMITS.characters - self.length]
        start = self.length
        self._pieces.append(text)
        self.length += len(text) + 1
        return start, start + len(text)

    def add_heading(self, text: str) -> None:
        self.mark_heading(*self.add_line(text))

    def mark_heading(self, start: int, end: int) -> None:
        """Mark a line that is already written."""
        if start < end <= self.length:
            self._headings.append((start, end))

    def start_page(self) -> None:
        """Start a new page."""
        self._pages.append(self.length)

    def add_row(self, cells: Sequence[str]) -> None:
        """Write a row of the current table as a line.

        Empty cells at its end are counted but not written. In a row with a single filled cell no empty cell is
        written, so it reads like a line of text."""
        shown = [clean_one_line(cell) for cell in cells]
        filled = [at for at, cell in enumerate(shown) if cell]
        if not filled or self.is_full:
            return
        first, last = (filled[0] if len(filled) == 1 else 0), filled[-1]
        start, end = self.add_line(CELL_SEPARATOR.join(shown[first : last + 1]))
        if self._cells >= DRAFT_LIMITS.cells:
            return
        places, at = [], start
        for number, cell in enumerate(shown):
            here = min(at, end)
            places.append((here, min(here + len(cell), end)))
            at = here + len(cell) + (len(CELL_SEPARATOR) if first <= number < last else 0)
        self._rows.append(tuple(places))
        self._cells += len(places)
        if self._cells >= DRAFT_LIMITS.cells:
            self.notes.append(f"Only the first {DRAFT_LIMITS.cells:,} cells are kept as tables; the others are text.")

    def end_table(self, *, head: bool = True) -> None:
        self.add_table(self._rows, head=head)
        self._rows = []

    def add_table(self, rows: Sequence[tuple[Place, ...]], *, head: bool) -> None:
        """Add a table of places that are already written."""
        if rows and max(map(len, rows)) > 1:
            self._grids.append(ParsedTable(rows=tuple(rows), head=head and len(rows) > 1))

    def find_title(self) -> str:
        return find_title_heading("\n".join(self._pieces), self._headings)

    def finish(self, media: str, *, title: str = "") -> Parsed:
        """Return the result. A `title` of the file that does not fit the text gives way to a heading."""
        text = "\n".join(self._pieces)
        # Templates and converters leave wrong titles behind; the words of a right one occur on the first pages.
        if title and not title_matches_text(title, text[:20_000]):
            title = find_title_heading(text, self._headings)
        if self.is_full:
            self.notes.append(f"Only the first {DRAFT_LIMITS.characters:,} characters are kept.")
        return Parsed(
            text=text,
            media=media,
            title=clean_one_line(title)[:500],
            page_starts=tuple(min(start, len(text)) for start in self._pages),
            grids=tuple(self._grids),
            headings=tuple(self._headings),
            notes=tuple(self.notes),
        )


def find_title_heading(text: str, headings: Collection[Place]) -> str:
    """Return the heading that names the whole document, or "": the first, unless it is only the first of its sections.

    Sections are numbered ("1. Term", "2. Rent"), or have headings of one level below which there is text."""
    said = [(text[start:end].strip(), start, end) for start, end in sorted(headings) if text[start:end].strip()]
    if not said:
        return ""
    (first, _, end), *others = said
    if (mark := _NUMBER.match(first)) and any(
        other[1] == mark[1] and int(other[2]) == int(mark[2]) + 1
        for other in (_NUMBER.match(words) for words, _, _ in others)
        if other
    ):
        return ""
    level = _heading_level(text, said[0][1], end)
    equals = [words for words, start, end in others if 0 < _heading_level(text, start, end) <= level]
    if all(_NUMBER.match(words) for words in equals):
        return first
    return first if not text[end : others[0][1]].strip("#=- \n") else ""


def _heading_level(text: str, start: int, end: int) -> int:
    """Return the level of a Markdown heading, or 0 if there is none."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return line.count("#") or {"\n=": 1, "\n-": 2}.get(text[end : end + 2], 0)


def title_matches_text(title: str, text: str) -> bool:
    """Return True if the text has at least half of the title's words; it has none of "(anonymous)" or "about:blank"."""
    words = {word.casefold() for word in _WORD.findall(title)} - SMALL_WORDS
    return bool(words) and 2 * len(words.intersection(map(str.casefold, _WORD.findall(text)))) >= len(words)


def is_header_row(rows: Sequence[Sequence[str]]) -> bool:
    """Return True if the first row reads like names of columns: words in every cell, and below it something else."""
    if len(rows) < 2:
        return False
    first = [cell for cell in rows[0] if cell]
    if len(first) < 2 or len({cell.casefold() for cell in first}) < len(first):
        return False
    if len(first) == len(rows[0]) and not any(map(_has_letter, first)):
        return False
    # Names a column of a report, alone or as "2021 (restated)".
    # A cell that begins with a number, also in brackets or with a currency, names no column.
    if not all(
        re.match(r"(?:19|20)\d\d(?![\d.,/-])", cell) or (_has_letter(cell) and not re.match(r"[-+(€$£¥\s]*\d", cell))
        for cell in first
    ):
        return False
    return sum(cell.endswith(":") for cell in first) * 2 < len(first)


def _has_letter(cell: str) -> bool:
    return any(map(str.isalpha, cell))


# Between the fences of Markdown a bar is code, not the border of a cell.
FENCE = re.compile(r"\s{0,20}(?:```|~~~)")


def write_layout(draft: TextDraft, page: Sequence[str | Columns], headings: Collection[str] = ()) -> None:
    for _, parts in groupby(page, key=type):
        for part in (run := list(parts)):
            if isinstance(part, Columns):
                write_table(draft, part.rows)
        write_lines(
            draft, [shown for part in run if isinstance(part, str) and (shown := clean_one_line(part))], headings
        )


def write_lines(draft: TextDraft, lines: Sequence[str], headings: Collection[str] = ()) -> None:
    """Write the lines as they are; those with cells between bars, "a | b" or "| a | b |", also become a table."""
    fenced = ruled = False
    table: list[tuple[LineCell, ...]] = []
    for line in lines:
        fence = bool(FENCE.match(line))
        fenced ^= fence
        start, end = draft.add_line(line)
        if line in headings:
            draft.mark_heading(start, end)
        if not fenced and not fence and "|" in line and end - start == len(line):
            if is_table_rule(line):
                ruled = ruled or len(table) == 1
                continue
            cells = split_bar_cells(line, start)
            if len(cells) > 1 and (not table or abs(len(table[-1]) - len(cells)) <= ruled):
                table.append(cells)
                continue
        _mark_table(draft, table, ruled=ruled)
        table, ruled = [], False
    _mark_table(draft, table, ruled=ruled)


def _mark_table(draft: TextDraft, table: Sequence[Sequence[LineCell]], *, ruled: bool) -> None:
    if len(table) > 1:
        head = ruled or is_header_row([[cell.text for cell in row] for row in table])
        draft.add_table([tuple((cell.start, cell.end) for cell in row) for row in table], head=head)


def write_table(draft: TextDraft, rows: Sequence[Sequence[str]]) -> None:
    if _is_form_table(rows):
        for line in _form_lines(rows):
            draft.add_line(line)
    elif len(rows) == 1:
        draft.add_line(clean_one_line(" ".join(cell for cell in rows[0] if cell)))
    else:
        for row in rows:
            draft.add_row(row)
        draft.end_table(head=is_header_row(rows))


def _is_form_table(rows: Sequence[Sequence[str]]) -> bool:
    """Return True if every third cell is a label with a colon, alone in its cell or before its value."""
    cells = [cell for row in rows for cell in row if cell]
    labels = sum(cell.endswith(":") or ": " in cell[:60] for cell in cells)
    return labels * 3 >= len(cells)


def _form_lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a line for each label with its value, so that a value is not read as that of the next label."""
    shown = [[clean_one_line(cell) for cell in row] for row in rows]
    at = 0
    while at < len(shown):
        if at + 1 < len(shown) and _labels_above(shown[at], shown[at + 1]):
            for label, value in zip(shown[at], shown[at + 1], strict=True):
                if label or value:
                    yield f"{label} {value}".strip()
            at += 2
        else:
            yield from _labels_in_row(shown[at])
            at += 1


def _labels_above(row: Sequence[str], below: Sequence[str]) -> bool:
    labels = [cell for cell in row if cell]
    return len(labels) > 1 and all(cell.endswith(":") for cell in labels) and not any(":" in cell for cell in below)


def _labels_in_row(row: Sequence[str]) -> list[str]:
    out: list[str] = []
    open_label = False
    for cell in row:
        if not cell:
            # The empty cell is its value.
            open_label = False
        elif open_label and not cell.endswith(":"):
            out[-1] += f" {cell}"
            open_label = False
        else:
            out.append(cell)
            open_label = cell.endswith(":")
    return out
