"""Words at their places on a page as lines and tables, in the order in which a person reads them.

Words beside each other form a line; a wide gap in a line divides it into pieces. Where the pieces of the lines below
each other stand in the same columns, they are a table or a form. Columns of running text (a newspaper) are read one
after the other, everything else from the top down.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

WIDE_GAP = 0.95
"""Of the height of a line; a space between words is a quarter of it, in stretched lines up to two thirds."""
SAME_LINE = 0.5
SAME_BASE = 0.12
"""Of the height: rows of a table stand on one line, blocks of text beside each other seldom do."""
TIGHT = 0.45
"""The gap between lines of one cell, at most, in heights of a line; rows of a table stand further apart or fill
several columns."""
FAR = 3.0
"""Lines further apart than so many heights do not belong to one table."""
PROSE_WORDS = 5
PROSE_LINES = 4
LARGE = 1.12
MOST_HEADING_WORDS = 12
MOST_HEADING_LINES = 2
"""More large lines below each other are an address or a text in large letters."""
MOST_ALONE = 4
"""Lines of a single piece within a table: more of them in a row, and the table has ended."""
ALIGNED = 2.0
"""Points."""
SMALL_GAP = 0.4
"""Of the height: more than a space between words."""


@dataclass(slots=True)
class Word:
    """`top` is the distance from the upper edge of the page, so larger is lower."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


@dataclass(slots=True)
class LayoutPiece:
    """Words of one line without a wide gap between them."""

    words: list[Word]

    @property
    def left(self) -> float:
        return self.words[0].left

    @property
    def right(self) -> float:
        return self.words[-1].right

    @property
    def base(self) -> float:
        return median(word.bottom for word in self.words)

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


@dataclass(slots=True)
class LayoutLine:
    pieces: list[LayoutPiece]
    top: float
    bottom: float

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def words(self) -> list[Word]:
        return [word for piece in self.pieces for word in piece.words]

    @property
    def text(self) -> str:
        return " ".join(piece.text for piece in self.pieces)


@dataclass(slots=True)
class Columns:
    """Lines whose pieces stand in the same columns, as rows of cells."""

    rows: list[list[str]] = field(default_factory=list)


def has_columns(words: Sequence[Word]) -> bool:
    """Return True if the words as they come are more than running text in reading order: cheap, and asked of every
    page."""
    wide_gaps = 0
    goes_up = False
    for before, after in pairwise(words):
        height = before.bottom - before.top
        shift = after.top - before.top
        if abs(shift) < SAME_LINE * height:
            gap = after.left - before.right
            wide_gaps += gap > WIDE_GAP * height or gap < -height
            if wide_gaps >= 2:
                return True
        elif shift < -height:
            goes_up = True
    if not goes_up:
        return False
    # Another column of running text, which is in its order already; or values that were written before their labels.
    beside = [line for line in lines_of(words) if len(line.pieces) > 1]
    short = sum(min(len(piece.words) for piece in line.pieces) < PROSE_WORDS for line in beside)
    return short >= 2 and short * 2 > len(beside)


def large_lines(words: Sequence[Word]) -> frozenset[str]:
    """Lines in larger letters than most of the page: what it has for headings."""
    if not words:
        return frozenset()
    usual = median(word.bottom - word.top for word in words)
    runs: list[list[list[Word]]] = [[]]
    for word in words:
        if word.bottom - word.top < LARGE * usual:
            if runs[-1]:
                runs.append([])
        elif runs[-1] and _goes_on(runs[-1][-1][-1], word):
            runs[-1][-1].append(word)
        elif runs[-1] and not 0 <= word.bottom - runs[-1][-1][-1].bottom < FAR * usual:
            runs.append([[word]])
        else:
            runs[-1].append([word])
    lines = (line for run in runs if len(run) <= MOST_HEADING_LINES for line in run)
    texts = (" ".join(word.text for word in line) for line in lines if len(line) <= MOST_HEADING_WORDS)
    return frozenset(filter(_is_heading, texts))


def _goes_on(last: Word, word: Word) -> bool:
    return abs(word.bottom - last.bottom) < SAME_BASE * (last.bottom - last.top) and word.left > last.left


def _is_heading(text: str) -> bool:
    letters, digits = sum(map(str.isalpha, text)), sum(map(str.isdigit, text))
    return letters > 2 * digits and ": " not in text and not text.endswith((".", ":", ",", ";", "-"))


def laid_out(words: Iterable[Word]) -> list[str | Columns]:
    """The page from the top down: a line of text, or a table."""
    lines = lines_of(words)
    out: list[str | Columns] = []
    at = 0
    while at < len(lines):
        band = _band(lines, at)
        at += len(band.lines)
        apart = band.blocks_apart()
        if len(band.columns) == 1:
            out += [line.text for line in band.lines]
        elif len(apart) > 1:
            for left, right in apart:
                out += laid_out(word for line in band.lines for word in line.words if left <= word.left < right)
        else:
            out.append(Columns(rows=_rows(band)))
    return out


