"""Every kind of work keeps to what its user may spend and store: research, rows that are found, questions, documents,
a conversation about what to buy."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tablewright.domain.access import Person
from tablewright.domain.fieldspec import parse_field
from tablewright.domain.shortlist import CONFIRM, ENRICH
from tablewright.errors import OverBudget, OverQuota, TablewrightError
from tablewright.operations.files import import_table_rows
from tablewright.operations.fill import plan_fill
from tablewright.operations.operation import TableRequest
from tablewright.operations.tables import remove_table
from tablewright.services import Services
from tablewright.settings import Settings
from tests.llm.endpoint import Endpoint, answer, running_endpoint
from tests.operating import add_documents, ask, begin_find, begin_research, find_rows, run_research, shortlist_turn
from tests.pages import small_web
from tests.workflows.chatting import FORM
from tests.workflows.researching import CHALLENGES, FARMS, by_decision, plan
from tests.workflows.test_research_with_model import ANSWERS, with_model

SEARCH = 0.01
# Enough for two searches.
LEFT = 0.025
READ, WRITTEN = 2_000, 100
# What gpt-4o-mini takes for it, in dollars.
A_CALL = (READ * 0.15 + WRITTEN * 0.60) / 1_000_000


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    """A model that costs what it costs and never says anything of use."""
    async with running_endpoint() as running:
        running.otherwise = answer({"nothing": "of use"}, read=READ, written=WRITTEN)
        yield running


@asynccontextmanager
async def limited(folder: Path, limits: dict[str, float], **values: str) -> AsyncIterator[tuple[Services, Person]]:
    """The app as a user with these limits sees it."""
    settings = Settings(home=str(folder / "home"), search="sample", fetch_delay="0", **values)
    async with Services.open(settings) as app:
        person, _ = await app.store.users.add("ann", "editor")
        await app.store.ledger.limit("ann", limits)  # type: ignore[arg-type]
        yield app.acting("ann", person), person


async def spent(app: Services, person: Person) -> float:
    found = next(each for each in await app.store.ledger.of(person.name) if each.what == "dollars")
    assert found.held == 0
    return found.used


@asynccontextmanager
async def researching(folder: Path, endpoint: Endpoint) -> AsyncIterator[tuple[Services, Person]]:
    """With a model, of no known price, that plans four searches."""
    queries = [f"{CHALLENGES} {number}" for number in range(4)]
    endpoint.otherwise = by_decision(ANSWERS | {"ResearchPlan": plan(queries=queries)})
    async with small_web(FARMS) as web:
        settings = with_model(web, endpoint, folder, search_price=str(SEARCH), research_rounds="1")
        async with Services.open(settings) as app:
            person, _ = await app.store.users.add("ann", "editor")
            await app.store.ledger.limit("ann", {"dollars": LEFT})
            yield app.acting("ann", person), person


async def test_research_keeps_to_what_is_left_and_writes_its_report(endpoint: Endpoint, tmp_path: Path) -> None:
    async with researching(tmp_path, endpoint) as (ann, person):
        begun = await begin_research(ann, CHALLENGES)
        found = await run_research(ann, begun.id)
        run = (await ann.jobs.all())[0]
        assert await spent(ann, person) == 2 * SEARCH
        assert (found.status, run.kind, run.status) == ("partial", "research", "over_budget")
        assert found.report is not None
        await ann.store.ledger.limit("ann", {"dollars": 2 * SEARCH})
        with pytest.raises(OverQuota, match=r"Your limit is \$0.02 a month: \$0.02 used"):
            await run_research(ann, begun.id)


async def test_research_side_by_side_shares_what_is_left(endpoint: Endpoint, tmp_path: Path) -> None:
    async with researching(tmp_path, endpoint) as (ann, person):
        begun = [await begin_research(ann, f"{CHALLENGES} In {year}?") for year in range(2020, 2025)]
        await asyncio.gather(*(run_research(ann, each.id) for each in begun), return_exceptions=True)
        assert await spent(ann, person) == 2 * SEARCH


async def test_finding_rows_keeps_to_what_is_left(tmp_path: Path) -> None:
    async with limited(tmp_path, {"dollars": SEARCH / 2}, search_price=str(SEARCH)) as (ann, person):
        fields = [parse_field(text) for text in ("Company", "City", "Founded:number")]
        listing = await begin_find(ann, "companies that make instruments", fields=fields)
        with suppress(OverBudget):
            await find_rows(ann, listing.table_id)
        assert await spent(ann, person) == 0
        assert [run.status for run in await ann.jobs.all(listing.table_id) if run.kind == "find"] == ["over_budget"]


async def test_a_conversation_about_what_to_buy_keeps_to_what_is_left(tmp_path: Path) -> None:
    async with limited(tmp_path, {"dollars": LEFT}, search_price=str(SEARCH)) as (ann, person):
        state = await ann.store.shortlists.start()
        for said in (FORM, CONFIRM, ENRICH):
            with suppress(TablewrightError):
                await shortlist_turn(ann, state.id, said)
        assert await spent(ann, person) == 2 * SEARCH


async def test_questions_side_by_side_keep_to_what_is_left(endpoint: Endpoint, tmp_path: Path) -> None:
    left = 20 * A_CALL
    model = {"model": "openai:gpt-4o-mini", "model_base_url": endpoint.url, "model_api_key": "k"}
    async with limited(tmp_path, {"dollars": left}, **model) as (ann, person):
        (tmp_path / "pump.md").write_text("# Pump P9\n\nPump pressure: 6 bar\n", encoding="utf-8")
        await add_documents(ann, [tmp_path / "pump.md"], kind="manual")

        async def ask_about(number: int) -> Any:
            return await ask(ann, f"What is the pressure of the pump P{number}?")

        await asyncio.gather(*(ask_about(number) for number in range(15)), return_exceptions=True)
        assert 0 < await spent(ann, person) <= left
        assert await spent(ann, person) == pytest.approx(len(endpoint.asked) * A_CALL, abs=1e-6)


async def test_documents_are_read_and_only_not_sorted_by_the_model_once_the_money_is_spent(
    endpoint: Endpoint, tmp_path: Path
) -> None:
    model = {"model": "openai:gpt-4o-mini", "model_base_url": endpoint.url, "model_api_key": "k"}
    async with limited(tmp_path, {"dollars": 0.0001}, **model) as (ann, person):
        for number in range(5):
            (tmp_path / f"{number}.md").write_text(f"# Pump P{number}\n\nPump pressure: 6 bar\n", encoding="utf-8")
        ingested = await add_documents(ann, [tmp_path / f"{number}.md" for number in range(5)])
        assert (len(await ann.store.documents.all()), ingested.classified) == (5, 0)
        assert (await spent(ann, person), endpoint.asked) == (0, [])


async def test_a_small_input_does_not_grow_past_what_may_be_stored(tmp_path: Path) -> None:
    """195 KB of rows and a formula that repeats each value: 10 MB of new values, of which 5 MB may be stored."""
    async with limited(tmp_path, {"disk": 5}) as (ann, person):
        rows = [{"Note": "x" * 950} for _ in range(200)]
        table = (await import_table_rows(ann, rows)).table
        question = "Long=" + " & ".join(["{Note}"] * 50)
        fill = await plan_fill(ann, table.id, [parse_field(question)], "computation")
        run_id = await ann.jobs.start(fill)
        async for _ in ann.jobs.watch(run_id):
            pass
        run = await ann.jobs.get(run_id)
        used = next(each.used for each in await ann.store.ledger.of(person.name) if each.what == "disk")
        assert run.status == "failed"
        assert run.error is not None
        assert run.error.startswith("Your limit is 5 MB of documents and tables: ")
        assert "What was found before is kept. Remove something first" in run.error
        assert 3.5 < used <= 5.01
        proposal = await ann.store.proposals.get((await ann.store.proposals.all(table.id))[0].id)
        assert (proposal.status, 0 < proposal.counts["with_value"] < 200) == ("open", True)
        await ann.store.ledger.limit("ann", {"disk": 50})
        await ann.jobs.resume(run_id)
        await ann.jobs.wait(run_id)
        again = await ann.store.proposals.get(proposal.id)
        assert ((await ann.jobs.get(run_id)).status, again.counts["with_value"]) == ("done", 200)
        await remove_table(ann, TableRequest(table=table.id))
        assert next(each.used for each in await ann.store.ledger.of(person.name) if each.what == "disk") == 0
