"""A worker: does slices from the queue until it is asked to stop, and takes over the work of dead processes."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from dbos._error import DBOSException
from sqlalchemy.exc import SQLAlchemyError

from tablewright.errors import TablewrightError
from tablewright.jobs import queue
from tablewright.jobs.executor import RunExecutor
from tablewright.store.store import Store
from tablewright.store.workers import WorkerKind

log = logging.getLogger(__name__)

LOOK = 2.0
"""Seconds between two looks for dead processes."""
KEPT = timedelta(days=7)
"""The queue keeps finished workflows for this long; the runs themselves are kept elsewhere."""
FORGET = 600.0
"""Seconds between two deletions of finished workflows."""


async def work(
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
    await queue.join(database, executor, everywhere=everywhere)
    ending = asyncio.create_task(end_waiting(store, stop))
    try:
        await executor.ownership.serve(kind)
        forgot = -FORGET
        while not stop.is_set():
            try:
                await look_after(store, executor)
                if time.monotonic() - forgot > FORGET:
                    await forget(store)
                    forgot = time.monotonic()
            except (TablewrightError, SQLAlchemyError, DBOSException) as error:
                log.warning("Could not look after the queue, and try again: %s", error)
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), LOOK)
        await executor.drain()
    finally:
        await queue.leave()
        ending.cancel()


async def end_waiting(store: Store, stop: asyncio.Event) -> None:
    await stop.wait()
    await store.database.hurry_when_away(also=queue.stop_waiting)


async def forget(store: Store) -> None:
    await asyncio.to_thread(queue.forget, datetime.now(UTC) - KEPT)
    if store.shared_limits is not None:
        await store.shared_limits.forget(KEPT.total_seconds())


async def look_after(store: Store, executor: RunExecutor) -> None:
    """Take over from dead processes. The living are read last: the database may have been away in between."""
    executors = await asyncio.to_thread(queue.executors)
    known = {worker.id for worker in await store.workers.all()}
    left = await executor.ownership.left()
    alive = {worker.id for worker in await executor.ownership.alive()}
    await asyncio.to_thread(queue.take_over, executors - alive, left)
    await asyncio.to_thread(queue.begin_abandoned)
    for run_id, workflow_id in await asyncio.to_thread(queue.begin_unended, await executor.ownership.queued()):
        await executor.lose(run_id, workflow_id)
    if gone := known - alive:
        log.warning("Gone: %s. Their work continues.", ", ".join(sorted(gone)))
        await store.workers.leave(gone)
