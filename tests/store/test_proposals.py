from __future__ import annotations

import pytest

from tablewright.errors import NotFound, UsageError
from tablewright.store.proposals import Operation, Selection
from tablewright.store.store import Store
from tablewright.table.edits import RemoveRow, SetCell
from tablewright.table.model import Cell, Field, Step
from tablewright.table.model import given as given_cell

FIELDS = (Field(name="Name"),)
TOTAL = Field(name="Total", type="number", question="{Name}")


def found(value: int, confidence: float = 0.9, attempt: int = 1) -> Cell:
    return Cell(value=value, status="ENRICHED", confidence=confidence, run_id="r1", attempt=attempt, updated_at="t")


NOTHING = Cell(status="FAILED", reason="not_found", run_id="r1", attempt=1, updated_at="t")


async def proposal(store: Store) -> tuple[str, str, str]:
    """Table, run and an open proposal: rows 1 and 2 get a Total, row 3 stays empty."""
    table_id = (await store.tables.create("t", FIELDS, [(given_cell(name),) for name in "abc"], key_field="Name")).id
    run_id = await store.runs.start(table_id, "enrich", {})
    proposal_id = await store.proposals.create(table_id, run_id, [TOTAL])
    cells = {1: found(10), 2: found(20, 0.6), 3: NOTHING}
    operations = [
        Operation(row_id=row_id, field="Total", cell=cell, steps=(Step(type="compute", detail=f"row {row_id}"),))
        for row_id, cell in cells.items()
    ]
    await store.proposals.add(proposal_id, operations)
    await store.proposals.finish(proposal_id, "found 2 of 3")
    return table_id, run_id, proposal_id


async def totals(store: Store, table_id: str) -> list[Cell]:
    return [row.cell("Total") for row in (await store.tables.load(table_id)).rows]


async def test_nothing_reaches_the_table_before_it_is_accepted(store: Store) -> None:
    table_id, _, proposal_id = await proposal(store)
    table = await store.tables.load(table_id)
    assert [field.name for field in table.fields] == ["Name"]
    head = await store.proposals.get(proposal_id)
    assert (head.status, head.counts) == ("open", {"open": 3, "with_value": 2, "without_value": 1})


async def test_applying_adds_the_column_and_writes_values_and_reasons(store: Store) -> None:
    table_id, run_id, proposal_id = await proposal(store)
    done = await store.proposals.apply(proposal_id, actor="ann")
    assert (done.cells, done.conflicts) == (3, 0)
    assert await totals(store, table_id) == [found(10), found(20, 0.6), NOTHING]
    assert (await store.tables.find(table_id)).fields == (*FIELDS, TOTAL)
    newest = (await store.log.changes(table_id))[0]
    assert (newest.kind, newest.actor, newest.run_id, newest.edits) == ("apply", "ann", run_id, 4)
    assert (await store.proposals.get(proposal_id)).status == "applied"
    assert await store.log.problems(table_id) == []


async def test_a_decided_proposal_cannot_be_applied_again(store: Store) -> None:
    table_id, _, proposal_id = await proposal(store)
    await store.proposals.apply(proposal_id)
    with pytest.raises(UsageError, match="already applied"):
        await store.proposals.apply(proposal_id)
    assert len(await store.log.changes(table_id)) == 2


@pytest.mark.parametrize(
    ("selection", "written"),
    [
        (Selection(rows=(2,)), [None, 20, None]),
        (Selection(min_confidence=0.8), [10, None, None]),
        (Selection(fields=("total",), rows=(1, 2)), [10, 20, None]),
    ],
)
async def test_a_part_can_be_applied_and_the_rest_stays_open(
    store: Store, selection: Selection, written: list[int | None]
) -> None:
    table_id, _, proposal_id = await proposal(store)
    await store.proposals.apply(proposal_id, selection)
    assert [cell.value for cell in await totals(store, table_id)] == written
    assert (await store.proposals.get(proposal_id)).status == "open"
    await store.proposals.apply(proposal_id)
    assert [cell.value for cell in await totals(store, table_id)] == [10, 20, None]


