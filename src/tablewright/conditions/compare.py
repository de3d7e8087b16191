"""Compare a written value with what is asked for: it is that, it is not, or it does not say.

A value is taken as the interval that it may lie in: "10 to 20 kg", "2018" for a day in it. Only where all of it is
inside or outside of what is asked, the answer is sure.
"""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec import structs

from tablewright.domain.corpus import Truth, Typed
from tablewright.messages.catalogue import AskText, translate
from tablewright.values.dates import ISO_DAY
from tablewright.values.same_value import same_value
from tablewright.values.typed import typed
from tablewright.values.vocabulary import holds, squeezed, text_stems

EITHER: AskText[str] = "{value} may be either"
NO_DATE: AskText[str] = "“{value}” is not a date"
NO_NUMBER: AskText[str] = "“{value}” is not a number"
NO_UNIT: AskText[str] = "“{value}” has no unit"
NOT_COMPARABLE: AskText[str] = "“{value}” cannot be compared"
OTHER_CURRENCY: AskText[str] = "it is in {currency}, and nothing is converted"
USUAL_READING: AskText[str] = "values that can be read in two ways were taken in the usual one"
NO_UNIT_ASKED: AskText[str] = "the question gives no unit; numbers were compared as they are written"
ONE_UNIT: AskText[str] = "only one of two values has a unit or currency; the bare numbers were compared"
BARE_LIMIT: AskText[str] = "limits such as “{value}” were compared by their number alone"


class Verdict(NamedTuple):
    """`reason` says why it is not a match; `guess` what was taken for granted on the way, and `rate` at which rate of
    exchange amounts were compared: "1 USD = 0.727 GBP"."""

    truth: Truth
    reason: str = ""
    guess: str = ""
    rate: str = ""


NEAR = 1e-3
"""Numbers that are farther apart than this are never one, whatever floats lose."""
MATCH, NO_MATCH = Verdict("match"), Verdict("no match")


def to_verdict(is_match: bool) -> Verdict:
    return MATCH if is_match else NO_MATCH


def unstated(reason: str) -> Verdict:
    return Verdict("not stated", reason)


def all_hold(verdicts: Iterable[Verdict]) -> Verdict:
    """All must hold: one sure "no" is enough to know, whatever else is not stated."""
    result = MATCH
    guess = rate = ""
    for verdict in verdicts:
        if verdict.truth == "no match":
            return verdict
        if verdict.truth == "not stated" and result.truth == "match":
            result = verdict
        guess, rate = guess or verdict.guess, rate or verdict.rate
    return result._replace(guess=guess, rate=rate)


def any_holds(verdicts: Iterable[Verdict]) -> Verdict:
    """One is enough."""
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


def compare_value(value: Typed, operator: str, wanted: Sequence[Typed], language: str = "") -> Verdict:
    """Compare a value with those that are wanted, any of which is enough; `between` has two.

    One that can be read in two ways is taken in the usual one; where the other would decide otherwise, that is a
    guess. Reasons and guesses are told in the language."""
    if not value.ambiguity:
        return _compare_with_all(value, operator, wanted, language)
    return _first_reading([_compare_with_all(each, operator, wanted, language) for each in _readings(value)], language)


def compare_pair(value: Typed, operator: str, other: Typed, language: str = "") -> Verdict:
    """A value beside another one of the same thing: a payment beside its due date, a result beside its limit. What
    the other may be is as open as what the value may be: of two days in March nobody knows which was first."""
    pairs = [(one, two) for one in _readings(value) for two in _readings(other)]
    return _first_reading([_pair(one, operator, two, language) for one, two in pairs], language)


def _first_reading(verdicts: Sequence[Verdict], language: str) -> Verdict:
    is_sure = len({verdict.truth for verdict in verdicts}) == 1
    return verdicts[0] if is_sure else verdicts[0]._replace(guess=translate("ask", USUAL_READING, language))


def _readings(value: Typed) -> list[Typed]:
    other = other_reading(value)
    return [value] if other is None else [value, other]


