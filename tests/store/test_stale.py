"""A changed input makes what was found from it stale, on every way a cell can change, and undoing takes it back."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tablewright.domain.edits import FlagCell, SetCell
from tablewright.domain.history import Rollback
from tablewright.domain.model import Cell, Evidence, Field, Reason, Value, make_given_cell
from tablewright.domain.proposal import ProposedCell, Selection
from tablewright.store.store import Store

FIELDS = (
    Field(name="Name"),
    Field(name="Price", type="number"),
    Field(name="Net", type="number", question="{Price} * 2", depends_on=("Price",)),
    Field(name="Tax", type="number", question="{Net} / 10", depends_on=("Net",)),
    Field(name="Maker", question="Who makes it?", depends_on=("Name",)),
)


def found(value: Value, run_id: str, reason: Reason | None = None) -> Cell:
    evidence = (Evidence(origin="https://a.example/", quote=f"it is {value}"),) if value is not None else ()
    status = "FAILED" if value is None else "ENRICHED"
    return Cell(value=value, status=status, reason=reason, evidence=evidence, run_id=run_id, attempt=1, cost=0.25)


async def sales(store: Store) -> str:
    """Two rows; all that can be found in them was found by run r1."""
    rows = [(make_given_cell("Tea"), make_given_cell(2)), (make_given_cell("Milk"), make_given_cell(3))]
    table = await store.tables.create(
        "sales", FIELDS, [(*row, Cell(), Cell(), Cell()) for row in rows], key_field="Name"
    )
    cells = {(1, "Net"): 4, (1, "Tax"): 0.4, (1, "Maker"): "Ann", (2, "Net"): 6, (2, "Tax"): 0.6, (2, "Maker"): "Bob"}
    await apply(store, table.id, "r1", {at: found(value, "r1") for at, value in cells.items()})
    return table.id


async def propose(store: Store, table_id: str, run_id: str, cells: dict[tuple[int, str], Cell]) -> str:
    as_of = (await store.tables.window(table_id)).as_of
    proposal_id = await store.proposals.create(table_id, run_id, ())
    operations = [
        ProposedCell(row_id=row_id, field=field, cell=cell, as_of=as_of) for (row_id, field), cell in cells.items()
    ]
    await store.proposals.add(proposal_id, operations)
    await store.proposals.finish(proposal_id, "found")
    return proposal_id


async def apply(store: Store, table_id: str, run_id: str, cells: dict[tuple[int, str], Cell]) -> None:
    await store.proposals.apply(await propose(store, table_id, run_id, cells))


async def set_value(store: Store, table_id: str, row_id: int, field: str, value: Value) -> int:
    cell = Cell(value=value, status="ENRICHED", confidence=1.0, updated_at="2026-01-01T00:00:00Z")
    change = await store.log.commit(table_id, [SetCell(row_id=row_id, field=field, cell=cell)])
    assert change is not None
    return change.number


async def stale(store: Store, table_id: str) -> list[tuple[int, str]]:
    """As the table says; what the store lists must be the same, and the log sound."""
    table = await store.tables.load(table_id)
    shown = [(row.id, field.name) for row in table.rows for field in table.fields if row.cell(field.name).stale]
    assert [(cell.row_id, cell.field) for cell in await store.log.stale(table_id)] == shown
    assert await store.log.problems(table_id) == []
    return shown


async def values(store: Store, table_id: str, field: str) -> Sequence[Value]:
    return [row.cell(field).value for row in (await store.tables.load(table_id)).rows]


async def test_a_changed_input_makes_its_dependents_stale_through_others_in_its_row_only(store: Store) -> None:
    table_id = await sales(store)
    assert await stale(store, table_id) == []
    await set_value(store, table_id, 1, "Price", 5)
    assert await stale(store, table_id) == [(1, "Net"), (1, "Tax")]
    assert await values(store, table_id, "Net") == [4, 6]
    assert [(cell.run_id, cell.cost) for cell in await store.log.stale(table_id)] == [("r1", 0.25)] * 2
    (change, *_) = await store.log.changes(table_id)
    assert change.edits == 3
    versions = await store.log.cell_history(table_id, 1, "Net")
    assert [(version.change, version.cell.stale) for version in versions][:2] == [(3, True), (2, False)]


async def test_the_same_value_again_and_a_flag_make_nothing_stale(store: Store) -> None:
    table_id = await sales(store)
    await set_value(store, table_id, 1, "Price", 2)
    await store.log.commit(table_id, [FlagCell(row_id=1, field="Price")])
    assert await stale(store, table_id) == []


async def test_undoing_the_change_takes_the_staleness_back_and_undoing_that_brings_it(store: Store) -> None:
    table_id = await sales(store)
    before = await store.tables.load(table_id)
    number = await set_value(store, table_id, 1, "Price", 5)
    after = await store.tables.load(table_id)
    undone = await store.history.undo_change(table_id, number)
    assert await store.tables.load(table_id) == before
    assert undone.change is not None
    await store.history.undo_change(table_id, undone.change.number)
    assert await store.tables.load(table_id) == after
    await store.history.go_back(table_id, change=number - 1)
    assert await store.tables.load(table_id) == before
    assert await stale(store, table_id) == []


async def test_an_applied_proposal_makes_stale_what_it_does_not_write_itself(store: Store) -> None:
    table_id = await sales(store)
    before = await store.tables.load(table_id)
    await apply(store, table_id, "r2", {(1, "Price"): found(7, "r2"), (1, "Net"): found(14, "r2")})
    assert await stale(store, table_id) == [(1, "Tax")]
    assert await values(store, table_id, "Net") == [14, 6]
    await store.history.undo_run(table_id, "r2")
    assert await store.tables.load(table_id) == before


async def test_a_refreshed_cell_is_stale_no_more_and_undoing_the_input_then_makes_it_stale(store: Store) -> None:
    table_id = await sales(store)
    number = await set_value(store, table_id, 1, "Price", 5)
    await apply(store, table_id, "r2", {(1, "Net"): found(10, "r2")})
    assert await stale(store, table_id) == [(1, "Tax")]
    await apply(store, table_id, "r3", {(1, "Tax"): found(1, "r3")})
    assert await stale(store, table_id) == []
    await store.history.undo_change(table_id, number)
    assert (await values(store, table_id, "Price"), await values(store, table_id, "Net")) == ([2, 3], [10, 6])
    assert await stale(store, table_id) == [(1, "Net"), (1, "Tax")]


async def test_a_mark_keeps_no_cell_from_being_undone_with_its_run(store: Store) -> None:
    table_id = await sales(store)
    await set_value(store, table_id, 1, "Price", 5)
    done = await store.history.undo_run(table_id, "r1")
    assert (done.cells, done.kept_cells) == (6, 0)
    assert await values(store, table_id, "Net") == [None, None]
    assert await stale(store, table_id) == []


async def test_a_value_that_an_undo_brings_back_from_before_the_input_changed_is_stale(store: Store) -> None:
    table_id = await sales(store)
    await apply(store, table_id, "r2", {(1, "Net"): found(4.5, "r2")})
    await set_value(store, table_id, 1, "Price", 5)
    await store.history.undo_run(table_id, "r2")
    assert await values(store, table_id, "Net") == [4, 6]
    assert await stale(store, table_id) == [(1, "Net"), (1, "Tax")]


async def test_a_second_cause_survives_the_undo_of_the_first(store: Store) -> None:
    table_id = await sales(store)
    first = await set_value(store, table_id, 1, "Price", 5)
    second = await set_value(store, table_id, 1, "Net", 9)
    assert await stale(store, table_id) == [(1, "Tax")]
    await store.history.undo_change(table_id, first)
    assert await stale(store, table_id) == [(1, "Tax")]
    assert (await undo(store, table_id, second)).kept_cells == 0


async def undo(store: Store, table_id: str, number: int) -> Rollback:
    return await store.history.undo_change(table_id, number)


async def test_a_proposal_of_a_run_that_read_the_old_input_is_applied_as_stale(store: Store) -> None:
    table_id = await sales(store)
    cells = {(1, "Net"): found(4.5, "r2"), (2, "Net"): found(6.5, "r2")}
    proposal_id = await propose(store, table_id, "r2", cells)
    await set_value(store, table_id, 1, "Price", 5)
    done = await store.proposals.apply(proposal_id)
    assert (done.cells, done.conflicts) == (2, 0)
    assert await values(store, table_id, "Net") == [4.5, 6.5]
    assert await stale(store, table_id) == [(1, "Net"), (1, "Tax"), (2, "Tax")]


async def test_an_input_that_was_changed_and_changed_back_makes_nothing_stale(store: Store) -> None:
    table_id = await sales(store)
    proposal_id = await propose(store, table_id, "r2", {(1, "Net"): found(4.2, "r2"), (1, "Tax"): found(0.42, "r2")})
    for value in (5, 6, 2):
        await set_value(store, table_id, 1, "Price", value)
    await store.proposals.apply(proposal_id)
    assert await stale(store, table_id) == []


async def test_a_value_that_an_undo_brings_back_fits_an_input_that_was_changed_back(store: Store) -> None:
    table_id = await sales(store)
    await apply(store, table_id, "r2", {(1, "Net"): found(4.5, "r2")})
    for value in (5, 2):
        await set_value(store, table_id, 1, "Price", value)
    await store.history.undo_run(table_id, "r2")
    assert await values(store, table_id, "Net") == [4, 6]
    assert (1, "Net") not in await stale(store, table_id)


async def test_what_a_run_found_from_a_value_that_is_applied_as_stale_is_stale_too(store: Store) -> None:
    table_id = await sales(store)
    cells = {(row_id, name): found(9, "r2") for row_id in (1, 2) for name in ("Net", "Tax")}
    proposal_id = await propose(store, table_id, "r2", cells)
    await set_value(store, table_id, 1, "Price", 5)
    await store.proposals.apply(proposal_id)
    assert await stale(store, table_id) == [(1, "Net"), (1, "Tax")]
    assert await values(store, table_id, "Tax") == [9, 9]
    await store.history.undo_run(table_id, "r2")
    assert await values(store, table_id, "Tax") == [0.4, 0.6]
    assert await stale(store, table_id) == [(1, "Net"), (1, "Tax")]


async def test_one_cell_of_a_run_does_not_fit_to_another_that_has_become_stale(store: Store) -> None:
    table_id = await sales(store)
    proposal_id = await propose(store, table_id, "r2", {(1, "Net"): found(5, "r2"), (1, "Tax"): found(0.5, "r2")})
    await store.proposals.apply(proposal_id, Selection(fields=("Net",)))
    await set_value(store, table_id, 1, "Price", 5)
    await store.proposals.apply(proposal_id, Selection(fields=("Tax",)))
    assert await stale(store, table_id) == [(1, "Net"), (1, "Tax")]


async def test_an_undo_that_brings_a_question_back_looks_at_what_that_depends_on(store: Store) -> None:
    table_id = await sales(store)
    by_name = Field(name="Net", type="number", question="What is {Name}?", depends_on=("Name",))
    as_of = (await store.tables.window(table_id)).as_of
    proposal_id = await store.proposals.create(table_id, "r2", (by_name,))
    operation = ProposedCell(row_id=1, field="Net", cell=found(4, "r2"), as_of=as_of)
    await store.proposals.add(proposal_id, [operation])
    await store.proposals.finish(proposal_id, "found")
    await store.proposals.apply(proposal_id)
    await set_value(store, table_id, 1, "Price", 5)
    assert await stale(store, table_id) == []
    await store.history.undo_run(table_id, "r2")
    assert await stale(store, table_id) == [(1, "Net"), (1, "Tax")]


async def test_cells_of_one_run_fit_together_when_they_are_applied_one_after_the_other(store: Store) -> None:
    table_id = await sales(store)
    cells = {(1, "Net"): found(5, "r2"), (1, "Tax"): found(0.5, "r2")}
    for order in (("Net", "Tax"), ("Tax", "Net")):
        proposal_id = await propose(store, table_id, "r2", cells)
        for name in order:
            await store.proposals.apply(proposal_id, Selection(fields=(name,)))
        assert await stale(store, table_id) == []
        await store.history.go_back(table_id, change=2)


async def test_what_a_person_wrote_and_what_nobody_filled_is_never_stale(store: Store) -> None:
    table_id = await sales(store)
    in_review = Cell(value=8, status="ENRICHED", confidence=1.0, basis="given", run_id="r1", error="typed in by ann")
    edits = [
        SetCell(row_id=1, field="Net", cell=in_review),
        SetCell(row_id=2, field="Net", cell=Cell()),
        SetCell(row_id=1, field="Maker", cell=msgspec.structs.replace(make_given_cell("Own"), updated_at="2026-01-01")),
    ]
    await store.log.commit(table_id, edits)
    before = await stale(store, table_id)
    for row_id in (1, 2):
        await set_value(store, table_id, row_id, "Price", 50)
    await set_value(store, table_id, 1, "Name", "Green tea")
    assert await stale(store, table_id) == before == [(1, "Tax"), (2, "Tax")]


async def test_a_cell_for_which_nothing_was_found_is_stale_too(store: Store) -> None:
    table_id = await sales(store)
    await apply(store, table_id, "r2", {(1, "Maker"): found(None, "r2", "not_found")})
    await set_value(store, table_id, 1, "Name", "Green tea")
    assert await stale(store, table_id) == [(1, "Maker")]


async def test_a_given_value_counts_as_an_input_and_clearing_it_as_a_change(store: Store) -> None:
    table_id = await sales(store)
    number = await set_value(store, table_id, 1, "Name", "Tea")
    assert await stale(store, table_id) == []
    await store.log.commit(table_id, [SetCell(row_id=2, field="Name", cell=Cell())])
    assert await stale(store, table_id) == [(2, "Maker")]
    await store.history.go_back(table_id, change=number)
    assert await stale(store, table_id) == []


async def test_columns_that_depend_on_each_other_end(store: Store) -> None:
    fields = (Field(name="A", depends_on=("B",)), Field(name="B", depends_on=("A", "gone")))
    table = await store.tables.create("circle", fields, [(Cell(), Cell())])
    await apply(store, table.id, "r1", {(1, "A"): found("a", "r1"), (1, "B"): found("b", "r1")})
    await set_value(store, table.id, 1, "A", "x")
    assert await stale(store, table.id) == [(1, "B")]


async def test_thousands_of_rows_are_marked_each_once(store: Store) -> None:
    count = 2_500
    rows = [(make_given_cell(f"n{number}"), make_given_cell(number), Cell(), Cell(), Cell()) for number in range(count)]
    table = await store.tables.create("many", FIELDS, rows, key_field="Name")
    numbers = range(1, count + 1)
    net = {(row_id, name): found(row_id, "r1") for row_id in numbers for name in ("Net", "Tax", "Maker")}
    await apply(store, table.id, "r1", net)
    changed = {(row_id, name): found(f"{name} {row_id}", "r2") for row_id in numbers for name in ("Name", "Price")}
    await apply(store, table.id, "r2", changed)
    assert len(await stale(store, table.id)) == 3 * count
    (change, *_) = await store.log.changes(table.id)
    assert change.edits == 5 * count
