"""Prove the figures of a sentence: each is stated in a text that it cites, as written, as a date in another form or a
quantity in another unit, or is counted, or computed from such figures by a calculation that code repeats.

Words and names are the model's business.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

from tablewright.citations.quotes import Unproved
from tablewright.domain.text import format_float
from tablewright.formulas.formula import Formula, tokenize_formula
from tablewright.formulas.functions import Unevaluable
from tablewright.values.currencies import parse_currency
from tablewright.values.dates import ISO_DAY, find_possible_dates, read_dates
from tablewright.values.measures import (
    Measure,
    convert_measure,
    read_measures,
    read_worded_measures,
    write_quantities_in_digits,
)
from tablewright.values.numbers import FOREIGN_NUMBER_WORDS, read_numbers
from tablewright.values.same_value import same_value
from tablewright.values.units import parse_unit

_FIGURE = re.compile(r"\d+(?:[.,'’]\d+)*")
# 1 052,60
_SPACED = re.compile(r"(?<![\d.,])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?(?![\d])")
# Digits with what may stand between them.
_RUN = re.compile(r"\d(?:[\d\s.,'’()/-]*\d)?")
_WORD = re.compile(r"[^\W\d_]+")
# Characters that are read for numbers at a time.
PIECE_CHARACTERS = 1_500
# Of "+ 3 * 12 months" only the period must be written: how often it was renewed, the calendar tells.
_STEP = re.compile(r"([+-])\s*(?:(\d+)\s*\*\s*)?(\d+)\s*(day|week|month|year)s?", re.IGNORECASE)
_DAY_AND_STEPS = re.compile(rf"\s*({ISO_DAY.pattern})((?:\s*{_STEP.pattern})+)\s*", re.IGNORECASE)


def prove_figures(
    statement: str,
    texts: Sequence[str],
    calculations: Iterable[str] | None = None,
    *,
    where: str,
    counts: Sequence[int] = (),
    round_numbers: bool = False,
) -> tuple[str, ...]:
    """Return the calculations that can be used. Raises Unproved for a figure of the statement that neither the texts
    nor the counts nor a calculation have; `where` is what the prompt calls the texts."""
    numbers = [float(count) for count in counts]
    days: list[str] = []
    usable: list[str] = []
    problem = ""
    for calculation in (" ".join(each.split()) for each in calculations or () if each.strip()):
        try:
            result = repeat_calculation(calculation, [*texts, *days], numbers)
        except Unproved as fault:
            problem = problem or str(fault)
            continue
        usable.append(calculation)
        if isinstance(result, str):
            days.append(result)
        else:
            numbers.append(result)
    missing = find_unproved_figures(statement, [*texts, *days], numbers, round_numbers=round_numbers)
    if missing and problem:
        raise Unproved(problem)
    if missing:
        results = [*days, *(f"{number:,.6g}" for number in numbers[len(counts) :])]
        gives = f" (which gives {'; '.join(results)})" if results else ""
        figures, are, follow = ("figures", "are", "follow") if missing[1:] else ("figure", "is", "follows")
        computed = "" if calculations is None else f" and {follow} from no calculation{gives}"
        raise Unproved(f"the {figures} {', '.join(missing)} {are} not in {where}{computed}.")
    return tuple(usable)


def find_unproved_figures(
    statement: str, texts: Sequence[str], results: Sequence[float] = (), *, round_numbers: bool = False
) -> list[str]:
    """Return the figures of the statement, as written, that neither the texts nor the results of calculations have.
    `round_numbers`: a result may be given as a round number, for a reader who is shown the calculation."""
    held = read_all_figures(texts)

    def is_proved(written: str) -> bool:
        return any(
            value in held.numbers or is_rounded_result(written, value, results, round_numbers)
            for value in read_possible_numbers(written)
        )

    # "a bit" and "a touch" are no quantities, so an article alone makes none here.
    statement = write_quantities_in_digits(statement, articles=False)
    rest = re.sub(r"^[^\S\n]*+\d{1,2}[.)]\s", " ", statement, flags=re.MULTILINE)
    other_days = find_other_days(rest, held.days, texts)
    for day in other_days:
        rest = rest.replace(day, " … ")
    rest = remove_converted_quantities(remove_known_times(remove_known_dates(rest, held), held), held)
    rest = _RUN.sub(lambda match: " " if long_digit_run(match[0]) in held.runs else match[0], rest)
    rest = _SPACED.sub(lambda match: " " if is_proved(match[0]) else match[0], rest)
    for number in reversed(read_numbers(rest)):
        values = [value for value in (number.value, number.high) if value is not None]
        known = all(any(same_value(value, other, "proving") for other in held.numbers) for value in values)
        if known or is_scaled_result(rest[number.start : number.end], number.value, results):
            rest = f"{rest[: number.start]} {rest[number.end :]}"
    figures = [
        each for each in _FIGURE.finditer(rest) if not (is_proved(each[0]) or is_part_of_name(rest, *each.span()))
    ]
    return other_days + [each[0] for each in figures]


def is_part_of_name(text: str, start: int, end: int) -> bool:
    """Return True if the digits are part of a name, such as COVID-19 or B2B, and not of an amount such as EUR500 or
    5kg."""
    before = re.search(r"(?<![^\W\d_])[^\W\d_]++-?$", text[:start])
    after = re.match(r"[^\W\d_]+", text[end:])
    if before:
        return not parse_currency(before[0].strip("-"))
    return after is not None and not (
        after[0] in ("st", "nd", "rd", "th") or parse_unit(after[0]) or parse_currency(after[0])
    )


class TextFigures(NamedTuple):
    """The figures of a text: each number as it can be read, the days in all readings, times of day, quantities, and
    long runs of digits."""

    numbers: frozenset[float]
    days: frozenset[str]
    times: frozenset[tuple[int, int]]
    quantities: tuple[Measure, ...]
    runs: frozenset[str]


def read_all_figures(texts: Iterable[str]) -> TextFigures:
    read = list(map(read_figures, texts))
    return TextFigures(
        numbers=frozenset().union(*(each.numbers for each in read)),
        days=frozenset().union(*(each.days for each in read)),
        times=frozenset().union(*(each.times for each in read)),
        quantities=tuple(quantity for each in read for quantity in each.quantities),
        runs=frozenset().union(*(each.runs for each in read)),
    )


@lru_cache(maxsize=32)  # all sentences of an answer are proved by the same texts
def read_figures(text: str) -> TextFigures:
    pieces = list(split_overlapping_pieces(text))
    written = [match[0] for pattern in (_FIGURE, _SPACED) for match in pattern.finditer(text)]
    numbers = {value for each in written for value in read_possible_numbers(each)}
    numbers |= {
        float(value)
        for piece in pieces
        for number in read_numbers(piece)
        for value in (number.value, number.high)
        if value is not None
    }
    # "four": what words alone make
    numbers |= {
        float(number.value) for between in _FIGURE.split(text) for number in read_numbers(between[:PIECE_CHARACTERS])
    }
    words = _WORD.findall(text.casefold())
    return TextFigures(
        numbers=frozenset(numbers).union(
            float(FOREIGN_NUMBER_WORDS[word]) for word in words if word in FOREIGN_NUMBER_WORDS
        ),
        days=frozenset(iso for piece in pieces for iso in find_possible_dates(piece)),
        times=frozenset(time for time, *_ in find_clock_times(text)),
        quantities=tuple(quantity for piece in pieces for quantity in read_worded_measures(piece)),
        runs=frozenset(digits for run in _RUN.findall(text) if (digits := long_digit_run(run))),
    )


def split_overlapping_pieces(text: str) -> Iterator[str]:
    """Yield pieces of the length that is read at a time, cut at white space, so that no figure is cut."""
    start = 0
    while len(text) - start > PIECE_CHARACTERS:
        end = find_last_space(text, start + PIECE_CHARACTERS // 2, start + PIECE_CHARACTERS)
        yield text[start:end]
        # They overlap by the length of the longest date or quantity, so that none is missed at a border.
        start = find_last_space(text, end - 100, end - 50)
    yield text[start:]


def find_last_space(text: str, start: int, end: int) -> int:
    found = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
    return found if found >= 0 else end


def long_digit_run(run: str) -> str:
    """Return the digits of a telephone number, an account or the like, in any grouping; "" if short enough for an
    amount."""
    digits = re.sub(r"\D", "", run)
    # Fewer may be an amount, which is compared by its value.
    return digits if len(digits) >= 7 else ""


def read_possible_numbers(written: str) -> set[float]:
    """Return what a figure can mean: "1,577" is a thousand or a decimal, "1,577.20" and "2.4.1" only one thing."""
    plain = re.sub(r"['’ \u00a0\u202f]", "", written)
    marks = [mark for mark in plain if mark in ".,"]
    if not marks:
        return {float(plain)}
    if len(set(marks)) == 2:
        decimal = marks[-1]
        other = "," if decimal == "." else "."
        plain = plain.replace(other, "").replace(decimal, ".")
        return {float(plain)} if plain.count(".") == 1 else set()
    if len(marks) > 1:
        return {float(plain.replace(marks[0], ""))}
    whole, _, part = plain.partition(marks[0])
    return {float(f"{whole}.{part}"), *([float(whole + part)] if len(part) == 3 and whole.strip("0") else [])}


def remove_known_dates(statement: str, held: TextFigures) -> str:
    """Remove dates that the texts have in any form ("3 May 2021" is "2021-05-03"): their parts need no proof."""
    for each in reversed(read_dates(statement)):
        if any(other.startswith(each.iso) for other in held.days):
            statement = f"{statement[: each.start]} {statement[each.end :]}"
    return statement


def find_other_days(statement: str, days: Collection[str], texts: Sequence[str]) -> list[str]:
    """Return the days of the statement that only have the figures of others: "4 April 2026" where a text says "4 March
    2026" and speaks of no April, "4 March 2027" where it speaks of 2027 but of no such March."""
    months, whole = {iso[:7] for iso in days}, [iso for iso in days if iso[8:]]
    year_and_day, month_and_day = {(iso[:4], iso[8:]) for iso in whole}, {iso[5:] for iso in whole}
    found = []
    for each in read_dates(statement):
        written = statement[each.start : each.end]
        readings = find_possible_dates(written)
        if not readings or any(iso[:7] in months for iso in readings):
            continue
        # The month, or its beginning.
        names = [word[:3] for word in _WORD.findall(written.casefold()) if len(word) > 2]
        is_month_named = any(name in text.casefold() for name in names for text in texts)
        is_other_month = not is_month_named and all((iso[:4], iso[8:]) in year_and_day for iso in readings)
        if is_other_month or all(iso[5:] in month_and_day for iso in readings):
            found.append(written)
    return found


