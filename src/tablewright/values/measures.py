"""Read and convert quantities in texts: "1,5 m", "3 ft 9 in", "5'11\\"", "10–20 kg", "1134 × 1722 mm", "1 h 30 min".

`read_measures` finds them, `convert_measure` converts them. Reading never needs pint, whose import costs 0.2 s.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import structs

from tablewright.domain.model import Struct
from tablewright.values.numbers import (
    FOREIGN_NUMBER_WORDS,
    MAX_TEXT_CHARACTERS,
    SCALE_LETTERS,
    Number,
    apply_letter_scale,
    find_number_words,
    find_plain_numbers,
    is_approximate,
    join_adjacent_items,
    normalize_digits,
    replace_fraction_words,
    scale_lower_end,
    spans_range,
)
from tablewright.values.units import Unit, get_unit, parse_unit, read_unit_at

if TYPE_CHECKING:
    from pint import UnitRegistry


class Measure(Struct, frozen=True):
    """A quantity at `start:end`; `unit` is "" if the text gives none.

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


# A text is proved for several values, and read for each.
@lru_cache(maxsize=128)
def read_measures(text: str, unit: str = "") -> tuple[Measure, ...]:
    """Return every quantity of the text in order. `unit` is the expected one; it decides what "oz", "m" or "C"
    means."""
    text = _normalize_feet(normalize_digits(text[:MAX_TEXT_CHARACTERS]))
    wanted = parse_unit(unit) if unit else None
    if wanted and wanted.kind == "time" and (clock := _read_duration(text)):
        return (clock,)
    parts = join_adjacent_items(
        _drop_clock_parts(_read_measure_parts(text, wanted, unit)), lambda *pair: _join_compound_measure(text, *pair)
    )
    parts = join_adjacent_items(_join_dimensions(text, parts), lambda *pair: _join_measure_range(text, *pair))
    return tuple(_finish_measure(text, part) for part in parts)


def read_worded_measures(text: str, unit: str = "") -> tuple[Measure, ...]:
    """Return every quantity, also those in words; their places are not those in the text."""
    return read_measures(write_quantities_in_digits(text), unit)


def write_quantities_in_digits(text: str, *, articles: bool = True) -> str:
    """Return the text with quantities in words in digits: "50 hours", "0.5 hour" for "half an hour", "2 Liter" for
    "zwei Liter" and, with `articles`, "1 hour" for "an hour"."""

    def write_digits(word: re.Match[str]) -> str:
        said, place = word[0].casefold(), word.start()
        value = FOREIGN_NUMBER_WORDS.get(said, 1 if articles and said in ("a", "an", "one") else None)
        # "50 miles an hour" and "5 dollars an hour" are rates.
        is_rate = any(map(str.isdigit, "".join(word.string[max(0, place - 30) : place].split()[-2:])))
        return word[0] if value is None or is_rate or read_unit_at(word.string, word.end()) is None else str(value)

    for value, start, end in reversed([*find_number_words(text, 40)]):
        if read_unit_at(text, end) is not None:
            text = f"{text[:start]}{value}{text[end:]}"
    text = replace_fraction_words(text, lambda end: read_unit_at(text, end) is not None)
    # Only units that are words, because "a m" may mean anything.
    return re.sub(r"\b[^\W\d_]+(?=[ -][^\W\d_]{3})", write_digits, text)


def convert_measure(measure: Measure, unit: str) -> Measure | None:
    """Return the same quantity in another unit, or None if the units measure different things."""
    if measure.unit == unit:
        return measure
    source, target = parse_unit(measure.unit), parse_unit(unit)
    if source is None or target is None or not are_convertible(source, target):
        return None
    value = _convert_number(measure.value, source, target)
    high = None if measure.high is None else _convert_number(measure.high, source, target)
    sizes = tuple(_convert_number(size, source, target) for size in measure.sizes)
    if value is None or (high is None and measure.high is not None) or None in sizes:
        return None
    if high is not None and high < value:  # litres per 100 km go down where miles per gallon go up
        value, high = high, value
    known = tuple(size for size in sizes if size is not None)
    return structs.replace(measure, value=value, high=high, sizes=known, unit=unit)