def _pair(value: Typed, operator: str, other: Typed, language: str) -> Verdict:
    if operator == "!=":
        return negate(_pair(value, "=", other, language))
    if bool(value.date) != bool(other.date):
        return unstated(translate("ask", NOT_COMPARABLE, language, value=f"{value.raw} / {other.raw}"))
    if operator not in ("=", "contains") and other.number is None and other.si is None and not other.date:
        return unstated(translate("ask", NO_NUMBER, language, value=other.raw))
    numbers = value.number is not None and other.number is not None and not value.date
    if numbers and bool(value.currency or value.base) != bool(other.currency or other.base):
        verdict = _pair(_bare(value), operator, _bare(other), language)
        return verdict._replace(guess=translate("ask", ONE_UNIT, language))
    is_limited = operator == "=" and numbers and is_limit(other.raw)  # the same limit is not the same number
    if numbers and not is_limited and not other.currency and _is_other_limit(other.raw, operator):
        verdict = _pair(value, operator, structs.replace(other, raw=_number_part(other.raw)), language)
        return verdict._replace(guess=translate("ask", BARE_LIMIT, language, value=other.raw))
    ends = _ends(other)
    verdicts = [_judge(value, operator, end, language) for end in ends]
    if operator == "=" and (is_limited or len(ends) > 1):  # at most: it may be the same
        verdicts = [_judge(value, "=", other, language)]
        is_sure = verdicts[0].truth == "no match"
    else:
        is_sure = len({verdict.truth for verdict in verdicts}) == 1
    return verdicts[0] if is_sure else unstated(translate("ask", EITHER, language, value=other.raw))


def _number_part(raw: str) -> str:
    return raw[next(place for place, mark in enumerate(raw) if mark.isnumeric()) :]


def _is_other_limit(raw: str, operator: str) -> bool:
    """Return True if it is a limit of which nobody knows that the comparison is about its outside, as "min. 5" or "≥ 5"
    is where something above it is looked for."""
    before = raw[: len(raw) - len(_number_part(raw))].strip()
    if any(mark.isalpha() for mark in before):
        return True
    return is_limit(raw) and (raw.lstrip()[0] in "<≤") != (operator in (">", ">="))


def _bare(value: Typed) -> Typed:
    return structs.replace(value, unit="", si=None, si_high=None, base="", currency="")


def _ends(value: Typed) -> list[Typed]:
    """The first and the last that it may be."""
    if value.date:
        return [structs.replace(value, date=day) for day in dict.fromkeys(_days(value.date))]
    if value.high is None:
        return [value]
    last = structs.replace(value, number=value.high, high=None, si=value.si_high, si_high=None)
    return [structs.replace(value, high=None, si_high=None), last]


def _compare_with_all(value: Typed, operator: str, wanted: Sequence[Typed], language: str) -> Verdict:
    if operator == "between":
        return _between(value, wanted, language)
    if operator == "!=":
        return negate(any_holds(_judge(value, "=", each, language) for each in wanted))
    if len(wanted) == 1:
        return _judge(value, operator, wanted[0], language)
    return any_holds(_judge(value, operator, each, language) for each in wanted)


def _between(value: Typed, wanted: Sequence[Typed], language: str) -> Verdict:
    if len(wanted) != 2:
        return unstated(translate("ask", "a range needs two ends", language))
    return all_hold((_judge(value, ">=", wanted[0], language), _judge(value, "<=", wanted[1], language)))


def _judge(value: Typed, operator: str, wanted: Typed, language: str) -> Verdict:
    if operator == "contains":
        return to_verdict(holds(value.raw, wanted.raw))
    if is_text(value) and not is_text(wanted):
        return _judge_text(value, operator, wanted, language)
    if wanted.date and value.date:
        return _compare(value, Interval(*_days(value.date)), operator, Interval(*_days(wanted.date)), language)
    if wanted.si is not None:
        return _measure(value, operator, wanted, language)
    if wanted.number is not None and value.number is not None:
        return _number(value, operator, wanted, language)
    if wanted.truth is not None and value.truth is not None:
        return to_verdict(wanted.truth == value.truth)
    if operator == "=":
        return _same_text(value, wanted, language)
    if is_text(value):  # and so is what is wanted: in the order of the alphabet
        own, asked = value.raw.casefold(), wanted.raw.casefold()
        return _compare(value, Interval(own, own), operator, Interval(asked, asked), language)
    return _unreadable(value, wanted, language)