def remove_known_times(statement: str, held: TextFigures) -> str:
    """Remove times that the texts have in any form. For a full hour ("22:00", "10 p.m.") a text needs only the hour."""
    for time, start, end in reversed(find_clock_times(statement)):
        hour, minute = time
        if time in held.times or (minute == 0 and float(hour) in held.numbers):
            statement = f"{statement[:start]} {statement[end:]}"
    return statement


def find_clock_times(text: str) -> list[tuple[tuple[int, int], int, int]]:
    """Return hours and minutes with their places."""
    found = []
    # 10 p.m., 10:30 pm, 22:30, 22h30
    for match in re.finditer(
        r"(?<![\d.,:])(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?\s?(?P<half>[ap])\.?m\b"
        r"|(?<![\d.,:])(?P<of_day>\d{1,2})[:h](?P<past>\d\d)(?![\d:])",
        text,
        re.IGNORECASE,
    ):
        hour, minute = int(match["hour"] or match["of_day"]), int(match["minute"] or match["past"] or 0)
        if match["half"]:
            hour = hour % 12 + (12 if match["half"].lower() == "p" else 0)
        if hour <= 24 and minute < 60:
            found.append(((hour, minute), *match.span()))
    return found


def remove_converted_quantities(statement: str, held: TextFigures) -> str:
    """Remove quantities that the texts have in another unit: "2 lb 9 oz is 1,162 g"."""
    for measure in reversed(read_measures(statement)):
        if measure.unit and find_quantity(measure.value, measure.unit, held.quantities):
            statement = f"{statement[: measure.start]} … {statement[measure.end :]}"
    return statement


