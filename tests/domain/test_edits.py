from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablewright.domain.edits import (
    AddField,
    AddRow,
    ChangeField,
    FlagCell,
    RemoveField,
    RemoveRow,
    SetCell,
    apply_edit,
    apply_edits,
)
from tablewright.domain.model import PENDING, Cell, Field, Row, Table
from tablewright.domain.model import make_given_cell as given_cell
from tablewright.errors import BadField, EditConflict, NotFound
from tests.edits import edits_for, tables

KETTLES = Table(
    id="kettles",
    name="Kettles",
    fields=(Field(name="Name"), Field(name="Price", type="number")),
    rows=(
        Row(id=1, key="stagg", cells={"Name": given_cell("Stagg"), "Price": given_cell(150)}),
        Row(id=2, key="smarter", cells={"Name": given_cell("Smarter")}),
    ),
    key_field="Name",
)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), table=tables())
def test_any_edits_applied_and_inverted_give_back_the_table(data: st.DataObject, table: Table) -> None:
    now, undo = table, []
    for _ in range(data.draw(st.integers(1, 8))):
        now, inverse = apply_edit(now, data.draw(edits_for(now)))
        undo.append(inverse)
    back, _ = apply_edits(now, reversed(undo))
    assert back == table


@settings(max_examples=50, deadline=None)
@given(data=st.data(), table=tables())
def test_apply_all_is_apply_one_after_the_other(data: st.DataObject, table: Table) -> None:
    now, edits = table, []
    for _ in range(data.draw(st.integers(1, 6))):
        edits.append(data.draw(edits_for(now)))
        now, _ = apply_edit(now, edits[-1])
    together, inverses = apply_edits(table, edits)
    assert together == now
    assert apply_edits(together, inverses)[0] == table


def test_a_new_field_is_pending_in_every_row() -> None:
    grown, _ = apply_edit(KETTLES, AddField(field=Field(name="Material")))
    assert [row.cell("Material") for row in grown.rows] == [PENDING, PENDING]


def test_a_removed_row_comes_back_in_its_place() -> None:
    without, undo = apply_edit(KETTLES, RemoveRow(row_id=1))
    assert [row.id for row in without.rows] == [2]
    assert apply_edit(without, undo)[0] == KETTLES


def test_a_removed_field_comes_back_with_its_cells() -> None:
    without, undo = apply_edit(KETTLES, RemoveField(name="price"))
    assert without.row(1) == Row(id=1, key="stagg", cells={"Name": given_cell("Stagg")})
    assert apply_edit(without, undo)[0] == KETTLES


def test_a_renamed_field_takes_its_cells_along() -> None:
    renamed, _ = apply_edit(KETTLES, ChangeField(name="Name", field=Field(name="Kettle")))
    assert renamed.key_field == "Kettle"
    assert [row.cell("Kettle").value for row in renamed.rows] == ["Stagg", "Smarter"]


def test_compare_and_set_refuses_a_cell_that_was_changed_in_the_meantime() -> None:
    seen = KETTLES.rows[0].cell("Price")
    changed, _ = apply_edit(KETTLES, SetCell(row_id=1, field="Price", cell=given_cell(140)))
    with pytest.raises(EditConflict, match="Row 1, Price was changed"):
        apply_edit(changed, SetCell(row_id=1, field="Price", cell=given_cell(130), expected=seen))
    assert apply_edit(KETTLES, SetCell(row_id=1, field="Price", cell=given_cell(130), expected=seen))[0] != KETTLES


def test_an_undo_does_not_overwrite_what_came_after() -> None:
    changed, undo = apply_edit(KETTLES, SetCell(row_id=1, field="Price", cell=given_cell(140)))
    changed, _ = apply_edit(changed, SetCell(row_id=1, field="Price", cell=given_cell(135)))
    with pytest.raises(EditConflict):
        apply_edit(changed, undo)


def test_a_flagged_cell_keeps_its_value_and_needs_work() -> None:
    flagged, undo = apply_edit(KETTLES, FlagCell(row_id=1, field="Price", note="too high"))
    cell = flagged.rows[0].cell("Price")
    assert (cell.value, cell.status, cell.error, cell.needs_work) == (150, "FLAGGED", "flagged: too high", True)
    assert apply_edit(flagged, undo)[0] == KETTLES


@pytest.mark.parametrize(
    ("edit", "error"),
    [
        (SetCell(row_id=9, field="Price", cell=Cell()), NotFound),
        (SetCell(row_id=1, field="Colour", cell=Cell()), NotFound),
        (RemoveRow(row_id=9), NotFound),
        (RemoveField(name="Colour"), NotFound),
        (RemoveField(name="Name"), BadField),
        (AddField(field=Field(name="PRICE")), BadField),
        (AddField(field=Field(name=" ")), BadField),
        (ChangeField(name="Price", field=Field(name="name")), BadField),
        (AddRow(row_id=1), EditConflict),
        (AddRow(cells={"Colour": given_cell("red")}), NotFound),
    ],
)
def test_an_edit_that_does_not_fit_is_refused(edit: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        apply_edit(KETTLES, edit)  # type: ignore[arg-type]
