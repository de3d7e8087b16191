"""Runs without slices, each done by one process: reading documents, rechecking, finding rows, research, schedules."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

import msgspec

from tablewright.domain.run import MAX_SETBACKS, PAUSED_PROBLEM, Run, RunStatus, Usage, UsageMeter, measure_usage
from tablewright.engine.runs.kinds import RunContext, Work
from tablewright.engine.runs.ownership import Heartbeat, check_authority, open_user_allowance
from tablewright.engine.write_buffer import shield_to_completion
from tablewright.errors import AuthorityLost, Cancelled, NotFound, OverBudget, RunError, TablewrightError, unforeseen
from tablewright.llm.budget import Allowance
from tablewright.observe import working_on
from tablewright.store.records import new_id
from tablewright.store.store import Store

T = TypeVar("T")

WriteEnd: TypeAlias = Callable[[str, Callable[[], Awaitable[None]]], Awaitable[None]]

# Seconds between two checks that the run's user may still run it.
AUTHORITY_SECONDS = 5.0


@dataclass
class BackgroundRun:
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

    def __init__(self, store: Store, heartbeat: Heartbeat, write_end: WriteEnd) -> None:
        """`write_end` writes the end of a run, and again later if that fails."""
        self._store = store
        self._heartbeat = heartbeat
        self._write_end = write_end
        self._doing: dict[str, BackgroundRun] = {}
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
        async with open_user_allowance(self._store, context.run.person, self._heartbeat) as allowance:
            return await self._do(BackgroundRun(context), work, allowance)

    async def _do(self, doing: BackgroundRun, work: Work, allowance: Allowance | None) -> Any:
        context, run = doing.context, doing.context.run
        started, meter, holder = time.monotonic(), UsageMeter(), f"{self._heartbeat.id}/{new_id('h')}"

        def used() -> Usage:
            return run.usage + meter.usage + Usage(seconds=round(time.monotonic() - started, 3))

        # Each holder has an id of its own: a run that comes back to the same process must not be written by its past.
        if await self._store.runs.set_holder(run.id, holder) >= MAX_SETBACKS:
            why = explain_set_aside("it")
            await self._store.runs.finish(run.id, "failed", run.usage, why, holder=holder)
            raise RunError(why, advice=f"Resume it: tablewright runs resume {run.id}.")
        with measure_usage(meter):
            task = asyncio.ensure_future(work_observed(run, self._authorised(doing, work)))
        # Started before the first await on the work, so that even a short run has its events.
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
            # The caller was cancelled, not the work.
            if waiting is not None and waiting.cancelling():
                raise
            if doing.refused is not None:
                status, problem = "paused", str(doing.refused)
                raise doing.refused from None
            if doing.is_lost:
                raise Cancelled(f"Another process has taken run {run.id}.") from None
            raise Cancelled(
                f"Run {run.id} was stopped.",
                kept="What it had come to is kept.",
                advice=f"Resume it: tablewright runs resume {run.id}.",
            ) from None
        except Exception as error:
            status = status_after_error(error)
            problem = str(error) if isinstance(error, TablewrightError) else unforeseen(error)
            raise
        finally:
            doing.over.set()
            try:
                await shield_to_completion(self._end(run.id, holder, doing, status, problem, used, telling))
            finally:
                del self._doing[run.id]

    async def _authorised(self, doing: BackgroundRun, work: Work) -> Any:
        """Do the work while the run's user may run it, checked before and during the work."""
        await check_authority(self._store, doing.context.run)
        # A user may lose the table while a long run is in progress.
        watching = asyncio.create_task(self._watch_authority(doing))
        try:
            return await work(doing.context)
        finally:
            watching.cancel()

    async def _watch_authority(self, doing: BackgroundRun) -> None:
        while doing.refused is None:
            await asyncio.sleep(AUTHORITY_SECONDS)
            try:
                await check_authority(self._store, doing.context.run)
            except AuthorityLost as lost:
                doing.refused = lost
                doing.break_off()
            except TablewrightError:
                # The database is away; it is checked again.
                continue

    async def _end(
        self,
        run_id: str,
        holder: str,
        doing: BackgroundRun,
        status: RunStatus,
        problem: str | None,
        used: Callable[[], Usage],
        telling: asyncio.Task[None],
    ) -> None:
        # The last events are written before the end: watchers stop reading at the end.
        await asyncio.gather(telling, return_exceptions=True)
        if self._draining:
            # It has not ended: another process continues it, and this one did not die with it.
            await self._store.runs.release_holder(run_id, holder)
        else:
            # Pausing is a cancellation whose run is to be resumed; only the database knows which was asked for.
            if status == "cancelled" and await self._is_pausing(run_id):
                status, problem = "paused", PAUSED_PROBLEM
            spec: dict[str, Any] | None = {} if doing.context.forgets else None
            usage = used()

            async def write() -> None:
                await self._store.runs.finish(run_id, status, usage, problem, spec=spec, holder=holder)

            await self._write_end(run_id, write)

    async def _is_pausing(self, run_id: str) -> bool:
        # Removed with its table.
        with suppress(NotFound):
            return (await self._store.runs.get(run_id)).pausing
        return False

    async def _pass_on(
        self, run_id: str, holder: str, doing: BackgroundRun, used: Callable[[], Usage], allowance: Allowance | None
    ) -> None:
        """Write events and usage until the run is over. It is never cancelled: a cancelled write may have happened."""
        is_last, written, news = False, Usage(), doing.context.news
        while not is_last:
            with suppress(TimeoutError):
                # Seconds between two writes. Longer: watchers see news later; shorter: more transactions.
                await asyncio.wait_for(doing.over.wait(), 0.4)
            is_last, some, usage = doing.over.is_set(), tuple(news), used()
            # Seconds pass by themselves; without other news there is nothing to write.
            if not some and msgspec.structs.replace(usage, seconds=written.seconds) == written:
                continue
            written = usage
            spent = allowance.spent_so_far if allowance is not None else None
            # A refused write means another holder; after the end it means only that the run is over.
            if not await self._store.runs.write_progress(run_id, holder, some, usage, spent) and not is_last:
                doing.is_lost = True
                doing.break_off()
            # Only what was written: the work may have added events during the write.
            del news[: len(some)]


async def work_observed(run: Run, work: Awaitable[T]) -> T:
    with working_on(run.id):
        return await work


def status_after_error(error: Exception) -> RunStatus:
    if isinstance(error, Cancelled):
        return "cancelled"
    return (
        "paused" if isinstance(error, AuthorityLost) else "over_budget" if isinstance(error, OverBudget) else "failed"
    )


def explain_set_aside(what: str) -> str:
    """Return why a run is not tried again unless a person resumes it."""
    return (
        f"Set aside: two processes died, one after the other, while they worked on {what}. What was found is kept. "
        "Resume the run to try once more."
    )
