"""The pages for tables, used as people use them: in Chromium, against a server of its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.files import FileOptions
from tablewright.domain.model import Cell
from tablewright.interfaces.page.table.rows import grid_cell
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import plan_fill
from tests.interfaces.judging import judged_table
from tests.interfaces.page.conftest import PATIENCE, NewPage, Site, playwright

expect = playwright.expect
expect.set_options(timeout=PATIENCE)

FOUNDED = "What year was {Company} founded?"
HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"


async def new_table(site: Site, folder: Path, content: str, name: str) -> str:
    path = folder / "rows.csv"
    path.write_text(content)
    async with site.open() as services:
        return (await import_table_file(services, path, FileOptions(name=name))).table.id


async def filled_table(site: Site, folder: Path, name: str, *, apply: bool) -> tuple[str, str]:
    """Four of the sample's companies with the year they were founded; its id, and the proposal's."""
    names = ("Brightwater Foods", "Halden & Rourke Logistics", "Kestrelworks", "Thistledown Aeronautics")
    table_id = await new_table(site, folder, "Company\n" + "\n".join(names) + "\n", name)
    async with site.open() as services:
        run = await plan_fill(services, table_id, [parse_field(f"Founded:number={FOUNDED}")], "pipeline")
        filled = await run.run()
        if apply:
            await services.changes.apply(filled.proposal_id)
    return table_id, filled.proposal_id


def cell(page: playwright.Page, row: int, field: str) -> playwright.Locator:
    """By the number of the row's place, from 1."""
    return page.locator(f".ag-row[row-index='{row - 1}'] [col-id='{field}']")


