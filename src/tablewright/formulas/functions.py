"""The operators and functions of formulas, over numbers, texts, dates and empty cells.

A text that reads as one number ("£12.50", "1.200,00") is that number in every operator. An empty cell is None: an
operator that needs a value raises `Empty`, functions over many values pass it over, text functions give it back.

Everything is bounded: what would grow says how large it becomes before it is made, and all characters that are read and
made for a cell count against one allowance, which bounds memory and time on every machine alike.
"""

from __future__ import annotations

import datetime
import math
import operator
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from tablewright.domain.model import Field, Money, Value
from tablewright.domain.text import format_value
from tablewright.values.coerce import coerce_value
from tablewright.values.measures import Measure, convert_measure, read_measures
from tablewright.values.numbers import read_numbers


@dataclass(frozen=True)
class FormulaLimits:
    # What people write by hand is shorter. The parser and the evaluation call themselves once for each level, so that
    # more depth could exhaust the stack of the interpreter.
    characters: int = 2_000
    depth: int = 60
    # As in spreadsheets, whose formulas are pasted here.
    arguments: int = 255
    # Characters of a value in the formula as it is written for people, and of the whole of it: `{A}` hundreds of times
    # would be longer than any page.
    shown_characters: int = 60
    written_characters: int = 4_000
    # Bits of a whole number on the way to a result. A power could otherwise fill the memory in one step.
    bits: int = 4_096
    # The largest whole number that a float can hold.
    result_bits: int = 1_023
    # Characters of a text that a formula makes. A longer one that a cell holds can be read, and cut with LEFT.
    text_characters: int = 100_000
    # Characters that are read and made for one cell, all steps together; they take less than a second.
    work_characters: int = 20_000_000
    # How many characters as they are take as long as one of which a number or a date is read.
    reading_cost: int = 200
    # Characters of a text that can be a number, a date or a measure.
    read_characters: int = 1_000
    # Digits that ROUND takes, either way of the point: more than a float has, and 10**30 is still cheap.
    digits: int = 30


FORMULA_LIMITS = FormulaLimits()


class Unevaluable(Exception):
    """The formula cannot be computed for this row, with the reason; it becomes the cell's error."""


class Empty(Unevaluable):
    """A value is needed where the row has none."""


class TooMuchWork(Unevaluable):
    """The cell takes more than its allowance."""


class EvaluationAllowance(threading.local):
    """The characters that may still be read and made for the current cell of this thread."""

    left = FORMULA_LIMITS.work_characters


ALLOWANCE = EvaluationAllowance()


def spend_allowance(characters: int) -> None:
    """Count characters against the allowance of the cell before they are read or made."""
    ALLOWANCE.left -= characters
    if ALLOWANCE.left < 0:
        raise TooMuchWork(
            f"the formula handles more than {FORMULA_LIMITS.work_characters:,} characters for this row; shorten its "
            "texts with LEFT, or divide it into several columns"
        )


def check_result_size(characters: int) -> None:
    """Refuse a text of so many characters before it is made."""
    if characters > FORMULA_LIMITS.text_characters:
        raise Unevaluable(
            f"the formula makes a text of {characters:,} characters, more than the {FORMULA_LIMITS.text_characters:,} "
            "that a cell takes; shorten its parts with LEFT"
        )
    spend_allowance(characters)


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def clean_result(result: object) -> Value:
    result = money_to_number(result)
    if isinstance(result, float):
        if not math.isfinite(result):
            raise Unevaluable("the result is not a finite number")
        # Hides the noise of binary fractions in 0.1 * 3; spreadsheets show 15 digits too.
        return float(f"{result:.15g}")
    if isinstance(result, int) and result.bit_length() > FORMULA_LIMITS.result_bits:
        raise Unevaluable("the result is too large")
    if result is None or isinstance(result, str | int):
        return result
    raise Unevaluable(f"the result is a {type(result).__name__}, not a value")


