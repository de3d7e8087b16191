"""A form over documents, filled in by a person: conditions in a small language that says just what it says.

kind = invoice and total > 500 EUR and date in 2026-03 and supplier contains nord

A value in braces is another column of the same document: paid on > {due date}

The column `text` means the whole text of a document, or of a row: kind = receipt and text contains tires. `title` is a
document's title.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tablewright.domain.corpus import Aggregate
from tablewright.domain.model import FieldType, Noun
from tablewright.errors import UsageError

_AND = re.compile(r" and ", re.IGNORECASE)
_OR = re.compile(r" or ", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_CLAUSE = re.compile(
    r"(?P<column>[^<>=!]{1,80}?)\s*(?P<operator><=|>=|!=|=|<|>|\b(?:contains|between|in month|in|is)\b)\s*"
    r"(?P<value>.*)",
    re.IGNORECASE | re.DOTALL,
)
TEXT = "text"
TITLE = "title"
ADVICE = (
    'Write conditions as COLUMN OPERATOR VALUE, joined by "and": total > 500 EUR and date in 2026-03. '
    "Operators: = != < <= > >= contains, in, between … and …, in month, is known, is unknown."
)


class Where(Noun, frozen=True):
    """One condition. Several `values` mean any of them; `between` has two."""

    column: str
    operator: str
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.operator in ("known", "unknown"):
            return f"{self.column} is {self.operator}"
        joint = " and " if self.operator == "between" else " or "
        return f"{self.column} {self.operator} {joint.join(self.values)}"


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

    @property
    def where(self) -> str:
        """The conditions as `parse_where` reads them."""
        named = [f"kind = {self.kind}"] if self.kind else [f"table = {self.table}"] if self.table else []
        return " and ".join([*named, *map(str, self.conditions)])

    def __str__(self) -> str:
        """ "kind = invoice and Total > 500 EUR; sum of Total by Supplier; sorted by Date"."""
        parts = [self.where or "all documents"]
        if self.aggregate:
            by = f" by {self.group_by}" if self.group_by else ""
            parts.append((f"{self.aggregate} of {self.of}" if self.of else self.aggregate) + by)
        if self.order_by:
            parts.append(f"sorted by {self.order_by}{', the largest first' if self.descending else ''}")
        if self.limit:
            parts.append(f"the first {self.limit}")
        return "; ".join(parts)


class KnownColumn(Noun, frozen=True):
    """`known`: how many members state it. `type` is what most of its values are. `stale`: of how many it was read
    before they changed; the next question reads it again."""

    name: str
    known: int
    type: FieldType = "text"
    stale: int = 0

    def __str__(self) -> str:
        """ "Total (20, 2 stale)"."""
        return f"{self.name} ({self.known:,}{f', {self.stale:,} stale' if self.stale else ''})"


class KnownGroup(Noun, frozen=True):
    """What can be looked up: the documents of a kind, or the rows of a table inside documents (`is_table`). `table_id`
    is the living table of the kind, once something was asked of it; of `from_titles` of the documents nobody has said
    that they are of the kind, their titles suggest it."""

    name: str
    members: int
    from_titles: int = 0
    columns: tuple[KnownColumn, ...] = ()
    is_table: bool = False
    table_id: str = ""
    examples: tuple[str, ...] = ()


def form_of(
    where: str = "",
    figure: Aggregate = "",
    of: str = "",
    *,
    by: str = "",
    show: Sequence[str] = (),
    sort: str = "",
    unit: str = "",
    limit: int = 0,
) -> Form:
    """The form that every door fills: conditions as a text, a figure, and how the rows are shown. `sort` is a column,
    with a minus before it for the largest first."""
    if figure not in ("", "count") and not of:
        raise UsageError(f"Of which column is the {figure} to be?")
    kind, table, conditions = parse_where(where)
    return Form(
        kind=kind,
        table=table,
        conditions=conditions,
        aggregate=figure,
        of=of,
        group_by=by,
        show=tuple(show),
        order_by=sort.removeprefix("-").strip(),
        descending=sort.startswith("-"),
        limit=limit,
        unit=unit,
    )


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