@lru_cache(maxsize=4096)
def are_convertible(one: Unit, other: Unit) -> bool:
    if one.kind and one.kind == other.kind:
        return True
    if {one.kind, other.kind} == {"fuel", "fuel use"}:
        return True
    if one.apart != other.apart or (one.kind and other.kind and one.apart):
        return False
    return (
        _pint_registry().parse_expression(one.pint).dimensionality
        == _pint_registry().parse_expression(other.pint).dimensionality
    )


# ── conversion ───────────────────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=1)
def _pint_registry() -> UnitRegistry[float]:
    # Takes 0.2 s, and most runs never need it.
    import pint

    return pint.UnitRegistry()


def _convert_number(value: int | float, source: Unit, target: Unit) -> int | float | None:
    if source.pint == target.pint:
        return value
    try:
        number = float(value)
        if {source.kind, target.kind} == {"fuel", "fuel use"}:
            return (
                _clean_float(1 / (number * _conversion_factor(source.pint, f"1/({target.pint})"))) if number else None
            )
        if source.kind == target.kind == "temperature":
            return _clean_float(_pint_registry().convert(number, source.pint, target.pint))
        return _clean_float(number * _conversion_factor(source.pint, target.pint))
    except OverflowError:
        return None


@lru_cache(maxsize=1024)
def _conversion_factor(source: str, target: str) -> float:
    ratio = _pint_registry().parse_expression(f"({source})/({target})")
    return float(ratio.to_base_units().magnitude)


def round_like_source(value: int | float, written: str) -> int | float:
    """Round a converted quantity to the digits of its source, at least four: 1 lb 15 oz is 0.8788 kg, not 0.87883506.
    The whole part is never rounded: a mile is 1,609 m."""
    if isinstance(value, int) or not value:
        return value
    # Fewer digits would lose more than people mean by "5 ft".
    digits = max(4, len("".join(filter(str.isdigit, written)).lstrip("0")))
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return _clean_float(round(value, decimals)) or value


def _clean_float(value: float) -> int | float | None:
    """Return the number without the noise of binary fractions: 12 significant digits, whole numbers as int."""
    if not math.isfinite(value):
        return None
    value = float(f"{value:.12g}")
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class _MeasurePart(Struct, frozen=True):
    number: Number
    unit: Unit | None
    end: int
    note: str = ""
    high: int | float | None = None
    sizes: tuple[int | float, ...] = ()

    @property
    def start(self) -> int:
        return self.number.start


def _read_measure_parts(text: str, wanted: Unit | None, unit: str) -> Iterator[_MeasurePart]:
    """Yield each number with the unit right after it."""
    for number in find_plain_numbers(text):
        if number.percent:
            sign = text.rfind("%", number.start, number.end)
            # %/°C.
            per = read_unit_at(text, sign) if sign > 0 else None
            share, end = per[:2] if per else (get_unit("%"), number.end)
            yield _MeasurePart(number=number, unit=share, end=end, note=number.note)
            continue
        found = read_unit_at(text, number.end, wanted)
        # "5 m" is metres and "5m" a million, unless the column asks for such a unit: 5K in a column of kelvins.
        if (
            found
            and text[number.end : found[1]].strip() in SCALE_LETTERS
            and not (wanted and wanted.kind == found[0].kind)
        ):
            found = found if text[number.end] == " " and found[0].symbol == "m" else None
        if found is None:
            number = apply_letter_scale(text, number)
            found = read_unit_at(text, number.end, wanted)
        if found and (clock := _read_clock_with_unit(text, number, found[0])):
            yield structs.replace(clock, end=found[1])
        elif found:
            yield _MeasurePart(number=number, unit=found[0], end=found[1], note=number.note or found[2])
        elif unit and wanted is None and (own := _find_custom_unit_end(text, number.end, unit)):
            yield _MeasurePart(number=number, unit=Unit(symbol=unit, pint=""), end=own, note=number.note)
        else:
            yield _MeasurePart(number=number, unit=None, end=number.end, note=number.note)


