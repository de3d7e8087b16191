"""What a number or money field takes from the numbers, measures and amounts that a text holds, and how sure that is."""

from __future__ import annotations

import re

from msgspec import structs

from tablewright.table.currencies import currency_of, is_currency
from tablewright.table.measures import Measure, as_precise_as, in_unit, read_measures
from tablewright.table.model import Label, Money
from tablewright.table.money_text import MoneyText, read_amounts
from tablewright.table.numbers import SCALES, Number, read_numbers, times
from tablewright.table.text import show_float
from tablewright.table.units import parse_unit

NumberVerdict = tuple[int | float | None, Label, str]
MoneyVerdict = tuple[Money | None, Label, str]


def read_number_value(text: str, unit: str = "") -> NumberVerdict:
    """The number for a field of this unit."""
    if not unit:
        return _bare_number(text)
    scale, rest = _split_scale(unit)
    if scale > 1 and (not rest or is_currency(rest)):
        return _scaled_number(text, scale, rest)
    if is_currency(unit) and parse_unit(unit) is None:
        money, label, note = read_money_value(text, unit)
        if money and money.currency not in ("", currency_of(unit)):
            return None, "none", f"{money.currency} is not {unit}"
        return (money.amount if money else None), label, note
    return _measured(text, unit)


def _bare_number(text: str) -> NumberVerdict:
    for measure in read_measures(text) if ":" in text else ():
        if ":" in (written := text[measure.start : measure.end]):  # 2:21 min is one number, not two
            value = float(f"{measure.value:.6g}")
            return value, "medium", f"{written} read as {show_float(value)} {measure.unit}"
    numbers = read_numbers(text)
    if not numbers:
        return None, "none", "no number"
    first = numbers[0]
    several = _several(first, numbers[1:])
    if first.glued or (several and not _leads(text, first.start)):
        return first.value, "low", several or f"{_quoted(text, first)} may be part of a name"
    note = _doubt(first) or several
    if not note and first.percent:
        note = "percent"
    if not note and not first.clean:
        note = "taken out of a longer text"
    return first.value, "medium" if note else "high", note


def _doubt(number: Number) -> str:
    if number.high is not None:
        return f"a range, {number.value} to {number.high}; its lower end is kept"
    if number.note:
        return number.note
    return "approximate" if number.approximate else ""


def _several(first: Number, others: tuple[Number, ...]) -> str:
    different = [other.value for other in others if other.value != first.value]
    return f"several numbers: {first.value}, {different[0]}" if different else ""


_ASIDE = re.compile(
    r"\b(?:not|isn't|wasn't|nor|except|instead of|rather than)\b|\b(?:in|since|by|during|on)\s*$", re.IGNORECASE
)


def _leads(text: str, start: int) -> bool:
    """Whether the text begins with the number: "5,000 employees in 30 countries", not "In 2019 it had 5,000"."""
    before = text[:start]
    return len(before) <= 24 and not _ASIDE.search(before) and len(before.split()) <= 2


def _quoted(text: str, number: Number) -> str:
    """The number with the letters that hang on it."""
    return text[number.start : number.end + 12].split(maxsplit=1)[0]


# ── with a unit ──────────────────────────────────────────────────────────────────────────────────────────────────────


_MOST_MEASURES = 12


def _measured(text: str, unit: str) -> NumberVerdict:
    measures = read_measures(text, unit)[:_MOST_MEASURES]
    if not measures:
        return None, "none", "no number"
    fitting = [(measure, fit) for measure in measures if (fit := _fit(measure, unit))]
    if not fitting:
        stated = next((measure for measure in measures if measure.unit), None)
        if stated:
            return None, "none", f"{stated.unit} is not a unit that converts to {unit}"
        return _without_unit(text, measures, unit)
    measure, fit = _best(fitting)
    if fit.value != measure.value:
        fit = structs.replace(fit, value=as_precise_as(fit.value, text[measure.start : measure.end]))
    clean = _is_alone(text, measure)
    others = [other.value for _, other in fitting if not _close(other.value, fit.value)]
    note = _measure_doubt(text, measure, fit)
    if not note and others:
        note = f"several quantities: {fit.value}, {others[0]} {unit}"
        if not _leads(text, measure.start):
            return fit.value, "low", note
    if not note and not clean:
        note = "taken out of a longer text"
    return fit.value, "medium" if note else "high", note


