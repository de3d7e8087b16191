"""Find the value that a document states for a field under a label or heading that names it.

If the document's form leaves that label blank, nothing else may be read for the field. Works on the stored text and
facts of one document; no model is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from tablewright.domain.documents import ComparableValue
from tablewright.domain.model import Field, Struct
from tablewright.domain.text import normalize_whitespace
from tablewright.extraction.layout.pairs import LabelPair, TextLine, find_blank_labels, parse_lines, starts_with_label
from tablewright.extraction.reader import Candidate
from tablewright.store.snapshot import PropertyAt
from tablewright.text import SMALL_WORDS, word_roots
from tablewright.values.answers import is_not_found
from tablewright.values.coerce import coerce_value
from tablewright.values.comparable_value import parse_comparable

# The score of a value under a label of exactly the words that are asked.
STATED_SCORE = 0.9
# A label that fits less well names something else.
MIN_LABEL_FIT = 0.7


class FieldAnswer(Struct, frozen=True):
    """The best value that a document states for a field, or the label that its form leaves blank."""

    stated: Candidate | None = None
    blank: str = ""


def find_field_answer(
    field: Field, text: str, facts: Sequence[PropertyAt], blanks: Sequence[LabelPair], title: str = ""
) -> FieldAnswer:
    """Return the value under the best label, or the label if that is blank.

    A label that fits less well than a blank one has the value of something else."""
    blank = max(blanks, key=lambda each: score_label_fit(field.name, each.label, each.heading), default=None)
    to_beat = score_label_fit(field.name, blank.label, blank.heading) if blank else 0.0
    ranked = _rank_facts(field.name, facts, f"{title} {text[:120].strip().partition(chr(10))[0]}")
    for score, at in ranked if not _are_rival_labels(ranked) else ():
        if score < max(MIN_LABEL_FIT, to_beat):
            break
        value, doubt = format_value_for_field(field, at.property.value)
        if is_not_found(value):
            return FieldAnswer(blank=at.property.label)
        if coerce_value(value, field).value is not None and _unit_fits(field, at.property.value):
            worth = STATED_SCORE * score * (0.7 if doubt else 1.0)
            return FieldAnswer(stated=make_fact_candidate(field, value, at.start, at.end, worth))
    if blank and to_beat >= MIN_LABEL_FIT:
        return FieldAnswer(blank=blank.label)
    return FieldAnswer(stated=_find_under_heading(field, text))


def make_fact_candidate(field: Field, value: str, start: int, end: int, score: float) -> Candidate:
    return Candidate(field=field.name, value=value, source=0, start=start, end=end, score=round(score, 4), how="fact")


def _rank_facts(asked: str, facts: Sequence[PropertyAt], titles: str) -> list[tuple[float, PropertyAt]]:
    """Return the facts by how well their labels fit; equal ones in the order of the text."""
    fitting = [(score_label_fit(asked, at.property.label, at.property.context, titles), at) for at in facts]
    return sorted(fitting, key=lambda each: (-each[0], each[1].property.start))


def _are_rival_labels(ranked: Sequence[tuple[float, PropertyAt]]) -> bool:
    """Return True if two labels are equally more specific than the field: "Order date" and "Delivery date" for a
    date."""
    best = [at.property for score, at in ranked if score == ranked[0][0] < 1]
    return len({each.label.casefold() for each in best}) > 1 and len({each.value.raw for each in best}) > 1


def _unit_fits(field: Field, value: ComparableValue) -> bool:
    """Return False if the units are of different kinds: metres asked for, volts or euros stated."""
    asked = parse_comparable(f"1 {field.unit}") if field.unit else value
    kinds = {each.base or each.currency for each in (asked, value)} - {""}
    return len(kinds) < 2


def find_blank_fields(text: str, facts: Sequence[PropertyAt]) -> list[LabelPair]:
    """Return the labels without a value, in a text in which enough labels have one.

    In other texts the value may only be far from its label."""
    labelled = sum(at.by in ("pairs", "table") for at in facts)
    return find_blank_labels(text, list(parse_lines(text, 0, len(text)))) if labelled >= 8 else []


# ── the value as the field takes it ──────────────────────────────────────────────────────────────────────────────────


def format_value_for_field(field: Field, value: ComparableValue) -> tuple[str, bool]:
    """Return the value as text for the field, and True if it can be read in two ways.

    It was parsed with what the whole document tells: the order of its dates, its decimal mark, its currency."""
    is_sign = value.number is None and value.currency != ""
    if field.type == "date" and len(value.date) == 10 and not value.ambiguity:
        return value.date, False
    if field.type == "number" and value.number is not None and value.high is None:
        same_unit = not field.unit or value.unit == field.unit
        if same_unit and (value.currency or not value.ambiguity):
            return f"{_format_plain_number(value.number)} {field.unit}".strip(), False
    if field.type == "text" and is_sign:
        return value.currency, bool(value.ambiguity)
    # Units of time that people write out.
    written_out = {"yr": "year", "mo": "month"}.get(value.unit)
    if field.type == "text" and written_out and value.number is not None:
        return f"{_format_plain_number(value.number)} {written_out}{'s' if value.number != 1 else ''}", False
    return normalize_whitespace(value.raw).lstrip("#№ ") if field.type == "text" else value.raw, False


def _format_plain_number(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)


# ── the text under a heading ─────────────────────────────────────────────────────────────────────────────────────────

# A longer section is a chapter: its beginning is no answer.
MAX_SECTION_CHARACTERS, MAX_SECTION_LINES = 1_500, 20
# The end of a sentence or of an item: a heading has none.
_ENDS = re.compile(r"[.!?:;,)”\"]$")


def _find_under_heading(field: Field, text: str) -> Candidate | None:
    """Return the paragraph below a heading that names what is asked, without a sentence that only announces it."""
    if field.type != "text" or len(label_words(field.name)) < 2:
        return None
    lines = list(parse_lines(text, 0, len(text)))
    for number, line in enumerate(lines):
        # No heading.
        if len(line.text) > 80 or ":" in line.text:
            continue
        score = score_label_fit(field.name, line.text)
        below = list(_paragraph_below(lines[number + 1 :])) if score >= MIN_LABEL_FIT else []
        if below and below[0].text.endswith(":"):
            below = below[1:]
        start, end = (below[0].start, below[-1].end) if below else (0, 0)
        if below and end - start <= MAX_SECTION_CHARACTERS and _ENDS.search(below[-1].text):
            return make_fact_candidate(field, normalize_whitespace(text[start:end]), start, end, STATED_SCORE * score)
    return None


def _paragraph_below(lines: Sequence[TextLine]) -> Iterator[TextLine]:
    """Yield lines until an empty one, a label, or one that looks like the next heading."""
    above = ""
    for line in lines[:MAX_SECTION_LINES]:
        is_heading = not line.wraps and line.text[:1].isupper() and not _ENDS.search(line.text)
        announces = line.text.endswith(":") and not above
        if not line.text or (is_heading and not (above and not _ENDS.search(above))):
            return
        if not announces and starts_with_label(line):
            return
        yield line
        above = line.text


# ── how well a label names what is asked ─────────────────────────────────────────────────────────────────────────────


def score_label_fit(asked: str, label: str, heading: str = "", titles: str = "") -> float:
    """Return how well a label names what is asked, from 0 to 1.

    Words are compared without their endings; a word that is only similar in meaning makes another label. Return 0 if an
    asked word is neither in the label nor in the heading above it. Either part of "Model/Series" may be what is asked.
    `titles` say what the document is."""
    return max(_score_part_fit(asked, part, heading, titles) for part in {label, *re.split(r"\s?/\s?| & ", label)})


def _score_part_fit(asked: str, label: str, heading: str, titles: str) -> float:
    needed, given = label_words(asked), label_words(label)
    if not needed or not given:
        return 0.0
    if are_initials(asked, label) or are_initials(label, asked):
        return 0.95
    missing, extra = needed - given, given - needed
    if missing == needed or missing - label_words(heading) or (missing and extra):
        return 0.0
    # A word that says what the document is costs little: an invoice's "Invoice date" is its date.
    own = extra & label_words(f"{titles} {heading}")
    return max(0.0, 1 - 0.15 * (len(missing) + len(extra - own)) - 0.05 * len(own))


@lru_cache(maxsize=1 << 14)
def label_words(text: str) -> frozenset[str]:
    # "Invoice #" and "Invoice No." ask for the "invoice number".
    text = re.sub(r"[#№]|\b(?:no|nr)\b\.?|\bn[°º]", " number ", text, flags=re.IGNORECASE)
    return frozenset(word_roots(text, telling=True)) or frozenset(word_roots(text))


def are_initials(short: str, whole: str) -> bool:
    """Return True if the short text is the initials of the other, with or without its small words: "DOB"."""
    if not (3 <= len(short) <= 6 and short.isalpha() and short.isupper()):
        return False
    return short.casefold() in list_initials(whole)


def list_initials(text: str) -> Iterator[str]:
    said = text.casefold().split()
    yield "".join(word[0] for word in said)
    yield "".join(word[0] for word in said if word not in SMALL_WORDS)
