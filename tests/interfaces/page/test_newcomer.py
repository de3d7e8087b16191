"""A server with no settings, a browser and a model key: nothing else is needed for a filled column."""

from __future__ import annotations

from pathlib import Path

from tablewright.services import Services
from tablewright.settings import Settings
from tests.interfaces.page.conftest import PATIENCE, NewPage, playwright, serve
from tests.interfaces.page.newcomer import first_column, model_with_key

playwright.expect.set_options(timeout=PATIENCE)


async def test_from_a_server_without_settings_to_a_filled_column(browser: NewPage, tmp_path: Path) -> None:
    async with model_with_key() as model:
        for site in serve(tmp_path, search=""):
            async with browser() as page:
                done = [step async for step in first_column(page, site.url, model.url)]
            async with Services.open(Settings(home=str(site.home))) as services:
                (table,) = await services.tables()
                rows = (await services.load(table.id)).rows
    assert done[-1] == "accept them"
    found = [(row.cell("Founded"), row.cell("Chief executive")) for row in rows]
    assert [[cell.value for cell in cells] for cells in found] == [
        [1987, "Imogen Tarrant"],
        [1978, "Dolores Quintrell"],
    ]
    assert all(cell.basis == "stated" and len(cell.evidence) >= 2 for cells in found for cell in cells)
