"""Whether a written value is what a condition asks for: yes, no, or it does not say.

A value is taken as the stretch it may lie in: "10 to 20 kg", "2018" for a day in it. Only where the whole stretch is
inside or outside of what is asked, the answer is sure.
"""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec import structs

from tablewright.corpus.vocabulary import holds, squeezed, text_stems
from tablewright.table.corpus import Comparator, Condition, Quantity, Truth, Typed
from tablewright.table.text import show_float
from tablewright.table.typed import in_base
from tablewright.table.units import parse_unit


class Verdict(NamedTuple):
    """`reason` says why nothing is stated; `guess` what was taken for granted on the way."""

    truth: Truth
    reason: str = ""
    guess: str = ""


MATCH, NO_MATCH = Verdict("match"), Verdict("no match")
UNMARKED = "the question gives no unit; numbers were compared as they are written"


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


def judge(value: Typed, condition: Condition) -> Verdict:
    comparator, wanted = condition.comparator, condition.values
    if comparator == "between":
        return _between(value, wanted)
    if comparator == "!=":
        verdict = either(_judge(value, "=", each) for each in wanted)
        turned: dict[Truth, Truth] = {"match": "no match", "no match": "match"}
        return verdict._replace(truth=turned.get(verdict.truth, verdict.truth))
    if len(wanted) == 1:
        return _judge(value, comparator, wanted[0])
    return either(_judge(value, comparator, each) for each in wanted)


def _between(value: Typed, wanted: Sequence[Typed]) -> Verdict:
    if len(wanted) != 2:
        return unstated("a range needs two ends")
    return both((_judge(value, ">=", wanted[0]), _judge(value, "<=", wanted[1])))


def _judge(value: Typed, comparator: Comparator, wanted: Typed) -> Verdict:
    if comparator == "contains":
        return MATCH if holds(value.raw, wanted.raw) else NO_MATCH
    if wanted.date and value.date:
        return _compare(_days(value.date), comparator, _days(wanted.date))
    if wanted.si is not None:
        return _measure(value, comparator, wanted)
    if wanted.number is not None and value.number is not None:
        return _number(value, comparator, wanted)
    if wanted.truth is not None and value.truth is not None:
        return MATCH if wanted.truth == value.truth else NO_MATCH
    if comparator != "=":
        return unstated(f'"{value.raw}" is not a {"date" if wanted.date else "number"}')
    if wanted.date or wanted.number is not None:
        return MATCH if same_text(value.raw, wanted.raw) else unstated(f'"{value.raw}" cannot be compared')
    return MATCH if same_text(value.raw, wanted.raw) else NO_MATCH


def _measure(value: Typed, comparator: Comparator, wanted: Typed) -> Verdict:
    if not wanted.base and value.base == "%":  # 92 percent as the plain ratio 0.92
        wanted = structs.replace(wanted, si=(wanted.si or 0.0) * 100, base="%")
    if value.si is None:
        return unstated(f'"{value.raw}" has no unit' if value.number is not None else f'"{value.raw}" is not a number')
    if value.base != wanted.base:
        return unstated(f'"{value.raw}" is not in {wanted.base}')
    return _compare(_stretch(value.si, value.si_high), comparator, _stretch(wanted.si or 0.0, wanted.si_high))


def _number(value: Typed, comparator: Comparator, wanted: Typed) -> Verdict:
    if wanted.currency and value.currency and wanted.currency != value.currency:
        return unstated(f"it is in {value.currency}, and nothing is converted")
    stretches = _stretch(value.number or 0.0, value.high), _stretch(wanted.number or 0.0, wanted.high)
    verdict = _compare(stretches[0], comparator, stretches[1])
    return verdict._replace(guess=UNMARKED) if value.unit else verdict


Stretch = tuple[float, float] | tuple[str, str]


def _compare(value: Stretch, comparator: Comparator, wanted: Stretch) -> Verdict:
    (low, high), (first, last) = value, wanted
    if comparator == "=":
        inside, outside = _up_to(first, low) and _up_to(high, last), _below(high, first) or _below(last, low)
    elif comparator == "<":
        inside, outside = _below(high, first), _up_to(first, low)
    elif comparator == "<=":
        inside, outside = _up_to(high, last), _below(last, low)
    elif comparator == ">":
        inside, outside = _below(last, low), _up_to(high, last)
    else:
        inside, outside = _up_to(first, low), _below(high, first)
    if inside or outside:
        return MATCH if inside else NO_MATCH
    return unstated(f"{low} to {high} may be either" if low != high else f"{low} may be either")


def _up_to(one: float | str, other: float | str) -> bool:
    return not _below(other, one)


def _below(one: float | str, other: float | str) -> bool:
    """1600 mm and 1.6 m are the same, though their floats may differ in the last digit."""
    if isinstance(one, str) or isinstance(other, str):
        return str(one) < str(other)
    return one < other and not math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def _stretch(low: float, high: float | None) -> tuple[float, float]:
    return (low, low) if high is None else (min(low, high), max(low, high))


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


