"""Dates that follow from dates: "2026-03-04 + 30 days" is worked out by code from a date and a period of the texts."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from datetime import date, timedelta

from tablewright.decisions.figures import CONSTANTS, LONGEST, values_in, work_out
from tablewright.values.dates import find_possible_dates

_ISO = r"\d{4}-\d{2}-\d{2}"
_STEP = re.compile(r"([+-])\s*(?:(\d+)\s*\*\s*)?(\d+)\s*(day|week|month|year)s?", re.IGNORECASE)
"""Of "+ 3 * 12 months" only the period must be written: how often it was renewed, the calendar tells."""
_DATE_AND_STEPS = re.compile(rf"\s*({_ISO})((?:\s*{_STEP.pattern})+)\s*", re.IGNORECASE)
_DIFFERENCE = re.compile(rf"(?:\(\s*)?({_ISO})\s*-\s*({_ISO})(?:\s*\))?")


def work_out_all(calculations: Sequence[str], texts: Sequence[str]) -> tuple[list[float], list[str], str]:
    """The numbers and the dates that the calculations give, one after the other; or what is wrong with the first that
    cannot be used."""
    numbers: list[float] = []
    dates: list[str] = []
    for calculation in filter(str.strip, calculations):
        if _DATE_AND_STEPS.fullmatch(calculation):
            day, problem = work_out_date(calculation, [*texts, *dates], numbers)
            dates += [day]
        else:
            number, problem = work_out_number(calculation, [*texts, *dates], numbers)
            numbers += [number or 0.0]
        if problem:
            return [], [], problem
    return numbers, dates, ""


def work_out_date(calculation: str, texts: Sequence[str], known: Sequence[float] = ()) -> tuple[str, str]:
    """The day of "2026-03-04 + 30 days" where the texts have the date and the number; else what is wrong with it."""
    read = _DATE_AND_STEPS.fullmatch(calculation[:LONGEST])
    if read is None:
        return "", f"the calculation {calculation!r} is not like '2026-03-04 + 30 days'."
    if read[1] not in days_in(texts):
        return "", f"the calculation {calculation!r} cannot be used: {read[1]} does not stand in the quoted texts."
    held = {*CONSTANTS, *known, *(value for text in texts for value in values_in(text))}
    try:
        day = date.fromisoformat(read[1])
        for sign, times, number, unit in _STEP.findall(read[2]):
            if float(number) not in held:
                raise ValueError(f"{number} does not stand in the quoted texts.")
            day = moved(day, int(f"{sign}{number}") * int(times or 1), unit.lower())
    except (ValueError, OverflowError) as problem:
        return "", f"the calculation {calculation!r} cannot be used: {problem}"
    return day.isoformat(), ""


def work_out_number(calculation: str, texts: Sequence[str], known: Sequence[float] = ()) -> tuple[float | None, str]:
    """As `figures.work_out`; the difference of two dates of the texts is a number of days."""
    held = days_in(texts)
    found: list[float] = []

    def as_days(match: re.Match[str]) -> str:
        if not {match[1], match[2]} <= held:
            return match[0]
        days = (date.fromisoformat(match[1]) - date.fromisoformat(match[2])).days
        found.append(float(abs(days)))
        return f"({days})"

    plain = _DIFFERENCE.sub(as_days, calculation[:LONGEST])
    return work_out(plain, texts, [*known, *found])


def days_in(texts: Sequence[str]) -> set[str]:
    """Return all days that the texts name, in both readings where there are two."""
    return {day for text in texts for day in find_possible_dates(text) if len(day) == len("2026-03-04")}


def moved(day: date, count: int, unit: str) -> date:
    """A month later is the same day of the next month, or its last day where it is shorter."""
    if unit in ("day", "week"):
        return day + timedelta(days=count * (7 if unit == "week" else 1))
    months = day.year * 12 + day.month - 1 + count * (12 if unit == "year" else 1)
    year, month = divmod(months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
