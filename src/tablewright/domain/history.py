"""Types of a table's history (changes, cell versions, rollbacks, stale cells) and of its saved views.

Types only; `store/` reads and writes them."""

from __future__ import annotations

from tablewright.domain.condition import Condition
from tablewright.domain.model import Cell, RowId, Struct


class TableSummary(Struct, frozen=True):
    id: str
    name: str
    row_count: int
    field_count: int
    created_at: str
    changed_at: str
    tags: tuple[str, ...] = ()


class Change(Struct, frozen=True):
    """One line of a table's history."""

    number: int
    at: str
    actor: str
    kind: str
    run_id: str | None = None
    note: str = ""
    edits: int = 0


class CellVersion(Struct, frozen=True):
    change: int
    at: str
    actor: str
    kind: str
    run_id: str | None
    cell: Cell


class WrittenValue(Struct, frozen=True):
    """A value that a person wrote. `stale` are the fields of its row that became stale."""

    field: str
    cell: Cell
    change: Change
    stale: tuple[str, ...] = ()


class Rollback(Struct, frozen=True):
    """Result of an undo. `change` is None if there was nothing left to undo."""

    change: Change | None
    cells: int
    kept_cells: int
    kept_fields: tuple[str, ...] = ()


class StaleCell(Struct, frozen=True):
    """A cell whose inputs changed. `cost` is what it cost last time, the best estimate for filling it again."""

    row_id: RowId
    field: str
    run_id: str
    cost: float = 0.0


class TableActivity(Struct, frozen=True):
    """A fingerprint of a table for detecting news: its latest change, its runs and its proposals."""

    change: int = 0
    runs: tuple[tuple[str, str], ...] = ()
    """Newest first, each with its status."""
    proposals: tuple[tuple[str, str], ...] = ()


class ColumnLayout(Struct, frozen=True):
    name: str
    width: int = 0
    hidden: bool = False


class View(Struct, frozen=True):
    """A saved view. `columns` are in display order; columns that it does not name follow."""

    name: str = ""
    columns: tuple[ColumnLayout, ...] = ()
    sort: str = ""
    descending: bool = False
    only: str = ""
    find: str = ""
    filters: tuple[Condition, ...] = ()
    wrap: bool = False
