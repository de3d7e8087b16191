"""Compare values of cells with values of conditions. The result is three-valued: match, no match, or not stated.

A value is the interval in which it may lie: "10 to 20 kg", or all days of "2018". The result is certain only if the
whole interval is inside or outside the wanted one. No I/O.
"""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec import structs

from tablewright.domain.condition import ORDERED_OPERATORS, Condition, parse_column_reference
from tablewright.domain.documents import ComparableValue, Truth
from tablewright.domain.model import Cell, Field, FieldType, Money, Value
from tablewright.domain.text import cell_text, format_value
from tablewright.messages.catalogue import AskText, translate
from tablewright.values.coerce import coerce_value
from tablewright.values.comparable_value import make_comparable_number, parse_comparable
from tablewright.values.dates import ISO_DAY, read_dates
from tablewright.values.same_value import same_value
from tablewright.values.vocabulary import contains_phrase, normalize_name, stem_text

# Reasons and guesses that a reply shows, with their context for the translations.
EITHER: AskText[str] = "{value} may be either"
NO_DATE: AskText[str] = "“{value}” is not a date"
NO_NUMBER: AskText[str] = "“{value}” is not a number"
NOT_COMPARABLE: AskText[str] = "“{value}” cannot be compared"


class Verdict(NamedTuple):
    """The result of a comparison. `reason` says why it is no match, `guess` what was assumed, and `rate` the exchange
    rate used: "1 USD = 0.727 GBP"."""

    truth: Truth
    reason: str = ""
    guess: str = ""
    rate: str = ""


MATCH, NO_MATCH = Verdict("match"), Verdict("no match")


def to_verdict(is_match: bool) -> Verdict:
    return MATCH if is_match else NO_MATCH


def make_unstated(reason: str) -> Verdict:
    return Verdict("not stated", reason)


def combine_all(verdicts: Iterable[Verdict]) -> Verdict:
    """Return a match if all match. One "no match" decides, whatever else is not stated."""
    result = MATCH
    guess = rate = ""
    for verdict in verdicts:
        if verdict.truth == "no match":
            return verdict
        if verdict.truth == "not stated" and result.truth == "match":
            result = verdict
        guess, rate = guess or verdict.guess, rate or verdict.rate
    return result._replace(guess=guess, rate=rate)


def combine_any(verdicts: Iterable[Verdict]) -> Verdict:
    """Return a match if any matches."""
    result = NO_MATCH
    for verdict in verdicts:
        if verdict.truth == "match":
            return verdict
        is_plain = result.truth == "no match" and not (result.guess or result.rate)
        if verdict.truth == "not stated" or (is_plain and (verdict.guess or verdict.rate)):
            result = verdict
    return result


def negate(verdict: Verdict) -> Verdict:
    opposite: dict[Truth, Truth] = {"match": "no match", "no match": "match"}
    return verdict._replace(truth=opposite.get(verdict.truth, verdict.truth))


def compare_value(
    value: ComparableValue, operator: str, wanted: Sequence[ComparableValue], language: str = ""
) -> Verdict:
    """Compare a value with the wanted ones, any of which is enough; `between` has two.

    An ambiguous value is read in the usual way; if the other reading gives another result, the verdict is a guess.
    Reasons and guesses are in the given language."""
    if not value.ambiguity:
        return _compare_with_all(value, operator, wanted, language)
    return _take_first_reading(
        [_compare_with_all(each, operator, wanted, language) for each in _list_readings(value)], language
    )


def compare_pair(value: ComparableValue, operator: str, other: ComparableValue, language: str = "") -> Verdict:
    """Compare two values of the same row: a payment with its due date, a result with its limit. Both may be intervals:
    of two dates that are only known as March, either may be the first."""
    pairs = [(one, two) for one in _list_readings(value) for two in _list_readings(other)]
    return _take_first_reading([_compare_readings(one, operator, two, language) for one, two in pairs], language)


def _take_first_reading(verdicts: Sequence[Verdict], language: str) -> Verdict:
    is_sure = len({verdict.truth for verdict in verdicts}) == 1
    return (
        verdicts[0]
        if is_sure
        else verdicts[0]._replace(
            guess=translate("ask", "values that can be read in two ways were taken in the usual one", language)
        )
    )


def _list_readings(value: ComparableValue) -> list[ComparableValue]:
    other = find_other_reading(value)
    return [value] if other is None else [value, other]


