"""Documents, research, shortlist, runs and health as people use them: in a browser, on the sample world."""

from __future__ import annotations

import asyncio
import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tablewright.domain.files import FileOptions
from tablewright.domain.model import Field
from tablewright.errors import NotFound
from tablewright.operations import fill
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import plan_fill
from tablewright.operations.runs import RunRequest, get_run
from tablewright.sample.documents import sample_files
from tablewright.sample.pdf import write_pdf
from tablewright.services import Services
from tests.interfaces.page.conftest import PATIENCE, NewPage, Site, playwright, serve
from tests.operating import add_documents, ask, begin_research

expect = playwright.expect
expect.set_options(timeout=PATIENCE)

HOSTILE = "<img src=x onerror=alert(1)> **bold** \x1b[31mred"
SHOWN = "<img src=x onerror=alert(1)> **bold**"
PHONE = (390, 844)
SECRET = "sk-very-secret-7"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server of their own for these journeys, which go on from one another's documents."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TABLEWRIGHT_SEARCH_API_KEY", SECRET)
        yield from serve(tmp_path_factory.mktemp("journeys"))


async def go(page: playwright.Page, url: str) -> None:
    await page.goto(url)
    await page.wait_for_function("window.did_handshake === true")


async def say(page: playwright.Page, label: str, words: str) -> None:
    await page.get_by_label(label).fill(words)
    await page.keyboard.press("Enter")


async def close(page: playwright.Page) -> None:
    """By the keyboard, once the window has taken the focus."""
    await expect(page.locator(".q-dialog :focus, .q-dialog__inner:focus")).to_have_count(1)
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)


# ── documents ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_dropped_files_are_read_asked_cited_by_page_exported_and_removed(
    place: Site, browser: NewPage, tmp_path: Path
) -> None:
    manual = next(each for each in sample_files() if each.kind == "manual")
    receipts = [each for each in sample_files() if each.kind == "receipt"][:6]
    paths = [tmp_path / Path(each.name).name for each in (manual, *receipts)]
    for path, each in zip(paths, (manual, *receipts), strict=True):
        path.write_bytes(each.content)
    hostile = tmp_path / f"{SHOWN}.pdf"
    hostile.write_bytes(
        write_pdf("<script>alert(2)</script>", [["script alert 2", "Rated width: 1.20 m", "<svg onload=alert(3)>"]])
    )
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.4 nonsense")
    async with browser() as page:
        await go(page, f"{place.url}/documents")
        await expect(page.get_by_text("No documents yet")).to_be_visible()
        await page.set_input_files("input[type=file]", [str(path) for path in (paths[0], hostile, broken)])
        listed = page.get_by_role("region", name="Documents")
        await expect(listed.get_by_role("link", name=paths[0].name)).to_be_visible()
        await expect(listed.get_by_role("link", name=SHOWN)).to_be_visible()
        await expect(listed.get_by_text("broken PDF")).to_be_visible()
        await page.get_by_label("Kind of document").fill("Receipt")
        await page.set_input_files("input[type=file]", [str(path) for path in paths[1:]])
        await expect(listed.get_by_role("link", name=paths[-1].name)).to_be_visible()
        await expect(page.locator("img[onerror]")).to_have_count(0)

        await listed.get_by_role("link", name=SHOWN).click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("<script>alert(2)</script>")
        await expect(
            page.get_by_role("region", name="Facts").get_by_role("cell", name="1.20 m", exact=True)
        ).to_be_visible()
        await expect(page.get_by_role("region", name="Stored text")).to_contain_text("<svg onload=alert(3)>")

        await go(page, f"{place.url}/ask")
        await say(page, "Your question", "How is the station drained for the winter?")
        answer = page.get_by_role("log").get_by_role("region", name="Answer")
        await answer.get_by_role("button", name="Show source 1").first.click()
        window = page.get_by_role("dialog")
        await expect(window.get_by_text(re.compile(r"Page \d+ of \d+"))).to_be_visible()
        await page.wait_for_function("document.querySelector('img.tw-page-picture')?.naturalWidth > 500")
        quoted = await window.locator("mark").inner_text()
        assert quoted.split()[0] in manual.text
        await close(page)

        await say(page, "Your question", "List all receipts")
        await expect(page.get_by_text(re.compile(r"Matched \d+ of \d+ receipts"))).to_be_visible()
        async with page.expect_download() as download:
            await page.get_by_role("button", name="Export as CSV").last.click()
        written = (await (await download.value).path()).read_text(encoding="utf-8-sig")
        assert len(list(csv.reader(written.splitlines()))) > len(receipts)
        await page.reload()
        await expect(page.get_by_text("How is the station drained for the winter?", exact=True)).to_be_visible()

        await go(page, f"{place.url}/documents")
        await page.get_by_role("link", name="broken.pdf").click()
        await page.get_by_role("button", name="Remove").click()
        await page.get_by_role("button", name="Remove the document").click()
        await page.wait_for_url("**/documents")
        await expect(page.get_by_role("link", name=paths[0].name)).to_be_visible()
        await expect(page.get_by_role("link", name="broken.pdf")).to_have_count(0)
    async with place.open() as services:
        with pytest.raises(NotFound):
            await services.store.documents.get("broken.pdf")
    assert not list((place.home / "uploads").rglob("broken.pdf"))


