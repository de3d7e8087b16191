"""Proposals of runs, cell by cell, and the decisions of people about them. Types only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from tablewright.domain.history import Change
from tablewright.domain.model import Cell, Field, RowId, Step, Struct

# "kept": nothing was found, so the cell kept its value.
Decision: TypeAlias = Literal["open", "applied", "refused", "edited", "kept"]
# A row and the name of a field.
CellAt: TypeAlias = tuple[RowId, str]


class ProposedCell(Struct, frozen=True):
    """One proposed cell. `as_of` is the position of the log when the row was read: a later edit of the cell wins.

    `cell` remains what the run proposed, whatever the decision; `edited` is the value that a person wrote instead.
    """

    row_id: RowId
    field: str
    cell: Cell
    steps: tuple[Step, ...] = ()
    as_of: int = 0
    decision: Decision = "open"
    edited: Cell | None = None


ProposalStatus: TypeAlias = Literal["building", "open", "applied", "rejected"]


class ProposalHead(Struct, frozen=True):
    id: str
    table_id: str
    run_id: str
    status: ProposalStatus
    reasoning: str
    fields: tuple[Field, ...]
    created_at: str
    counts: dict[str, int]
    decided_at: str | None = None


class Selection(Struct, frozen=True):
    """A filter for the cells of a proposal; empty means all. A bound on the confidence leaves out cells without a
    value; `below` is exclusive."""

    rows: tuple[RowId, ...] = ()
    fields: tuple[str, ...] = ()
    min_confidence: float | None = None
    below: float | None = None


EVERY_CELL = Selection()


class Review(Struct, frozen=True):
    """A person's decisions, cell by cell. Cells that are not named stay open.

    An accepted cell for which nothing was found keeps its value; only `emptied` removes it."""

    accepted: tuple[CellAt, ...] = ()
    refused: tuple[CellAt, ...] = ()
    edited: Mapping[CellAt, Cell] = {}
    emptied: tuple[CellAt, ...] = ()


class ApplyOutcome(Struct, frozen=True):
    """Numbers of cells after a review. `conflicts` were changed since the run read them: they are unchanged and open.

    Of the `cells` that were written, `edited` hold a person's own value. `gone` belong to rows that were removed
    since, and `too_late` had already been decided by another person, whose decision counts. For `kept` cells nothing
    was found, so they keep their value.
    """

    change: Change | None
    cells: int
    conflicts: int
    edited: int = 0
    refused: int = 0
    gone: int = 0
    too_late: int = 0
    kept: int = 0
