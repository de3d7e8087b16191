from __future__ import annotations

import asyncio

import pytest
from msgspec import structs
from sqlalchemy import event

from tablewright.domain.edits import RemoveField, RemoveRow, SetCell
from tablewright.domain.model import Cell, Field, Reason, Step
from tablewright.domain.model import make_given_cell as given_cell
from tablewright.domain.proposal import EVERY_CELL, ProposedCell, Review, Selection
from tablewright.domain.run import Usage
from tablewright.errors import NotFound, UsageError
from tablewright.store.proposals import ApplyKind
from tablewright.store.store import Store
from tests.proposing import newly_found, not_found, propose

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
        ProposedCell(row_id=row_id, field="Total", cell=cell, steps=(Step(type="compute", detail=f"row {row_id}"),))
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
    await store.proposals.add(proposal_id, [ProposedCell(row_id=1, field="Total", cell=found(99, attempt=1))])
    assert [op.cell.value for op in await store.proposals.operations(proposal_id)] == [10, 20, None]
    await store.proposals.add(proposal_id, [ProposedCell(row_id=1, field="Total", cell=found(99, attempt=2))])
    assert [op.cell.value for op in await store.proposals.operations(proposal_id)] == [99, 20, None]


async def test_operations_come_page_by_page_with_their_steps(store: Store) -> None:
    _, _, proposal_id = await proposal(store)
    first = await store.proposals.operations(proposal_id, limit=2)
    rest = await store.proposals.operations(proposal_id, after=(first[-1].row_id, first[-1].field))
    assert [op.steps[0].detail for op in first + rest] == ["row 1", "row 2", "row 3"]
    assert [op.row_id for op in await store.proposals.operations(proposal_id, failed=True)] == [3]


async def test_a_page_is_found_without_reading_the_pages_before_it(store: Store) -> None:
    _, _, proposal_id = await proposal(store)
    engine = store.proposals._database.engine
    if engine.dialect.name != "sqlite":
        pytest.skip("a plan of SQLite")
    asked: list[tuple[str, tuple[object, ...]]] = []
    event.listen(engine, "before_cursor_execute", lambda *call: asked.append(call[2:4]))
    await store.proposals.operations(proposal_id, after=(2, "Total"))
    statement, values = next(each for each in asked if "operations.row_id" in each[0])
    with engine.connect() as connection:
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values).all()
    assert "proposal_id=? AND (row_id,field)>(?,?)" in plan[0].detail


async def test_a_proposal_whose_run_has_not_finished_cannot_be_applied(store: Store) -> None:
    table_id = (await store.tables.create("t", FIELDS)).id
    proposal_id = await store.proposals.create(table_id, "r1", [TOTAL])
    with pytest.raises(UsageError, match="has not finished"):
        await store.proposals.apply(proposal_id)


async def test_what_a_run_that_died_had_found_can_be_applied_by_force_or_rejected(store: Store) -> None:
    table_id = (await store.tables.create("t", FIELDS, [(given_cell("a"),)])).id
    for decide in ("apply", "reject"):
        proposal_id = await store.proposals.create(table_id, "r1", [TOTAL])
        await store.proposals.add(proposal_id, [ProposedCell(row_id=1, field="Total", cell=found(10))])
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


# ── cell by cell ─────────────────────────────────────────────────────────────────────────────────────────────────────


def typed(value: int) -> Cell:
    return Cell(
        value=value,
        raw_value=str(value),
        status="ENRICHED",
        confidence=1.0,
        run_id="r1",
        updated_at="t",
        error="by ann",
    )


async def decisions(store: Store, proposal_id: str) -> dict[int, str]:
    return {op.row_id: op.decision for op in await store.proposals.operations(proposal_id)}


