"""Turn words with positions on a page into lines and tables, in reading order. Only geometry counts, not meaning.

Words at one height form a line; a wide gap in a line divides it into pieces. Lines below each other whose pieces share
columns are a table or a form. Columns of running text (a newspaper) are read one after the other, everything else from
the top down. Thresholds are fractions of a line's height unless they say otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median


@dataclass(frozen=True)
class LayoutThresholds:
    # A space between words is a quarter of the height, in justified lines up to two thirds.
    wide_gap: float = 0.95
    # Two words whose middles are closer than this are on one line.
    same_line: float = 0.5
    # Rows of a table share a baseline; neighbouring blocks of text seldom do.
    same_base: float = 0.12
    # Lines further apart than so many heights do not belong to one table.
    far: float = 3.0
    # A piece with fewer words is a cell rather than a line of running text.
    prose_words: int = 5
    # Edges of a column may differ by rounding and by the shapes of letters.
    aligned_points: float = 2.0


THRESHOLDS = LayoutThresholds()


@dataclass(slots=True)
class PlacedWord:
    """`top` is the distance from the upper edge of the page, so larger is lower."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


@dataclass(slots=True)
class LayoutPiece:
    """Words of one line without a wide gap between them."""

    words: list[PlacedWord]

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
    def words(self) -> list[PlacedWord]:
        return [word for piece in self.pieces for word in piece.words]

    @property
    def text(self) -> str:
        return " ".join(piece.text for piece in self.pieces)


@dataclass(slots=True)
class Columns:
    """A table: lines whose pieces share columns, as rows of cells."""

    rows: list[list[str]] = field(default_factory=list)


def has_columns(words: Sequence[PlacedWord]) -> bool:
    """Return True if the words are more than running text in reading order; cheap, as every page is tested."""
    wide_gaps = 0
    goes_up = False
    for before, after in pairwise(words):
        height = before.bottom - before.top
        shift = after.top - before.top
        if abs(shift) < THRESHOLDS.same_line * height:
            gap = after.left - before.right
            wide_gaps += gap > THRESHOLDS.wide_gap * height or gap < -height
            if wide_gaps >= 2:
                return True
        elif shift < -height:
            goes_up = True
    if not goes_up:
        return False
    # Either another column of running text, which is already in order, or values that were written before their labels.
    divided = [line for line in group_into_lines(words) if len(line.pieces) > 1]
    short = sum(min(len(piece.words) for piece in line.pieces) < THRESHOLDS.prose_words for line in divided)
    return short >= 2 and short * 2 > len(divided)


def find_large_lines(words: Sequence[PlacedWord]) -> frozenset[str]:
    """Return the lines in larger letters than most of the page: its headings."""
    if not words:
        return frozenset()
    usual = median(word.bottom - word.top for word in words)
    runs: list[list[list[PlacedWord]]] = [[]]
    for word in words:
        # Fonts of one size differ by less.
        if word.bottom - word.top < 1.12 * usual:
            if runs[-1]:
                runs.append([])
        elif runs[-1] and _continues_line(runs[-1][-1][-1], word):
            runs[-1][-1].append(word)
        elif runs[-1] and not 0 <= word.bottom - runs[-1][-1][-1].bottom < THRESHOLDS.far * usual:
            runs.append([[word]])
        else:
            runs[-1].append([word])
    # More than two large lines below each other are an address or a text in large letters.
    lines = (line for run in runs if len(run) <= 2 for line in run)
    texts = (" ".join(word.text for word in line) for line in lines if len(line) <= 12)
    return frozenset(filter(_reads_as_heading, texts))


def _continues_line(last: PlacedWord, word: PlacedWord) -> bool:
    return abs(word.bottom - last.bottom) < THRESHOLDS.same_base * (last.bottom - last.top) and word.left > last.left


def _reads_as_heading(text: str) -> bool:
    letters, digits = sum(map(str.isalpha, text)), sum(map(str.isdigit, text))
    return letters > 2 * digits and ": " not in text and not text.endswith((".", ":", ",", ";", "-"))


def lay_out_page(words: Iterable[PlacedWord]) -> list[str | Columns]:
    """Return the page from the top down: each part a line of text or a table."""
    lines = group_into_lines(words)
    out: list[str | Columns] = []
    at = 0
    while at < len(lines):
        band = _find_band(lines, at)
        at += len(band.lines)
        apart = band.blocks_apart()
        if len(band.columns) == 1:
            out += [line.text for line in band.lines]
        elif len(apart) > 1:
            for left, right in apart:
                out += lay_out_page(word for line in band.lines for word in line.words if left <= word.left < right)
        else:
            out.append(Columns(rows=_band_rows(band)))
    return out


