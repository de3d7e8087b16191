"""The history of a table: its changes, the versions of a cell, what an undo restored, which cells are stale."""

from __future__ import annotations

from tablewright.domain.model import Cell, Noun, RowId


class TableSummary(Noun, frozen=True):
    id: str
    name: str
    row_count: int
    field_count: int
    created_at: str
    changed_at: str
    tags: tuple[str, ...] = ()


class Change(Noun, frozen=True):
    """One line of a table's history."""

    number: int
    at: str
    actor: str
    kind: str
    run_id: str | None = None
    note: str = ""
    edits: int = 0


class CellVersion(Noun, frozen=True):
    change: int
    at: str
    actor: str
    kind: str
    run_id: str | None
    cell: Cell


class WrittenValue(Noun, frozen=True):
    """A person's own value in a table. `stale` are the fields of its row that are stale now."""

    field: str
    cell: Cell
    change: Change
    stale: tuple[str, ...] = ()


class Rollback(Noun, frozen=True):
    """Result of an undo. `change` is None when there was nothing left to undo."""

    change: Change | None
    cells: int
    kept_cells: int
    kept_fields: tuple[str, ...] = ()


class StaleCell(Noun, frozen=True):
    """`cost` is what the cell took last time: the price of filling it again, as far as anybody can know."""

    row_id: RowId
    field: str
    run_id: str
    cost: float = 0.0


class TableActivity(Noun, frozen=True):
    """What tells that something has happened to a table: its newest change, the runs, what is proposed."""

    change: int = 0
    runs: tuple[tuple[str, str], ...] = ()
    """The newest first, each with its status."""
    proposals: tuple[tuple[str, str], ...] = ()
