"""A durable run that an outage pauses: what is done stays, and whoever resumes it goes on with the rest."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.text import to_json_document
from tablewright.engine.outcome import RunResult
from tablewright.errors import DiskFull
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import plan_fill
from tablewright.operations.runs import ResumeRun, RunRequest, get_run, pause_run, resume_run
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.store.runs import Runs, Slices, SliceTotals
from tablewright.web.search import provider
from tests.engine.works import FOUNDED, TABLE, YEARS, pages
from tests.pages import SmallWeb, small_web

ROWS = len(YEARS)


async def begun(settings: Settings, folder: Path) -> RunResult:
    (folder / "works.csv").write_text(TABLE, encoding="utf-8")
    async with Services.open(settings) as services:
        table = (await import_table_file(services, folder / "works.csv")).table
        fill = await plan_fill(services, table.id, [parse_field(FOUNDED)], "lookup")
        return await services.jobs.run(fill)


def dies_after(web: SmallWeb, searches: int, monkeypatch: pytest.MonkeyPatch) -> None:
    reply = web.reply

    def dying(head: str) -> object:
        web.search_status = 200 if len(web.queries) < searches else 500
        return reply(head)

    monkeypatch.setattr(web, "reply", dying)


async def test_a_run_that_cannot_be_ended_on_a_full_disk_ends_its_caller_and_goes_on_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def finish(*_: object, **__: object) -> None:
        raise DiskFull("The disk is full.")

    async with small_web(pages()) as web:
        settings = web.settings(tmp_path)
        monkeypatch.setattr(Runs, "finish", finish)
        with pytest.raises(DiskFull):
            await asyncio.wait_for(begun(settings, tmp_path), 60)
        monkeypatch.undo()
        async with Services.open(settings) as services:
            [run] = await services.jobs.all()
            assert run.status == "running"
            await services.jobs.resume(run.id)
            await services.jobs.wait(run.id)
            assert (await services.jobs.result(run.id)).status == "done"


async def test_the_end_of_a_run_is_written_by_its_own_process_once_the_disk_has_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def finish(*_: object, **__: object) -> None:
        raise DiskFull("The disk is full.")

    (tmp_path / "works.csv").write_text(TABLE, encoding="utf-8")
    async with small_web(pages()) as web, Services.open(web.settings(tmp_path)) as services:
        table = (await import_table_file(services, tmp_path / "works.csv")).table
        fill = await plan_fill(services, table.id, [parse_field(FOUNDED)], "lookup")
        monkeypatch.setattr(Runs, "finish", finish)
        with pytest.raises(DiskFull):
            await services.jobs.run(fill)
        [run] = await services.jobs.all()
        assert run.status == "running"
        monkeypatch.undo()
        await asyncio.wait_for(services.jobs.wait(run.id), 60)
        assert (await services.jobs.result(run.id)).status == "done"


async def test_a_run_is_paused_on_request_and_goes_on_with_the_rows_that_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "works.csv").write_text(TABLE, encoding="utf-8")
    held, going = asyncio.Event(), asyncio.Event()

    async def slow(row: dict[str, object]) -> dict[str, object]:
        if not going.is_set():
            held.set()
            await going.wait()
        return {"Founded": 1999}

    async with Services.open(Settings(home=str(tmp_path / "home"))) as services:
        table = (await import_table_file(services, tmp_path / "works.csv")).table
        fill = await plan_fill(services, table.id, [parse_field("Founded:number=When?")], slow)
        run_id = await services.jobs.start(fill)
        await held.wait()
        await pause_run(services, RunRequest(run_id=run_id))
        await services.jobs.wait(run_id)
        paused = await get_run(services, RunRequest(run_id=run_id))
        assert (paused.status, paused.error) == ("paused", "It was paused on request.")
        going.set()
        await resume_run(services, ResumeRun(run_id=run_id))
        await services.jobs.wait(run_id)
        done = await get_run(services, RunRequest(run_id=run_id))
        assert (done.status, done.error, done.done) == ("done", None, ROWS)


async def test_a_run_that_is_being_cancelled_is_not_paused_instead(tmp_path: Path) -> None:
    (tmp_path / "works.csv").write_text(TABLE, encoding="utf-8")
    async with Services.open(Settings(home=str(tmp_path / "home"))) as services:
        table = (await import_table_file(services, tmp_path / "works.csv")).table
        fill = await plan_fill(services, table.id, [parse_field("Founded:number=When?")], lambda row: {"Founded": 1})
        run_id = await fill.begin("a process that was killed", settings={})
        await services.store.runs.ask_to_stop(run_id)
        await services.store.runs.ask_to_stop(run_id, pause=True)
        assert not (await services.store.runs.get(run_id)).pausing


async def test_a_run_without_slices_is_paused_on_request(tmp_path: Path) -> None:
    async with Services.open(Settings(home=str(tmp_path / "home"))) as services:
        run_id = await services.store.runs.start("", "ingest", {"paths": []}, owner="a process that was killed")
        await pause_run(services, RunRequest(run_id=run_id))
        assert (await get_run(services, RunRequest(run_id=run_id))).status == "paused"


async def test_a_run_is_paused_if_the_disk_is_full_between_two_slices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def totals(self: Slices, run_id: str) -> SliceTotals:
        monkeypatch.undo()
        raise DiskFull("The disk is full.")

    async with small_web(pages()) as web:
        monkeypatch.setattr(Slices, "totals", totals)
        filled = await begun(web.settings(tmp_path), tmp_path)
    assert (filled.status, filled.problem) == ("paused", "The disk is full.")


async def test_a_paused_run_goes_on_in_another_process_with_the_rows_that_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider, "WAITS", (0.0, 0.0))
    async with small_web(pages()) as web:
        settings = replace(web.settings(tmp_path), concurrency="2", attempts="1")
        dies_after(web, 12, monkeypatch)
        first = await begun(settings, tmp_path)
        assert first.status == "paused"
        assert "The search failed 5 times in a row: SearXNG failed (500)" in first.problem
        async with Services.open(settings) as services:
            shown = await get_run(services, RunRequest(run_id=first.run_id))
            cells = await services.store.proposals.operations(first.proposal_id)
        assert (shown.status, shown.error) == ("paused", first.problem)
        assert 0 < shown.found == first.found == len(cells) == shown.done < ROWS
        assert shown.fraction == pytest.approx(shown.done / ROWS)
        assert all(each.cell.value is not None for each in cells), "nothing is proposed for what was not looked for"

        monkeypatch.undo()
        web.search_status = 200
        done_before, asked = len(cells), len(web.queries)
        async with Services.open(settings) as services:
            await services.jobs.resume(first.run_id)
            await services.jobs.wait(first.run_id)
            done = await services.jobs.result(first.run_id)
            cells = await services.store.proposals.operations(first.proposal_id)
            events = [to_json_document(event)["progress"] async for event in services.jobs.watch(first.run_id)]
        assert (done.status, done.found, done.problem) == ("done", ROWS, "")
        assert {each.cell.value for each in cells} == set(YEARS.values())
        assert len(web.queries) - asked <= 2 * (ROWS - done_before)
        stages = [event["stage"] for event in events]
        assert (stages[0], stages.count("starting"), stages.count("paused"), stages[-1]) == (
            "starting",
            1,
            1,
            "complete",
        )
        assert stages.count("row_done") == ROWS
        assert events[0]["fraction"] == 0.0
        assert events[-1]["fraction"] == 1.0


async def test_a_run_that_is_resumed_while_the_search_is_still_dead_pauses_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(provider, "WAITS", (0.0, 0.0))
    async with small_web(pages()) as web:
        settings = replace(web.settings(tmp_path), attempts="1")
        web.search_status = 500
        first = await begun(settings, tmp_path)
        async with Services.open(settings) as services:
            for _ in range(2):
                await services.jobs.resume(first.run_id)
                await services.jobs.wait(first.run_id)
                assert (await services.jobs.get(first.run_id)).status == "paused"
            web.search_status = 200
            await services.jobs.resume(first.run_id)
            await services.jobs.wait(first.run_id)
            assert (await services.jobs.result(first.run_id)).found == ROWS


async def test_workers_pause_a_run_and_go_on_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider, "WAITS", (0.0, 0.0))
    async with small_web(pages()) as web:
        settings = replace(web.settings(tmp_path), attempts="1")
        web.search_status = 500
        async with Services.open(settings) as services:
            stop = asyncio.Event()
            working = asyncio.create_task(services.jobs.work(stop))
            for _ in range(400):
                if any(worker.serves for worker in await services.jobs.workers()):
                    break
                await asyncio.sleep(0.05)
            first = await begun(settings, tmp_path)
            assert first.status == "paused"
            assert (await services.jobs.get(first.run_id)).owner.startswith("queue/")
            web.search_status = 200
            await services.jobs.resume(first.run_id)
            async for _ in services.jobs.watch(first.run_id):
                pass
            assert (await services.jobs.result(first.run_id)).found == ROWS
            stop.set()
            await working
