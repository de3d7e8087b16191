"""Out of a table and back to it: files of what is shown, Markdown, schedules, tags, and the runs that filled it."""

from __future__ import annotations

import csv
from pathlib import Path

from tablewright.domain.fieldspec import parse_field
from tablewright.operations.fill import plan_fill
from tests.interfaces.page.conftest import PATIENCE, NewPage, Site, playwright
from tests.interfaces.page.test_tables_page import new_table, open_table

expect = playwright.expect
expect.set_options(timeout=PATIENCE)


async def test_what_is_shown_is_exported_scheduled_tagged_and_its_runs_are_listed(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    table_id = await new_table(site, tmp_path, "Name,Price\nTea,2\nSalt|x,3\nTea cup,4\n", "To take out")
    async with browser() as page, site.open() as services:
        fill = await plan_fill(services, table_id, [parse_field("Double:number={Price} * 2")])
        await services.changes.apply((await fill.run()).proposal_id)
        await open_table(page, site, table_id)
        await page.get_by_label("Find in the table").fill("tea")
        await expect(page.locator("#tw-found")).to_have_text("2 rows")
        export = page.get_by_role("button", name="Export")
        await export.click()
        await expect(page.get_by_text("2 rows shown")).to_be_visible()
        async with page.expect_download() as download:
            await page.get_by_role("menu").get_by_text("CSV", exact=True).first.click()
        await expect(page.get_by_text("Exporting: 2 rows shown.")).to_be_visible()
        written = (await (await download.value).path()).read_text(encoding="utf-8-sig")
        assert [line[0] for line in csv.reader(written.splitlines())] == ["Name", "Tea", "Tea cup"]

        select = {"spans": [{}], "fields": ["Name", "Price"], "query": {"find": "salt"}}
        copied = await page.request.post(f"{site.url}/page-data/tables/{table_id}/cells?format=md", data=select)
        assert await copied.text() == "| Name | Price |\n| --- | ---: |\n| Salt\\|x | 3 |\n"

        await page.get_by_role("button", name="Menu of Double").click()
        await page.get_by_role("menuitem", name="Schedule…").click()
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_text("Scheduled.")).to_be_visible()
        (schedule,) = await services.jobs.schedules(table_id)
        assert (schedule.routine, schedule.cron, schedule.spec["fields"]) == ("recheck", "0 3 * * 1", ["Double"])

        await page.get_by_role("button", name="More").click()
        await page.get_by_text("Rename and tag…").click()
        await page.get_by_label("Table name").fill("Taken out")
        await page.get_by_label("Tags, separated by commas").fill("kitchen, Q4")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("heading", name="Taken out")).to_be_visible()
        await page.get_by_role("button", name="More").click()
        await page.get_by_text("Runs and statistics").click()
        await page.wait_for_url("**/runs?table=*")
        await expect(page.get_by_role("heading", name="Runs of Taken out")).to_be_visible()
        await expect(page.get_by_role("link", name="Double")).to_be_visible()
        await page.goto(site.url)
        await page.get_by_role("group", name="Tags").get_by_text("kitchen").click()
        await expect(page.get_by_role("list", name="Tables").get_by_role("link")).to_have_count(1)