def _judge_text(value: Typed, operator: str, wanted: Typed, language: str) -> Verdict:
    """Read a text as the figure that it is compared with. Equal figures are not the same text: 1.10 need not be 1.1."""
    read = structs.replace(typed(value.raw), raw=value.raw)
    if is_text(read):
        return _same_text(value, wanted, language) if operator == "=" else _unreadable(value, wanted, language)
    verdict = _judge(read, operator, wanted, language)
    is_same_figure = operator == "=" and verdict.truth == "match" and read.truth is None
    return _same_text(value, wanted, language) if is_same_figure else verdict


def _same_text(value: Typed, wanted: Typed, language: str) -> Verdict:
    if same_text(value.raw, wanted.raw):
        return MATCH
    is_figure = bool(wanted.date) or wanted.number is not None
    return unstated(translate("ask", NOT_COMPARABLE, language, value=value.raw)) if is_figure else NO_MATCH


def _unreadable(value: Typed, wanted: Typed, language: str) -> Verdict:
    return unstated(translate("ask", NO_DATE if wanted.date else NO_NUMBER, language, value=value.raw))


def _measure(value: Typed, operator: str, wanted: Typed, language: str) -> Verdict:
    if not wanted.base and value.base == "%":  # 92 percent as the plain ratio 0.92
        wanted = structs.replace(wanted, si=(wanted.si or 0.0) * 100, base="%")
    if value.si is None:
        return unstated(translate("ask", NO_NUMBER if value.number is None else NO_UNIT, language, value=value.raw))
    if value.base != wanted.base:
        return unstated(translate("ask", "“{value}” is not in {unit}", language, value=value.raw, unit=wanted.base))
    asked = _asked(wanted, operator, wanted.si or 0.0, wanted.si_high)
    return _compare(value, _possible(value.raw, value.si, value.si_high), operator, asked, language)


def _number(value: Typed, operator: str, wanted: Typed, language: str) -> Verdict:
    if wanted.currency and value.currency and wanted.currency != value.currency:
        return unstated(translate("ask", OTHER_CURRENCY, language, currency=value.currency))
    number, limit = value.number or 0.0, wanted.number or 0.0
    if value.high is None and wanted.high is None and not is_limit(value.raw) and not is_limit(wanted.raw):
        verdict = _compare_points(number, operator, limit)
    else:
        asked = _asked(wanted, operator, limit, wanted.high)
        verdict = _compare(value, _possible(value.raw, number, value.high), operator, asked, language)
    return verdict._replace(guess=translate("ask", NO_UNIT_ASKED, language)) if value.unit else verdict


class Interval(NamedTuple):
    """From `low` to `high`; with `is_open` the ends do not belong to it: "< 0.5" is not 0.5."""

    low: float | str
    high: float | str
    is_open: bool = False


def _compare(value: Typed, possible: Interval, operator: str, wanted: Interval, language: str) -> Verdict:
    low, high, is_open = possible
    first, last, _ = wanted
    before = _up_to if is_open else _below
    if operator == "=":
        apart = _up_to if is_open or wanted.is_open else _below
        inside, outside = _lies_in(possible, wanted), apart(high, first) or apart(last, low)
    elif operator == "<":
        inside, outside = before(high, first), _up_to(first, low)
    elif operator == "<=":
        inside, outside = _up_to(high, last), before(last, low)
    elif operator == ">":
        inside, outside = before(last, low), _up_to(high, last)
    else:
        inside, outside = _up_to(first, low), before(high, first)
    if inside or outside:
        return MATCH if inside else NO_MATCH
    return unstated(translate("ask", EITHER, language, value=value.raw))