def same_value(one: Typed, other: Typed) -> bool:
    """Whether two values say the same, however they are written."""
    if one.si is not None and other.si is not None:
        return one.base == other.base and math.isclose(one.si, other.si, rel_tol=1e-9) and one.si_high == other.si_high
    if one.date or other.date:
        return one.date == other.date
    if one.number is not None and other.number is not None:
        return one.number == other.number and (one.currency == other.currency or not (one.currency and other.currency))
    if one.truth is not None and other.truth is not None:
        return one.truth == other.truth
    return same_text(one.raw, other.raw)


_OTHER_DATE = re.compile(r"\bor (\d{4}-\d{2}-\d{2})\b")
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


# ── arithmetic ───────────────────────────────────────────────────────────────────────────────────────────────────────


class Worked(NamedTuple):
    """A stretch, and the base units it is in with their powers."""

    low: float
    high: float
    units: Mapping[str, int]


def work_out(of: Quantity, values: Mapping[str, Typed]) -> Typed | str:
    """What the arithmetic gives, or why it gives nothing."""
    if not of.operation:
        return values.get(of.label, f"{of.label} is not stated")
    worked = _worked(of, values)
    return worked if isinstance(worked, str) else _as_typed(worked)


def _worked(of: Quantity, values: Mapping[str, Typed]) -> Worked | str:
    if not of.operation:
        return _operand(of.label, values)
    parts: list[Worked] = []
    for part in of.parts:
        worked = _worked(part, values)
        if isinstance(worked, str):
            return worked
        parts.append(worked)
    if not parts or (of.operation == "abs" and len(parts) != 1):
        return f"{of.operation} needs other parts"
    if of.operation in "*/":
        result: Worked | str = parts[0]
        for operand in parts[1:]:
            result = result if isinstance(result, str) else _scaled(result, of.operation, operand)
        return result
    return _alike(of.operation, parts)


def _operand(label: str, values: Mapping[str, Typed]) -> Worked | str:
    value = values.get(label)
    if value is None:
        try:
            return Worked(float(label), float(label), {})
        except ValueError:
            return f"{label} is not stated"
    if value.base == "%" and value.si is not None:
        low, high = _stretch(value.si, value.si_high)
        return Worked(low / 100, high / 100, {})
    if value.si is not None:
        return Worked(*_stretch(value.si, value.si_high), {value.base: 1})
    if value.number is None:
        return f'{label}: "{value.raw}" is not a number'
    return Worked(*_stretch(value.number, value.high), {value.currency: 1} if value.currency else {})


def _scaled(left: Worked, operation: str, right: Worked) -> Worked | str:
    if operation == "/" and right.low <= 0 <= right.high:
        return "a division by zero"
    reckon: Callable[[float, float], float] = (lambda a, b: a * b) if operation == "*" else (lambda a, b: a / b)
    ends = [reckon(a, b) for a in left[:2] for b in right[:2]]
    units = dict(left.units)
    for unit, power in right.units.items():
        units[unit] = units.get(unit, 0) + (power if operation == "*" else -power)
    return Worked(min(ends), max(ends), {unit: power for unit, power in units.items() if power})


def _alike(operation: str, parts: list[Worked]) -> Worked | str:
    units = parts[0].units
    if any(part.units != units for part in parts):
        return "the parts are in different units"
    lows, highs = [part.low for part in parts], [part.high for part in parts]
    if operation == "+":
        return Worked(sum(lows), sum(highs), units)
    if operation == "-":
        return Worked(lows[0] - sum(highs[1:]), highs[0] - sum(lows[1:]), units)
    if operation in ("max", "min"):
        choose = max if operation == "max" else min
        return Worked(choose(lows), choose(highs), units)
    if operation == "abs":
        low, high = sorted((abs(lows[0]), abs(highs[0])))
        return Worked(0.0 if lows[0] < 0 < highs[0] else low, high, units)
    return f"there is no operation {operation}"


def _as_typed(worked: Worked) -> Typed:
    low, high = worked.low, None if worked.high == worked.low else worked.high
    if not worked.units:
        share = None if high is None else high * 100
        return Typed(raw=show_float(round(low, 6)), number=low, high=high, si=low * 100, si_high=share, base="%")
    name = _unit_name(tuple(sorted(worked.units.items())))
    unit = parse_unit(name)
    if unit is None:
        return Typed(raw=f"{show_float(round(low, 6))} {name}", number=low, high=high, currency=name)
    si, si_high, base = in_base(low, high, unit)
    return Typed(
        raw=f"{show_float(round(low, 6))} {name}", number=low, high=high, unit=name, si=si, si_high=si_high, base=base
    )


@lru_cache(maxsize=256)
def _unit_name(units: tuple[tuple[str, int], ...]) -> str:
    raised = {1: "", 2: "²", 3: "³"}
    above = "·".join(f"{unit}{raised.get(power, f'^{power}')}" for unit, power in units if power > 0)
    below = "".join(f"/{unit}{raised.get(-power, f'^{-power}')}" for unit, power in units if power < 0)
    return f"{above or '1'}{below}"
