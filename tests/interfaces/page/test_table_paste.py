"""Blocks from a spreadsheet: which cells of theirs go where."""

from __future__ import annotations

from pathlib import Path

import pytest

from tablewright.domain.model import Field, Table
from tablewright.errors import UsageError
from tablewright.formats.tables.limits import TABLE_LIMITS
from tablewright.interfaces.page.table.cells import (
    match_pasted_columns,
    parse_pasted_cells,
    pasted_as_rows,
    pasted_as_values,
)
from tests.interfaces.page.conftest import PATIENCE, NewPage, Site, playwright
from tests.interfaces.page.test_tables_page import cell, new_table, open_table

expect = playwright.expect
expect.set_options(timeout=PATIENCE)

TABLE = Table(
    id="t",
    name="T",
    fields=(Field(name="Price", type="number"), Field(name="Name"), Field(name="Colour")),
    key_field="Name",
)
SHOWN = ("Name", "Price", "Colour", "Proposed")


async def paste(page: playwright.Page, content: str) -> None:
    await page.evaluate(
        """(text) => {
            const clipboardData = new DataTransfer();
            clipboardData.setData("text/plain", text);
            document.activeElement.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true}));
        }""",
        content,
    )


def test_a_block_is_cut_as_spreadsheets_mean_it() -> None:
    assert parse_pasted_cells('a\t"two\nlines"\r\nc\td\r\n\r\n') == [["a", "two\nlines"], ["c", "d"]]
    with pytest.raises(UsageError, match="cannot be read"):
        parse_pasted_cells("x" * (TABLE_LIMITS.value_characters + 1))


def test_cells_go_into_the_columns_that_are_shown_or_those_that_the_first_line_names() -> None:
    lines = [["Kettle", "12"]]
    assert pasted_as_rows(match_pasted_columns(TABLE, lines, SHOWN), lines) == [{"Name": "Kettle", "Price": "12"}]
    assert pasted_as_rows(match_pasted_columns(TABLE, lines, ("Colour", "Name")), lines) == [
        {"Colour": "Kettle", "Name": "12"}
    ]
    named = [["colour", "", "name"], ["red", "x", "Kettle"]]
    assert pasted_as_rows(match_pasted_columns(TABLE, named, SHOWN), named) == [{"Colour": "red", "Name": "Kettle"}]


def test_one_line_that_reads_like_a_column_is_a_line() -> None:
    lines = [["name"]]
    assert pasted_as_rows(match_pasted_columns(TABLE, lines, SHOWN), lines) == [{"Name": "name"}]


def test_what_is_pasted_below_the_last_row_becomes_new_rows() -> None:
    lines = [["red"], ["blue"]]
    values, more = pasted_as_values(match_pasted_columns(TABLE, lines, ("Colour",)), lines, [7])
    assert values == {(7, "Colour"): "red"}
    assert more == [{"Colour": "blue"}]


def test_nothing_goes_into_a_column_that_is_only_proposed_and_what_is_too_wide_is_counted() -> None:
    with pytest.raises(UsageError, match="no column Proposed yet"):
        match_pasted_columns(TABLE, [["1", "red", "2"]], SHOWN[1:])
    assert match_pasted_columns(TABLE, [["red", "1"]], ("Colour",)).left_out == 1


async def test_a_block_goes_into_the_rows_and_columns_that_are_seen(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    rows = "Name,Colour,Price\nAnn,red,3\nBob,blue,1\nCid,green,2\n"
    table_id = await new_table(site, tmp_path, rows, "To paste into")
    async with browser() as page:
        await open_table(page, site, table_id)
        await page.get_by_role("columnheader", name="Price").click()
        await expect(cell(page, 1, "Name")).to_contain_text("Bob")
        await page.locator(".tw-sheet").evaluate(
            "(sheet) => getElement(Number(sheet.id.slice(1))).api.moveColumns(['Price'], 2)"
        )
        await cell(page, 2, "Price").click()
        await paste(page, "20\tlime\n10\tpink\n")
        await expect(page.get_by_text("4 cells written.")).to_be_visible()
        await expect(cell(page, 1, "Colour")).to_contain_text("blue")

        # Where columns are named, or the block is too wide, somebody has to say what is meant.
        await paste(page, "Name\tPrice\nEve\t5\n")
        await page.get_by_role("button", name="Add 1 row").click()
        await expect(page.get_by_text("1 row added.")).to_be_visible()
        await cell(page, 1, "Colour").click()
        await paste(page, "grey\t1\t2\t3\n")
        await expect(page.get_by_text("3 columns on the right will be left out")).to_be_visible()
        await expect(page.get_by_role("button", name="Paste from row 2, Colour")).to_be_visible()
        await page.get_by_role("button", name="Cancel").click()
        await expect(page.get_by_role("dialog")).to_have_count(0)

        await paste(page, "x\t\n" * 330_000)
        told = page.get_by_role("alert").filter(has_text="330,000 lines are too much to paste at once")
        await expect(told).to_contain_text("Nothing was pasted.")
        await expect(told).to_contain_text("Paste a list, which takes any length")
    async with site.open() as services:
        found = {
            row.cell("Name").value: (row.cell("Price").value, row.cell("Colour").value)
            for row in (await services.load(table_id)).rows
        }
    assert found == {"Ann": (10, "pink"), "Bob": (1, "blue"), "Cid": (20, "lime"), "Eve": (5, None)}