async def edit_cell(page: playwright.Page, row: int, column: str) -> None:
    """Open the editor of a cell. Keys that come before it is open belong to the grid, and while the grid changes its
    columns, a click opens none."""
    editor = page.locator(".ag-cell-inline-editing input, .ag-popup-editor textarea")
    for _ in range(PATIENCE // 1_000):
        await cell(page, row, column).dblclick()
        await page.wait_for_timeout(200)
        if await editor.count():
            break
    await expect(editor).to_be_focused()


async def open_table(page: playwright.Page, site: Site, table_id: str) -> None:
    await page.goto(f"{site.url}/tables/{table_id}")
    await page.wait_for_selector(".ag-row .tw-value")


async def test_from_an_empty_server_to_an_accepted_column(fresh_site: Site, browser: NewPage, tmp_path: Path) -> None:
    async with browser() as page:
        await page.goto(fresh_site.url)
        await page.get_by_role("button", name="From documents").click()
        await expect(page.get_by_text("There are no documents yet.")).to_be_visible()
        await page.get_by_role("button", name="Open a filled sample").click()
        await expect(cell(page, 1, "Company")).to_contain_text("Brightwater Foods")
        await expect(cell(page, 1, "Founded")).to_contain_text("1987")
        await expect(page.get_by_text("Fictional sample: these companies do not exist.")).to_be_visible()

        await page.get_by_role("button", name="Add columns").click()
        await page.get_by_label("Column name").fill("Year")
        await page.get_by_role("combobox", name="Type").click()
        await page.get_by_role("option", name="number").click()
        await page.get_by_label("Question or formula").fill(FOUNDED)
        await page.get_by_role("button", name="Estimate").click()
        await expect(page.locator(".tw-outlook")).to_contain_text("12 cells in 12 rows")
        await page.get_by_text("Only values that a source states").click()
        await page.get_by_role("button", name="Start").click()

        await expect(page.get_by_role("button", name="Stop")).to_be_visible()
        await expect(cell(page, 1, "Year")).to_contain_text("1987")
        await expect(page.locator(".tw-waiting")).to_contain_text("values proposed")

        await cell(page, 1, "Year").click()
        panel = page.get_by_role("complementary", name="Evidence of the cell")
        await expect(panel.locator(".tw-mark").first).to_contain_text("1987")
        await expect(panel.get_by_text("How it was found")).to_be_visible()
        await page.get_by_role("button", name="Accept all").click()
        await expect(page.locator(".tw-waiting")).to_be_hidden()
        await expect(cell(page, 1, "Year").locator(".tw-new")).to_have_count(0)
        await expect(page.locator(".tw-filter", has_text="New")).to_be_hidden()
        await expect(page.locator(".q-notification.bg-negative")).to_have_count(0)

        await page.set_viewport_size({"width": 390, "height": 780})
        await expect(page.locator("[col-id='tw:number']").first).to_be_hidden()
        await page.set_viewport_size({"width": 1280, "height": 800})
        await expect(page.locator(".ag-pinned-left-header [col-id='tw:number']")).to_be_visible()

        await page.get_by_role("button", name="Export").click()
        async with page.expect_download() as download:
            await page.get_by_text("CSV", exact=True).click()
        written = tmp_path / "out.csv"
        await (await download.value).save_as(written)
        assert "Brightwater Foods,United Kingdom,Food,1987,Port Merrin,Imogen Tarrant,1450,1987" in written.read_text()
    async with fresh_site.open() as services:
        run = (await services.jobs.all())[0]
        assert run.spec["settings"]["evidence"] == "strict"


async def test_a_file_that_comes_again_goes_on_with_its_table(site: Site, browser: NewPage, tmp_path: Path) -> None:
    path = tmp_path / "lanterns.csv"
    path.write_text("Lantern,Price\nAmber,12.50\n")
    async with browser() as page:

        async def choose(button: str) -> None:
            await page.goto(site.url)
            await page.set_input_files("input[type=file]", path)
            await page.get_by_role("dialog").get_by_role("button", name=button).click()
            await expect(cell(page, 1, "Lantern")).to_contain_text("Amber")

        await choose("Import")
        await choose("Open the table")
        await expect(page).to_have_url(f"{site.url}/tables/lanterns")
        path.write_text("Lantern,Price\nAmber,99\nBramble,9.90\n")
        await choose("Add 1 new row")
        await expect(page).to_have_url(f"{site.url}/tables/lanterns")
        await expect(cell(page, 2, "Lantern")).to_contain_text("Bramble")
        await expect(cell(page, 1, "Price")).to_contain_text("12.50")
        await page.goto(site.url)
        await page.set_input_files("input[type=file]", path)
        await page.get_by_role("dialog").get_by_role("button", name="Create a new table").click()
        await expect(page.get_by_role("heading", name="This file has been imported before")).to_have_count(0)
        await expect(page.get_by_role("heading", name="Import a table")).to_be_visible()
        await page.get_by_role("dialog").get_by_role("button", name="Import").click()
        await expect(page).to_have_url(re.compile(r"/tables/lanterns-\w+$"))


async def test_a_stopped_run_keeps_what_it_found(site: Site, browser: NewPage, tmp_path: Path) -> None:
    rows = "Company\n" + "".join(f"Brightwater Foods {number}\n" for number in range(2_000))
    table_id = await new_table(site, tmp_path, rows, "To stop")
    async with browser() as page:
        await open_table(page, site, table_id)
        await page.get_by_role("button", name="Add columns").click()
        await page.get_by_label("Column name").fill("Founded")
        await page.get_by_label("Question or formula").fill(FOUNDED)
        await page.get_by_role("button", name="Start").click()
        await page.get_by_role("button", name="Stop").click()
        await expect(page.get_by_text("Stopped. What was found is kept")).to_be_visible()
        await expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    async with site.open() as services:
        run = (await services.jobs.all(table_id, limit=1))[0]
        assert run.status == "cancelled"
        assert run.done < 2_000


async def test_typed_pasted_flagged_and_undone(site: Site, browser: NewPage, tmp_path: Path) -> None:
    table_id, _ = await filled_table(site, tmp_path, "To change", apply=True)
    async with browser() as page:
        await open_table(page, site, table_id)
        await edit_cell(page, 1, "Founded")
        await page.keyboard.press("Control+a")
        await page.keyboard.type("1901")
        await page.keyboard.press("Enter")
        await expect(cell(page, 1, "Founded")).to_contain_text("1901")
        await expect(cell(page, 1, "Founded")).not_to_have_class("tw-is-saving")

        await edit_cell(page, 2, "Founded")
        await page.keyboard.press("Control+a")
        await page.keyboard.type("a long time ago")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("alert")).to_contain_text("is not of type number")
        await expect(cell(page, 2, "Founded")).to_contain_text("1962")

        await cell(page, 3, "Founded").click()
        await expect(page.locator(".tw-panel")).to_contain_text("Kestrelworks")
        await page.get_by_role("button", name="This is wrong").click()
        await page.get_by_label("Reason").fill("that is another company")
        await page.get_by_role("button", name="Flag", exact=True).click()
        await expect(cell(page, 3, "Founded").get_by_role("img", name="flagged")).to_be_visible()

        await cell(page, 4, "Company").click()
        await page.evaluate(
            """(text) => {
                const clipboardData = new DataTransfer();
                clipboardData.setData("text/plain", text);
                document.activeElement.dispatchEvent(new ClipboardEvent("paste", {clipboardData, bubbles: true}));
            }""",
            "Thistledown\t1940\nMarlow\t1950\nOrrin\t1960\n",
        )
        await expect(cell(page, 6, "Company")).to_contain_text("Orrin")
        await expect(cell(page, 6, "Founded")).to_contain_text("1960")

        await page.get_by_role("button", name="History").click()
        await page.get_by_role("button", name="Undo", exact=False).first.click()
        await expect(cell(page, 6, "Company")).to_have_count(0)
    async with site.open() as services:
        table = await services.load(table_id)
        assert [row.cell("Founded").value for row in table.rows][:2] == [1901, 1962]
        assert table.rows[2].cell("Founded").error == "flagged: that is another company"
        assert len(table.rows) == 4


