"""Read a written value in the forms it can be compared in: "1,970" under "Length (mm)" is 1.97 m, "no" is false.

It runs on every cell of every document, so the usual ways of writing a number are read by one pattern each, and the
grammars of `measures`, `money_text` and `dates` only see what looks like theirs.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import structs

from tablewright.domain.documents import ComparableValue
from tablewright.domain.model import FieldType
from tablewright.values.currencies import CURRENCY_AFTER, CURRENCY_BEFORE, currency_meanings, parse_currency
from tablewright.values.dates import MONTHS, DateText, read_dates
from tablewright.values.measures import Measure, convert_measure, read_measures
from tablewright.values.money import read_money
from tablewright.values.numbers import FRACTION_CHARACTERS, normalize_digits
from tablewright.values.units import LABELS_OF_MONEY, Unit, find_label_unit, parse_unit

# Of longer texts only a measure at the beginning is read: they are prose.
MAX_VALUE_CHARACTERS = 160


def parse_comparable(raw: str, label: str = "", *, day_first: bool | None = None) -> ComparableValue:
    """Return the value with all forms it can be compared in. The label may give the unit or currency: "Amount (RM)".

    A measure has `si` and `base`; a plain number and an amount of money have only `number`. `day_first` says how the
    document writes 03/05/2021; if unknown, it is read day first and `ambiguity` gives the other reading.
    """
    if len(raw) > MAX_VALUE_CHARACTERS:
        # "2411 hours (total), 789 hours (…"
        first = re.match(r"\d[\d.,]{0,15}\s[^\W\d_]{1,12}(?=\s?[(;])", raw)
        return structs.replace(parse_comparable(first[0]), raw=raw) if first else ComparableValue(raw=raw)
    unit, is_date = _read_label_hints(label) if label else ("", False)
    return _parse_with_label(raw, unit, is_date, day_first)


def make_comparable_number(raw: str, number: float, unit: str, high: float | None = None) -> ComparableValue:
    """Return a number in the unit or currency of its column. A unit without conversion, such as EUR/m², is its own
    base."""
    value = _apply_label_unit(raw, number, high, unit)
    if not unit or value.base or value.currency:
        return value
    return structs.replace(value, unit=unit, si=number, si_high=high, base=unit)


def infer_field_type(value: ComparableValue) -> FieldType:
    """Return the field type for a column of such values."""
    if value.truth is not None:
        return "boolean"
    if value.currency:
        return "money"
    if value.date:
        return "date"
    return "number" if value.number is not None else "text"


# Values of documents repeat, and reading one takes longer than looking it up.
@lru_cache(maxsize=1 << 16)
def _parse_with_label(raw: str, unit: str, is_date: bool, day_first: bool | None) -> ComparableValue:
    value = raw.strip(" \t\n|")
    if not any(character.isdecimal() for character in value):
        return ComparableValue(raw=raw, truth=_TRUTHS.get(value.casefold().strip(" .!*()[]")))
    if is_date and (year := re.fullmatch(r"1[5-9]\d{2}|2[01]\d{2}", value)):
        return ComparableValue(raw=raw, number=int(year[0]), date=year[0])
    if simple := _parse_simple_number(raw, value, unit) or _parse_simple_money(raw, value):
        return simple
    if _looks_like_date(value, is_date) and (date := _parse_date(raw, value, day_first)):
        return date
    if _IDENTIFIER.fullmatch(value):
        return ComparableValue(raw=raw)
    first = _FIRST_DIGIT.search(value)
    begins = first is not None and _BEGINNING.fullmatch(value, 0, first.start()) is not None
    if first is None or not (begins or CURRENCY_BEFORE.search(value, 0, first.start())):
        return ComparableValue(raw=raw)
    return (
        _parse_amount(raw, value, unit)
        or (_parse_measure(raw, value, unit) if begins else None)
        or ComparableValue(raw=raw)
    )


_TRUTHS: dict[str, bool] = {
    **dict.fromkeys("yes y true ja oui sí si sim tak ✓ ✔ ☑".split(), True),
    **dict.fromkeys("no n false nein non não nie ✗ ✘ ☒".split(), False),
}


# ── hints in the label ──────────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=8192)
def _read_label_hints(label: str) -> tuple[str, bool]:
    """Return the unit or currency that a label names, and True if its values are dates."""
    dates = re.search(
        r"\b(?:year|date|dated|founded|established|since|born|built|issued|expir\w+|period|jahr|année|año|datum|fecha)\b",
        label,
        re.IGNORECASE,
    )
    return find_label_unit(label), dates is not None


# ── numbers and measures ─────────────────────────────────────────────────────────────────────────────────────────────

_SIMPLE = re.compile(
    r"(?P<number>[-+−]?(?:\d{1,3}(?:,\d{3})+|\d{1,11})(?:\.\d+)?)(?P<rest>\s?[^\W\d_°%]?[^\s\d,;:()+-]{0,11})"
)
_IDENTIFIER = re.compile(
    r"[+(]?[0+][\d\s()/.-]{6,}|\d+[-/]\d+(?:[-/][\dA-Za-z]+)+|\d{12,}|0\d{4,}|(?:\d{1,3}\.){3}\d{1,3}"
    r"|\d{1,2}[-/]\d{5,}|\(?\d{3}\)?[- ]\d{3}[- ]\d{4}"
)


def _parse_simple_number(raw: str, value: str, unit: str) -> ComparableValue | None:
    """Parse a number alone or with one unit after it, as in nearly every cell with a number."""
    found = _SIMPLE.fullmatch(value)
    # 1.234 may be a thousand; 00123 is a name.
    if found is None or re.fullmatch(r"[-+−]?[1-9]\d{0,2}\.\d{3}|[-+]?0\d{4,}", found["number"]):
        return None
    rest = found["rest"].strip()
    number = float(found["number"].replace(",", "").replace("−", "-"))
    if rest:
        # Letters that are multipliers after a number more often than units: the whole grammar decides.
        known = parse_unit(rest) if rest not in {"k", "K", "M", "B", "b"} else None
        return None if known is None or (unit and parse_currency(unit)) else _make_with_unit(raw, number, None, known)
    return _apply_label_unit(raw, number, None, unit)


def _parse_simple_money(raw: str, value: str) -> ComparableValue | None:
    found = re.fullmatch(r"([^\W\d_]{2,3}|[€£₹])\.?\s{0,3}(-?(?:\d{1,3}(?:,\d{3})+|\d{1,11})\.\d{2})", value)
    if found is None or CURRENCY_BEFORE.fullmatch(found[1]) is None:
        return None
    meanings = currency_meanings(found[1])
    if len(meanings) != 1 and found[1] != "£":
        return None
    return ComparableValue(raw=raw, number=float(found[2].replace(",", "")), currency=meanings[0])


def _apply_label_unit(raw: str, number: float, high: float | None, unit: str, ambiguity: str = "") -> ComparableValue:
    """Return a number without its own unit, in the unit of the label if there is one."""
    known, currency = _parse_unit_or_currency(unit) if unit else (None, "")
    if known is None:
        return ComparableValue(raw=raw, number=number, high=high, currency=currency, ambiguity=ambiguity)
    return structs.replace(_make_with_unit(raw, number, high, known), ambiguity=ambiguity)


@lru_cache(maxsize=1024)
def _parse_unit_or_currency(unit: str) -> tuple[Unit | None, str]:
    known, currency = parse_unit(unit), parse_currency(unit)
    return (None, currency) if known is None or (currency and LABELS_OF_MONEY.search(unit)) else (known, "")


_ABOUT = re.compile(
    r"(?:[~≈<>≤≥±=]|about|approx\.?(?:imately)?|around|ca\.?|circa|up to|at (?:least|most)|max\.?(?:imum)?"
    r"|min\.?(?:imum)?|from|between|over|under|nominal|typ\.?(?:ical)?)?\s*",
    re.IGNORECASE,
)
_AFTER = re.compile(r"\s*(?:$|[.,;(\[/|@±*]|\+/-|-\s*$|[\w'-]+(?:\s[\w'-]+){0,3}\s*(?:$|[.,;(/]))")
_ONE_WORD_AFTER = re.compile(r"\s*(?:$|[,;(\[/|@±*]|\.(?!\d)|-\s*$|\s[^\W\d_]+\s*$)")
_FIRST_DIGIT = re.compile(rf"[\d{FRACTION_CHARACTERS}]")
_BEGINNING = re.compile(rf"{_ABOUT.pattern}[-+−–(.±]*\s?", re.IGNORECASE)


def _parse_measure(raw: str, value: str, unit: str) -> ComparableValue | None:
    """Return the quantity at the beginning of the value; None for "1886 x 951 mm", which has two."""
    text = normalize_digits(value)
    # Negative numbers as accountants and tills write them.
    if negative := re.fullmatch(r"\(([\d.,]*\d)\)|(\d[\d.,]*)-", text):
        text = "-" + (negative[1] or negative[2])
    measures = read_measures(text, unit if unit and parse_unit(unit) else "")
    if not measures or measures[0].sizes or not _ABOUT.fullmatch(text, 0, measures[0].start):
        return None
    first = measures[0]
    if re.match(r"\s*(?:of\s)?(?:hg|mercury|h2o|water)\b", text[first.end :], re.IGNORECASE):
        return None
    if first.unit:
        known = parse_unit(first.unit)
        if known is None or not _AFTER.match(text, first.end) or text[first.end : first.end + 1].isalnum():
            return None
        ambiguity = first.note or _other_values_note(text, first, measures)
        return structs.replace(_make_with_unit(raw, first.value, first.high, known), ambiguity=ambiguity)
    # A wider "range" is two numbers of an identifier, such as 603-40232487.
    if first.high is not None and first.high > 50 * max(abs(first.value), 2):
        # 603-40232487 is a telephone number, 18-2144 a serial number.
        return None
    if first.glued or not _ONE_WORD_AFTER.match(text, first.end) or abs(first.value) > 1e15:
        return None
    return _apply_label_unit(
        raw, first.value, first.high, unit, first.note or _other_values_note(text, first, measures)
    )


def _other_values_note(text: str, first: Measure, measures: tuple[Measure, ...]) -> str:
    """Return a note that other values follow, as in "4 °C / 3 °C", or ""."""
    if len(measures) > 1 and text[first.end : measures[1].start].strip() in ("/", ",", ";"):
        return f"one of several values: {text}"
    return ""


# ── one unit for each kind ───────────────────────────────────────────────────────────────────────────────────────────

# People compare temperatures in °C and shares in %, so these stand for kelvin and the plain ratio.
_BASES: dict[str, str] = {
    "length": "m", "mass": "kg", "area": "m²", "volume": "m³", "time": "s", "temperature": "°C", "speed": "m/s",
    "power": "W", "energy": "J", "pressure": "Pa", "force": "N", "torque": "N·m", "frequency": "Hz", "fuel": "L/100 km",
    "fuel use": "L/100 km", "ratio": "%", "data": "B", "data rate": "bps", "angle": "°", "illuminance": "lx",
    "luminance": "nit", "intensity": "cd", "resolution": "dpi", "sound": "dB", "pixel": "px", "voltage": "V",
    "current": "A", "charge": "Ah", "resistance": "Ω", "capacitance": "F", "inductance": "H", "light": "lm",
    "amount": "mol", "magnetic": "T",
}  # fmt: skip
_COMPOUNDS = (
    "%/°C", "m/s", "m/s²", "W/m²", "W/kg", "W/°C", "W/m", "Wh/kg", "kg/m³", "kg/m²", "kg/m", "N/m", "N/m²", "V/°C",
    "A/°C", "J/kg", "m³/s", "kg/s", "V/s", "B/s", "lm/W", "cd/m²", "W·h/m²", "1/s", "Ah/kg", "L/km",
)  # fmt: skip


def _make_with_unit(raw: str, number: float, high: float | None, unit: Unit) -> ComparableValue:
    si, si_high, base = convert_to_base(number, high, unit)
    return ComparableValue(raw=raw, number=number, high=high, unit=unit.symbol, si=si, si_high=si_high, base=base)


def convert_to_base(number: float, high: float | None, unit: Unit) -> tuple[float | None, float | None, str]:
    """Return the number and the end of its range in the base unit of its kind, and that unit."""
    base, factor = _find_base_unit(unit)
    if factor is not None:
        return _round_to_12_digits(number * factor), None if high is None else _round_to_12_digits(high * factor), base
    there = convert_measure(Measure(value=number, high=high, unit=unit.symbol, start=0, end=0), base) if base else None
    if there is None:
        return None, None, ""
    return float(there.value), None if there.high is None else float(there.high), base


@lru_cache(maxsize=1024)
def _find_base_unit(unit: Unit) -> tuple[str, float | None]:
    """Return the base unit and its factor; None if a factor is not enough, as for °F and miles per gallon."""
    for base in (_BASES[unit.kind],) if unit.kind in _BASES else _COMPOUNDS:
        if unit.symbol == base:
            return base, 1.0
        # 0 °C is not 0 K, and miles per gallon fall as litres per 100 km rise.
        if unit.kind in {"temperature", "fuel"}:
            return base, None
        one = convert_measure(Measure(value=1, unit=unit.symbol, start=0, end=0), base)
        if one is not None:
            return base, float(one.value)
    return unit.symbol, 1.0


def _round_to_12_digits(value: float) -> float:
    return float(f"{value:.12g}")


# ── dates and money ──────────────────────────────────────────────────────────────────────────────────────────────────


def _looks_like_date(value: str, is_date: bool) -> bool:
    if re.search(r"\d[./\s-]{1,2}\d{1,2}[./\s-]{1,2}\d|\d{4}[-/.]\d\d?(?!\d)|[年月년]", value) or (
        is_date and len(value) >= 8
    ):
        return True
    return any(word.casefold() in MONTHS for word in re.findall(r"[^\W\d_]{3,}", value)) or not value.isascii()


def _parse_date(raw: str, value: str, day_first: bool | None) -> ComparableValue | None:
    value = value.replace(" ,", ",")
    date = next(iter(read_dates(value)), None)
    if date is None or date.doubtful or len(date.iso) < 7:
        return None
    before, after = value[: date.start], value[date.end :]
    if not date.clean and not (
        re.fullmatch(r"(?:[^\W\d_]{2,9}\.?,?\s++)?(?:on\s|the\s)?\s*+", before, re.IGNORECASE)
        and re.match(r"\s*(?:$|[,;(.T]|\d{1,2}[:.h]\d\d|[-–]\s?\d{1,2}:\d\d|at\b|\d{4}\s?[A-Z]{3}\b)", after)
    ):
        return None
    return make_comparable_date(raw, date, day_first)


def make_comparable_date(raw: str, date: DateText, day_first: bool | None = None) -> ComparableValue:
    """Return a date found in a text, in the day and month order of that text."""
    if not date.other_iso:
        return ComparableValue(raw=raw, date=date.iso, ambiguity=date.note if date.last else "")
    if day_first is None:
        return ComparableValue(raw=raw, date=date.iso, ambiguity=f"day or month first: {date.iso} or {date.other_iso}")
    return ComparableValue(raw=raw, date=date.iso if day_first else date.other_iso)


def _parse_amount(raw: str, value: str, unit: str) -> ComparableValue | None:
    currency = parse_currency(unit) if unit and not parse_unit(unit) else ""
    if not (currency or _has_adjacent_currency(value)):
        return None
    amount = read_money(value, currency)
    if amount is None:
        return None
    text = normalize_digits(value)
    if not (amount.clean or (_ABOUT.fullmatch(text, 0, amount.start) and _AFTER.match(text, amount.end))):
        return None
    found = amount.money.currency or currency
    if not found:
        return None
    return ComparableValue(raw=raw, number=amount.money.amount, high=amount.high, currency=found, ambiguity=amount.note)


def _has_adjacent_currency(value: str) -> bool:
    first = _FIRST_NUMBER.search(value)
    return first is not None and bool(
        CURRENCY_BEFORE.search(value, 0, first.start()) or CURRENCY_AFTER.match(value, first.end())
    )


# The number, its range and its multiplier, behind which a currency may stand: "5 to 10 million dollars".
_FIRST_NUMBER = re.compile(
    r"[-+−(]?\d[\d.,' ]*(?:(?:\s?[-–]\s?|\sto\s)\d[\d.,']*)?(?<=\d)(?:[.,][-–]+)?"
    r"(?:\s?(?:[kKMB]|bn|mn|million|billion)\b)?"
)
