"""Facts and rows of a document, read without a model; each value with the place where it stands.

A spreadsheet is rows. Anything else is read a page at a time: its tables, its lines with a label and a value, and, in
what is left, the measured quantities of its sentences. A receipt or an invoice is read as one besides.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from msgspec import structs

from tablewright.corpus.annotate.contracts import contract_facts, is_contract
from tablewright.corpus.annotate.facts import properties_of
from tablewright.corpus.annotate.grids import aligned, annotations_of, barred
from tablewright.corpus.annotate.invoices import invoice_facts, is_invoice
from tablewright.corpus.annotate.lines import Cell, Line, cell_at, day_first_in, decimal_mark_in, lines_in, page_at
from tablewright.corpus.annotate.pairs import Pair, pairs_in
from tablewright.corpus.annotate.prose import SHORT_TEXT, prose_properties
from tablewright.corpus.annotate.receipts import slip
from tablewright.corpus.annotate.slips import currency_in, plain_slip, slip_annotations
from tablewright.corpus.parse.parsed import Grid, Parsed
from tablewright.table.corpus import Annotation, Category, Property
from tablewright.table.model import Noun
from tablewright.table.typed import typed

SHEETS = frozenset(("xlsx", "xls", "csv", "tsv", "ods"))
MOST_FROM_PROSE = 60
"""Facts a page; where sentences hold more, they are a text and no data."""
PAGE = 3_000  # characters of what has no pages
LONG = 40_000  # characters, about 10,000 tokens
HEAVY = 0.3


def annotate(parsed: Parsed) -> tuple[Annotation, ...]:
    """In the order of the text; what does not stand where it says is left out."""
    found = list(_sheet(parsed) if parsed.media in SHEETS and parsed.grids else _document(parsed))
    if parsed.media not in SHEETS and is_invoice(parsed.text):
        found += _as_invoice(parsed.text, found)
    if parsed.media not in SHEETS and is_contract(parsed.text):
        found += contract_facts(parsed.text)
    mark = decimal_mark_in(parsed.text)
    sound = [
        structs.replace(each, page=page_at(parsed.page_starts, each.start), properties=_settled(each.properties, mark))
        for each in found
        if is_sound(each, parsed.text)
    ]
    return tuple(sorted(sound, key=lambda each: (each.start, each.end)))


def _as_invoice(text: str, found: list[Annotation]) -> Iterator[Annotation]:
    stated = [each for annotation in found if annotation.by == "slip" for each in annotation.properties]
    mark = currency_in(text) if not any(each.label == "Currency" for each in stated) else None
    code = mark.value.currency if mark else next((each.value.currency for each in stated if each.value.currency), "")
    if mark:
        yield _fact(mark, "slip", mark.start, mark.end)
    yield from invoice_facts(text, found, day_first_in(text), code)


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
    day_first = day_first_in(parsed.text)
    headings = [place for place, _ in parsed.headings]
    for number, grid in enumerate(parsed.grids, start=1):
        if not grid.rows:
            continue
        context = _heading_above(parsed, headings, grid)
        yield from annotations_of(
            _cells(parsed, grid), head=grid.head, table=number, by="sheet", context=context, day_first=day_first
        )


class _Reading(Noun, frozen=True):
    """What all pages of a document share. `spans` are the places of its tables, in order, `told` what the slip says."""

    parsed: Parsed
    spans: tuple[tuple[int, int], ...]
    day_first: bool | None
    is_slip: bool
    told: frozenset[str]


def _document(parsed: Parsed) -> Iterator[Annotation]:
    day_first = day_first_in(parsed.text)
    grids = [grid for grid in parsed.grids if any(row for row in grid.rows)]
    spans = tuple(sorted((grid.start, grid.end) for grid in grids))
    headings = [place for place, _ in parsed.headings]
    for number, grid in enumerate(grids, start=1):
        context = _heading_above(parsed, headings, grid)
        yield from annotations_of(
            _cells(parsed, grid), head=grid.head, table=number, by="table", context=context, day_first=day_first
        )
    receipt = slip(plain_slip(parsed.text))
    told = list(slip_annotations(parsed.text, receipt, day_first)) if receipt else []
    for each in told:
        if each.shape == "fact":
            yield each
        elif not _is_in(each.start, spans):
            yield structs.replace(each, table=len(grids) + 1)
    labels = frozenset(each.properties[0].label for each in told if each.shape == "fact")
    reading = _Reading(parsed=parsed, spans=spans, day_first=day_first, is_slip=receipt is not None, told=labels)
    tables = len(grids) + 1
    for start, end in _pages(parsed):
        for each in _page(reading, start, end, tables):
            tables = max(tables, each.table)
            yield each


def _is_in(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    before = bisect_right(spans, (place, sys.maxsize)) - 1
    return before >= 0 and place < spans[before][1]


def _pages(parsed: Parsed) -> Iterator[tuple[int, int]]:
    starts = [0, *(start for start in parsed.page_starts if start > 0)]
    yield from zip(starts, [*starts[1:], len(parsed.text)], strict=True)


def _cells(parsed: Parsed, grid: Grid) -> list[list[Cell]]:
    return [[cell_at(parsed.text, start, end) for start, end in row] for row in grid.rows if row]


def _heading_above(parsed: Parsed, starts: list[int], grid: Grid) -> str:
    above = bisect_right(starts, grid.start) - 1
    if above < 0:
        return ""
    start, end = parsed.headings[above]
    return " ".join(parsed.text[start:end].split()).strip("# ")


# ── a page ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _page(reading: _Reading, start: int, end: int, tables: int) -> Iterator[Annotation]:
    parsed, day_first = reading.parsed, reading.day_first
    headings = parsed.headings[bisect_left(parsed.headings, (start, 0)) : bisect_left(parsed.headings, (end, 0))]
    lines = list(lines_in(parsed.text, start, end, headings))
    lines = _without(lines, {number for number, line in enumerate(lines) if _is_in(line.start, reading.spans)})
    taken: set[int] = set()
    for first, last, ruled, rows in barred(lines):
        tables += 1
        taken.update(range(first, last))
        yield from annotations_of(rows, head=ruled, table=tables, by="table", context="", day_first=day_first)
    if not reading.is_slip:
        for first, last, rows in aligned(lines, taken):
            tables += 1
            taken.update(range(first, last))
            yield from annotations_of(rows, head=True, table=tables, by="table", context="", day_first=day_first)
    left = _without(lines, taken)
    pairs, used = pairs_in(parsed.text, left)
    for pair in pairs:
        if not _is_told(pair, reading.told):
            for each in properties_of(pair.label, pair.value, pair.heading, day_first):
                yield _fact(each, "pairs", pair.start, max(pair.end, each.end))
    if not reading.is_slip:
        yield from _prose(parsed, left, used)


def _without(lines: list[Line], taken: set[int]) -> list[Line]:
    """The lines, with empty ones in place of those that are read already."""
    if not taken:
        return lines
    return [Line(text="", start=line.start, cells=()) if n in taken else line for n, line in enumerate(lines)]


def _fact(each: Property, by: str, start: int, end: int) -> Annotation:
    return Annotation(shape="fact", properties=(each,), start=start, end=end, by=by)


_OF_SLIP = re.compile(
    r"^\W*(?:grand |net |nett |invoice |bill )?(total|date|address|merchant)\b"
    r"(?!.*\b(?:gst|tax|qty|quantity|items?|discount|savings?)\b)",
    re.IGNORECASE,
)


def _is_told(pair: Pair, told: frozenset[str]) -> bool:
    """Whether the slip's own reader has weighed it: a tax summary has a total too."""
    named = _OF_SLIP.match(pair.label)
    return named is not None and named[1].capitalize() in told


