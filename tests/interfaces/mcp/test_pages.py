"""Nothing is left out without a word: what one answer does not hold is counted, and on the next page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tablewright.interfaces.mcp import tables
from tablewright.interfaces.mcp.server import create_server, http_app
from tablewright.services import Services
from tablewright.settings import Settings
from tests.interfaces.mcp.talking import FOUNDED, SAMPLE, Talk, listening, over_http, papers, within
from tests.pages import Page, small_web

FIRMS = {
    "/acme": Page(title="Acme Turbines", body="<p>Acme Turbines was founded in 1931 in Leeds.</p>"),
    "/bolt": Page(title="Bolt Pumps", body="<p>Bolt Pumps was founded in 1944 in York.</p>"),
}


async def pages(talk: Talk, tool: str, **arguments: Any) -> list[dict[str, Any]]:
    """All of them, one after the other."""
    found: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        found.append(await talk(tool, after=after, **arguments))
        after = found[-1]["next_after"]
    return found


async def test_documents_come_page_by_page_to_the_last(tmp_path: Path) -> None:
    folder = papers(tmp_path)
    async with within(tmp_path, allowed=(folder,)) as talk:
        added = (await talk("add_documents", paths=[str(folder)]))["added"]
        listed = await pages(talk, "list_all", what="documents", limit=5)
        assert {page["total"] for page in listed} == {added}
        assert len({each["id"] for page in listed for each in page["documents"]}) == added
        assert {len(page["documents"]) for page in listed[:-1]} == {5}


async def test_a_recheck_counts_what_it_does_not_list_and_lists_first_what_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with small_web(FIRMS) as web:
        settings = {"search": f"searxng:http://{web.address}", "fetch_allow": web.address}
        async with within(tmp_path, **settings) as talk:
            await talk("add_rows", csv="Company\nAcme Turbines\nBolt Pumps\n", name="firms")
            done = await talk("enrich", table="firms", fields=[FOUNDED])
            assert (await talk("decide_proposal", decision="apply", proposal_id=done["proposal"]["id"]))["applied"][
                "cells"
            ] == 2
            web.pages["/acme"].status = 403
            web.pages["/bolt"].body = "<p>Bolt Pumps makes pumps.</p>"
            monkeypatch.setattr(tables, "MAX_ROWS", 1)
            checked = await talk("recheck", table="firms", dry_run=True)
            assert (checked["changed"], checked["not_checked"], checked["more"]) == (1, 1, 1)
            (listed,) = checked["cells"]
            assert (listed["row_id"], listed["field"], listed["verdict"]) == (2, "Founded", "changed")
            (other,) = (await talk("recheck", table="firms", dry_run=True, rows=[1]))["cells"]
            assert (other["row_id"], other["field"], other["verdict"]) == (1, "Founded", "not checked")


async def test_the_longest_csv_text_comes_through_http(tmp_path: Path) -> None:
    csv = "Name,Note\n" + "".join(f"Row {number},{'é' * 30_000}\n" for number in range(100))
    assert len(csv.encode()) > 4 * 1024 * 1024
    async with Services.open(Settings(home=str(tmp_path), **SAMPLE)) as services:
        app = http_app(create_server(services), "127.0.0.1")
        async with listening(app) as address, over_http(address, {}) as talk:
            assert (await talk("add_rows", csv=csv, name="long"))["row_count"] == 100
