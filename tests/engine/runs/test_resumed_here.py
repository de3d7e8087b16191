"""A run that is stopped and resumed by the same process, as in a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from dbos import DBOS

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.run import Progress
from tablewright.engine.runs import queue
from tablewright.errors import RunError
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import plan_fill
from tablewright.operations.operation import TableRequest
from tablewright.operations.tables import remove_table
from tablewright.services import Services
from tablewright.settings import Settings
from tests.patience import PATIENCE

SAMPLE = Path(__file__).parents[3] / "src" / "tablewright" / "sample" / "companies.csv"
MORE = 40
FIELD = parse_field("Founded:number=What year was {Company} founded?")


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    """With so many rows that a run has a middle in which something can happen."""
    table = tmp_path / "companies.csv"
    known = [line.split(",")[0] for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    unknown = [f"Nowhere Holdings {number}" for number in range(MORE)]
    table.write_text("\n".join([*known, *unknown]), encoding="utf-8")
    async with Services.open(Settings(home=str(tmp_path), search="sample", concurrency="1", attempts="1")) as opened:
        await import_table_file(opened, table)
        yield opened


@asynccontextmanager
async def serving(services: Services) -> AsyncIterator[None]:
    """While this process is a worker itself."""
    stop = asyncio.Event()
    working = asyncio.create_task(services.jobs.work(stop, kind="server"))
    while not any(worker.serves for worker in await services.jobs.workers()):
        await asyncio.wait([working], timeout=0.05)
        assert not working.done(), working.result()
    try:
        yield
    finally:
        stop.set()
        await working


async def ended(services: Services, run_id: str) -> None:
    async with asyncio.timeout(PATIENCE):
        async for _ in services.jobs.watch(run_id):
            pass


async def stopped_and_resumed(services: Services) -> None:
    run_id = await services.jobs.start(await plan_fill(services, "companies", [FIELD], "pipeline"))
    async for event in services.jobs.watch(run_id):
        if event.progress.stage == "row_done":
            await services.jobs.cancel(run_id)
            break
    await ended(services, run_id)
    stopped = await services.jobs.get(run_id)
    assert stopped.status == "cancelled"
    assert 0 < stopped.done < stopped.total
    await services.jobs.resume(run_id)
    await ended(services, run_id)
    done = await services.jobs.result(run_id)
    assert done.status == "done"
    assert done.rows == stopped.total


async def test_a_run_that_was_stopped_goes_on_in_the_same_process(services: Services) -> None:
    await stopped_and_resumed(services)


async def test_a_server_resumes_what_it_had_given_to_the_workers_before(services: Services) -> None:
    async with serving(services):
        await stopped_and_resumed(services)
        assert len(await asyncio.to_thread(DBOS.list_workflows)) > 2
        await asyncio.to_thread(queue.delete_finished_workflows, datetime.now(UTC) - timedelta(hours=1))
        assert len(await asyncio.to_thread(DBOS.list_workflows)) > 2
        await asyncio.to_thread(queue.delete_finished_workflows, datetime.now(UTC) + timedelta(hours=1))
        assert await asyncio.to_thread(DBOS.list_workflows) == []


async def test_a_server_computes_a_formula_without_the_queue(services: Services) -> None:
    async with serving(services):
        fill = await plan_fill(services, "companies", [parse_field("Loud={Company} & '!'")], "computation")
        run_id = await services.jobs.start(fill)
        await ended(services, run_id)
        run = await services.jobs.get(run_id)
        assert (run.status, run.done) == ("done", run.total)
        assert await asyncio.to_thread(DBOS.list_workflows) == []


async def test_a_run_that_the_queue_knows_nothing_of_goes_on(services: Services) -> None:
    fill = await plan_fill(services, "companies", [FIELD], "pipeline")
    run_id = await fill.begin("queue/of-a-lost-database")
    async with serving(services):
        await ended(services, run_id)
        assert (await services.jobs.get(run_id)).status == "done"


async def test_a_run_whose_workflows_are_lost_again_and_again_fails_and_can_be_resumed(
    services: Services,
) -> None:
    fill = await plan_fill(services, "companies", [FIELD], "pipeline")
    run_id = await fill.begin("queue/first")
    for owner in ("queue/second", "queue/third"):
        assert await services.store.runs.take_over(await services.jobs.get(run_id), owner)
    async with serving(services):
        await ended(services, run_id)
        assert (await services.jobs.get(run_id)).status == "failed"
        await services.jobs.resume(run_id)
        await ended(services, run_id)
        assert (await services.jobs.get(run_id)).status == "done"


async def test_a_routine_is_a_run_of_the_workers(services: Services) -> None:
    spec: dict[str, object] = {"fields": [], "row_ids": None, "dry_run": False, "apply": False}
    context = {"table_id": (await services.table("companies")).id, "routine": "recheck", "spec": spec}
    async with serving(services):
        handle = await asyncio.to_thread(DBOS.start_workflow, queue.scheduled_workflow, datetime.now(UTC), context)
        await asyncio.to_thread(handle.get_result)
        (run,) = await services.jobs.all()
        await ended(services, run.id)
        run = await services.jobs.get(run.id)
        assert (run.kind, run.status) == ("recheck", "done")
        assert run.owner.startswith("queue/")


async def test_what_a_run_used_up_is_not_counted_twice_when_it_is_resumed(services: Services) -> None:
    run_id = await services.jobs.start(await plan_fill(services, "companies", [FIELD], "pipeline"))
    async for event in services.jobs.watch(run_id):
        if event.progress.stage == "row_done":
            await services.jobs.cancel(run_id)
            break
    await ended(services, run_id)
    stopped = await services.jobs.get(run_id)
    await (await services.jobs._open_executor()).heartbeat.take(run_id)
    assert 0 < (await services.jobs.get(run_id)).usage.searches == stopped.usage.searches


async def test_a_run_whose_table_is_removed_says_so(services: Services) -> None:
    removing: list[asyncio.Task[None]] = []

    def watch(progress: Progress) -> None:
        if progress.stage == "row_done" and not removing:
            removing.append(asyncio.ensure_future(remove_table(services, TableRequest(table="companies"))))

    fill = await plan_fill(services, "companies", [FIELD], "pipeline", watch=watch)
    with pytest.raises(RunError, match="its table was removed"):
        await services.jobs.run(fill)
    await asyncio.gather(*removing)


async def test_what_goes_on_in_the_background_when_a_program_ends_can_be_gone_on_with(tmp_path: Path) -> None:
    table = tmp_path / "companies.csv"
    table.write_text("Company\n" + "".join(f"Nowhere Holdings {number}\n" for number in range(MORE)), encoding="utf-8")
    settings = Settings(home=str(tmp_path), search="sample", concurrency="1", attempts="1")
    async with Services.open(settings) as services:
        await import_table_file(services, table)
        run_id = await services.jobs.start(await plan_fill(services, "companies", [FIELD], "pipeline"))
        async for event in services.jobs.watch(run_id):
            if event.progress.stage == "row_done":
                break
    async with Services.open(settings) as services:
        left = await services.jobs.get(run_id)
        assert left.status == "running"
        assert await services.jobs.is_interrupted(left)
        assert 0 < left.done < MORE
        await services.jobs.resume(run_id)
        await services.jobs.wait(run_id)
        done = await services.jobs.result(run_id)
        assert (done.status, done.rows) == ("done", MORE)
