"""A worker: takes slices from the queue until it is told to stop, and takes over what those left who died."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from tablewright.errors import TablewrightError
from tablewright.jobs import queue
from tablewright.jobs.conductor import Conductor
from tablewright.store.store import Store

log = logging.getLogger(__name__)

LOOK = 2.0
"""Seconds between two looks at who died."""


async def work(
    store: Store, conductor: Conductor, database: str, stop: asyncio.Event, *, everywhere: int | None = None
) -> None:
    """Until `stop` is set; what is under way then is done to the end of its rows."""
    await queue.join(database, conductor, everywhere=everywhere)
    try:
        while not stop.is_set():
            with suppress(TablewrightError):
                await look_after(store, conductor)
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), LOOK)
        await conductor.drain()
    finally:
        await queue.leave()


async def look_after(store: Store, conductor: Conductor) -> None:
    known = {worker.id for worker in await store.workers.all()}
    alive = {worker.id for worker in await conductor.alive()}
    await asyncio.to_thread(queue.take_over, alive, await conductor.left())
    if gone := known - alive:
        log.warning("Gone: %s. What they had begun goes on.", ", ".join(sorted(gone)))
        await store.workers.leave(gone)
