"""Work with which one process died after the other is set aside; what was given back, or is tried again on purpose, is
not."""

from __future__ import annotations

import asyncio
import os
import socket

import msgspec
import pytest
from sqlalchemy import insert, literal

from tablewright.domain.run import Progress
from tablewright.engine.runs import jobs, ownership
from tablewright.engine.runs.executor import RunExecutor
from tablewright.engine.runs.kinds import RunContext
from tablewright.errors import RunError
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.store import schema, workers
from tablewright.store.store import Store
from tablewright.store.workers import QUEUE_OWNER_PREFIX, database_clock
from tests.engine.runs.test_ownership import Tools, sliced
from tests.patience import PATIENCE
from tests.store.outage import Outage


async def test_a_run_is_set_aside_when_two_processes_died_with_the_same_rows(store: Store) -> None:
    async with RunExecutor(store, Tools()) as executor:
        run_id = await sliced(store, executor.id)
        for process in ("first", "second"):
            await store.slices.claim(run_id, 1, f"{process}/s1")
        await executor.execute(run_id)
        run = await store.runs.get(run_id)
        assert run.status == "failed"
        assert run.error is not None
        assert run.error.startswith(
            "Set aside: two processes died, one after the other, while they worked on rows 1 to 2"
        )
        assert "Resume the run" in run.error
        await executor.heartbeat.take(run_id)
        assert (await store.slices.claim(run_id, 1, "third/s1")).setbacks == 0


async def test_who_gives_its_rows_back_was_not_lost_with_them(store: Store) -> None:
    run_id = await sliced(store, "whoever")
    for process in ("first", "second", "third"):
        part = await store.slices.claim(run_id, 1, f"{process}/s1")
        assert part.setbacks == 0
        await store.slices.give_back(run_id, part.owner)
    await store.slices.claim(run_id, 1, "fourth/s1")
    assert (await store.slices.claim(run_id, 1, "fourth/s2")).setbacks == 0, "it is the same process"
    assert (await store.slices.claim(run_id, 1, "fifth/s1")).setbacks == 1


async def test_work_as_a_whole_is_set_aside_when_two_processes_died_with_it(store: Store) -> None:
    begun = 0

    async def work(context: RunContext) -> None:
        nonlocal begun
        begun += 1

    async with RunExecutor(store, Tools(), {"ingest": work}) as executor:
        run_id = await store.runs.start("", "ingest", {}, owner=executor.id)
        assert await store.runs.set_holder(run_id, "first/h1") == 0
        await store.runs.release_holder(run_id, "first/h1")
        assert await store.runs.set_holder(run_id, "second/h1") == 0
        assert await store.runs.set_holder(run_id, "third/h1") == 1
        with pytest.raises(RunError, match="Set aside"):
            await executor.go_on(run_id)
        run = await store.runs.get(run_id)
        assert (run.status, begun) == ("failed", 0)
        assert "Set aside" in (run.error or "")
        await executor.heartbeat.take(run_id)
        await executor.go_on(run_id)
        assert ((await store.runs.get(run_id)).status, begun) == ("done", 1)


async def test_a_process_ends_after_it_has_set_a_run_aside(store: Store) -> None:
    async def work(context: RunContext) -> None:
        raise AssertionError("it was set aside")

    async with RunExecutor(store, Tools(), {"ingest": work}) as executor:
        run_id = await store.runs.start("", "ingest", {}, owner=executor.id)
        for process in ("first", "second"):
            await store.runs.set_holder(run_id, f"{process}/h1")
        with pytest.raises(RunError, match="Set aside"):
            await executor.go_on(run_id)
        async with asyncio.timeout(PATIENCE):
            await executor.drain()


async def test_a_run_whose_workflow_is_lost_goes_on_as_long_as_it_comes_further(store: Store) -> None:
    run_id = await sliced(store, f"{QUEUE_OWNER_PREFIX}a")
    async with RunExecutor(store, Tools()) as executor:
        for before, after in (("a", "b"), ("b", "c")):
            assert (
                await executor.heartbeat.take_for_all(
                    run_id, f"{QUEUE_OWNER_PREFIX}{after}", f"{QUEUE_OWNER_PREFIX}{before}"
                )
                == "enrich"
            )
        assert await executor.heartbeat.take_for_all(run_id, f"{QUEUE_OWNER_PREFIX}d", f"{QUEUE_OWNER_PREFIX}c") == ""
        part = await store.slices.claim(run_id, 1, "process/s1")
        await store.slices.keep(
            msgspec.structs.replace(part, done=(1,)),
            await store.proposals.of_run(run_id),
            [],
            [Progress(stage="row_done", row_id=1, done=1, total=2)],
        )
        assert (
            await executor.heartbeat.take_for_all(run_id, f"{QUEUE_OWNER_PREFIX}d", f"{QUEUE_OWNER_PREFIX}c")
            == "enrich"
        )


async def test_a_run_is_cancelled_although_nobody_stops_it(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "GRACE_SECONDS", 0.2)
    async with Services.open(Settings(database_url=database_url)) as services:
        store = services.store
        run_id = await sliced(store, f"{QUEUE_OWNER_PREFIX}lost")
        me = {"id": "w", "kind": "worker", "host": socket.gethostname(), "pid": os.getpid(), "started_at": "2026"}
        await store.database.write(
            lambda connection: connection.execute(insert(schema.workers).values(**me, beat=database_clock(connection)))
        )
        part = await store.slices.claim(run_id, 1, "w/s1")
        await services.jobs.cancel(run_id)
        async with asyncio.timeout(PATIENCE):
            async for _ in services.jobs.watch(run_id):
                pass
        assert (await store.runs.get(run_id)).status == "cancelled"
        assert (await store.slices.claim(run_id, 1, "x/s1")).owner != part.owner
        assert not (await store.runs.get(run_id)).goes_on_as(f"{QUEUE_OWNER_PREFIX}lost")


async def test_nobody_is_taken_for_dead_while_the_database_was_away(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (ownership, workers):
        monkeypatch.setattr(module, "GONE_AFTER_SECONDS", PATIENCE)
    monkeypatch.setattr(ownership, "BEAT_SECONDS", 0.1)
    monkeypatch.setattr(ownership, "GAP_SECONDS", 0.5)
    monkeypatch.setattr(workers, "server_started_at", lambda _: literal(0.0))  # the database, long ago
    with Outage(postgres_url) as line:
        async with await Store.open(line.url, patience=PATIENCE) as store, RunExecutor(store, Tools()) as executor:
            executor.heartbeat.heard_since -= 2 * PATIENCE
            other = {"id": "o", "kind": "worker", "host": "elsewhere", "pid": 1, "started_at": "2026"}
            await store.database.write(
                lambda connection: connection.execute(
                    insert(schema.workers).values(**other, beat=database_clock(connection) - PATIENCE)
                )
            )
            line.cut()
            asking = [asyncio.create_task(executor.heartbeat.alive()) for _ in range(4)]
            await asyncio.sleep(1.0)  # more than a gap
            line.mend()
            for alive in await asyncio.gather(*asking):
                assert {worker.id for worker in alive} == {"o", executor.id}
