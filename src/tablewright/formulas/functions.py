"""What formulas compute with: operators and functions over numbers, texts, dates and empty cells.

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
from functools import lru_cache
from typing import Any, NamedTuple

from tablewright.domain.model import Field, Money, Value
from tablewright.domain.text import show
from tablewright.values.coerce import coerce
from tablewright.values.measures import Measure, in_unit, read_measures
from tablewright.values.numbers import read_numbers

MAX_BITS = 4_096
MAX_RESULT_BITS = 1_023  # what a float can still hold
MAX_TEXT = 100_000
"""Characters of a text that a formula makes. A longer one that a cell holds can be read, and cut with LEFT."""
MOST_WORK = 20_000_000
"""Characters that are read and made for one cell, all steps together; they take less than a second."""
WORK_TO_READ = 200
"""How many characters as they are take as long as one of which a number or a date is read."""
LONGEST_READ = 1_000
"""Characters of a text that can be a number, a date or a measure."""
MAX_DIGITS = 30
LONGEST_MARK = 3
"""Letters that may stand before a number that is still the text's own: "USD 20", "ca. 20", not "Studio 54"."""

_NUMBER = Field(name="operand", type="number")
_DATE = Field(name="operand", type="date")


class Unevaluable(Exception):
    """The formula cannot be computed for this row, with the reason; it becomes the cell's error."""


class Empty(Unevaluable):
    """A value is needed where the row has none."""


class TooMuchWork(Unevaluable):
    """The cell takes more than its allowance."""


class EvaluationAllowance(threading.local):
    """What is left of the characters that may be read and made for the cell under work in this thread."""

    left = MOST_WORK


ALLOWANCE = EvaluationAllowance()


def take(characters: int) -> None:
    """Count characters against the allowance of the cell before they are read or made."""
    ALLOWANCE.left -= characters
    if ALLOWANCE.left < 0:
        raise TooMuchWork(
            f"the formula handles more than {MOST_WORK:,} characters for this row; shorten its texts with LEFT, or "
            "divide it into several columns"
        )


def take_room(characters: int) -> None:
    """Refuse a text of so many characters before it is made."""
    if characters > MAX_TEXT:
        raise Unevaluable(
            f"the formula makes a text of {characters:,} characters, more than the {MAX_TEXT:,} that a cell takes; "
            "shorten its parts with LEFT"
        )
    take(characters)


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def clean(result: object) -> Value:
    result = plain(result)
    if isinstance(result, float):
        if not math.isfinite(result):
            raise Unevaluable("the result is not a finite number")
        # 0.1 * 3 is 0.3 to everybody but a binary computer; spreadsheets show 15 digits too.
        return float(f"{result:.15g}")
    if isinstance(result, int) and result.bit_length() > MAX_RESULT_BITS:
        raise Unevaluable("the result is too large")
    if result is None or isinstance(result, str | int):
        return result
    raise Unevaluable(f"the result is a {type(result).__name__}, not a value")


def plain(value: Any) -> Any:
    """Money as its amount; as a text it keeps its currency."""
    return value.amount if isinstance(value, Money) else value


def number(operand: Any) -> Any:
    kind = type(operand)
    if kind is float or kind is int:
        return operand
    if operand is None:
        raise Empty
    if kind is not str:
        return operand.amount if kind is Money else int(operand)
    value = as_number(operand)
    if value is None:
        found = read_numbers(operand) if len(operand) <= LONGEST_READ else ()
        several = len(found) > 1 or any(each.high is not None for each in found)
        raise Unevaluable(f"{operand[:60]!r} is {'more than one number' if several else 'not a number'}")
    return value


def as_number(text: str) -> int | float | None:
    """The one number that a text states, or None. "12%" is 0.12; "5 ft 11 in", "10–20" and "Studio 54" are none."""
    return read_one_number(text) if len(text) <= LONGEST_READ else None


