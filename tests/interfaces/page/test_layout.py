"""What has to fit: on a phone, beside the panel, and in a window that opens on another page than its own."""

from __future__ import annotations

from pathlib import Path

from tests.interfaces.page.conftest import PATIENCE, NewPage, Site, playwright
from tests.interfaces.page.test_tables_page import cell, filled_table, open_table
from tests.operating import add_documents

expect = playwright.expect
expect.set_options(timeout=PATIENCE)

# Pixels that a field needs for a word or two.
READABLE = 90
PHONE = 390


async def box(element: playwright.Locator) -> dict[str, float]:
    await expect(element).to_be_visible()
    found = await element.bounding_box()
    assert found is not None
    return dict(found)


async def test_history_can_be_read_on_a_phone(site: Site, browser: NewPage, tmp_path: Path) -> None:
    table_id, _ = await filled_table(site, tmp_path, "Read on a phone", apply=True)
    async with browser(PHONE, 844) as page:
        await open_table(page, site, table_id)
        await page.get_by_role("button", name="History").click()
        change = page.locator(".tw-change").first
        said = await box(change.locator(".tw-text").first)
        assert said["width"] >= READABLE
        assert (await box(change))["height"] <= 200
        await expect(change.get_by_role("link", name="Run")).to_be_visible()


async def test_the_form_over_documents_fits_on_a_phone(site: Site, browser: NewPage, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("RECEIPT\nTotal: EUR 12.00\n")
    async with site.open() as services:
        await add_documents(services, [tmp_path / "note.txt"], kind="receipt", workers=1)
    async with browser(PHONE, 844) as page:
        await page.goto(f"{site.url}/lookup")
        await page.wait_for_function("window.did_handshake === true")
        for label in ("Kind", "Column", "Comparison", "Value", "Result", "Sorted by", "Further columns"):
            field = await box(page.locator(".q-field").filter(has_text=label).first)
            assert field["width"] >= READABLE, label
            assert field["x"] + field["width"] <= PHONE, label


async def test_the_lines_above_the_grid_stay_lines_beside_the_panel(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    table_id, _ = await filled_table(site, tmp_path, "Beside the panel", apply=True)
    async with browser() as page:
        await open_table(page, site, table_id)
        before = await box(page.locator(".tw-sheet"))
        await cell(page, 1, "Founded").click()
        await expect(page.locator(".tw-quote").first).to_be_visible()
        await expect(page.get_by_role("button", name="Export")).to_be_visible()
        assert (await box(page.locator(".tw-sheet")))["y"] == before["y"]


async def test_the_preview_of_a_file_looks_the_same_wherever_it_opens(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("Firm,City\nNorthwind,Aldermoor\n")
    looks = []
    async with browser() as page:
        for place in ("/", "/start?step=table"):
            await page.goto(site.url + place)
            await page.wait_for_function("window.did_handshake === true")
            await page.set_input_files("input[type=file]", path)
            value = page.get_by_role("dialog").get_by_role("cell", name="Aldermoor")
            await expect(value).to_be_visible()
            looks.append(await value.evaluate("cell => getComputedStyle(cell).padding"))
    assert looks[0] == looks[1] != "0px"


async def test_a_setting_that_cannot_be_changed_here_has_nothing_to_save(site: Site, browser: NewPage) -> None:
    async with browser() as page:
        await page.goto(f"{site.url}/settings")
        search = page.get_by_role("region", name="Web search")
        await expect(search.get_by_text("Set by TABLEWRIGHT_SEARCH. Change it there.")).to_be_visible()
        await expect(search.get_by_role("button", name="Test")).to_be_visible()
        await expect(search.get_by_role("button", name="Save")).to_have_count(0)
        await expect(page.get_by_role("region", name="Budget").get_by_role("button", name="Save")).to_be_visible()
