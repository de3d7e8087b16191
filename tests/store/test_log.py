from __future__ import annotations

import asyncio
import threading

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tablewright.domain.edits import AddField, AddRow, FlagCell, RemoveField, RemoveRow, SetCell, apply_edit
from tablewright.domain.model import Cell, Evidence, Field, Table
from tablewright.domain.model import make_given_cell as given_cell
from tablewright.errors import EditConflict, NotFound
from tablewright.store import tables as stored_tables
from tablewright.store.store import Store
from tests.edits import edits_for, tables
from tests.patience import PATIENCE

FIELDS = (Field(name="Name"), Field(name="Price", type="number"))
ROWS = [(given_cell("Stagg"), given_cell(150, "150.00")), (given_cell("Smarter"), given_cell(None))]
FOUND = Cell(value=99, status="ENRICHED", confidence=0.9, run_id="r1", evidence=(Evidence(origin="https://a.example"),))


async def kettles(store: Store) -> str:
    return (await store.tables.create("Kettles", FIELDS, ROWS, key_field="Name")).id


async def test_a_table_is_kept_as_it_was_given(store: Store) -> None:
    table = await store.tables.load(await kettles(store))
    assert (table.id, table.name, table.key_field, table.fields) == ("kettles", "Kettles", "Name", FIELDS)
    assert [row.key for row in table.rows] == ["stagg", "smarter"]
    assert table.rows[0].cells == {"Name": given_cell("Stagg"), "Price": given_cell(150, "150.00")}
    assert table.rows[1].cells == {"Name": given_cell("Smarter")}


async def test_who_reads_whole_tables_holds_nobody_up(store: Store) -> None:
    table_id = await kettles(store)
    leave = threading.Event()
    readers = [
        asyncio.create_task(store.tables.stream(table_id, lambda _: leave.wait(2 * PATIENCE) or None)) for _ in range(6)
    ]
    try:
        assert await asyncio.wait_for(store.tables.count(table_id), PATIENCE) == 2
        assert not any(reader.done() for reader in readers)
    finally:
        leave.set()
        await asyncio.gather(*readers)


async def test_tables_of_one_name_get_different_ids(store: Store) -> None:
    ids = [await kettles(store) for _ in range(3)]
    assert ids[0] == "kettles"
    assert all(each.startswith("kettles-") for each in ids[1:])
    assert len(set(ids)) == 3
    with pytest.raises(NotFound, match="3 tables are called 'KETTLES'"):
        await store.tables.find("KETTLES")


async def test_one_bad_edit_and_nothing_is_written(store: Store) -> None:
    table_id = await kettles(store)
    before = await store.tables.load(table_id)
    with pytest.raises(NotFound):
        await store.log.commit(
            table_id,
            [
                AddField(field=Field(name="Colour")),
                SetCell(row_id=2, field="Price", cell=FOUND),
                RemoveRow(row_id=9),
            ],
        )
    assert await store.tables.load(table_id) == before
    assert len(await store.log.changes(table_id)) == 1


async def test_compare_and_set_holds_in_the_database(store: Store) -> None:
    table_id = await kettles(store)
    seen = (await store.tables.load(table_id)).rows[1].cell("Price")
    await store.log.commit(table_id, [SetCell(row_id=2, field="Price", cell=FOUND, expected=seen)])
    with pytest.raises(EditConflict):
        await store.log.commit(table_id, [SetCell(row_id=2, field="Price", cell=given_cell(1), expected=seen)])
    assert (await store.tables.load(table_id)).rows[1].cell("Price") == FOUND


async def test_a_removed_rows_number_is_never_given_again(store: Store) -> None:
    table_id = await kettles(store)
    await store.log.commit(table_id, [AddRow(key="a"), RemoveRow(row_id=3), AddRow(key="b"), RemoveRow(row_id=4)])
    await store.log.commit(table_id, [AddRow(key="c")])
    assert [row.id for row in (await store.tables.load(table_id)).rows] == [1, 2, 5]


async def test_a_field_of_a_removed_fields_name_starts_empty(store: Store) -> None:
    table_id = await kettles(store)
    await store.log.commit(table_id, [RemoveField(name="Price"), AddField(field=Field(name="Price"))])
    assert [row.cell("Price") for row in (await store.tables.load(table_id)).rows] == [Cell(), Cell()]


async def test_the_history_of_a_cell_has_every_value_it_ever_had(store: Store) -> None:
    table_id = await kettles(store)
    await store.log.commit(table_id, [SetCell(row_id=1, field="Price", cell=FOUND)], actor="ann", run_id="r1")
    await store.log.commit(table_id, [FlagCell(row_id=1, field="Price", note="odd")], actor="bob")
    versions = await store.log.cell_history(table_id, 1, "price")
    assert [(v.actor, v.run_id, v.cell.value, v.cell.status) for v in versions] == [
        ("bob", None, 99, "FLAGGED"),
        ("ann", "r1", 99, "ENRICHED"),
        ("", None, 150, "ENRICHED"),
    ]
    assert versions[-1].cell.raw_value == "150.00"


