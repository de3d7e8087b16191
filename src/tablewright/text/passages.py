"""A text taken apart, with offsets: sentences, "Label: value" pairs, and tables. Done once for a text, read for every
field."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import TypeAlias

from tablewright.domain.model import Noun

LOOKED_AT = 400_000  # characters of a text
LONGEST_LABEL = 60
LONGEST_VALUE = 400
BAR = " | "
MOST_LABEL_WORDS = 6
LONGEST_STACKED = 120


class PageSentence(Noun, frozen=True):
    """`text` stands at `start`; `number` counts from the beginning of the page."""

    text: str
    start: int
    number: int


class LabelledValue(Noun, frozen=True):
    """A label and its value: "Founded: 1987". The quote is `start:end`."""

    label: str
    value: str
    start: int
    end: int
    value_start: int
    inline: bool = False
    """Inside a sentence, as in "(IATA: BWU, ICAO: YSBK)"."""
    apart: bool = False
    """The value stands on another line than its label."""
    marked: bool = True
    """The label ends in a colon, or what sets it apart is no line break."""
    then: str = ""
    """The line below a value that stands below its label; `after` is the next."""
    after: str = ""


Cell: TypeAlias = tuple[str, int]
"""The text of a cell and where it stands."""


class PassageTable(Noun, frozen=True):
    """A table: the cells of each line with where each stands."""

    rows: tuple[tuple[Cell, ...], ...]


class TextPassages(Noun, frozen=True):
    sentences: tuple[PageSentence, ...]
    pairs: tuple[LabelledValue, ...]
    grids: tuple[PassageTable, ...]
    headings: tuple[tuple[str, int], ...]
    """Short lines that end in no full stop, with where they stand."""

    @property
    def pieces(self) -> list[tuple[int, int]]:
        """Where each sentence and each line of a table begins and ends."""
        sentences = [(sentence.start, sentence.start + len(sentence.text)) for sentence in self.sentences]
        return sentences + [(row[0][1], row[-1][1] + len(row[-1][0])) for grid in self.grids for row in grid.rows]


@lru_cache(maxsize=128)
def passages(text: str) -> TextPassages:
    lines = list(_lines(text[:LOOKED_AT]))
    sentences: list[PageSentence] = []
    pairs: list[LabelledValue] = []
    headings: list[tuple[str, int]] = []
    stack = _Stack()
    for number, (line, start) in enumerate(lines):
        found = list(_pairs(line, start))
        short = len(line) <= LONGEST_LABEL and not _ENDS.search(line) and BAR not in line
        following = [line for line, _ in lines[number + 1 : number + 3]] + ["", ""]
        pairs.extend(stack.add(line, start, following, short=short and not found))
        pairs.extend(found)
        if short:
            headings.append((line, start))
        if BAR not in line:
            for sentence, offset in _sentences(line):
                sentences.append(PageSentence(text=sentence, start=start + offset, number=len(sentences)))
    return TextPassages(
        sentences=tuple(sentences), pairs=tuple(pairs), grids=tuple(_grids(lines)), headings=tuple(headings)
    )


def _grids(lines: Sequence[tuple[str, int]]) -> Iterator[PassageTable]:
    for barred, run in groupby(lines, key=lambda line: BAR in line[0]):
        if barred:
            yield PassageTable(rows=tuple(tuple(_cells(line, start)) for line, start in run))


class _Stack:
    """Pairs of lines: "Price" with "£38.50" below it; or above it, where a run of such lines begins with a value."""

    def __init__(self) -> None:
        self._last: tuple[str, int] | None = None
        self._last_is_value = False
        self._values_first = False

    def add(self, line: str, start: int, following: Sequence[str], *, short: bool) -> Iterator[LabelledValue]:
        last, is_value = self._last, bool(short and _BARE_VALUE.fullmatch(line))
        numbered = any(character.isdigit() for character in line)
        is_label = short and not is_value and len(line.split()) <= (3 if numbered else MOST_LABEL_WORDS)
        if last is None or self._last_is_value == is_value:
            self._values_first = is_value
        if last and self._values_first and is_label and self._last_is_value:
            if not _BARE_VALUE.fullmatch(following[0]):  # with a value above and below, no one can tell which
                yield _stacked((line, start), last)
        elif last and not self._values_first and not self._last_is_value and _may_be_value(line):
            yield _stacked(last, (line, start), following)
        self._last = (line, start) if is_value or is_label else None
        self._last_is_value = is_value


def _stacked(label: tuple[str, int], value: tuple[str, int], following: Sequence[str] = ("", "")) -> LabelledValue:
    first, last = sorted((label, value), key=lambda part: part[1])
    return LabelledValue(
        label=label[0].rstrip(" :"),
        value=value[0],
        start=first[1],
        end=last[1] + len(last[0]),
        value_start=value[1],
        apart=True,
        marked=label[0].endswith((":", "：")),
        then=following[0],
        after=following[1],
    )


def _may_be_value(line: str) -> bool:
    return len(line) <= LONGEST_STACKED and not line.endswith((":", "：")) and not _PAIR.match(line)


def _lines(text: str) -> Iterator[tuple[str, int]]:
    start = 0
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped:
            yield stripped, start + line.index(stripped[0])
        start += len(line) + 1


# ── sentences ────────────────────────────────────────────────────────────────────────────────────────────────────────

_END = re.compile(r"[.!?…]['\"”’)\]]*(?:\[\d+\])*\s+(?=[\"“'‘(\[]?[A-ZÀ-ÞА-ЯΑ-Ω0-9\u0900-\uffff])")
_ENDS = re.compile(r"[.!?…;,]['\"”’)\]]*$")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Inc|Corp|Ltd|Co|Cos|Bros|St|Mt|Ft|Dr|Mr|Mrs|Ms|Jr|Sr|No|Nos|vs|v|Gov|Sen|Rep|Gen|Col|Capt|Lt|Prof|Rev|Hon"
    r"|approx|ca|c|est|b|d|fl|Vol|vol|pp|p|ed|eds|Ave|Blvd|Rd|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec|e\.g"
    r"|i\.e|etc|U\.S|U\.K|D\.C|a\.m|p\.m)|\b[A-Z]|(?:\b[A-Z]\.){1,6}[A-Z])\.$"
)


def _sentences(line: str) -> Iterator[tuple[str, int]]:
    start = 0
    for end in _END.finditer(line):
        if _ABBREVIATION.search(line, max(start, end.start() - 12), end.start() + 1):
            continue
        yield line[start : end.end()].rstrip(), start
        start = end.end()
    if start < len(line):
        yield line[start:], start


# ── pairs and tables ─────────────────────────────────────────────────────────────────────────────────────────────────

_PAIR = re.compile(rf"(?P<label>[^:|]{{1,{LONGEST_LABEL}}}?)\s*[:：=]\s+(?P<value>\S.*)")
_TIGHT_PAIR = re.compile(rf"(?P<label>[^\W\d][^:|\d]{{1,{LONGEST_LABEL - 2}}}?):(?P<value>[^\s/].*)")
_BARE_VALUE = re.compile(r"(?:[$€£¥₹]|[A-Z]{3}\s)?\s?\d[\d.,\s]{0,15}%?\*?")
_SEVERAL = re.compile(r"(?:(?<=\s)|^)(?P<label>[A-Z][\w./-]{1,20}(?: [A-Z][\w./-]{0,20})?):\s+(?=\S)")
_GAP = re.compile(r"\s*(?:\t|\s{2,})\s*")
_INLINE = re.compile(r"(?<=[(,;\[])\s*(?P<label>[A-Z][\w /.&-]{1,30}?):\s*(?P<value>[^,;()\[\]:]{1,80})")
_DOTTED = re.compile(r"(?P<label>[^.|\d]{2,60}?)\s*\.{3,}\s*(?P<value>\S.*)")


def _pairs(line: str, start: int) -> Iterator[LabelledValue]:
    if BAR in line:
        yield from _barred(line, start)
        return
    whole = _PAIR.match(line) or _DOTTED.match(line) or _TIGHT_PAIR.match(line)
    if whole and len(whole["label"].split()) <= 8 and len(whole["value"]) <= LONGEST_VALUE:
        following = _GAP.search(line, whole.start("value")) or _SEVERAL.search(line, whole.start("value") + 1)
        stop = following.start() if following else None
        yield _pair(line, start, whole["label"], whole.start("value"), stop)
    if ":" in line and len(line) <= LONGEST_VALUE:
        yield from _several(line, start)
    if _GAP.search(line):
        yield from _columns(line, start)
    if "(" in line or "[" in line:
        for match in _INLINE.finditer(line):
            value = match["value"].strip()
            yield LabelledValue(
                label=match["label"].strip(),
                value=value,
                start=start + match.start("label"),
                end=start + match.start("value") + len(value),
                value_start=start + match.start("value"),
                inline=True,
            )


def _barred(line: str, start: int) -> Iterator[LabelledValue]:
    """A row of a table that is a label and its value, or whose cells are "Label: value" themselves."""
    cells = list(_cells(line, start))
    if len(cells) == 2:
        (label, at), (value, value_at) = cells
        if label and value:
            yield LabelledValue(
                label=label.rstrip(":"), value=value, start=at, end=value_at + len(value), value_start=value_at
            )
    for cell, at in cells:
        if ":" in cell and len(cell) <= LONGEST_VALUE:
            if (whole := _PAIR.match(cell)) and len(whole["label"].split()) <= 8:
                yield _pair(cell, at, whole["label"], whole.start("value"), None)
            yield from _several(cell, at)


def _several(line: str, start: int) -> Iterator[LabelledValue]:
    """More than one on a line: "Ht: 6' 7\" Wt: 205 Age: 26"."""
    labels = list(_SEVERAL.finditer(line))
    if len(labels) < 2:
        return
    for label, following in zip(labels, [*labels[1:], None], strict=True):
        stop = following.start() if following else len(line)
        if value := line[label.end() : stop].strip():
            yield LabelledValue(
                label=label["label"],
                value=value,
                start=start + label.start(),
                end=start + label.end() + len(value),
                value_start=start + label.end(),
            )


def _pair(line: str, start: int, label: str, value_at: int, stop: int | None) -> LabelledValue:
    value = line[value_at:stop].strip()
    return LabelledValue(
        label=label.strip(), value=value, start=start, end=start + value_at + len(value), value_start=start + value_at
    )


def _columns(line: str, start: int) -> Iterator[LabelledValue]:
    """Set apart by wide gaps, as on receipts: "FORM NO  KB00047215  DATE  24/05/2019"."""
    chunks: list[tuple[str, int]] = []
    place = 0
    for gap in [*_GAP.finditer(line), None]:
        stop = gap.start() if gap else len(line)
        if stop > place:
            chunks.append((line[place:stop], place))
        place = gap.end() if gap else place
    for number, (chunk, at) in enumerate(chunks):
        inner = _PAIR.match(chunk) or _TIGHT_PAIR.match(chunk)
        if inner:
            if number:
                yield _pair(line, start, inner["label"], at + inner.start("value"), at + len(chunk))
            continue
        if number + 1 < len(chunks) and not any(character.isdigit() for character in chunk):
            value, value_at = chunks[number + 1]
            if value in ":-=" and number + 2 < len(chunks):
                value, value_at = chunks[number + 2]
            yield LabelledValue(
                label=chunk.rstrip(" :"),
                value=value.lstrip(": "),
                start=start + at,
                end=start + value_at + len(value),
                value_start=start + value_at + len(value) - len(value.lstrip(": ")),
            )


def _cells(line: str, start: int) -> Iterator[tuple[str, int]]:
    place = 0
    for cell in line.split(BAR):
        stripped = cell.strip()
        yield stripped, start + place + (cell.index(stripped[0]) if stripped else 0)
        place += len(cell) + len(BAR)
