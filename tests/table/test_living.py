from __future__ import annotations

import pytest

from tablewright.errors import BadField
from tablewright.table.edits import FlagCell, apply
from tablewright.table.files import to_csv, to_markdown
from tablewright.table.living import add_field, add_row, pending_cells, update_cell
from tablewright.table.model import PENDING, Cell, Field, Table

EMPTY = Table(id="kettles", name="Kettles", fields=(Field(name="Name"), Field(name="Maker")), key_field="Name")


def kettles(*names: str) -> Table:
    table = EMPTY
    for name in names:
        table, _, _ = add_row(table, name, {"Maker": "Fellow"})
    return table


def test_a_row_is_added_once_by_its_normalised_name() -> None:
    table = kettles("Stagg EKG")
    again, row_id, new = add_row(table, "  STAGG  ekg™ ")
    assert (again, row_id, new) == (table, 1, False)
    _, row_id, new = add_row(table, "Stagg EKG Pro")
    assert (row_id, new) == (2, True)


def test_model_numbers_keep_products_apart() -> None:
    table = kettles("Norwick QV40B550")
    assert add_row(table, "Norwick QV40B530")[2]
    assert not add_row(table, "NORWICK QV-40B550")[2]


def test_a_new_field_makes_every_row_pending_and_nothing_else() -> None:
    table = add_field(kettles("Stagg EKG", "Corvo"), Field(name="Price", type="number"))
    assert [row.cell("Price") for row in table.rows] == [PENDING, PENDING]
    assert list(pending_cells(table)) == [(1, "Price"), (2, "Price")]


def test_pending_and_flagged_cells_need_work_and_failed_ones_do_not() -> None:
    table = add_field(kettles("Stagg EKG", "Corvo", "Kone"), Field(name="Price", type="number"))
    table = update_cell(table, 1, "Price", Cell(value=165, status="ENRICHED", confidence=0.9))
    table = update_cell(table, 2, "Price", Cell(status="FAILED", reason="not_found"))
    assert list(pending_cells(table)) == [(3, "Price")]
    table, _ = apply(table, FlagCell(row_id=1, field="Price"))
    assert list(pending_cells(table)) == [(1, "Price"), (3, "Price")]


def test_markdown_is_cut_and_csv_is_whole() -> None:
    table = kettles(*(f"Kettle model K{number}00" for number in range(1, 31)))
    markdown = to_markdown(table, max_rows=10)
    assert markdown.count("Kettle model") == 10
    assert "20 more rows" in markdown
    assert to_csv(table).count("Kettle model") == 30


def test_a_table_without_a_naming_field_takes_no_named_rows() -> None:
    with pytest.raises(BadField, match="no field that names its rows"):
        add_row(Table(id="t", name="t", fields=(Field(name="A"),)), "x")
