"""What a run proposes, and what a person decides about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from tablewright.domain.history import Change
from tablewright.domain.model import Cell, Field, Noun, RowId, Step

Decision: TypeAlias = Literal["open", "applied", "refused", "edited", "kept"]
"""Of a `kept` one nothing was found, and the value that the cell has stayed."""
CellAt: TypeAlias = tuple[RowId, str]
"""A row and the name of a field."""


class Operation(Noun, frozen=True):
    """One proposed cell. `as_of` is where the log stood when the row was read: a later edit of the cell wins.

    `cell` stays what the run proposed, whatever was decided; `edited` is what a person wrote in its place.
    """

    row_id: RowId
    field: str
    cell: Cell
    steps: tuple[Step, ...] = ()
    as_of: int = 0
    decision: Decision = "open"
    edited: Cell | None = None


ProposalStatus: TypeAlias = Literal["building", "open", "applied", "rejected"]


class ProposalHead(Noun, frozen=True):
    id: str
    table_id: str
    run_id: str
    status: ProposalStatus
    reasoning: str
    fields: tuple[Field, ...]
    created_at: str
    counts: dict[str, int]
    decided_at: str | None = None


class Selection(Noun, frozen=True):
    """Which operations of a proposal are meant; everything, unless narrowed. A bound on the confidence leaves out the
    cells without a value; `below` itself is not below."""

    rows: tuple[RowId, ...] = ()
    fields: tuple[str, ...] = ()
    min_confidence: float | None = None
    below: float | None = None


EVERYTHING = Selection()


class Review(Noun, frozen=True):
    """A person's answers, cell by cell. What is not named stays open.

    An accepted cell for which nothing was found keeps the value that it has; only `emptied` takes that value away."""

    accepted: tuple[CellAt, ...] = ()
    refused: tuple[CellAt, ...] = ()
    edited: Mapping[CellAt, Cell] = {}
    emptied: tuple[CellAt, ...] = ()


class Applied(Noun, frozen=True):
    """`conflicts` are cells that somebody changed since the run read them: kept as they are, still open here.

    Of the `cells` that were written, `edited` hold a person's own value. `gone` are cells of rows that were removed
    since, and `too_late` those that somebody else had decided in the meantime: their decision stands. For `kept` cells
    nothing was found, so the value that they have stays.
    """

    change: Change | None
    cells: int
    conflicts: int
    edited: int = 0
    refused: int = 0
    gone: int = 0
    too_late: int = 0
    kept: int = 0
