"""Whether the cited pages still say it: a loopback web whose pages change between the run and the recheck."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tablewright.citations.quotes import cite_span
from tablewright.domain.edits import SetCell
from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Cell, Evidence, Field, make_given_cell
from tablewright.domain.retrieved import Refusal, Retrieved
from tablewright.engine.recheck import Recheck, combine_source_verdicts, judge_evidence
from tablewright.errors import NotFound
from tablewright.operations import fill
from tablewright.operations.files import export_table_file, import_table_file
from tablewright.operations.fill import RecheckResult, RecheckTable, plan_fill
from tablewright.services import Services
from tablewright.store.store import Store
from tablewright.web.source import Query, SearchResponse
from tablewright.web.web import open_web
from tests.pages import Page, SmallWeb, small_web

NAMES = ("Kestrelworks", "Quillon Robotics", "Halden Foods")
YEARS = (2009, 1987, 1964)
FOUNDED = parse_field("Founded:number=What year was {Company} founded?")


def page(name: str, year: int, **headers: str) -> Page:
    body = f"<p>{name} is a company.</p><p>{name} was founded in {year} by two engineers in a shed.</p>"
    return Page(name, body, headers=headers)


def path(name: str) -> str:
    return "/" + name.split()[0].lower()


@asynccontextmanager
async def filled(tmp_path: Path) -> AsyncIterator[tuple[SmallWeb, Services]]:
    """A table of three companies, each founded in a year that only its own page states."""
    (tmp_path / "companies.csv").write_text("Company\n" + "\n".join(NAMES) + "\n")
    pages = {path(name): page(name, year) for name, year in zip(NAMES, YEARS, strict=True)}
    async with small_web(pages) as web, Services.open(web.settings(tmp_path / "home")) as services:
        await import_table_file(services, tmp_path / "companies.csv")
        run = await plan_fill(services, "companies", [FOUNDED])
        await services.changes.apply((await run.run()).proposal_id)
        assert [(cell.value, cell.status) for cell in await cells(services)] == [(y, "ENRICHED") for y in YEARS]
        web.requests.clear()
        yield web, services


async def cells(services: Services) -> list[Cell]:
    return [row.cell("Founded") async for row in services.rows("companies")]


async def recheck(services: Services, **how: Any) -> RecheckResult:
    return await fill.recheck(services, RecheckTable(table="companies", **how))


async def test_pages_that_still_say_it_support_their_cells_and_each_is_really_asked_for_once(tmp_path: Path) -> None:
    async with filled(tmp_path) as (web, services):
        before = await cells(services)
        done = await recheck(services)
        assert [(cell.row_id, cell.field, cell.verdict, cell.note) for cell in done.cells] == [
            (row_id, "Founded", "supported", "") for row_id in (1, 2, 3)
        ]
        assert (done.status, done.pages, done.change) == ("done", 3, None)
        assert {name: web.requests[path(name)] for name in NAMES} == dict.fromkeys(NAMES, 1)
        assert await cells(services) == before


async def test_the_history_has_the_name_of_whoever_asked(tmp_path: Path) -> None:
    async with filled(tmp_path) as (web, services):
        web.pages["/quillon"] = page("Quillon Robotics", 1991)
        run_id = (await fill.start_recheck(services.acting("ann"), RecheckTable(table="companies"))).run_id
        async for _ in services.jobs.watch(run_id):
            pass
        assert (await services.store.log.changes("companies", limit=1))[0].actor == "ann"


async def test_a_page_that_says_something_else_flags_exactly_the_cells_that_cite_it(tmp_path: Path) -> None:
    async with filled(tmp_path) as (web, services):
        before = await cells(services)
        web.pages["/quillon"] = page("Quillon Robotics", 1991)
        done = await recheck(services)
        assert [cell.verdict for cell in done.cells] == ["supported", "changed", "supported"]
        assert done.cells[1].origins == (web.url("/quillon"),)
        after = await cells(services)
        assert (after[0], after[2]) == (before[0], before[2])
        assert (after[1].status, after[1].value, after[1].evidence) == ("FLAGGED", 1987, before[1].evidence)
        assert web.url("/quillon") in (after[1].error or "")
        assert "founded in 1987" in (after[1].error or "")
        assert done.change is not None
        assert done.change.edits == 1
        await services.changes.undo_change("companies", done.change.number)
        assert await cells(services) == before


async def test_a_dry_run_says_the_same_and_writes_nothing(tmp_path: Path) -> None:
    async with filled(tmp_path) as (web, services):
        before = await cells(services)
        web.pages["/quillon"] = page("Quillon Robotics", 1991)
        done = await recheck(services, dry_run=True)
        assert (done.changed, done.change) == (1, None)
        assert await cells(services) == before


async def test_a_page_that_is_down_gone_or_refuses_leaves_its_cell_alone(tmp_path: Path) -> None:
    async with filled(tmp_path) as (web, services):
        before = await cells(services)
        web.pages["/kestrelworks"] = Page("Error", "broken", status=500)
        web.pages["/quillon"] = Page("Forbidden", "no", status=403)
        del web.pages["/halden"]
        done = await recheck(services)
        assert [cell.verdict for cell in done.cells] == ["not checked"] * 3
        assert "500" in done.cells[0].note
        assert "404" in done.cells[2].note
        assert await cells(services) == before


async def test_a_fresh_page_is_asked_for_again_and_not_sent_when_it_has_not_changed(
    tmp_path: Path, store: Store
) -> None:
    async with small_web({"/halden": page("Halden Foods", 1964, ETag='"one"')}) as site:
        url = site.url("/halden")
        async with open_web(site.settings(tmp_path), store) as web:
            web.kept.is_private = lambda address: False
            first = await web.open(url)
            site.pages["/halden"] = page("Halden Foods", 1900, ETag='"one"')  # its server says 304, whatever it has
            assert await web.open_again(url) == first
            site.pages["/halden"] = page("Halden Foods", 1900, ETag='"two"')
            changed = await web.open_again(url)
            assert isinstance(changed, Retrieved)
            assert "1900" in changed.text
            assert await web.open(url) == changed
            del site.pages["/halden"]
            assert isinstance(await web.open_again(url), Refusal)
        assert site.requests["/halden"] == 4


async def test_offline_nothing_is_checked(tmp_path: Path) -> None:
    async with filled(tmp_path) as (web, _):
        offline = replace(web.settings(tmp_path / "home"), offline="yes")
        async with Services.open(offline) as again:
            done = await recheck(again)
        assert not web.requests
        assert [cell.verdict for cell in done.cells] == ["not checked"] * 3
        assert "offline" in done.cells[0].note


async def test_an_imported_table_is_rechecked_and_no_search_provider_is_needed(tmp_path: Path) -> None:
    async with filled(tmp_path) as (web, services):
        await export_table_file(services, "companies", tmp_path / "companies.json")
        web.pages["/quillon"] = page("Quillon Robotics", 1991)
        async with Services.open(replace(web.settings(tmp_path / "elsewhere"), search="brave")) as other:
            await import_table_file(other, tmp_path / "companies.json")
            done = await recheck(other)
            assert [cell.verdict for cell in done.cells] == ["supported", "changed", "supported"]
            assert "not kept here" in done.cells[1].note
            assert [cell.status for cell in await cells(other)] == ["ENRICHED", "FLAGGED", "ENRICHED"]


async def test_only_the_named_rows_and_columns_are_looked_at(tmp_path: Path) -> None:
    async with filled(tmp_path) as (web, services):
        done = await recheck(services, rows=[2])
        assert [cell.row_id for cell in done.cells] == [2]
        assert web.requests["/quillon"] == 1
        assert web.requests["/halden"] == 0
        nothing = await recheck(services, fields=("company",))
        assert (nothing.cells, nothing.pages) == ((), 0)
        with pytest.raises(NotFound, match="no row 9"):
            await recheck(services, rows=[9])
        with pytest.raises(NotFound, match="Profit"):
            await recheck(services, fields=("Profit",))


async def test_stopping_keeps_what_was_seen_so_far(tmp_path: Path) -> None:
    async with filled(tmp_path) as (web, services):
        for name in NAMES:
            web.pages[path(name)] = page(name, 1800)
        request = RecheckTable(table="companies")
        done = await fill.recheck(
            services, request, watch=lambda news: services.jobs.stop() if news.done == 1 else None
        )
        assert done.status == "cancelled"
        verdicts = [cell.verdict for cell in done.cells]
        assert 1 <= verdicts.count("changed") < 3
        assert {cell.note for cell in done.cells if cell.verdict == "not checked"} == {"stopped before it was fetched"}
        statuses = [cell.status for cell in await cells(services)]
        assert statuses == ["FLAGGED" if verdict == "changed" else "ENRICHED" for verdict in verdicts]


class Changing:
    """A source that has nothing of what was there; while it is asked, row 1 is written and row 2 becomes stale."""

    def __init__(self, store: Store, table_id: str) -> None:
        self._store = store
        self._table_id = table_id

    async def search(self, query: Query) -> SearchResponse:
        raise NotImplementedError

    async def open(self, origin: str) -> Retrieved | Refusal:
        raise NotImplementedError

    async def keep(self, snippet: Retrieved) -> Retrieved:
        raise NotImplementedError

    async def open_again(self, origin: str) -> Retrieved | Refusal:
        own = Cell(value=1990, status="ENRICHED", confidence=1.0)
        edits = [
            SetCell(row_id=1, field="Founded", cell=own),
            SetCell(row_id=2, field="Company", cell=Cell(value="Other", status="ENRICHED")),
        ]
        await self._store.log.commit(self._table_id, edits)
        return Retrieved(origin=origin, text="Nothing of that kind.")


async def test_what_somebody_wrote_in_the_meantime_is_not_flagged_and_what_only_became_stale_is(store: Store) -> None:
    kept = await store.pages.keep(SAID.origin, SAID)
    found = Cell(value=1987, status="ENRICHED", evidence=(cite_span(kept, 3, 22),), run_id="r1")
    shown = await store.pages.keep_snippet(Retrieved(origin=SAID.origin, text="Founded in 1987."))
    snippet = Cell(value=1987, status="ENRICHED", evidence=(cite_span(shown, 0, 15),))
    elsewhere = Evidence(origin=SAID.origin, quote="was founded in 1987")
    imported = Cell(value=1987, status="ENRICHED", evidence=(elsewhere,))
    document = Cell(value=1987, status="ENRICHED", evidence=(Evidence(origin="d17", quote="in 1987"),))
    computed = Cell(value=1987, status="ENRICHED", evidence=(Evidence(origin="formula", quote="1987 = 1987"),))
    fields = (Field(name="Company"), Field(name="Founded", type="number", depends_on=("Company",)))
    rows = [(make_given_cell("A"), cell) for cell in (found, found, found, snippet, document, computed, imported)]
    table = await store.tables.create("companies", fields, rows, key_field="Company")
    done = await Recheck(store, table, Changing(store, table.id)).run()
    assert [cell.verdict for cell in done.cells] == [*["changed"] * 3, *["not checked"] * 2, "changed"]
    assert "its text is not kept here" in done.cells[5].note
    assert ("search result" in done.cells[3].note, "document" in done.cells[4].note) == (True, True)
    after = [row.cell("Founded") for row in (await store.tables.load(table.id)).rows]
    assert [(cell.status, cell.stale) for cell in after] == [
        ("ENRICHED", False),
        ("FLAGGED", True),
        ("FLAGGED", False),
        *[("ENRICHED", False)] * 3,
        ("FLAGGED", False),
    ]
    assert after[0].value == 1990
    assert done.change is not None
    assert done.change.edits == 3


# ── the rule alone ───────────────────────────────────────────────────────────────────────────────────────────────────

YEAR = Field(name="Founded", type="number")
CELL = Cell(value=1987, raw_value="1987", status="ENRICHED")
SAID = Retrieved(origin="https://a.example/", text="It was founded in 1987 in a shed.")
QUOTE = cite_span(SAID, 3, 22)


def verdict(evidence: Evidence, page: Retrieved | Refusal, cell: Cell = CELL) -> str:
    return judge_evidence(cell, YEAR, evidence, page).verdict


def test_a_quote_may_move_and_change_its_spaces() -> None:
    moved = Retrieved(origin=SAID.origin, text="News!\n\nIt was  founded\nin 1987, people say.")
    assert verdict(QUOTE, moved) == "supported"


def test_an_empty_page_an_unseen_quote_and_a_value_no_rule_leads_to_prove_nothing() -> None:
    assert verdict(QUOTE, Retrieved(origin=SAID.origin, text=" \n")) == "not checked"
    assert verdict(Evidence(origin=SAID.origin, quote=""), SAID) == "not checked"
    assert verdict(QUOTE, SAID, Cell(value=5, raw_value="five", status="ENRICHED")) == "not checked"
    assert verdict(QUOTE, Refusal(origin=SAID.origin, reason="blocked", detail="a wall")) == "not checked"


def test_one_source_that_still_says_it_is_enough_and_the_note_names_the_others() -> None:
    gone = judge_evidence(CELL, YEAR, QUOTE, Retrieved(origin=SAID.origin, text="Moved."))
    kept = judge_evidence(CELL, YEAR, QUOTE, SAID)
    down = judge_evidence(CELL, YEAR, QUOTE, Refusal(origin=SAID.origin, reason="error", detail="no answer"))
    assert combine_source_verdicts([gone, kept, down]) == "supported"
    assert combine_source_verdicts([gone, down]) == "changed"
    assert combine_source_verdicts([down]) == "not checked"
    assert "founded in 1987" in gone.note
    assert SAID.origin in gone.note
