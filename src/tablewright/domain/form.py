"""A form over documents, filled in by a person: a kind or table, conditions, and a figure.

The column `text` means the whole text of a document, or of a row: kind = receipt and text contains tires. `title` is a
document's title.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.domain.condition import Condition, parse_conditions
from tablewright.domain.corpus import Aggregate
from tablewright.domain.model import FieldType, Noun
from tablewright.errors import UsageError

TEXT = "text"
TITLE = "title"


class Form(Noun, frozen=True):
    """What is looked up: the documents of a kind, or the rows of a `table` inside documents, that meet all conditions.
    `of` is the column that an aggregate is of."""

    kind: str = ""
    table: str = ""
    conditions: tuple[Condition, ...] = ()
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
        """The conditions as `form_of` reads them."""
        names = {"kind": self.kind} if self.kind else {"table": self.table} if self.table else {}
        named = [Condition(column=column, operator="=", values=(name,)) for column, name in names.items()]
        return " and ".join(map(str, (*named, *self.conditions)))

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
    kind = table = ""
    conditions: list[Condition] = []
    for condition in parse_conditions(where):
        match condition.column.casefold(), condition.operator:
            case "kind", "=":
                kind = condition.values[0]
            case "table", "=":
                table = condition.values[0]
            case _:
                conditions.append(condition)
    return Form(
        kind=kind,
        table=table,
        conditions=tuple(conditions),
        aggregate=figure,
        of=of,
        group_by=by,
        show=tuple(show),
        order_by=sort.removeprefix("-").strip(),
        descending=sort.startswith("-"),
        limit=limit,
        unit=unit,
    )