def _drop_clock_parts(parts: Iterable[_MeasurePart]) -> list[_MeasurePart]:
    """Drop the hours and minutes that are part of a following "1:05 h"."""
    kept: list[_MeasurePart] = []
    for part in parts:
        while kept and kept[-1].start >= part.start:
            kept.pop()
        kept.append(part)
    return kept


def _read_clock_with_unit(text: str, number: Number, unit: Unit) -> _MeasurePart | None:
    """Read 2:21 min as 2.35 min and 1:05 h as 65 min; `number` is the one after the last colon."""
    if unit.symbol not in ("min", "h") or text[number.start - 1 : number.start] != ":":
        return None
    found = re.search(r"(?<![\d:.,])(\d{1,3}):([0-5]\d)(?::([0-5]\d))?$", text[: number.end])
    if found is None:
        return None
    large, *smaller = (int(part) for part in found.groups() if part)
    value = large + sum(part / 60**place for place, part in enumerate(smaller, start=1) if part)
    whole = structs.replace(number, value=value, start=found.start())
    return _MeasurePart(number=whole, unit=unit, end=number.end, note=number.note)


def _read_duration(text: str) -> Measure | None:
    """Read 1:30:00 and PT1H30M as a duration; 1:30 alone is taken as minutes and seconds."""
    if found := re.fullmatch(r"\s*(?:(\d{1,3}):([0-5]\d):([0-5]\d)|(\d{1,3}):([0-5]\d))\s*", text):
        hours, minutes, seconds = (int(part or 0) for part in found.groups()[:3])
        minutes, seconds = (int(found[4]), int(found[5])) if found[4] else (minutes, seconds)
        note = f"{text.strip()} read as minutes and seconds" if found[4] else ""
    elif found := re.fullmatch(r"\s*PT(?=\d)(?:(\d{1,4})H)?(?:(\d{1,4})M)?(?:(\d{1,6})S)?\s*", text):
        hours, minutes, seconds = (int(part or 0) for part in found.groups())
        note = ""
    else:
        return None
    return Measure(value=hours * 3600 + minutes * 60 + seconds, unit="s", start=0, end=len(text), note=note)


def _find_custom_unit_end(text: str, place: int, unit: str) -> int | None:
    """Return the end of the field's own unit at this place, if it is none we know: "500 employees", "3 rooms"."""
    stem = re.escape(unit.strip().rstrip("s"))
    found = re.compile(rf"[\s-]?{stem}(?:e?s)?(?!\w)", re.IGNORECASE).match(text, place)
    return found.end() if found else None


def _normalize_feet(text: str) -> str:
    """Rewrite 6'8.5\" and 6-foot-8, which would be read as a number and as a name."""
    if "'" in text:
        text = re.sub(r"(?<=\d)'(?=\d{1,2}\.\d+\s?(?:\"|''|[″”]))", "′", text)
    if "t-" not in text and "T-" not in text:
        return text
    return re.sub(r"(?<=\d)[- ](foot|feet|ft)[- ](?=\d{1,2}(?:\D|$))", r" \1 ", text, flags=re.IGNORECASE)


# The smaller units that may follow a unit, and how many of each make one.
_SMALLER: dict[str, tuple[tuple[str, int], ...]] = {
    "ft": (("in", 12),), "yd": (("ft", 3), ("in", 36)), "mi": (("yd", 1760), ("ft", 5280)), "lb": (("oz", 16),),
    "st": (("lb", 14),), "yr": (("mo", 12),), "wk": (("d", 7),), "d": (("h", 24), ("min", 1440)), "h": (("min", 60),
    ("s", 3600)), "min": (("s", 60),), "m": (("cm", 100), ("mm", 1000)), "km": (("m", 1000),), "cm": (("mm", 10),),
    "kg": (("g", 1000),), "t": (("kg", 1000),),
}  # fmt: skip


