from __future__ import annotations

import pytest

from tablewright.domain.edits import AddField, AddRow, ChangeField, RemoveField, RemoveRow, SetCell
from tablewright.domain.model import Field, Table
from tablewright.domain.model import make_given_cell as given_cell
from tablewright.errors import NotFound, UsageError
from tablewright.store.store import Store

FIELDS = (Field(name="Name"), Field(name="Price", type="number"))


async def kettles(store: Store) -> str:
    rows = [(given_cell("Stagg"), given_cell(150)), (given_cell("Smarter"), given_cell(None))]
    return (await store.tables.create("kettles", FIELDS, rows, key_field="Name")).id


def prices(table: Table) -> list[object]:
    return [row.cell("Price").value for row in table.rows]


async def set_price(store: Store, table_id: str, row_id: int, price: int, run_id: str | None = None) -> None:
    await store.log.commit(table_id, [SetCell(row_id=row_id, field="Price", cell=given_cell(price))], run_id=run_id)


async def test_a_run_is_undone_and_the_undo_is_undone(store: Store) -> None:
    table_id = await kettles(store)
    before = await store.tables.load(table_id)
    edits = [
        AddField(field=Field(name="Colour")),
        SetCell(row_id=1, field="Price", cell=given_cell(1)),
        SetCell(row_id=2, field="Colour", cell=given_cell("red")),
        RemoveRow(row_id=2),
        AddRow(key="new", cells={"Name": given_cell("New")}),
        ChangeField(name="Price", field=Field(name="Cost", type="number")),
    ]
    await store.log.commit(table_id, edits, run_id="r1")
    after = await store.tables.load(table_id)
    done = await store.history.undo_run(table_id, "r1")
    assert (done.cells, done.kept_cells) == (2, 0)
    assert await store.tables.load(table_id) == before
    assert done.change is not None
    await store.history.undo_change(table_id, done.change.number)
    assert await store.tables.load(table_id) == after
    assert await store.log.problems(table_id) == []


async def test_what_others_changed_since_survives_the_undo_of_a_run(store: Store) -> None:
    table_id = await kettles(store)
    await store.log.commit(
        table_id,
        [
            AddField(field=Field(name="Colour")),
            SetCell(row_id=1, field="Colour", cell=given_cell("red")),
            SetCell(row_id=2, field="Colour", cell=given_cell("blue")),
            SetCell(row_id=1, field="Price", cell=given_cell(1)),
        ],
        run_id="r1",
    )
    await store.log.commit(table_id, [SetCell(row_id=2, field="Colour", cell=given_cell("green"))])
    done = await store.history.undo_run(table_id, "r1")
    assert (done.cells, done.kept_cells, done.kept_fields) == (2, 1, ("Colour",))
    table = await store.tables.load(table_id)
    assert [row.cell("Colour").value for row in table.rows] == [None, "green"]
    assert prices(table) == [150, None]


async def test_undoing_a_run_twice_changes_nothing_more(store: Store) -> None:
    table_id = await kettles(store)
    await set_price(store, table_id, 1, 7, run_id="r1")
    await store.history.undo_run(table_id, "r1")
    again = await store.history.undo_run(table_id, "r1")
    assert (again.change, again.cells) == (None, 0)


async def test_several_writes_of_one_run_to_one_cell_go_back_to_before_the_first(store: Store) -> None:
    table_id = await kettles(store)
    for price in (1, 2, 3):
        await set_price(store, table_id, 1, price, run_id="r1")
    await store.history.undo_run(table_id, "r1")
    assert prices(await store.tables.load(table_id)) == [150, None]


async def test_the_table_goes_back_to_a_change_or_a_time(store: Store) -> None:
    table_id = await kettles(store)
    for price in (1, 2, 3):
        await set_price(store, table_id, 2, price)
    changes = {change.number: change for change in await store.log.changes(table_id)}
    await store.history.go_back(table_id, at=changes[3].at)
    assert prices(await store.tables.load(table_id)) == [150, 2]
    await store.history.go_back(table_id, change=1)
    assert prices(await store.tables.load(table_id)) == [150, None]
    await store.history.go_back(table_id, change=4)
    assert prices(await store.tables.load(table_id)) == [150, 3]


async def test_a_removed_field_does_not_come_back_over_another_of_its_name(store: Store) -> None:
    table_id = await kettles(store)
    await store.log.commit(table_id, [RemoveField(name="Price")], run_id="r1")
    await store.log.commit(table_id, [AddField(field=Field(name="Price"))])
    await store.history.undo_run(table_id, "r1")
    assert [field.name for field in (await store.tables.find(table_id)).fields] == ["Name", "Price"]


async def test_a_renamed_naming_field_gets_its_name_back(store: Store) -> None:
    table_id = await kettles(store)
    before = await store.tables.load(table_id)
    await store.log.commit(table_id, [ChangeField(name="Name", field=Field(name="Kettle"))], run_id="r1")
    assert (await store.tables.find(table_id)).key_field == "Kettle"
    await store.history.undo_run(table_id, "r1")
    assert await store.tables.load(table_id) == before


async def test_a_definition_that_somebody_changed_since_is_kept(store: Store) -> None:
    table_id = await kettles(store)
    await store.log.commit(table_id, [ChangeField(name="Price", field=Field(name="Cost"))], run_id="r1")
    await store.log.commit(table_id, [ChangeField(name="Cost", field=Field(name="Cost", unit="EUR"))])
    await store.history.undo_run(table_id, "r1")
    assert (await store.tables.find(table_id)).fields[1] == Field(name="Cost", unit="EUR")


async def test_what_cannot_be_undone_is_said(store: Store) -> None:
    table_id = await kettles(store)
    with pytest.raises(NotFound, match="Run r9 has changed nothing"):
        await store.history.undo_run(table_id, "r9")
    with pytest.raises(UsageError, match="where the table begins"):
        await store.history.undo_change(table_id, 1)
    with pytest.raises(UsageError, match="no change 5"):
        await store.history.go_back(table_id, change=5)
    with pytest.raises(UsageError, match="did not exist yet"):
        await store.history.go_back(table_id, at="2001-01-01T00:00:00Z")


async def test_changes_of_one_cell_are_undone_one_after_another(store: Store) -> None:
    table_id = await kettles(store)
    numbers = []
    for price in (1, 2, 3):
        change = await store.log.commit(table_id, [SetCell(row_id=1, field="Price", cell=given_cell(price))])
        assert change is not None
        numbers.append(change.number)
    seen = []
    for number in reversed(numbers):
        assert (await store.history.undo_change(table_id, number)).kept_cells == 0
        seen.append(prices(await store.tables.load(table_id))[0])
    assert seen == [2, 1, 150]
    assert await store.log.problems(table_id) == []
