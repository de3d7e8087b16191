"""The central types: table, field, row, cell, evidence. Everything imports them; they import only the errors.

They are msgspec structs rather than dataclasses because a table has a million cells: creating a cell of 13 fields takes
0.14 µs instead of 2.4 µs, and the struct is its own compact JSON (defaults left out).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import msgspec

from tablewright.errors import NotFound

FieldType: TypeAlias = Literal["text", "number", "boolean", "select", "date", "url", "list", "money"]
Role: TypeAlias = Literal["standard", "category", "user", "qualification"]
Status: TypeAlias = Literal["PENDING", "ENRICHED", "FAILED", "FLAGGED"]
Reason: TypeAlias = Literal["not_found", "blocked", "not_applicable", "conflicting", "over_budget", "error"]
Stance: TypeAlias = Literal["supports", "supports in part", "contradicts", "qualifies"]
StepType: TypeAlias = Literal["search", "fetch", "compute", "answer", "error", "thinking", "coverage"]
Label: TypeAlias = Literal["high", "medium", "low", "none"]
# How a value relates to its evidence: its owner gave it; the quote contains its words; it follows from the quote by a
# named rule; a formula computed it; or a model concluded it from the quotes.
Basis: TypeAlias = Literal["given", "stated", "converted", "computed", "judged"]

RowId: TypeAlias = int


class Struct(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Base of all domain types. Immutable structs cannot form cycles, so the garbage collector need not track them."""


class Money(Struct, frozen=True):
    """An amount and its ISO 4217 code; `currency` is "" if the text did not name one."""

    amount: int | float
    currency: str = ""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Let pydantic classes accept a Money or a dictionary of its parts."""
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(
            lambda value: msgspec.convert(value, cls, from_attributes=True),
            serialization=core_schema.plain_serializer_function_ser_schema(msgspec.to_builtins),
        )

    def __str__(self) -> str:
        cents = f"{self.amount:.2f}" if isinstance(self.amount, float) else str(self.amount)
        amount = cents if float(cents) == self.amount else repr(self.amount)
        if len(amount.partition(".")[2]) == 3:
            # "1.234 EUR" would be read back as 1234.
            amount += "0"
        return f"{amount} {self.currency}".strip()


Value: TypeAlias = str | int | float | bool | tuple[str, ...] | Money | None


class Field(Struct, frozen=True):
    name: str
    type: FieldType = "text"
    question: str = ""
    description: str = ""
    unit: str = ""
    options: tuple[str, ...] = ()
    required: bool = False
    role: Role = "standard"
    depends_on: tuple[str, ...] = ()

    @property
    def is_asked(self) -> bool:
        """True if runs fill it: it has a question, or depends on other columns."""
        return bool(self.question or self.depends_on)


class Evidence(Struct, frozen=True):
    """A quote that supports a value, at `start:end` of the stored text of `origin` (a URL or a document id), or in the
    page's title, which is not part of that text."""

    origin: str
    title: str = ""
    quote: str = ""
    start: int | None = None
    end: int | None = None
    page: int | None = None
    domain: str = ""
    retrieved_at: str = ""
    content_hash: str = ""
    stance: Stance = "supports"

    @property
    def is_title(self) -> bool:
        return self.start is None and bool(self.quote) and self.quote in self.title


class Conflict(Struct, frozen=True):
    """Another value for the same cell, with its evidence from independent sources; with a `reason`, another reading of
    the column or of the text."""

    value: Value
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""


class Cell(Struct, frozen=True):
    """A value with its origin. A cell that was never written is `Cell()`: PENDING and empty."""

    value: Value = None
    raw_value: str | None = None
    status: Status = "PENDING"
    reason: Reason | None = None
    confidence: float | None = None
    basis: Basis | None = None
    converted_by: str = ""
    """The rule that derives the value from its quote, such as "country and nationality", or the calculation from
    figures of its quotes."""
    evidence: tuple[Evidence, ...] = ()
    conflict: tuple[Conflict, ...] = ()
    stale: bool = False
    cost: float = 0.0
    attempt: int = 0
    run_id: str | None = None
    updated_at: str | None = None
    error: str | None = None
    imported: bool = False
    """True if the evidence came with an imported file: no run of this installation found or checked it."""

    @property
    def needs_work(self) -> bool:
        """True if a run should fill the cell. A cell skipped because the budget was spent was never looked for, so the
        next run fills it."""
        return self.status in ("PENDING", "FLAGGED") or (self.status == "FAILED" and self.reason == "over_budget")

    @property
    def is_unfound(self) -> bool:
        """True if it needs work, or was looked for and not found."""
        return self.needs_work or self.status == "FAILED"

    @property
    def stays_if_not_found(self) -> bool:
        """True if it has a value that a failed search must not remove. A formula's value is removed once its inputs
        have changed, since the failure of the formula is then the right result."""
        is_outdated_formula = self.stale and self.basis == "computed" and not self.converted_by
        return self.value is not None and not is_outdated_formula

    def keeps_its_value(self, proposed: Cell) -> bool:
        """Return True if applying `proposed`, for which nothing was found, leaves this cell unchanged."""
        return proposed.value is None and self.stays_if_not_found

    @property
    def is_given(self) -> bool:
        """True for an imported value that no run or edit has touched."""
        return self.status == "ENRICHED" and self.run_id is None and self.updated_at is None

    @property
    def shown_basis(self) -> Basis | None:
        """The basis to display. "given" is derived for imported values, to avoid storing it a million times."""
        is_imported = self.value is not None and self.run_id is None and self.updated_at is None
        return self.basis or ("given" if is_imported else None)

    @property
    def confidence_label(self) -> Label:
        return confidence_label(self.confidence)


