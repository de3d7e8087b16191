"""The owner of a run: this process, another, or all workers together; an owner may be dead.

A process that works on runs sends a heartbeat every few seconds. A run whose owner is silent can be taken. Each step
checks that the user of the run may still do it, and holds its dollars in the ledger.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager, suppress

from tablewright.domain.access import ActingUser
from tablewright.domain.run import MAX_SETBACKS, PERSON, Run, measure_usage
from tablewright.engine.write_buffer import shield_to_completion
from tablewright.errors import AuthorityLost, NotFound, RunEnded, TablewrightError, UsageError
from tablewright.llm.budget import Allowance, current_allowance, use_allowance
from tablewright.store.ledger import DollarHold, this_month
from tablewright.store.records import new_id
from tablewright.store.store import Store
from tablewright.store.workers import (
    GONE_AFTER_SECONDS,
    QUEUE_OWNER_PREFIX,
    Worker,
    WorkerKind,
    is_owner_dead,
    is_owner_gone,
    is_worker_alive,
    new_worker_id,
)
from tablewright.strategies.strategy import Strategy

# Seconds between two heartbeats.
BEAT_SECONDS = 2.0
# A longer gap, in seconds, between two heartbeats means that the database was away.
GAP_SECONDS = 3 * BEAT_SECONDS


class Heartbeat:
    """The runs that this process owns, and its heartbeat, under its name `id`."""

    def __init__(self, store: Store, kinds: Collection[str]) -> None:
        """`kinds` are those of runs without slices that this process can do."""
        self.id = new_worker_id()
        self.kind: WorkerKind = "command"
        self._store = store
        self._kinds = kinds
        self._taking = asyncio.Lock()
        self.strategies: dict[str, Strategy] = {}
        """Strategies that were given as objects or functions, by run: only this process has them."""
        self._turned = time.monotonic()
        self._heard = -GONE_AFTER_SECONDS
        """Time of the last heartbeat written."""
        self.heard_since = time.monotonic()
        """Start of the heartbeats without a gap; since then this process could see those of others."""

    async def beat(self) -> None:
        await self._store.workers.beat(self.id, self.kind)
        self._note_beat()

    def _note_beat(self) -> None:
        now = time.monotonic()
        if now - self._heard > GAP_SECONDS:
            self.heard_since = now
        self._heard = now

    async def serve(self, kind: WorkerKind) -> None:
        """Announce that this process works on the runs of others too."""
        self.kind = kind
        await self.beat()

    @asynccontextmanager
    async def living(self) -> AsyncIterator[None]:
        """Send heartbeats from a separate thread, so that a busy event loop is not taken for dead."""
        over = threading.Event()
        await self.beat()
        # A daemon, because a heartbeat must not keep a process alive that is to end.
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
        while not over.wait(BEAT_SECONDS):
            # Seconds after which a stuck event loop counts as dead. Longer: a hung process keeps its runs; shorter: a
            # long computation in the loop counts as death.
            if time.monotonic() - self._turned > 120.0:
                continue
            with suppress(TablewrightError):
                self._store.workers.beat_here(self.id, self.kind)
                self._note_beat()
        with suppress(TablewrightError):
            # A process that says goodbye is not waited for until its silence counts as death.
            self._store.workers.leave_here(self.id)

    async def _turn(self) -> None:
        while True:
            self._turned = time.monotonic()
            await asyncio.sleep(BEAT_SECONDS)

    def can_go_on(self, run: Run) -> bool:
        """Return True if this process can continue it."""
        if run.kind != "enrich":
            return run.kind in self._kinds
        return run.is_sliced and (not run.has_own_strategy or run.id in self.strategies)

    async def take(self, run_id: str, settings: Mapping[str, str] | None = None, by: ActingUser | None = None) -> None:
        """Take a run that was interrupted, stopped, paused or failed, to continue it with `settings` over its own. It
        continues in the name of `by` if the user who started it may no longer run it."""
        async with self._taking:
            run = await self._store.runs.get(run_id)
            if run.status in ("done", "over_budget"):
                why = "is done" if run.status == "done" else "stopped at its cap"
                advice = "Run the same command again with a new --budget: it continues with the remaining cells."
                raise RunEnded(f"Run {run_id} {why}.", advice="" if run.status == "done" else advice)
            if run.status == "running" and not await self._is_surely_left(run):
                raise busy_run_error(run_id)
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
                # Before the run is taken: a run that is taken must be able to write into its proposal.
                await self._store.proposals.reopen(await self._store.proposals.of_run(run_id))
            if not await self._store.runs.take_over(run, self.id, restart=True, settings=settings, by=by):
                raise busy_run_error(run_id)

    async def _is_surely_left(self, run: Run) -> bool:
        """Return True if the owner is dead. A process that has just started first listens for heartbeats."""
        while not await self.is_left(run):
            found = await self._store.workers.all()
            heard = [worker for worker in found if is_worker_alive(worker) and worker.silent <= GONE_AFTER_SECONDS]
            if not is_owner_gone(run.owner, heard):
                return False
            # A fraction of the seconds between two heartbeats, so that resuming does not wait for long.
            await asyncio.sleep(0.4)
        return True

    async def take_for_all(self, run_id: str, owner: str, instead_of: str) -> str:
        """Give the run to all workers. Return its kind, or "" if another process has taken it."""
        try:
            run = await self._store.runs.get(run_id)
        except NotFound:
            # Removed with its table.
            return ""
        is_free = run.status == "running" and run.owner in (instead_of, owner)
        # The workers may continue their own run; a run that killed two other owners is not passed on to them.
        is_free &= run.owner == owner or run.setbacks < MAX_SETBACKS
        return run.kind if is_free and await self._store.runs.take_over(run, owner) else ""

    async def is_left(self, run: Run) -> bool:
        """Return True if the run has not ended and its owner is dead."""
        return run.status == "running" and is_owner_gone(run.owner, await self.alive())

    async def alive(self) -> list[Worker]:
        """Return the living workers. Silence counts as death only if this process has itself been heard without a gap
        for a while: no heartbeat arrives while the database is away."""
        found = await self._store.workers.all()
        now = time.monotonic()
        # Both: heard just now, and without a gap for as long as silence must last to count.
        steady = now - self._heard <= GAP_SECONDS and now - self.heard_since > GONE_AFTER_SECONDS
        return [each for each in found if each.id == self.id or is_worker_alive(each, trust_silence=steady)]

    async def left(self) -> list[tuple[str, str]]:
        """Return the runs of dead owners, each with its owner."""
        alive = await self.alive()
        running = await self._store.runs.all(status="running")
        return [(run.id, run.owner) for run in running if is_owner_gone(run.owner, alive) and self.can_go_on(run)]

    async def queued(self) -> list[tuple[str, str]]:
        """Return the runs of the workers, each with the workflow that hands out its slices."""
        running = await self._store.runs.all(status="running")
        return [
            (run.id, run.owner.removeprefix(QUEUE_OWNER_PREFIX))
            for run in running
            if run.owner.startswith(QUEUE_OWNER_PREFIX)
        ]


def busy_run_error(run_id: str) -> UsageError:
    return UsageError(f"Run {run_id} is being worked on.", advice=f"Watch it: tablewright runs watch {run_id}.")


async def check_authority(store: Store, run: Run) -> None:
    """Raise AuthorityLost if the run's user may no longer run it."""
    lost = await store.users.lost_authority(run.person, run.table_id)
    if not lost:
        return
    # A schedule began it.
    if PERSON in run.spec:
        raise AuthorityLost(explain_paused_schedule(lost))
    others = "An editor of the table, or an admin," if run.table_id else "An admin"
    raise AuthorityLost(
        f"Paused: {lost}.", kept="What was found by then is kept.", advice=f"{others} can resume it in their own name."
    )


