"""What a cell holds is stored once, and is read back as it was written."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from sqlalchemy import Connection, func, select, text

from tablewright.domain.edits import SetCell
from tablewright.domain.model import Cell, Evidence, Field, Step, make_given_cell
from tablewright.domain.proposal import ProposedCell
from tablewright.store import schema
from tablewright.store.store import Store

FOUND = Cell(
    value="a \0 b",
    raw_value="a b",
    status="ENRICHED",
    confidence=0.5,
    basis="stated",
    evidence=(Evidence(origin="https://a.example/", quote='"stale":true', start=1, end=2),),
    cost=0.25,
    attempt=2,
    run_id="r1",
    updated_at="2026-01-01T00:00:00Z",
)
CASES = (
    ProposedCell(row_id=1, field="Town", cell=Cell()),
    ProposedCell(row_id=1, field="Town", cell=Cell(value=1)),
    ProposedCell(row_id=1, field="Town", cell=Cell(status="FAILED", reason="error", error="too large")),
    ProposedCell(row_id=1, field="Town", cell=FOUND, as_of=7),
    ProposedCell(
        row_id=1,
        field="Town",
        cell=FOUND,
        steps=(Step(type="compute", detail='"stale":true'), Step(type="answer", detail="a b")),
    ),
    ProposedCell(
        row_id=1,
        field="Town",
        cell=FOUND,
        steps=(Step(type="search", detail="x", data={"n": 1}), Step(type="answer", detail="a b", data={"m": None})),
    ),
    ProposedCell(row_id=1, field="Town", cell=Cell(), steps=(Step(type="error", detail=""),)),
)


async def propose(store: Store, rows: int) -> tuple[str, str]:
    table = await store.tables.create("Towns", [Field(name="Town")], [[make_given_cell("x")]] * rows)
    run_id = await store.runs.start(table.id, "enrich", {})
    return table.id, await store.proposals.create(table.id, run_id, [])


async def count(store: Store, table: str) -> int:
    query = select(func.count()).select_from(schema.metadata.tables[table])
    return int(await store.database.read(lambda connection: connection.execute(query).scalar_one()))


@pytest.mark.parametrize("proposed", CASES, ids=range(len(CASES)))
async def test_a_proposed_cell_is_read_back_as_it_was_written(store: Store, proposed: ProposedCell) -> None:
    table_id, proposal_id = await propose(store, rows=2)
    other = msgspec.structs.replace(proposed, row_id=2, cell=msgspec.structs.replace(proposed.cell, value="other"))
    await store.proposals.add(proposal_id, [proposed, other])
    assert await store.proposals.operations(proposal_id) == [proposed, other]
    await store.proposals.finish(proposal_id, "")
    await store.proposals.apply(proposal_id, empties=True)
    assert (await store.tables.load(table_id)).rows[0].cell("Town") == proposed.cell


async def test_a_cell_is_stored_once_for_its_proposal_the_log_and_the_table(store: Store) -> None:
    table_id, proposal_id = await propose(store, rows=50)
    cells = [ProposedCell(row_id=number, field="Town", cell=FOUND) for number in range(1, 51)]
    await store.proposals.add(proposal_id, cells)
    await store.proposals.finish(proposal_id, "")
    change = (await store.proposals.apply(proposal_id)).change
    assert change is not None
    assert change.edits == 50
    assert (await count(store, "contents"), await count(store, "origins")) == (50, 1)
    # An undo and another edit refer to what is there.
    await store.history.undo_change(table_id, change.number)
    await store.log.commit(table_id, [SetCell(row_id=1, field="Town", cell=make_given_cell("new"))])
    assert await count(store, "contents") == 51
    versions = await store.log.cell_history(table_id, 1, "Town")
    assert [each.cell.value for each in versions] == ["new", "x", FOUND.value, "x"]
    await store.tables.remove(table_id)
    assert (await count(store, "contents"), await count(store, "origins")) == (0, 0)


async def test_a_later_attempt_leaves_nothing_of_the_earlier_one(store: Store) -> None:
    _, proposal_id = await propose(store, rows=1)
    for attempt in (1, 2, 3):
        cell = msgspec.structs.replace(FOUND, attempt=attempt)
        await store.proposals.add(proposal_id, [ProposedCell(row_id=1, field="Town", cell=cell)])
    assert await count(store, "contents") == 1


async def test_a_column_of_formulas_takes_at_most_300_bytes_a_cell(tmp_path: Path) -> None:
    rows = 10_000

    def file_size(connection: Connection) -> int:
        query = text("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        return int(connection.execute(query).scalar_one())

    async with await Store.open(f"sqlite:///{tmp_path}/size.db") as store:
        _, proposal_id = await propose(store, rows)
        before = await store.database.read(file_size)
        for first in range(1, rows, 500):
            cells = []
            for row_id in range(first, first + 500):
                said = f"round({row_id}.95 * 5, 2) = {row_id * 5}.75"
                cell = msgspec.structs.replace(
                    FOUND,
                    value=row_id * 5 + 0.75,
                    raw_value=f"{row_id * 5}.75",
                    evidence=(Evidence(origin="formula", quote=said),),
                )
                steps = (Step(type="compute", detail=said), Step(type="answer", detail=f"{row_id * 5}.75"))
                cells.append(ProposedCell(row_id=row_id, field="Town", cell=cell, steps=steps))
            await store.proposals.add(proposal_id, cells)
        await store.proposals.finish(proposal_id, "")
        await store.proposals.apply(proposal_id)
        assert (await store.database.read(file_size) - before) / rows <= 300
