"""Quantities in texts: "1,5 m", "3 ft 9 in", "5'11\\"", "10–20 kg", "1134 × 1722 mm", "1 h 30 min".

`read_measures` finds them, `in_unit` converts them. Reading never needs pint, whose import costs 0.2 s.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import structs

from tablewright.domain.model import Noun
from tablewright.values.numbers import (
    LOOKED_AT,
    Number,
    is_approximate,
    join_neighbours,
    letter_scaled,
    lower_end,
    numbers_in,
    plain,
    spans_range,
)
from tablewright.values.units import Unit, named, parse_unit, unit_at

if TYPE_CHECKING:
    from pint import UnitRegistry


class Measure(Noun, frozen=True):
    """One quantity at `start:end`; `unit` is empty where the text gives none.

    In a range `value` is the lower bound and `high` the upper. `sizes` holds all numbers of "1134 × 1722 mm", whose
    first is `value`. `note` says what is doubtful about the number or its unit.
    """

    value: int | float
    start: int
    end: int
    unit: str = ""
    high: int | float | None = None
    sizes: tuple[int | float, ...] = ()
    approximate: bool = False
    glued: bool = False
    note: str = ""


def read_measures(text: str, unit: str = "") -> tuple[Measure, ...]:
    """Every quantity of the text in order. `unit` is the one hoped for; it decides what "oz", "m" or "C" means."""
    text = _with_feet(plain(text[:LOOKED_AT]))
    wanted = parse_unit(unit) if unit else None
    if wanted and wanted.kind == "time" and (clock := _clock(text)):
        return (clock,)
    parts = join_neighbours(_apart_from_clocks(_parts(text, wanted, unit)), lambda *pair: _sum(text, *pair))
    parts = join_neighbours(_sizes(text, parts), lambda *pair: _range(text, *pair))
    return tuple(_measure(text, part) for part in parts)


def in_unit(measure: Measure, unit: str) -> Measure | None:
    """The same quantity in another unit, or None where the two measure different things."""
    if measure.unit == unit:
        return measure
    source, target = parse_unit(measure.unit), parse_unit(unit)
    if source is None or target is None or not comparable(source, target):
        return None
    value = _converted(measure.value, source, target)
    high = None if measure.high is None else _converted(measure.high, source, target)
    sizes = tuple(_converted(size, source, target) for size in measure.sizes)
    if value is None or (high is None and measure.high is not None) or None in sizes:
        return None
    if high is not None and high < value:  # litres per 100 km go down where miles per gallon go up
        value, high = high, value
    known = tuple(size for size in sizes if size is not None)
    return structs.replace(measure, value=value, high=high, sizes=known, unit=unit)


@lru_cache(maxsize=4096)
def comparable(one: Unit, other: Unit) -> bool:
    if one.kind and one.kind == other.kind:
        return True
    if {one.kind, other.kind} == {"fuel", "fuel use"}:
        return True
    if one.apart != other.apart or (one.kind and other.kind and one.apart):
        return False
    return (
        _registry().parse_expression(one.pint).dimensionality == _registry().parse_expression(other.pint).dimensionality
    )


# ── conversion ───────────────────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=1)
def _registry() -> UnitRegistry[float]:
    import pint  # 0.2 s that most runs never need

    return pint.UnitRegistry()


def _converted(value: int | float, source: Unit, target: Unit) -> int | float | None:
    if source.pint == target.pint:
        return value
    try:
        number = float(value)
        if {source.kind, target.kind} == {"fuel", "fuel use"}:
            return _rounded(1 / (number * _factor(source.pint, f"1/({target.pint})"))) if number else None
        if source.kind == target.kind == "temperature":
            return _rounded(_registry().convert(number, source.pint, target.pint))
        return _rounded(number * _factor(source.pint, target.pint))
    except OverflowError:
        return None


@lru_cache(maxsize=1024)
def _factor(source: str, target: str) -> float:
    ratio = _registry().parse_expression(f"({source})/({target})")
    return float(ratio.to_base_units().magnitude)


def as_precise_as(value: int | float, written: str) -> int | float:
    """A converted quantity in as many digits as its source has, four at least: 1 lb 15 oz are 0.8788 kg, and not
    0.87883506. The whole part stays whole: a mile is 1,609 m."""
    if isinstance(value, int) or not value:
        return value
    digits = max(LEAST_DIGITS, len("".join(filter(str.isdigit, written)).lstrip("0")))
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return _rounded(round(value, decimals)) or value


LEAST_DIGITS = 4


def _rounded(value: float) -> int | float | None:
    """Without the noise of binary fractions: 12 significant digits, and whole numbers whole."""
    if not math.isfinite(value):
        return None
    value = float(f"{value:.12g}")
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Part(Noun, frozen=True):
    number: Number
    unit: Unit | None
    end: int
    note: str = ""
    high: int | float | None = None
    sizes: tuple[int | float, ...] = ()

    @property
    def start(self) -> int:
        return self.number.start


_LETTER_SCALES = frozenset({"k", "K", "m", "M", "b", "B", "T", "MM"})


def _parts(text: str, wanted: Unit | None, unit: str) -> Iterator[_Part]:
    """Each number with the unit right after it."""
    for number in numbers_in(text):
        if number.percent:
            sign = text.rfind("%", number.start, number.end)
            per = unit_at(text, sign) if sign > 0 else None  # %/°C
            share, end = per[:2] if per else (named("%"), number.end)
            yield _Part(number=number, unit=share, end=end, note=number.note)
            continue
        found = unit_at(text, number.end, wanted)
        if (
            found
            and text[number.end : found[1]].strip() in _LETTER_SCALES
            and not (wanted and wanted.kind == found[0].kind)
        ):
            found = found if text[number.end] == " " and found[0].symbol == "m" else None
        if found is None:
            number = letter_scaled(text, number)
            found = unit_at(text, number.end, wanted)
        if found and (clock := _clock_before(text, number, found[0])):
            yield structs.replace(clock, end=found[1])
        elif found:
            yield _Part(number=number, unit=found[0], end=found[1], note=number.note or found[2])
        elif unit and wanted is None and (own := _own_name(text, number.end, unit)):
            yield _Part(number=number, unit=Unit(symbol=unit, pint=""), end=own, note=number.note)
        else:
            yield _Part(number=number, unit=None, end=number.end, note=number.note)


def _apart_from_clocks(parts: Iterable[_Part]) -> list[_Part]:
    """Without the hours and minutes that belong to the 1:05 h after them."""
    kept: list[_Part] = []
    for part in parts:
        while kept and kept[-1].start >= part.start:
            kept.pop()
        kept.append(part)
    return kept


_CLOCK_BEFORE = re.compile(r"(?<![\d:.,])(\d{1,3}):([0-5]\d)(?::([0-5]\d))?$")


def _clock_before(text: str, number: Number, unit: Unit) -> _Part | None:
    """2:21 min is 2.35 min and 1:05 h is 65 min; `number` is what stands after the last colon."""
    if unit.symbol not in ("min", "h") or text[number.start - 1 : number.start] != ":":
        return None
    found = _CLOCK_BEFORE.search(text, max(0, number.end - 9), number.end)
    if found is None:
        return None
    large, *smaller = (int(part) for part in found.groups() if part)
    value = large + sum(part / 60**place for place, part in enumerate(smaller, start=1) if part)
    whole = structs.replace(number, value=value, start=found.start())
    return _Part(number=whole, unit=unit, end=number.end, note=number.note)


_CLOCK = re.compile(r"\s*(?:(\d{1,3}):([0-5]\d):([0-5]\d)|(\d{1,3}):([0-5]\d))\s*")
_ISO_DURATION = re.compile(r"\s*PT(?=\d)(?:(\d{1,4})H)?(?:(\d{1,4})M)?(?:(\d{1,6})S)?\s*")


def _clock(text: str) -> Measure | None:
    """1:30:00 and PT1H30M, where a time is asked for; 1:30 alone is taken as minutes and seconds."""
    if found := _CLOCK.fullmatch(text):
        hours, minutes, seconds = (int(part or 0) for part in found.groups()[:3])
        minutes, seconds = (int(found[4]), int(found[5])) if found[4] else (minutes, seconds)
        note = f"{text.strip()} read as minutes and seconds" if found[4] else ""
    elif found := _ISO_DURATION.fullmatch(text):
        hours, minutes, seconds = (int(part or 0) for part in found.groups())
        note = ""
    else:
        return None
    return Measure(value=hours * 3600 + minutes * 60 + seconds, unit="s", start=0, end=len(text), note=note)


def _own_name(text: str, place: int, unit: str) -> int | None:
    """Return where the field's own unit ends, if it stands here and is none we know: "500 employees", "3 rooms"."""
    stem = re.escape(unit.strip().rstrip("s"))
    found = re.compile(rf"[\s-]?{stem}(?:e?s)?(?!\w)", re.IGNORECASE).match(text, place)
    return found.end() if found else None


