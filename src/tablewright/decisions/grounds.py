"""Numbers that stand somewhere: what checks compare the numbers of a model's answer with."""

from __future__ import annotations

import re

from tablewright.table.measures import Measure, in_unit
from tablewright.table.numbers import read_numbers

_DIGITS = re.compile(r"\d+(?:\.\d+)?")


def numbers_in(text: str) -> set[float]:
    """As people write them, and every run of digits: 5 and 11 of 5'11", 2019 of 2019-05-01."""
    read = {float(value) for number in read_numbers(text) for value in (number.value, number.high) if value is not None}
    return read | {float(digits) for digits in _DIGITS.findall(text)}


def close(one: float, other: float, within: float = 1e-9) -> bool:
    return abs(one - other) <= within * max(abs(one), abs(other))


def converted(amount: float, unit: str, target: str) -> float | None:
    measure = in_unit(Measure(value=amount, start=0, end=0, unit=unit), target)
    return None if measure is None else float(measure.value)
