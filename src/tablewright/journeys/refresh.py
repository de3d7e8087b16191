"""Refresh: the stale cells of a table, each filled again in the way it was filled before.

What depends on another stale cell comes after it: a round is filled, and applied, before the next one reads the table.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from tablewright.domain.edits import Draft
from tablewright.domain.history import StaleCell
from tablewright.domain.model import Field, Noun, Table
from tablewright.domain.proposal import CellAt
from tablewright.domain.run import Watch, ignore_progress
from tablewright.engine.fill import Fill, FillPlan
from tablewright.errors import NotFound
from tablewright.journeys import enrich
from tablewright.journeys.enrich import OpenTools, no_tools
from tablewright.store.store import Store


class RefreshRound(Noun, frozen=True, gc=True):
    """Stale cells that one run fills again: none of them depends on another, and all were filled in the same way."""

    strategy: str
    """Where nobody knows, a formula is computed and a question answered from the web."""
    params: Mapping[str, str]
    fields: tuple[str, ...]
    cells: tuple[StaleCell, ...]

    @property
    def cost(self) -> float:
        """What these cells took last time."""
        return sum(cell.cost for cell in self.cells)


async def rounds(store: Store, table_id: str, names: Sequence[str] = ()) -> list[RefreshRound]:
    """All that is stale, or what of it is in the columns `names`, in the order in which to fill it."""
    table = await store.tables.find(table_id)
    wanted = {Draft(table).field(name).name for name in names}
    cells = [cell for cell in await store.log.stale(table.id) if not wanted or cell.field in wanted]
    depths = depths_of(table, {cell.field for cell in cells})
    ways = {run_id: await way_of(store, run_id) for run_id in {cell.run_id for cell in cells}}
    natural = {field.name: enrich.natural_strategy([field]) for field in table.fields}
    groups: dict[tuple[int, str, bytes], list[StaleCell]] = {}
    for cell in cells:
        strategy, params = ways[cell.run_id]
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


async def way_of(store: Store, run_id: str) -> tuple[str, bytes]:
    """The strategy of a run and its parameters; none for a cell that was brought along from elsewhere, whose question
    then tells."""
    try:
        spec = (await store.runs.get(run_id)).spec
    except NotFound:
        return "", b"{}"
    return way_in(spec)


def way_in(spec: Mapping[str, Any]) -> tuple[str, bytes]:
    return spec.get("strategy", ""), msgspec.json.encode(spec.get("params", {}), order="sorted")


class Way(Noun, frozen=True, gc=True):
    """Columns that are filled in the same way."""

    strategy: str
    params: Mapping[str, str]
    fields: tuple[Field, ...]


async def ways(store: Store, table: Table, names: Collection[str] = ()) -> list[Way]:
    """The asked columns, or those of them in `names`, each in the way it was filled last; a column that no run has
    filled, as its question tells."""
    last: dict[str, tuple[str, bytes]] = {}
    for run in await store.runs.all(table.id):
        if run.kind == "enrich" and run.status != "failed":
            for name in run.spec.get("fields", ()):
                last.setdefault(name, way_in(run.spec))
    groups: dict[tuple[str, bytes], list[Field]] = {}
    for field in table.fields:
        if field.is_asked and (not names or field.name in names):
            strategy, params = last.get(field.name, ("", b"{}"))
            groups.setdefault((strategy or enrich.natural_strategy([field]), params), []).append(field)
    return [
        Way(strategy=strategy, params=msgspec.json.decode(params), fields=tuple(fields))
        for (strategy, params), fields in groups.items()
    ]


async def plan(
    store: Store,
    of: RefreshRound,
    filling: FillPlan,
    open_tools: OpenTools = no_tools,
    *,
    waiting: bool = False,
    watch: Watch = ignore_progress,
) -> Fill | None:
    """Return a run over the cells of the round that are still stale, and none of whose own inputs is; None if there is
    none. `filling` is how. With `waiting`, also plan those whose inputs are stale, to know what all would take."""
    table = filling.table
    cells = await ready(store, table, of, waiting=waiting)
    if not cells:
        return None
    fields = [field for field in table.fields if any(name == field.name for _, name in cells)]
    filling = replace(filling, fields=fields, strategy=of.strategy, params=of.params, only=cells)
    return await enrich.plan(store, filling, open_tools, watch=watch)


async def ready(store: Store, table: Table, of: RefreshRound, *, waiting: bool = False) -> set[CellAt]:
    """Which cells of the round can be filled now. Columns in a circle wait only for those that come before them in it,
    else they would wait for each other for ever."""
    stale = {(cell.row_id, cell.field) for cell in await store.log.stale(table.id)}
    depths = depths_of(table, {name for _, name in stale})
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


def depths_of(table: Table, names: Collection[str]) -> dict[str, int]:
    """0 for a column that depends on none of the others, else one more than the deepest it depends on. Columns that
    depend on each other in a circle are cut open where they stand in the table."""
    inputs = {field.name: field.depends_on for field in table.fields}
    depths: dict[str, int] = {}

    def depth(name: str, above: tuple[str, ...]) -> int:
        if name not in depths:
            deeper = [depth(each, (*above, name)) for each in inputs[name] if each in names and each not in above]
            depths[name] = 1 + max(deeper, default=-1)
        return depths[name]

    for field in table.fields:
        if field.name in names:
            depth(field.name, (field.name,))
    return depths