async def test_a_rejected_proposal_leaves_the_table_alone(store: Store) -> None:
    table_id, _, proposal_id = await proposal(store)
    assert await store.proposals.reject(proposal_id, Selection(rows=(1,))) == 1
    assert await store.proposals.reject(proposal_id) == 2
    assert (await store.proposals.get(proposal_id)).status == "rejected"
    assert len(await store.log.changes(table_id)) == 1


async def test_what_was_changed_since_the_run_read_it_is_kept_unless_forced(store: Store) -> None:
    table_id, _, proposal_id = await proposal(store)
    await store.proposals.apply(proposal_id, Selection(rows=(3,)))
    await store.log.commit(table_id, [SetCell(row_id=1, field="Total", cell=given_cell(11))])
    done = await store.proposals.apply(proposal_id)
    assert (done.cells, done.conflicts) == (1, 1)
    assert [cell.value for cell in await totals(store, table_id)] == [11, 20, None]
    assert (await store.proposals.get(proposal_id)).counts["open"] == 1
    forced = await store.proposals.apply(proposal_id, force=True)
    assert (forced.cells, (await totals(store, table_id))[0].value) == (1, 10)


async def test_a_row_that_is_gone_is_left_out(store: Store) -> None:
    table_id, _, proposal_id = await proposal(store)
    await store.log.commit(table_id, [RemoveRow(row_id=1)])
    assert (await store.proposals.apply(proposal_id)).cells == 2
    assert [row.id for row in (await store.tables.load(table_id)).rows] == [2, 3]
    assert (await store.proposals.get(proposal_id)).counts["refused"] == 1


async def test_the_same_attempt_twice_is_written_once_and_a_later_one_replaces_it(store: Store) -> None:
    _, _, proposal_id = await proposal(store)
    await store.proposals.add(proposal_id, [Operation(row_id=1, field="Total", cell=found(99, attempt=1))])
    assert [op.cell.value for op in await store.proposals.operations(proposal_id)] == [10, 20, None]
    await store.proposals.add(proposal_id, [Operation(row_id=1, field="Total", cell=found(99, attempt=2))])
    assert [op.cell.value for op in await store.proposals.operations(proposal_id)] == [99, 20, None]


async def test_operations_come_page_by_page_with_their_steps(store: Store) -> None:
    _, _, proposal_id = await proposal(store)
    first = await store.proposals.operations(proposal_id, limit=2)
    rest = await store.proposals.operations(proposal_id, after=(first[-1].row_id, first[-1].field))
    assert [op.steps[0].detail for op in first + rest] == ["row 1", "row 2", "row 3"]
    assert [op.row_id for op in await store.proposals.operations(proposal_id, failed=True)] == [3]


async def test_a_proposal_whose_run_has_not_finished_cannot_be_applied(store: Store) -> None:
    table_id = (await store.tables.create("t", FIELDS)).id
    proposal_id = await store.proposals.create(table_id, "r1", [TOTAL])
    with pytest.raises(UsageError, match="has not finished"):
        await store.proposals.apply(proposal_id)


async def test_what_a_run_that_died_had_found_can_be_applied_by_force_or_rejected(store: Store) -> None:
    table_id = (await store.tables.create("t", FIELDS, [(given_cell("a"),)])).id
    for decide in ("apply", "reject"):
        proposal_id = await store.proposals.create(table_id, "r1", [TOTAL])
        await store.proposals.add(proposal_id, [Operation(row_id=1, field="Total", cell=found(10))])
        if decide == "apply":
            assert (await store.proposals.apply(proposal_id, force=True)).cells == 1
        else:
            assert await store.proposals.reject(proposal_id) == 1
        assert (await store.proposals.get(proposal_id)).status in ("applied", "rejected")


async def test_unknown_names_are_said(store: Store) -> None:
    _, _, proposal_id = await proposal(store)
    with pytest.raises(NotFound, match="says nothing about 'Colour'"):
        await store.proposals.apply(proposal_id, Selection(fields=("Colour",)))
    with pytest.raises(NotFound, match="no proposal 'p0'"):
        await store.proposals.get("p0")
