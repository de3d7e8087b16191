"""Read the values of cells, and those that conditions ask for, as what they can be compared as."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import structs

from tablewright.conditions.compare import is_limit
from tablewright.domain.condition import ORDERED, Condition, named_column
from tablewright.domain.corpus import Typed
from tablewright.domain.model import Cell, Field, FieldType, Money, Value
from tablewright.domain.text import cell_text, show
from tablewright.values.coerce import coerce
from tablewright.values.dates import read_dates
from tablewright.values.typed import typed, typed_number

_SAYS_MORE = re.compile(r"[<>≤≥]|\d[^\d.,]{1,20}\d")
"""In the text that a number was read from: a limit, or a second number. Most have none, and are not read again."""
VALUES_NEEDED = {"between": 2, "known": 0, "unknown": 0}


def comparable_values(cell: Cell, field: Field) -> tuple[Typed, ...]:
    """Return the value of the cell, as it was read where that says more, such as a range; of a list, each of its items.
    None for an empty cell."""
    if cell.value is None:
        return ()
    if isinstance(cell.value, tuple):
        return tuple(Typed(raw=each) for each in cell.value)
    if isinstance(cell.value, str) and field.type != "date":
        return (Typed(raw=cell.value),)
    value = comparable(cell.value, field, cell_text(cell))
    if field.type == "number" and cell.raw_value and value.number is not None and _SAYS_MORE.search(cell.raw_value):
        read = typed(cell.raw_value, f"{field.name} ({field.unit})" if field.unit else "")
        return (read if read.number == value.number and (read.high is not None or is_limit(read.raw)) else value,)
    if (
        field.type == "date"
        and value.date
        and cell.evidence
        and (other := _other_day(value.date, cell.evidence[0].quote))
    ):
        value = structs.replace(value, ambiguity=f"{value.date} or {other}")
    return (value,)


def comparable(value: Value, field: Field, shown: str = "") -> Typed:
    """Return a value of the field's column as it is compared with others."""
    match value:
        case Money():
            return Typed(raw=shown or str(value), number=value.amount, currency=value.currency)
        case bool():
            return Typed(raw="yes" if value else "no", truth=value)
        case int() | float():
            raw = shown or show(value)
            raw = raw if raw.endswith(field.unit) else f"{raw} {field.unit}"
            return typed_number(raw, value, field.unit if field.type == "number" else "")
        case str() if field.type == "date":
            return typed(value, "date")
        case _:
            return Typed(raw=show(value))


def _other_day(day: str, quote: str) -> str:
    """Of 02/04/2026 the reader took one meaning; return the other."""
    for each in read_dates(quote):
        if each.other_iso and day in (each.iso, each.other_iso):
            return each.other_iso if day == each.iso else each.iso
    return ""


def read_limit(text: str, field: Field) -> Typed:
    """Return a value of a condition as it is compared with those of the field's column. A bare number is meant in the
    unit of the column, and 2024 is a year among dates only."""
    return _read_limit(text.strip(), field.name, field.type, field.unit)


@lru_cache(maxsize=1024)
def _read_limit(text: str, name: str, type: FieldType, unit: str) -> Typed:
    if type == "boolean" and isinstance(truth := coerce(text, Field(name=name, type=type)).value, bool):
        return Typed(raw=text, truth=truth)
    read = typed(text, "date" if type == "date" else "")
    is_bare = read.number is not None and not (read.unit or read.base or read.currency or read.date)
    if type in ("number", "money") and unit and is_bare:
        return typed_number(text, read.number or 0, unit, read.high)
    return read


def sort_key(value: Typed) -> tuple[int, float, str]:
    """Figures by their size, then dates, then texts."""
    if value.date:
        return 1, 0.0, value.date
    number = value.si if value.si is not None else value.number
    return (0, number, "") if number is not None else (2, 0.0, value.raw.casefold())


def check_condition(condition: Condition, field: Field) -> str:
    """Return why the condition cannot be evaluated on the field's column, or ""."""
    needed = VALUES_NEEDED.get(condition.operator, 1)
    if len(condition.values) < needed:
        return f"the condition on {condition.column} needs {needed} value(s)."
    if condition.operator == "in month":
        months = [value for value in condition.values if not (value.isdecimal() and 1 <= int(value) <= 12)]
        return f"{months[0]!r} is no month from 1 to 12." if months else ""
    for value in condition.values if condition.operator in ORDERED else ():
        read = read_limit(value, field)
        if not named_column(value) and read.number is None and read.si is None and not read.date:
            return f"{value!r} in the condition on {condition.column} is neither a number nor a date."
    return ""