def _compare_readings(value: ComparableValue, operator: str, other: ComparableValue, language: str) -> Verdict:
    if operator == "!=":
        return negate(_compare_readings(value, "=", other, language))
    if bool(value.date) != bool(other.date):
        return make_unstated(translate("ask", NOT_COMPARABLE, language, value=f"{value.raw} / {other.raw}"))
    if operator not in ("=", "contains") and other.number is None and other.si is None and not other.date:
        return make_unstated(translate("ask", NO_NUMBER, language, value=other.raw))
    numbers = value.number is not None and other.number is not None and not value.date
    if numbers and bool(value.currency or value.base) != bool(other.currency or other.base):
        verdict = _compare_readings(_strip_unit(value), operator, _strip_unit(other), language)
        return verdict._replace(
            guess=translate(
                "ask", "only one of two values has a unit or currency; the bare numbers were compared", language
            )
        )
    # The same limit is not the same number.
    is_limited = operator == "=" and numbers and is_limit_text(other.raw)
    if numbers and not is_limited and not other.currency and _is_other_limit(other.raw, operator):
        verdict = _compare_readings(value, operator, structs.replace(other, raw=_number_part(other.raw)), language)
        return verdict._replace(
            guess=translate(
                "ask", "limits such as “{value}” were compared by their number alone", language, value=other.raw
            )
        )
    ends = _range_ends(other)
    verdicts = [_judge_value(value, operator, end, language) for end in ends]
    if operator == "=" and (is_limited or len(ends) > 1):  # at most: it may be the same
        verdicts = [_judge_value(value, "=", other, language)]
        is_sure = verdicts[0].truth == "no match"
    else:
        is_sure = len({verdict.truth for verdict in verdicts}) == 1
    return verdicts[0] if is_sure else make_unstated(translate("ask", EITHER, language, value=other.raw))


def _number_part(raw: str) -> str:
    return raw[next(place for place, mark in enumerate(raw) if mark.isnumeric()) :]


def _is_other_limit(raw: str, operator: str) -> bool:
    """Return True for a limit that may not bound the side in question, such as "min. 5" or "≥ 5" when values above it
    are wanted."""
    before = raw[: len(raw) - len(_number_part(raw))].strip()
    if any(mark.isalpha() for mark in before):
        return True
    return is_limit_text(raw) and (raw.lstrip()[0] in "<≤") != (operator in (">", ">="))


def _strip_unit(value: ComparableValue) -> ComparableValue:
    return structs.replace(value, unit="", si=None, si_high=None, base="", currency="")


def _range_ends(value: ComparableValue) -> list[ComparableValue]:
    """Return the first and last possible values."""
    if value.date:
        return [structs.replace(value, date=day) for day in dict.fromkeys(_first_and_last_day(value.date))]
    if value.high is None:
        return [value]
    last = structs.replace(value, number=value.high, high=None, si=value.si_high, si_high=None)
    return [structs.replace(value, high=None, si_high=None), last]


def _compare_with_all(
    value: ComparableValue, operator: str, wanted: Sequence[ComparableValue], language: str
) -> Verdict:
    if operator == "between":
        return _compare_between(value, wanted, language)
    if operator == "!=":
        return negate(combine_any(_judge_value(value, "=", each, language) for each in wanted))
    if len(wanted) == 1:
        return _judge_value(value, operator, wanted[0], language)
    return combine_any(_judge_value(value, operator, each, language) for each in wanted)


def _compare_between(value: ComparableValue, wanted: Sequence[ComparableValue], language: str) -> Verdict:
    if len(wanted) != 2:
        return make_unstated(translate("ask", "a range needs two ends", language))
    return combine_all((_judge_value(value, ">=", wanted[0], language), _judge_value(value, "<=", wanted[1], language)))


def _judge_value(value: ComparableValue, operator: str, wanted: ComparableValue, language: str) -> Verdict:
    if operator == "contains":
        return to_verdict(contains_phrase(value.raw, wanted.raw))
    if has_only_text(value) and not has_only_text(wanted):
        return _judge_text(value, operator, wanted, language)
    if wanted.date and value.date:
        return _compare_intervals(
            value,
            Interval(*_first_and_last_day(value.date)),
            operator,
            Interval(*_first_and_last_day(wanted.date)),
            language,
        )
    if wanted.si is not None:
        return _compare_in_base_unit(value, operator, wanted, language)
    if wanted.number is not None and value.number is not None:
        return _compare_numbers(value, operator, wanted, language)
    if wanted.truth is not None and value.truth is not None:
        return to_verdict(wanted.truth == value.truth)
    if operator == "=":
        return _compare_texts(value, wanted, language)
    if has_only_text(value):  # and so is what is wanted: in the order of the alphabet
        own, asked = value.raw.casefold(), wanted.raw.casefold()
        return _compare_intervals(value, Interval(own, own), operator, Interval(asked, asked), language)
    return _unreadable_verdict(value, wanted, language)


