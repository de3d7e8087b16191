"""One cell of a table: edited while others change it too, with long text, with the keyboard alone, on a phone."""

from __future__ import annotations

from pathlib import Path

from tablewright.domain.edits import RemoveRow
from tests.interfaces.page.conftest import PATIENCE, NewPage, Site, playwright
from tests.interfaces.page.test_tables_page import cell, edit_cell, filled_table, new_table, open_table

expect = playwright.expect
expect.set_options(timeout=PATIENCE)

# How often the server asked the grid to look anew.
COUNTED = """
() => {
  const refresh = tablewright.grid.refresh;
  window.refreshed = 0;
  tablewright.grid.refresh = (...given) => { window.refreshed++; refresh(...given); };
}
"""


async def test_what_is_typed_stays_in_its_row_when_others_change_the_table_and_theirs_is_seen(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    table_id = await new_table(site, tmp_path, "Name,Note\nAnn,a\nBob,b\nCid,c\n", "Edited by two")
    async with browser() as page, site.open() as other:
        await open_table(page, site, table_id)
        await page.evaluate(COUNTED)
        await edit_cell(page, 2, "Note")
        await page.keyboard.press("Control+a")
        await page.keyboard.type("of Bob")
        await other.changes.edit(table_id, [RemoveRow(row_id=1)])
        await page.wait_for_function("window.refreshed")
        await other.changes.set_value(table_id, 3, "Note", "of one")
        await page.wait_for_function("window.refreshed > 1")  # by now the first would be seen
        await expect(cell(page, 1, "Name")).to_contain_text("Ann")
        await page.keyboard.press("Enter")
        await expect(cell(page, 1, "Note")).to_contain_text("of Bob")
        await expect(cell(page, 3, "Name")).to_have_count(0)

        await cell(page, 1, "Note").dblclick()
        await page.keyboard.press("End")
        await page.keyboard.type(" too")
        await other.changes.set_value(table_id, 3, "Note", "of another")
        await page.keyboard.press("Enter")
        await expect(cell(page, 2, "Note")).to_contain_text("of another")
        await expect(cell(page, 1, "Note")).to_contain_text("of Bob too")
        notes = {row.id: row.cell("Note").value for row in (await other.load(table_id)).rows}
    assert notes == {2: "of Bob too", 3: "of another"}


async def test_long_text_and_text_of_many_lines_is_edited_whole(site: Site, browser: NewPage, tmp_path: Path) -> None:
    long = "word " * 1_500 + "end"
    table_id = await new_table(site, tmp_path, f'Name,Note\nAnn,"one\ntwo"\nBob,{long}\n', "Long texts")
    async with browser() as page:
        await open_table(page, site, table_id)
        await cell(page, 1, "Note").dblclick()
        await expect(page.locator(".ag-popup-editor textarea")).to_have_value("one\ntwo")
        await page.keyboard.press("Control+End")
        await page.keyboard.press("Shift+Enter")
        await page.keyboard.type("three")
        await page.keyboard.press("Enter")
        await expect(cell(page, 1, "Note")).to_contain_text("one two three")

        await cell(page, 2, "Note").dblclick()
        await expect(page.locator(".ag-cell-inline-editing")).to_have_count(0)
        value = page.get_by_role("dialog").get_by_label("Value")
        await expect(value).to_have_value(long)
        await value.press("Control+End")
        await value.press_sequentially(" of it")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(page.locator(".tw-panel .tw-big")).to_have_text(f"{long} of it")
    async with site.open() as services:
        rows = (await services.load(table_id)).rows
    assert [row.cell("Note").value for row in rows] == ["one\ntwo\nthree", f"{long} of it"]


async def test_with_keys_alone_one_gets_to_the_evidence_and_back_to_the_cell(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    table_id, _ = await filled_table(site, tmp_path, "With keys", apply=True)
    async with browser() as page:
        await open_table(page, site, table_id)
        panel = page.get_by_role("complementary", name="Evidence of the cell")
        await cell(page, 1, "Company").click()
        await expect(panel).to_contain_text("Brightwater Foods")
        await page.keyboard.press("Escape")
        await expect(panel).to_be_hidden()
        await page.keyboard.press("ArrowRight")
        await page.keyboard.press(" ")
        await expect(panel.get_by_role("heading", name="Founded")).to_be_focused()
        await expect(page.get_by_role("status").filter(has_text="Evidence: Brightwater Foods")).to_have_count(1)
        await page.keyboard.press("Tab")
        await expect(panel.get_by_role("button", name="Close the evidence panel")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(panel).to_be_hidden()
        await expect(cell(page, 1, "Founded")).to_be_focused()


async def test_on_a_phone_a_cell_is_edited_from_the_panel(site: Site, browser: NewPage, tmp_path: Path) -> None:
    table_id, _ = await filled_table(site, tmp_path, "Edited on a phone", apply=True)
    async with browser(390, 844) as page:
        await open_table(page, site, table_id)
        await cell(page, 1, "Founded").click()
        await page.locator(".tw-panel").get_by_role("button", name="Edit").click()
        value = page.get_by_role("dialog").get_by_label("Value")
        await expect(value).to_have_value("1987")
        await value.fill("long ago")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("alert")).to_contain_text("is not of type number")
        await value.fill("1902")
        await page.get_by_role("button", name="Save").click()
        await expect(page.locator(".tw-panel .tw-big")).to_contain_text("1902")
        await expect(cell(page, 1, "Founded")).to_contain_text("1902")


async def test_enter_commits_and_moves_down_and_a_second_one_erases_nothing(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    table_id = await new_table(site, tmp_path, "Name,Note\nAnn,a\nBob,b\nCid,c\n", "Enter twice")
    async with browser() as page:
        await open_table(page, site, table_id)
        await cell(page, 1, "Note").click()
        editor = page.locator(".ag-cell-inline-editing input")
        for opened in ("a1", "b2", "c3", "c34"):
            await page.keyboard.press("Enter")
            await expect(editor).to_be_focused()
            await expect(editor).to_have_value(opened[:-1])
            await expect(editor).to_have_js_property("selectionStart", len(opened) - 1)
            await page.keyboard.press(opened[-1])
            await page.keyboard.press("Enter")
            await expect(editor).to_have_count(0)
        for row, note in enumerate(("a1", "b2", "c34"), 1):
            await expect(cell(page, row, "Note").locator(".tw-value")).to_have_text(note)
        await page.wait_for_function("!Object.keys(sessionStorage).some((key) => key.includes('unsent'))")
    async with site.open() as services:
        assert [row.cell("Note").value for row in (await services.load(table_id)).rows] == ["a1", "b2", "c34"]