_FOOT_AND_TENTHS = re.compile(r"(?<=\d)'(?=\d{1,2}\.\d+\s?(?:\"|''|[″”]))")
_FOOT_BETWEEN = re.compile(r"(?<=\d)[- ](foot|feet|ft)[- ](?=\d{1,2}(?:\D|$))", re.IGNORECASE)


def _with_feet(text: str) -> str:
    """6'8.5\" and 6-foot-8, of which the one looks like a number and the other like a name, so that neither does."""
    if "'" in text:
        text = _FOOT_AND_TENTHS.sub("′", text)
    return _FOOT_BETWEEN.sub(r" \1 ", text) if "t-" in text or "T-" in text else text


# The smaller unit that may follow, and how many of it make one.
_SMALLER: dict[str, tuple[tuple[str, int], ...]] = {
    "ft": (("in", 12),), "yd": (("ft", 3), ("in", 36)), "mi": (("yd", 1760), ("ft", 5280)), "lb": (("oz", 16),),
    "st": (("lb", 14),), "yr": (("mo", 12),), "wk": (("d", 7),), "d": (("h", 24), ("min", 1440)), "h": (("min", 60),
    ("s", 3600)), "min": (("s", 60),), "m": (("cm", 100), ("mm", 1000)), "km": (("m", 1000),), "cm": (("mm", 10),),
    "kg": (("g", 1000),), "t": (("kg", 1000),),
}  # fmt: skip
_BARE_AFTER = {"ft": "in", "h": "min"}  # 5'11 and 1h30 need no second unit
_TOGETHER = re.compile(r"\.?\s?(?:,|and|und|et)?\s?")