async def test_a_review_accepts_refuses_and_edits_in_one_change(store: Store) -> None:
    table_id, run_id, proposal_id = await proposal(store)
    review = Review(accepted=((1, "Total"),), refused=((2, "Total"),), edited={(3, "Total"): typed(7)})
    done = await store.proposals.decide(proposal_id, review, actor="ann")
    assert (done.cells, done.edited, done.refused, done.conflicts) == (2, 1, 1, 0)
    assert await totals(store, table_id) == [found(10), Cell(), typed(7)]
    newest, first = await store.log.changes(table_id)
    assert (newest.actor, newest.run_id, newest.kind, first.number) == ("ann", run_id, "apply", 1)
    assert newest.note == "found 2 of 3; 1 edited by hand"
    assert (await store.proposals.get(proposal_id)).status == "applied"
    assert await store.log.problems(table_id) == []


async def test_a_decision_is_kept_beside_what_was_proposed(store: Store) -> None:
    _, _, proposal_id = await proposal(store)
    await store.proposals.decide(proposal_id, Review(refused=((1, "Total"),), edited={(2, "Total"): typed(21)}))
    first, second, third = await store.proposals.operations(proposal_id)
    assert (first.cell, first.decision, first.edited) == (found(10), "refused", None)
    assert (second.cell, second.decision, second.edited) == (found(20, 0.6), "edited", typed(21))
    assert (third.cell, third.decision, third.edited) == (NOTHING, "open", None)
    counts = (await store.proposals.get(proposal_id)).counts
    assert (counts["refused"], counts["edited"], counts["open"]) == (1, 1, 1)
    await store.proposals.reject(proposal_id)
    assert (await store.proposals.get(proposal_id)).status == "applied"


async def test_what_a_review_does_not_name_stays_open_and_can_be_decided_later(store: Store) -> None:
    table_id, _, proposal_id = await proposal(store)
    await store.proposals.decide(proposal_id, Review(edited={(1, "Total"): typed(11)}))
    assert (await store.proposals.get(proposal_id)).status == "open"
    await store.proposals.apply(proposal_id)
    assert [cell.value for cell in await totals(store, table_id)] == [11, 20, None]
    assert await decisions(store, proposal_id) == {1: "edited", 2: "applied", 3: "applied"}


async def test_a_review_that_only_refuses_changes_nothing_in_the_table(store: Store) -> None:
    table_id, _, proposal_id = await proposal(store)
    done = await store.proposals.decide(proposal_id, Review(refused=tuple((row, "Total") for row in (1, 2, 3))))
    assert (done.refused, done.change) == (3, None)
    assert (await store.proposals.get(proposal_id)).status == "rejected"
    assert len(await store.log.changes(table_id)) == 1


async def test_undoing_the_run_undoes_what_was_accepted_and_what_was_edited(store: Store) -> None:
    table_id, run_id, proposal_id = await proposal(store)
    before = await store.tables.load(table_id)
    await store.proposals.decide(proposal_id, Review(accepted=((1, "Total"),), edited={(2, "Total"): typed(21)}))
    await store.proposals.decide(proposal_id, Review(edited={(3, "Total"): typed(31)}))
    assert [cell.value for cell in await totals(store, table_id)] == [10, 21, 31]
    assert (await store.history.undo_run(table_id, run_id)).cells == 3
    assert await store.tables.load(table_id) == before


@pytest.mark.parametrize("field_goes", [True, False])
async def test_a_review_that_fails_leaves_nothing_half_done(store: Store, field_goes: bool) -> None:
    price = Field(name="Price", type="number")
    table_id = (await store.tables.create("t", (*FIELDS, price), [(given_cell("a"), given_cell(1))])).id
    proposal_id = await store.proposals.create(table_id, "r1", [TOTAL])
    operations = [ProposedCell(row_id=1, field=name, cell=found(10)) for name in ("Total", "Price")]
    await store.proposals.add(proposal_id, operations)
    await store.proposals.finish(proposal_id, "")
    if field_goes:
        await store.log.commit(table_id, [RemoveField(name="Price")])
    review = Review(refused=((1, "Total"),), edited={(1, "Price" if field_goes else "Colour"): typed(5)})
    before = await store.tables.load(table_id), await store.log.changes(table_id)
    with pytest.raises(NotFound, match="'Price' any more" if field_goes else "nothing about row 1, Colour"):
        await store.proposals.decide(proposal_id, review)
    with pytest.raises(UsageError, match="answered twice"):
        await store.proposals.decide(proposal_id, Review(accepted=((1, "Total"),), refused=((1, "Total"),)))
    assert (await store.tables.load(table_id), await store.log.changes(table_id)) == before
    assert {op.decision for op in await store.proposals.operations(proposal_id)} == {"open"}


