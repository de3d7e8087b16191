"""What an open table learns of what happens elsewhere: runs, decisions, its own end, and who may no longer write."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.files import FileOptions
from tablewright.interfaces.page import frame
from tablewright.interfaces.page.table import page as table_page
from tablewright.operations import fill
from tablewright.operations.files import import_table_file, import_table_rows
from tablewright.operations.fill import plan_fill
from tablewright.operations.operation import TableRequest
from tablewright.operations.tables import remove_table
from tablewright.services import Services
from tests.interfaces.page.conftest import PATIENCE, NewPage, playwright
from tests.interfaces.page.test_open_pages import enter
from tests.interfaces.page.test_tables_page import cell
from tests.interfaces.server.serving import TOKEN, Served, served
from tests.operating import share, unshare

expect = playwright.expect
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """In this process, so that a test can have it look often, or never."""
    with served(tmp_path_factory.mktemp("home"), token=TOKEN, pages=True, works=True) as running:
        yield running


async def propose(services: Services, name: str) -> tuple[str, str]:
    """A table, and what is proposed for it."""
    path = services.settings.home_folder / "rows.csv"
    path.write_text("Name,Price\nAnn,1\nBob,2\n", encoding="utf-8")
    table_id = (await import_table_file(services, path, FileOptions(name=name))).table.id
    plan = await plan_fill(services, table_id, [parse_field("Double:number={Price} * 2")], "computation")
    return table_id, (await plan.run()).proposal_id


async def test_a_proposal_and_a_table_that_end_elsewhere_end_here(server: Served, browser: NewPage) -> None:
    table_id, proposal_id = server.do(lambda services: propose(services, "Ended"))
    async with browser() as page:
        await enter(page, server, TOKEN, f"/tables/{table_id}")
        await expect(cell(page, 1, "Double")).to_contain_text("2")
        server.do(lambda services: services.changes.reject(proposal_id))
        await expect(page.locator(".tw-waiting")).to_be_hidden()
        await expect(cell(page, 1, "Double")).to_have_count(0)

        server.do(lambda services: remove_table(services, TableRequest(table=table_id)))
        await expect(page.get_by_role("heading", name="There is no table")).to_be_visible()
        await expect(page.get_by_role("link", name="All tables", exact=True)).to_be_visible()
        await expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.parametrize("act", ["Keep the columns", "Discard"])
async def test_the_columns_of_a_run_that_was_stopped_at_once_wait_for_a_decision(
    server: Served, browser: NewPage, act: str
) -> None:
    async def stop_at_once(services: Services) -> str:
        table = await import_table_rows(services, [{"Name": "Ann", "Price": 1}], FileOptions(name=f"Stopped: {act}"))
        field = parse_field("Double:number={Price} * 2")
        plan = await plan_fill(services, table.table.id, [field], "computation")
        plan.cancel()
        assert (await plan.run()).status == "cancelled"
        return table.table.id

    table_id = server.do(stop_at_once)
    async with browser() as page:
        await enter(page, server, TOKEN, f"/tables/{table_id}")
        await expect(page.locator(".tw-waiting")).to_contain_text("Double: no row was looked at")
        await expect(cell(page, 1, "Double")).to_have_count(1)
        await page.get_by_role("button", name=act).click()
        await expect(page.locator(".tw-waiting")).to_be_hidden()
        await expect(cell(page, 1, "Double")).to_have_count(1 if act == "Keep the columns" else 0)


async def test_a_run_that_goes_on_is_shown_behind_newer_ones_that_have_ended(
    server: Served, browser: NewPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    table_id, _ = server.do(lambda services: propose(services, "At work"))
    begun, ending = asyncio.Event(), asyncio.Event()

    async def recheck(*_: object) -> None:
        """The first goes on, those that follow end at once."""
        if not begun.is_set():
            begun.set()
            await ending.wait()

    async def begin(services: Services) -> asyncio.Task[None]:
        going_on = asyncio.create_task(services.jobs.perform("recheck", table_id, {}))
        await begun.wait()
        await services.jobs.perform("recheck", table_id, {})
        return going_on

    async def end(_: Services) -> None:
        ending.set()
        await going_on

    monkeypatch.setattr(fill, "run_recheck", recheck)
    going_on = server.do(begin)
    async with browser() as page:
        await enter(page, server, TOKEN, f"/tables/{table_id}")
        await expect(page.get_by_role("button", name="Stop")).to_be_visible()
        server.do(end)
        await expect(page.get_by_role("button", name="Stop")).to_be_hidden()


@pytest.mark.parametrize("act", ["Accept all", "Discard"])
async def test_who_no_longer_sees_a_table_decides_nothing_in_it(
    server: Served, browser: NewPage, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    monkeypatch.setattr(frame, "RIGHTS_CHECK_SECONDS", 600)
    monkeypatch.setattr(table_page, "TABLE_CHECK_SECONDS", 600)
    name = f"who would {act.lower()}"
    token = server.add_user(name, "editor")
    table_id, proposal_id = server.do(lambda services: propose(services, f"Lost: {act}"))
    server.do(lambda services: share(services, "table", table_id, [name]))
    async with browser() as page:
        await enter(page, server, token, f"/tables/{table_id}")
        await expect(page.get_by_role("button", name=act)).to_be_visible()
        server.do(lambda services: unshare(services, "table", table_id, [name]))
        await page.get_by_role("button", name=act).click()
        await expect(page.get_by_role("alert")).to_contain_text("There is no table")
    assert server.do(lambda services: services.store.proposals.get(proposal_id)).status == "open"
