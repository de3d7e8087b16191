"""How somebody looks at a table: which rows, in which order, and how its columns are laid out."""

from __future__ import annotations

from collections.abc import Callable

from tablewright.errors import UsageError
from tablewright.table.coerce import coerce
from tablewright.table.form import Where
from tablewright.table.model import Field, Money, Noun, Value
from tablewright.table.text import show

COMPARISONS = {
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
ORDERED: dict[str, Callable[[float | str, float | str], bool]] = {
    "<": lambda one, other: one < other,  # type: ignore[operator]
    "<=": lambda one, other: one <= other,  # type: ignore[operator]
    ">": lambda one, other: one > other,  # type: ignore[operator]
    ">=": lambda one, other: one >= other,  # type: ignore[operator]
}


class ColumnLayout(Noun, frozen=True):
    name: str
    width: int = 0
    hidden: bool = False


class View(Noun, frozen=True):
    """`columns` are in the order in which they are shown; those that it does not name follow."""

    name: str = ""
    columns: tuple[ColumnLayout, ...] = ()
    sort: str = ""
    descending: bool = False
    only: str = ""
    find: str = ""
    filters: tuple[Where, ...] = ()
    wrap: bool = False


def filter_on(where: Where, field: Field) -> Callable[[Value], bool]:
    """Whether a value of the field passes. An empty cell passes only where emptiness or a difference is asked for."""
    if where.operator == "known":
        return lambda value: value is not None
    if where.operator == "unknown":
        return lambda value: value is None
    if where.operator not in COMPARISONS:
        raise UsageError(f"A column cannot be filtered by {where.operator!r}.")
    wanted = " ".join(where.values).strip()
    if not wanted:
        raise UsageError("The filter needs a value.", advice="Type one, or choose “is empty” or “is filled”.")
    needle = wanted.casefold()
    if where.operator in ("contains", "not contains"):
        return lambda value: (needle in text_of(value)) == (where.operator == "contains")
    typed = coerce(wanted, field).value if field.type in ("number", "money", "date") else None
    if where.operator in ("=", "!="):
        return lambda value: is_equal(value, typed, needle) == (where.operator == "=")
    if typed is None and field.type in ("number", "money", "date"):
        raise UsageError(f"{wanted!r} is no {field.type}, so nothing can be compared with it.")
    compare, bound = ORDERED[where.operator], needle if typed is None else ordered(typed)

    def passes(value: Value) -> bool:
        if value is None:
            return False
        own = ordered(value)
        return isinstance(own, str) == isinstance(bound, str) and compare(own, bound)

    return passes


def text_of(value: Value) -> str:
    return "" if value is None else show(value).casefold()


def is_equal(value: Value, typed: Value, needle: str) -> bool:
    return value is not None and (text_of(value) == needle or (typed is not None and ordered(value) == ordered(typed)))


def ordered(value: Value) -> float | str:
    """Numbers and amounts by size, anything else by its text; dates are written so that texts compare like times."""
    number = value.amount if isinstance(value, Money) else value
    return float(number) if isinstance(number, (int, float)) else text_of(value)