def find_quantity(value: int | float, unit: str, measures: Iterable[Measure]) -> Measure | None:
    """Return the first of the measures that is the value in this unit, whatever unit it is written in."""
    for measure in measures:
        fit = convert_measure(measure, unit) if measure.unit else None
        if fit is not None and any(same_value(size, value, "converting") for size in list_sizes(fit)):
            return measure
    return None


def list_sizes(measure: Measure) -> list[int | float]:
    return [measure.value, *measure.sizes, *([measure.high] if measure.high is not None else [])]


def is_rounded_result(written: str, value: float, results: Sequence[float], round_numbers: bool = False) -> bool:
    """Return True if a result is this figure at the digits that are written; of a round number, at its first three."""
    # 12.50 and 12.00, but not 1,577.
    is_decimal = value < int(re.sub(r"\D", "", written))
    decimals = len(re.split(r"[.,]", written)[-1]) if is_decimal else 0
    if round_numbers and not decimals:
        digits = f"{value:.0f}"
        # Three digits are not zeros for want of precision: 146,000 for 146,207, but not 100,000.
        decimals = min(0, max(len(digits.rstrip("0")), 3) - len(digits))
    return any(same_value(abs(result), value, "rounding", decimals=decimals) for result in results)


def is_scaled_result(written: str, value: float, results: Sequence[float]) -> bool:
    """Return True if a result is "1.46 million" at the digits that are written."""
    figure = _FIGURE.search(written)
    if figure is None or not _WORD.search(written):
        return False
    scales = [value / each for each in read_possible_numbers(figure[0]) if each]
    return any(is_rounded_result(figure[0], value / scale, [result / scale for result in results]) for scale in scales)


