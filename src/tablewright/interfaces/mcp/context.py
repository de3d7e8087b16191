"""The context that all tools share: the services, the folders that may be read, and the runs that calls wait for."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import anyio
from mcp.server.mcpserver import Context

from tablewright.domain.model import Step
from tablewright.domain.run import Progress, Run
from tablewright.errors import BadSetting, Cancelled, Forbidden, NotFound, RunError, TablewrightError, Unreachable
from tablewright.services import Services

ResultT = TypeVar("ResultT")
# The call of a tool, which takes reports of progress.
Call: TypeAlias = Context[Any, Any]

# Least time between two reports of progress, so that they do not flood the client.
REPORT_SECONDS = 0.2
# Time for runs to stop when the server or a call ends: clients kill the server after about four seconds.
GRACE_SECONDS = 3.0


class ProgressReporter:
    """Report the progress of one call. The protocol requires growing numbers, so between two rows they grow a
    little."""

    def __init__(self, call: Call, words: Callable[[Progress], str] | None = None) -> None:
        self._call = call
        self._words = words or describe_progress
        self._done = 0
        self._steps = 0
        self._reported = 0.0
        self._at = 0.0

    async def report(self, progress: Progress) -> None:
        words = self._words(progress)
        ends = bool(progress.total) and progress.done >= progress.total
        if time.monotonic() - self._at < REPORT_SECONDS and not (ends or begins_round(progress)):
            return
        self._steps = self._steps + 1 if progress.done <= self._done else 0
        self._done = max(self._done, progress.done)
        # Between two rows the number approaches the next one without ever reaching it.
        reached = self._done + self._steps / (self._steps + 10)
        if progress.total and progress.total >= self._done:
            reached = min(reached, progress.total)
        if reached > self._reported:
            self._reported, self._at = reached, time.monotonic()
            total = progress.total if progress.total >= reached else None
            await self._call.report_progress(reached, total, words)


class ToolContext:
    def __init__(self, services: Services, folders: Folders) -> None:
        self.services = services
        self.folders = folders
        self.hide: Callable[[str], str] = str
        """Removes paths of this machine from texts that are sent over HTTP."""
        self._begun: set[str] = set()
        self._shielded: set[asyncio.Future[Any]] = set()

    async def start_run(self, starting: Awaitable[str]) -> str:
        """Start a run, and remember it. A call that is cancelled while the run starts ends only once its id is known;
        otherwise nothing could stop the run."""
        with anyio.CancelScope(shield=True):
            run_id = await starting
            await self.remember(run_id)
        return run_id

    async def remember(self, run_id: str) -> None:
        """Stop the run when this process ends, unless workers do it."""
        if self.services.jobs.is_handed_over(run_id):
            self._begun.discard(run_id)
        else:
            self._begun.add(run_id)

    async def wait(
        self, call: Call, run_id: str, words: Callable[[Progress], str] | None = None, *, after: int = 0
    ) -> Run:
        """Wait until the run has ended, and report its progress. Cancelling the call stops the run."""
        jobs = self.services.jobs
        try:
            async with self.news(call, words) as watch:
                await jobs.wait(run_id, watch, after=after)
        except asyncio.CancelledError:
            with anyio.move_on_after(GRACE_SECONDS, shield=True), suppress(TablewrightError):
                await jobs.cancel(run_id)
            raise
        except Unreachable as away:
            raise Unreachable(
                away.what,
                kept=f"Run {run_id} continues by itself when the database is back.",
                advice=f"Then look at it: list_all runs, or stop it: control_run {run_id}, cancel.",
                public=away.public,
            ) from away
        return await jobs.get(run_id)

    async def report_while(
        self, call: Call, work: Callable[[Callable[[Progress], None]], Awaitable[ResultT]]
    ) -> ResultT:
        """Do work that reports its progress to a function, and report it to the client."""
        async with self.news(call) as watch:
            return await self.run_shielded(work(watch))

    @asynccontextmanager
    async def news(
        self, call: Call, words: Callable[[Progress], str] | None = None
    ) -> AsyncIterator[Callable[[Progress], None]]:
        """Yield a function that passes progress on to the caller."""
        queue: asyncio.Queue[Progress | None] = asyncio.Queue()
        reporter = ProgressReporter(call, words)

        async def pass_on() -> None:
            while (progress := await queue.get()) is not None:
                await reporter.report(progress)

        passing = asyncio.create_task(pass_on())
        try:
            yield queue.put_nowait
        finally:
            queue.put_nowait(None)
            # A client that is gone must not turn finished work into an error.
            await asyncio.gather(passing, return_exceptions=True)

    async def run_shielded(self, work: Awaitable[ResultT], stop: Callable[[], object] | None = None) -> ResultT:
        """Do the work in a task of its own. In a cancelled call every further await is cancelled too, even those that
        record how the work ended; so the work is stopped from here, once, and has time to finish. `stop` does that
        without cancelling."""
        task = asyncio.ensure_future(work)
        self._shielded.add(task)
        task.add_done_callback(self._settle)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            (stop or task.cancel)()
            with anyio.move_on_after(GRACE_SECONDS, shield=True):
                await asyncio.wait([task])
            raise

    def _settle(self, task: asyncio.Future[Any]) -> None:
        self._shielded.discard(task)
        if not task.cancelled():
            task.exception()  # the call may be gone, and asyncio would log an exception that is never retrieved

    async def close(self) -> None:
        """Stop what this process still does. What was found is kept, and `control_run` resumes it."""
        jobs = self.services.jobs
        jobs.stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                for run_id in self._begun:
                    with suppress(TablewrightError):  # it has ended by itself
                        await jobs.cancel(run_id)
                for run_id in self._begun:
                    async for _ in jobs.watch(run_id):
                        pass


def refuse_failed(run: Run) -> None:
    """Raise the problem of a run that the call waited for."""
    if run.status in ("failed", "paused"):
        raise RunError(
            run.error or f"Run {run.id} failed.",
            kept="What it had found is kept.",
            advice=f"Resume it: control_run {run.id}, resume.",
        )
    if run.status == "cancelled" and run.kind != "enrich":
        raise Cancelled(
            f"Run {run.id} was stopped.",
            kept="What it had found is kept.",
            advice=f"Resume it: control_run {run.id}, resume.",
        )


def report_steps(watch: Callable[[Progress], None]) -> Callable[[Step], None]:
    """Return a function that reports steps as progress."""
    return lambda step: watch(Progress(stage="working", detail=step.detail))


def begins_round(progress: Progress) -> bool:
    """Return True for the first event of a round of research."""
    return progress.detail.startswith("round")


def describe_progress(progress: Progress) -> str:
    stage = progress.stage.replace("_", " ")
    about = ": ".join(filter(None, (progress.label, progress.detail)))
    # Clients show it in one line.
    return f"{stage}: {about}"[:300] if about else stage


# ── files that assistants may have read ─────────────────────────────────────────────────────────────────────────────
# What an assistant reads can talk it into things. So only files in folders that the owner named are open, and neither
# `..` nor a link leads out of them.


class Folders:
    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self._folders = tuple(folder.expanduser().resolve() for folder in folders)
        for folder in self._folders:
            if not folder.is_dir():
                raise BadSetting(f"There is no folder {folder}.", advice="--files names folders that exist.")

    def find(self, path: str) -> Path:
        """Return a file or folder; a relative path is searched in each folder."""
        if not self._folders:
            raise Forbidden(
                "This server may not read files.",
                advice="Its owner can allow a folder: tablewright mcp --files FOLDER. A table may come as CSV text.",
            )
        # Resolved before it is compared, so that neither .. nor a link leads out.
        inside = [found for folder in self._folders if (found := (folder / path).resolve()).is_relative_to(folder)]
        if not inside:
            names = ", ".join(map(str, self._folders))
            raise Forbidden(f"{path} is in none of the folders that may be read.", advice=f"These are: {names}.")
        for found in inside:
            if found.exists():
                self._refuse_ways_out(found)
                return found
        raise NotFound(f"There is no {path}.")

    def _refuse_ways_out(self, folder: Path) -> None:
        """Raise Forbidden if a link leads out of the folders: it would be read like a file inside."""
        for place, _, names in os.walk(folder):
            for name in names:
                file = Path(place) / name
                if file.is_symlink() and not any(file.resolve().is_relative_to(allowed) for allowed in self._folders):
                    raise Forbidden(f"{file} is a link that leads out of the folders that may be read.")
