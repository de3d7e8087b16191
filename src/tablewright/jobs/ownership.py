"""Who has charge of a run: this process, another, all workers together, or nobody alive.

Whoever works on durable runs says every few seconds that it is there. A run whose owner is silent is left, and can be
taken.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager, suppress

from tablewright.domain.access import Acting
from tablewright.domain.run import MOST_SETBACKS, Run
from tablewright.errors import NotFound, RunEnded, TablewrightError, UsageError
from tablewright.store.store import Store
from tablewright.store.workers import QUEUED, SILENCE, Worker, WorkerKind, is_alive, is_gone, new_worker_id
from tablewright.strategies.strategy import Strategy

BEAT = 2.0
"""Seconds between two signs of life."""
GAP = 3 * BEAT
"""Seconds between two signs of life after which the database must have been away in between."""
STUCK = 120.0
"""Seconds after which an event loop that has not turned counts as dead: its process gives no more signs of life."""
LISTEN = 0.4
"""Seconds between two looks at whether one who was silent is there after all."""


class Ownership:
    """Of this process, under its name: `id`."""

    def __init__(self, store: Store, kinds: Collection[str]) -> None:
        """`kinds` are those of work that is done as a whole, and that this process can do."""
        self.id = new_worker_id()
        self.kind: WorkerKind = "command"
        self._store = store
        self._kinds = kinds
        self._taking = asyncio.Lock()
        self.strategies: dict[str, Strategy] = {}
        """Strategies that were given as objects or functions, by run: only this process has them."""
        self._turned = time.monotonic()
        self._heard = -SILENCE
        """When this process last wrote to the database that it is there."""
        self.heard_since = time.monotonic()
        """Since when it has done so without a gap, and so could hear the others."""

    async def beat(self) -> None:
        await self._store.workers.beat(self.id, self.kind)
        self._note_beat()

    def _note_beat(self) -> None:
        now = time.monotonic()
        if now - self._heard > GAP:
            self.heard_since = now
        self._heard = now

    async def serve(self, kind: WorkerKind) -> None:
        """From now on it works on the runs of others too, and they know."""
        self.kind = kind
        await self.beat()

    @asynccontextmanager
    async def living(self) -> AsyncIterator[None]:
        """Gives signs of life, from a thread of its own: however busy the event loop is, or the machine, nobody takes
        this process for dead."""
        over = threading.Event()
        await self.beat()
        beating = threading.Thread(target=self._beat_until, args=(over,), name="signs-of-life", daemon=True)
        turning = asyncio.create_task(self._turn())
        beating.start()
        try:
            yield
        finally:
            over.set()
            turning.cancel()
            await asyncio.to_thread(beating.join)

    def _beat_until(self, over: threading.Event) -> None:
        while not over.wait(BEAT):
            if time.monotonic() - self._turned > STUCK:
                continue
            with suppress(TablewrightError):
                self._store.workers.beat_here(self.id, self.kind)
                self._note_beat()
        with suppress(TablewrightError):
            self._store.workers.leave_here(self.id)

    async def _turn(self) -> None:
        while True:
            self._turned = time.monotonic()
            await asyncio.sleep(BEAT)

    def can_go_on(self, run: Run) -> bool:
        """Return True if this process can continue it."""
        if run.kind != "enrich":
            return run.kind in self._kinds
        return run.is_sliced and (not run.has_own_strategy or run.id in self.strategies)

    async def take(self, run_id: str, settings: Mapping[str, str] | None = None, by: Acting | None = None) -> None:
        """To go on with a run that was interrupted, stopped or failed; with `settings` over those it began with. It
        goes on in the name of `by` if the person who began it may no longer do it."""
        async with self._taking:
            run = await self._store.runs.get(run_id)
            if run.status in ("done", "over_budget"):
                why = "is done" if run.status == "done" else "stopped at its cap"
                advice = "Run the same command again with a new --budget: it continues with the remaining cells."
                raise RunEnded(f"Run {run_id} {why}.", advice="" if run.status == "done" else advice)
            if run.status == "running" and not await self._is_surely_left(run):
                raise being_done(run_id)
            if run.has_own_strategy and not self.can_go_on(run):
                raise UsageError(
                    f"Run {run_id} uses the strategy {run.spec['strategy']!r}, an object or a function of the program "
                    "that started it.",
                    kept="What it found is kept.",
                    advice="Run that program again: it fills the cells that are left.",
                )
            if not self.can_go_on(run):
                raise UsageError(
                    f"Run {run_id} cannot go on: it was not begun as one that can.",
                    advice="Run it again: what was bought is not paid for again.",
                )
            if run.kind == "enrich":
                await self._store.proposals.reopen(await self._store.proposals.of_run(run_id))
            if not await self._store.runs.take(run, self.id, anew=True, settings=settings, by=by):
                raise being_done(run_id)

    async def _is_surely_left(self, run: Run) -> bool:
        """One who has just come waits until it could have heard of whoever is silent."""
        while not await self.is_left(run):
            found = await self._store.workers.all()
            heard = [worker for worker in found if is_alive(worker) and worker.silent <= SILENCE]
            if not is_gone(run.owner, heard):
                return False
            await asyncio.sleep(LISTEN)
        return True

    async def take_for_all(self, run_id: str, owner: str, instead_of: str) -> str:
        """Makes it a run of all workers; its kind, or nothing where somebody else has taken it in the meantime."""
        try:
            run = await self._store.runs.get(run_id)
        except NotFound:  # removed with its table
            return ""
        is_free = run.status == "running" and run.owner in (instead_of, owner)
        is_free &= run.owner == owner or run.setbacks < MOST_SETBACKS
        return run.kind if is_free and await self._store.runs.take(run, owner) else ""

    async def is_left(self, run: Run) -> bool:
        """Whether nobody is alive who works on a run that has not ended."""
        return run.status == "running" and is_gone(run.owner, await self.alive())

    async def alive(self) -> list[Worker]:
        """Who is at work. While the database was away nobody could be heard, and until this process has been heard
        itself again, and for a while after, silence says nothing."""
        found = await self._store.workers.all()
        now = time.monotonic()
        steady = now - self._heard <= GAP and now - self.heard_since > SILENCE
        return [each for each in found if each.id == self.id or is_alive(each, trust_silence=steady)]

    async def left(self) -> list[tuple[str, str]]:
        """The runs that nobody alive works on, and who had them."""
        alive = await self.alive()
        running = await self._store.runs.all(status="running")
        return [(run.id, run.owner) for run in running if is_gone(run.owner, alive) and self.can_go_on(run)]

    async def queued(self) -> list[tuple[str, str]]:
        """The runs that are the workers', and the workflow that hands out each."""
        running = await self._store.runs.all(status="running")
        return [(run.id, run.owner.removeprefix(QUEUED)) for run in running if run.owner.startswith(QUEUED)]


def being_done(run_id: str) -> UsageError:
    return UsageError(f"Run {run_id} is being worked on.", advice=f"Watch it: tablewright runs watch {run_id}.")
