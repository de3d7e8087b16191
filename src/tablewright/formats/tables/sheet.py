"""What an export shows of a table: which columns, in which order, and what stands in them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from tablewright.domain.model import Cell, Evidence, Field, FieldType, Money, Value, column_key
from tablewright.domain.retrieved import is_document
from tablewright.domain.text import basis_label, cell_text, show
from tablewright.formats.tables.names import free_name


class TableSchema(Protocol):
    """A table without its rows. The noun `Table` is one; so is a table whose rows still are in a database."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def fields(self) -> tuple[Field, ...]: ...
    @property
    def key_field(self) -> str: ...


@dataclass(frozen=True, kw_only=True)
class ShownColumn:
    """One column of an export: `field` names the cell it is made from, `value` and `text` what it shows of it."""

    name: str
    field: str
    type: FieldType
    value: Callable[[Cell], Value]
    text: Callable[[Cell], str]


def shown_columns(
    heading: TableSchema,
    *,
    evidence: bool = False,
    cost: bool = False,
    evidence_fields: Collection[str] | None = None,
) -> tuple[ShownColumn, ...]:
    """The shown fields; with `evidence`, each field in `evidence_fields` (the asked ones, unless said) is
    followed by its source, quote, confidence, basis and status, why it is empty and whether it is stale; with `cost` by
    what its cells cost."""
    fields = shown_fields(heading.fields)
    asked = {field.name for field in fields if field.is_asked} if evidence_fields is None else set(evidence_fields)
    taken = {column_key(field.name) for field in fields}
    more = (*(_EVIDENCE_COLUMNS if evidence else ()), *(_COST_COLUMN if cost else ()))
    columns = []
    for field in fields:
        columns.append(
            ShownColumn(name=field.name, field=field.name, type=field.type, value=_cell_value, text=cell_text)
        )
        if field.name in asked:
            for what, type_, value in more:
                name = free_name(f"{field.name} {what}", taken)
                taken.add(column_key(name))
                columns.append(ShownColumn(name=name, field=field.name, type=type_, value=value, text=_text_of(value)))
    return tuple(columns)


def shown_fields(fields: Sequence[Field]) -> tuple[Field, ...]:
    return tuple(field for field in fields if field.role != "qualification")


def json_value(value: Value) -> Value:
    """A value as plain JSON: a sum of money is its text."""
    return str(value) if isinstance(value, Money) else value


def _text_of(value: Callable[[Cell], Value]) -> Callable[[Cell], str]:
    return lambda cell: show(value(cell))


def _cell_value(cell: Cell) -> Value:
    return cell.value


def _source(cell: Cell) -> Value:
    return source_text(cell.evidence[0]) or None if cell.evidence else None


def source_text(evidence: Evidence) -> str:
    """An address as it is; a document by its title and page too, as its id means nothing elsewhere."""
    if not is_document(evidence.origin) or not evidence.title or evidence.origin in ("row", "formula"):
        return evidence.origin
    page = "" if evidence.page is None else f", page {evidence.page}"
    return f"{evidence.title}{page} ({evidence.origin})"


def _quote(cell: Cell) -> Value:
    return cell.evidence[0].quote or None if cell.evidence else None


def _confidence(cell: Cell) -> Value:
    return None if cell.is_given else cell.confidence


def _basis(cell: Cell) -> Value:
    return basis_label(cell) or None


def cost_of(cell: Cell) -> float | None:
    """In dollars; None for what no run has worked on."""
    return None if cell.run_id is None else cell.cost


_EVIDENCE_COLUMNS: tuple[tuple[str, FieldType, Callable[[Cell], Value]], ...] = (
    ("source", "text", _source),
    ("quote", "text", _quote),
    ("confidence", "number", _confidence),
    ("basis", "text", _basis),
    ("status", "text", lambda cell: cell.status),
    ("reason", "text", lambda cell: cell.reason),
    ("stale", "boolean", lambda cell: cell.stale or None),
    ("note", "text", lambda cell: cell.error),
)
_COST_COLUMN: tuple[tuple[str, FieldType, Callable[[Cell], Value]], ...] = (("cost", "number", cost_of),)