def _sum(text: str, large: _Part, small: _Part) -> _Part | None:
    """3 ft 9 in is one quantity of 45 inches."""
    if large.unit is None or not _TOGETHER.fullmatch(text, large.end, max(large.end, small.start)):
        return None
    symbol = small.unit.symbol if small.unit else ""
    glued = small.start - large.end <= 1
    if glued and large.unit.symbol == symbol == "ft" and text[large.end - 1] == text[small.end - 1] == "'":
        symbol = "in"  # 6'5' for want of another mark
    if not symbol and large.unit.symbol == "m" and small.start == large.end and small.end - small.start == 2:
        symbol = "cm"  # 1m80
    if (not symbol or (symbol == "m" and large.unit.symbol == "h")) and glued:
        symbol = _BARE_AFTER.get(large.unit.symbol, "")
    count = dict(_SMALLER.get(large.unit.symbol, ())).get(symbol)
    whole = abs(large.number.value) < 1e15 and large.number.value == int(large.number.value)
    if count is None or not whole or not 0 <= small.number.value < count:
        return None
    sign = -1 if large.number.value < 0 else 1
    value = int(large.number.value) * count + sign * small.number.value
    number = structs.replace(large.number, value=value)
    return _Part(number=number, unit=named(symbol), end=small.end, note=large.note or small.note)


_SIDE = (
    r"(?:\((?:[lwhdt]|length|width|height|depth)\)|(?:in )?(?:[lwhd]|long|wide|high|deep|length|width|height|depth)\b)"
)
_TIMES = re.compile(rf"\s?{_SIDE}?,?\s?(?:[x×✕*]|\bby\b)\s?", re.IGNORECASE)


def _sizes(text: str, parts: list[_Part]) -> list[_Part]:
    """1134 × 1722 mm: numbers joined by a cross, whose unit stands behind each or only behind the last."""
    runs: list[list[_Part]] = []
    for part in parts:
        last = runs[-1][-1] if runs else None
        if last and _TIMES.fullmatch(text, last.end, max(last.end, part.start)) and _agree(last.unit, part.unit):
            runs[-1].append(part)
        else:
            runs.append([part])
    return [_size(run) for run in runs]


def _agree(left: Unit | None, right: Unit | None) -> bool:
    return left is None or right is None or left.kind == right.kind


def _size(run: list[_Part]) -> _Part:
    if len(run) == 1:
        return run[0]
    unit = run[-1].unit or next((part.unit for part in run if part.unit), None)
    values: list[int | float] = []
    for part in run:
        value = _converted(part.number.value, part.unit, unit) if part.unit and unit else part.number.value
        values.append(part.number.value if value is None else value)
    number = structs.replace(run[0].number, value=values[0])
    note = next((part.note for part in run if part.note), "")
    return _Part(number=number, unit=unit, end=run[-1].end, sizes=tuple(values), note=note)


def _range(text: str, low: _Part, high: _Part) -> _Part | None:
    """10–20 kg, 10 kg to 20 kg."""
    if low.high is not None or low.sizes or high.sizes or not spans_range(text, low.start, low.end, high.start):
        return None
    if low.unit and high.unit != low.unit:
        return None
    bottom = lower_end(low.number, high.number)
    if bottom is None:
        return None
    number = structs.replace(low.number, value=bottom)
    return _Part(number=number, unit=high.unit, end=high.end, high=high.number.value, note=low.note or high.note)


def _measure(text: str, part: _Part) -> Measure:
    number = part.number
    after = text[part.end : part.end + 1]
    return Measure(
        value=number.value,
        unit=part.unit.symbol if part.unit else "",
        start=number.start,
        end=part.end,
        high=part.high,
        sizes=part.sizes,
        approximate=is_approximate(text, number.start, part.end),
        glued=part.unit is None and after.isalpha(),
        note=part.note,
    )