def group_into_lines(words: Iterable[PlacedWord]) -> list[LayoutLine]:
    """Return the lines from the top down, their words from left to right, divided at wide gaps."""
    lines: list[list[PlacedWord]] = []
    for word in sorted(words, key=lambda word: (word.top + word.bottom, word.left)):
        middle = (word.top + word.bottom) / 2
        if lines:
            last = lines[-1][-1]
            height = min(word.bottom - word.top, last.bottom - last.top)
            if middle - (last.top + last.bottom) / 2 < THRESHOLDS.same_line * height:
                lines[-1].append(word)
                continue
        lines.append([word])
    return [_make_line(sorted(line, key=lambda word: word.left)) for line in lines]


def _make_line(words: list[PlacedWord]) -> LayoutLine:
    height = median(word.bottom - word.top for word in words)
    pieces = [LayoutPiece(words[:1])]
    for before, word in pairwise(words):
        if word.left - before.right > THRESHOLDS.wide_gap * height:
            pieces.append(LayoutPiece([word]))
        else:
            pieces[-1].words.append(word)
    return LayoutLine(pieces, min(word.top for word in words), max(word.bottom for word in words))


Span = tuple[float, float]


@dataclass(slots=True)
class _Band:
    """Lines below each other whose pieces share columns."""

    lines: list[LayoutLine]
    columns: list[Span]

    def cell(self, line: LayoutLine, column: int) -> str:
        left, right = self.columns[column]
        return " ".join(piece.text for piece in line.pieces if piece.left < right and piece.right > left)

    def pieces(self, column: int) -> list[LayoutPiece | None]:
        """Return the piece of each line in the column, or None."""
        left, right = self.columns[column]
        inside = ([piece for piece in line.pieces if piece.left < right and piece.right > left] for line in self.lines)
        return [found[0] if found else None for found in inside]

    def blocks_apart(self) -> list[Span]:
        """Return the ranges of the width that hold unrelated columns, to be read one after the other."""
        if len(self.columns) < 2 or len(self.lines) < 2:
            return [(float("-inf"), float("inf"))]
        ragged = sum(_lines_overlap(above, line) for above, line in pairwise(self.lines))
        edges = [float("-inf")]
        for column in range(len(self.columns) - 1):
            here, right = self.pieces(column), self.pieces(column + 1)
            filled = len(here) - here.count(None)
            fewer = min(filled, len(right) - right.count(None))
            both = [(a, b, line) for a, b, line in zip(here, right, self.lines, strict=True) if a and b]
            level = sum(abs(a.base - b.base) < THRESHOLDS.same_base * line.height for a, b, line in both)
            apart = ragged + len(both) - level >= 2 and fewer >= 2 and level < 0.7 * fewer
            prose = self._runs_on(column) and (self._runs_on(column + 1) or len(both) < 0.6 * filled)
            if apart or prose:
                edges.append(self.columns[column + 1][0] - 0.01)
        return list(zip(edges, [*edges[1:], float("inf")], strict=True))

    def _runs_on(self, column: int) -> bool:
        """Return True for running text: many lines, each of many words that fill the width."""
        left, right = self.columns[column]
        pieces = [piece for piece in self.pieces(column) if piece is not None]
        return (
            len(pieces) >= 4
            and median(len(piece.words) for piece in pieces) >= THRESHOLDS.prose_words
            and median(piece.right - left for piece in pieces) >= 0.75 * (right - left)
        )


def _find_band(lines: Sequence[LayoutLine], first: int) -> _Band:
    """Return the lines from `first` on that share columns."""
    band = _Band([lines[first]], [(piece.left, piece.right) for piece in lines[first].pieces])
    if len(band.columns) == 1 and not _opens_table(lines, first):
        return band
    kept = 1
    for at in range(first + 1, len(lines)):
        line, above = lines[at], band.lines[-1]
        if line.top - above.bottom > THRESHOLDS.far * min(line.height, above.height):
            break
        # A heading, or the fifth line in a row with a single piece: the table has ended.
        if len(line.pieces) == 1 and (line.height > 1.2 * above.height or len(band.lines) - kept >= 4):
            break
        grown = _add_line_to_band(band, line)
        if grown is None or (len(grown.columns) > len(band.columns) and _are_lines_apart(line, above) and kept > 1):
            break
        band = grown
        if len(band.lines[-1].pieces) > 1 or (kept == len(band.lines) - 1 and _are_lines_close(band.lines[-1], above)):
            kept = len(band.lines)
    return _Band(band.lines[:kept], _find_columns(band.lines[:kept]) or band.columns)


def _opens_table(lines: Sequence[LayoutLine], at: int) -> bool:
    """Return True if a line of one piece begins a table: the row below is so near that both are one row."""
    return at + 1 < len(lines) and len(lines[at + 1].pieces) > 1 and _lines_overlap(lines[at], lines[at + 1])