async def test_a_reviewed_cell_that_was_changed_since_is_kept_and_stays_open_unless_forced(store: Store) -> None:
    table_id, _, proposal_id = await proposal(store)
    await store.proposals.decide(proposal_id, Review(accepted=((3, "Total"),)))
    await store.log.commit(table_id, [SetCell(row_id=1, field="Total", cell=given_cell(11))])
    review = Review(accepted=((2, "Total"),), edited={(1, "Total"): typed(12)})
    done = await store.proposals.decide(proposal_id, review)
    assert (done.cells, done.edited, done.conflicts) == (1, 0, 1)
    assert [cell.value for cell in await totals(store, table_id)] == [11, 20, None]
    kept = await store.proposals.operation(proposal_id, 1, "total")
    assert (kept.decision, kept.edited) == ("open", None)
    forced = await store.proposals.decide(proposal_id, Review(edited={(1, "Total"): typed(12)}), force=True)
    assert (forced.edited, (await totals(store, table_id))[0].value) == (1, 12)


async def test_a_reviewed_cell_of_a_row_that_is_gone_is_refused(store: Store) -> None:
    table_id, _, proposal_id = await proposal(store)
    await store.log.commit(table_id, [RemoveRow(row_id=1)])
    review = Review(accepted=((2, "Total"),), edited={(1, "Total"): typed(12)})
    done = await store.proposals.decide(proposal_id, review)
    assert (done.cells, done.edited, done.gone) == (1, 0, 1)
    gone = await store.proposals.operation(proposal_id, 1, "Total")
    assert (gone.decision, gone.edited) == ("refused", None)


async def test_of_two_people_who_decide_at_once_the_first_one_counts(store: Store) -> None:
    table_id, _, proposal_id = await proposal(store)
    reviews = [Review(edited={(1, "Total"): typed(value)}) for value in (100, 200)]
    done = await asyncio.gather(*(store.proposals.decide(proposal_id, review) for review in reviews))
    assert sorted((each.cells, each.too_late) for each in done) == [(0, 1), (1, 0)]
    winner = next(index for index, each in enumerate(done) if each.cells)
    assert (await totals(store, table_id))[0] == typed((100, 200)[winner])


async def test_the_cells_that_wait_are_found_by_confidence_and_by_being_empty(store: Store) -> None:
    _, _, proposal_id = await proposal(store)

    async def rows(selection: Selection = EVERY_CELL, failed: bool | None = None) -> list[int]:
        return [row_id for row_id, _ in await store.proposals.open_cells(proposal_id, selection, failed=failed)]

    assert await rows() == [1, 2, 3]
    assert await rows(Selection(below=0.9)) == [2]
    assert await rows(Selection(below=0.6)) == []
    assert await rows(failed=True) == [3]
    assert await rows(failed=False) == [1, 2]
    await store.proposals.reject(proposal_id, Selection(rows=(1,)))
    assert await rows() == [2, 3]
    await store.proposals.reject(proposal_id)
    with pytest.raises(UsageError, match="already rejected"):
        await rows()


async def stopped_proposal(store: Store, *looked_at: str) -> tuple[str, str]:
    """Return a table and the proposal of a run that was stopped: it was to fill Total and Tax, and filled row 1 of
    those that it looked at."""
    table_id = (await store.tables.create("t", FIELDS, [(given_cell("a"),), (given_cell("b"),)])).id
    run_id = await store.runs.start(table_id, "enrich", {})
    proposal_id = await store.proposals.create(table_id, run_id, [TOTAL, Field(name="Tax", type="number")])
    await store.proposals.add(proposal_id, [ProposedCell(row_id=1, field=name, cell=found(7)) for name in looked_at])
    await store.proposals.finish(proposal_id, "Stopped before the end.")
    return table_id, proposal_id


