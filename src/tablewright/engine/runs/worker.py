"""A worker: does slices from the queue until it is asked to stop, and takes over the work of dead processes."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from dbos._error import DBOSException
from sqlalchemy.exc import SQLAlchemyError

from tablewright.engine.runs import queue
from tablewright.engine.runs.executor import RunExecutor
from tablewright.errors import TablewrightError
from tablewright.store.store import Store
from tablewright.store.workers import WorkerKind

log = logging.getLogger(__name__)

# Seconds between two looks for dead processes.
LOOK_SECONDS = 2.0
# The queue keeps finished workflows for this long; the runs themselves are kept elsewhere.
KEPT_WORKFLOWS = timedelta(days=7)
# Seconds between two deletions of finished workflows.
DELETE_SECONDS = 600.0


async def run_worker_loop(
    store: Store,
    executor: RunExecutor,
    database: str,
    stop: asyncio.Event,
    *,
    kind: WorkerKind = "worker",
    everywhere: int | None = None,
) -> None:
    """Work until `stop` is set, then finish the rows in progress. What cannot be written because the database is away
    is done again by another process."""
    await queue.join_queue(database, executor, everywhere=everywhere)
    # In a task next to the loop, which may itself be waiting for the database.
    ending = asyncio.create_task(end_waiting(store, stop))
    try:
        await executor.heartbeat.serve(kind)
        # Delete at the first look too: a worker that is restarted often would never delete.
        forgot = -DELETE_SECONDS
        while not stop.is_set():
            try:
                await take_over_dead(store, executor)
                if time.monotonic() - forgot > DELETE_SECONDS:
                    await delete_old_records(store)
                    forgot = time.monotonic()
            except (TablewrightError, SQLAlchemyError, DBOSException) as error:
                log.warning("Could not look after the queue, and try again: %s", error)
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), LOOK_SECONDS)
        await executor.drain()
    finally:
        await queue.leave_queue()
        ending.cancel()


async def end_waiting(store: Store, stop: asyncio.Event) -> None:
    await stop.wait()
    await store.database.stop_waiting_when_away(also=queue.stop_waiting)


async def delete_old_records(store: Store) -> None:
    await asyncio.to_thread(queue.delete_finished_workflows, datetime.now(UTC) - KEPT_WORKFLOWS)
    if store.shared_limits is not None:
        await store.shared_limits.forget(KEPT_WORKFLOWS.total_seconds())


async def take_over_dead(store: Store, executor: RunExecutor) -> None:
    """Take over from dead processes. The living are read last: the database may have been away in between."""
    # Every step runs in a thread, because DBOS blocks.
    executors = await asyncio.to_thread(queue.list_executors)
    known = {worker.id for worker in await store.workers.all()}
    left = await executor.heartbeat.left()
    alive = {worker.id for worker in await executor.heartbeat.alive()}
    await asyncio.to_thread(queue.take_over, executors - alive, left)
    await asyncio.to_thread(queue.restart_abandoned)
    for run_id, workflow_id in await asyncio.to_thread(queue.restart_unended, await executor.heartbeat.queued()):
        await executor.lose(run_id, workflow_id)
    if gone := known - alive:
        log.warning("Gone: %s. Their work continues.", ", ".join(sorted(gone)))
        await store.workers.leave(gone)