def lines_of(words: Iterable[Word]) -> list[LayoutLine]:
    """Words on one height, from left to right, divided where the gaps are wide."""
    lines: list[list[Word]] = []
    for word in sorted(words, key=lambda word: (word.top + word.bottom, word.left)):
        middle = (word.top + word.bottom) / 2
        if lines:
            last = lines[-1][-1]
            height = min(word.bottom - word.top, last.bottom - last.top)
            if middle - (last.top + last.bottom) / 2 < SAME_LINE * height:
                lines[-1].append(word)
                continue
        lines.append([word])
    return [_line(sorted(line, key=lambda word: word.left)) for line in lines]


def _line(words: list[Word]) -> LayoutLine:
    height = median(word.bottom - word.top for word in words)
    pieces = [LayoutPiece(words[:1])]
    for before, word in pairwise(words):
        if word.left - before.right > WIDE_GAP * height:
            pieces.append(LayoutPiece([word]))
        else:
            pieces[-1].words.append(word)
    return LayoutLine(pieces, min(word.top for word in words), max(word.bottom for word in words))


Span = tuple[float, float]


@dataclass(slots=True)
class _Band:
    """Lines below each other whose pieces stand in the same columns."""

    lines: list[LayoutLine]
    columns: list[Span]

    def cell(self, line: LayoutLine, column: int) -> str:
        left, right = self.columns[column]
        return " ".join(piece.text for piece in line.pieces if piece.left < right and piece.right > left)

    def pieces(self, column: int) -> list[LayoutPiece | None]:
        """For each line what it has in the column."""
        left, right = self.columns[column]
        inside = ([piece for piece in line.pieces if piece.left < right and piece.right > left] for line in self.lines)
        return [found[0] if found else None for found in inside]

    def blocks_apart(self) -> list[Span]:
        """Return the stretches of the width whose columns have nothing to do with each other, to be read one by one."""
        if len(self.columns) < 2 or len(self.lines) < 2:
            return [(float("-inf"), float("inf"))]
        ragged = sum(_overlap(above, line) for above, line in pairwise(self.lines))
        edges = [float("-inf")]
        for column in range(len(self.columns) - 1):
            here, beside = self.pieces(column), self.pieces(column + 1)
            filled = len(here) - here.count(None)
            fewer = min(filled, len(beside) - beside.count(None))
            both = [(a, b, line) for a, b, line in zip(here, beside, self.lines, strict=True) if a and b]
            level = sum(abs(a.base - b.base) < SAME_BASE * line.height for a, b, line in both)
            apart = ragged + len(both) - level >= 2 and fewer >= 2 and level < 0.7 * fewer
            prose = self._runs_on(column) and (self._runs_on(column + 1) or len(both) < 0.6 * filled)
            if apart or prose:
                edges.append(self.columns[column + 1][0] - 0.01)
        return list(zip(edges, [*edges[1:], float("inf")], strict=True))

    def _runs_on(self, column: int) -> bool:
        """Running text: many lines, each of many words that fill the width."""
        left, right = self.columns[column]
        pieces = [piece for piece in self.pieces(column) if piece is not None]
        return (
            len(pieces) >= PROSE_LINES
            and median(len(piece.words) for piece in pieces) >= PROSE_WORDS
            and median(piece.right - left for piece in pieces) >= 0.75 * (right - left)
        )


def _band(lines: Sequence[LayoutLine], first: int) -> _Band:
    """The lines from `first` on that share columns."""
    band = _Band([lines[first]], [(piece.left, piece.right) for piece in lines[first].pieces])
    if len(band.columns) == 1 and not _leads(lines, first):
        return band
    kept = 1
    for at in range(first + 1, len(lines)):
        line, above = lines[at], band.lines[-1]
        if line.top - above.bottom > FAR * min(line.height, above.height):
            break
        if len(line.pieces) == 1 and (line.height > 1.2 * above.height or len(band.lines) - kept >= MOST_ALONE):
            break
        grown = _with_line(band, line)
        if grown is None or (len(grown.columns) > len(band.columns) and _apart(line, above) and kept > 1):
            break
        band = grown
        if len(band.lines[-1].pieces) > 1 or (kept == len(band.lines) - 1 and _close(band.lines[-1], above)):
            kept = len(band.lines)
    return _Band(band.lines[:kept], _columns(band.lines[:kept]) or band.columns)


def _leads(lines: Sequence[LayoutLine], at: int) -> bool:
    """A line of one piece begins a table where the row below it is so near that both are one row of it."""
    return at + 1 < len(lines) and len(lines[at + 1].pieces) > 1 and _overlap(lines[at], lines[at + 1])


def _overlap(above: LayoutLine, line: LayoutLine) -> bool:
    return line.top < above.bottom - 0.25 * min(line.height, above.height)


def _apart(line: LayoutLine, above: LayoutLine) -> bool:
    return line.top - above.bottom > 1.5 * line.height


def _close(line: LayoutLine, above: LayoutLine) -> bool:
    return line.top - above.bottom < TIGHT * line.height


