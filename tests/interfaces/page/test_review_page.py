"""A review with many cells, with long values, on a phone, and by those who hear it rather than see it."""

from __future__ import annotations

from pathlib import Path

from tablewright.domain.fieldspec import parse_field
from tablewright.operations.fill import plan_fill
from tests.interfaces.page.conftest import PATIENCE, NewPage, Site, playwright
from tests.interfaces.page.test_tables_page import cell, filled_table, new_table, open_table
from tests.proposing import newly_found, not_found, propose

expect = playwright.expect
expect.set_options(timeout=PATIENCE)

HOLD = """([key, times]) => {
    for (let time = 0; time < times; time++) {
        document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, repeat: time > 0}));
    }
}"""


async def computed(site: Site, folder: Path, content: str, field: str, name: str) -> tuple[str, str]:
    """A table and a proposal of one computed cell per row: quickly made."""
    table_id = await new_table(site, folder, content, name)
    async with site.open() as services:
        filled = await (await plan_fill(services, table_id, [parse_field(field)], "computation")).run()
    return table_id, filled.proposal_id


async def test_a_key_held_down_across_pages_decides_each_cell_and_a_reload_forgets_none(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    rows = "Name,Price\n" + "".join(f"Item {number},{number}\n" for number in range(1, 71))
    table_id, proposal_id = await computed(site, tmp_path, rows, "Double:number={Price} * 2", "To hold a key on")
    async with browser() as page:
        await page.goto(f"{site.url}/review/{proposal_id}")
        status = page.get_by_role("status").first
        await expect(page.locator(".tw-review-detail")).to_contain_text("Item 1 ")
        await page.evaluate(HOLD, ["a", 64])
        await expect(status).to_have_text("64 to accept, 6 open")
        await expect(page.locator(".tw-cursor")).to_contain_text("Item 65")
        await expect(page.locator(".tw-review-detail")).to_contain_text("Item 65 ")
        assert await page.get_by_role("alert").all_inner_texts() == []

        await page.reload()
        await expect(status).to_have_text("64 to accept, 6 open")
        await expect(page.locator(".tw-cursor")).to_contain_text("Item 65")
        await page.keyboard.press("Enter")
        await expect(status).to_have_text("6 open")
        await page.reload()
        await expect(status).to_have_text("6 open")
    async with site.open() as services:
        values = [row.cell("Double").value for row in (await services.load(table_id)).rows]
    assert values == [2 * number for number in range(1, 65)] + [None] * 6


async def test_keys_that_come_before_the_page_is_joined_to_its_server_keep_their_order(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    _, proposal_id = await computed(site, tmp_path, "Name,P\nA,1\nB,2\nC,3\n", "Double:number={P} * 2", "Early keys")
    async with browser() as page:
        await page.goto(f"{site.url}/review/{proposal_id}")
        await expect(page.locator(".tw-review-detail")).to_contain_text("A ")
        await page.evaluate("window.did_handshake = false")
        await page.evaluate(HOLD, ["a", 1])
        await page.evaluate(
            """() => { window.did_handshake = true; for (const key of ["r", "a"])
                document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true})); }"""
        )
        await expect(page.get_by_role("status").first).to_have_text("2 to accept, 1 to reject, 0 open")
        await expect(page.locator(".tw-line", has_text="B ·")).to_contain_text("reject")
        await page.get_by_role("button", name="Accept column").click()
        await expect(page.get_by_text("1 cell rejected or edited before: unchanged.")).to_be_visible()
        await expect(page.get_by_role("status").first).to_have_text("2 to accept, 1 to reject, 0 open")


async def test_line_breaks_of_a_value_survive_its_edit(site: Site, browser: NewPage, tmp_path: Path) -> None:
    table_id, proposal_id = await computed(
        site, tmp_path, 'Name,Note\nA,"one\ntwo"\n', "Copy={Note}", "With line breaks"
    )
    async with browser() as page:
        await page.goto(f"{site.url}/review/{proposal_id}")
        await expect(page.locator(".tw-review-detail")).to_contain_text("one")
        await page.keyboard.press("e")
        value = page.get_by_label("Value")
        await expect(value).to_have_value("one\ntwo")
        await value.press("Control+End")
        await value.press("Enter")
        await value.press_sequentially("three")
        await page.get_by_role("button", name="Use this value").click()
        await expect(page.get_by_role("status").first).to_have_text("1 to edit, 0 open")
        await page.keyboard.press("Enter")
        await page.wait_for_url(f"**/tables/{table_id}")
    async with site.open() as services:
        assert (await services.load(table_id)).rows[0].cell("Copy").value == "one\ntwo\nthree"


async def test_on_a_phone_every_decision_has_a_button_and_the_focus_stays(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    _, proposal_id = await filled_table(site, tmp_path, "To touch", apply=False)
    async with browser(390, 844) as page:
        await page.goto(f"{site.url}/review/{proposal_id}")
        status, proposed = page.get_by_role("status").first, page.get_by_role("listbox", name="Proposed cells")
        await expect(proposed).to_be_focused()
        first, second = [
            (await line.inner_text()).split(" ·")[0] for line in (await page.locator(".tw-line").all())[:2]
        ]
        assert "Halden" in first, "what sources disagree about comes first"
        acts = page.get_by_role("complementary", name="Evidence")
        await acts.get_by_role("button", name="Accept").click()
        await expect(status).to_have_text("1 to accept, 3 open")
        await expect(acts).to_contain_text(second)
        await expect(page.locator("button:focus-within")).to_contain_text("Accept")
        await acts.get_by_role("button", name="Edit").click()
        await page.get_by_label("Value").fill("1963")
        await page.get_by_role("button", name="Use this value").click()
        await expect(status).to_have_text("1 to accept, 1 to edit, 2 open")
        await expect(proposed).to_be_focused()
        await page.locator(".tw-line").first.click()
        await expect(acts).to_contain_text(first)
        await acts.get_by_role("button", name="Clear decision").click()
        await expect(status).to_have_text("1 to edit, 3 open")

        told = await proposed.get_attribute("aria-activedescendant")
        await expect(page.locator(f"#{told}")).to_contain_text(first)
        await proposed.press("ArrowDown")
        await expect(proposed).not_to_have_attribute("aria-activedescendant", told or "")
        assert await page.evaluate("document.documentElement.scrollWidth") <= 390


async def not_found_again(site: Site, folder: Path, name: str) -> tuple[str, str]:
    """A table with a price in each row, and an open proposal that found one of them, and nothing for the others."""
    table_id = await new_table(site, folder, "Name,Price\nNut,1\nBolt,2\nPin,3\n", name)
    async with site.open() as services:
        found = {(1, "Price"): newly_found(10), (2, "Price"): not_found(), (3, "Price"): not_found("blocked")}
        return table_id, await propose(services.store, table_id, found)


async def prices(site: Site, table_id: str) -> list[object]:
    async with site.open() as services:
        return [row.cell("Price").value for row in (await services.load(table_id)).rows]


async def test_accept_all_keeps_the_values_for_which_nothing_was_found(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    table_id, _ = await not_found_again(site, tmp_path, "To accept whole")
    async with browser() as page:
        await open_table(page, site, table_id)
        await expect(cell(page, 1, "Price")).to_contain_text("10")
        await expect(cell(page, 2, "Price").locator(".tw-value")).to_have_text("2")
        await cell(page, 3, "Price").click()
        panel = page.get_by_role("complementary", name="Evidence of the cell")
        await expect(panel).to_contain_text("Looked up again: blocked; the present value stays")
        await page.get_by_role("button", name="Accept all").click()
        await expect(page.get_by_text("Nothing was found for 2 cells, so their values stay.")).to_be_visible()
        await expect(page.locator(".tw-waiting")).to_have_count(0)
        await expect(cell(page, 3, "Price").locator(".tw-value")).to_have_text("3")
    assert await prices(site, table_id) == [10, 2, 3]


async def test_a_review_shows_what_stays_and_empties_a_cell_only_on_request(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    table_id, proposal_id = await not_found_again(site, tmp_path, "To empty one")
    async with browser() as page:
        await page.goto(f"{site.url}/review/{proposal_id}")
        empty, lines = page.get_by_role("button", name="Empty the cell"), page.locator(".tw-line")
        await expect(page.locator(".tw-cursor")).to_contain_text("Nut")
        await expect(empty).to_be_hidden()
        await expect(lines.nth(1)).to_contain_text("not found; the present value stays")
        await expect(lines.nth(2)).to_contain_text("blocked; the present value stays")
        for key in ("x", "a", "a"):  # nothing is emptied where a value was found
            await page.keyboard.press(key)
        await expect(page.locator(".tw-cursor")).to_contain_text("Pin")
        await empty.click()
        status = page.get_by_role("status").first
        await expect(status).to_have_text("2 to accept, 1 to empty, 0 open")
        await page.get_by_role("button", name="Apply").click()
        await page.wait_for_url(f"**/tables/{table_id}")
    assert await prices(site, table_id) == [10, 2, None]
