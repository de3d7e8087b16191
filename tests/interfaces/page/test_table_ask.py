"""Columns that are asked for on the page, tried on few rows, and corrected: what people say of a cell has an effect."""

from __future__ import annotations

from pathlib import Path

from tablewright.domain.fieldspec import parse_field
from tablewright.operations.fill import plan_fill
from tests.interfaces.page.conftest import PATIENCE, NewPage, Site, playwright
from tests.interfaces.page.test_tables_page import cell, edit_cell, filled_table, new_table, open_table

expect = playwright.expect
expect.set_options(timeout=PATIENCE)

SEVEN = "Name,Price,Weight\n" + "".join(f"Kettle {number},{number},2\n" for number in range(1, 8))


async def test_a_question_counts_as_it_stands_when_enter_is_pressed(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    """However fast it was typed."""
    table_id = await new_table(site, tmp_path, SEVEN, "Typed fast")
    async with browser() as page:
        await open_table(page, site, table_id)
        await page.get_by_role("button", name="Add columns").click()
        dialog = page.get_by_role("dialog").first
        await dialog.get_by_label("Column name").fill("Double")
        await dialog.get_by_label("Question or formula").focus()
        await page.keyboard.type("{Price} * 2")
        await page.keyboard.press("Enter")
        await expect(cell(page, 7, "Double")).to_contain_text("14")


async def test_several_columns_are_tried_on_five_rows_continued_and_asked_for_anew(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    table_id = await new_table(site, tmp_path, SEVEN, "Asked for")
    async with browser() as page, site.open() as services:
        await open_table(page, site, table_id)
        await page.get_by_role("button", name="Add columns").click()
        dialog = page.get_by_role("dialog").first
        await dialog.get_by_label("Column name").fill("Double")
        await page.keyboard.press("Escape")
        await expect(page.get_by_text("Discard what you typed?")).to_be_visible()
        await page.get_by_role("dialog").last.get_by_role("button", name="Cancel").click()
        await expect(page.get_by_text("Discard what you typed?")).to_have_count(0)

        await dialog.get_by_role("button", name="Insert a column").click()
        await page.get_by_role("menu").get_by_text("Price", exact=True).click()
        question = dialog.get_by_label("Question or formula")
        await expect(question).to_have_value("{Price}")
        await question.fill("{Price} * 2")
        await dialog.get_by_role("button", name="Add another column").click()
        await dialog.get_by_label("Column name").nth(1).fill("Both")
        await dialog.get_by_label("Question or formula").nth(1).fill("{Price} + {Weight}")
        await dialog.get_by_role("combobox", name="How").click()
        await expect(page.get_by_role("option", name="Computation: Computes a formula")).to_contain_text("about $0.00")
        await page.get_by_role("option", name="Automatic").click()
        await dialog.get_by_role("combobox", name="Rows").click()
        await page.get_by_role("option", name="The first 5 rows, then continue").click()
        await dialog.get_by_label("Question or formula").nth(1).press("Enter")

        await expect(cell(page, 5, "Both")).to_contain_text("7")
        await expect(cell(page, 6, "Both")).to_have_text("")
        await page.get_by_role("button", name="Continue with 2 more rows").click()
        await expect(cell(page, 7, "Both")).to_contain_text("9")
        await expect(cell(page, 7, "Double")).to_contain_text("14")
        # Two proposals wait, and a third column can be asked for.
        await expect(page.locator(".tw-waiting")).to_have_count(2)
        await expect(page.get_by_role("button", name="Add columns")).to_be_enabled()
        while await page.get_by_role("button", name="Accept all").count():
            before = await page.locator(".tw-waiting").count()
            await page.get_by_role("button", name="Accept all").first.click()
            await expect(page.locator(".tw-waiting")).to_have_count(before - 1)

        await edit_cell(page, 1, "Double")
        await page.keyboard.press("Control+a")
        await page.keyboard.type("100")
        await page.keyboard.press("Enter")
        await expect(cell(page, 1, "Double")).to_have_text("100")
        await page.get_by_role("button", name="Menu of Double").click()
        await page.get_by_role("menuitem", name="Edit question and run again…").click()
        await page.get_by_label("Question or formula").fill("{Price} * 3")
        await page.get_by_role("button", name="Start").click()
        await expect(cell(page, 7, "Double")).to_contain_text("21")
        await page.get_by_role("button", name="Accept all").click()
        await expect(page.locator(".tw-waiting")).to_have_count(0)
        rows = (await services.load(table_id)).rows
        assert [row.cell("Double").value for row in rows] == ["100", "6", "9", "12", "15", "18", "21"]
        assert [row.cell("Both").value for row in rows] == ["3", "4", "5", "6", "7", "8", "9"]


async def test_a_correction_takes_the_other_value_or_looks_again_and_shows_what_was_there(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    table_id, _ = await filled_table(site, tmp_path, "Corrected", apply=True)
    async with browser() as page, site.open() as services:
        await open_table(page, site, table_id)
        panel = page.get_by_role("complementary", name="Evidence of the cell")
        await cell(page, 2, "Founded").click()
        await expect(panel).to_contain_text("Stated in the source.")
        await expect(panel).to_contain_text("The page is about this row")
        await panel.get_by_role("button", name="Use this value: 1964").click()
        await expect(panel.locator(".tw-big")).to_have_text("1964")
        await expect(panel.get_by_text("Chosen by a person")).to_be_visible()
        await expect(panel.locator(".tw-other")).to_have_text("1962")
        await expect(cell(page, 2, "Founded")).to_contain_text("1964")

        await cell(page, 3, "Founded").click()
        await expect(panel.locator(".tw-big")).to_have_text("2009")
        await panel.get_by_role("button", name="This is wrong").click()
        await page.get_by_label("Reason").fill("that is another company")
        await page.get_by_role("button", name="Flag and search again").click()
        await expect(page.locator(".tw-waiting")).to_have_count(1)
        await cell(page, 3, "Founded").click()
        await expect(panel.locator(".tw-before")).to_have_text(
            "Currently in the table: 2009, flagged: that is another company"
        )
        (_, chosen, *_) = (await services.load(table_id)).rows
        kept = chosen.cell("Founded")
        assert (kept.value, kept.basis, kept.conflict[0].value) == (1964, "given", 1962)
        assert kept.evidence
        (run, *_) = await services.jobs.all(table_id)
        assert (run.spec["again"], run.spec["fields"]) == (True, ["Founded"])


async def test_a_correction_that_leads_to_nothing_new_says_so(site: Site, browser: NewPage, tmp_path: Path) -> None:
    table_id = await new_table(site, tmp_path, "Company\nZwaluwmolen Papier\n", "Nothing new")
    async with browser() as page, site.open() as services:
        boss = parse_field("CEO:text=Who is the chief executive of {Company}?")
        found = await (await plan_fill(services, table_id, [boss])).run()
        await services.changes.apply(found.proposal_id)
        await open_table(page, site, table_id)
        await cell(page, 1, "CEO").click()
        await page.get_by_role("button", name="This is wrong").click()
        await page.get_by_label("Reason").fill("that is the founder")
        await page.get_by_role("button", name="Flag and search again").click()
        told = page.get_by_role("alert").filter(has_text="Nothing new was found.")
        await expect(told).to_contain_text("1 cell stays as it is.")
        await expect(cell(page, 1, "CEO")).to_contain_text("Joost van der Meulenaar")


async def test_what_a_person_typed_is_not_looked_for_anew(site: Site, tmp_path: Path) -> None:
    table_id = await new_table(site, tmp_path, SEVEN, "Typed over")
    async with site.open() as services:
        field = parse_field("Double:number={Price} * 2")
        first = await (await plan_fill(services, table_id, [field])).run()
        await services.changes.apply(first.proposal_id)
        await services.changes.set_value(table_id, 1, "Double", "100")
        again = await (await plan_fill(services, table_id, [field], redo="all")).run()
        cells = await services.store.proposals.operations(again.proposal_id)
    assert [operation.row_id for operation in cells] == [2, 3, 4, 5, 6, 7]