async def test_a_question_is_shown_as_it_was_typed(place: Site, browser: NewPage, tmp_path: Path) -> None:
    async with place.open() as services:
        await with_a_document(services, tmp_path)
    async with browser(*PHONE, dark=True) as page:
        await go(page, f"{place.url}/ask")
        await say(page, "Your question", f"What about {SHOWN}?")
        await expect(page.get_by_role("log").get_by_role("region", name="Answer")).to_be_visible()
        await expect(page.get_by_text(f"What about {SHOWN}?").first).to_be_visible()
        await expect(page.locator("img[onerror]")).to_have_count(0)
        assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


async def test_an_earlier_conversation_is_opened_again(place: Site, browser: NewPage, tmp_path: Path) -> None:
    async with place.open() as services:
        await with_a_document(services, tmp_path)
        reply = await ask(services, "How many documents are there?")
    async with browser() as page:
        await go(page, f"{place.url}/ask")
        await page.get_by_role("link", name="How many documents are there?").first.click()
        await page.wait_for_url(f"**/ask?conversation={reply.conversation}")
        await expect(page.get_by_role("region", name="Earlier answer")).to_contain_text("match")


async def with_a_document(services: Services, folder: Path) -> None:
    path = folder / "note.txt"
    path.write_text("The pump was serviced on 2024-03-01.", encoding="utf-8")
    await add_documents(services, [path])


# ── finding rows ─────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_rows_are_described_found_accounted_for_and_opened(place: Site, browser: NewPage) -> None:
    async with browser() as page:
        await go(page, f"{place.url}/")
        await page.get_by_role("button", name="Find rows").click()
        await page.wait_for_url("**/find")
        await page.get_by_label("What do you want a table of?").fill("electric kettles")
        await page.get_by_label("Columns, starting with the name").fill("Product, Price:money")
        await page.get_by_label("Conditions that every row must meet").fill("Price < 40 GBP")
        await page.get_by_text("Look up values that are missing from the lists").click()
        await page.get_by_role("button", name="Find rows").click()
        await page.wait_for_url("**/found")
        await expect(page.get_by_text("done", exact=True)).to_be_visible()
        await expect(page.get_by_text("No model checked these rows")).to_be_visible()
        await expect(page.get_by_text("Price is 84.00 GBP; wanted: Price < 40 GBP").first).to_be_visible()
        await page.get_by_role("link", name="Open table").click()
        await expect(page.get_by_text("Hearthline Swift 17").first).to_be_visible()