@lru_cache(maxsize=4096)
def read_one_number(text: str) -> int | float | None:
    take(WORK_TO_READ * len(text))
    read = coerce(text, _NUMBER)
    if read.value is None or read.label == "low" or not isinstance(read.value, int | float):
        return None
    if read.label == "high":
        return read.value
    numbers = read_numbers(text)
    if len(numbers) != 1 or numbers[0].high is not None:
        return None
    if any(len(word) > LONGEST_MARK for word in re.findall(r"[^\W\d_]+", text[: numbers[0].start])):
        return None
    return read.value / 100 if text.rstrip().endswith("%") else read.value


def text(value: Any) -> str:
    if value is None:
        raise Empty
    shown = show(value if isinstance(value, str | Money) else clean(value))
    take(len(shown))
    return shown


def folded(value: str) -> str:
    """The text as it is compared, whatever its case."""
    take(len(value))
    return value.casefold()


def whole(value: Any, what: str) -> int:
    read = number(value)
    if read != int(read) or not 0 <= read <= MAX_TEXT:
        raise Unevaluable(f"{what} must be a whole number, not {show(clean(read))}")
    return int(read)


def holds(value: Any) -> bool:
    """Return True if a condition is met: not by an empty cell, 0 or "false"."""
    return folded(value).strip() not in ("", "false") if isinstance(value, str) else bool(plain(value))


# ── operators ────────────────────────────────────────────────────────────────────────────────────────────────────────