async def test_rechecked_a_row_added_and_what_it_lacks_looked_for(site: Site, browser: NewPage, tmp_path: Path) -> None:
    table_id, _ = await filled_table(site, tmp_path, "To recheck", apply=True)
    async with browser() as page:
        await open_table(page, site, table_id)
        panel = page.get_by_role("complementary", name="Evidence of the cell")
        await cell(page, 1, "Founded").click()
        await panel.get_by_role("button", name="Recheck").click()
        await expect(page.get_by_role("alert").filter(has_text="The source still says so.")).to_be_visible()

        await page.get_by_role("button", name="Add a row").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name="Add", exact=True).click()
        await expect(page.get_by_text("The row is empty.")).to_be_visible()
        await dialog.get_by_label("Company").fill("Casa Ferrolino")
        await dialog.get_by_role("button", name="Add", exact=True).click()
        await expect(cell(page, 5, "Company")).to_contain_text("Casa")

        await cell(page, 5, "Founded").click()
        await expect(panel).to_contain_text("Casa")
        await panel.get_by_role("button", name="Find this value").click()
        await page.get_by_role("button", name="Start").click()
        await expect(page.locator(".tw-waiting")).to_contain_text("1 value proposed")
        await page.get_by_role("button", name="Discard").click()
        await expect(page.locator(".tw-waiting")).to_be_hidden()


async def test_only_what_failed_is_shown(site: Site, browser: NewPage, tmp_path: Path) -> None:
    table_id, _ = await filled_table(site, tmp_path, "To filter", apply=True)
    async with browser() as page:
        await open_table(page, site, table_id)
        await expect(page.locator(".ag-center-cols-container .ag-row")).to_have_count(4)
        await page.get_by_role("button", name="✗ Not found").click()
        await expect(page.locator("#tw-found")).to_have_text("1 row")
        await expect(cell(page, 1, "Company")).to_contain_text("Thistledown Aeronautics")
        await expect(cell(page, 1, "Founded")).to_contain_text("not found")
        await cell(page, 1, "Founded").click()
        await page.get_by_role("button", name="Find this value").click()
        await page.get_by_role("button", name="Start").click()
        await expect(page.locator(".tw-waiting")).to_contain_text("1 cell without a result")
        await page.get_by_role("button", name="Discard").click()
        await expect(page.locator(".tw-waiting")).to_be_hidden()
        await page.get_by_role("button", name="All rows").click()
        await page.get_by_label("Find in the table").fill("kestrel")
        await expect(page.locator("#tw-found")).to_have_text("1 row")


