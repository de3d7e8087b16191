"""A search, a web or a model that is down pauses the run; what was not looked for stays PENDING; then it goes on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import BaseModel

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.proposal import ProposedCell
from tablewright.domain.retrieved import Refusal, Retrieved
from tablewright.domain.run import Progress
from tablewright.engine.outcome import RunResult
from tablewright.errors import ModelUnavailable, SearchError
from tablewright.llm import retry
from tablewright.llm.build import build_model
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import load_fill_report, plan_fill
from tablewright.operations.runs import RunRequest, get_run
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.strategies.strategy import Tools
from tablewright.web.breaker import CircuitBreaker, track_row_failures
from tablewright.web.search import provider
from tablewright.web.source import Query, SearchResponse
from tests.engine.works import FOUNDED, TABLE, YEARS, pages, reads_the_year, thinking
from tests.llm.endpoint import Asked, Endpoint, Reply, refusal
from tests.pages import SmallWeb, small_web

# Nobody listens there.
CLOSED = "http://127.0.0.1:9"
STRATEGIES = ["lookup", "research", "pipeline"]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider, "WAITS", (0.0, 0.0))
    monkeypatch.setattr(retry, "FIRST_WAIT_SECONDS", 0.0)


@pytest.fixture
async def sites() -> AsyncIterator[SmallWeb]:
    """The pages of the thirty works on six sites, and a seventh that only searches."""
    async with AsyncExitStack() as stack:
        entries = list(pages().items())
        others = [await stack.enter_async_context(small_web(dict(entries[start::6]))) for start in range(6)]
        search = await stack.enter_async_context(small_web({}))
        search.others = others
        yield search


async def imported(settings: Settings, folder: Path, table: str = TABLE) -> str:
    (folder / "works.csv").write_text(table, encoding="utf-8")
    async with Services.open(settings) as services:
        return (await import_table_file(services, folder / "works.csv")).table.id


async def filled(
    settings: Settings, table_id: str, strategy: str = "lookup", field: str = FOUNDED
) -> tuple[RunResult, list[ProposedCell]]:
    async with Services.open(settings) as services:
        run = await plan_fill(services, table_id, [parse_field(field)], strategy)
        done = await run.run()
        operations = await services.store.proposals.operations(done.proposal_id)
        await services.changes.apply(done.proposal_id)
        return done, operations


async def values(settings: Settings, table_id: str) -> dict[str, object]:
    async with Services.open(settings) as services:
        rows = (await services.load(table_id)).rows
    return {str(row.cell("Company").value): row.cell("Founded").value for row in rows}


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_dead_search_pauses_the_run_and_the_next_one_fills_all(
    web: SmallWeb, tmp_path: Path, strategy: str
) -> None:
    settings = web.settings(tmp_path)
    table_id = await imported(settings, tmp_path)
    done, operations = await filled(replace(settings, search=f"searxng:{CLOSED}"), table_id, strategy)
    assert (done.status, done.found, operations) == ("paused", 0, [])
    assert "The search failed 5 times in a row: SearXNG cannot be reached" in done.problem
    assert "Check the network and the address" in done.problem
    done, _ = await filled(settings, table_id, strategy)
    assert (done.status, done.problem) == ("done", "")
    assert await values(settings, table_id) == YEARS


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_dead_model_pauses_the_run_instead_of_leaving_it_to_the_rules(
    web: SmallWeb, model: Endpoint, tmp_path: Path, strategy: str
) -> None:
    settings = thinking(web.settings(tmp_path), model)
    table_id = await imported(settings, tmp_path)
    dead = replace(settings, model_base_url=f"{CLOSED}/v1", model_api_key="k")
    done, operations = await filled(dead, table_id, strategy)
    assert (done.status, operations) == ("paused", [])
    assert "The model failed 5 times in a row: gpt-4o-mini cannot be reached" in done.problem
    done, _ = await filled(settings, table_id, strategy)
    assert done.status == "done"
    assert await values(settings, table_id) == YEARS


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_model_that_hangs_pauses_the_run_after_one_request_and_its_retry(
    web: SmallWeb, model: Endpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strategy: str
) -> None:
    monkeypatch.setattr(retry, "MIN_REST_SECONDS", 60.0)  # however slow the machine is
    settings = thinking(web.settings(tmp_path), model)
    table_id = await imported(settings, tmp_path)
    answering, model.otherwise = model.otherwise, Reply(never=True)
    done, operations = await filled(replace(settings, model_timeout="0.5"), table_id, strategy)
    assert (done.status, operations) == ("paused", [])
    assert "gpt-4o-mini did not answer in time" in done.problem
    assert len(model.asked) <= 2 * 8, "nobody waits a second time for what does not answer"
    model.otherwise = answering
    done, _ = await filled(settings, table_id, strategy)
    assert (done.status, await values(settings, table_id)) == ("done", YEARS)


class DeadSource:
    """A search and a web that never answer, and count how often they are asked."""

    def __init__(self) -> None:
        self.asked = 0

    async def search(self, query: Query) -> SearchResponse:
        self.asked += 1
        raise SearchError("The engine did not answer within 30 seconds.", advice="Check it.")

    async def open(self, origin: str) -> Retrieved | Refusal:
        self.asked += 1
        return Refusal(origin=origin, reason="error", detail="no answer")

    open_again = open

    async def keep(self, snippet: Retrieved) -> Retrieved:
        return snippet


async def test_once_the_run_is_paused_rows_under_way_do_not_ask_what_is_down() -> None:
    """Where it hangs, each further query of a row would take as long again."""
    dead = DeadSource()
    search = Tools(web=dead).watched_by(CircuitBreaker(limit=1)).web
    assert search is not None
    for _ in range(3):
        with pytest.raises(SearchError, match="did not answer within 30 seconds") as failed:
            await search.search(Query(text="Acme"))
        assert failed.value.advice == "Check it."
    assert dead.asked == 1
    web = Tools(web=dead).watched_by(CircuitBreaker(limit=1)).web
    assert web is not None
    pages = [await web.open(f"http://{host}.example/") for host in "abc"]
    assert [isinstance(page, Refusal) and page.reason for page in pages] == ["error"] * 3
    assert dead.asked == 2
    with track_row_failures(7) as late:  # a row that comes after the pause has not been answered either
        await web.open("http://d.example/")
        with suppress(SearchError):
            await search.search(Query(text="Acme"))
    assert late.parts(complete=False) == {"search", "web"}


async def test_a_model_that_is_down_is_not_asked_by_rows_under_way(model: Endpoint, tmp_path: Path) -> None:
    asking = build_model(thinking(Settings(home=str(tmp_path)), model))
    model.otherwise = refusal(500, "out of order")
    assert asking is not None
    async with asking:
        watched = Tools(model=asking).watched_by(CircuitBreaker(limit=1)).model
        assert watched is not None
        for _ in range(3):
            with pytest.raises(ModelUnavailable, match="out of order"):
                await watched.ask(instructions="Read.", prompt="It is.", output=Word)
    assert len(model.asked) == retry.MAX_TRIES


class Word(BaseModel):
    word: str


async def test_a_model_that_refuses_the_key_pauses_the_run(web: SmallWeb, model: Endpoint, tmp_path: Path) -> None:
    settings = thinking(web.settings(tmp_path), model)
    table_id = await imported(settings, tmp_path)
    model.otherwise = refusal(401, "bad key")
    done, _ = await filled(settings, table_id)
    assert done.status == "paused"
    assert "refused the key" in done.problem


@pytest.mark.parametrize("strategy", ["research", "pipeline"])
async def test_a_web_that_answers_503_everywhere_pauses_the_run(sites: SmallWeb, tmp_path: Path, strategy: str) -> None:
    settings = sites.settings(tmp_path)
    table_id = await imported(settings, tmp_path)
    for site in sites.others:
        for page in site.pages.values():
            page.status, page.snippet = 503, "A company."
    done, operations = await filled(settings, table_id, strategy)
    assert (done.status, operations) == ("paused", [])
    assert "No page could be opened on 5 sites in a row" in done.problem
    assert "503" in done.problem
    for site in sites.others:
        for page in site.pages.values():
            page.status = 200
    done, _ = await filled(settings, table_id, strategy)
    assert done.status == "done"
    assert await values(settings, table_id) == YEARS


async def test_a_single_dead_site_is_not_a_dead_web(sites: SmallWeb, tmp_path: Path) -> None:
    settings = sites.settings(tmp_path)
    table_id = await imported(settings, tmp_path)
    dead = sites.others[0].pages
    for page in dead.values():
        page.status, page.snippet = 503, "A company."
    done, operations = await filled(settings, table_id, "pipeline")
    assert (done.status, done.unasked) == ("done", 0)
    assert sum(each.cell.value is None for each in operations) == len(dead)


async def test_what_is_done_before_the_outage_is_kept(
    web: SmallWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(web.settings(tmp_path), concurrency="1", attempts="1")
    table_id = await imported(settings, tmp_path)
    reply = web.reply

    def dies(head: str) -> object:
        web.search_status = 200 if len(web.queries) < 8 else 500
        return reply(head)

    monkeypatch.setattr(web, "reply", dies)
    done, operations = await filled(settings, table_id)
    assert done.status == "paused"
    assert 0 < done.found == len(operations) < 30
    monkeypatch.undo()
    web.search_status = 200
    assert (await filled(settings, table_id))[0].status == "done"
    assert await values(settings, table_id) == YEARS


async def test_a_failure_that_passes_costs_nothing_but_a_second_look(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    """The model fails for three rows in the middle, then answers again."""
    settings = thinking(web.settings(tmp_path), model, concurrency="1")
    table_id = await imported(settings, tmp_path)

    def stumbles(asked: Asked) -> Reply:
        return refusal(500, "overloaded") if 10 <= len(model.asked) < 10 + 4 + 2 else reads_the_year(asked)

    model.otherwise = stumbles
    done, _ = await filled(settings, table_id)
    assert (done.status, done.found, done.degraded, done.unasked) == ("done", 30, 0, 0)


async def test_a_row_whose_search_is_always_refused_does_not_hold_up_the_others(
    web: SmallWeb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = web.settings(tmp_path)
    table_id = await imported(settings, tmp_path)
    reply = web.reply
    monkeypatch.setattr(
        web,
        "reply",
        lambda head: (403, b"{}", "application/json", {}) if "/search" in head and "Corvix" in head else reply(head),
    )
    done, operations = await filled(settings, table_id, "research")
    assert (done.status, done.found, done.unasked) == ("done", 29, 1)
    assert "403" in done.cause
    assert len(operations) == 29
    async with Services.open(settings) as services:
        row = next(row for row in (await services.load(table_id)).rows if row.cell("Company").value == "Corvix Works")
    assert row.cell("Founded").status == "PENDING"


async def test_answers_that_came_without_the_model_are_counted_and_said(
    web: SmallWeb, model: Endpoint, tmp_path: Path
) -> None:
    settings = thinking(web.settings(tmp_path), model)
    table_id = await imported(settings, tmp_path)
    model.otherwise = Reply(200, b'{"not": "an answer"}', {"content-type": "application/json"})
    async with Services.open(settings) as services:
        run = await plan_fill(services, table_id, [parse_field(FOUNDED)], "lookup")
        done = await run.run()
        reasoning = (await services.store.proposals.get(done.proposal_id)).reasoning
        report = await load_fill_report(services, done)
        shown = await get_run(services, RunRequest(run_id=done.run_id))
    assert done.degraded >= 30
    said = f"{done.degraded} answers came without the model (degraded)"
    assert said in reasoning
    assert f"{said}." in done.notes
    assert report["degraded"] == shown.degraded == done.degraded


async def test_a_row_is_skipped_only_if_what_the_question_needs_is_empty_and_it_is_named(
    web: SmallWeb, tmp_path: Path
) -> None:
    name = next(iter(YEARS))
    settings = web.settings(tmp_path)
    table_id = await imported(settings, tmp_path, f"Company,Trade name,City\n{name},,Oslo\n,{name},Oslo\n,,Oslo\n")
    news: list[Progress] = []
    async with Services.open(settings) as services:
        field = parse_field("Founded:number=What year was {Trade name} founded?")
        run = await plan_fill(services, table_id, [field], "lookup", watch=news.append)
        done = await run.run()
        report = await load_fill_report(services, done)
    assert (done.found, done.incomplete) == (1, 2)
    assert [(each.row_id, each.why) for each in done.skipped_rows] == [
        (1, "Trade name is empty"),
        (3, "Trade name is empty"),
    ]
    assert done.notes == ["Skipped rows: row 1 (Trade name is empty), row 3 (Trade name is empty)."]
    assert report["skipped_rows"][0] == {"row_id": 1, "label": name, "why": "Trade name is empty"}
    assert [each.row_id for each in news if each.stage == "row_skipped"] == [1, 3]


async def test_many_skipped_rows_are_named_and_counted(web: SmallWeb, tmp_path: Path) -> None:
    settings = web.settings(tmp_path)
    table_id = await imported(settings, tmp_path, "Company,City\n" + ",Oslo\n" * 9 + f"{next(iter(YEARS))},Oslo\n")
    done, _ = await filled(settings, table_id)
    assert done.incomplete == 9
    assert done.notes[0].endswith("row 5 (Company is empty) and 4 more.")


def test_success_resets_the_count_and_hosts_and_rows_count_once() -> None:
    breaker = CircuitBreaker(3)
    for by in ("1", "2", "2", "2"):
        breaker.record_failure("search", "no", by=by)
    assert breaker.outage is None
    breaker.record_success("search")
    for by in ("3", "4"):
        breaker.record_failure("search", "no", by=by)
    breaker.record_failure("model", "no", by="5")
    assert breaker.outage is None
    breaker.record_failure("search", "no", "Do this.", by="5")
    assert str(breaker.outage) == "The search failed 3 times in a row: no. Do this."


def test_one_site_is_all_of_the_web_where_several_rows_lack_it_and_no_page_ever_opened() -> None:
    breaker = CircuitBreaker(5)
    breaker.record_failure("web", "no connection", by="a.example")
    assert not breaker.never_answered("web", 1)
    assert breaker.never_answered("web", 2)
    breaker.trip("web")
    assert str(breaker.outage) == "No page could be opened: no connection."
    breaker.record_success("web")
    breaker.record_failure("web", "no connection", by="a.example")
    assert not breaker.never_answered("web", 2)
