"""Which rows the grid gets, in which order, and what it does when they do not come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.files import FileOptions
from tablewright.domain.model import Cell, Conflict
from tablewright.errors import UsageError
from tablewright.interfaces.cli.output import format_cell
from tablewright.interfaces.page.table import cells as table_cells
from tablewright.interfaces.page.table import rows as grid_rows
from tablewright.interfaces.page.table.rows import GRID_LIMITS, RowOrders, grid_cell, read_row_block
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import FillOptions, plan_fill
from tablewright.operations.grid_rows import RowQuery, find_matching_rows
from tablewright.services import Services
from tablewright.settings import Settings
from tests.interfaces.page.conftest import PATIENCE, NewPage, Site, playwright
from tests.interfaces.page.test_tables_page import cell, edit_cell, new_table, open_table

expect = playwright.expect
expect.set_options(timeout=PATIENCE)

DOUBLE = "Double:number={Price} * 2"
ROWS = "**/page-data/tables/*/rows?*"


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    async with Services.open(Settings(home=str(tmp_path / "home"), search="sample"), actor="test") as opened:
        yield opened


async def half_doubled(services: Services, folder: Path) -> tuple[str, str]:
    """A table of prices, and a proposal: the double of the first is in the table, those of the others are proposed."""
    path = folder / "rows.csv"
    path.write_text("Name,Price\nAnn,11\nBob,12\nCid,13\nDot,none\n")
    table_id = (await import_table_file(services, path, FileOptions(name="Prices"))).table.id
    fields = [parse_field(DOUBLE)]
    first = await (await plan_fill(services, table_id, fields, "computation", how=FillOptions(rows=[1]))).run()
    await services.changes.apply(first.proposal_id)
    return table_id, (await (await plan_fill(services, table_id, fields, "computation")).run()).proposal_id


async def test_what_was_sorted_stays_for_the_one_who_looks_and_is_sorted_anew_for_the_next(
    services: Services, tmp_path: Path
) -> None:
    table_id, _ = await half_doubled(services, tmp_path)
    orders = RowOrders()
    one, next_one = (RowQuery(table_id=table_id, sort="Name", view=view) for view in ("one", "next"))
    assert list(await orders.order(services, one)) == [1, 2, 3, 4]
    await services.changes.set_value(table_id, 1, "Name", "Zoe")
    assert list(await orders.order(services, one)) == [1, 2, 3, 4]
    assert list(await orders.order(services, next_one)) == [2, 3, 4, 1]
    plain = RowQuery(table_id=table_id, view="one")
    await services.changes.write_values(table_id, {}, [{"Name": "Eve"}])
    assert list(await orders.order(services, plain)) == [1, 2, 3, 4, 5]


async def test_one_who_asks_for_many_orders_gives_up_their_own_and_nobody_elses(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table_id, _ = await half_doubled(services, tmp_path)
    computed: list[str] = []

    async def count(acting: Services, wanted: RowQuery) -> Any:
        computed.append(acting.actor)
        return await find_matching_rows(acting, wanted)

    monkeypatch.setattr(grid_rows, "find_matching_rows", count)
    orders, ann, bob = RowOrders(), services.acting("ann"), services.acting("bob")
    sorted_by_bob = RowQuery(table_id=table_id, sort="Price", view="bob")
    await orders.order(bob, sorted_by_bob)
    for number in range(3 * GRID_LIMITS.orders_per_person):
        await orders.order(ann, RowQuery(table_id=table_id, sort="Name", view=str(number)))
        assert list(await orders.order(bob, sorted_by_bob)) == [1, 2, 3, 4]
    assert computed.count("bob") == 1
    assert len(orders) == GRID_LIMITS.orders_per_person + 1


async def test_orders_of_all_persons_together_are_bounded_by_bytes(services: Services, tmp_path: Path) -> None:
    table_id, _ = await half_doubled(services, tmp_path)
    orders = RowOrders(kept_bytes=10 * 4 * 8)  # ten orders of four rows
    for number in range(8):
        for name in ("ann", "bob"):
            wanted = RowQuery(table_id=table_id, sort="Name", view=str(number))
            assert list(await orders.order(services.acting(name), wanted)) == [1, 2, 3, 4]
    assert len(orders) == 10


async def test_orders_are_computed_one_for_each_person_at_a_time(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table_id, _ = await half_doubled(services, tmp_path)
    begun, goes_on = [], asyncio.Event()

    async def wait(acting: Services, wanted: RowQuery) -> Any:
        begun.append(acting.actor)
        if acting.actor == "ann":
            await goes_on.wait()
        return await find_matching_rows(acting, wanted)

    monkeypatch.setattr(grid_rows, "find_matching_rows", wait)
    orders, ann = RowOrders(), services.acting("ann")
    many = [
        asyncio.create_task(orders.order(ann, RowQuery(table_id=table_id, sort="Name", view=str(number))))
        for number in range(16)
    ]
    async with asyncio.timeout(PATIENCE):
        await orders.order(services.acting("bob"), RowQuery(table_id=table_id, sort="Name", view="bob"))
    assert begun.count("ann") <= 1
    goes_on.set()
    assert [list(found) for found in await asyncio.gather(*many)] == [[1, 2, 3, 4]] * 16


async def test_a_block_of_long_rows_ends_early_and_the_rest_follows(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid_rows, "GRID_LIMITS", replace(GRID_LIMITS, block_characters=5_000, block_cells=4))
    path = tmp_path / "long.csv"
    path.write_text("Name,Text\n" + "".join(f"Thing {number},{'word ' * 300}\n" for number in range(10)))
    table = (await import_table_file(services, path)).table
    wanted, sizes, seen = list(range(1, 11)), [], []
    while wanted:
        found = await read_row_block(services, table, [], wanted)
        sizes.append(found.done)
        seen += [row["id"] for row in found.rows]
        wanted = wanted[found.done :]
    assert seen == list(range(1, 11))
    assert sizes == [4, 4, 2]


async def test_a_text_for_the_clipboard_is_bounded_by_its_length(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "long.csv"
    path.write_text("Name,Text\n" + "".join(f"Thing {number},{'word ' * 300}\n" for number in range(10)))
    table = (await import_table_file(services, path)).table
    texts = await table_cells.displayed_texts(services, table, [], [3, 1], ["Name"])
    assert texts == [["Thing 2"], ["Thing 0"]]
    monkeypatch.setattr(table_cells, "GRID_LIMITS", replace(GRID_LIMITS, copied_characters=10_000))
    assert len(await table_cells.displayed_texts(services, table, [], range(1, 6), ["Text"])) == 5
    with pytest.raises(UsageError, match="10,000 characters"):
        await table_cells.displayed_texts(services, table, [], range(1, 11), ["Text"])


async def test_what_is_typed_over_a_proposed_cell_is_shown_sorted_and_found(services: Services, tmp_path: Path) -> None:
    table_id, proposal_id = await half_doubled(services, tmp_path)
    await services.changes.set_value(table_id, 2, "Double", "99")
    table = await services.table(table_id)
    cells = [row["cells"]["Double"] for row in (await read_row_block(services, table, [proposal_id], [1, 2, 3])).rows]
    assert [(each["text"], each.get("proposed", False)) for each in cells] == [
        ("22", False),
        ("99", False),
        ("26", True),
    ]

    async def found(**wanted: str) -> list[int]:
        wanted_rows = RowQuery(table_id=table_id, proposals=(proposal_id,), **wanted)  # type: ignore[arg-type]
        return list((await find_matching_rows(services, wanted_rows)).row_ids)

    assert await found(find="26") == [3]
    assert await found(find="24") == []
    assert await found(find="99") == [2]
    assert await found(sort="Double") == [1, 3, 2, 4]
    assert await found(only="failed") == [4]
    await services.changes.set_value(table_id, 4, "Double", "1")
    assert await found(only="failed") == []


async def test_a_value_of_a_column_that_is_only_proposed_is_found(services: Services, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("Name,Price\nAnn,11\nBob,12\n")
    table_id = (await import_table_file(services, path, FileOptions(name="Prices"))).table.id
    run = await plan_fill(services, table_id, [parse_field(DOUBLE)], "computation")
    proposal_id = (await run.run()).proposal_id
    wanted = RowQuery(table_id=table_id, proposals=(proposal_id,), find="24")
    assert list((await find_matching_rows(services, wanted)).row_ids) == [2]
    before = await services.store.tables.activity(table_id)
    await services.changes.reject(proposal_id)
    assert await services.store.tables.activity(table_id) != before
    assert list((await find_matching_rows(services, wanted)).row_ids) == []


def test_what_the_browser_does_not_have_whole_is_marked_as_cut() -> None:
    views = [
        grid_cell(Cell(value=text, status="ENRICHED", confidence=1.0)) for text in ("a\nb", "x" * 400, "x" * 2_001)
    ]
    assert [(view.get("whole", ""), view.get("cut", False)) for view in views] == [
        ("a\nb", False),
        ("x" * 400, False),
        ("", True),
    ]


async def test_a_click_on_a_head_and_a_page_loaded_anew_sort_by_what_is_there_now(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    table_id = await new_table(site, tmp_path, "Name,Staff\nAnn,1\nBob,2\nCid,3\n", "Sorted anew")
    async with browser() as page:
        await open_table(page, site, table_id)
        find = page.get_by_label("Find in the table")
        await find.fill("Dot")
        await expect(page.locator("#tw-found")).to_have_text("0 rows")
        await page.goto("about:blank")
        async with site.open() as services:
            await services.changes.write_values(table_id, {}, [{"Name": "Dot"}])
        await open_table(page, site, table_id)
        await expect(find).to_have_value("Dot")
        await expect(page.locator("#tw-found")).to_have_text("1 row")
        await expect(cell(page, 1, "Name")).to_contain_text("Dot")

        await find.fill("")
        head = page.get_by_role("columnheader", name="Staff")
        await head.click()
        await expect(cell(page, 1, "Name")).to_contain_text("Ann")
        await edit_cell(page, 1, "Staff")
        await page.keyboard.press("Control+a")
        await page.keyboard.type("9")
        await page.keyboard.press("Enter")
        await expect(cell(page, 1, "Staff").locator(".tw-is-saving")).to_have_count(0)
        await expect(cell(page, 1, "Name")).to_contain_text("Ann")
        await head.click()
        await expect(cell(page, 1, "Name")).to_contain_text("Ann")
        await expect(cell(page, 2, "Name")).to_contain_text("Cid")
        await head.click()
        await expect(head).to_have_attribute("aria-sort", "none")
        await head.click()
        await expect(cell(page, 1, "Name")).to_contain_text("Bob")
        await expect(cell(page, 3, "Name")).to_contain_text("Ann")


async def test_rows_that_do_not_come_are_asked_for_again_and_in_the_end_missed(
    site: Site, browser: NewPage, tmp_path: Path
) -> None:
    table_id = await new_table(site, tmp_path, "Name\nAnn\n", "Out of reach")
    asked: list[int] = []

    async def fail_once(route: playwright.Route) -> None:
        asked.append(1)
        await (route.fulfill(status=503) if len(asked) == 1 else route.continue_())

    async with browser() as page:
        await page.route(ROWS, fail_once)
        await open_table(page, site, table_id)
        assert len(asked) == 2
        await page.unroute(ROWS)
        await page.route(ROWS, lambda route: route.fulfill(status=403))
        await page.get_by_label("Find in the table").fill("Bob")
        await expect(page.locator("#tw-found")).to_contain_text("Rows could not be loaded.")
        await page.unroute(ROWS)
        await page.get_by_role("button", name="Try again").click()
        await expect(page.locator("#tw-found")).to_have_text("0 rows")


def test_an_empty_cell_shows_the_value_that_it_may_have() -> None:
    hinted = Cell(status="FAILED", reason="not_found", conflict=(Conflict(value=340, reason="not sure"),))
    view = grid_cell(hinted)
    assert (view["text"], view["why"]) == ("", "perhaps 340")
    assert "disputed" not in view
    assert grid_cell(Cell(status="FAILED", reason="not_found"))["why"] == "not found"
    assert format_cell(hinted).plain == "— perhaps 340"