def _lines_overlap(above: LayoutLine, line: LayoutLine) -> bool:
    return line.top < above.bottom - 0.25 * min(line.height, above.height)


def _are_lines_apart(line: LayoutLine, above: LayoutLine) -> bool:
    return line.top - above.bottom > 1.5 * line.height


def _are_lines_close(line: LayoutLine, above: LayoutLine) -> bool:
    """Return True if the lines can be of one cell; rows of a table are further apart or fill several columns."""
    return line.top - above.bottom < 0.45 * line.height


def _add_line_to_band(band: _Band, line: LayoutLine) -> _Band | None:
    """Return the band with this line, or None; pieces are split at the other side's columns if their words fit them."""
    joined = _join_line_columns(band.columns, line)
    if joined is not None:
        return _Band([*band.lines, line], joined)
    parted = _split_at_columns(line, band.columns)
    joined = _join_line_columns(band.columns, parted)
    if joined is not None:
        return _Band([*band.lines, parted], joined)
    if len(line.pieces) < 2:
        return None
    spans = [(piece.left, piece.right) for piece in parted.pieces]
    finer = [*(_split_at_columns(each, spans) for each in band.lines), parted]
    columns = _find_columns(finer)
    return None if columns is None else _Band(finer, columns)


def _find_columns(lines: Sequence[LayoutLine]) -> list[Span] | None:
    columns: list[Span] = []
    for line in sorted(lines, key=lambda line: -len(line.pieces)):
        joined = _join_line_columns(columns, line)
        if joined is None:
            return None
        columns = joined
    return columns


def _join_line_columns(columns: list[Span], line: LayoutLine) -> list[Span] | None:
    """Return the columns including this line; None if one of its pieces lies across two of them."""
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


def _split_at_columns(line: LayoutLine, columns: Sequence[Span]) -> LayoutLine:
    """Return the line, also divided where a word begins at a column's left edge or ends at its right edge.

    A full cell leaves no wide gap to the next one, and names of columns may leave no more than a space."""
    # More than a space between words.
    divided = _split_pieces(line, columns, 0.4)
    if any(map(str.isdigit, line.text)):
        return divided
    names = _split_pieces(line, columns, 0.0)
    if len(names.pieces) > max(2, len(divided.pieces)) and all(_is_aligned(piece, columns) for piece in names.pieces):
        return names
    return divided


def _split_pieces(line: LayoutLine, columns: Sequence[Span], gap: float) -> LayoutLine:
    pieces: list[LayoutPiece] = []
    for piece in line.pieces:
        inside = [span for span in columns if span[0] < piece.right and span[1] > piece.left]
        current = [piece.words[0]]
        for word in piece.words[1:]:
            begins = any(abs(word.left - left) < THRESHOLDS.aligned_points for left, _ in inside)
            ended = any(
                abs(current[-1].right - right) < THRESHOLDS.aligned_points and word.left > right for _, right in inside
            )
            wide = word.left - current[-1].right > gap * line.height
            if len(inside) > 1 and wide and (begins or ended):
                pieces.append(LayoutPiece(current))
                current = [word]
            else:
                current.append(word)
        pieces.append(LayoutPiece(current))
    return LayoutLine(pieces, line.top, line.bottom)


def _is_aligned(piece: LayoutPiece, columns: Sequence[Span]) -> bool:
    return any(
        abs(piece.left - left) < THRESHOLDS.aligned_points or abs(piece.right - right) < 2 * THRESHOLDS.aligned_points
        for left, right in columns
    )


def _band_rows(band: _Band) -> list[list[str]]:
    rows: list[list[str]] = []
    above: LayoutLine | None = None
    for line in band.lines:
        cells = [band.cell(line, column) for column in range(len(band.columns))]
        if above is not None and _wraps_from_above(cells, rows[-1], line, above):
            rows[-1] = [" ".join(part for part in both if part) for both in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
        above = line
    return _merge_split_columns(rows, band)


def _wraps_from_above(cells: list[str], row: list[str], line: LayoutLine, above: LayoutLine) -> bool:
    """Return True for the rest of wrapped cells: close below, without a first cell and few others, or overlapping."""
    filled = [at for at, cell in enumerate(cells) if cell]
    if any(_is_mostly_digits(cells[at]) and _is_mostly_digits(row[at]) for at in filled):
        return False
    if _lines_overlap(above, line):
        return True
    return (
        _are_lines_close(line, above)
        and not cells[0]
        and len(filled) * 2 <= len(cells)
        and all(row[at] for at in filled)
    )


def _is_mostly_digits(cell: str) -> bool:
    digits = sum(map(str.isdigit, cell))
    return digits > 0 and sum(map(str.isalpha, cell)) <= digits


def _merge_split_columns(rows: list[list[str]], band: _Band) -> list[list[str]]:
    """Merge neighbouring columns that are never both filled: a heading a little off its column makes two of one."""
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
