"""Facts and rows of a document, read without a model; each value with the place where it stands.

A spreadsheet is rows. Anything else is read a page at a time: its tables, then its lines with a label and a value. What
a document has only one of, such as a date or an e-mail address, is a fact without a label. Sentences are not read.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from msgspec import structs

from tablewright.corpus.annotate.facts import annotations_of, properties_of
from tablewright.corpus.annotate.notation import day_first_in, decimal_mark_in, formats_in
from tablewright.corpus.segment import pages, plain_heading
from tablewright.domain.corpus import Annotation, Category, Property
from tablewright.domain.model import Noun
from tablewright.extraction.layout.draft import Parsed, ParsedTable
from tablewright.extraction.layout.pairs import TextLine, aligned_tables, cell_at, lines_in, pairs_in
from tablewright.values.typed import typed

SHEETS = frozenset(("xlsx", "xls", "csv", "tsv", "ods"))
LONG = 40_000  # characters, about 10,000 tokens
HEAVY = 0.3


def annotate(parsed: Parsed) -> tuple[Annotation, ...]:
    """In the order of the text; what does not stand where it says is left out."""
    found = list(_sheet(parsed) if parsed.media in SHEETS and parsed.grids else _document(parsed))
    mark = decimal_mark_in(parsed.text)
    sound = [
        structs.replace(each, page=_page_at(parsed.page_starts, each.start), properties=_settled(each.properties, mark))
        for each in found
        if is_sound(each, parsed.text)
    ]
    return tuple(sorted(sound, key=lambda each: (each.start, each.end)))


def _page_at(page_starts: Sequence[int], offset: int) -> int | None:
    return (bisect_right(page_starts, offset) or None) if page_starts else None


_THOUSAND = re.compile(r"(\d{1,3}\.\d{3}) may be \d+$")


def _settled(properties: tuple[Property, ...], mark: str) -> tuple[Property, ...]:
    """1.575 is a fraction in a text that writes others with a point, and a thousand in one that uses the comma."""
    if not mark or not any(each.value.ambiguity.endswith(tuple("0123456789")) for each in properties):
        return properties
    return tuple(_with_mark(each, mark) for each in properties)


def _with_mark(each: Property, mark: str) -> Property:
    doubt = _THOUSAND.match(each.value.ambiguity)
    if doubt is None:
        return each
    if mark == ".":
        return structs.replace(each, value=structs.replace(each.value, ambiguity=""))
    again = typed(each.value.raw.replace(doubt[1], doubt[1].replace(".", "")), each.label)
    return structs.replace(each, value=structs.replace(again, raw=each.value.raw))


def is_sound(annotation: Annotation, text: str) -> bool:
    """Whether every value stands in the text where it says, inside the passage."""
    return bool(annotation.properties) and all(
        annotation.start <= each.start < each.end <= annotation.end and text[each.start : each.end] == each.value.raw
        for each in annotation.properties
    )


def _sheet(parsed: Parsed) -> Iterator[Annotation]:
    yield from _tables(parsed, [grid for grid in parsed.grids if grid.rows], "sheet", day_first_in(parsed.text))


def _tables(parsed: Parsed, grids: Sequence[ParsedTable], by: str, day_first: bool | None) -> Iterator[Annotation]:
    headings = [place for place, _ in parsed.headings]
    for number, grid in enumerate(grids, start=1):
        cells = [[cell_at(parsed.text, start, end) for start, end in row] for row in grid.rows if row]
        context = _heading_above(parsed, headings, grid)
        yield from annotations_of(cells, head=grid.head, table=number, by=by, context=context, day_first=day_first)


class _Reading(Noun, frozen=True):
    """What all pages of a document share. `spans` are the places of its tables, in order."""

    parsed: Parsed
    spans: tuple[tuple[int, int], ...]
    day_first: bool | None


def _document(parsed: Parsed) -> Iterator[Annotation]:
    day_first = day_first_in(parsed.text)
    grids = [grid for grid in parsed.grids if any(row for row in grid.rows)]
    spans = tuple(sorted((grid.start, grid.end) for grid in grids))
    tabled = list(_tables(parsed, grids, "table", day_first))
    yield from tabled
    reading = _Reading(parsed=parsed, spans=spans, day_first=day_first)
    tables = len(grids)
    labelled = {(prop.start, prop.end) for each in tabled for prop in each.properties}
    for start, end in pages(parsed):
        for each in _page(reading, start, end, tables):
            tables = max(tables, each.table)
            labelled.update((prop.start, prop.end) for prop in each.properties)
            yield each
    yield from formats_in(parsed.text, labelled, day_first)


def _is_in(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    before = bisect_right(spans, (place, sys.maxsize)) - 1
    return before >= 0 and place < spans[before][1]


def _heading_above(parsed: Parsed, starts: list[int], grid: ParsedTable) -> str:
    above = bisect_right(starts, grid.start) - 1
    if above < 0:
        return ""
    start, end = parsed.headings[above]
    return plain_heading(parsed.text[start:end])


# ── a page ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _page(reading: _Reading, start: int, end: int, tables: int) -> Iterator[Annotation]:
    parsed, day_first = reading.parsed, reading.day_first
    headings = parsed.headings[bisect_left(parsed.headings, (start, 0)) : bisect_left(parsed.headings, (end, 0))]
    lines = list(lines_in(parsed.text, start, end, headings))
    lines = _without(lines, {number for number, line in enumerate(lines) if _is_in(line.start, reading.spans)})
    taken: set[int] = set()
    for first, last, rows in aligned_tables(lines):
        tables += 1
        taken.update(range(first, last))
        yield from annotations_of(rows, head=True, table=tables, by="table", context="", day_first=day_first)
    for pair in pairs_in(parsed.text, _without(lines, taken)):
        for each in properties_of(pair.label, pair.value, pair.heading, day_first):
            end = max(pair.end, each.end)
            yield Annotation(shape="fact", properties=(each,), start=pair.start, end=end, by="pairs")


def _without(lines: list[TextLine], taken: set[int]) -> list[TextLine]:
    """The lines, with empty ones in place of those that are read already."""
    if not taken:
        return lines
    return [TextLine(text="", start=line.start, cells=()) if n in taken else line for n, line in enumerate(lines)]


# ── what the document is ─────────────────────────────────────────────────────────────────────────────────────────────


def kind_of(parsed: Parsed) -> str:
    """An e-mail is one by its form; of a spreadsheet or a PDF that says nothing."""
    return "e-mail" if parsed.media in ("eml", "msg") else ""


def categories_of(parsed: Parsed, annotations: tuple[Annotation, ...]) -> tuple[Category, ...]:
    """Long or short, and heavy in data or in text, by how much of the text the facts and rows cover."""
    size: Category = "long" if len(parsed.text) > LONG else "short"
    covered, reach = 0, 0
    for each in annotations:
        covered += max(0, each.end - max(each.start, reach))
        reach = max(reach, each.end)
    return size, "data-heavy" if covered > HEAVY * len(parsed.text.strip()) else "text-heavy"