def _prose(parsed: Parsed, lines: list[Line], used: set[int]) -> Iterator[Annotation]:
    short = len(parsed.text) <= SHORT_TEXT
    found = 0
    for start, end in _runs(lines, used):
        for each in prose_properties(parsed.text, start, end, short=short):
            found += 1
            if found > MOST_FROM_PROSE * (1 + len(parsed.text) // PAGE if not parsed.page_starts else 1):
                return
            yield _fact(each, "prose", each.start, each.end)


def _runs(lines: list[Line], used: set[int]) -> Iterator[tuple[int, int]]:
    """Where sentences stand: lines below each other that no pair took, and the rest of one whose label opened it."""
    start = end = -1
    for number, line in enumerate(lines):
        is_prose = bool(line.text) and (number not in used or len(line.text) > 160)
        if is_prose and start < 0:
            start = line.start
        if is_prose:
            end = line.end
        elif start >= 0:
            yield start, end
            start = -1
    if start >= 0:
        yield start, end


# ── what the document is ─────────────────────────────────────────────────────────────────────────────────────────────

_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("contract", r"\b(?:agreement|contract|non-disclosure|nda|lease|terms and conditions|statement of work)\b"),
        (
            "data sheet",
            r"\b(?:data ?sheets?|specifications?|datenblatt|technical data|product information|spec sheet)\b",
        ),
        ("manual", r"\b(?:manual|user guide|instructions?|handbook|operating guide|owner'?s guide|how to)\b"),
        ("report", r"\b(?:report|study|analysis|findings|annual review|form 10-[kq]|white ?paper|assessment)\b"),
        ("letter", r"^\s*(?:dear|to whom it may concern)\b"),
        ("invoice", r"\b(?:invoice|rechnung|facture|factura|fattura|factuur)\b"),
        ("receipt", r"\b(?:receipt|kassenbon|quittung|reçu)\b"),
    )
)
_CONTRACT_WORD = re.compile(
    r"\b(?:hereby|hereto|herein|whereas|party|parties|governing law|witnesseth)\b", re.IGNORECASE
)
_TILL = re.compile(
    r"\b(?:change|cashier|tender(?:ed)?|cash|thank you|come again|till|terminal|receipt)\b", re.IGNORECASE
)
_INVOICE = re.compile(
    r"\b(?:due date|bill to|ship to|payment terms|iban|purchase order|vat|"
    r"invoice|rechnung|factuur|facture|fattura|factura)\b",
    re.IGNORECASE,
)
_PAID = re.compile(
    r"\bpaid\s+(?:by|in|with|via|on)\b|\breceived with thanks\b|\bpayment received\b|\bamount paid\b", re.IGNORECASE
)
"""An invoice that says that it was paid is the receipt."""
_DEAR = re.compile(r"^\s*dear\b.{2,60}$", re.IGNORECASE | re.MULTILINE)
_HEAD = 300


