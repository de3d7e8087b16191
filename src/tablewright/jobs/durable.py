"""A durable run, from its beginning to its end, for whoever waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress

from tablewright.domain.feed import Event
from tablewright.engine.fill import Fill
from tablewright.engine.outcome import Filled
from tablewright.engine.progress import Watch, ignore
from tablewright.errors import NotFound, RunError, UsageError
from tablewright.jobs.conductor import Conductor
from tablewright.store.runs import MOST
from tablewright.store.store import Store
from tablewright.store.workers import SILENCE

LOOK = 3.0
"""Seconds between two looks at whether anybody still works on it."""
EVERY = 0.2
"""Seconds between two looks at the feed."""

Submit = Callable[[str, str], Awaitable[bool]]
"""Gives a run, and who had it until now, to the workers; False where there are none."""


class DurableFill:
    """Does what a `Fill` would do, so that another process can go on with it when this one dies. Where workers are up
    they do it, and this only watches."""

    def __init__(
        self,
        store: Store,
        conductor: Conductor,
        fill: Fill,
        *,
        settings: Mapping[str, str],
        submit: Submit,
        watch: Watch,
    ) -> None:
        self._store = store
        self._conductor = conductor
        self._fill = fill
        self._settings = settings
        self._submit = submit
        self._watch = watch
        self._run_id = ""
        self._cancelled = False
        self._stopping: asyncio.Task[None] | None = None

    async def start(self) -> str:
        """The run's id. Nothing is done before it is known to the database, with all that is to be done."""
        self._run_id = await self._fill.begin(self._conductor.id, settings=dict(self._settings))
        return self._run_id

    async def run(self) -> Filled:
        run_id = self._run_id or await self.start()
        if self._cancelled:
            self.cancel()
        try:
            if await self._submit(run_id, self._conductor.id):
                await follow_workers(self._store, self._conductor, run_id, self._watch)
            else:
                await self._do(run_id)
            filled = await self._conductor.outcome(run_id)
        except NotFound as error:
            raise RunError(f"Run {run_id} has stopped: its table was removed.") from error
        if filled.status == "failed":
            run = await self._store.runs.get(run_id)
            raise RunError(
                run.error or f"Run {run_id} failed.",
                kept=f"What it had found is kept in proposal {filled.proposal_id}.",
                advice=f"Resume it: tablewright runs resume {run_id}.",
            )
        return filled

    async def _do(self, run_id: str) -> None:
        watching = asyncio.create_task(tell(self._store, run_id, self._watch))
        try:
            await self._conductor.conduct(run_id)
            await watching
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    def cancel(self) -> None:
        """What was found by then is kept."""
        self._cancelled = True
        if self._run_id:
            self._conductor.stop(self._run_id)
            self._stopping = asyncio.ensure_future(self._ask_to_stop())

    async def _ask_to_stop(self) -> None:
        with suppress(UsageError):  # it has ended by itself
            await self._store.runs.ask_to_stop(self._run_id)


async def follow_workers(store: Store, conductor: Conductor, run_id: str, watch: Watch = ignore) -> None:
    """Until the run ends, or the last of the workers is gone."""
    watching = asyncio.create_task(tell(store, run_id, watch))
    try:
        alone = 0
        while not (await asyncio.wait([watching], timeout=LOOK))[0]:
            alone = 0 if any(worker.serves for worker in await conductor.ownership.alive()) else alone + 1
            if alone * LOOK > SILENCE:
                raise RunError(
                    f"No worker is up any more that works on run {run_id}.",
                    kept="What was found is kept.",
                    advice=f"Start a worker, or go on here: tablewright runs resume {run_id}.",
                )
        await watching
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def tell(store: Store, run_id: str, watch: Watch, *, after: int = 0) -> None:
    async for event in follow(store, run_id, after=after):
        watch(event.progress)


async def follow(store: Store, run_id: str, *, after: int = 0, every: float = EVERY) -> AsyncIterator[Event]:
    """What a run tells, from wherever the reader stopped, until it ends."""
    while True:
        run = await store.runs.get(run_id)
        while events := await store.feed.read(run_id, after=after):
            for event in events:
                yield event
                after = event.number
            if len(events) < MOST:
                break
        if run.status != "running":
            return
        await asyncio.sleep(every)
