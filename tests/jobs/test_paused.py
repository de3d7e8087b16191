"""A durable run that an outage pauses: what is done stays, and whoever resumes it goes on with the rest."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from tablewright.domain.document import document
from tablewright.domain.fieldspec import parse_field
from tablewright.engine.outcome import Filled
from tablewright.errors import DiskFull
from tablewright.operations.files import import_file
from tablewright.operations.fill import plan_fill
from tablewright.operations.runs import RunRequest, get_run
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.sources.search import provider
from tablewright.store.runs import Runs, Slices, Totals

from ..engine.works import FOUNDED, TABLE, YEARS, pages
from ..pages import SmallWeb, small_web

ROWS = len(YEARS)


async def begun(settings: Settings, folder: Path) -> Filled:
    (folder / "works.csv").write_text(TABLE, encoding="utf-8")
    async with Services.open(settings) as services:
        table = (await import_file(services, folder / "works.csv")).table
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


async def test_a_run_is_paused_if_the_disk_is_full_between_two_slices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def totals(self: Slices, run_id: str) -> Totals:
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
            events = [document(event)["progress"] async for event in services.jobs.watch(first.run_id)]
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