def kind_of(parsed: Parsed, annotations: tuple[Annotation, ...]) -> str:
    """What the document seems to be, or ""."""
    if parsed.media in SHEETS:
        return "spreadsheet"
    if parsed.media in ("eml", "msg"):
        return "e-mail"
    text, head = parsed.text, f"{parsed.title}\n{parsed.text[:_HEAD]}"
    if any(each.by == "slip" for each in annotations):
        till = len({word.casefold() for word in _TILL.findall(text)})
        is_receipt = till >= 2 or _PAID.search(text) or not _INVOICE.search(text)
        return "receipt" if is_receipt else "invoice"
    if _DEAR.search(text[:2_000]) and len(text) < 12_000:
        return "letter"
    if len(_CONTRACT_WORD.findall(text[:20_000])) >= 5:
        return "contract"
    for kind, pattern in _KINDS:
        if pattern.search(head):
            return kind
    measured = sum(1 for each in annotations for value in each.properties if value.value.base)
    return "data sheet" if measured >= 6 and len(text) < SHORT_TEXT else ""


def categories_of(parsed: Parsed, annotations: tuple[Annotation, ...]) -> tuple[Category, ...]:
    """Long or short, and heavy in data or in text, by how much of the text the facts and rows cover."""
    size: Category = "long" if len(parsed.text) > LONG else "short"
    covered, reach = 0, 0
    for each in annotations:
        if each.by != "prose":
            covered += max(0, each.end - max(each.start, reach))
            reach = max(reach, each.end)
    in_prose = sum(1 for each in annotations if each.by == "prose")
    words = len(parsed.text.split()) or 1
    is_data = covered > HEAVY * len(parsed.text.strip()) or in_prose * 12 > words
    return size, "data-heavy" if is_data else "text-heavy"
