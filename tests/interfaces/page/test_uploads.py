"""Files that are handed in with the browser: none is lost because of another."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.interfaces.page.conftest import PATIENCE, NewPage, Site, playwright

expect = playwright.expect
expect.set_options(timeout=PATIENCE)

# They vanish after a few seconds, which a busy machine may need for a step of a test.
REMEMBER_NOTICES = """
window.notices = [];
new MutationObserver((changes) => {
  for (const each of changes.flatMap((change) => [...change.addedNodes]))
    if (each.matches?.(".q-notification")) window.notices.push(each.textContent);
}).observe(document, { subtree: true, childList: true });
"""


async def test_a_file_that_is_read_does_not_break_off_one_that_is_on_its_way(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    paths = [tmp_path / "quick.txt", tmp_path / "slow.txt"]
    for path in paths:
        path.write_text(f"This is {path.name}.", encoding="utf-8")
    arriving = asyncio.Event()

    async def hold_back(route: playwright.Route) -> None:
        if b"slow.txt" in (route.request.post_data_buffer or b""):
            await arriving.wait()
        await route.continue_()

    async with browser() as page:
        await page.route("**/upload/*", hold_back)
        await page.goto(f"{site.url}/documents")
        await page.wait_for_function("window.did_handshake === true")
        await page.set_input_files("input[type=file]", [str(path) for path in paths])
        await expect(page.get_by_role("link", name="quick.txt")).to_be_visible()
        uploader = page.locator(".q-uploader__list")
        await expect(uploader.get_by_text("quick.txt")).to_have_count(0)
        arriving.set()
        await expect(page.get_by_role("link", name="slow.txt")).to_be_visible()
        await expect(uploader.get_by_text("slow.txt")).to_have_count(0)


async def test_after_a_file_that_did_not_become_a_table_the_next_is_taken(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    broken, good = tmp_path / "broken.xlsx", tmp_path / "good.csv"
    broken.write_bytes(b"no workbook")
    good.write_text("Company\nKestrelworks\n", encoding="utf-8")
    async with browser() as page:
        await page.goto(site.url)
        await page.wait_for_function("window.did_handshake === true")
        await page.set_input_files("input[type=file]", str(broken))
        await expect(page.get_by_role("alert")).to_contain_text("broken.xlsx")
        await page.set_input_files("input[type=file]", str(good))
        await page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await page.set_input_files("input[type=file]", str(good))
        await page.get_by_role("button", name="Import").click()
        await page.wait_for_url("**/tables/*")


async def test_a_file_whose_receipt_comes_late_is_not_called_interrupted(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    path = tmp_path / "late.csv"
    path.write_text("Firm,City\nNorthwind,Aldermoor\n")
    previewed = asyncio.Event()

    async def reply_late(route: playwright.Route) -> None:
        answer = await route.fetch()
        await previewed.wait()
        await route.fulfill(response=answer)

    async with browser() as page:
        await page.add_init_script(REMEMBER_NOTICES)
        await page.route("**/upload/*", reply_late)
        await page.goto(site.url)
        await page.wait_for_function("window.did_handshake === true")
        await page.set_input_files("input[type=file]", path)
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("1 row, 2 columns")
        previewed.set()
        await expect(page.locator(".tw-file")).to_have_count(0)
        await dialog.get_by_role("button", name="Cancel").click()
        await expect(dialog).to_have_count(0)
        assert await page.evaluate("window.notices") == []
