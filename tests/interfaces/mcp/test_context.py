"""What goes on while somebody waits: progress, calls that are broken off, runs that nobody works on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tablewright.engine.fill import FillRun
from tablewright.engine.runs import jobs
from tablewright.engine.runs.jobs import Jobs
from tablewright.interfaces.mcp import context
from tablewright.interfaces.mcp.server import create_server, http_app
from tablewright.sample.server import SampleWeb
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.store.store import Store
from tests.interfaces.mcp.talking import COMPANIES, FOUNDED, SAMPLE, Talk, listening, over_http, papers, within
from tests.llm.endpoint import refusal, running_endpoint
from tests.patience import PATIENCE

WORKER = "elsewhere-1-abcdef"
TWICE = "Twice:number={N} * 2"
MANY = "N\n" + "".join(f"{number}\n" for number in range(40_000))
FOLLOW_UP = "What does Lumenforge charge for a machine?"


async def broken_off(talk: Talk, tool: str, *, done: float = 0, **arguments: Any) -> None:
    """A call whose client goes away as soon as it was told that so much is done."""
    talk.progress.clear()
    calling = asyncio.create_task(talk(tool, **arguments))
    async with asyncio.timeout(PATIENCE):
        while not any(number > done for number, _, _ in talk.progress):
            talk.told.clear()
            await talk.told.wait()
    assert not calling.done()
    calling.cancel()
    await asyncio.gather(calling, return_exceptions=True)


async def ended(talk: Talk, kind: str) -> dict[str, Any]:
    """The newest run of that kind, once it has ended."""
    async with asyncio.timeout(PATIENCE):
        while True:
            run = next(run for run in (await talk("list_all", what="runs"))["runs"] if run["kind"] == kind)
            if run["status"] not in ("running", "stopping"):
                return dict(run)
            await asyncio.sleep(0.05)


@asynccontextmanager
async def by_messages(folder: Path) -> AsyncIterator[Talk]:
    async with within(folder, mode="legacy") as talk:
        yield talk


@asynccontextmanager
async def by_http(folder: Path) -> AsyncIterator[Talk]:
    async with Services.open(Settings(home=str(folder / "home"), **SAMPLE)) as services:
        server = create_server(services)
        async with listening(http_app(server, "127.0.0.1")) as address, over_http(address, {}) as talk:
            yield talk
        await server.context.close()


# ── calls that are broken off ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("connected", [by_messages, by_http])
async def test_a_recheck_that_is_broken_off_ends_as_stopped(
    connected: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connected(tmp_path) as talk:
        await talk("add_rows", csv="Company\nSable & Finch\n", name="firms")
        done = await talk("enrich", table="firms", fields=[FOUNDED])
        await talk("decide_proposal", decision="apply", proposal_id=done["proposal"]["id"])
        count, gate = SampleWeb.count, threading.Event()

        def hold(web: SampleWeb, kind: str, url: str = "") -> None:
            count(web, kind, url)
            gate.wait(PATIENCE if kind == "page" else 0)

        monkeypatch.setattr(SampleWeb, "count", hold)
        try:
            await broken_off(talk, "recheck", table="firms")
            assert (await ended(talk, "recheck"))["status"] == "cancelled"
        finally:
            gate.set()


async def test_reading_documents_that_is_broken_off_ends_as_stopped(tmp_path: Path) -> None:
    folder = papers(tmp_path)
    async with within(tmp_path, allowed=(folder,), mode="legacy") as talk:
        await broken_off(talk, "add_documents", paths=[str(folder)])
        assert (await ended(talk, "ingest"))["status"] == "cancelled"


async def test_a_formula_tells_its_progress_and_broken_off_keeps_what_it_had_computed(tmp_path: Path) -> None:
    async with within(tmp_path, mode="legacy") as talk:
        await talk("add_rows", csv=MANY, name="numbers")
        await talk("enrich", table="numbers", fields=[TWICE], max_rows=10)
        assert talk.progress[-1][:2] == (10, 10)
        await broken_off(talk, "enrich", table="numbers", fields=[TWICE], done=1)
        run = await ended(talk, "enrich")
        assert run["status"] == "cancelled"
        kept = await talk("show_table", table="numbers", proposal_id=run["proposal_id"], limit=1)
        assert kept["proposal"]["reasoning"].endswith("cancelled before the end")
        assert 0 < kept["proposal"]["counts"]["open"] < 40_000


async def test_a_turn_with_the_advisor_that_is_broken_off_leaves_nothing_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, filling, waits, gate = SampleWeb.count, threading.Event(), threading.Event(), threading.Event()

    def hold(web: SampleWeb, kind: str, url: str = "") -> None:
        count(web, kind, url)
        if filling.is_set():
            waits.set()
            gate.wait(PATIENCE)

    monkeypatch.setattr(SampleWeb, "count", hold)
    async with within(tmp_path, mode="legacy") as talk:
        said = await talk("shortlist_turn", message="/form product: electric kettle | budget: 50 GBP")
        conversation = {"shortlist": said["shortlist_id"]}
        await talk("shortlist_turn", message="Confirm Requirements", **conversation)
        calling = asyncio.create_task(talk("shortlist_turn", message="Enrich Now", **conversation))
        async with asyncio.timeout(PATIENCE):
            while not any(total for _, total, _ in talk.progress):
                talk.told.clear()
                await talk.told.wait()
            filling.set()
            await asyncio.to_thread(waits.wait, PATIENCE)
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
        try:
            assert (await ended(talk, "enrich"))["status"] == "cancelled"
        finally:
            filling.clear()
            gate.set()
        assert (await talk("shortlist_turn", message="Enrich Now", **conversation))["cards"]


async def test_a_run_that_is_being_started_when_the_call_is_broken_off_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, started, known = Jobs.start, asyncio.Event(), asyncio.Event()

    async def slowly(jobs: Jobs, fill: FillRun, settings: Mapping[str, str] | None = None) -> str:
        run_id = await start(jobs, fill, settings)
        started.set()
        await known.wait()
        return run_id

    monkeypatch.setattr(Jobs, "start", slowly)
    csv = "Company\n" + "".join(f"Firm {number}\n" for number in range(200))
    async with within(tmp_path, mode="legacy", concurrency="1") as talk:
        await talk("add_rows", csv=csv, name="firms")
        calling = asyncio.create_task(talk("enrich", table="firms", fields=[FOUNDED], strategy="lookup"))
        await started.wait()
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
        await talk("list_all", what="tables")  # by now the server has read what came before it
        known.set()
        run = await ended(talk, "enrich")
        assert (run["status"], run["done"] < 200) == ("cancelled", True)


# ── runs that nobody works on ────────────────────────────────────────────────────────────────────────────────────────


async def test_nobody_waits_for_a_run_whose_worker_is_gone_and_it_can_be_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(jobs, "GONE_AFTER_SECONDS", 0.3)
    async with within(tmp_path) as talk, await Store.open(Settings(home=str(tmp_path / "home")).database) as store:

        async def take_and_die(_: str, run_id: str, __: str) -> None:
            assert await store.runs.take_over(await store.runs.get(run_id), "queue/one")
            await store.workers.leave([WORKER])

        monkeypatch.setattr("tablewright.engine.runs.queue.submit_run", take_and_die)
        await talk("add_rows", csv=COMPANIES, name="firms")
        await store.workers.beat(WORKER, "worker")
        async with asyncio.timeout(PATIENCE):
            error = await talk.refused("enrich", table="firms", fields=[FOUNDED])
        (run,) = (await talk("list_all", what="runs"))["runs"]
        assert (error["type"], run["status"]) == ("RunError", "interrupted")
        assert error["kept"] == "What was found is kept."
        assert "control_run(resume)" in error["advice"]
        resumed = await talk("control_run", action="resume", run_id=run["run_id"])
        assert (resumed["status"], resumed["done"]) == ("done", 3)


async def test_a_run_that_no_worker_took_up_waits_for_one_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(jobs, "GONE_AFTER_SECONDS", 0.3)

    async def never_taken(*_: str) -> None:
        pass

    monkeypatch.setattr("tablewright.engine.runs.queue.submit_run", never_taken)
    async with within(tmp_path) as talk, await Store.open(Settings(home=str(tmp_path / "home")).database) as store:
        await talk("add_rows", csv=COMPANIES, name="firms")
        await store.workers.beat(WORKER, "worker")
        begun = await talk("enrich", table="firms", fields=[FOUNDED], wait=False)
        await store.workers.leave([WORKER])
        async with asyncio.timeout(PATIENCE):
            error = await talk.refused("control_run", action="cancel", run_id=begun["run_id"])
        assert (error["type"], "tablewright worker" in error["advice"]) == ("RunError", True)


# ── progress ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_a_question_to_the_documents_tells_what_is_done_and_what_fails_on_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "REPORT_SECONDS", 0.0)
    folder = papers(tmp_path)
    async with running_endpoint() as endpoint:
        endpoint.otherwise = refusal(401)
        model = {"model": "openai:gpt-4o-mini", "model_base_url": endpoint.url, "model_api_key": "k"}
        async with within(tmp_path, allowed=(folder,), **model) as talk:
            await talk("add_documents", paths=[str(folder / "receipts")], kind="receipt")
            talk.progress.clear()
            asked = await talk("ask", question="all receipts that contain tires")
            assert asked["count"] > 0
            first, *others = [message for _, _, message in talk.progress]
            assert first == "working: looking in the documents"
            assert any("Decided without the model" in each for each in others)
            numbers = [number for number, _, _ in talk.progress]
            assert numbers == sorted(set(numbers))


async def test_a_follow_up_that_nobody_could_plan_says_so_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "REPORT_SECONDS", 0.0)
    async with within(tmp_path) as talk:
        done = await talk("research", question="How does Lumenforge make money?", max_searches=3)
    async with running_endpoint() as endpoint:
        endpoint.otherwise = refusal(401)
        model = {"model": "openai:gpt-4o-mini", "model_base_url": endpoint.url, "model_api_key": "k"}
        async with within(tmp_path, **model) as talk:
            error = await talk.refused("research", research=done["research_id"], question=FOLLOW_UP)
            assert "refused the key" in error["what"]
            assert "Nothing was changed" in error["kept"]
            assert (await talk.read(f"tablewright://research/{done['research_id']}")) == done["report_markdown"]