def _with_line(band: _Band, line: LayoutLine) -> _Band | None:
    """The band and this line; pieces are divided at the other side's columns where their words stand in them."""
    joined = _joined(band.columns, line)
    if joined is not None:
        return _Band([*band.lines, line], joined)
    parted = _parted(line, band.columns)
    joined = _joined(band.columns, parted)
    if joined is not None:
        return _Band([*band.lines, parted], joined)
    if len(line.pieces) < 2:
        return None
    spans = [(piece.left, piece.right) for piece in parted.pieces]
    finer = [*(_parted(each, spans) for each in band.lines), parted]
    columns = _columns(finer)
    return None if columns is None else _Band(finer, columns)


def _columns(lines: Sequence[LayoutLine]) -> list[Span] | None:
    columns: list[Span] = []
    for line in sorted(lines, key=lambda line: -len(line.pieces)):
        joined = _joined(columns, line)
        if joined is None:
            return None
        columns = joined
    return columns


def _joined(columns: list[Span], line: LayoutLine) -> list[Span] | None:
    """The columns with this line in them; None where one of its pieces lies across two of them."""
    out = list(columns)
    taken: set[int] = set()
    for piece in line.pieces:
        touched = [at for at, (left, right) in enumerate(out) if piece.left < right and piece.right > left]
        if len(touched) > 1 or (touched and touched[0] in taken):
            return None
        if touched:
            at = touched[0]
            out[at] = (min(out[at][0], piece.left), max(out[at][1], piece.right))
        else:
            at = sum(left < piece.left for left, _ in out)
            out.insert(at, (piece.left, piece.right))
            taken = {each + (each >= at) for each in taken}
        taken.add(at)
    return out


def _parted(line: LayoutLine, columns: Sequence[Span]) -> LayoutLine:
    """The line divided also where a word begins at the left edge of a column, or a piece would end at its right edge:
    a full cell leaves no wide gap to the next one. Names of columns may leave no more than a space."""
    divided = _divided(line, columns, SMALL_GAP)
    if any(map(str.isdigit, line.text)):
        return divided
    names = _divided(line, columns, 0.0)
    if len(names.pieces) > max(2, len(divided.pieces)) and all(_is_aligned(piece, columns) for piece in names.pieces):
        return names
    return divided


def _divided(line: LayoutLine, columns: Sequence[Span], gap: float) -> LayoutLine:
    pieces: list[LayoutPiece] = []
    for piece in line.pieces:
        inside = [span for span in columns if span[0] < piece.right and span[1] > piece.left]
        current = [piece.words[0]]
        for word in piece.words[1:]:
            begins = any(abs(word.left - left) < ALIGNED for left, _ in inside)
            ended = any(abs(current[-1].right - right) < ALIGNED and word.left > right for _, right in inside)
            wide = word.left - current[-1].right > gap * line.height
            if len(inside) > 1 and wide and (begins or ended):
                pieces.append(LayoutPiece(current))
                current = [word]
            else:
                current.append(word)
        pieces.append(LayoutPiece(current))
    return LayoutLine(pieces, line.top, line.bottom)


def _is_aligned(piece: LayoutPiece, columns: Sequence[Span]) -> bool:
    return any(abs(piece.left - left) < ALIGNED or abs(piece.right - right) < 2 * ALIGNED for left, right in columns)


def _rows(band: _Band) -> list[list[str]]:
    rows: list[list[str]] = []
    above: LayoutLine | None = None
    for line in band.lines:
        cells = [band.cell(line, column) for column in range(len(band.columns))]
        if above is not None and _belongs_above(cells, rows[-1], line, above):
            rows[-1] = [" ".join(part for part in both if part) for both in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
        above = line
    return _without_doubles(rows, band)


def _belongs_above(cells: list[str], row: list[str], line: LayoutLine, above: LayoutLine) -> bool:
    """The rest of wrapped cells: no first cell, few others, close below; or half beside the row above."""
    filled = [at for at, cell in enumerate(cells) if cell]
    if any(_is_figure(cells[at]) and _is_figure(row[at]) for at in filled):
        return False
    if _overlap(above, line):
        return True
    return _close(line, above) and not cells[0] and len(filled) * 2 <= len(cells) and all(row[at] for at in filled)


def _is_figure(cell: str) -> bool:
    digits = sum(map(str.isdigit, cell))
    return digits > 0 and sum(map(str.isalpha, cell)) <= digits


def _without_doubles(rows: list[list[str]], band: _Band) -> list[list[str]]:
    """A heading that stands a little beside its column makes two of one: neighbours that are never both filled."""
    height = median(line.height for line in band.lines)
    at = 0
    columns = list(band.columns)
    while at + 1 < len(columns):
        near = columns[at + 1][0] - columns[at][1] < 1.5 * height
        if near and not any(row[at] and row[at + 1] for row in rows):
            rows = [[*row[:at], row[at] or row[at + 1], *row[at + 2 :]] for row in rows]
            columns[at : at + 2] = [(columns[at][0], columns[at + 1][1])]
        else:
            at += 1
    return rows
