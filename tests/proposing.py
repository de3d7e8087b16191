"""Proposals made by hand: what a run would have proposed, without the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tablewright.domain.model import Cell, Field, Reason
from tablewright.domain.proposal import CellAt, ProposedCell
from tablewright.domain.run import Usage
from tablewright.store.records import utc_now
from tablewright.store.store import Store


def not_found(reason: Reason = "not_found") -> Cell:
    return Cell(status="FAILED", reason=reason, run_id="r1", attempt=1, updated_at=utc_now())


def newly_found(value: int | str) -> Cell:
    return Cell(value=value, status="ENRICHED", confidence=0.9, run_id="r1", attempt=1, updated_at=utc_now())


async def propose(store: Store, table_id: str, cells: Mapping[CellAt, Cell], fields: Sequence[Field] = ()) -> str:
    """Return the id of an open proposal for these cells; `fields` are new or changed columns."""
    table = await store.tables.load(table_id)
    run_id = await store.runs.start(table_id, "enrich", {"strategy": "lookup"})
    named = {name: table.field(name) for _, name in cells}
    known = [field for field in named.values() if field is not None]
    as_of = (await store.tables.rows(table_id, [])).as_of
    proposal_id = await store.proposals.create(table_id, run_id, [*known, *fields])
    operations = [ProposedCell(row_id=row, field=name, cell=cell, as_of=as_of) for (row, name), cell in cells.items()]
    await store.proposals.add(proposal_id, operations)
    await store.proposals.finish(proposal_id, "looked again")
    await store.runs.finish(run_id, "done", Usage())
    return proposal_id
