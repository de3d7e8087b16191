"""Quotes that do not settle a value: another number, amount or date in them could be it, or its unit says that it is
something else, as the 39 of "39 years ago" is no year. Such a value is never called sure, whether a model or code has
read the quote."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tablewright.domain.model import Field, Money, Noun, Value
from tablewright.domain.text import show
from tablewright.extraction.meaning import RELATED, content, likeness
from tablewright.extraction.wanted import Wanted, wanted
from tablewright.values.dates import EARLIEST_YEAR, LATEST_YEAR, read_dates
from tablewright.values.measures import in_unit, read_measures
from tablewright.values.money import read_amounts
from tablewright.values.numbers import read_numbers
from tablewright.values.same_value import same_value
from tablewright.values.units import parse_unit

MOST = 0.75
"""The most that a value is worth whose quotes do not settle it: below what counts as high."""


class ReadFigure(Noun, frozen=True):
    """A number, amount or date that stands at `start:end` of a text; `others` are its second readings and the far end
    of a range."""

    value: Value
    start: int
    end: int
    others: tuple[Value, ...] = ()
    unit: str = ""


def find_ambiguity(field: Field, value: Value, quote: str) -> str:
    """Return why the quote does not settle the value, or "" where it does. Cells and lines speak for themselves, so
    only the one that has the value counts."""
    if field.type not in ("number", "money", "date") or value is None:
        return ""
    reason = ""
    for part in re.split(r"[|\n]", quote):
        figures = list(find_figures(field, value, part))
        if not any(is_same(figure.value, value) or among(value, figure.others) for figure in figures):
            continue
        if not (reason := _find_ambiguity_in(wanted(field), value, part, figures)):
            return ""
    return reason


def _find_ambiguity_in(want: Wanted, value: Value, text: str, figures: Sequence[ReadFigure]) -> str:
    own = next(
        (place for place, figure in enumerate(figures) if is_same(figure.value, value)),
        next((place for place, figure in enumerate(figures) if among(value, figure.others)), 0),
    )
    chosen = figures[own]
    written = " ".join(text[chosen.start : chosen.end].split())
    if chosen.others:
        other = chosen.others[0] if is_same(chosen.value, value) else chosen.value
        return f"“{written}” may also be {show(other)}"
    if chosen.unit:
        return f"“{written}” is given in {chosen.unit}, which may be something else than {want.field.name}"
    rivals = [place for place, figure in enumerate(figures) if not is_same(figure.value, value)]
    if not rivals:
        return ""
    near = [_words_near(text, figures, place) for place in range(len(figures))]
    speaks = _speaks_of(want, near[own])
    for place in rivals:
        is_other = bool(near[place]) and speaks >= RELATED and _speaks_of(want, near[place]) < speaks
        if not is_other:
            return f"the quote also has {show(figures[place].value)}"
    return ""


# ── what could be the value ──────────────────────────────────────────────────────────────────────────────────────────

_BARE_YEAR = re.compile(r"[12]\d{3}")


def find_figures(field: Field, value: Value, text: str) -> Iterator[ReadFigure]:
    """Yield everything in the text that could be a value of the field."""
    match field.type:
        case "date":
            for date in read_dates(text):
                if date.doubtful and date.iso != value:
                    continue
                others = tuple(filter(None, (date.last, date.other_iso)))
                yield ReadFigure(value=date.iso, start=date.start, end=date.end, others=others)
        case "money":
            amounts = read_amounts(text, field.unit)
            is_marked = any(amount.money.currency for amount in amounts)
            for amount in amounts:
                if amount.money.currency or not is_marked or is_same(amount.money, value):
                    far = () if amount.high is None else (Money(amount=amount.high, currency=amount.money.currency),)
                    yield ReadFigure(value=amount.money, start=amount.start, end=amount.end, others=far)
        case _ if field.unit and parse_unit(field.unit):
            yield from _find_measures(field.unit, text)
        case _:
            yield from _find_numbers(wanted(field), value, text)


def _find_measures(unit: str, text: str) -> Iterator[ReadFigure]:
    for measure in read_measures(text, unit):
        fit = in_unit(measure, unit) if measure.unit else measure
        if fit is not None:
            far = (*(() if fit.high is None else (fit.high,)), *fit.sizes[1:])
            yield ReadFigure(value=fit.value, start=fit.start, end=fit.end, others=far)


def _find_numbers(want: Wanted, value: Value, text: str) -> Iterator[ReadFigure]:
    """Of numbers without a unit. Where a year is asked for, only years count, and else a bare year does not; the value
    itself always does, with the unit that stands behind it."""
    units = {measure.start: measure.unit for measure in read_measures(text)}
    for number in read_numbers(text):
        written = text[number.start : number.end]
        is_year = bool(_BARE_YEAR.fullmatch(written)) and EARLIEST_YEAR <= number.value <= LATEST_YEAR
        unit = "percent" if number.percent else units.get(number.start, "")
        is_own = is_same(number.value, value)
        far = () if number.high is None else (number.high,)
        if want.kind == "year":
            is_measured = unit != "" or not is_year
            if is_own or is_year or far:
                yield ReadFigure(
                    value=number.value, start=number.start, end=number.end, others=far,
                    unit=(unit or "no form of a year") if is_own and is_measured else "",
                )  # fmt: skip
        elif is_own or among(value, far):
            misfit = unit if want.kind == "count" else ""
            yield ReadFigure(value=number.value, start=number.start, end=number.end, others=far, unit=misfit)
        elif not is_year and not unit:
            yield ReadFigure(value=number.value, start=number.start, end=number.end, others=far)


def is_same(one: Value, other: Value) -> bool:
    """Return True if both are one value of the text; whole numbers, which no conversion gives, must be equal."""
    if isinstance(one, str) and isinstance(other, str):
        return one.startswith(other)
    numbers = [value.amount if isinstance(value, Money) else value for value in (one, other)]
    is_whole = all(isinstance(number, int) for number in numbers)
    return same_value(one, other, "proving" if is_whole else "restating")


def among(value: Value, others: Sequence[Value]) -> bool:
    return any(is_same(other, value) for other in others)


# ── what stands beside it ────────────────────────────────────────────────────────────────────────────────────────────

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?|[^\w\s]")


def _words_near(text: str, figures: Sequence[ReadFigure], place: int) -> tuple[str, ...]:
    """The telling words that lead to a figure, and those right behind it up to a mark or a small word: the "employees"
    of "500 employees in 30 countries" belongs to 500."""
    before = figures[place - 1].end if place else 0
    after = figures[place + 1].start if place + 1 < len(figures) else len(text)
    lead = text[before : figures[place].start]
    if place:
        lead = lead[len(_tail(lead)) :]
    return content(f"{lead} {_tail(text[figures[place].end : after])}")


def _tail(text: str) -> str:
    """The words at the beginning of a text that go with what stands before them."""
    end = 0
    for word in _WORD.finditer(text):
        if not content(word[0]):
            break
        end = word.end()
    return text[:end]


def _speaks_of(want: Wanted, words: tuple[str, ...]) -> float:
    """How much the words are like those of the field."""
    asked = want.words
    return float(likeness(asked, words).max(initial=0.0)) if asked and words else 0.0
