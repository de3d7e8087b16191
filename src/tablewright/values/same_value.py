"""Decide if two values are the same, for each purpose. The only place with tolerances.

1,000,000 and 1,004,000 are the same number when sources are compared, and two numbers when a quote is checked. So the
caller names its purpose, and all purposes have their tolerances in one table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from tablewright.domain.model import Money, Struct, Value
from tablewright.domain.text import normalize_words
from tablewright.values.measures import Measure, convert_measure, read_measures
from tablewright.values.numbers import normalize_digits
from tablewright.values.units import read_unit_at

Purpose: TypeAlias = Literal["merging", "restating", "proving", "adding", "rounding", "converting"]


Item = TypeVar("Item")


class Tolerance(NamedTuple):
    """The allowed difference of two numbers: a share of the larger one, or `least` if that is more. Whole numbers below
    `exact_below` must be equal."""

    share: float
    least: float = 0.0
    exact_below: float = 0.0


# How far two values may differ; "rounding" and "converting" also allow half of the last digit that is written.
TOLERANCES: Mapping[Purpose, Tolerance] = {
    # Two sources round alike to three digits (1,004,000 and 1 million), but state years, rooms and staff as they are.
    "merging": Tolerance(0.005, exact_below=10_000),
    # One text says one quantity in two units, the second rounded to two digits: "3 ft 11 in (119 cm)", "3 lb (1.4 kg)".
    "restating": Tolerance(0.03),
    # A text has a figure or it has not. Forgiven is what floats lose in their last digits (1600 mm, 1.6 m), and nothing
    # of whole numbers that have no more than the 12 digits which a conversion keeps.
    "proving": Tolerance(1e-9, 1e-12, exact_below=1e12),
    # A sum gathers the noise of all its parts, which is left alone where they cancel out: less than any cent.
    "adding": Tolerance(1e-9, 1e-6, exact_below=1e12),
    # The share of half a digit by which floats miss it: 0.125 is written as 0.12 or as 0.13.
    "rounding": Tolerance(1e-6),
    # What a conversion may lose by rounding to one digit or to a whole number: a mile is not "2 km".
    "converting": Tolerance(0.01),
}


def same_value(one: Value, other: Value, purpose: Purpose, *, decimals: int | None = None) -> bool:
    """Return True if both are the same value for this purpose.

    - "merging": two sources give it; of two texts, one may say more ("Irving" and "Irving, Texas")
    - "restating": one text gives it twice, in two units
    - "proving": a text has this very value
    - "adding": the second is the sum that the first states
    - "rounding": the second is how the first is written, with as many decimals as it has
    - "converting": the same of a quantity in another unit, which must not lose too much by it

    `decimals` says how many are written where the second number does not tell: two in "12.50", and -3 in thousands.
    Amounts in two currencies are never the same; one without a currency may be in any.
    """
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        if purpose == "rounding" or purpose == "converting":
            return _is_written_as(one, other, purpose, decimals)
        is_cut_off = purpose == "proving" and (_is_cut_off(one, other) or _is_cut_off(other, one))
        return one == other or is_cut_off or _is_within(one, other, TOLERANCES[purpose])
    if isinstance(one, Money) and isinstance(other, Money):
        is_one_currency = not one.currency or not other.currency or one.currency == other.currency
        return is_one_currency and same_value(one.amount, other.amount, purpose, decimals=decimals)
    if purpose != "merging" or one is None or other is None or isinstance(one, tuple) or isinstance(other, tuple):
        return one == other
    return _is_same_text(str(one), str(other))


def _is_within(one: float, other: float, tolerance: Tolerance) -> bool:
    share, least, exact_below = tolerance
    if max(abs(one), abs(other)) < exact_below and float(one).is_integer() and float(other).is_integer():
        return False
    return math.isclose(one, other, rel_tol=share, abs_tol=least)


def _is_cut_off(endless: float, written: float) -> bool:
    """Return True if a fraction that no digits end is written with six of them: 1/3 as 0.333333, 2:20 as 2.33333."""
    is_near = not float(written).is_integer() and math.isclose(endless, written, rel_tol=1e-5)
    return is_near and float(f"{endless:.12g}") != endless and float(f"{endless:.6g}") == written


def _is_written_as(exact: float, written: float, purpose: Purpose, decimals: int | None) -> bool:
    """Return True if the number is written as it comes out, or rounded to the digits it has: 2,000 lb are 907.2 kg."""
    _, digits, exponent = Decimal(str(written)).normalize().as_tuple()
    assert isinstance(exponent, int)  # neither infinite nor no number
    decimals = max(0, -exponent) if decimals is None else decimals
    lost = 0.5 * 10.0**-decimals
    if purpose == "converting":
        if not decimals or len(digits) < 2:
            lost = min(lost, TOLERANCES["converting"].share * abs(exact))
        if same_value(exact, written, "proving"):
            return True
    return abs(exact - written) <= lost * (1 + TOLERANCES["rounding"].share)


def group_by_value(items: Iterable[Item], values: Iterable[Value]) -> list[list[Item]]:
    """Return the items in groups by the value that each of them gives, in the order of their first ones."""
    groups: list[tuple[Value, list[Item]]] = []
    for item, value in zip(items, values, strict=True):
        same = (group for first, group in groups if same_value(first, value, "merging"))
        if (group := next(same, None)) is not None:
            group.append(item)
        else:
            groups.append((value, [item]))
    return [group for _, group in groups]


# ── texts ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def _is_same_text(one: str, other: str) -> bool:
    """Return True if both give one length or mass, or the same words in any order, or one the words of the other."""
    if (measured := _compare_measures(one, other)) is not None:
        return measured
    texts = (normalize_words(re.sub(r"^https?://(?:www\.)?", "", text)) for text in (one, other))
    short, long = sorted(texts, key=len)
    return sorted(short.split()) == sorted(long.split()) or (len(short) > 3 and f" {short} " in f" {long} ")


def _compare_measures(one: str, other: str) -> bool | None:
    """Compare `6' 8"` and "6-8 / 2.03", "242 lb" and "110 kg", "240" and "240 lbs"; None for what is no length and no
    mass."""
    if not (one[:1].isdigit() and other[:1].isdigit()):
        return None
    bare, stated = (one, other) if _NUMBER.fullmatch(one) else (other, one)
    if _NUMBER.fullmatch(bare) and (first := _NUMBER.match(stated)) and read_unit_at(stated, first.end()):
        return float(bare) == float(first[0])
    if any(_NUMBER.fullmatch(text) for text in (one, other)):
        return None
    for read in (lambda text: read_length(text, feet_and_inches=True), read_mass):
        left, right = read(one), read(other)
        if left is not None and right is not None:
            return left.same(right)
    return None


class RoundedQuantity(Struct, frozen=True):
    """A length in metres or a mass in kilograms; `give` is half of the last digit that was written of it."""

    value: float
    give: float

    def same(self, other: RoundedQuantity) -> bool:
        """Return True if both may be one: 6 ft 8 in and 2.03 m are, 6 ft 7 in and 6 ft 8 in are not."""
        return abs(self.value - other.value) <= max(self.give, other.give)


def read_length(text: str, unit: str = "", *, feet_and_inches: bool = False) -> RoundedQuantity | None:
    """Return the one length that the text states, also where it states it twice: "6 ft 8 in (2.03 m)".

    None for none, several, a range, or a number without a unit, unless `unit` says which it is. "6-8" is six feet and
    eight inches only where `feet_and_inches` says that they are written so; else it is a range.
    """
    if feet_and_inches and (stature := read_stature(text)):
        text = f"{stature[0]} ft {stature[1]} in {text[stature[2] :]}"
    return _read_single_quantity(text, "m", unit)


def read_mass(text: str, unit: str = "") -> RoundedQuantity | None:
    """Return the one mass that the text states: "242 lb (110 kg)", or "240" where `unit` says that it is in pounds."""
    return _read_single_quantity(text, "kg", unit)


def read_stature(text: str) -> tuple[int, int, int] | None:
    """Return the feet, the inches and the end of "6-8" at the beginning; "6-8 m" and "6-8 storeys" are ranges."""
    text = normalize_digits(text)
    found = re.match(
        r"\s*([2-8])\s?[-–]\s?(1[01]|\d)(?![\d–-]|[.,:]\d)(?=\.?\s*(?:$|[(\[/,;|•·])|\s+(?:\d|[-–—](?:\s|$)|tall\b))",
        text,
    )
    if found is None or read_unit_at(text, found.end()) is not None:
        return None
    return int(found[1]), int(found[2]), found.end()


def _read_single_quantity(text: str, base: str, unit: str) -> RoundedQuantity | None:
    found: list[RoundedQuantity] = []
    bare: list[Measure] = []
    for measure in read_measures(text, unit or base):
        if not measure.unit:
            bare.append(measure)
            continue
        if (fit := convert_measure(measure, base)) is not None:
            if measure.sizes or measure.high is not None:
                return None
            found.append(RoundedQuantity(value=float(fit.value), give=_rounding_error(text, measure, base)))
    if not found and unit and len(bare) == 1 and bare[0].high is None and not bare[0].sizes:
        return _read_single_quantity(f"{text[bare[0].start : bare[0].end]} {unit}", base, "")
    # 6 ft 8 in / 2.03 says it twice.
    others = [*(other.value for other in found[1:]), *(other.value for other in bare)]
    is_one = found and all(same_value(found[0].value, other, "restating") for other in others)
    return found[0] if is_one else None


def _rounding_error(text: str, measure: Measure, base: str) -> float:
    written = re.search(r"\d[.,](\d+)\D*$", normalize_digits(text[measure.start : measure.end]))
    decimals = len(written[1]) if written else 0
    if decimals == 3 and measure.value == int(measure.value):
        # The three digits of 1,829.
        decimals = 0
    # Six feet is six feet and no inches.
    unit = "in" if measure.unit == "ft" else measure.unit
    step = convert_measure(Measure(value=1, start=0, end=0, unit=unit), base)
    return float(step.value) / 2 / 10**decimals if step else 0.0