# ── calculations ─────────────────────────────────────────────────────────────────────────────────────────────────────


def repeat_calculation(calculation: str, texts: Sequence[str], known: Iterable[float] = ()) -> float | str:
    """Return the number, or the day, that "(1577 - 1200) / 1200 * 100" or "2026-03-04 + 30 days" gives. Raises Unproved
    unless the texts have its figures and dates; `known` are results of other calculations."""
    figures = read_all_figures(texts)
    # What a calculation may use without a source: parts of a whole, of a year, of a day, percent, thousands.
    free = {1.0, 2.0, 4.0, 7.0, 12.0, 24.0, 52.0, 60.0, 100.0, 365.0, 1_000.0, 1_000_000.0}
    held = {*free, *known, *figures.numbers}
    # Larger: calculations that no reader can follow; smaller: long sums are cut off.
    plain = re.sub(r"(?<=\d)[,_](?=\d{3}\b)", "", calculation[:400]).strip()
    steps = _DAY_AND_STEPS.fullmatch(plain)
    formula = Formula(ISO_DAY.sub(r"'\g<0>'", plain), ())
    numbers = [float(step[2]) for step in _STEP.findall(steps[2])] if steps else formula.numbers
    try:
        if not steps and not all(
            each.kind in ("number", "end") or each.text in ("+", "-", "*", "/", "(", ")")
            for each in tokenize_formula(plain)
        ):
            raise ValueError("only numbers, dates, + - * / and brackets are read.")
        strange = [day for day in ISO_DAY.findall(plain) if day not in figures.days]
        if strange := strange + [format_float(float(number)) for number in numbers if number not in held]:
            raise ValueError(f"{strange[0]} is not in the quoted texts.")
        result = add_date_steps(steps[1], steps[2]) if steps else formula.evaluate({})
    except (Unevaluable, ValueError, OverflowError) as problem:
        raise Unproved(f"the calculation {calculation!r} cannot be used: {problem}") from None
    assert isinstance(result, str | int | float)  # nothing else comes of numbers and days
    return result if isinstance(result, str) else float(result)


def add_date_steps(start: str, steps: str) -> str:
    """Return the day after "+ 5 years - 1 day". A month later is the same day of the next month, or its last day where
    it is shorter."""
    day = date.fromisoformat(start)
    for sign, times, number, unit in _STEP.findall(steps):
        count = int(f"{sign}{number}") * int(times or 1)
        if unit.lower() in ("day", "week"):
            day += timedelta(days=count * (7 if unit.lower() == "week" else 1))
        else:
            months = day.year * 12 + day.month - 1 + count * (12 if unit.lower() == "year" else 1)
            year, month = divmod(months, 12)
            day = date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
    return day.isoformat()