def _judge_text(value: ComparableValue, operator: str, wanted: ComparableValue, language: str) -> Verdict:
    """Read a text as the figure that it is compared with. Equal figures are not the same text: 1.10 need not be 1.1."""
    read = structs.replace(parse_comparable(value.raw), raw=value.raw)
    if has_only_text(read):
        return (
            _compare_texts(value, wanted, language) if operator == "=" else _unreadable_verdict(value, wanted, language)
        )
    verdict = _judge_value(read, operator, wanted, language)
    is_same_figure = operator == "=" and verdict.truth == "match" and read.truth is None
    return _compare_texts(value, wanted, language) if is_same_figure else verdict


def _compare_texts(value: ComparableValue, wanted: ComparableValue, language: str) -> Verdict:
    if is_same_name(value.raw, wanted.raw):
        return MATCH
    is_figure = bool(wanted.date) or wanted.number is not None
    return make_unstated(translate("ask", NOT_COMPARABLE, language, value=value.raw)) if is_figure else NO_MATCH


def _unreadable_verdict(value: ComparableValue, wanted: ComparableValue, language: str) -> Verdict:
    return make_unstated(translate("ask", NO_DATE if wanted.date else NO_NUMBER, language, value=value.raw))


def _compare_in_base_unit(value: ComparableValue, operator: str, wanted: ComparableValue, language: str) -> Verdict:
    if not wanted.base and value.base == "%":  # 92 percent as the plain ratio 0.92
        wanted = structs.replace(wanted, si=(wanted.si or 0.0) * 100, base="%")
    if value.si is None:
        return make_unstated(
            translate("ask", NO_NUMBER if value.number is None else "“{value}” has no unit", language, value=value.raw)
        )
    if value.base != wanted.base:
        return make_unstated(
            translate("ask", "“{value}” is not in {unit}", language, value=value.raw, unit=wanted.base)
        )
    asked = _wanted_interval(wanted, operator, wanted.si or 0.0, wanted.si_high)
    return _compare_intervals(value, _possible_interval(value.raw, value.si, value.si_high), operator, asked, language)


def _compare_numbers(value: ComparableValue, operator: str, wanted: ComparableValue, language: str) -> Verdict:
    if wanted.currency and value.currency and wanted.currency != value.currency:
        return make_unstated(
            translate("ask", "it is in {currency}, and nothing is converted", language, currency=value.currency)
        )
    number, limit = value.number or 0.0, wanted.number or 0.0
    if value.high is None and wanted.high is None and not is_limit_text(value.raw) and not is_limit_text(wanted.raw):
        verdict = _compare_points(number, operator, limit)
    else:
        asked = _wanted_interval(wanted, operator, limit, wanted.high)
        verdict = _compare_intervals(
            value, _possible_interval(value.raw, number, value.high), operator, asked, language
        )
    return (
        verdict._replace(
            guess=translate("ask", "the question gives no unit; numbers were compared as they are written", language)
        )
        if value.unit
        else verdict
    )


class Interval(NamedTuple):
    """From `low` to `high`; with `is_open` the ends do not belong to it: "< 0.5" is not 0.5."""

    low: float | str
    high: float | str
    is_open: bool = False


def _compare_intervals(
    value: ComparableValue, possible: Interval, operator: str, wanted: Interval, language: str
) -> Verdict:
    low, high, is_open = possible
    first, last, _ = wanted
    before = _is_at_most if is_open else _is_below
    if operator == "=":
        apart = _is_at_most if is_open or wanted.is_open else _is_below
        inside, outside = _lies_within(possible, wanted), apart(high, first) or apart(last, low)
    elif operator == "<":
        inside, outside = before(high, first), _is_at_most(first, low)
    elif operator == "<=":
        inside, outside = _is_at_most(high, last), before(last, low)
    elif operator == ">":
        inside, outside = before(last, low), _is_at_most(high, last)
    else:
        inside, outside = _is_at_most(first, low), before(high, first)
    if inside or outside:
        return MATCH if inside else NO_MATCH
    return make_unstated(translate("ask", EITHER, language, value=value.raw))


