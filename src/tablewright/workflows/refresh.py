"""Refresh: fill the stale cells of a table again, each by the strategy that filled it before.

A cell that depends on another stale cell comes in a later round: each round is filled and applied before the next one
reads the table. This module only plans; the engine fills.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import msgspec

from tablewright.domain.edits import Draft
from tablewright.domain.history import StaleCell
from tablewright.domain.model import Field, Struct, Table
from tablewright.domain.proposal import CellAt
from tablewright.domain.run import ProgressCallback, ignore_progress
from tablewright.engine import planning
from tablewright.engine.fill import FillRun
from tablewright.engine.policy import FillPlan
from tablewright.errors import NotFound
from tablewright.store.store import Store
from tablewright.strategies.strategy import OpenTools, open_no_tools


class RefreshRound(Struct, frozen=True, gc=True):
    """Stale cells that one run fills again: none of them depends on another, and all were filled in the same way."""

    strategy: str
    """If unknown, a formula is computed and a question is answered from the web."""
    params: Mapping[str, str]
    fields: tuple[str, ...]
    cells: tuple[StaleCell, ...]

    @property
    def cost(self) -> float:
        """The cost of these cells last time, in dollars."""
        return sum(cell.cost for cell in self.cells)


async def list_refresh_rounds(store: Store, table_id: str, names: Sequence[str] = ()) -> list[RefreshRound]:
    """Return the rounds for all stale cells, or for those in the columns `names`, in order."""
    table = await store.tables.find(table_id)
    wanted = {Draft(table).field(name).name for name in names}
    cells = [cell for cell in await store.log.stale(table.id) if not wanted or cell.field in wanted]
    depths = dependency_depths(table, {cell.field for cell in cells})
    ways = {}
    for run_id in {cell.run_id for cell in cells}:
        # An imported cell has no run: its question decides.
        with suppress(NotFound):
            ways[run_id] = method_in_spec((await store.runs.get(run_id)).spec)
    natural = {field.name: planning.choose_strategy([field]) for field in table.fields}
    groups: dict[tuple[int, str, bytes], list[StaleCell]] = {}
    for cell in cells:
        strategy, params = ways.get(cell.run_id, ("", b"{}"))
        # The depth first: cells that others depend on are filled and applied before them.
        groups.setdefault((depths[cell.field], strategy or natural[cell.field], params), []).append(cell)
    return [
        RefreshRound(
            strategy=strategy,
            params=msgspec.json.decode(params),
            fields=tuple(field.name for field in table.fields if any(cell.field == field.name for cell in group)),
            cells=tuple(group),
        )
        for (_, strategy, params), group in sorted(groups.items(), key=lambda item: item[0])
    ]


def method_in_spec(spec: Mapping[str, Any]) -> tuple[str, bytes]:
    """Return the strategy of a run and its parameters."""
    # As sorted bytes, because parameters are compared and used as a key.
    return spec.get("strategy", ""), msgspec.json.encode(spec.get("params", {}), order="sorted")


class FillMethod(Struct, frozen=True, gc=True):
    """Columns that are filled in the same way."""

    strategy: str
    params: Mapping[str, str]
    fields: tuple[Field, ...]


async def list_fill_methods(store: Store, table: Table, names: Collection[str] = ()) -> list[FillMethod]:
    """Return the asked columns, or those in `names`, grouped by the strategy of their last run; a column without a run
    gets the natural strategy of its question."""
    last: dict[str, tuple[str, bytes]] = {}
    for run in await store.runs.all(table.id):
        if run.kind == "enrich" and run.status != "failed":
            for name in run.spec.get("fields", ()):
                # Runs come newest first, so the first one that is met is the last one that filled the column.
                last.setdefault(name, method_in_spec(run.spec))
    groups: dict[tuple[str, bytes], list[Field]] = {}
    for field in table.fields:
        if field.is_asked and (not names or field.name in names):
            strategy, params = last.get(field.name, ("", b"{}"))
            groups.setdefault((strategy or planning.choose_strategy([field]), params), []).append(field)
    return [
        FillMethod(strategy=strategy, params=msgspec.json.decode(params), fields=tuple(fields))
        for (strategy, params), fields in groups.items()
    ]


async def plan_refresh_round(
    store: Store,
    of: RefreshRound,
    filling: FillPlan,
    open_tools: OpenTools = open_no_tools,
    *,
    waiting: bool = False,
    watch: ProgressCallback = ignore_progress,
) -> FillRun | None:
    """Return a run over the cells of the round that are still stale, and none of whose own inputs is; None if there is
    none. `filling` is how. With `waiting`, also plan those whose inputs are stale, to know what all would take."""
    table = filling.table
    cells = await find_ready_cells(store, table, of, waiting=waiting)
    if not cells:
        return None
    fields = [field for field in table.fields if any(name == field.name for _, name in cells)]
    filling = replace(filling, fields=fields, strategy=of.strategy, params=of.params, only=cells)
    return await planning.prepare_fill(store, filling, open_tools, watch=watch)


async def find_ready_cells(store: Store, table: Table, of: RefreshRound, *, waiting: bool = False) -> set[CellAt]:
    """Return the cells of the round that can be filled now. Columns in a circle wait only for earlier columns of it, or
    they would wait for each other forever."""
    stale = {(cell.row_id, cell.field) for cell in await store.log.stale(table.id)}
    depths = dependency_depths(table, {name for _, name in stale})
    inputs = {
        field.name: [name for name in field.depends_on if depths.get(name, 0) < depths[field.name]]
        for field in table.fields
        if field.name in depths
    }
    return {
        at
        for at in ((cell.row_id, cell.field) for cell in of.cells)
        if at in stale and (waiting or not any((at[0], name) in stale for name in inputs[at[1]]))
    }


def dependency_depths(table: Table, names: Collection[str]) -> dict[str, int]:
    """Return 0 for a column without dependencies among `names`, else one more than its deepest one. A circle is cut at
    the column that comes first in the table."""
    inputs = {field.name: field.depends_on for field in table.fields}
    depths: dict[str, int] = {}

    def depth(name: str, above: tuple[str, ...]) -> int:
        if name not in depths:
            # Columns above are left out: that is where a circle is cut.
            deeper = [depth(each, (*above, name)) for each in inputs[name] if each in names and each not in above]
            depths[name] = 1 + max(deeper, default=-1)
        return depths[name]

    for field in table.fields:
        if field.name in names:
            depth(field.name, (field.name,))
    return depths