# ── research ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_research_is_planned_watched_read_cited_downloaded_and_refined(place: Site, browser: NewPage) -> None:
    async with browser() as page:
        await go(page, f"{place.url}/research")
        await page.get_by_label("What do you want to find out?").fill(
            "What does the Lagoon plan of Parrotfish Cloud cost?"
        )
        await page.get_by_role("button", name="Plan").click()
        plan = page.get_by_role("region", name="Plan")
        await expect(plan).to_contain_text("First searches: What does the Lagoon plan")
        await plan.get_by_role("button", name="Start").click()
        await page.wait_for_url("**/research/d*")
        report = page.get_by_role("region", name="Report", exact=True)
        await expect(report).to_be_visible()
        await expect(report.get_by_text("$59 per month").first).to_be_visible()
        await report.get_by_role("button", name="Show source 2").first.click()
        await expect(page.get_by_role("dialog").locator("mark").first).to_be_visible()
        await close(page)
        async with page.expect_download() as download:
            await page.get_by_role("button", name="Markdown").click()
        assert "# What does the Lagoon" in (await (await download.value).path()).read_text(encoding="utf-8")
        await say(page, "Your question", "Did Parrotfish Cloud answer the letter?")
        await expect(page.get_by_text(re.compile("From (the stored evidence|a new search)"))).to_be_visible()
        table = await page.get_by_role("link", name="Open table").get_attribute("href")
        await go(page, f"{place.url}/research")
        await expect(page.get_by_role("link", name="What does the Lagoon")).to_be_visible()
    async with place.open() as services:
        assert (await services.table((table or "").removeprefix("/tables/"))).fields


async def test_research_that_was_cut_off_can_be_gone_on_with(place: Site, browser: NewPage) -> None:
    async with place.open() as services:
        begun = await begin_research(services, "Who founded Kestrelworks?", max_tasks=3)
    async with browser() as page:
        await go(page, f"{place.url}/research/{begun.id}")
        await expect(page.get_by_text("interrupted")).to_be_visible()
        await page.get_by_role("button", name="Resume").click()
        await expect(page.get_by_role("region", name="Report", exact=True)).to_be_visible()
        await expect(page.get_by_role("button", name="Resume")).to_have_count(0)


# ── shortlist ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_without_a_model_a_form_leads_to_five_cards_links_and_a_file_of_ones_own(
    place: Site, browser: NewPage
) -> None:
    async with browser() as page:
        await go(page, f"{place.url}/shortlist")
        await expect(page.get_by_text("No model is set, so wishes in free text")).to_be_visible()
        await page.get_by_label("Product").fill("electric kettle")
        await page.get_by_label("Budget, with currency").fill("50 GBP")
        await page.get_by_label("Must have").fill("Capacity >= 1 l; Variable temperature = yes; quiet")
        await page.get_by_role("button", name="Start").click()
        await page.wait_for_url("**/shortlist/h*")
        await expect(page.get_by_text("quiet: cannot be checked from specifications").first).to_be_visible()
        await page.get_by_role("button", name="Remove quiet").click()
        await expect(page.get_by_role("button", name="Remove quiet")).to_have_count(0)
        await page.reload()
        confirm = await page.get_by_role("button", name="Confirm Requirements").element_handle()
        await page.wait_for_timeout(1_500)
        assert await confirm.is_visible(), "a press was lost where the button was made anew without a reason"
        await confirm.click()
        await page.get_by_role("button", name="Enrich Now").click()
        cards = page.get_by_role("article")
        await expect(cards).to_have_count(5)
        await expect(cards.first.get_by_text("not known to meet every must")).to_have_count(0)
        await expect(cards.last.get_by_text("not known to meet every must")).to_be_visible()
        living = page.get_by_role("region", name="Candidates")
        assert await living.get_by_role("row").count() >= 20
        await expect(page.get_by_role("list", name="Conditions")).to_contain_text("Capacity ≥ 1 l")
        await expect(living.get_by_role("row").nth(1).get_by_role("cell").first).to_have_text("1")
        await living.get_by_role("button", name="Product", exact=True).click()
        await expect(living.get_by_role("columnheader", name="Product ↑")).to_have_attribute("aria-sort", "ascending")
        await living.get_by_role("button", name="Product ↑").click()
        await expect(living.get_by_role("columnheader", name="Product ↓")).to_be_visible()
        await living.get_by_role("button", name="Price", exact=True).click()
        await expect(living.get_by_role("columnheader", name="Price ↑")).to_be_visible()
        shown = await living.inner_text()
        assert 0 < shown.index("690 NOK") < shown.index("189.00 CHF"), "690 crowns are worth less than 189 francs"
        await cards.first.get_by_role("button", name="Show the source of").first.click()
        await expect(page.get_by_role("dialog").locator(".tw-quote").first).to_be_visible()
        await close(page)
        await say(page, "Your message", "which is the quietest?")
        await expect(page.get_by_text("your words were not read")).to_be_visible()
        await say(page, "Your message", "/links 1")
        shops = page.get_by_role("region", name="Where to buy")
        await expect(shops.get_by_role("link").first).to_have_attribute("rel", re.compile("noopener"))
        target = place.home.parent / "taken.csv"
        await say(page, "Your message", f"/export {target}")
        async with page.expect_download() as download:
            await page.get_by_role("button", name="Download taken.csv").click()
        assert "Product" in (await (await download.value).path()).read_text(encoding="utf-8-sig").splitlines()[0]
        assert not target.exists(), "a message must not choose where on the server a file is written"
        await page.reload()
        await expect(cards).to_have_count(5)


