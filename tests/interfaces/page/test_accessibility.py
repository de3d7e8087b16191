"""What axe finds on every page, filled with content, wide and light, and on a phone in the dark: labels, roles,
contrast."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.files import FileOptions
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import plan_fill
from tablewright.sample.documents import sample_files
from tablewright.services import Services
from tests.interfaces.page.conftest import PATIENCE, NewPage, Site, playwright, serve
from tests.operating import add_documents, begin_find, begin_research, find_rows, run_research, shortlist_turn

expect = playwright.expect
expect.set_options(timeout=PATIENCE)

NAMES = ("Brightwater Foods", "Halden & Rourke Logistics", "Kestrelworks", "Quillon Robotics")
AXE = Axe()
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
WIDE, PHONE = (1280, 900), (390, 900)
# What slides and fades has come to rest, and nothing is being loaded.
AT_REST = """document.getAnimations().every(each => each.playState !== "running")
    && !document.querySelector(".q-loading-bar:not([aria-hidden='true'])")"""


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, dict[str, str]]]:
    """A server with one of everything, and the addresses of the pages."""
    folder = tmp_path_factory.mktemp("furnished")
    for site in serve(folder):
        yield site, asyncio.run(furnish(site, folder))


async def furnish(site: Site, folder: Path) -> dict[str, str]:
    async with site.open() as services:
        path = folder / "companies.csv"
        path.write_text("Company\n" + "\n".join(NAMES) + "\n", encoding="utf-8")
        fields = [parse_field("Founded:number=What year was {Company} founded?")]
        accepted = (await import_table_file(services, path, FileOptions(name="Accepted"))).table.id
        filled = await (await plan_fill(services, accepted, fields, "pipeline")).run()
        await services.changes.apply(filled.proposal_id)
        await services.changes.flag(accepted, 1, "Founded", "another company")
        waiting = (await import_table_file(services, path, FileOptions(name="Waiting"))).table.id
        proposed = await (await plan_fill(services, waiting, fields, "pipeline")).run()
        return {
            "tables": "/",
            "table": f"/tables/{accepted}",
            "proposal": f"/tables/{waiting}",
            "review": f"/review/{proposed.proposal_id}",
            "runs": "/runs",
            "run": f"/runs/{filled.run_id}",
            "runs of a table": f"/runs?table={accepted}",
            "health": "/status",
            "documents": "/documents",
            "document": f"/documents/{await add_document(services, folder)}",
            "ask": "/ask",
            "lookup": "/lookup",
            "find": "/find",
            "found": f"/tables/{await find_kettles(services)}/found",
            "research": "/research",
            "report": f"/research/{await do_research(services)}",
            "shortlist": "/shortlist",
            "advice": f"/shortlist/{await take_advice(services)}",
            "settings": "/settings",
            "start": "/start",
            "missing": "/tables/nowhere",
        }


async def add_document(services: Services, folder: Path) -> str:
    sample = next(each for each in sample_files() if each.name.endswith(".pdf"))
    path = folder / Path(sample.name).name
    path.write_bytes(sample.content)
    await add_documents(services, [path])
    return (await services.store.documents.all())[0].id


async def find_kettles(services: Services) -> str:
    fields = [parse_field("Product"), parse_field("Price:money")]
    planned = await begin_find(services, "electric kettles", fields=fields, where="Price < 40 GBP")
    await find_rows(services, planned.table_id, fill=False)
    return planned.table_id


async def do_research(services: Services) -> str:
    begun = await begin_research(services, "What does the Lagoon plan of Parrotfish Cloud cost?", max_tasks=4)
    await run_research(services, begun.id)
    return begun.id


async def take_advice(services: Services) -> str:
    begun = await services.store.shortlists.start()
    form = "/form product: desk lamp | budget: 60 GBP | must: Power <= 12 W"
    for said in (form, "Confirm Requirements", "Enrich Now", "/soft 2"):
        await shortlist_turn(services, begun.id, said)
    return begun.id


async def test_axe_finds_nothing(furnished: tuple[Site, dict[str, str]], browser: NewPage) -> None:
    site, places = furnished
    found: list[str] = []
    async with browser(*WIDE) as page:
        for name, path in places.items():
            await page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
            await page.emulate_media(color_scheme="light")
            await open_page(page, site.url + path)
            has_grid = name in ("table", "proposal")
            if has_grid:
                await open_evidence(page)
            found += await problems_of(page, name)
            await page.emulate_media(color_scheme="dark")
            await expect(page.locator("body.body--dark")).to_have_count(1)
            await page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
            if has_grid:  # without its panel first: axe takes what covers a text for its background
                await open_page(page, site.url + path)
                found += await problems_of(page, f"{name}, dark, phone")
                await open_evidence(page)
                found += await problems_of(page, f"{name}, panel on a phone", within=".q-drawer--right")
            else:
                found += await problems_of(page, f"{name}, dark, phone")
    assert found == []


async def open_page(page: playwright.Page, url: str) -> None:
    await page.goto(url)
    await page.wait_for_function("window.did_handshake === true")


async def open_evidence(page: playwright.Page) -> None:
    await page.locator(".ag-row[row-index='0'] [col-id='Founded'] .tw-value").click()
    await expect(page.get_by_role("complementary", name="Evidence of the cell")).to_be_visible()


async def problems_of(page: playwright.Page, name: str, *, within: str | None = None) -> list[str]:
    await page.wait_for_function(AT_REST)
    options = {"resultTypes": ["violations"], "runOnly": WCAG}
    return [f"{name}: {described(each)}" for each in (await AXE.run(page, within, options)).response["violations"]]


def described(problem: dict[str, Any]) -> str:
    nodes = [f"{node['target']}: {node['html'][:160]}" for node in problem["nodes"][:3]]
    why = problem["nodes"][0]["failureSummary"].splitlines()[1].strip()
    return f"{problem['id']} ({len(problem['nodes'])} times): {why} {nodes}"
