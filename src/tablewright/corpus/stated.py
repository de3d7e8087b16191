"""What a document states for a field: under a label that means it, as a part of a place, under a heading. And what its
form leaves blank, where nothing else may be read for the field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from tablewright.corpus.annotate.contracts import is_contract
from tablewright.corpus.annotate.lines import Line, lines_in
from tablewright.corpus.annotate.pairs import Pair, blanks_in, starts_label
from tablewright.corpus.labels import match_labels
from tablewright.corpus.vocabulary import stem, tokens
from tablewright.store.properties import PropertyAt
from tablewright.table.answers import is_not_found
from tablewright.table.coerce import coerce
from tablewright.table.corpus import Typed
from tablewright.table.countries import COUNTRIES
from tablewright.table.model import Field, Noun
from tablewright.table.typed import typed

STATED = 0.9
"""How much a value is worth that stands under a label which means exactly what is asked."""
LEAST = 0.7
"""How well a label must fit the field."""
LABELLED, FORM = 8, 20
"""Labels with their values, from which on one without is left blank on purpose, and all of them together are a form."""
DOUBTED = 0.7
"""What is left of the worth of a value that can be read in two ways."""


class Stated(Noun, frozen=True):
    """A value as the field takes it, and the passage that states it."""

    value: str
    start: int
    end: int
    score: float


class Answered(Noun, frozen=True):
    """The best that a document states for a field, or the label under which its form says nothing. `looked`: the reader
    of such documents knows where it would stand."""

    stated: Stated | None = None
    blank: str = ""
    looked: bool = False


def answer_of(field: Field, text: str, facts: Sequence[PropertyAt], blanks: Sequence[Pair]) -> Answered:
    """A value under a label that fits less well than a blank one is the value of something else."""
    base = typed(f"1 {field.unit}").base
    uses = [*uses_of(facts), *(_use(each.label, each.heading) for each in blanks)]
    fits: dict[tuple[str, str], float] = {}
    for name in names_of(field):
        for match in match_labels(name, uses, base=base):
            key = match.label, match.context
            fits[key] = max(match.score, fits.get(key, 0.0))
    blanks = [each for each in blanks if "(" not in each.label or fits.get((each.label, each.heading), 0.0) >= STATED]
    blank = max(blanks, key=lambda each: fits.get((each.label, each.heading), 0.0), default=None)
    to_beat = fits.get((blank.label, blank.heading), 0.0) if blank else 0.0
    for fit, at in _ranked(facts, fits):
        if fit < max(LEAST, to_beat):
            break
        value, doubt = value_of(field, at.property.value)
        if field.type == "list":
            value = _listed(at, facts)
        if is_not_found(value):
            return Answered(blank=at.property.label)
        if coerce(value, field).value is not None:
            score = STATED * fit * (DOUBTED if doubt else 1.0)
            return Answered(stated=Stated(value=value, start=at.start, end=at.end, score=round(score, 4)))
    if blank and to_beat >= LEAST:
        return Answered(blank=blank.label)
    stated = _part_of_place(field, facts) or _under_heading(field, text)
    return Answered(stated=stated, looked=stated is None and _asks_party(field) and is_contract(text))


def _asks_party(field: Field) -> bool:
    """In agreements nearly every sentence has the word."""
    return any(match.score >= STATED for match in match_labels(field.name, [_use("Party", "")]))


def is_form(facts: Sequence[PropertyAt]) -> bool:
    """Whether it is made of labels and values, so that a sentence is no place to look for one."""
    return _labelled(facts) >= FORM


def blanks_of(text: str, facts: Sequence[PropertyAt]) -> list[Pair]:
    """The labels with nothing behind or below them, of a text that has enough others: elsewhere the value may only
    stand apart from its label."""
    return blanks_in(text, list(lines_in(text, 0, len(text)))) if _labelled(facts) >= LABELLED else []


def _labelled(facts: Sequence[PropertyAt]) -> int:
    return sum(1 for at in facts if at.by in ("pairs", "table"))


def _ranked(facts: Sequence[PropertyAt], fits: dict[tuple[str, str], float]) -> list[tuple[float, PropertyAt]]:
    """Of two that fit as well, what the reader of such documents has weighed, then what stands first."""
    fitting = [(fits.get((at.property.label, at.property.context), 0.0), at) for at in facts]
    return sorted(fitting, key=lambda each: (-each[0], each[1].by not in ("slip", "contract"), each[1].property.start))


def _listed(first: PropertyAt, facts: Sequence[PropertyAt]) -> str:
    """All that the same passage states under the label."""
    here = [
        at for at in facts if (at.property.label, at.start, at.end) == (first.property.label, first.start, first.end)
    ]
    if len(here) == 1 and first.by != "contract":
        return first.property.value.raw
    return json.dumps([" ".join(at.property.value.raw.split()) for at in here], ensure_ascii=False)


class LabelUse(Noun, frozen=True):
    """A label as a document uses it: under which heading, with which base unit."""

    label: str
    context: str
    base: str


def uses_of(facts: Sequence[PropertyAt]) -> list[LabelUse]:
    found = dict.fromkeys((at.property.label, at.property.context, at.property.value.base) for at in facts)
    return [_use(label, context, base) for label, context, base in found]


def _use(label: str, context: str, base: str = "") -> LabelUse:
    return LabelUse(label=label, context=context, base=base)


# ── the names a field goes by ────────────────────────────────────────────────────────────────────────────────────────

_AMOUNT = r"(?:amount|total|sum|price|value)"
_NET = r"(?:untaxed|net|excl\w*(?: (?:of )?(?:vat|tax\w*|gst))?|(?:before|without) (?:vat|tax\w*|gst)|pre tax|taxable)"
_TAX = r"(?:vat|tax|gst|ust|tva|btw|iva)"
_ISSUER = r"(?:vendor|supplier|seller|merchant|issuer|company|shop|store|biller)"
_ALSO: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), label)
    for pattern, label in (
        (rf"(?:{_AMOUNT} )?{_NET}(?: {_AMOUNT})?|sub ?total", "Net amount"),
        (r"(?:(?:invoice|bill|gross|total|full) )?amount(?: (?:due|payable|incl\w*.*|with tax\w*))?", "Total"),
        (rf"{_TAX}(?: registration)? (?:number|no|nr|id|identification.*)|gstin|ust ?id(?: ?nr)?", "VAT number"),
        (rf"{_TAX}(?: amount| total)?|(?:amount|total) of {_TAX}|total {_TAX}", "Tax amount"),
        (r"(?:invoice|bill|billing|receipt|issue) date|date of (?:issue|(?:the )?invoice)|issued(?: on)?", "Date"),
        (rf"{_ISSUER}(?: name)?|name of (?:the )?{_ISSUER}|issued by", "Merchant"),
        (r"jurisdiction|(?:governing|applicable) (?:law|state)|choice of law", "Governing law"),
    )
)


def names_of(field: Field) -> list[str]:
    """Its own name, and what the facts of invoices and agreements are called that it means."""
    name = " ".join(tokens(field.name))
    return [field.name, *(label for pattern, label in _ALSO if pattern.fullmatch(name))]


# ── the value as the field takes it ──────────────────────────────────────────────────────────────────────────────────


def value_of(field: Field, value: Typed) -> tuple[str, bool]:
    """With what the whole document said of it: the order of its dates, its decimal mark, its currency. And whether it
    can be read in two ways."""
    is_sign = value.number is None and value.currency != ""
    if field.type == "date" and len(value.date) == 10 and not value.ambiguity:
        return value.date, False
    if field.type == "number" and value.number is not None and value.high is None:
        same_unit = not field.unit or value.unit == field.unit
        if same_unit and (value.currency or not value.ambiguity):
            return f"{_shown(value.number)} {field.unit}".strip(), False
    if field.type == "text" and is_sign:
        return value.currency, bool(value.ambiguity)
    if field.type == "text" and value.unit in _CALENDAR and value.number is not None:
        return f"{_shown(value.number)} {_CALENDAR[value.unit]}{'s' if value.number != 1 else ''}", False
    return " ".join(value.raw.split()) if field.type == "text" else value.raw, False


_CALENDAR = {"yr": "year", "mo": "month"}


def _shown(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)


# ── a part of a place ────────────────────────────────────────────────────────────────────────────────────────────────

_PLACE = re.compile(r"(?P<city>[^\W\d][^,;:()\d]*+),\s*+(?P<region>[^\W\d][^,;:()\d]*+)(?:\([^()]*\))?")
_CITY = frozenset(("city", "town"))
_REGION = frozenset(("state", "province", "region"))
_COUNTRY = frozenset(("country", "nation"))


def _part_of_place(field: Field, facts: Sequence[PropertyAt]) -> Stated | None:
    """The city of "Location: Elyria, OH", or its state."""
    asked = {stem(word) for word in tokens(field.name)} - {"or", "and"}
    if field.type != "text" or not asked or not asked <= _CITY | _REGION | _COUNTRY:
        return None
    fits = {(match.label, match.context): match.score for match in match_labels("location", uses_of(facts))}
    for fit, at in _ranked(facts, fits):
        raw = at.property.value.raw
        place = _PLACE.fullmatch(raw.strip())
        if fit < STATED or place is None:
            continue
        region = place["region"].strip().removesuffix(".")
        abroad = region in COUNTRIES
        if asked <= _CITY:
            part = place["city"].strip()
        elif not asked.isdisjoint(_COUNTRY if abroad else _REGION):
            part = region
        else:
            continue
        return Stated(value=part, start=at.start, end=at.end, score=round(STATED * fit * 0.95, 4))
    return None


# ── the text under a heading ─────────────────────────────────────────────────────────────────────────────────────────

LONGEST_HEADING = 80
LONGEST_SECTION = 1_500
MOST_SECTION_LINES = 20
_ENDS = re.compile(r"[.!?:;,)”\"]$")


def _under_heading(field: Field, text: str) -> Stated | None:
    """The paragraph below a line that says what is asked; the sentence that only announces it is left out."""
    words = {stem(word) for word in tokens(field.name)}
    if field.type != "text" or len(words) < 2:
        return None
    lines = list(lines_in(text, 0, len(text)))
    for number, line in enumerate(lines):
        if len(line.text) > LONGEST_HEADING or ":" in line.text or not words <= {stem(w) for w in tokens(line.text)}:
            continue
        fit = next((match.score for match in match_labels(field.name, [_use(line.text, "")])), 0.0)
        below = list(_paragraph(lines[number + 1 :])) if fit >= STATED else []
        if below and below[0].text.endswith(":"):
            below = below[1:]
        if below and len(text[below[0].start : below[-1].end]) <= LONGEST_SECTION and _ENDS.search(below[-1].text):
            start, end = below[0].start, below[-1].end
            value = " ".join(text[start:end].split())
            return Stated(value=value, start=start, end=end, score=round(STATED * fit, 4))
    return None


def _paragraph(lines: Sequence[Line]) -> Iterator[Line]:
    """Until an empty line, a label, or a line that looks like the next heading."""
    above = ""
    for line in lines[:MOST_SECTION_LINES]:
        is_heading = not line.wraps and line.text[:1].isupper() and not _ENDS.search(line.text)
        announces = line.text.endswith(":") and not above
        if not line.text or (is_heading and not (above and not _ENDS.search(above))):
            return
        if not announces and starts_label(line):
            return
        yield line
        above = line.text