async def test_a_column_is_sorted_with_what_is_proposed_and_the_empty_last(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    rows = "Company,Staff\nKestrelworks,90\nNobody Knows Ltd,\nBrightwater Foods,1100\nhalden & Rourke Logistics,200\n"
    table_id = await new_table(site, tmp_path, rows, "To sort")
    async with site.open() as services:
        run = await plan_fill(services, table_id, [parse_field(f"Founded:number={FOUNDED}")], "pipeline")
        await run.run()

    async def order(page: playwright.Page, *names: str) -> None:
        for place, name in enumerate(names, start=1):
            await expect(cell(page, place, "Company")).to_contain_text(name)

    async with browser() as page:
        await open_table(page, site, table_id)
        await order(page, "Kestrelworks", "Nobody", "Brightwater", "halden")
        await page.get_by_role("columnheader", name="Company").click()
        await order(page, "Brightwater", "halden", "Kestrelworks", "Nobody")
        await page.get_by_role("columnheader", name="Staff").click()
        await order(page, "Kestrelworks", "halden", "Brightwater", "Nobody")
        await page.get_by_role("columnheader", name="Staff").click()
        await order(page, "Brightwater", "halden", "Kestrelworks", "Nobody")
        await page.get_by_role("columnheader", name="Founded").click()
        await expect(cell(page, 4, "Company")).to_contain_text("Nobody")
        years = [await cell(page, place, "Founded").locator(".tw-value").inner_text() for place in (1, 2, 3)]
        assert years == sorted(years)
        await expect(cell(page, 1, "Founded").locator(".tw-new")).to_be_visible()


async def test_where_sources_disagree_the_panel_shows_both(site: Site, browser: NewPage, tmp_path: Path) -> None:
    table_id, _ = await filled_table(site, tmp_path, "Disputed", apply=True)
    async with browser() as page:
        await open_table(page, site, table_id)
        await cell(page, 2, "Founded").click()
        panel = page.get_by_role("complementary", name="Evidence of the cell")
        await expect(panel).to_contain_text("1962")
        await expect(panel).to_contain_text("Other sources say")
        await page.keyboard.press("Escape")
        await expect(panel).to_be_hidden()


async def test_a_proposal_is_decided_with_keys_alone(site: Site, browser: NewPage, tmp_path: Path) -> None:
    table_id, proposal_id = await filled_table(site, tmp_path, "To review", apply=False)
    async with browser() as page:
        await page.goto(f"{site.url}/review/{proposal_id}")
        await expect(page.locator(".tw-review-detail")).to_contain_text("Halden")
        names = [(await line.inner_text()).split(" ·")[0] for line in await page.locator(".tw-line").all()]
        await page.keyboard.press("e")
        await page.get_by_label("Value").fill("1963")
        await page.keyboard.press("Enter")
        await expect(page.locator(".tw-cursor")).to_contain_text(names[1])
        await page.keyboard.press("a")
        await expect(page.locator(".tw-cursor")).to_contain_text(names[2])
        await page.keyboard.press("r")
        await expect(page.get_by_role("status").first).to_contain_text("1 to accept, 1 to reject, 1 to edit, 1 open")
        await page.keyboard.press("Enter")
        await expect(page.locator(".tw-line")).to_have_count(1)
    async with site.open() as services:
        rows = (await services.load(table_id)).rows
        values = {row.cell("Company").value: row.cell("Founded").value for row in rows}
        found = {"Brightwater Foods": 1987, "Kestrelworks": 2009}[names[1]]
        assert [values[name] for name in names] == [1963, found, None, None]
        assert (await services.store.proposals.get(proposal_id)).counts["refused"] == 1


async def test_what_is_sure_enough_is_accepted_together(site: Site, browser: NewPage, tmp_path: Path) -> None:
    table_id, proposal_id = await filled_table(site, tmp_path, "To accept", apply=False)
    async with browser() as page:
        await page.goto(f"{site.url}/review/{proposal_id}")
        await page.get_by_role("button", name="Accept", exact=True).first.click()
        await expect(page.get_by_role("status").first).to_contain_text("2 to accept, 2 open")
        await page.get_by_role("button", name="Apply").click()
        await expect(page.locator(".tw-line")).to_have_count(2)
    async with site.open() as services:
        rows = (await services.load(table_id)).rows
        assert [row.cell("Founded").value for row in rows] == [1987, None, 2009, None]


async def test_hostile_text_stays_text(site: Site, browser: NewPage, tmp_path: Path) -> None:
    quoted = '"' + HOSTILE.replace('"', '""') + '"'
    table_id = await new_table(site, tmp_path, f"Name,{quoted}\n{quoted},=1+1\n", HOSTILE)
    async with browser() as page:
        await page.goto(site.url)
        await expect(page.get_by_role("link", name="onerror")).to_contain_text("<script>")
        await open_table(page, site, table_id)
        await expect(cell(page, 1, "Name")).to_contain_text("<script>")
        await expect(page.locator(".ag-header")).to_contain_text("<script>")
        await cell(page, 1, "Name").click()
        await expect(page.locator(".tw-panel")).to_contain_text("<script>")
        await page.get_by_role("button", name="History").click()
        await expect(page.locator(".tw-history")).to_contain_text("imported")
        assert await page.locator("img[src=x]").count() == 0
        assert await page.title() != "owned"


async def test_on_a_phone_the_menu_and_the_evidence_fit(site: Site, browser: NewPage, tmp_path: Path) -> None:
    table_id, _ = await filled_table(site, tmp_path, "On a phone", apply=True)
    async with browser(390, 844) as page:
        await open_table(page, site, table_id)
        assert await page.evaluate("document.documentElement.scrollWidth") <= 390
        await page.get_by_role("button", name="Open the menu").click()
        await expect(
            page.get_by_role("navigation", name="Main navigation, menu").get_by_text("Documents")
        ).to_be_visible()
        await page.keyboard.press("Escape")
        await page.mouse.click(370, 500)
        await cell(page, 1, "Founded").click()
        await expect(page.locator(".tw-panel .tw-big")).to_contain_text("1987")
        await page.wait_for_function(
            """() => {
                const panel = document.querySelector(".tw-panel").getBoundingClientRect();
                return panel.width > 300 && panel.left >= 0 && panel.right <= 390;
            }"""
        )


async def test_a_page_of_nothing_says_so(site: Site, browser: NewPage) -> None:
    async with browser() as page:
        for place in ("tables", "review", "runs", "research", "shortlist", "documents"):
            answer = await page.goto(f"{site.url}/{place}/nothing")
            assert answer is not None
            assert answer.status == 404
            await expect(page.get_by_text("There is no")).to_have_count(1)
            await expect(page.get_by_role("link", name="All tables", exact=True)).to_be_visible()


async def test_a_cell_of_another_process_is_seen_soon(site: Site, browser: NewPage, tmp_path: Path) -> None:
    table_id = await new_table(site, tmp_path, "Company\nBrightwater Foods\n", "Watched")
    async with browser() as page:
        await open_table(page, site, table_id)
        async with site.open() as services:
            await services.changes.set_value(table_id, 1, "Company", "Somebody Else")
        await expect(cell(page, 1, "Company")).to_contain_text("Somebody Else")


@pytest.mark.parametrize(
    ("of", "mark"),
    [
        (Cell(value=1, status="ENRICHED", confidence=0.9, run_id="r"), "high"),
        (Cell(value=1, status="ENRICHED", confidence=0.6, run_id="r"), "medium"),
        (Cell(value=1, status="ENRICHED", confidence=0.1, run_id="r"), "low"),
        (Cell(status="FAILED", reason="not_found"), "failed"),
        (Cell(value=1, status="FLAGGED"), "flagged"),
        (Cell(value="x", status="ENRICHED", confidence=1.0), "own"),
        (Cell(), "empty"),
    ],
)
def test_each_kind_of_cell_has_its_mark(of: Cell, mark: str) -> None:
    assert grid_cell(of)["mark"] == mark


async def test_a_judged_value_is_marked_in_the_grid_the_panel_and_the_review(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    async with site.open() as services:
        table_id, filled = await judged_table(services, tmp_path, "With a judged value")
    async with browser() as page:
        await page.goto(f"{site.url}/review/{filled.proposal_id}")
        await expect(page.locator(".tw-line")).to_contain_text("judged")
        await expect(page.locator(".tw-review-detail")).to_contain_text("Judged by the model from these quotes.")
        async with site.open() as services:
            await services.changes.apply(filled.proposal_id)
        await open_table(page, site, table_id)
        await expect(cell(page, 1, "Segment").locator(".tw-judged")).to_have_text("judged")
        await expect(cell(page, 1, "Company").locator(".tw-judged")).to_have_count(0)
        await cell(page, 1, "Segment").click()
        panel = page.locator(".tw-panel")
        await expect(panel).to_contain_text("Judged by the model from these quotes.")
        await expect(panel).to_contain_text("Every quote was found in the retrieved text.")


async def test_what_can_be_set_for_a_strategy_reaches_its_run(site: Site, browser: NewPage, tmp_path: Path) -> None:
    table_id = await new_table(site, tmp_path, "Company\nKestrelworks\n", "To set parameters for")
    async with browser() as page:
        await open_table(page, site, table_id)
        await page.get_by_role("button", name="Add columns").click()
        await page.get_by_label("Column name").fill("Founded")
        await page.get_by_label("Question or formula").fill(FOUNDED)
        await page.get_by_role("combobox", name="How").click()
        await page.get_by_role("option", name="Deep Research").click()
        await page.get_by_label("Max steps").fill("2")
        await page.get_by_role("button", name="Start").click()
        await expect(cell(page, 1, "Founded")).to_contain_text("2009")
    async with site.open() as services:
        (run,) = await services.jobs.all(table_id)
        assert run.spec["params"] == {"thoroughness": "exploratory", "max_steps": "2"}


async def test_a_run_is_paused_and_resumed_on_its_page(site: Site, browser: NewPage, tmp_path: Path) -> None:
    rows = "Company\n" + "".join(f"Brightwater Foods {number}\n" for number in range(2_000))
    table_id = await new_table(site, tmp_path, rows, "To pause")
    async with browser() as page:
        await open_table(page, site, table_id)
        await page.get_by_role("button", name="Add columns").click()
        await page.get_by_label("Column name").fill("Founded")
        await page.get_by_label("Question or formula").fill(FOUNDED)
        await page.get_by_role("button", name="Start").click()
        await expect(page.get_by_role("button", name="Stop")).to_be_visible()
        async with site.open() as services:
            run = (await services.jobs.all(table_id, limit=1))[0]
            await page.goto(f"{site.url}/runs/{run.id}")
            await page.get_by_role("button", name="Pause").click()
            await expect(page.get_by_text("Pausing. What was found is kept.")).to_be_visible()
            await expect(page.get_by_role("button", name="Resume")).to_be_visible()
            assert (await services.jobs.get(run.id)).status == "paused"
            await page.get_by_role("button", name="Resume").click()
            await expect(page.get_by_role("button", name="Pause")).to_be_visible()
            await page.get_by_role("button", name="Stop").click()
            await expect(page.get_by_role("button", name="Resume")).to_be_visible()
            assert (await services.jobs.get(run.id)).status == "cancelled"


async def test_a_run_is_paused_and_resumed_above_its_table(site: Site, browser: NewPage, tmp_path: Path) -> None:
    rows = "Company\n" + "".join(f"Brightwater Foods {number}\n" for number in range(2_000))
    table_id = await new_table(site, tmp_path, rows, "To pause above")
    async with browser() as page:
        await open_table(page, site, table_id)
        await page.get_by_role("button", name="Add columns").click()
        await page.get_by_label("Column name").fill("Founded")
        await page.get_by_label("Question or formula").fill(FOUNDED)
        await page.get_by_role("button", name="Start").click()
        bar = page.get_by_role("region", name="Run")
        await bar.get_by_role("button", name="Pause").click()
        await expect(bar).to_contain_text("of 2,000 rows · Paused: what was found is kept")
        await expect(bar.get_by_role("button", name="Stop")).to_be_hidden()
        # It is no failure, as a pause after an outage is.
        await expect(page.get_by_role("alert", name="Last run")).to_be_hidden()
        async with site.open() as services:
            assert (await services.jobs.all(table_id, limit=1))[0].status == "paused"
            await page.reload()
            await expect(bar).to_contain_text("Paused")
            await bar.get_by_role("button", name="Resume").click()
            await bar.get_by_role("button", name="Stop").click()
            await expect(bar).to_be_hidden()
            assert (await services.jobs.all(table_id, limit=1))[0].status == "cancelled"


async def test_a_paused_run_leaves_its_table_when_its_bar_is_closed_or_its_proposal_decided(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    rows = "Company\n" + "".join(f"Brightwater Foods {number}\n" for number in range(2_000))
    table_id = await new_table(site, tmp_path, rows, "Paused for good")
    async with site.open() as services:
        fill = await plan_fill(services, table_id, [parse_field(f"Founded:number={FOUNDED}")])
        run_id = await services.jobs.start(fill)
        await services.jobs.pause(run_id)
        async for _ in services.jobs.watch(run_id):
            pass
    async with browser() as page:
        await open_table(page, site, table_id)
        bar = page.get_by_role("region", name="Run")
        await bar.get_by_role("button", name="Close").click()
        await expect(bar).to_be_hidden()
        await page.reload()
        await expect(bar.get_by_role("button", name="Resume")).to_be_visible()
        await page.get_by_role("button", name="Discard").click()
        await expect(bar).to_be_hidden()