def _compare_points(one: float, operator: str, other: float) -> Verdict:
    """Compare two exactly known numbers, the most frequent case."""
    match operator:
        case "<" | ">=":
            is_match = _is_below(one, other) == (operator == "<")
        case ">" | "<=":
            is_match = _is_below(other, one) == (operator == ">")
        case _:
            is_match = not _is_below(one, other) and not _is_below(other, one)
    return MATCH if is_match else NO_MATCH


def _lies_within(possible: Interval, wanted: Interval) -> bool:
    within = _is_below if wanted.is_open and not possible.is_open else _is_at_most
    starts = wanted.low == -math.inf or within(wanted.low, possible.low)
    return starts and (wanted.high == math.inf or within(possible.high, wanted.high))


def _is_at_most(one: float | str, other: float | str) -> bool:
    return not _is_below(other, one)


def _is_below(one: float | str, other: float | str) -> bool:
    """Return True if one is less. 1600 mm and 1.6 m are equal, though their floats may differ in the last digit."""
    if isinstance(one, str) or isinstance(other, str):
        return str(one) < str(other)
    # Numbers farther apart are never equal, whatever floats lose: it saves the closer look.
    is_near = math.isclose(one, other, rel_tol=1e-3, abs_tol=1e-3)
    return one < other and not (is_near and same_value(one, other, "proving"))


def _make_interval(low: float, high: float | None) -> Interval:
    return Interval(low, low) if high is None else Interval(min(low, high), max(low, high))


def _wanted_interval(wanted: ComparableValue, operator: str, low: float, high: float | None) -> Interval:
    """Return the wanted interval: "= < 0.5" wants all values below, while more and less compare with the number."""
    return _possible_interval(wanted.raw, low, high) if operator == "=" else _make_interval(low, high)


def _possible_interval(raw: str, low: float, high: float | None) -> Interval:
    """Return the interval of possible values: "< 0.5" is anything below."""
    if not is_limit_text(raw):
        return _make_interval(low, high)
    mark = raw.lstrip()[0]
    return Interval(-math.inf, low, mark == "<") if mark in "<≤" else Interval(low, math.inf, mark == ">")


def is_limit_text(raw: str) -> bool:
    """Return True if it is written as a limit, as laboratories do: "< 0.5"."""
    return raw.lstrip().startswith(("<", "≤", ">", "≥"))


# The days of a table repeat, and are compared with each limit.
@lru_cache(maxsize=1 << 14)
def _first_and_last_day(date: str) -> tuple[str, str]:
    """Return the first and last day of a possibly incomplete date."""
    if len(date) == 4:
        return f"{date}-01-01", f"{date}-12-31"
    if len(date) == 7:
        return f"{date}-01", f"{date}-{monthrange(int(date[:4]), int(date[5:7]))[1]:02d}"
    return date[:10], date[:10]


def has_only_text(value: ComparableValue) -> bool:
    """Return True for a value that is neither a number nor a date nor a boolean."""
    return value.number is None and value.si is None and not value.date and value.truth is None


def is_same_name(one: str, other: str) -> bool:
    """Return True for the same name, ignoring case, punctuation, spaces, spelling and plurals."""
    own, asked = _normalize_spellings(one), _normalize_spellings(other)
    return own.squeezed == asked.squeezed or own.stems == asked.stems != ""


class _NormalizedName(NamedTuple):
    squeezed: str
    stems: str


# Names of a column repeat, and the asked name is compared with each of them.
@lru_cache(maxsize=1 << 12)
def _normalize_spellings(text: str) -> _NormalizedName:
    return _NormalizedName(normalize_name(text), "".join(stem_text(text)))


_OTHER_DATE = re.compile(rf"\bor ({ISO_DAY.pattern})\b")


def find_other_reading(value: ComparableValue) -> ComparableValue | None:
    """Return the second meaning of an ambiguous value: the other order of day and month, or other decimals; or None."""
    if date := _OTHER_DATE.search(value.ambiguity):
        return structs.replace(value, date=date[1])
    number = re.search(r"\bmay be (-?\d+(?:\.\d+)?)$", value.ambiguity)
    if number is None or not value.number:
        return None
    factor = float(number[1]) / value.number
    return structs.replace(value, number=float(number[1]), si=None if value.si is None else value.si * factor)


