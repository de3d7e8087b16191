"""Whether a written value is what a condition asks for: yes, no, or it does not say.

A value is taken as the stretch it may lie in: "10 to 20 kg", "2018" for a day in it. Only where the whole stretch is
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

from tablewright.domain.corpus import Comparator, Condition, Truth, Typed
from tablewright.messages.catalogue import translate
from tablewright.values.dates import ISO_DAY
from tablewright.values.same_value import same_value
from tablewright.values.vocabulary import holds, squeezed, text_stems


class Verdict(NamedTuple):
    """`reason` says why nothing is stated; `guess` what was taken for granted on the way."""

    truth: Truth
    reason: str = ""
    guess: str = ""


MATCH, NO_MATCH = Verdict("match"), Verdict("no match")


def unstated(reason: str) -> Verdict:
    return Verdict("not stated", reason)


def both(verdicts: Iterable[Verdict]) -> Verdict:
    """All must hold: one sure "no" is enough to know, whatever else is not stated."""
    result = MATCH
    guesses = []
    for verdict in verdicts:
        if verdict.truth == "no match":
            return verdict
        if verdict.truth == "not stated" and result.truth == "match":
            result = verdict
        guesses.append(verdict.guess)
    return result._replace(guess=next(filter(None, guesses), ""))


def either(verdicts: Iterable[Verdict]) -> Verdict:
    """One is enough."""
    result = NO_MATCH
    for verdict in verdicts:
        if verdict.truth == "match":
            return verdict
        if verdict.truth == "not stated" or (verdict.guess and not result.guess and result.truth == "no match"):
            result = verdict
    return result


def turned(verdict: Verdict) -> Verdict:
    opposite: dict[Truth, Truth] = {"match": "no match", "no match": "match"}
    return verdict._replace(truth=opposite.get(verdict.truth, verdict.truth))


def judge(value: Typed, condition: Condition, language: str = "") -> Verdict:
    """A value that can be read in two ways is taken in the usual one; where the other would decide otherwise, that is a
    guess. Reasons and guesses are told in the language."""
    verdict = decided(value, condition, language)
    other = other_reading(value)
    if other is not None and decided(other, condition, language).truth != verdict.truth:
        return verdict._replace(
            guess=translate("ask", "values that can be read in two ways were taken in the usual one", language)
        )
    return verdict


def judge_pair(value: Typed, comparator: Comparator, other: Typed, language: str = "") -> Verdict:
    """A value beside another one of the same thing: a payment beside its due date, a result beside its limit. What
    the other may be is as open as what the value may be: of two days in March nobody knows which was first."""
    verdict = _pair(value, comparator, other, language)
    readings = [(one, two) for one in _readings(value) for two in _readings(other)]
    if any(_pair(one, comparator, two, language).truth != verdict.truth for one, two in readings[1:]):
        return verdict._replace(
            guess=translate("ask", "values that can be read in two ways were taken in the usual one", language)
        )
    return verdict


def _readings(value: Typed) -> list[Typed]:
    other = other_reading(value)
    return [value] if other is None else [value, other]


def _pair(value: Typed, comparator: Comparator, other: Typed, language: str) -> Verdict:
    if comparator == "!=":
        return turned(_pair(value, "=", other, language))
    if bool(value.date) != bool(other.date):
        return unstated(translate("ask", "“{value}” cannot be compared", language, value=f"{value.raw} / {other.raw}"))
    if comparator not in ("=", "contains") and other.number is None and other.si is None and not other.date:
        return unstated(translate("ask", "“{value}” is not a number", language, value=other.raw))
    numbers = value.number is not None and other.number is not None and not value.date
    if numbers and bool(value.currency or value.base) != bool(other.currency or other.base):
        verdict = _pair(_bare(value), comparator, _bare(other), language)
        return verdict._replace(
            guess=translate(
                "ask", "only one of two values has a unit or currency; the bare numbers were compared", language
            )
        )
    if numbers and comparator == "=" and is_limit(other.raw):  # the same limit is not the same number
        is_apart = _judge(value, "=", other, language).truth == "no match"
        return NO_MATCH if is_apart else unstated(translate("ask", "{value} may be either", language, value=other.raw))
    if numbers and not other.currency and _is_other_limit(other.raw, comparator):
        verdict = _pair(value, comparator, structs.replace(other, raw=_number_part(other.raw)), language)
        return verdict._replace(
            guess=translate(
                "ask", "limits such as “{value}” were compared by their number alone", language, value=other.raw
            )
        )
    ends = _ends(other)
    verdicts = [_judge(value, comparator, end, language) for end in ends]
    if comparator == "=" and len(ends) > 1:  # at most: it may be the same
        is_apart = _judge(value, "=", other, language).truth == "no match"
        return NO_MATCH if is_apart else unstated(translate("ask", "{value} may be either", language, value=other.raw))
    if len({verdict.truth for verdict in verdicts}) == 1:
        return verdicts[0]
    return unstated(translate("ask", "{value} may be either", language, value=other.raw))


def _number_part(raw: str) -> str:
    return raw[next(place for place, mark in enumerate(raw) if mark.isnumeric()) :]


def _is_other_limit(raw: str, comparator: Comparator) -> bool:
    """Whether it is a limit of which nobody knows that the comparison is about its outside, as "min. 5" or "≥ 5" is
    where something above it is looked for."""
    before = raw[: len(raw) - len(_number_part(raw))].strip()
    if any(mark.isalpha() for mark in before):
        return True
    return is_limit(raw) and (raw.lstrip()[0] in "<≤") != (comparator in (">", ">="))


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


def decided(value: Typed, condition: Condition, language: str) -> Verdict:
    comparator, wanted = condition.comparator, condition.values
    if comparator == "between":
        return _between(value, wanted, language)
    if comparator == "!=":
        return turned(either(_judge(value, "=", each, language) for each in wanted))
    if len(wanted) == 1:
        return _judge(value, comparator, wanted[0], language)
    return either(_judge(value, comparator, each, language) for each in wanted)


def _between(value: Typed, wanted: Sequence[Typed], language: str) -> Verdict:
    if len(wanted) != 2:
        return unstated(translate("ask", "a range needs two ends", language))
    return both((_judge(value, ">=", wanted[0], language), _judge(value, "<=", wanted[1], language)))


def _judge(value: Typed, comparator: Comparator, wanted: Typed, language: str) -> Verdict:
    if comparator == "contains":
        return MATCH if holds(value.raw, wanted.raw) else NO_MATCH
    if wanted.date and value.date:
        return _compare(value, Stretch(*_days(value.date)), comparator, Stretch(*_days(wanted.date)), language)
    if wanted.si is not None:
        return _measure(value, comparator, wanted, language)
    if wanted.number is not None and value.number is not None:
        return _number(value, comparator, wanted, language)
    if wanted.truth is not None and value.truth is not None:
        return MATCH if wanted.truth == value.truth else NO_MATCH
    if comparator != "=":
        return unstated(
            translate(
                "ask",
                "“{value}” is not a date" if wanted.date else "“{value}” is not a number",
                language,
                value=value.raw,
            )
        )
    if wanted.date or wanted.number is not None:
        is_same = same_text(value.raw, wanted.raw)
        return (
            MATCH if is_same else unstated(translate("ask", "“{value}” cannot be compared", language, value=value.raw))
        )
    return MATCH if same_text(value.raw, wanted.raw) else NO_MATCH


def _measure(value: Typed, comparator: Comparator, wanted: Typed, language: str) -> Verdict:
    if not wanted.base and value.base == "%":  # 92 percent as the plain ratio 0.92
        wanted = structs.replace(wanted, si=(wanted.si or 0.0) * 100, base="%")
    if value.si is None:
        return unstated(
            translate(
                "ask",
                "“{value}” is not a number" if value.number is None else "“{value}” has no unit",
                language,
                value=value.raw,
            )
        )
    if value.base != wanted.base:
        return unstated(translate("ask", "“{value}” is not in {unit}", language, value=value.raw, unit=wanted.base))
    asked = _asked(wanted, comparator, wanted.si or 0.0, wanted.si_high)
    return _compare(value, _possible(value.raw, value.si, value.si_high), comparator, asked, language)


def _number(value: Typed, comparator: Comparator, wanted: Typed, language: str) -> Verdict:
    if wanted.currency and value.currency and wanted.currency != value.currency:
        return unstated(
            translate("ask", "it is in {currency}, and nothing is converted", language, currency=value.currency)
        )
    asked = _asked(wanted, comparator, wanted.number or 0.0, wanted.high)
    verdict = _compare(value, _possible(value.raw, value.number or 0.0, value.high), comparator, asked, language)
    return (
        verdict._replace(
            guess=translate("ask", "the question gives no unit; numbers were compared as they are written", language)
        )
        if value.unit
        else verdict
    )


class Stretch(NamedTuple):
    """From `low` to `high`; with `is_open` the ends do not belong to it: "< 0.5" is not 0.5."""

    low: float | str
    high: float | str
    is_open: bool = False


def _compare(value: Typed, possible: Stretch, comparator: Comparator, wanted: Stretch, language: str) -> Verdict:
    low, high, is_open = possible
    first, last, _ = wanted
    before = _up_to if is_open else _below
    if comparator == "=":
        apart = _up_to if is_open or wanted.is_open else _below
        inside, outside = _lies_in(possible, wanted), apart(high, first) or apart(last, low)
    elif comparator == "<":
        inside, outside = before(high, first), _up_to(first, low)
    elif comparator == "<=":
        inside, outside = _up_to(high, last), before(last, low)
    elif comparator == ">":
        inside, outside = before(last, low), _up_to(high, last)
    else:
        inside, outside = _up_to(first, low), before(high, first)
    if inside or outside:
        return MATCH if inside else NO_MATCH
    return unstated(translate("ask", "{value} may be either", language, value=value.raw))


def _lies_in(possible: Stretch, wanted: Stretch) -> bool:
    within = _below if wanted.is_open and not possible.is_open else _up_to
    starts = wanted.low == -math.inf or within(wanted.low, possible.low)
    return starts and (wanted.high == math.inf or within(possible.high, wanted.high))


def _up_to(one: float | str, other: float | str) -> bool:
    return not _below(other, one)


def _below(one: float | str, other: float | str) -> bool:
    """1600 mm and 1.6 m are the same, though their floats may differ in the last digit."""
    if isinstance(one, str) or isinstance(other, str):
        return str(one) < str(other)
    return one < other and not same_value(one, other, "proving")


def _stretch(low: float, high: float | None) -> Stretch:
    return Stretch(low, low) if high is None else Stretch(min(low, high), max(low, high))


def _asked(wanted: Typed, comparator: Comparator, low: float, high: float | None) -> Stretch:
    """To be "< 0.5" is to be below it; to be more or less than that goes by its number."""
    return _possible(wanted.raw, low, high) if comparator == "=" else _stretch(low, high)


def _possible(raw: str, low: float, high: float | None) -> Stretch:
    """What it may be: "< 0.5" is anything below that."""
    if not is_limit(raw):
        return _stretch(low, high)
    mark = raw.lstrip()[0]
    return Stretch(-math.inf, low, mark == "<") if mark in "<≤" else Stretch(low, math.inf, mark == ">")


def is_limit(raw: str) -> bool:
    """Whether it is written as a limit of the value, as laboratories do: "< 0.5"."""
    return raw.lstrip()[:1] in tuple("<≤>≥")


@lru_cache(maxsize=1 << 14)
def _days(date: str) -> tuple[str, str]:
    """The first and the last day of a date as far as it is known."""
    if len(date) == 4:
        return f"{date}-01-01", f"{date}-12-31"
    if len(date) == 7:
        return f"{date}-01", f"{date}-{monthrange(int(date[:4]), int(date[5:7]))[1]:02d}"
    return date[:10], date[:10]


def same_text(one: str, other: str) -> bool:
    """The same name, ignoring case, punctuation, spaces, spelling and number."""
    return squeezed(one) == squeezed(other) or (
        one != "" and "".join(text_stems(one)) == "".join(text_stems(other)) != ""
    )


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
