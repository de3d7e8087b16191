"""What a document states for a field: under a label that means it, as a part of a place, under a heading. And what its
form leaves blank, where nothing else may be read for the field."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tablewright.corpus.annotate.pairs import Pair, blanks_in, starts_label
from tablewright.corpus.annotate.lines import Line, lines_in
from tablewright.corpus.labels import match_labels
from tablewright.corpus.vocabulary import stem, tokens
from tablewright.decisions.reader.geography import COUNTRIES
from tablewright.store.properties import LabelUse, PropertyAt
from tablewright.table.answers import is_not_found
from tablewright.table.coerce import coerce
from tablewright.table.corpus import Typed
from tablewright.table.currencies import meanings_of
from tablewright.table.model import Field, Noun
from tablewright.table.typed import typed

STATED = 0.9
"""How much a value is worth that stands under a label which means exactly what is asked."""
LEAST = 0.7
"""How well a label must fit the field."""
DOUBTED = 0.7
"""What is left of the worth of a value that can be read in two ways."""


class Stated(Noun, frozen=True):
    """A value as the field takes it, and the passage that states it."""

    value: str
    start: int
    end: int
    score: float


class Answered(Noun, frozen=True):
    """The best that a document states for a field, or the label under which its form says nothing."""

    stated: Stated | None = None
    blank: str = ""


def answer_of(field: Field, text: str, facts: Sequence[PropertyAt], blanks: Sequence[Pair]) -> Answered:
    """A value under a label that fits less well than a blank one is the value of something else."""
    base = typed(f"1 {field.unit}").base
    uses = [*uses_of(facts), *(_use(each.label, each.heading) for each in blanks)]
    fits: dict[tuple[str, str], float] = {}
    for name in names_of(field):
        for match in match_labels(name, uses, base=base):
            key = match.label, match.context
            fits[key] = max(match.score, fits.get(key, 0.0))
    blank = max(blanks, key=lambda each: fits.get((each.label, each.heading), 0.0), default=None)
    to_beat = fits.get((blank.label, blank.heading), 0.0) if blank else 0.0
    for fit, at in _ranked(facts, fits):
        if fit < max(LEAST, to_beat):
            break
        if is_not_found(at.property.value.raw):
            return Answered(blank=at.property.label)
        value, doubt = value_of(field, at.property.value)
        if coerce(value, field).value is not None:
            score = STATED * fit * (DOUBTED if doubt else 1.0)
            return Answered(stated=Stated(value=value, start=at.start, end=at.end, score=round(score, 4)))
    if blank and to_beat >= LEAST:
        return Answered(blank=blank.label)
    return Answered(stated=_part_of_place(field, facts) or _under_heading(field, text))


def _ranked(facts: Sequence[PropertyAt], fits: dict[tuple[str, str], float]) -> list[tuple[float, PropertyAt]]:
    """Of two that fit as well, what the reader of slips has weighed, then what stands first."""
    fitting = [(fits.get((at.property.label, at.property.context), 0.0), at) for at in facts]
    return sorted(fitting, key=lambda each: (-each[0], each[1].by != "slip", each[1].property.start))


def uses_of(facts: Sequence[PropertyAt]) -> list[LabelUse]:
    found = dict.fromkeys((at.property.label, at.property.context, at.property.value.base) for at in facts)
    return [_use(label, context, base) for label, context, base in found]


def _use(label: str, context: str, base: str = "") -> LabelUse:
    return LabelUse(label=label, context=context, base=base, shape="fact", documents=1, uses=1, samples=())


# ── the names a field goes by ────────────────────────────────────────────────────────────────────────────────────────

_AMOUNT = r"(?:amount|total|sum|price|value)"
_NET = rf"(?:untaxed|net|excl\w*(?: (?:of )?(?:vat|tax\w*|gst))?|(?:before|without) (?:vat|tax\w*|gst)|pre tax|taxable)"
_ALSO: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), label)
    for pattern, label in (
        (rf"(?:{_AMOUNT} )?{_NET}(?: {_AMOUNT})?|sub ?total", "Net amount"),
        (r"(?:(?:invoice|bill|gross|total|full) )?amount(?: (?:due|payable|incl\w*.*|with tax\w*))?", "Total"),
        (r"(?:vat|tax|gst|ust|tva|btw|iva)(?: registration)? (?:number|no|nr|id|identification.*)|gstin|vat", "VAT number"),
        (r"ust ?id(?: ?nr)?", "VAT number"),
    )
)  # fmt: skip


def names_of(field: Field) -> list[str]:
    """Its own name, and what the facts of invoices are called that it means."""
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
        return value.currency, bool(value.ambiguity) and len(meanings_of(value.raw)) > 1
    return value.raw, False


def _shown(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)


# ── a part of a place ────────────────────────────────────────────────────────────────────────────────────────────────

_PLACE = re.compile(r"(?P<city>[^\W\d][^,;:()\d]*?)\s*,\s*(?P<region>[^\W\d][^,;:()\d]*?)\s*(?:\([^()]*\)|\.)?")
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
        abroad = place["region"] in COUNTRIES
        if asked <= _CITY:
            part = place["city"]
        elif not asked.isdisjoint(_COUNTRY if abroad else _REGION):
            part = place["region"]
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
        is_heading = len(line.text) <= LONGEST_HEADING and line.text[:1].isupper() and not _ENDS.search(line.text)
        announces = line.text.endswith(":") and not above
        if not line.text or (is_heading and not (above and not _ENDS.search(above))):
            return
        if not announces and starts_label(line):
            return
        yield line
        above = line.text


def blanks_of(text: str) -> list[Pair]:
    """The labels with nothing behind or below them."""
    return blanks_in(text, list(lines_in(text, 0, len(text))))