def explain_paused_schedule(lost: str) -> str:
    """Return the message about a schedule whose author may no longer run it."""
    return f"Paused: {lost}. An editor of the table takes the schedule over by setting it again."


@asynccontextmanager
async def open_user_allowance(store: Store, user: str, ownership: Heartbeat) -> AsyncIterator[Allowance | None]:
    """Charge what is bought inside to this user: hold dollars before they are spent, and settle when the work ends.
    Nested work shares the allowance around it; without a user there is none."""
    if not user or current_allowance() is not None:
        yield current_allowance()
        return
    hold = DollarHold(id=new_id("w"), user_id=user, owner=ownership.id, month=this_month())

    async def hold_more(needed: float, spent: float) -> float:
        more = await store.ledger.hold_dollars(hold, needed, spent)
        # Dollars that dead processes hold are released only when they are needed: it takes a look at all workers.
        if more or not await release_lost_holds(store, user):
            return more
        return await store.ledger.hold_dollars(hold, needed, spent)

    allowance = Allowance(hold.id, hold_more, await store.ledger.describe_dollar_limit(user))
    try:
        with use_allowance(allowance), measure_usage() as meter:
            yield allowance
    finally:
        await shield_to_completion(store.ledger.settle_dollars(hold, meter.usage.cost_usd))


async def release_lost_holds(store: Store, user: str) -> bool:
    """Release the dollars of a user that dead processes held. Return True if there were any."""
    workers = await store.workers.all()
    lost = [owner for owner in await store.ledger.holders(user) if is_owner_dead(owner, workers)]
    if lost:
        await store.ledger.release_holds(user, lost)
    return bool(lost)