def arithmetic(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda left, right: operation(number(left), number(right))


def as_date(value: Any) -> datetime.date | None:
    """A date as cells hold it: 2021-05-03."""
    if not isinstance(value, str) or len(value) != 10 or value[4] != "-":
        return None
    try:
        return datetime.date.fromisoformat(value)
    except ValueError:
        return None


def moved(date: datetime.date, days: Any) -> str:
    return (date + datetime.timedelta(days=number(days))).isoformat()


def add(left: Any, right: Any) -> Any:
    """Numbers and number texts are added, days to a date too. Two texts that are no numbers are joined."""
    left, right = plain(left), plain(right)
    if not isinstance(left, str) and not isinstance(right, str):
        return number(left) + number(right)
    if left is None or right is None:
        raise Empty
    if date := as_date(left):
        return moved(date, right)
    if date := as_date(right):
        return moved(date, left)
    one, other = (as_number(side) if isinstance(side, str) else side for side in (left, right))
    if one is not None and other is not None:
        return one + other
    if one is None and other is None:
        return join(left, right)
    raise Unevaluable(f"{(left if one is None else right)[:60]!r} is not a number; & joins texts")


def subtract(left: Any, right: Any) -> Any:
    if date := as_date(left):
        other = as_date(right)
        return (date - other).days if other else moved(date, -number(right))
    return number(left) - number(right)


def join(left: Any, right: Any) -> str:
    return joined([text(left), text(right)])


def joined(parts: Sequence[str]) -> str:
    take_room(sum(map(len, parts)))
    return "".join(parts)


def multiply(left: Any, right: Any) -> Any:
    left, right = number(left), number(right)
    if isinstance(left, int) and isinstance(right, int) and left.bit_length() + right.bit_length() > MAX_BITS:
        raise Unevaluable("the result is too large")
    return left * right


def power(base: Any, exponent: Any) -> Any:
    base, exponent = number(base), number(exponent)
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * abs(exponent) > MAX_BITS:
        raise Unevaluable("the result is too large")
    result = base**exponent
    if isinstance(result, complex):
        raise Unevaluable("the result is not a real number")
    return result


def equal(left: Any, right: Any) -> bool:
    """Numbers and number texts by their value, other texts whatever their case. An empty cell equals only ''."""
    left, right = plain(left), plain(right)
    if left is None or right is None:
        return left in (None, "") and right in (None, "")
    if not isinstance(left, str) and not isinstance(right, str):
        return bool(clean(left) == clean(right))
    if isinstance(left, bool) or isinstance(right, bool):
        return show(left).casefold() == show(right).casefold()
    if isinstance(left, str) and isinstance(right, str):
        if folded(left).strip() == folded(right).strip():
            return True
        if max(len(left), len(right)) > LONGEST_READ:
            return False
        marks = {mark for side in (left, right) if (mark := re.sub(r"[\d.,'\s+-]", "", side))}
        if len(marks) > 1:  # €20 is not $20
            return False
    one, other = (as_number(side) if isinstance(side, str) else clean(side) for side in (left, right))
    return one is not None and one == other


def ordered(operation: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda left, right: operation(*alike((left, right)))


def alike(values: tuple[Any, ...]) -> list[Any]:
    """The values as things that have an order: all as numbers, or all as texts, dates among them."""
    if None in values:
        raise Empty
    numbers = [as_number(value) if isinstance(value, str) else plain(value) for value in values]
    if None not in numbers:
        return numbers
    if all(each is None for each in numbers):
        return [folded(value) for value in values]
    odd = next(value for value, each in zip(values, numbers, strict=True) if each is None)
    raise Unevaluable(f"{odd[:60]!r} is not a number")


def differs(left: Any, right: Any) -> bool:
    return not equal(left, right)


BINARY: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": arithmetic(operator.truediv),
    "//": arithmetic(operator.floordiv),
    "%": arithmetic(operator.mod),
    "^": power,
    "&": join,
    "=": equal,
    "<>": differs,
    "<": ordered(operator.lt),
    "<=": ordered(operator.le),
    ">": ordered(operator.gt),
    ">=": ordered(operator.ge),
}

# ── functions ────────────────────────────────────────────────────────────────────────────────────────────────────────


def rounded(value: Any, digits: Any = 0) -> Any:
    """Halves go away from zero, as in a spreadsheet, and 2.675 is a half although its binary fraction is less."""
    value = number(value)
    if type(digits) is not int:
        digits = number(digits)
    if digits != int(digits) or abs(digits) > MAX_DIGITS:
        raise Unevaluable(f"ROUND takes a whole number of digits up to {MAX_DIGITS}")
    digits = int(digits)
    if isinstance(value, int):
        if digits >= 0:
            return value
        unit = 10**-digits
        return (abs(value) + unit // 2) // unit * unit * (-1 if value < 0 else 1)
    nudged = round(value * (1 + 1e-15), digits)
    return nudged if digits > 0 or not math.isfinite(nudged) else int(nudged)


def present(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(value for value in values if value is not None)


def total(*values: Any) -> Any:
    found = [number(value) for value in present(values)]
    return sum(found) if found else None


def average(*values: Any) -> Any:
    found = [number(value) for value in present(values)]
    return sum(found) / len(found) if found else None


def extreme(choose: Callable[..., Any]) -> Callable[..., Any]:
    def chosen(*values: Any) -> Any:
        found = present(values)
        if not found:
            return None
        keys = alike(found)
        place = choose(range(len(found)), key=keys.__getitem__)
        return keys[place] if not isinstance(keys[place], str) else found[place]

    return chosen


def concatenated(*values: Any) -> str:
    return joined([text(value) for value in present(values)])


def of_text(operation: Callable[..., Any]) -> Callable[..., Any]:
    """A text function: what it is given of an empty cell is empty."""
    return lambda value, *more: None if value is None else operation(text(value), *more)


def left_part(value: str, count: Any = 1) -> str:
    return value[: whole(count, "LEFT's second value")]


def right_part(value: str, count: Any = 1) -> str:
    count = whole(count, "RIGHT's second value")
    return value[-count:] if count else ""


def middle_part(value: str, start: Any, count: Any) -> str:
    first = max(0, whole(start, "MID's second value") - 1)
    return value[first : first + whole(count, "MID's third value")]


def substituted(value: str, old: Any, new: Any) -> str:
    old, new = text(old), "" if new is None else text(new)
    if not old:
        return value
    if len(new) > len(old):
        take_room(len(value) + value.count(old) * (len(new) - len(old)))
    return value.replace(old, new)


def cased(change: Callable[[str], str]) -> Callable[[str], str]:
    """A change of case, which makes at most three letters of one, and seldom more than one."""

    def changed(value: str) -> str:
        take_room(len(value))
        result = change(value)
        take_room(len(result))
        return result

    return changed


def found_at(part: Any, value: Any) -> int:
    part, value = text(part), text(value)
    place = folded(value).find(folded(part))
    if place < 0:
        raise Unevaluable(f"{part[:60]!r} does not stand in {value[:60]!r}")
    return place + 1


def contains(value: Any, part: Any) -> bool:
    return value is not None and folded(text(part)) in folded(text(value))


def date_in(stated: str) -> str:
    """The date that a text states, as far as it says it; "" where it states none."""
    take(WORK_TO_READ * len(stated))
    read = coerce(stated, _DATE)
    return str(read.value) if read.value is not None and read.label != "low" else ""


def date_part(what: str, start: int, end: int) -> Callable[[Any], int | None]:
    def part(value: Any) -> int | None:
        if value is None:
            return None
        stated = text(value)
        iso = date_in(stated) if len(stated) <= LONGEST_READ else ""
        if not iso[start:end]:
            raise Unevaluable(f"{stated[:60]!r} has no {what}" if iso else f"{stated[:60]!r} is not a date")
        return int(iso[start:end])

    return part


def read_stated_measures(value: str, unit: str) -> Sequence[Measure]:
    if len(value) > LONGEST_READ:
        return ()
    take(WORK_TO_READ * len(value))
    return read_measures(value, unit)


def converted(value: Any, *units: Any) -> Any:
    """CONVERT(x, from, to). A text that names its own unit ("5 ft 11 in") is converted from that one; CONVERT(x, to)
    takes only such."""
    source, target = text(units[0]) if len(units) == 2 else "", text(units[-1])
    stated = read_stated_measures(value, source or target) if isinstance(value, str) else ()
    if len(stated) == 1 and stated[0].unit and stated[0].high is None and not stated[0].sizes:
        measure = stated[0]
    elif not source:
        raise Unevaluable(f"{text(value)[:60]!r} does not say its unit")
    else:
        measure = Measure(value=number(value), start=0, end=0, unit=source)
    result = in_unit(measure, target)
    if result is None:
        raise Unevaluable(f"{show(value)[:60]!r} is in {measure.unit}, which cannot be converted to {target}")
    return result.value


class Function(NamedTuple):
    apply: Callable[..., Any]
    least: int = 1
    most: int = 1


MANY = 255
FUNCTIONS: Mapping[str, Function] = {
    "ABS": Function(lambda value: abs(number(value))),
    "AVERAGE": Function(average, 1, MANY),
    "CONCAT": Function(concatenated, 1, MANY),
    "CONTAINS": Function(contains, 2, 2),
    "CONVERT": Function(converted, 2, 3),
    "DAY": Function(date_part("day", 8, 10)),
    "FIND": Function(found_at, 2, 2),
    "FLOAT": Function(lambda value: float(number(value))),
    "INT": Function(lambda value: int(number(value))),
    "ISBLANK": Function(lambda value: value is None or value == ""),
    "LEFT": Function(of_text(left_part), 1, 2),
    "LEN": Function(lambda value: 0 if value is None else len(text(value))),
    "LOWER": Function(of_text(cased(str.lower))),
    "MAX": Function(extreme(max), 1, MANY),
    "MID": Function(of_text(middle_part), 3, 3),
    "MIN": Function(extreme(min), 1, MANY),
    "MOD": Function(arithmetic(operator.mod), 2, 2),
    "MONTH": Function(date_part("month", 5, 7)),
    "PROPER": Function(of_text(cased(str.title))),
    "RIGHT": Function(of_text(right_part), 1, 2),
    "ROUND": Function(rounded, 1, 2),
    "STR": Function(of_text(str)),
    "SUBSTITUTE": Function(of_text(substituted), 3, 3),
    "SUM": Function(total, 1, MANY),
    "TRIM": Function(of_text(lambda value: " ".join(value.split()))),
    "UPPER": Function(of_text(cased(str.upper))),
    "YEAR": Function(date_part("year", 0, 4)),
}
