"""A strategy that is a function of the program: its run is watched and stopped like any other."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tablewright.domain.fieldspec import parse_field
from tablewright.errors import UsageError
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import plan_fill
from tablewright.operations.runs import ResumeRun, RunRequest, cancel_run, get_run, resume_run
from tablewright.services import Services
from tablewright.settings import Settings
from tests.patience import PATIENCE

ROWS = 60
FIELD = parse_field("Length:number=How long is the name?")


async def bring(services: Services, folder: Path) -> str:
    names = "".join(f"Firm {number}\n" for number in range(ROWS))
    (folder / "firms.csv").write_text(f"Company\n{names}", encoding="utf-8")
    return (await import_table_file(services, folder / "firms.csv")).table.id


async def test_its_feed_names_each_row_and_it_is_cancelled_and_resumed_by_id(tmp_path: Path) -> None:
    halfway, released, asked = asyncio.Event(), asyncio.Event(), 0

    async def length(row: dict[str, Any]) -> dict[str, Any]:
        nonlocal asked
        asked += 1
        if asked > ROWS // 2:
            halfway.set()
            await released.wait()
        return {"Length": len(row["Company"])}

    async with Services.open(Settings(home=str(tmp_path / "home"), concurrency="2")) as services:
        table_id = await bring(services, tmp_path)
        fill = await plan_fill(services, table_id, [FIELD], length)
        running = asyncio.create_task(services.jobs.run(fill))
        async with asyncio.timeout(PATIENCE):
            await halfway.wait()
            (run,) = await services.jobs.all()
            stopped = await cancel_run(services, RunRequest(run_id=run.id))
            assert stopped.status in ("stopping", "cancelled")
            filled = await running
        assert (filled.status, filled.found) == ("cancelled", ROWS // 2)
        stages = [event.progress.stage async for event in services.jobs.watch(run.id)]
        assert stages.count("row_done") == ROWS // 2
        released.set()
        await resume_run(services, ResumeRun(run_id=run.id))
        await services.jobs.wait(run.id)
        found = await get_run(services, RunRequest(run_id=run.id))
    assert (found.status, found.found, found.done) == ("done", ROWS, ROWS)


async def test_another_process_says_why_it_cannot_resume_it_and_can_end_it(tmp_path: Path) -> None:
    settings = Settings(home=str(tmp_path / "home"))
    async with Services.open(settings) as services:
        table_id = await bring(services, tmp_path)
        fill = await plan_fill(services, table_id, [FIELD], lambda row: {"Length": len(row["Company"])})
        run_id = await fill.begin("a process that was killed", settings={})
    async with Services.open(settings) as services:
        assert (await get_run(services, RunRequest(run_id=run_id))).status == "interrupted"
        with pytest.raises(UsageError, match="a function of the program that started it") as refused:
            await resume_run(services, ResumeRun(run_id=run_id))
        assert "Run that program again" in refused.value.advice
        ended = await cancel_run(services, RunRequest(run_id=run_id))
        assert ended.status == "cancelled"
        again = await plan_fill(services, table_id, [FIELD], lambda row: {"Length": len(row["Company"])})
        assert (await services.jobs.run(again)).found == ROWS
