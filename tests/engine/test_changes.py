from __future__ import annotations

import pytest

from tablewright.domain.model import Cell, Conflict, Field, make_given_cell
from tablewright.engine.changes import TableChanges
from tablewright.errors import NotFound, UsageError
from tablewright.store.store import Store


@pytest.mark.parametrize("typed", ["none", "N/A", "Answer: 42", "The note is: done", "word " * 1_500 + "end", "a\nb"])
async def test_a_text_that_a_person_types_is_kept_as_it_stands(store: Store, typed: str) -> None:
    table = await store.tables.create("notes", (Field(name="Name"), Field(name="Note")), [(make_given_cell("Ann"),)])
    written = await TableChanges(store, "me").set_value(table.id, 1, "Note", f" {typed} ")
    assert written.cell.value == typed
    assert (await store.tables.load(table.id)).rows[0].cell("Note").value == typed


async def test_what_is_too_long_to_be_typed_is_refused_and_nothing_is_changed(store: Store) -> None:
    fields = (Field(name="Name"), Field(name="Note"))
    table = await store.tables.create("notes", fields, [(make_given_cell("Ann"), make_given_cell("short"))])
    changes = TableChanges(store, "me")
    with pytest.raises(UsageError, match=r"at most 100,000 characters; this one has 100,001"):
        await changes.write_values(table.id, {(1, "Name"): "Bea", (1, "Note"): "x" * 100_001})
    row = (await store.tables.load(table.id)).rows[0]
    assert (row.cell("Name").value, row.cell("Note").value) == ("Ann", "short")


async def test_a_column_of_another_type_keeps_its_values_or_is_refused(store: Store) -> None:
    fields = (Field(name="Name"), Field(name="Price"))
    table = await store.tables.create(
        "kettles",
        fields,
        [(make_given_cell("Ann"), make_given_cell("12")), (make_given_cell("Bob"), make_given_cell("7.5"))],
    )
    changes = TableChanges(store, "me")
    await changes.change_column(table.id, "Price", Field(name="Cost", type="number", unit="GBP"))
    rows = (await store.tables.load(table.id)).rows
    assert [row.cell("Cost").value for row in rows] == [12, 7.5]
    with pytest.raises(UsageError, match=r"2 of 2 values of Name cannot be read as number: 'Ann', 'Bob'"):
        await changes.change_column(table.id, "Name", Field(name="Name", type="number"))
    assert [row.cell("Name").value for row in (await store.tables.load(table.id)).rows] == ["Ann", "Bob"]


async def test_a_person_takes_the_value_of_other_sources_and_can_take_it_back(store: Store) -> None:
    cell = Cell(value="Leeds", status="ENRICHED", conflict=(Conflict(value="York"),))
    table = await store.tables.create(
        "sites", (Field(name="Name"), Field(name="City")), [(make_given_cell("Ann"), cell)]
    )
    changes = TableChanges(store, "me")
    for wanted, other in (("York", "Leeds"), ("Leeds", "York")):
        await changes.use_other(table.id, 1, "City", 0)
        chosen = (await store.tables.load(table.id)).rows[0].cell("City")
        assert (chosen.value, [each.value for each in chosen.conflict]) == (wanted, [other])
    with pytest.raises(NotFound, match="has no row 7"):
        await changes.use_other(table.id, 7, "City", 0)
    with pytest.raises(UsageError, match="no longer disagree"):
        await changes.use_other(table.id, 1, "City", 1)
