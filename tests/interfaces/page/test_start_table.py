"""The ways to a table, in Chromium: a file and a list with a preview, a blank one, one of documents; and the search."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.interfaces.page.conftest import PATIENCE, NewPage, Site, playwright
from tests.interfaces.page.test_tables_page import cell

expect = playwright.expect
expect.set_options(timeout=PATIENCE)


async def names(site: Site) -> list[str]:
    async with site.open() as services:
        return [table.name for table in await services.tables()]


async def test_a_file_is_previewed_changed_and_only_then_imported(site: Site, browser: NewPage, tmp_path: Path) -> None:
    path = tmp_path / "stoves.csv"
    path.write_text("Price,Stove,Code\n12.50,Amber,007\n9.90,Bramble,n7\n")
    async with browser() as page:
        await page.goto(site.url)
        await page.set_input_files("input[type=file]", path)
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("2 rows, 3 columns")
        await expect(dialog).to_contain_text("Bramble")
        await expect(dialog.get_by_role("combobox", name="Column that names the rows")).to_have_value("Stove")
        assert "stoves" not in await names(site)
        await dialog.get_by_role("combobox", name="Type of Code").click()
        await page.get_by_role("option", name="number").click()
        await expect(dialog).to_contain_text("Code: 1 value is not of type number and would be left out: “n7”")
        await dialog.get_by_label("Name of Code").fill("Price")
        await dialog.get_by_role("button", name="Import").click()
        await expect(page.get_by_text("Two columns are called 'Price'.")).to_be_visible()
        await dialog.get_by_label("Name of Code").fill("Number")
        await dialog.get_by_label("Table name").fill("Cast-iron stoves")
        await expect(dialog.get_by_label("Name of Code")).to_have_value("Number")
        await dialog.get_by_role("button", name="Import").click()
        await expect(cell(page, 1, "Number")).to_contain_text("7")
        await expect(cell(page, 1, "Price")).to_contain_text("12.50")


async def test_a_pasted_list_a_blank_table_and_the_search_over_tables(site: Site, browser: NewPage) -> None:
    async with browser() as page:
        await page.goto(site.url)
        await page.get_by_role("button", name="Paste a list").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name="Preview").click()
        await expect(page.get_by_text("The list is empty.")).to_be_visible()
        await dialog.get_by_label("Rows").fill("Northwind, Inc.\nAldermoor\n")
        await dialog.get_by_label("Table name").fill("Pasted firms")
        await dialog.get_by_role("button", name="Preview").click()
        await expect(dialog).to_contain_text("2 rows, 1 column")
        await dialog.get_by_role("textbox", name="Name of Column 1").fill("Firm")
        await dialog.get_by_role("button", name="Import").click()
        await expect(cell(page, 1, "Firm")).to_contain_text("Northwind, Inc.")

        await page.goto(site.url)
        await page.get_by_role("button", name="Blank table").click()
        await dialog.get_by_label("Columns, separated by commas").fill("Firm, firm")
        await dialog.get_by_label("Table name").fill("Blank one")
        await dialog.get_by_role("button", name="Create").click()
        await expect(page.get_by_text("Two columns are called 'firm'.")).to_be_visible()
        await dialog.get_by_label("Columns, separated by commas").fill("Firm, City")
        await dialog.get_by_role("button", name="Create").click()
        await expect(page.locator(".ag-header")).to_contain_text("City")
        await expect(page.locator(".ag-row")).to_have_count(0)

        await page.goto(site.url)
        await page.get_by_label("Search tables").fill("no table of this name")
        await expect(page.get_by_text("No table matches “no table of this name”.")).to_be_visible()
        await page.get_by_label("Search tables").fill("FIRMS past")
        await expect(page.get_by_role("list", name="Tables").get_by_role("link")).to_have_count(1)
        await expect(page.get_by_role("link", name="Pasted firms")).to_be_visible()


async def test_a_pasted_list_of_many_rows_is_imported_whole(site: Site, browser: NewPage) -> None:
    rows, last = 100_000, "Firm number 100000"
    async with browser() as page:
        await page.goto(site.url)
        await page.get_by_role("button", name="Paste a list").click()
        dialog = page.get_by_role("dialog")
        pasted = dialog.get_by_label("Rows")
        await dialog.get_by_label("Table name").fill("Many pasted firms")
        await pasted.focus()
        await pasted.evaluate(
            """(box, rows) => {
                const carried = new DataTransfer();
                const lines = Array.from({length: rows}, (_, at) => `Firm number ${at + 1}`);
                carried.setData("text/plain", lines.join("\\n"));
                const more = {clipboardData: carried, bubbles: true, cancelable: true};
                box.dispatchEvent(new ClipboardEvent("paste", more));
            }""",
            rows,
        )
        length = sum(len(f"Firm number {at}") + 1 for at in range(1, rows + 1)) - 1
        assert await pasted.evaluate("(box) => box.value.length") == length
        await dialog.get_by_role("button", name="Preview").click()
        await expect(dialog).to_contain_text("100,000 rows, 1 column")
        await dialog.get_by_role("button", name="Import").click()
        await page.wait_for_url("**/tables/many-pasted-firms")
    async with site.open() as services:
        ids = await services.store.tables.row_ids("many-pasted-firms")
        found = await services.rows_by_id("many-pasted-firms", [ids[-1]])
        assert (len(ids), [cell.value for cell in found[ids[-1]].cells.values()]) == (rows, [last])


def refusing(status: int) -> Callable[[playwright.Route], Awaitable[None]]:
    async def refuse(route: playwright.Route) -> None:
        await route.fulfill(status=status)

    return refuse


async def test_a_list_that_does_not_arrive_stays_in_the_window(site: Site, browser: NewPage) -> None:
    async with browser() as page:
        await page.goto(site.url)
        await page.get_by_role("button", name="Paste a list").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Rows").fill("Northwind\nAldermoor\n")
        for status, said in ((413, "larger than 200 MB"), (507, "disk of the server is full"), (500, "did not arrive")):
            await page.route("**/upload/*", refusing(status))
            await dialog.get_by_role("button", name="Preview").click()
            await expect(page.get_by_role("alert").filter(has_text=said)).to_contain_text("still in the window")
            await page.unroute("**/upload/*")
        await expect(dialog.get_by_label("Rows")).to_have_value("Northwind\nAldermoor\n")
        await dialog.get_by_role("button", name="Preview").click()
        await expect(dialog).to_contain_text("2 rows, 1 column")
