"""What a number or money field takes from the numbers, measures and amounts that a text holds, and how sure that is."""

from __future__ import annotations

import re

from msgspec import structs

from tablewright.domain.model import Label, Money
from tablewright.domain.text import show_float
from tablewright.values.answers import ReadValue
from tablewright.values.currencies import currency_of, is_currency
from tablewright.values.measures import Measure, as_precise_as, in_unit, read_measures
from tablewright.values.money import MoneyText, read_amounts
from tablewright.values.numbers import SCALES, Number, read_numbers, times
from tablewright.values.same_value import same_value
from tablewright.values.units import parse_unit


def read_number_value(text: str, unit: str = "") -> ReadValue[int | float]:
    """Return the number for a field of this unit."""
    if not unit:
        return _bare_number(text)
    scale, rest = _split_scale(unit)
    if scale > 1 and (not rest or is_currency(rest)):
        return _scaled_number(text, scale, rest)
    if is_currency(unit) and parse_unit(unit) is None:
        read = read_money_value(text, unit)
        money = read.value
        if money and money.currency not in ("", currency_of(unit)):
            return ReadValue(None, "none", f"{money.currency} is not {unit}")
        return ReadValue(money.amount if money else None, *read[1:])
    return _measured(text, unit)


def _bare_number(text: str) -> ReadValue[int | float]:
    for measure in read_measures(text) if ":" in text else ():
        if ":" in (written := text[measure.start : measure.end]):  # 2:21 min is one number, not two
            value = float(f"{measure.value:.6g}")
            reason = f"{written} read as {show_float(value)} {measure.unit}"
            return ReadValue(value, "medium", reason, (), measure.start, measure.end)
    numbers = read_numbers(text)
    if not numbers:
        return ReadValue(None, "none", "no number")
    first = numbers[0]
    place = first.start, first.end
    percent = (text[first.start : first.end].lstrip("-+0123456789.,' "),) if first.percent else ()
    several = _several(first, numbers[1:])
    if first.glued or (several and not _leads(text, first.start)):
        reason = several or f"{_quoted(text, first)} may be part of a name"
        if first.high is not None:
            reason = f"{_range_reason(text, first)}; {reason}"
        return ReadValue(first.value, "low", reason, percent, *place)
    reason = _doubt(text, first) or several
    if not reason and first.percent:
        reason = "percent"
    if not reason and not first.clean:
        reason = "taken out of a longer text"
    return ReadValue(first.value, "medium" if reason else "high", reason, percent, *place)


def _doubt(text: str, number: Number) -> str:
    if number.high is not None:
        return _range_reason(text, number)
    if number.note:
        return number.note
    return "approximate" if number.approximate else ""


def _range_reason(text: str, found: Number | Measure | MoneyText) -> str:
    return f"{text[found.start : found.end].strip()} is a range; its lower end is kept"


def _several(first: Number, others: tuple[Number, ...]) -> str:
    different = [other.value for other in others if other.value != first.value]
    return f"several numbers: {first.value}, {different[0]}" if different else ""


_ASIDE = re.compile(
    r"\b(?:not|isn't|wasn't|nor|except|instead of|rather than)\b|\b(?:in|since|by|during|on)\s*$", re.IGNORECASE
)


def _leads(text: str, start: int) -> bool:
    """Return True if the text begins with the number: "5,000 employees in 30 countries", not "In 2019 it had 5,000"."""
    before = text[:start]
    return len(before) <= 24 and not _ASIDE.search(before) and len(before.split()) <= 2


def _quoted(text: str, number: Number) -> str:
    """The number with the letters that hang on it."""
    return text[number.start : number.end + 12].split(maxsplit=1)[0]


# ── with a unit ──────────────────────────────────────────────────────────────────────────────────────────────────────


_MOST_MEASURES = 12


def _measured(text: str, unit: str) -> ReadValue[int | float]:
    measures = read_measures(text, unit)[:_MOST_MEASURES]
    if not measures:
        return ReadValue(None, "none", "no number")
    fitting = [(measure, fit) for measure in measures if (fit := _fit(measure, unit))]
    if not fitting:
        stated = next((measure for measure in measures if measure.unit), None)
        if stated:
            return ReadValue(None, "none", f"{stated.unit} is not a unit that converts to {unit}")
        return _without_unit(text, measures, unit)
    measure, fit = _best(fitting)
    place = measure.start, measure.end
    if fit.value != measure.value:
        fit = structs.replace(fit, value=as_precise_as(fit.value, text[measure.start : measure.end]))
    clean = _is_alone(text, measure)
    others = [other.value for _, other in fitting if not same_value(other.value, fit.value, "restating")]
    reason = _measure_doubt(text, measure, fit)
    if not reason and others:
        reason = f"several quantities: {fit.value}, {others[0]} {unit}"
        if not _leads(text, measure.start):
            return ReadValue(fit.value, "low", reason, (), *place)
    if not reason and not clean:
        reason = "taken out of a longer text"
    return ReadValue(fit.value, "medium" if reason else "high", reason, (), *place)