# ── runs, figures, health ────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_run_is_watched_and_stopped_and_what_it_found_is_kept(place: Site, browser: NewPage) -> None:
    async with place.open() as services:
        table = await companies(services, "Companies to stop", rows=2_000)
        field = Field(
            name="Founded", type="number", question="What year was {Company} founded?", depends_on=("Company",)
        )
        fill = await plan_fill(services, table, [field], "pipeline")
        run = await services.jobs.start(fill)
        async with browser(*PHONE) as page:
            await go(page, f"{place.url}/runs/{run}")
            await expect(page.get_by_role("list", name="Log of the run")).to_contain_text("Done:")
            await page.get_by_role("button", name="Stop").click()
            await expect(page.get_by_text("cancelled", exact=True)).to_be_visible()
            await expect(page.get_by_role("button", name="Resume")).to_be_visible()
            assert await page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
            await go(page, f"{place.url}/runs")
            await expect(page.get_by_role("link", name="Companies to stop").first).to_be_visible()
            await expect(page.locator(".tw-chart canvas").first).to_be_visible()
        report = await get_run(services, RunRequest(run_id=run))
    assert report.status == "cancelled"
    assert 0 < report.done < 2_000


async def test_hostile_names_and_domains_are_drawn_as_text(
    place: Site, browser: NewPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fill, "run_recheck", no_work)
    async with place.open() as services:
        table = await companies(services, HOSTILE, rows=1)
        await services.jobs.perform("recheck", table, {})
    async with browser() as page:
        await go(page, f"{place.url}/runs")
        await expect(page.get_by_role("link", name=SHOWN).first).to_be_visible()
        await expect(page.locator("img[onerror]")).to_have_count(0)


async def test_health_says_what_works_and_shows_no_secret(place: Site, browser: NewPage) -> None:
    async with browser() as page:
        await go(page, f"{place.url}/status")
        await expect(page.get_by_text("Database:")).to_be_visible()
        await expect(page.get_by_role("region", name="Worker processes")).to_contain_text("server")
        await page.get_by_text("All settings").click()
        row = page.get_by_role("row", name=re.compile("search_api_key"))
        await expect(row).to_contain_text("set, not shown")
        assert SECRET not in await page.content()


async def companies(services: Services, name: str, *, rows: int) -> str:
    path = services.settings.home_folder.parent / f"companies-{rows}.csv"
    names = [f"Kestrelworks {number}" for number in range(rows)]
    path.write_text("Company\n" + "\n".join(names), encoding="utf-8")
    return (await import_table_file(services, path, FileOptions(name=name))).table.id


async def no_work(*_: object) -> None:
    await asyncio.sleep(0)
