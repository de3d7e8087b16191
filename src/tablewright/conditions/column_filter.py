"""The filter of a column: which of its values a condition lets through."""

from __future__ import annotations

import re
from collections.abc import Callable

from tablewright.conditions.judge import MATCH, NO_MATCH, Verdict, judge
from tablewright.domain.corpus import Comparator, Condition, Typed
from tablewright.domain.form import Where
from tablewright.domain.model import Field, FieldType, Money, Value
from tablewright.domain.text import show
from tablewright.errors import UsageError
from tablewright.messages.catalogue import PageText
from tablewright.values.coerce import coerce

COMPARISONS: PageText[dict[str, str]] = {
    "contains": "contains",
    "not contains": "does not contain",
    "=": "is",
    "!=": "is not",
    "<": "is less than",
    "<=": "is at most",
    ">": "is more than",
    ">=": "is at least",
    "known": "is filled",
    "unknown": "is empty",
}
ORDERED: dict[str, Callable[[str, str], bool]] = {
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}
COMPARATORS: dict[str, Comparator] = {"=": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?")
MEASURED: frozenset[FieldType] = frozenset({"number", "money", "date"})
"""Types whose values are compared by what they mean, as `ask` compares them; of others the text is compared."""


def filter_on(where: Where, field: Field) -> Callable[[Value], Verdict]:
    """Return the test of a value against a condition: a match, no match, or not to be told, such as 50 USD against
    60 GBP, because nothing is converted. An empty cell passes only where emptiness or a difference is asked for."""
    if where.operator == "known":
        return lambda value: verdict_of(value is not None)
    if where.operator == "unknown":
        return lambda value: verdict_of(value is None)
    if where.operator not in COMPARISONS:
        raise UsageError(f"A column cannot be filtered by {where.operator!r}.")
    wanted = " ".join(where.values).strip()
    if not wanted:
        raise UsageError("The filter needs a value.", advice="Type one, or choose “is empty” or “is filled”.")
    needle = wanted.casefold()
    if where.operator in ("contains", "not contains"):
        return lambda value: verdict_of((needle in text_of(value)) == (where.operator == "contains"))
    is_equality = where.operator in ("=", "!=")
    typed = coerce(wanted, field).value if field.type in MEASURED else None
    if typed is None and field.type in MEASURED and not is_equality:
        raise UsageError(f"{wanted!r} is no {field.type}, so nothing can be compared with it.")
    if typed is not None:
        condition = Condition(of=field.name, comparator=COMPARATORS[where.operator], values=(comparable(typed, field),))

    def compare(value: Value) -> Verdict:
        if value is None:
            return verdict_of(where.operator == "!=")
        if is_equality and (typed is None or text_of(value) == needle):
            return verdict_of((text_of(value) == needle) == (where.operator == "="))
        if typed is not None:
            own = comparable(value, field)
            is_other = own.number is None and not own.date  # left from when the column had another type
            return NO_MATCH if is_other else judge(own, condition)
        return verdict_of(ORDERED[where.operator](text_of(value), needle))

    return compare


def verdict_of(is_match: bool) -> Verdict:
    return MATCH if is_match else NO_MATCH


def comparable(value: Value, field: Field) -> Typed:
    """Return the value as it is compared with others of its field."""
    match value:
        case Money():
            return Typed(raw=show(value), number=float(value.amount), currency=value.currency)
        case bool():
            return Typed(raw=show(value), truth=value)
        case int() | float():
            return Typed(raw=show(value), number=float(value))
        case str() if field.type == "date" and _DATE.fullmatch(value):
            return Typed(raw=value, date=value)
        case _:
            return Typed(raw=show(value))


def text_of(value: Value) -> str:
    return "" if value is None else show(value).casefold()


def ordered(value: Value) -> float | str:
    """Numbers and amounts by size, anything else by its text; dates are written so that texts compare like times."""
    number = value.amount if isinstance(value, Money) else value
    return float(number) if isinstance(number, (int, float)) else text_of(value)