@pytest.mark.parametrize("looked_at", [(), ("Total",), ("Total", "Tax")])
async def test_the_columns_of_a_stopped_run_stay_and_come_with_the_proposal(
    store: Store, looked_at: tuple[str, ...]
) -> None:
    table_id, proposal_id = await stopped_proposal(store, *looked_at)
    waiting = await store.proposals.get(proposal_id)
    assert (waiting.status, [field.name for field in waiting.fields]) == ("open", ["Total", "Tax"])
    applied = await store.proposals.apply(proposal_id)
    assert applied.cells == len(looked_at)
    table = await store.tables.load(table_id)
    assert [field.name for field in table.fields] == ["Name", "Total", "Tax"]
    assert [table.rows[0].cell(name).value for name in ("Total", "Tax")] == [
        7 if name in looked_at else None for name in ("Total", "Tax")
    ]
    assert table.rows[1].cell("Tax").needs_work
    assert (await store.proposals.get(proposal_id)).status == "applied"


@pytest.mark.parametrize("looked_at", [(), ("Total",)])
async def test_the_columns_of_a_stopped_run_go_once_a_person_discards_them(
    store: Store, looked_at: tuple[str, ...]
) -> None:
    table_id, proposal_id = await stopped_proposal(store, *looked_at)
    await store.proposals.reject(proposal_id)
    assert (await store.proposals.get(proposal_id)).status == "rejected"
    assert (await store.tables.find(table_id)).fields == FIELDS


async def test_a_run_that_had_nothing_to_do_leaves_nothing_to_decide(store: Store) -> None:
    table_id = (await store.tables.create("t", (*FIELDS, TOTAL), [(given_cell("a"), given_cell(1))])).id
    run_id = await store.runs.start(table_id, "enrich", {})
    proposal_id = await store.proposals.create(table_id, run_id, [TOTAL])
    await store.proposals.finish(proposal_id, "nothing to fill")
    assert (await store.proposals.get(proposal_id)).status == "rejected"


async def test_whatever_happens_to_a_table_is_told_by_its_activity(store: Store) -> None:
    table_id, run_id, proposal_id = await proposal(store)
    seen = [await store.tables.activity(table_id)]
    assert (seen[0].runs, seen[0].proposals) == (((run_id, "running"),), ((proposal_id, "open"),))
    await store.runs.finish(run_id, "done", Usage())
    seen.append(await store.tables.activity(table_id))
    await store.proposals.reject(proposal_id)
    seen.append(await store.tables.activity(table_id))
    await store.log.commit(table_id, [SetCell(row_id=1, field="Name", cell=given_cell("z"))])
    seen.append(await store.tables.activity(table_id))
    assert len({(each.change, each.runs, each.proposals) for each in seen}) == len(seen)
    assert await store.tables.activity(table_id) == seen[-1]


async def test_rows_are_read_by_their_numbers_with_and_without_gaps(store: Store) -> None:
    table_id = (await store.tables.create("t", FIELDS, [(given_cell(name),) for name in "abcde"], key_field="Name")).id
    await store.log.commit(table_id, [RemoveRow(row_id=3)])
    for wanted, there in (((4, 2, 3), [2, 4]), ((5, 1, 1), [1, 5]), ((3,), []), ((6, 7), [])):
        assert [row.id for row in (await store.tables.rows(table_id, wanted)).rows] == there


async def table_of_totals(store: Store, cells: list[Cell]) -> str:
    rows = [(given_cell(str(number)), cell) for number, cell in enumerate(cells, 1)]
    return (await store.tables.create("t", (*FIELDS, TOTAL), rows, key_field="Name")).id


PRESENT = {
    "given": given_cell(11),
    "found": found(12),
    "typed": Cell(value=13, status="ENRICHED", confidence=1.0, basis="given", updated_at="t"),
    "flagged": Cell(value=14, status="FLAGGED", confidence=0.9, run_id="r0", updated_at="t", error="doubted"),
}