def _fit(measure: Measure, unit: str) -> Measure | None:
    return in_unit(measure, unit) if measure.unit else None


def _best(fitting: list[tuple[Measure, Measure]]) -> tuple[Measure, Measure]:
    """The first, unless the text repeats it in the very unit: of "3 ft 11 in (119 cm)" the centimetres."""
    first = fitting[0]
    for measure, fit in fitting[1:]:
        if (
            measure.value == fit.value
            and first[0].value != first[1].value
            and same_value(fit.value, first[1].value, "restating")
        ):
            return measure, fit
    return first


def _measure_doubt(text: str, measure: Measure, fit: Measure) -> str:
    if fit.sizes:
        return f"{text[measure.start : measure.end]} has several dimensions"
    if fit.high is not None:
        return _range_reason(text, measure)
    if measure.note:
        return measure.note
    return "approximate" if measure.approximate else ""


def _without_unit(text: str, measures: tuple[Measure, ...], unit: str) -> ReadValue[int | float]:
    first = measures[0]
    several = any(other.value != first.value for other in measures[1:])
    plain = _is_alone(text, first) or first.approximate
    label: Label = "medium" if plain and not several and not first.glued else "low"
    is_range = first.high is not None or len(first.sizes) > 1
    reason = _measure_doubt(text, first, first) if is_range else first.note or f"no unit in the text; taken as {unit}"
    return ReadValue(first.value, label, reason, (), first.start, first.end)


def _is_alone(text: str, measure: Measure) -> bool:
    return (text[: measure.start].strip() + text[measure.end :].strip()) in ("", ".")


# ── a unit that counts by thousands or millions: "million", "USD million" ────────────────────────────────────────────


def _split_scale(unit: str) -> tuple[int, str]:
    words = unit.split()
    scales = [SCALES[word.casefold().rstrip(".")] for word in words if word.casefold().rstrip(".") in SCALES]
    rest = " ".join(word for word in words if word.casefold().rstrip(".") not in SCALES)
    return (scales[0], rest) if len(scales) == 1 else (1, unit)


def _scaled_number(text: str, scale: int, currency: str) -> ReadValue[int | float]:
    """12 for "12 million" in a field that counts millions; a bare number is taken as it is."""
    read = read_number_value(text, currency)
    number = next(iter(read_numbers(text)), None)
    if read.value is None or number is None:
        return read
    if number.scale == 1:
        reason = "; ".join(filter(None, (f"no unit in the text; taken in {scale:,}s", read.reason)))
        return read._replace(label="low" if read.label == "low" else "medium", reason=reason)
    share = read.value / scale if read.value % scale else read.value // scale
    return read._replace(value=times(share, 1))


# ── money ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_FREE = frozenset({"free", "free of charge", "gratis", "kostenlos", "gratuit", "no charge", "no cost", "free!"})


def read_money_value(source: str | Money, unit: str = "") -> ReadValue[Money]:
    """Return the amount for a field whose unit is a currency, or none."""
    wanted = currency_of(unit)
    if isinstance(source, Money):
        return _in_currency(ReadValue(source, "high"), source, wanted)
    if source.strip().rstrip(".").casefold() in _FREE:
        return ReadValue(Money(amount=0, currency=wanted), "medium", "free read as 0", (), 0, len(source))
    amounts = read_amounts(source, wanted)
    if not amounts:
        return ReadValue(None, "none", "no amount")
    marked = [amount for amount in amounts if amount.money.currency]
    chosen = marked[0] if marked else amounts[0]
    rivals = [rival for rival in (marked or amounts) if rival.money != chosen.money]
    reason = _money_doubt(source, chosen)
    label: Label = "medium" if reason else "high"
    if not reason and rivals:
        reason = f"several amounts: {chosen.money}, {rivals[0].money}"
        label = "medium" if _leads(source, chosen.start) else "low"
    if not reason and not chosen.clean:
        reason, label = "taken out of a longer text", "medium"
    return _in_currency(ReadValue(chosen.money, label, reason, (), chosen.start, chosen.end), chosen.money, wanted)


def _money_doubt(text: str, amount: MoneyText) -> str:
    if amount.high is not None:
        return _range_reason(text, amount)
    return amount.note or ("approximate" if amount.approximate else "")


def _in_currency(read: ReadValue[Money], money: Money, wanted: str) -> ReadValue[Money]:
    if not money.currency:
        if wanted:
            return read._replace(value=Money(amount=money.amount, currency=wanted))
        return read._replace(
            label="low" if read.label == "low" else "medium", reason=read.reason or "no currency in the text"
        )
    if wanted and money.currency != wanted:
        reason = "; ".join(filter(None, (f"{money.currency}, not {wanted}; nothing was converted", read.reason)))
        return read._replace(label="low", reason=reason)
    return read