PENDING = Cell()


def make_given_cell(value: Value, raw_value: str | None = None) -> Cell:
    """Return a cell with its owner's value, which is taken as true and needs no evidence."""
    if value is None:
        return PENDING
    return Cell(value=value, raw_value=raw_value, status="ENRICHED", confidence=1.0)


# The highest confidence of a value that something speaks against, or that no quote settles: below "high".
MAX_DOUBTED_CONFIDENCE = 0.75


def confidence_label(confidence: float | None) -> Label:
    if not confidence or confidence <= 0:
        return "none"
    # Defined once, so that a label means the same in every interface and export.
    if confidence >= 0.8:
        return "high"
    return "medium" if confidence >= 0.5 else "low"


class Row(Struct, frozen=True):
    """`key` is the normalized name, for finding duplicates. A field without an entry in `cells` is PENDING."""

    id: RowId
    key: str = ""
    cells: Mapping[str, Cell] = {}

    def cell(self, field: str) -> Cell:
        return self.cells.get(field, PENDING)


# Asked for each cell of a row, while a table has few names.
@lru_cache(maxsize=1 << 12)
def column_key(name: str) -> str:
    """Return the key of a column's name: the same for every case, white space and Unicode form."""
    return " ".join(unicodedata.normalize("NFC", name.casefold()).split())


class Table(Struct, frozen=True):
    """`rows` are in ascending order of their id. `key_field` is the column that names what each row is about."""

    id: str
    name: str
    fields: tuple[Field, ...] = ()
    rows: tuple[Row, ...] = ()
    key_field: str = ""

    def field(self, name: str) -> Field | None:
        return find_field(self.fields, name)

    def require_field(self, name: str) -> Field:
        """Return the field; raise NotFound with the names of all columns."""
        return require_field(self.id, self.fields, name)

    def row(self, row_id: RowId) -> Row | None:
        return next((row for row in self.rows if row.id == row_id), None)

    @property
    def shown_fields(self) -> tuple[Field, ...]:
        return tuple(field for field in self.fields if field.role != "qualification")


def find_field(fields: Sequence[Field], name: str) -> Field | None:
    """Return the field of exactly that name, else the first whose name differs only in its spelling."""
    exact = next((field for field in fields if field.name == name), None)
    if exact is not None:
        return exact
    wanted = column_key(name)
    return next((field for field in fields if column_key(field.name) == wanted), None)


def require_field(table_id: str, fields: Sequence[Field], name: str) -> Field:
    if (found := find_field(fields, name)) is None:
        known = ", ".join(field.name for field in fields[:50])
        raise NotFound(f"Table {table_id} has no column {name!r}.", advice=f"It has: {known or 'none'}.")
    return found


class Step(Struct, frozen=True):
    """One entry of a trace: an action taken for a cell, readable by a person."""

    type: StepType
    detail: str
    data: Mapping[str, str | int | float | bool | None] = {}


class Finding(Struct, frozen=True):
    """A strategy's answer for one field of one row. The engine turns it into a proposed cell.

    `steps` are those taken for this field alone, in addition to the reported steps of the whole row. An `exact` value
    was computed, not read from prose, so its text is kept unchanged ("Unknown" is then a value, not a missing answer).
    """

    field: str
    value: Value = None
    raw_value: str | None = None
    confidence: float = 0.0
    basis: Basis | None = None
    converted_by: str = ""
    evidence: tuple[Evidence, ...] = ()
    conflict: tuple[Conflict, ...] = ()
    reason: Reason | None = None
    error: str | None = None
    steps: tuple[Step, ...] = ()
    exact: bool = False
    attempt: int = 1
    """The number of the attempt at the row in which it was found or given up."""


Weakness: TypeAlias = Literal["missing", "blocked", "unsure", "disputed"]


class WeakColumn(Struct, frozen=True):
    """A column that is not good enough: why (`reason`), and what to look for instead (`hint`). `confidence` is 0 if
    nothing was found."""

    name: str
    weakness: Weakness
    reason: str
    hint: str = ""
    confidence: float = 0.0


class Assessment(Struct, frozen=True):
    """The quality gate's judgement of a row: its weak columns."""

    weak: tuple[WeakColumn, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.weak

    @property
    def suggestions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(column.hint for column in self.weak if column.hint))


class Attempt(Struct, frozen=True):
    """One attempt at a row: its columns, what was tried, and the results."""

    number: int
    columns: tuple[str, ...]
    patterns: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    """Every page that was requested; `refused` are those that could not be read."""
    refused: tuple[str, ...] = ()
    results: Mapping[str, str] = {}
    confidences: Mapping[str, float] = {}
    assessment: Assessment = Assessment()
