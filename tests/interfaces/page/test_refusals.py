"""What the page refuses and why, what it keeps meanwhile, and what it says where there is nothing."""

from __future__ import annotations

from pathlib import Path

from tests.interfaces.page.conftest import PATIENCE, NewPage, Site, playwright
from tests.interfaces.page.test_tables_page import cell, edit_cell, new_table, open_table

expect = playwright.expect
expect.set_options(timeout=PATIENCE)


async def test_a_taken_name_and_a_broken_formula_are_refused_and_a_waiting_proposal_blocks_nothing(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    table_id = await new_table(site, tmp_path, "Name,Price\nAnn,1\nBob,2\n", "Refusing")
    async with browser() as page:
        await open_table(page, site, table_id)
        start = page.get_by_role("button", name="Start")
        name, question = page.get_by_label("Column name"), page.get_by_label("Question or formula")

        await page.get_by_role("button", name="Add columns").click()
        await name.fill("price")
        await question.fill("{Price} * (2")
        await expect(page.locator(".tw-problem").filter(has_text="(")).to_be_visible()
        await question.fill("{Price} * 2")
        await expect(page.locator(".tw-problem:visible")).to_have_count(0)
        await start.click()
        await expect(page.get_by_text("The table already has a column Price.")).to_be_visible()
        await name.fill("Double")
        await start.click()
        await expect(cell(page, 2, "Double")).to_contain_text("4")
        await expect(page.locator(".tw-waiting")).to_have_count(1)
        await expect(page.locator(".tw-run")).to_be_hidden()

        await page.get_by_role("button", name="Add columns").click()
        await name.fill("double")
        await question.fill("{Price} * 3")
        await start.click()
        await expect(page.get_by_text("A column double has already been proposed")).to_be_visible()
        await name.fill("Triple")
        await start.click()
        await expect(cell(page, 2, "Triple")).to_contain_text("6")
        await expect(page.locator(".tw-waiting")).to_have_count(2)

        await cell(page, 1, "Triple").click()
        panel = page.get_by_role("complementary", name="Evidence of the cell")
        await expect(panel).to_contain_text("Proposed, not in the table yet")
        await page.get_by_role("button", name="Discard").first.click()
        await expect(page.locator(".tw-waiting")).to_have_count(1)
        await expect(panel).to_be_hidden()

        await page.get_by_label("Find in the table").fill("nobody")
        await expect(page.get_by_text("No row matches.")).to_be_visible()


async def test_what_is_typed_while_the_connection_is_lost_waits_and_is_written_when_it_is_back(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    table_id = await new_table(site, tmp_path, "Name,Note\nAnn,a\nBob,b\n", "Cut off")
    async with browser() as page, site.open() as services:
        await open_table(page, site, table_id)
        await page.wait_for_function("window.did_handshake === true")
        await page.evaluate("window.socket.disconnect()")
        await edit_cell(page, 1, "Note")
        await page.keyboard.press("Control+a")
        await page.keyboard.type("from a train")
        await page.keyboard.press("Enter")
        await expect(page.locator("#tw-unsent")).to_contain_text("1 edit waits here")
        await cell(page, 2, "Note").click()
        await page.keyboard.press("Delete")
        await expect(page.get_by_text("nothing was changed. Try again when it is back.")).to_be_visible()
        await page.reload()
        await page.wait_for_selector(".ag-row .tw-value")
        await expect(cell(page, 1, "Note")).to_contain_text("from a train")
        await expect(page.locator("#tw-unsent")).to_be_empty()
        await page.wait_for_function("!Object.keys(sessionStorage).some((key) => key.includes('unsent'))")
        assert [row.cell("Note").value for row in (await services.load(table_id)).rows] == ["from a train", "b"]


async def test_zero_and_negative_rows_are_refused_with_the_reason(site: Site, browser: NewPage) -> None:
    async with browser() as page:
        await page.goto(f"{site.url}/find")
        await page.wait_for_function("window.did_handshake === true")
        await page.get_by_label("What do you want a table of?").fill("electric kettles")
        for typed in ("0", "-3"):
            await page.get_by_label("Max. rows").fill(typed)
            await page.get_by_role("button", name="Find rows").click()
            await expect(page.get_by_text(f"“Max. rows” cannot be {typed}.")).to_be_visible()
        await expect(page.get_by_text("From 1 to").first).to_be_visible()
        assert page.url.endswith("/find")
        await page.goto(f"{site.url}/research")
        await page.wait_for_function("window.did_handshake === true")
        await page.get_by_label("What do you want to find out?").fill("electric kettles")
        await page.get_by_label("Max. minutes").fill("0")
        await page.get_by_role("button", name="Plan").click()
        await expect(page.get_by_text("“Max. minutes” cannot be 0.")).to_be_visible()
        await expect(page.get_by_text("From 1 to 1,440").first).to_be_visible()
