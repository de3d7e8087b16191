"""Choose the value of a number or money field among the numbers, measures and amounts of a text, with a confidence.

`coerce` calls it; the grammars are in `numbers`, `measures` and `money`.
"""

from __future__ import annotations

import re

from msgspec import structs

from tablewright.domain.model import Label, Money
from tablewright.domain.text import format_float
from tablewright.values.answers import ReadValue
from tablewright.values.currencies import is_currency, parse_currency
from tablewright.values.measures import Measure, convert_measure, read_measures, round_like_source
from tablewright.values.money import MoneyText, read_amounts
from tablewright.values.numbers import SCALE_WORDS, Number, multiply_exactly, read_numbers
from tablewright.values.same_value import same_value
from tablewright.values.units import parse_unit


def read_number_value(text: str, unit: str = "") -> ReadValue[int | float]:
    """Return the number for a field of this unit."""
    if not unit:
        return _read_unitless_number(text)
    scale, rest = _split_unit_scale(unit)
    if scale > 1 and (not rest or is_currency(rest)):
        return _read_scaled_number(text, scale, rest)
    if is_currency(unit) and parse_unit(unit) is None:
        read = read_money_value(text, unit)
        money = read.value
        if money and money.currency not in ("", parse_currency(unit)):
            return ReadValue(None, "none", f"{money.currency} is not {unit}")
        return ReadValue(money.amount if money else None, *read[1:])
    return _read_measured_number(text, unit)


def _read_unitless_number(text: str) -> ReadValue[int | float]:
    for measure in read_measures(text) if ":" in text else ():
        # 2:21 min is one number, not two.
        if ":" in (written := text[measure.start : measure.end]):
            value = float(f"{measure.value:.6g}")
            reason = f"{written} read as {format_float(value)} {measure.unit}"
            return ReadValue(value, "medium", reason, (), measure.start, measure.end)
    numbers = read_numbers(text)
    if not numbers:
        return ReadValue(None, "none", "no number")
    first = numbers[0]
    place = first.start, first.end
    percent = (text[first.start : first.end].lstrip("-+0123456789.,' "),) if first.percent else ()
    other = next((number.value for number in numbers if number.value != first.value), None)
    several = "" if other is None else f"several numbers: {first.value}, {other}"
    if first.glued or (several and not _opens_text(text, first.start)):
        with_letters = text[first.start : first.end + 12].split(maxsplit=1)[0]
        reason = several or f"{with_letters} may be part of a name"
        if first.high is not None:
            reason = f"{_range_reason(text, first)}; {reason}"
        return ReadValue(first.value, "low", reason, percent, *place)
    reason = _describe_doubt(text, first) or several
    if not reason and first.percent:
        reason = "percent"
    if not reason and not first.clean:
        reason = "taken out of a longer text"
    return ReadValue(first.value, "medium" if reason else "high", reason, percent, *place)


def _describe_doubt(text: str, found: Number | Measure | MoneyText) -> str:
    if found.high is not None:
        return _range_reason(text, found)
    return found.note or ("approximate" if found.approximate else "")


def _range_reason(text: str, found: Number | Measure | MoneyText) -> str:
    return f"{text[found.start : found.end].strip()} is a range; its lower end is kept"


def _opens_text(text: str, start: int) -> bool:
    """Return True if the text begins with the number: "5,000 employees in 30 countries", not "In 2019 it had 5,000"."""
    before = text[:start]
    return (
        len(before) <= 24
        and not re.search(
            r"\b(?:not|isn't|wasn't|nor|except|instead of|rather than)\b|\b(?:in|since|by|during|on)\s*$",
            before,
            re.IGNORECASE,
        )
        and len(before.split()) <= 2
    )


# ── with a unit ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _read_measured_number(text: str, unit: str) -> ReadValue[int | float]:
    # More measures are a data sheet, not an answer.
    measures = read_measures(text, unit)[:12]
    if not measures:
        return ReadValue(None, "none", "no number")
    fitting = [(each, fit) for each in measures if each.unit and (fit := convert_measure(each, unit))]
    if not fitting:
        stated = next((measure for measure in measures if measure.unit), None)
        if stated:
            return ReadValue(None, "none", f"{stated.unit} is not a unit that converts to {unit}")
        return _read_assumed_unit(text, measures, unit)
    measure, fit = _choose_fitting(fitting)
    place = measure.start, measure.end
    if fit.value != measure.value:
        fit = structs.replace(fit, value=round_like_source(fit.value, text[measure.start : measure.end]))
    clean = _is_alone_in_text(text, measure)
    others = [other.value for _, other in fitting if not same_value(other.value, fit.value, "restating")]
    reason = _measure_doubt(text, measure)
    if not reason and others:
        reason = f"several quantities: {fit.value}, {others[0]} {unit}"
        if not _opens_text(text, measure.start):
            return ReadValue(fit.value, "low", reason, (), *place)
    if not reason and not clean:
        reason = "taken out of a longer text"
    return ReadValue(fit.value, "medium" if reason else "high", reason, (), *place)


