"""Runs without slices, each done by one process: reading documents, rechecking, finding rows, research, schedules."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from tablewright.domain.run import MOST_SETBACKS, Meter, Run, RunStatus, Usage, metered
from tablewright.engine.outbox import shield_to_completion
from tablewright.errors import AuthorityLost, Cancelled, OverBudget, RunError, TablewrightError, unforeseen
from tablewright.jobs.kinds import RunContext, Work
from tablewright.jobs.ownership import Ownership, allowance_of, check_authority
from tablewright.models.budget import Allowance
from tablewright.observe import working_on
from tablewright.store.records import new_id
from tablewright.store.store import Store

T = TypeVar("T")

RESUME = "tablewright runs resume"
NEWS = 0.4
"""Seconds between two writes of new events."""
AUTHORITY = 5.0
"""Seconds between two checks that the run's user may still run it."""


@dataclass
class Doing:
    """A run in progress in this process."""

    context: RunContext
    task: asyncio.Future[Any] | None = None
    over: asyncio.Event = field(default_factory=asyncio.Event)
    is_lost: bool = False
    """Another process has taken it."""
    refused: AuthorityLost | None = None
    """Set if the run's user may no longer run it."""

    def stop(self) -> None:
        self.context.stopped = True
        if self.context.on_stop is not None:
            self.context.on_stop()
        else:
            self.break_off()

    def break_off(self) -> None:
        if self.task is not None:
            self.task.cancel()


class BackgroundRunner:
    """Does the runs of this process that have no slices."""

    def __init__(self, store: Store, ownership: Ownership) -> None:
        self._store = store
        self._ownership = ownership
        self._doing: dict[str, Doing] = {}
        self._draining = False

    @property
    def run_ids(self) -> tuple[str, ...]:
        return tuple(self._doing)

    def stop(self, run_id: str) -> None:
        if doing := self._doing.get(run_id):
            doing.stop()

    def drain(self) -> None:
        """Stop runs without ending them; another process resumes them."""
        self._draining = True
        for doing in self._doing.values():
            doing.stop()

    async def do(self, context: RunContext, work: Work) -> Any:
        async with allowance_of(self._store, context.run.person, self._ownership) as allowance:
            return await self._do(Doing(context), work, allowance)

    async def _do(self, doing: Doing, work: Work, allowance: Allowance | None) -> Any:
        context, run = doing.context, doing.context.run
        started, meter, holder = time.monotonic(), Meter(), f"{self._ownership.id}/{new_id('h')}"

        def used() -> Usage:
            return run.usage + meter.usage + Usage(seconds=round(time.monotonic() - started, 3))

        if await self._store.runs.hold(run.id, holder) >= MOST_SETBACKS:
            why = set_aside("it")
            await self._store.runs.finish(run.id, "failed", run.usage, why, holder=holder)
            raise RunError(why, advice=f"Resume it: {RESUME} {run.id}.")
        with metered(meter):
            task = asyncio.ensure_future(working(run, self._authorised(doing, work)))
        telling = asyncio.create_task(self._pass_on(run.id, holder, doing, used, allowance))
        doing.task = task
        self._doing[run.id] = doing
        status: RunStatus = "failed"
        problem: str | None = None
        try:
            result = await task
            over = allowance is not None and allowance.exhausted
            status = "cancelled" if context.stopped else "over_budget" if over else "done"
            return result
        except asyncio.CancelledError:
            status = "cancelled"
            waiting = asyncio.current_task()
            if waiting is not None and waiting.cancelling():  # the caller was cancelled, not the work
                raise
            if doing.refused is not None:
                status, problem = "paused", str(doing.refused)
                raise doing.refused from None
            if doing.is_lost:
                raise Cancelled(f"Run {run.id} is done by somebody else by now.") from None
            raise Cancelled(
                f"Run {run.id} was stopped.",
                kept="What it had come to is kept.",
                advice=f"Resume it: {RESUME} {run.id}.",
            ) from None
        except Exception as error:
            status = ending_of(error)
            problem = str(error) if isinstance(error, TablewrightError) else unforeseen(error)
            raise
        finally:
            doing.over.set()
            try:
                await shield_to_completion(self._end(run.id, holder, doing, status, problem, used, telling))
            finally:
                del self._doing[run.id]

    async def _authorised(self, doing: Doing, work: Work) -> Any:
        """Do the work while the run's user may run it, checked before and during the work."""
        await check_authority(self._store, doing.context.run)
        watching = asyncio.create_task(self._watch_authority(doing))
        try:
            return await work(doing.context)
        finally:
            watching.cancel()

    async def _watch_authority(self, doing: Doing) -> None:
        while doing.refused is None:
            await asyncio.sleep(AUTHORITY)
            try:
                await check_authority(self._store, doing.context.run)
            except AuthorityLost as lost:
                doing.refused = lost
                doing.break_off()
            except TablewrightError:  # the database is away; it is checked again
                continue

    async def _end(
        self,
        run_id: str,
        holder: str,
        doing: Doing,
        status: RunStatus,
        problem: str | None,
        used: Callable[[], Usage],
        telling: asyncio.Task[None],
    ) -> None:
        await asyncio.gather(telling, return_exceptions=True)
        if self._draining:
            await self._store.runs.let_go(run_id, holder)
        else:
            spec: dict[str, Any] | None = {} if doing.context.forgets else None
            await self._store.runs.finish(run_id, status, used(), problem, spec=spec, holder=holder)

    async def _pass_on(
        self, run_id: str, holder: str, doing: Doing, used: Callable[[], Usage], allowance: Allowance | None
    ) -> None:
        """Write events and usage until the run is over. It is never cancelled: a cancelled write may have happened."""
        is_last, told, news = False, Usage(), doing.context.news
        while not is_last:
            with suppress(TimeoutError):
                await asyncio.wait_for(doing.over.wait(), NEWS)
            is_last, some, usage = doing.over.is_set(), tuple(news), used()
            if not some and msgspec.structs.replace(usage, seconds=told.seconds) == told:
                continue
            told = usage
            spent = allowance.spent_so_far if allowance is not None else None
            if not await self._store.runs.tell(run_id, holder, some, usage, spent) and not is_last:
                doing.is_lost = True
                doing.break_off()
            del news[: len(some)]


async def working(run: Run, work: Awaitable[T]) -> T:
    with working_on(run.id):
        return await work


def ending_of(error: Exception) -> RunStatus:
    if isinstance(error, Cancelled):
        return "cancelled"
    return (
        "paused" if isinstance(error, AuthorityLost) else "over_budget" if isinstance(error, OverBudget) else "failed"
    )


def set_aside(what: str) -> str:
    """Return why a run is not tried again unless a person resumes it."""
    return (
        f"Set aside: two processes died, one after the other, while they worked on {what}. What was found is kept. "
        "Resume the run to try once more."
    )