def _compare_points(one: float, operator: str, other: float) -> Verdict:
    """Compare two numbers that are known exactly, as most are."""
    match operator:
        case "<" | ">=":
            is_match = _below(one, other) == (operator == "<")
        case ">" | "<=":
            is_match = _below(other, one) == (operator == ">")
        case _:
            is_match = not _below(one, other) and not _below(other, one)
    return MATCH if is_match else NO_MATCH


def _lies_in(possible: Interval, wanted: Interval) -> bool:
    within = _below if wanted.is_open and not possible.is_open else _up_to
    starts = wanted.low == -math.inf or within(wanted.low, possible.low)
    return starts and (wanted.high == math.inf or within(possible.high, wanted.high))


def _up_to(one: float | str, other: float | str) -> bool:
    return not _below(other, one)


def _below(one: float | str, other: float | str) -> bool:
    """1600 mm and 1.6 m are the same, though their floats may differ in the last digit."""
    if isinstance(one, str) or isinstance(other, str):
        return str(one) < str(other)
    is_near = math.isclose(one, other, rel_tol=NEAR, abs_tol=NEAR)  # only then it is worth a closer look
    return one < other and not (is_near and same_value(one, other, "proving"))


def _interval(low: float, high: float | None) -> Interval:
    return Interval(low, low) if high is None else Interval(min(low, high), max(low, high))


def _asked(wanted: Typed, operator: str, low: float, high: float | None) -> Interval:
    """To be "< 0.5" is to be below it; to be more or less than that goes by its number."""
    return _possible(wanted.raw, low, high) if operator == "=" else _interval(low, high)


def _possible(raw: str, low: float, high: float | None) -> Interval:
    """Return what it may be: "< 0.5" is anything below that."""
    if not is_limit(raw):
        return _interval(low, high)
    mark = raw.lstrip()[0]
    return Interval(-math.inf, low, mark == "<") if mark in "<≤" else Interval(low, math.inf, mark == ">")


def is_limit(raw: str) -> bool:
    """Return True if it is written as a limit of the value, as laboratories do: "< 0.5"."""
    return raw.lstrip().startswith(_LIMIT_MARKS)


_LIMIT_MARKS = tuple("<≤>≥")


@lru_cache(maxsize=1 << 14)
def _days(date: str) -> tuple[str, str]:
    """The first and the last day of a date as far as it is known."""
    if len(date) == 4:
        return f"{date}-01-01", f"{date}-12-31"
    if len(date) == 7:
        return f"{date}-01", f"{date}-{monthrange(int(date[:4]), int(date[5:7]))[1]:02d}"
    return date[:10], date[:10]


def is_text(value: Typed) -> bool:
    """Return True for what is neither a figure nor a date nor yes or no."""
    return value.number is None and value.si is None and not value.date and value.truth is None


def same_text(one: str, other: str) -> bool:
    """The same name, ignoring case, punctuation, spaces, spelling and number."""
    own, asked = _spellings(one), _spellings(other)
    return own.squeezed == asked.squeezed or own.stems == asked.stems != ""


class _Spellings(NamedTuple):
    squeezed: str
    stems: str


@lru_cache(maxsize=1 << 12)
def _spellings(text: str) -> _Spellings:
    return _Spellings(squeezed(text), "".join(text_stems(text)))


_OTHER_DATE = re.compile(rf"\bor ({ISO_DAY.pattern})\b")
_OTHER_NUMBER = re.compile(r"\bmay be (-?\d+(?:\.\d+)?)$")


def other_reading(value: Typed) -> Typed | None:
    """The second meaning that the ambiguity of a value names: the other order of day and month, the other decimals."""
    if date := _OTHER_DATE.search(value.ambiguity):
        return structs.replace(value, date=date[1])
    number = _OTHER_NUMBER.search(value.ambiguity)
    if number is None or not value.number:
        return None
    factor = float(number[1]) / value.number
    return structs.replace(value, number=float(number[1]), si=None if value.si is None else value.si * factor)