@pytest.mark.parametrize("way", ["accept all", "by force", "unseen", "cell by cell"])
@pytest.mark.parametrize("reason", ["not_found", "blocked", "error", "not_applicable", "over_budget"])
async def test_a_value_that_is_there_is_never_replaced_by_nothing(store: Store, way: str, reason: Reason) -> None:
    before = list(PRESENT.values())
    table_id = await table_of_totals(store, [*before, Cell()])
    nothing = not_found(reason)
    proposed = {(row, "Total"): nothing for row in range(1, 6)} | {(1, "Also"): nothing}
    proposal_id = await propose(store, table_id, proposed, [Field(name="Also")])
    if way == "cell by cell":
        done = await store.proposals.decide(proposal_id, Review(accepted=tuple(proposed)))
    else:
        kind: ApplyKind = "auto_apply" if way == "unseen" else "apply"
        done = await store.proposals.apply(proposal_id, force=way == "by force", kind=kind)
    assert (done.cells, done.kept, done.conflicts) == (2, 4, 0)
    rows = (await store.tables.load(table_id)).rows
    assert [row.cell("Total") for row in rows] == [*before, nothing]
    assert rows[0].cell("Also") == nothing
    said = {(op.row_id, op.field): op.decision for op in await store.proposals.operations(proposal_id)}
    assert said == {**{(row, "Total"): "kept" for row in range(1, 5)}, (5, "Total"): "applied", (1, "Also"): "applied"}
    assert (await store.proposals.get(proposal_id)).status == "applied"
    assert await store.log.problems(table_id) == []


async def test_where_all_values_stay_nothing_is_written_and_the_proposal_is_decided(store: Store) -> None:
    table_id = await table_of_totals(store, [found(12)] * 1_203)
    changes = len(await store.log.changes(table_id))
    proposal_id = await propose(store, table_id, {(row, "Total"): not_found() for row in range(1, 1_204)})
    done = await store.proposals.apply(proposal_id)
    assert (done.cells, done.kept, done.change) == (0, 1_203, None)
    assert len(await store.log.changes(table_id)) == changes
    head = await store.proposals.get(proposal_id)
    assert (head.status, head.counts["kept"]) == ("applied", 1_203)


async def test_a_person_may_empty_a_cell_by_name_and_undo_it(store: Store) -> None:
    table_id = await table_of_totals(store, [given_cell(11), given_cell(12)])
    nothing = not_found()
    proposal_id = await propose(store, table_id, {(row, "Total"): nothing for row in (1, 2)})
    done = await store.proposals.decide(proposal_id, Review(accepted=((1, "Total"),), emptied=((2, "Total"),)))
    assert (done.cells, done.kept) == (1, 1)
    assert await totals(store, table_id) == [given_cell(11), nothing]
    assert await decisions(store, proposal_id) == {1: "kept", 2: "applied"}
    assert done.change is not None
    await store.history.undo_change(table_id, done.change.number)
    assert await totals(store, table_id) == [given_cell(11), given_cell(12)]


async def test_only_a_cell_without_a_finding_can_be_emptied(store: Store) -> None:
    table_id = await table_of_totals(store, [given_cell(11)])
    proposal_id = await propose(store, table_id, {(1, "Total"): newly_found(12)})
    with pytest.raises(UsageError, match="nothing to empty"):
        await store.proposals.decide(proposal_id, Review(emptied=((1, "Total"),)))
    assert await decisions(store, proposal_id) == {1: "open"}


async def test_what_a_formula_gave_goes_only_when_its_inputs_have_changed(store: Store) -> None:
    computed = found(12)
    computed = structs.replace(computed, basis="computed")
    outdated = structs.replace(computed, stale=True)
    table_id = await table_of_totals(store, [computed, outdated])
    nothing = not_found("error")
    await store.proposals.apply(await propose(store, table_id, {(row, "Total"): nothing for row in (1, 2)}))
    assert await totals(store, table_id) == [computed, nothing]


async def test_a_table_that_mirrors_documents_forgets_what_they_no_longer_say(store: Store) -> None:
    table_id = await table_of_totals(store, [found(12)])
    nothing = not_found()
    await store.proposals.apply(await propose(store, table_id, {(1, "Total"): nothing}), empties=True)
    assert await totals(store, table_id) == [nothing]