def _choose_fitting(fitting: list[tuple[Measure, Measure]]) -> tuple[Measure, Measure]:
    """Return the first, unless the text repeats it in the wanted unit: the centimetres of "3 ft 11 in (119 cm)"."""
    first = fitting[0]
    for measure, fit in fitting[1:]:
        if (
            measure.value == fit.value
            and first[0].value != first[1].value
            and same_value(fit.value, first[1].value, "restating")
        ):
            return measure, fit
    return first


def _measure_doubt(text: str, measure: Measure) -> str:
    if measure.sizes:
        return f"{text[measure.start : measure.end]} has several dimensions"
    return _describe_doubt(text, measure)


def _read_assumed_unit(text: str, measures: tuple[Measure, ...], unit: str) -> ReadValue[int | float]:
    first = measures[0]
    several = any(other.value != first.value for other in measures[1:])
    plain = _is_alone_in_text(text, first) or first.approximate
    label: Label = "medium" if plain and not several and not first.glued else "low"
    is_range = first.high is not None or len(first.sizes) > 1
    reason = _measure_doubt(text, first) if is_range else first.note or f"no unit in the text; taken as {unit}"
    return ReadValue(first.value, label, reason, (), first.start, first.end)


def _is_alone_in_text(text: str, measure: Measure) -> bool:
    return (text[: measure.start].strip() + text[measure.end :].strip()) in ("", ".")


# ── a unit that counts by thousands or millions: "million", "USD million" ────────────────────────────────────────────


def _split_unit_scale(unit: str) -> tuple[int, str]:
    words = unit.split()
    scales = [SCALE_WORDS[word.casefold().rstrip(".")] for word in words if word.casefold().rstrip(".") in SCALE_WORDS]
    rest = " ".join(word for word in words if word.casefold().rstrip(".") not in SCALE_WORDS)
    return (scales[0], rest) if len(scales) == 1 else (1, unit)


def _read_scaled_number(text: str, scale: int, currency: str) -> ReadValue[int | float]:
    """Return 12 for "12 million" in a field that counts millions; a bare number is kept."""
    read = read_number_value(text, currency)
    number = next(iter(read_numbers(text)), None)
    if read.value is None or number is None:
        return read
    if number.scale == 1:
        reason = "; ".join(filter(None, (f"no unit in the text; taken in {scale:,}s", read.reason)))
        return read._replace(label="low" if read.label == "low" else "medium", reason=reason)
    share = read.value / scale if read.value % scale else read.value // scale
    return read._replace(value=multiply_exactly(share, 1))


# ── money ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def read_money_value(source: str | Money, unit: str = "") -> ReadValue[Money]:
    """Return the amount for a field whose unit is a currency, or none."""
    wanted = parse_currency(unit)
    if isinstance(source, Money):
        return _check_currency(ReadValue(source, "high"), source, wanted)
    bare = source.strip().rstrip(".!").casefold()
    if bare in ("free", "free of charge", "gratis", "kostenlos", "gratuit", "no charge", "no cost"):
        return ReadValue(Money(amount=0, currency=wanted), "medium", "free read as 0", (), 0, len(source))
    amounts = read_amounts(source, wanted)
    if not amounts:
        return ReadValue(None, "none", "no amount")
    marked = [amount for amount in amounts if amount.money.currency]
    chosen = marked[0] if marked else amounts[0]
    rivals = [rival for rival in (marked or amounts) if rival.money != chosen.money]
    reason = _describe_doubt(source, chosen)
    label: Label = "medium" if reason else "high"
    if not reason and rivals:
        reason = f"several amounts: {chosen.money}, {rivals[0].money}"
        label = "medium" if _opens_text(source, chosen.start) else "low"
    if not reason and not chosen.clean:
        reason, label = "taken out of a longer text", "medium"
    return _check_currency(ReadValue(chosen.money, label, reason, (), chosen.start, chosen.end), chosen.money, wanted)


def _check_currency(read: ReadValue[Money], money: Money, wanted: str) -> ReadValue[Money]:
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
