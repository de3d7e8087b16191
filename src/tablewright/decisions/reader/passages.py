"""A text taken apart, with offsets: sentences, "Label: value" pairs, and tables. Done once for a text, read for every
field."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from tablewright.table.model import Noun

LOOKED_AT = 400_000  # characters of a text
LONGEST_LABEL = 60
LONGEST_VALUE = 400
BAR = " | "


class Sentence(Noun, frozen=True):
    """`text` stands at `start`; `number` counts from the beginning of the page, `opens` marks a paragraph's first."""

    text: str
    start: int
    number: int
    opens: bool = False


class Pair(Noun, frozen=True):
    """A label and its value: "Founded: 1987". The quote is `start:end`."""

    label: str
    value: str
    start: int
    end: int
    value_start: int
    inline: bool = False
    """Inside a sentence, as in "(IATA: BWU, ICAO: YSBK)"."""


class Grid(Noun, frozen=True):
    """A table: the cells of each line with where each stands."""

    rows: tuple[tuple[tuple[str, int], ...], ...]


class Passages(Noun, frozen=True):
    sentences: tuple[Sentence, ...]
    pairs: tuple[Pair, ...]
    grids: tuple[Grid, ...]
    headings: tuple[tuple[str, int], ...]
    """Short lines that end in no full stop, with where they stand."""


@lru_cache(maxsize=128)
def passages(text: str) -> Passages:
    text = text[:LOOKED_AT]
    sentences: list[Sentence] = []
    pairs: list[Pair] = []
    grids: list[Grid] = []
    headings: list[tuple[str, int]] = []
    grid: list[tuple[tuple[str, int], ...]] = []
    label: tuple[str, int] | None = None
    for line, start in _lines(text):
        if BAR in line:
            grid.append(tuple(_cells(line, start)))
        elif grid:
            grids.append(Grid(rows=tuple(grid)))
            grid = []
        if label and len(line) <= 120 and not _PAIR.match(line):
            # "Price" on a line of its own, "£38.50" on the next.
            pairs.append(Pair(label=label[0], value=line, start=label[1], end=start + len(line), value_start=start))
        found = list(_pairs(line, start))
        pairs.extend(found)
        is_label = len(line) <= LONGEST_LABEL and len(line.split()) <= 6 and not _ENDS.search(line)
        label = (line.rstrip(" :"), start) if is_label and not found and BAR not in line else None
        if is_label:
            headings.append((line, start))
        if BAR not in line:
            for number, (sentence, offset) in enumerate(_sentences(line)):
                sentences.append(
                    Sentence(text=sentence, start=start + offset, number=len(sentences), opens=number == 0)
                )
    if grid:
        grids.append(Grid(rows=tuple(grid)))
    return Passages(sentences=tuple(sentences), pairs=tuple(pairs), grids=tuple(grids), headings=tuple(headings))


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
    r"|i\.e|etc|U\.S|U\.K|D\.C|a\.m|p\.m)|\b[A-Z]|(?:\b[A-Z]\.)+[A-Z])\.$"
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
_GAP = re.compile(r"\s*(?:\t|\s{2,})\s*")
_INLINE = re.compile(r"(?<=[(,;\[])\s*(?P<label>[A-Z][\w /.&-]{1,30}?):\s*(?P<value>[^,;()\[\]:]{1,80})")
_DOTTED = re.compile(r"(?P<label>[^.|\d]{2,60}?)\s*\.{3,}\s*(?P<value>\S.*)")


def _pairs(line: str, start: int) -> Iterator[Pair]:
    whole = _PAIR.match(line) or _DOTTED.match(line) or _TIGHT_PAIR.match(line)
    if whole and len(whole["label"].split()) <= 8 and len(whole["value"]) <= LONGEST_VALUE and BAR not in line:
        gap = _GAP.search(whole["value"])
        yield _pair(
            line, start, whole["label"], whole.start("value"), gap.start() + whole.start("value") if gap else None
        )
    if BAR in line:
        cells = list(_cells(line, start))
        if len(cells) == 2:
            (label, at), (value, value_at) = cells
            if label and value:
                yield Pair(
                    label=label.rstrip(":"), value=value, start=at, end=value_at + len(value), value_start=value_at
                )
        return
    if _GAP.search(line):
        yield from _columns(line, start)
    if "(" in line or "[" in line:
        for match in _INLINE.finditer(line):
            value = match["value"].strip()
            yield Pair(
                label=match["label"].strip(),
                value=value,
                start=start + match.start("label"),
                end=start + match.start("value") + len(value),
                value_start=start + match.start("value"),
                inline=True,
            )


def _pair(line: str, start: int, label: str, value_at: int, stop: int | None) -> Pair:
    value = line[value_at:stop].strip()
    return Pair(
        label=label.strip(), value=value, start=start, end=start + value_at + len(value), value_start=start + value_at
    )


def _columns(line: str, start: int) -> Iterator[Pair]:
    """Set apart by wide gaps, as on receipts: "DOC NO  CS00031663  DATE  25/12/2018"."""
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
            yield Pair(
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
