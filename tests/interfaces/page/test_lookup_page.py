"""The form over documents in a browser: kinds and columns are offered, conditions applied, results exported."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interfaces.page.conftest import PATIENCE, NewPage, Site, playwright, serve
from tests.operating import add_documents

expect = playwright.expect
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    yield from serve(tmp_path_factory.mktemp("lookup"))


async def add_receipts(place: Site, folder: Path) -> None:
    for number in range(1, 61):
        item = "winter tire" if number <= 57 else "garden hose"
        (folder / f"r{number:02}.txt").write_text(
            f"RECEIPT No. {number}\nCorner Garage\nDate: 2024-03-{number % 28 + 1:02}\n\n1 x {item}   {number}.00\n\n"
            f"Total: EUR {number}.00\n"
        )
    async with place.open() as services:
        await add_documents(services, [folder], kind="receipt", workers=1)


async def choose(page: playwright.Page, label: str, option: str, nth: int = 0) -> None:
    await page.get_by_label(label, exact=True).nth(nth).click()
    await page.get_by_role("option", name=option, exact=True).click()


async def test_documents_are_looked_up_by_a_form_and_their_kind_is_corrected(
    place: Site, browser: NewPage, tmp_path: Path
) -> None:
    await add_receipts(place, tmp_path)
    async with browser() as page:
        await page.goto(f"{place.url}/lookup?where=kind%20%3D%20receipt%20and%20text%20contains%20tires")
        await page.wait_for_function("window.did_handshake === true")
        await expect(page.get_by_label("Value").first).to_have_value("tires")
        await page.get_by_role("button", name="Look up").click()
        await expect(page.get_by_text("57 receipts match.")).to_be_visible()
        await expect(page.get_by_text("Matched 57 of 60 receipts.")).to_be_visible()
        await page.get_by_role("button", name="Show 7 more").click()
        await expect(page.get_by_text("Rows 51 to 57 of 57.")).to_be_visible()

        await page.get_by_role("button", name="Add a condition").click()
        await choose(page, "Column", "Total", 1)
        await choose(page, "Comparison", "is at least", 1)
        await page.get_by_label("Value").nth(1).fill("56 EUR")
        await choose(page, "Result", "Sum of")
        await choose(page, "Of column", "Total")
        await page.get_by_role("button", name="Look up").click()
        await expect(page.get_by_text("of 2 receipts is 113 EUR")).to_be_visible()
        await expect(page.get_by_text("exact", exact=True)).to_be_visible()

        async with page.expect_download() as download:
            await page.get_by_role("region", name="Kinds and tables").get_by_role("button", name="Export").first.click()
        rows = (await (await download.value).path()).read_text(encoding="utf-8-sig").splitlines()
        assert len(list(csv.DictReader(rows))) == 60

        await page.goto(f"{place.url}/documents")
        await page.get_by_role("link", name="r02.txt").click()
        await page.get_by_label("Kind", exact=True).fill("delivery note")
        await page.get_by_role("button", name="Save kind").click()
        await expect(page.get_by_text("is now of kind “delivery note”")).to_be_visible()
    async with place.open() as services:
        (note,) = [each for each in await services.store.documents.all() if each.kind == "delivery note"]
        assert (note.name, note.kind_by) == ("r02.txt", "person")
