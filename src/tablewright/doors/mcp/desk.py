"""What all tools share: Tablewright, the folders that may be read, and the runs that go on while somebody waits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar

import anyio
from mcp.server.mcpserver import Context

from tablewright.app import Run, Tablewright
from tablewright.doors.mcp.folders import Folders
from tablewright.errors import Cancelled, RunError, TablewrightError
from tablewright.table.feed import Progress

T = TypeVar("T")
Call: TypeAlias = Context[Any, Any]
"""The call of a tool, through which its progress is told."""

EVERY = 0.2
"""Seconds between two notes of progress, at least."""
PARTING = 3.0
"""Seconds that runs have to stop in when the server ends, if they need them; clients kill it after about four."""


class Teller:
    """Tells the progress of one call. The protocol wants numbers that grow, so between two rows they creep."""

    def __init__(self, call: Call, words: Callable[[Progress], str] | None = None) -> None:
        self._call = call
        self._words = words or in_words
        self._done = 0
        self._steps = 0
        self._told = 0.0
        self._at = 0.0

    async def tell(self, progress: Progress) -> None:
        words = self._words(progress)
        ends = bool(progress.total) and progress.done >= progress.total
        if time.monotonic() - self._at < EVERY and not (ends or begins_round(progress)):
            return
        self._steps = self._steps + 1 if progress.done <= self._done else 0
        self._done = max(self._done, progress.done)
        reached = self._done + self._steps / (self._steps + 10)
        if progress.total >= self._done:
            reached = min(reached, progress.total)
        if reached > self._told:
            self._told, self._at = reached, time.monotonic()
            total = progress.total if progress.total >= reached else None
            await self._call.report_progress(reached, total, words)


class Desk:
    def __init__(self, tablewright: Tablewright, folders: Folders) -> None:
        self.tablewright = tablewright
        self.folders = folders
        self._begun: set[str] = set()

    async def begun(self, run_id: str) -> str:
        """Remembers it as a run that ends with this process, unless there are workers, who do it."""
        if not any(worker.kind in ("worker", "server") for worker in await self.tablewright.jobs.workers()):
            self._begun.add(run_id)
        return run_id

    async def wait(
        self, call: Call, run_id: str, words: Callable[[Progress], str] | None = None, *, after: int = 0
    ) -> Run:
        """Until the run has ended, telling what it tells. Whoever breaks off the call stops the run."""
        jobs = self.tablewright.jobs
        teller = Teller(call, words)
        try:
            async for event in jobs.watch(run_id, after=after):
                await teller.tell(event.progress)
        except asyncio.CancelledError:
            with anyio.move_on_after(PARTING, shield=True), suppress(TablewrightError):
                await jobs.cancel(run_id)
            raise
        return await jobs.get(run_id)

    async def telling(self, call: Call, work: Callable[[Callable[[Progress], None]], Awaitable[T]]) -> T:
        """Does what tells its progress to a function, and passes that on."""
        news: asyncio.Queue[Progress | None] = asyncio.Queue()
        teller = Teller(call)

        async def pass_on() -> None:
            while (progress := await news.get()) is not None:
                await teller.tell(progress)

        passing = asyncio.create_task(pass_on())
        try:
            return await work(news.put_nowait)
        finally:
            news.put_nowait(None)
            await asyncio.gather(passing, return_exceptions=True)

    async def close(self) -> None:
        """Stops what this process still does; what was found is kept, and `resume_run` goes on with it."""
        jobs = self.tablewright.jobs
        jobs.stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(PARTING):
                for run_id in self._begun:
                    with suppress(TablewrightError):  # it has ended by itself
                        await jobs.cancel(run_id)
                for run_id in self._begun:
                    async for _ in jobs.watch(run_id):
                        pass


def refuse_failed(run: Run) -> None:
    """What went wrong in a run that somebody waited for is an error of the call."""
    if run.status == "failed":
        raise RunError(
            run.error or f"Run {run.id} failed.",
            kept="What it had found is kept.",
            advice=f"Go on with it: resume_run {run.id}.",
        )
    if run.status == "cancelled" and run.kind != "enrich":
        raise Cancelled(
            f"Run {run.id} was stopped.", kept="What it had found is kept.", advice=f"Go on: resume_run {run.id}."
        )


def begins_round(progress: Progress) -> bool:
    """Of a research."""
    return progress.detail.startswith("round")


def in_words(progress: Progress) -> str:
    stage = progress.stage.replace("_", " ")
    about = ": ".join(filter(None, (progress.label, progress.detail)))
    return f"{stage}: {about}"[:300] if about else stage