def money_to_number(value: Any) -> Any:
    """Money as its amount; as a text it keeps its currency."""
    return value.amount if isinstance(value, Money) else value


def to_number(operand: Any) -> Any:
    kind = type(operand)
    if kind is float or kind is int:
        return operand
    if operand is None:
        raise Empty
    if kind is not str:
        return operand.amount if kind is Money else int(operand)
    value = parse_number_text(operand)
    if value is None:
        found = read_numbers(operand) if len(operand) <= FORMULA_LIMITS.read_characters else ()
        several = len(found) > 1 or any(each.high is not None for each in found)
        raise Unevaluable(f"{operand[:60]!r} is {'more than one number' if several else 'not a number'}")
    return value


def parse_number_text(text: str) -> int | float | None:
    """Return the only number that a text states, or None. "12%" is 0.12; "5 ft 11 in", "10–20" and "Studio 54" are
    none."""
    return read_one_number(text) if len(text) <= FORMULA_LIMITS.read_characters else None


# What was read before, also for another cell, costs nothing of the allowance.
@lru_cache(maxsize=4096)
def read_one_number(text: str) -> int | float | None:
    spend_allowance(FORMULA_LIMITS.reading_cost * len(text))
    read = coerce_value(text, Field(name="operand", type="number"))
    if read.value is None or read.label == "low" or not isinstance(read.value, int | float):
        return None
    if read.label == "high":
        return read.value
    numbers = read_numbers(text)
    if len(numbers) != 1 or numbers[0].high is not None:
        return None
    # A mark or a currency may come before the number: "USD 20", "ca. 20". "Studio 54" is a name.
    if any(len(word) > 3 for word in re.findall(r"[^\W\d_]+", text[: numbers[0].start])):
        return None
    return read.value / 100 if text.rstrip().endswith("%") else read.value


def format_operand(value: Any) -> str:
    if value is None:
        raise Empty
    shown = format_value(value if isinstance(value, str | Money) else clean_result(value))
    spend_allowance(len(shown))
    return shown


def fold_case(value: str) -> str:
    """Return the text in the form for comparing without case."""
    spend_allowance(len(value))
    return value.casefold()


def to_whole_number(value: Any, what: str) -> int:
    read = to_number(value)
    if read != int(read) or not 0 <= read <= FORMULA_LIMITS.text_characters:
        raise Unevaluable(f"{what} must be a whole number, not {format_value(clean_result(read))}")
    return int(read)


def is_true(value: Any) -> bool:
    """Return True if a condition is met: not by an empty cell, 0 or "false"."""
    return fold_case(value).strip() not in ("", "false") if isinstance(value, str) else bool(money_to_number(value))


# ── operators ────────────────────────────────────────────────────────────────────────────────────────────────────────


