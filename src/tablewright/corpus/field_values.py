"""Find what a document states for a field, under a label or a heading that names it, and which labels its form leaves
blank, where nothing else may be read for the field."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from tablewright.domain.corpus import Typed
from tablewright.domain.model import Field, Noun
from tablewright.domain.text import normalize_whitespace
from tablewright.extraction.layout.pairs import LabelPair, TextLine, blanks_in, lines_in, starts_label
from tablewright.extraction.reader import Candidate
from tablewright.store.snapshot import PropertyAt
from tablewright.text import SMALL_WORDS, roots
from tablewright.values.answers import is_not_found
from tablewright.values.coerce import coerce
from tablewright.values.typed import typed

STATED = 0.9
"""How much a value is worth that stands under a label of exactly the words that are asked."""
LEAST = 0.7
"""How well a label must fit the field."""
LABELLED = 8
"""Labels with their values, from which on one without is left blank on purpose."""
FIRST_LINE = 120
"""Characters in which a document says what it is."""
DOUBTED = 0.7
"""What is left of the worth of a value that can be read in two ways."""


EXTRA = 0.15
"""What each word costs that the label has beyond those asked for, or that only the heading above it has."""
OWN = 0.05
"""What such a word costs that says what the document is: an invoice's "Invoice date" is its date."""
INITIALS = 0.95
_APART = re.compile(r"\s?/\s?| & ")


class FieldAnswer(Noun, frozen=True):
    """The best that a document states for a field, or the label under which its form says nothing."""

    stated: Candidate | None = None
    blank: str = ""


def answer_of(
    field: Field, text: str, facts: Sequence[PropertyAt], blanks: Sequence[LabelPair], title: str = ""
) -> FieldAnswer:
    """A value under a label that fits less well than a blank one is the value of something else."""
    blank = max(blanks, key=lambda each: fit(field.name, each.label, each.heading), default=None)
    to_beat = fit(field.name, blank.label, blank.heading) if blank else 0.0
    ranked = _ranked(field.name, facts, f"{title} {text[:FIRST_LINE].strip().partition(chr(10))[0]}")
    for score, at in ranked if not _are_rivals(ranked) else ():
        if score < max(LEAST, to_beat):
            break
        value, doubt = value_of(field, at.property.value)
        if is_not_found(value):
            return FieldAnswer(blank=at.property.label)
        if coerce(value, field).value is not None and _unit_fits(field, at.property.value):
            worth = STATED * score * (DOUBTED if doubt else 1.0)
            return FieldAnswer(stated=as_candidate(field, value, at.start, at.end, worth))
    if blank and to_beat >= LEAST:
        return FieldAnswer(blank=blank.label)
    return FieldAnswer(stated=_under_heading(field, text))


def as_candidate(field: Field, value: str, start: int, end: int, score: float) -> Candidate:
    return Candidate(field=field.name, value=value, source=0, start=start, end=end, score=round(score, 4), how="fact")


def _ranked(asked: str, facts: Sequence[PropertyAt], titles: str) -> list[tuple[float, PropertyAt]]:
    """Sort by fit; of two that fit as well, the earlier comes first."""
    fitting = [(fit(asked, at.property.label, at.property.context, titles), at) for at in facts]
    return sorted(fitting, key=lambda each: (-each[0], each[1].property.start))


def _are_rivals(ranked: Sequence[tuple[float, PropertyAt]]) -> bool:
    """Return True if two labels are equally more specific than the field: "Order date" and "Delivery date" for a
    date."""
    best = [at.property for score, at in ranked if score == ranked[0][0] < 1]
    return len({each.label.casefold() for each in best}) > 1 and len({each.value.raw for each in best}) > 1


def _unit_fits(field: Field, value: Typed) -> bool:
    """Return False if the units are of different kinds: metres asked for, volts or euros stated."""
    asked = typed(f"1 {field.unit}") if field.unit else value
    kinds = {each.base or each.currency for each in (asked, value)} - {""}
    return len(kinds) < 2


def blanks_of(text: str, facts: Sequence[PropertyAt]) -> list[LabelPair]:
    """The labels with nothing behind or below them, of a text that has enough others: elsewhere the value may only
    stand apart from its label."""
    labelled = sum(at.by in ("pairs", "table") for at in facts)
    return blanks_in(text, list(lines_in(text, 0, len(text)))) if labelled >= LABELLED else []


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
    return normalize_whitespace(value.raw).lstrip("#№ ") if field.type == "text" else value.raw, False


_CALENDAR = {"yr": "year", "mo": "month"}


def _shown(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)


# ── the text under a heading ─────────────────────────────────────────────────────────────────────────────────────────

LONGEST_HEADING = 80
LONGEST_SECTION = 1_500
MOST_SECTION_LINES = 20
_ENDS = re.compile(r"[.!?:;,)”\"]$")


def _under_heading(field: Field, text: str) -> Candidate | None:
    """The paragraph below a line that says what is asked; the sentence that only announces it is left out."""
    if field.type != "text" or len(words_of(field.name)) < 2:
        return None
    lines = list(lines_in(text, 0, len(text)))
    for number, line in enumerate(lines):
        if len(line.text) > LONGEST_HEADING or ":" in line.text:
            continue
        score = fit(field.name, line.text)
        below = list(_paragraph(lines[number + 1 :])) if score >= LEAST else []
        if below and below[0].text.endswith(":"):
            below = below[1:]
        if below and len(text[below[0].start : below[-1].end]) <= LONGEST_SECTION and _ENDS.search(below[-1].text):
            start, end = below[0].start, below[-1].end
            return as_candidate(field, normalize_whitespace(text[start:end]), start, end, STATED * score)
    return None


def _paragraph(lines: Sequence[TextLine]) -> Iterator[TextLine]:
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


# ── how well a label names what is asked ─────────────────────────────────────────────────────────────────────────────


def fit(asked: str, label: str, heading: str = "", titles: str = "") -> float:
    """Return how well a label names what is asked, from 0 to 1, by its own words without their endings: what is only
    alike in meaning is another label. 0 if a word that is asked for is neither in the label nor in the heading above
    it. Of a label such as "Model/Series" either part may be what is asked. `titles` say what the document is."""
    return max(_fit(asked, part, heading, titles) for part in {label, *_APART.split(label)})


def _fit(asked: str, label: str, heading: str, titles: str) -> float:
    wanted, given = words_of(asked), words_of(label)
    if not wanted or not given:
        return 0.0
    if are_initials(asked, label) or are_initials(label, asked):
        return INITIALS
    missing, extra = wanted - given, given - wanted
    if missing == wanted or missing - words_of(heading) or (missing and extra):
        return 0.0
    own = extra & words_of(f"{titles} {heading}")
    return max(0.0, 1 - EXTRA * (len(missing) + len(extra - own)) - OWN * len(own))


@lru_cache(maxsize=1 << 14)
def words_of(text: str) -> frozenset[str]:
    text = _NUMBER_SIGN.sub(" number ", text)
    return frozenset(roots(text, telling=True)) or frozenset(roots(text))


_NUMBER_SIGN = re.compile(r"[#№]|\b(?:no|nr)\b\.?|\bn[°º]", re.IGNORECASE)


def are_initials(short: str, whole: str) -> bool:
    """ "DOB" is "date of birth", with or without its small words."""
    if not (3 <= len(short) <= 6 and short.isalpha() and short.isupper()):
        return False
    return short.casefold() in initials_of(whole)


def initials_of(text: str) -> Iterator[str]:
    said = text.casefold().split()
    yield "".join(word[0] for word in said)
    yield "".join(word[0] for word in said if word not in SMALL_WORDS)
