"""Answers of the kind that a field wants, in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tablewright.domain.text import normalize_words, show
from tablewright.extraction.spans import TypedSpan, spans
from tablewright.extraction.wanted import Wanted
from tablewright.values.choices import NEGATIONS, plain_boolean
from tablewright.values.countries import COUNTRIES, STATES
from tablewright.values.dates import read_date
from tablewright.values.measures import in_unit, read_measures

LONGEST_TEXT = 200
LONGEST_NAME = 9  # words
LONGEST_NUMBER = 40  # characters, with what stands beside it
UNSURE = 0.5
"""Below this a value is read so only for want of a better one: a year where a count is asked."""


def typed(want: Wanted, text: str) -> Sequence[TypedSpan]:
    """Those that have a form by which they can be told from other words, in order."""
    if want.kind == "option":
        option = option_in(want, text)
        return (option,) if option else ()
    if want.kind in ("yesno", "text"):
        return ()
    found = spans(want.kind, text, want.unit)
    if want.kind in ("count", "number"):
        ranges = [match.span() for match in _RANGE.finditer(text)]
        found = [span for span in found if not any(span.start < end and start < span.end for start, end in ranges)]
    if want.kind == "date" and not found:
        return tuple(
            TypedSpan(value=span.value, start=span.start, end=span.end, sure=0.5) for span in spans("year", text)
        )
    if want.kind == "number" and want.field.type == "text":
        return tuple(_in_groups(found, text))
    if want.bare:
        return tuple(_bare(span, want.unit) for span in found if span.sure > UNSURE)
    return found


def _in_groups(found: Sequence[TypedSpan], text: str) -> Iterator[TypedSpan]:
    """Numbers with the groups of digits behind them: a telephone number is one."""
    end = 0
    for span in found:
        if span.start < end:
            continue
        run = _GROUPS.match(text, span.start)
        end = max(span.end, run.end() if run else 0)
        yield TypedSpan(value=text[span.start : end], start=span.start, end=end, sure=span.sure)


def whole(want: Wanted, value: str) -> TypedSpan | None:
    """The answer that the value of a label or a cell is, or holds."""
    if not any(character.isalnum() for character in value):
        return None
    if want.kind == "yesno":
        verdict = plain_boolean(value)
        return None if verdict is None else TypedSpan(value="yes" if verdict else "no", start=0, end=len(value))
    if want.kind in _NAMES:
        text = value.split(" | ")[0].strip(" .;")
        if want.kind == "city":
            # A part with a number in it is of the street, or the code of a post office.
            parts = [part.strip() for part in text.split(",")]
            text = next((part for part in parts if not any(map(str.isdigit, part))), parts[0])
        if not 0 < len(text) <= LONGEST_TEXT or (want.kind == "person" and _is_no_name(text)):
            return None
        if want.kind != "text" and (len(text.split()) > LONGEST_NAME or text.islower()):
            return TypedSpan(value=text, start=0, end=len(text), sure=0.5)
        return TypedSpan(value=text, start=0, end=len(text))
    found = typed(want, value)
    if want.kind == "count" and _is_address(value):
        return None  # the number of a house
    if want.kind in ("count", "number") and (date := read_date(value)) and date.clean and len(date.iso) > 4:
        return None  # a year may be a number, a day is none
    if found and want.kind == "number" and want.field.type == "text" and len(value) <= LONGEST_NUMBER:
        return TypedSpan(value=value.strip(), start=0, end=len(value))  # a telephone number, "19 mpg in town"
    best = max(found, key=lambda span: (span.sure, -span.start), default=None)
    # A year beside the label of a count says when, not how many.
    return None if best is not None and want.kind == "count" and best.sure <= UNSURE else best


def _is_no_name(text: str) -> bool:
    """Whether it cannot be a person: it has a digit, or is where something is."""
    return any(map(str.isdigit, text)) or _is_address(text)


def _is_address(text: str) -> bool:
    """Whether it ends in a country or a state: "4 Mill Lane, Lyon, France"."""
    before, _, last = text.rpartition(",")
    return bool(before) and last.strip(" .") in COUNTRIES | STATES


_GROUPS = re.compile(r"\+?[\d(][\d\s()./-]*\d(?!\w)")
_RANGE = re.compile(r"\d\s?[–—-]\s?\d")  # "51–100 persons" is no number of persons
_NAMES = frozenset(
    ("text", "name", "organisation", "title", "person", "place", "country", "nationality", "city", "state")
)


# ── options ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def option_in(want: Wanted, text: str) -> TypedSpan | None:
    """The one option that the text names and does not deny; with several it is unsure."""
    words = f" {normalize_words(text)} "
    named = [
        option for option in want.options if normalize_words(option) and _names(words, f" {normalize_words(option)} ")
    ]
    longest = [
        option
        for option in named
        if not any(normalize_words(option) in normalize_words(other) and option != other for other in named)
    ]
    if len(longest) != 1:
        return None
    written = re.search(r"[\W_]+".join(map(re.escape, normalize_words(longest[0]).split())), text, re.IGNORECASE)
    start, end = written.span() if written else (0, len(text))
    return TypedSpan(value=longest[0], start=start, end=end)


def _names(words: str, option: str) -> bool:
    """Whether it stands there without a denial right before it: "not a charity", "no longer open"."""
    place = words.find(option)
    while place >= 0:
        if NEGATIONS.isdisjoint(words[:place].split()[-2:]):
            return True
        place = words.find(option, place + 1)
    return False


def _bare(span: TypedSpan, unit: str) -> TypedSpan:
    """The number alone, in the unit that the field's name gives."""
    measure = next(iter(read_measures(span.value, unit)), None)
    fit = in_unit(measure, unit) if measure else None
    return span if fit is None else TypedSpan(value=show(fit.value), start=span.start, end=span.end, sure=span.sure)