def make_numeric_operator(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda left, right: operation(to_number(left), to_number(right))


def parse_iso_day(value: Any) -> datetime.date | None:
    """Return the date of a cell, 2021-05-03, or None."""
    if not isinstance(value, str) or len(value) != 10 or value[4] != "-":
        return None
    try:
        return datetime.date.fromisoformat(value)
    except ValueError:
        return None


def add_days(date: datetime.date, days: Any) -> str:
    return (date + datetime.timedelta(days=to_number(days))).isoformat()


def add_operands(left: Any, right: Any) -> Any:
    """Numbers and number texts are added, days to a date too. Two texts that are no numbers are joined."""
    left, right = money_to_number(left), money_to_number(right)
    if not isinstance(left, str) and not isinstance(right, str):
        return to_number(left) + to_number(right)
    if left is None or right is None:
        raise Empty
    if date := parse_iso_day(left):
        return add_days(date, right)
    if date := parse_iso_day(right):
        return add_days(date, left)
    one, other = (parse_number_text(side) if isinstance(side, str) else side for side in (left, right))
    if one is not None and other is not None:
        return one + other
    if one is None and other is None:
        return join_operands(left, right)
    raise Unevaluable(f"{(left if one is None else right)[:60]!r} is not a number; & joins texts")


def subtract_operands(left: Any, right: Any) -> Any:
    if date := parse_iso_day(left):
        other = parse_iso_day(right)
        return (date - other).days if other else add_days(date, -to_number(right))
    return to_number(left) - to_number(right)


def join_operands(left: Any, right: Any) -> str:
    return join_texts([format_operand(left), format_operand(right)])


def join_texts(parts: Sequence[str]) -> str:
    check_result_size(sum(map(len, parts)))
    return "".join(parts)


def multiply_operands(left: Any, right: Any) -> Any:
    left, right = to_number(left), to_number(right)
    # A product has at most the bits of both together; a power, those of the base times the exponent.
    if (
        isinstance(left, int)
        and isinstance(right, int)
        and left.bit_length() + right.bit_length() > FORMULA_LIMITS.bits
    ):
        raise Unevaluable("the result is too large")
    return left * right


def raise_to_power(base: Any, exponent: Any) -> Any:
    base, exponent = to_number(base), to_number(exponent)
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * abs(exponent) > FORMULA_LIMITS.bits:
        raise Unevaluable("the result is too large")
    result = base**exponent
    if isinstance(result, complex):
        raise Unevaluable("the result is not a real number")
    return result


def are_equal(left: Any, right: Any) -> bool:
    """Numbers and number texts by their value, other texts whatever their case. An empty cell equals only ''."""
    left, right = money_to_number(left), money_to_number(right)
    if left is None or right is None:
        return left in (None, "") and right in (None, "")
    if not isinstance(left, str) and not isinstance(right, str):
        return bool(clean_result(left) == clean_result(right))
    if isinstance(left, bool) or isinstance(right, bool):
        return format_value(left).casefold() == format_value(right).casefold()
    if isinstance(left, str) and isinstance(right, str):
        if fold_case(left).strip() == fold_case(right).strip():
            return True
        if max(len(left), len(right)) > FORMULA_LIMITS.read_characters:
            return False
        marks = {mark for side in (left, right) if (mark := re.sub(r"[\d.,'\s+-]", "", side))}
        if len(marks) > 1:  # €20 is not $20
            return False
    one, other = (parse_number_text(side) if isinstance(side, str) else clean_result(side) for side in (left, right))
    return one is not None and one == other


def make_order_operator(operation: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda left, right: operation(*make_orderable((left, right)))


def make_orderable(values: tuple[Any, ...]) -> list[Any]:
    """Return the values in a comparable form: all as numbers, or all as texts (including dates)."""
    if None in values:
        raise Empty
    numbers = [parse_number_text(value) if isinstance(value, str) else money_to_number(value) for value in values]
    if None not in numbers:
        return numbers
    if all(each is None for each in numbers):
        return [fold_case(value) for value in values]
    odd = next(value for value, each in zip(values, numbers, strict=True) if each is None)
    raise Unevaluable(f"{odd[:60]!r} is not a number")


def are_different(left: Any, right: Any) -> bool:
    return not are_equal(left, right)


BINARY_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": add_operands,
    "-": subtract_operands,
    "*": multiply_operands,
    "/": make_numeric_operator(operator.truediv),
    "//": make_numeric_operator(operator.floordiv),
    "%": make_numeric_operator(operator.mod),
    "^": raise_to_power,
    "&": join_operands,
    "=": are_equal,
    "<>": are_different,
    "<": make_order_operator(operator.lt),
    "<=": make_order_operator(operator.le),
    ">": make_order_operator(operator.gt),
    ">=": make_order_operator(operator.ge),
}

# ── functions ────────────────────────────────────────────────────────────────────────────────────────────────────────


def round_half_away(value: Any, digits: Any = 0) -> Any:
    """Halves go away from zero, as in a spreadsheet, and 2.675 is a half although its binary fraction is less."""
    value = to_number(value)
    if type(digits) is not int:
        digits = to_number(digits)
    if digits != int(digits) or abs(digits) > FORMULA_LIMITS.digits:
        raise Unevaluable(f"ROUND takes a whole number of digits up to {FORMULA_LIMITS.digits}")
    digits = int(digits)
    if isinstance(value, int):
        if digits >= 0:
            return value
        unit = 10**-digits
        return (abs(value) + unit // 2) // unit * unit * (-1 if value < 0 else 1)
    # Some units in the last place more, so that 2.675 is not taken for less than its half.
    nudged = round(value * (1 + 1e-15), digits)
    return nudged if digits > 0 or not math.isfinite(nudged) else int(nudged)


def drop_empty(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(value for value in values if value is not None)


def sum_operands(*values: Any) -> Any:
    found = [to_number(value) for value in drop_empty(values)]
    return sum(found) if found else None


def average_operands(*values: Any) -> Any:
    found = [to_number(value) for value in drop_empty(values)]
    return sum(found) / len(found) if found else None


def make_extreme(choose: Callable[..., Any]) -> Callable[..., Any]:
    def chosen(*values: Any) -> Any:
        found = drop_empty(values)
        if not found:
            return None
        keys = make_orderable(found)
        place = choose(range(len(found)), key=keys.__getitem__)
        return keys[place] if not isinstance(keys[place], str) else found[place]

    return chosen


def concatenate_operands(*values: Any) -> str:
    return join_texts([format_operand(value) for value in drop_empty(values)])


def make_text_function(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of texts that is empty for an empty cell."""
    return lambda value, *more: None if value is None else operation(format_operand(value), *more)


def left_part(value: str, count: Any = 1) -> str:
    return value[: to_whole_number(count, "LEFT's second value")]


def right_part(value: str, count: Any = 1) -> str:
    count = to_whole_number(count, "RIGHT's second value")
    # value[-0:] would be the whole text.
    return value[-count:] if count else ""


def middle_part(value: str, start: Any, count: Any) -> str:
    # Positions count from 1, as in spreadsheets.
    first = max(0, to_whole_number(start, "MID's second value") - 1)
    return value[first : first + to_whole_number(count, "MID's third value")]


def substitute_text(value: str, old: Any, new: Any) -> str:
    old, new = format_operand(old), "" if new is None else format_operand(new)
    if not old:
        return value
    # Measured before it is made: each letter may become a long text.
    if len(new) > len(old):
        check_result_size(len(value) + value.count(old) * (len(new) - len(old)))
    return value.replace(old, new)


def make_case_change(change: Callable[[str], str]) -> Callable[[str], str]:
    """A change of case, which makes at most three letters of one, and seldom more than one."""

    def changed(value: str) -> str:
        check_result_size(len(value))
        result = change(value)
        check_result_size(len(result))
        return result

    return changed


def find_position(part: Any, value: Any) -> int:
    part, value = format_operand(part), format_operand(value)
    place = fold_case(value).find(fold_case(part))
    if place < 0:
        raise Unevaluable(f"{part[:60]!r} is not in {value[:60]!r}")
    return place + 1


def contains_text(value: Any, part: Any) -> bool:
    return value is not None and fold_case(format_operand(part)) in fold_case(format_operand(value))


def read_stated_date(stated: str) -> str:
    """Return the date that a text states, as far as it is known, or ""."""
    spend_allowance(FORMULA_LIMITS.reading_cost * len(stated))
    read = coerce_value(stated, Field(name="operand", type="date"))
    return str(read.value) if read.value is not None and read.label != "low" else ""


def make_date_part(what: str, start: int, end: int) -> Callable[[Any], int | None]:
    def part(value: Any) -> int | None:
        if value is None:
            return None
        stated = format_operand(value)
        iso = read_stated_date(stated) if len(stated) <= FORMULA_LIMITS.read_characters else ""
        if not iso[start:end]:
            raise Unevaluable(f"{stated[:60]!r} has no {what}" if iso else f"{stated[:60]!r} is not a date")
        return int(iso[start:end])

    return part


def read_stated_measures(value: str, unit: str) -> Sequence[Measure]:
    if len(value) > FORMULA_LIMITS.read_characters:
        return ()
    spend_allowance(FORMULA_LIMITS.reading_cost * len(value))
    return read_measures(value, unit)


def convert_units(value: Any, *units: Any) -> Any:
    """CONVERT(x, from, to). A text that names its own unit ("5 ft 11 in") is converted from that one; CONVERT(x, to)
    takes only such."""
    source, target = format_operand(units[0]) if len(units) == 2 else "", format_operand(units[-1])
    stated = read_stated_measures(value, source or target) if isinstance(value, str) else ()
    if len(stated) == 1 and stated[0].unit and stated[0].high is None and not stated[0].sizes:
        measure = stated[0]
    elif not source:
        raise Unevaluable(f"{format_operand(value)[:60]!r} does not say its unit")
    else:
        measure = Measure(value=to_number(value), start=0, end=0, unit=source)
    result = convert_measure(measure, target)
    if result is None:
        raise Unevaluable(f"{format_value(value)[:60]!r} is in {measure.unit}, which cannot be converted to {target}")
    return result.value


class FormulaFunction(NamedTuple):
    apply: Callable[..., Any]
    least: int = 1
    most: int = 1


FORMULA_FUNCTIONS: Mapping[str, FormulaFunction] = {
    "ABS": FormulaFunction(lambda value: abs(to_number(value))),
    "AVERAGE": FormulaFunction(average_operands, 1, FORMULA_LIMITS.arguments),
    "CONCAT": FormulaFunction(concatenate_operands, 1, FORMULA_LIMITS.arguments),
    "CONTAINS": FormulaFunction(contains_text, 2, 2),
    "CONVERT": FormulaFunction(convert_units, 2, 3),
    "DAY": FormulaFunction(make_date_part("day", 8, 10)),
    "FIND": FormulaFunction(find_position, 2, 2),
    "FLOAT": FormulaFunction(lambda value: float(to_number(value))),
    "INT": FormulaFunction(lambda value: int(to_number(value))),
    "ISBLANK": FormulaFunction(lambda value: value is None or value == ""),
    "LEFT": FormulaFunction(make_text_function(left_part), 1, 2),
    "LEN": FormulaFunction(lambda value: 0 if value is None else len(format_operand(value))),
    "LOWER": FormulaFunction(make_text_function(make_case_change(str.lower))),
    "MAX": FormulaFunction(make_extreme(max), 1, FORMULA_LIMITS.arguments),
    "MID": FormulaFunction(make_text_function(middle_part), 3, 3),
    "MIN": FormulaFunction(make_extreme(min), 1, FORMULA_LIMITS.arguments),
    "MOD": FormulaFunction(make_numeric_operator(operator.mod), 2, 2),
    "MONTH": FormulaFunction(make_date_part("month", 5, 7)),
    "PROPER": FormulaFunction(make_text_function(make_case_change(str.title))),
    "RIGHT": FormulaFunction(make_text_function(right_part), 1, 2),
    "ROUND": FormulaFunction(round_half_away, 1, 2),
    "STR": FormulaFunction(make_text_function(str)),
    "SUBSTITUTE": FormulaFunction(make_text_function(substitute_text), 3, 3),
    "SUM": FormulaFunction(sum_operands, 1, FORMULA_LIMITS.arguments),
    "TRIM": FormulaFunction(make_text_function(lambda value: " ".join(value.split()))),
    "UPPER": FormulaFunction(make_text_function(make_case_change(str.upper))),
    "YEAR": FormulaFunction(make_date_part("year", 0, 4)),
}