def read_comparable_values(cell: Cell, field: Field) -> tuple[ComparableValue, ...]:
    """Return the values of the cell: the original text if it says more, such as a range; each item of a list; none for
    an empty cell."""
    if cell.value is None:
        return ()
    if isinstance(cell.value, tuple):
        return tuple(ComparableValue(raw=each) for each in cell.value)
    if isinstance(cell.value, str) and field.type != "date":
        return (ComparableValue(raw=cell.value),)
    value = make_comparable_value(cell.value, field, cell_text(cell))
    # A limit, or a second number, in the text of a number. Most texts have none, and are not read again.
    if (
        field.type == "number"
        and cell.raw_value
        and value.number is not None
        and re.search(r"[<>≤≥]|\d[^\d.,]{1,20}\d", cell.raw_value)
    ):
        read = parse_comparable(cell.raw_value, f"{field.name} ({field.unit})" if field.unit else "")
        return (read if read.number == value.number and (read.high is not None or is_limit_text(read.raw)) else value,)
    if (
        field.type == "date"
        and value.date
        and cell.evidence
        and (other := _find_other_day(value.date, cell.evidence[0].quote))
    ):
        value = structs.replace(value, ambiguity=f"{value.date} or {other}")
    return (value,)


def make_comparable_value(value: Value, field: Field, shown: str = "") -> ComparableValue:
    """Return a value of the field in its comparable form."""
    match value:
        case Money():
            return ComparableValue(raw=shown or str(value), number=value.amount, currency=value.currency)
        case bool():
            return ComparableValue(raw="yes" if value else "no", truth=value)
        case int() | float():
            raw = shown or format_value(value)
            raw = raw if raw.endswith(field.unit) else f"{raw} {field.unit}"
            return make_comparable_number(raw, value, field.unit if field.type == "number" else "")
        case str() if field.type == "date":
            return parse_comparable(value, "date")
        case _:
            return ComparableValue(raw=format_value(value))


def _find_other_day(day: str, quote: str) -> str:
    """Return the other reading of an ambiguous date in the quote, such as 02/04/2026, or ""."""
    for each in read_dates(quote):
        if each.other_iso and day in (each.iso, each.other_iso):
            return each.other_iso if day == each.iso else each.iso
    return ""


def read_limit(text: str, field: Field) -> ComparableValue:
    """Return a value of a condition in comparable form. A bare number has the unit of the column; 2024 is a year only
    in date columns."""
    return _read_limit_cached(text.strip(), field.name, field.type, field.unit)


# A condition has few limits, and each of them is compared with every row.
@lru_cache(maxsize=1024)
def _read_limit_cached(text: str, name: str, type: FieldType, unit: str) -> ComparableValue:
    if type == "boolean" and isinstance(truth := coerce_value(text, Field(name=name, type=type)).value, bool):
        return ComparableValue(raw=text, truth=truth)
    read = parse_comparable(text, "date" if type == "date" else "")
    is_bare = read.number is not None and not (read.unit or read.base or read.currency or read.date)
    if type in ("number", "money") and unit and is_bare:
        return make_comparable_number(text, read.number or 0, unit, read.high)
    return read


def comparable_sort_key(value: ComparableValue) -> tuple[int, float, str]:
    """Return a key that sorts numbers by size, then dates, then texts."""
    if value.date:
        return 1, 0.0, value.date
    number = value.si if value.si is not None else value.number
    return (0, number, "") if number is not None else (2, 0.0, value.raw.casefold())


def check_condition(condition: Condition, field: Field) -> str:
    """Return why the condition cannot be evaluated on the field's column, or ""."""
    needed = {"between": 2, "known": 0, "unknown": 0}.get(condition.operator, 1)
    if len(condition.values) < needed:
        return f"the condition on {condition.column} needs {needed} value(s)."
    if condition.operator == "in month":
        months = [value for value in condition.values if not (value.isdecimal() and 1 <= int(value) <= 12)]
        return f"{months[0]!r} is no month from 1 to 12." if months else ""
    for value in condition.values if condition.operator in ORDERED_OPERATORS else ():
        read = read_limit(value, field)
        if not parse_column_reference(value) and read.number is None and read.si is None and not read.date:
            return f"{value!r} in the condition on {condition.column} is neither a number nor a date."
    return ""