def _join_compound_measure(text: str, large: _MeasurePart, small: _MeasurePart) -> _MeasurePart | None:
    """Join 3 ft 9 in into one quantity of 45 inches, or return None."""
    if large.unit is None or not re.fullmatch(r"\.?\s?(?:,|and|und|et)?\s?", text[large.end : small.start]):
        return None
    symbol = small.unit.symbol if small.unit else ""
    glued = small.start - large.end <= 1
    if glued and large.unit.symbol == symbol == "ft" and text[large.end - 1] == text[small.end - 1] == "'":
        # 6'5' for want of another mark.
        symbol = "in"
    if not symbol and large.unit.symbol == "m" and small.start == large.end and small.end - small.start == 2:
        # 1m80.
        symbol = "cm"
    if (not symbol or (symbol == "m" and large.unit.symbol == "h")) and glued:
        # 5'11 and 1h30 need no second unit.
        symbol = {"ft": "in", "h": "min"}.get(large.unit.symbol, "")
    count = dict(_SMALLER.get(large.unit.symbol, ())).get(symbol)
    whole = abs(large.number.value) < 1e15 and large.number.value == int(large.number.value)
    if count is None or not whole or not 0 <= small.number.value < count:
        return None
    sign = -1 if large.number.value < 0 else 1
    value = int(large.number.value) * count + sign * small.number.value
    number = structs.replace(large.number, value=value)
    return _MeasurePart(number=number, unit=get_unit(symbol), end=small.end, note=large.note or small.note)


_TIMES = re.compile(
    r"\s?(?:\((?:[lwhdt]|length|width|height|depth)\)|(?:in )?(?:[lwhd]|long|wide|high|deep|length|width|height"
    r"|depth)\b)?"
    r",?\s?(?:[x×✕*]|\bby\b)\s?",
    re.IGNORECASE,
)


def _join_dimensions(text: str, parts: list[_MeasurePart]) -> list[_MeasurePart]:
    """Join dimensions such as 1134 × 1722 mm, with the unit after each number or only after the last."""
    runs: list[list[_MeasurePart]] = []
    for part in parts:
        last = runs[-1][-1] if runs else None
        if (
            last
            and _TIMES.fullmatch(text, last.end, max(last.end, part.start))
            and (last.unit is None or part.unit is None or last.unit.kind == part.unit.kind)
        ):
            runs[-1].append(part)
        else:
            runs.append([part])
    return [_merge_dimensions(run) for run in runs]


def _merge_dimensions(run: list[_MeasurePart]) -> _MeasurePart:
    if len(run) == 1:
        return run[0]
    unit = run[-1].unit or next((part.unit for part in run if part.unit), None)
    values: list[int | float] = []
    for part in run:
        value = _convert_number(part.number.value, part.unit, unit) if part.unit and unit else part.number.value
        values.append(part.number.value if value is None else value)
    number = structs.replace(run[0].number, value=values[0])
    note = next((part.note for part in run if part.note), "")
    return _MeasurePart(number=number, unit=unit, end=run[-1].end, sizes=tuple(values), note=note)


def _join_measure_range(text: str, low: _MeasurePart, high: _MeasurePart) -> _MeasurePart | None:
    """Join 10–20 kg or 10 kg to 20 kg into a range, or return None."""
    if low.high is not None or low.sizes or high.sizes or not spans_range(text, low.start, low.end, high.start):
        return None
    if low.unit and high.unit != low.unit:
        return None
    bottom = scale_lower_end(low.number, high.number)
    if bottom is None:
        return None
    number = structs.replace(low.number, value=bottom)
    return _MeasurePart(number=number, unit=high.unit, end=high.end, high=high.number.value, note=low.note or high.note)


def _finish_measure(text: str, part: _MeasurePart) -> Measure:
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
