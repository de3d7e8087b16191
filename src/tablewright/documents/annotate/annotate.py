"""Extract facts and rows from a document without a model, each value with its offsets.

A spreadsheet is rows. Anything else is read page by page: its tables, then its lines with a label and a value. A value
that a document has only one of, such as a date or an e-mail address, is a fact without a label. Sentences are not read.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from msgspec import structs

from tablewright.documents.annotate.facts import annotate_table, expand_properties
from tablewright.documents.annotate.notation import detect_day_first, detect_decimal_mark, find_formatted_facts
from tablewright.documents.segment import clean_heading, page_ranges
from tablewright.domain.documents import Annotation, Category, Property
from tablewright.domain.model import Struct
from tablewright.extraction.layout.draft import Parsed, ParsedTable
from tablewright.extraction.layout.pairs import TextLine, find_aligned_tables, find_pairs, make_cell, parse_lines
from tablewright.values.comparable_value import parse_comparable


def annotate_parsed(parsed: Parsed) -> tuple[Annotation, ...]:
    """Return the annotations in the order of the text, without those whose values are not at their offsets."""
    is_sheet = parsed.media in ("xlsx", "xls", "csv", "tsv", "ods") and parsed.grids
    if is_sheet:
        grids = [grid for grid in parsed.grids if grid.rows]
        found = list(_annotate_tables(parsed, grids, "sheet", detect_day_first(parsed.text)))
    else:
        found = list(_annotate_text(parsed))
    mark = detect_decimal_mark(parsed.text)
    sound = [
        structs.replace(
            each,
            page=bisect_right(parsed.page_starts, each.start) or None,
            properties=_settle_ambiguity(each.properties, mark),
        )
        for each in found
        if is_sound_annotation(each, parsed.text)
    ]
    return tuple(sorted(sound, key=lambda each: (each.start, each.end)))


def _settle_ambiguity(properties: tuple[Property, ...], mark: str) -> tuple[Property, ...]:
    """Return the properties with 1.575 read by the text's decimal mark: as a fraction with ".", as 1575 with ","."""
    if not mark or not any(each.value.ambiguity.endswith(tuple("0123456789")) for each in properties):
        return properties
    return tuple(_apply_decimal_mark(each, mark) for each in properties)


def _apply_decimal_mark(each: Property, mark: str) -> Property:
    # The doubt that `parse_comparable` records for 1.575: a fraction or a thousand.
    doubt = re.match(r"(\d{1,3}\.\d{3}) may be \d+$", each.value.ambiguity)
    if doubt is None:
        return each
    if mark == ".":
        return structs.replace(each, value=structs.replace(each.value, ambiguity=""))
    again = parse_comparable(each.value.raw.replace(doubt[1], doubt[1].replace(".", "")), each.label)
    return structs.replace(each, value=structs.replace(again, raw=each.value.raw))


def is_sound_annotation(annotation: Annotation, text: str) -> bool:
    """Return True if every value is at its offsets in the text, inside the passage."""
    return bool(annotation.properties) and all(
        annotation.start <= each.start < each.end <= annotation.end and text[each.start : each.end] == each.value.raw
        for each in annotation.properties
    )


def _annotate_tables(
    parsed: Parsed, grids: Sequence[ParsedTable], by: str, day_first: bool | None
) -> Iterator[Annotation]:
    headings = [place for place, _ in parsed.headings]
    for number, grid in enumerate(grids, start=1):
        cells = [[make_cell(parsed.text, start, end) for start, end in row] for row in grid.rows if row]
        context = _heading_above_table(parsed, headings, grid)
        yield from annotate_table(cells, head=grid.head, table=number, by=by, context=context, day_first=day_first)


class _DocumentReading(Struct, frozen=True):
    """Context that all pages of a document share. `spans` are the offsets of its tables, in order."""

    parsed: Parsed
    spans: tuple[tuple[int, int], ...]
    day_first: bool | None


def _annotate_text(parsed: Parsed) -> Iterator[Annotation]:
    day_first = detect_day_first(parsed.text)
    grids = [grid for grid in parsed.grids if any(row for row in grid.rows)]
    spans = tuple(sorted((grid.start, grid.end) for grid in grids))
    tabled = list(_annotate_tables(parsed, grids, "table", day_first))
    yield from tabled
    reading = _DocumentReading(parsed=parsed, spans=spans, day_first=day_first)
    tables = len(grids)
    labelled = {(prop.start, prop.end) for each in tabled for prop in each.properties}
    for start, end in page_ranges(parsed):
        for each in _annotate_page(reading, start, end, tables):
            tables = max(tables, each.table)
            labelled.update((prop.start, prop.end) for prop in each.properties)
            yield each
    yield from find_formatted_facts(parsed.text, labelled, day_first)


def _is_inside_spans(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    before = bisect_right(spans, (place, sys.maxsize)) - 1
    return before >= 0 and place < spans[before][1]


def _heading_above_table(parsed: Parsed, starts: list[int], grid: ParsedTable) -> str:
    above = bisect_right(starts, grid.start) - 1
    if above < 0:
        return ""
    start, end = parsed.headings[above]
    return clean_heading(parsed.text[start:end])


# ── a page ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _annotate_page(reading: _DocumentReading, start: int, end: int, tables: int) -> Iterator[Annotation]:
    parsed, day_first = reading.parsed, reading.day_first
    headings = parsed.headings[bisect_left(parsed.headings, (start, 0)) : bisect_left(parsed.headings, (end, 0))]
    lines = list(parse_lines(parsed.text, start, end, headings))
    lines = _blank_lines(
        lines, {number for number, line in enumerate(lines) if _is_inside_spans(line.start, reading.spans)}
    )
    taken: set[int] = set()
    for first, last, rows in find_aligned_tables(lines):
        tables += 1
        taken.update(range(first, last))
        yield from annotate_table(rows, head=True, table=tables, by="table", context="", day_first=day_first)
    for pair in find_pairs(parsed.text, _blank_lines(lines, taken)):
        for each in expand_properties(pair.label, pair.value, pair.heading, day_first):
            end = max(pair.end, each.end)
            yield Annotation(shape="fact", properties=(each,), start=pair.start, end=end, by="pairs")


def _blank_lines(lines: list[TextLine], taken: set[int]) -> list[TextLine]:
    """Return the lines with empty ones in place of those that are already read."""
    if not taken:
        return lines
    return [TextLine(text="", start=line.start, cells=()) if n in taken else line for n, line in enumerate(lines)]


# ── what the document is ─────────────────────────────────────────────────────────────────────────────────────────────


def kind_by_format(parsed: Parsed) -> str:
    """Return the kind that the format implies: an e-mail is one, but a PDF may be anything."""
    return "e-mail" if parsed.media in ("eml", "msg") else ""


def derive_categories(parsed: Parsed, annotations: tuple[Annotation, ...]) -> tuple[Category, ...]:
    """Return long or short, and data-heavy or text-heavy, by the share of the text that facts and rows cover."""
    # About 10,000 tokens.
    size: Category = "long" if len(parsed.text) > 40_000 else "short"
    covered, reach = 0, 0
    for each in annotations:
        covered += max(0, each.end - max(each.start, reach))
        reach = max(reach, each.end)
    return size, "data-heavy" if covered > 0.3 * len(parsed.text.strip()) else "text-heavy"
