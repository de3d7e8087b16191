"""A form over documents, filled in by a person: conditions in a small language that says just what it says.

kind = invoice and total > 500 EUR and date in 2026-03 and supplier contains nord
"""

from __future__ import annotations

import re

from tablewright.errors import UsageError
from tablewright.table.corpus import Aggregate
from tablewright.table.model import Noun

_AND = re.compile(r" and ", re.IGNORECASE)
_OR = re.compile(r" or ", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_CLAUSE = re.compile(
    r"(?P<column>[^<>=!]{1,80}?)\s*(?P<operator><=|>=|!=|=|<|>|\b(?:contains|between|in month|in|is)\b)\s*"
    r"(?P<value>.*)",
    re.IGNORECASE | re.DOTALL,
)
ADVICE = (
    'Write conditions as COLUMN OPERATOR VALUE, joined by "and": total > 500 EUR and date in 2026-03. '
    "Operators: = != < <= > >= contains, in, between … and …, in month, is known, is unknown."
)


class Where(Noun, frozen=True):
    """One condition. Several `values` mean any of them; `between` has two."""

    column: str
    operator: str
    values: tuple[str, ...] = ()


class Form(Noun, frozen=True):
    """What is looked up: the documents of a kind, or the rows of a `table` inside documents, that meet all conditions.
    `of` is the column that an aggregate is of."""

    kind: str = ""
    table: str = ""
    conditions: tuple[Where, ...] = ()
    aggregate: Aggregate = ""
    of: str = ""
    group_by: str = ""
    show: tuple[str, ...] = ()
    order_by: str = ""
    descending: bool = False
    limit: int = 0
    unit: str = ""
    """The column that has the currency or unit of the figures, where there is one."""


class KnownColumn(Noun, frozen=True):
    """`known`: how many members state it."""

    name: str
    known: int


class KnownGroup(Noun, frozen=True):
    """What can be looked up: the documents of a kind, or the rows of a table inside documents (`is_table`). `table_id`
    is the living table of the kind, once something was asked of it."""

    name: str
    members: int
    columns: tuple[KnownColumn, ...] = ()
    is_table: bool = False
    table_id: str = ""
    examples: tuple[str, ...] = ()


def parse_where(text: str) -> tuple[str, str, tuple[Where, ...]]:
    """The kind, the table and the conditions of a text; "" for what it does not name."""
    kind = table = ""
    conditions: list[Where] = []
    for clause in clauses(" ".join(text.split())):
        found = _CLAUSE.fullmatch(clause.strip())
        if found is None:
            raise UsageError(f"“{clause.strip()}” is not a condition.", advice=ADVICE)
        column, operator = found["column"].strip().strip("\"'"), " ".join(found["operator"].lower().split())
        values = tuple(filter(None, (value.strip().strip("\"'") for value in parts(found["value"], operator))))
        if operator == "is":
            operator = {"known": "known", "stated": "known", "unknown": "unknown", "not stated": "unknown"}.get(
                " ".join(found["value"].lower().split()), "="
            )
        if operator in ("known", "unknown"):
            values = ()
        elif not values:
            raise UsageError(f"“{clause.strip()}” has no value.", advice=ADVICE)
        if column.casefold() == "kind" and operator == "=":
            kind = values[0]
        elif column.casefold() == "table" and operator == "=":
            table = values[0]
        else:
            conditions.append(Where(column=column, operator="=" if operator == "in" else operator, values=values))
    return kind, table, tuple(conditions)


def clauses(text: str) -> list[str]:
    """Cut at "and", but not inside quotes and not between the two ends of a range."""
    kept: list[str] = []

    def hide(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"\x00{len(kept) - 1}\x00"

    hidden = _QUOTED.sub(hide, text)
    found: list[str] = []
    for part in _AND.split(hidden):
        if found and re.search(r"\bbetween\b", found[-1], re.IGNORECASE) and " and " not in found[-1]:
            found[-1] += f" and {part}"
        elif part.strip():
            found.append(part)
    return [re.sub(r"\x00(\d+)\x00", lambda match: kept[int(match[1])], part) for part in found]


def parts(value: str, operator: str) -> list[str]:
    if operator == "between":
        return _AND.split(value)
    if operator == "in":
        return [each for piece in _OR.split(value) for each in re.split(r",\s+", piece.strip("() "))]
    return _OR.split(value)