async def test_windows_walk_over_all_rows_in_order(store: Store) -> None:
    rows = [(given_cell(f"row {number}"),) for number in range(25)]
    table_id = (await store.tables.create("many", (Field(name="Name"),), rows)).id
    await store.log.commit(table_id, [RemoveRow(row_id=7), SetCell(row_id=9, field="Name", cell=given_cell("nine"))])
    names, after = [], 0
    while window := (await store.tables.window(table_id, after=after, limit=10)).rows:
        names += [row.cell("Name").value for row in window]
        after = window[-1].id
    expected = [f"row {number}" for number in range(25)]
    expected[8] = "nine"
    del expected[6]
    assert names == expected
    assert await store.tables.count(table_id) == 24


async def test_a_removed_table_leaves_nothing_behind(store: Store) -> None:
    table_id = await kettles(store)
    await store.log.commit(table_id, [SetCell(row_id=1, field="Price", cell=FOUND)])
    await store.tables.remove(table_id)
    assert await store.tables.all() == []
    counts = await store.database.read(
        lambda connection: [
            connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar()
            for name in ("tables", "fields", "rows", "cells", "edits", "changes", "runs", "proposals", "operations")
        ]
    )
    assert set(counts) == {0}


@settings(
    max_examples=15,
    deadline=None,
    phases=[Phase.generate, Phase.explicit],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data(), start=tables())
def test_the_store_agrees_with_the_rule_book(database_url: str, data: st.DataObject, start: Table) -> None:
    """Any edits, committed in any grouping, and then undone, give what `apply` gives in memory."""

    async def scenario() -> None:
        async with await Store.open(database_url) as store:
            rows = [[row.cell(field.name) for field in start.fields] for row in start.rows]
            table_id = (await store.tables.create("t", start.fields, rows)).id
            states = [start]
            for _ in range(data.draw(st.integers(1, 4))):
                now, edits = states[-1], []
                for _ in range(data.draw(st.integers(1, 4))):
                    edit = data.draw(edits_for(now))
                    edits.append(with_row_number(edit, store_next))
                    store_next[0] += isinstance(edit, AddRow)
                    now, _ = apply_edit(now, edits[-1])
                await store.log.commit(table_id, edits)
                states.append(now)
                assert same(await store.tables.load(table_id), now)
                assert await store.log.problems(table_id) == []
            back_to = data.draw(st.integers(1, len(states)))
            await store.history.go_back(table_id, change=back_to)
            assert same(await store.tables.load(table_id), states[back_to - 1])
            assert await store.log.problems(table_id) == []
            await store.tables.remove(table_id)

    store_next = [len(start.rows) + 1]
    asyncio.run(scenario())


def with_row_number(edit: object, following: list[int]) -> object:
    """Removed rows' numbers are not given again in the store; the table in memory is told the number to agree."""
    if isinstance(edit, AddRow):
        return AddRow(key=edit.key, cells=edit.cells, row_id=following[0])
    return edit


def same(kept: Table, expected: Table) -> bool:
    rows = [(row.id, row.cells) for row in kept.rows]
    assert (kept.fields, rows) == (expected.fields, [(row.id, row.cells) for row in expected.rows])
    return True


async def test_a_window_is_bounded_by_the_size_of_its_rows(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_tables, "MAX_WINDOW_CHARACTERS", 10_000)
    long = replace(FOUND, value="z" * 6_000)
    rows = [(given_cell("x" * 3_000), given_cell(None)) for _ in range(8)]
    rows += [(given_cell("y" * 50_000), given_cell(1)), (given_cell("short"), long), (given_cell("short"), long)]
    table_id = (await store.tables.create("Long", FIELDS, rows)).id
    sizes, seen, after = [], [], 0
    while window := (await store.tables.window(table_id, after=after, limit=1_000)).rows:
        sizes.append(len(window))
        seen += [row.id for row in window]
        after = window[-1].id
    assert seen == list(range(1, 12))
    assert sizes == [2, 2, 2, 2, 1, 1, 1]
    batches: list[int] = []
    await store.tables.stream(table_id, lambda batch: batches.append(len(batch)))
    assert batches == sizes
    wanted = [11, 3, 9, 400, 1, 2]
    found = [[row.id for row in window] async for window in store.tables.windows_of(table_id, wanted)]
    assert found == [[11, 3], [9], [1, 2]]