def _fit(measure: Measure, unit: str) -> Measure | None:
    return in_unit(measure, unit) if measure.unit else None


def _best(fitting: list[tuple[Measure, Measure]]) -> tuple[Measure, Measure]:
    """The first, unless the text repeats it in the very unit: of "3 ft 11 in (119 cm)" the centimetres."""
    first = fitting[0]
    for measure, fit in fitting[1:]:
        if measure.value == fit.value and first[0].value != first[1].value and _close(fit.value, first[1].value):
            return measure, fit
    return first


def _close(left: int | float, right: int | float) -> bool:
    return abs(left - right) <= 0.03 * max(abs(left), abs(right))


def _measure_doubt(text: str, measure: Measure, fit: Measure) -> str:
    if fit.sizes:
        return f"{text[measure.start : measure.end]} has several dimensions"
    if fit.high is not None:
        return f"a range, {fit.value} to {fit.high}; its lower end is kept"
    if measure.note:
        return measure.note
    return "approximate" if measure.approximate else ""


def _without_unit(text: str, measures: tuple[Measure, ...], unit: str) -> NumberVerdict:
    first = measures[0]
    note = first.note or f"no unit in the text; taken as {unit}"
    several = any(other.value != first.value for other in measures[1:])
    plain = _is_alone(text, first) or first.approximate
    return first.value, "medium" if plain and not several and not first.glued else "low", note


def _is_alone(text: str, measure: Measure) -> bool:
    return (text[: measure.start].strip() + text[measure.end :].strip()) in ("", ".")


# ── a unit that counts by thousands or millions: "million", "USD million" ────────────────────────────────────────────


def _split_scale(unit: str) -> tuple[int, str]:
    words = unit.split()
    scales = [SCALES[word.casefold().rstrip(".")] for word in words if word.casefold().rstrip(".") in SCALES]
    rest = " ".join(word for word in words if word.casefold().rstrip(".") not in SCALES)
    return (scales[0], rest) if len(scales) == 1 else (1, unit)


def _scaled_number(text: str, scale: int, currency: str) -> NumberVerdict:
    """12 for "12 million" in a field that counts millions; a bare number is taken as it is."""
    value, label, note = read_number_value(text, currency)
    number = next(iter(read_numbers(text)), None)
    if value is None or number is None:
        return value, label, note
    if number.scale == 1:
        return value, "low" if label == "low" else "medium", f"no unit in the text; taken in {scale:,}s"
    share = value / scale if value % scale else value // scale
    return times(share, 1), label, note


# ── money ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_FREE = frozenset({"free", "free of charge", "gratis", "kostenlos", "gratuit", "no charge", "no cost", "free!"})


def read_money_value(source: str | Money, unit: str = "") -> MoneyVerdict:
    """The amount for a field whose unit is a currency, or none."""
    wanted = currency_of(unit)
    if isinstance(source, Money):
        return _in_currency(source, wanted, "", "high")
    if source.strip().rstrip(".").casefold() in _FREE:
        return Money(amount=0, currency=wanted), "medium", "free read as 0"
    amounts = read_amounts(source, wanted)
    if not amounts:
        return None, "none", "no amount"
    marked = [amount for amount in amounts if amount.money.currency]
    chosen = marked[0] if marked else amounts[0]
    rivals = [rival for rival in (marked or amounts) if rival.money != chosen.money]
    note = _money_doubt(chosen)
    label: Label = "medium" if note else "high"
    if not note and rivals:
        note = f"several amounts: {chosen.money}, {rivals[0].money}"
        label = "medium" if _leads(source, chosen.start) else "low"
    if not note and not chosen.clean:
        note, label = "taken out of a longer text", "medium"
    return _in_currency(chosen.money, wanted, note, label)


def _money_doubt(amount: MoneyText) -> str:
    if amount.high is not None:
        return f"a range, {amount.money.amount} to {amount.high}; its lower end is kept"
    return amount.note or ("approximate" if amount.approximate else "")


def _in_currency(money: Money, wanted: str, note: str, label: Label) -> MoneyVerdict:
    if not money.currency:
        if wanted:
            return Money(amount=money.amount, currency=wanted), label, note
        return money, "low" if label == "low" else "medium", note or "no currency in the text"
    if wanted and money.currency != wanted:
        return money, "low", f"{money.currency}, not {wanted}; nothing was converted"
    return money, label, note
