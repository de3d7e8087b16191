"""What all tools share: Tablewright, the folders that may be read, and the runs that go on while somebody waits."""

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

T = TypeVar("T")
Call: TypeAlias = Context[Any, Any]
"""The call of a tool, through which its progress is told."""

EVERY = 0.2
"""Seconds between two notes of progress, at least."""
GRACE = 3.0
"""Seconds that runs have to stop in when the server or a call ends, if they need them; clients kill it after about
four."""


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
        if progress.total and progress.total >= self._done:
            reached = min(reached, progress.total)
        if reached > self._told:
            self._told, self._at = reached, time.monotonic()
            total = progress.total if progress.total >= reached else None
            await self._call.report_progress(reached, total, words)


class ToolContext:
    def __init__(self, services: Services, folders: Folders) -> None:
        self.services = services
        self.folders = folders
        self.hide: Callable[[str], str] = str
        """What is done with texts that may say where things lie on this machine; over HTTP others read them."""
        self._begun: set[str] = set()
        self._apart: set[asyncio.Future[Any]] = set()

    async def begun(self, starting: Awaitable[str]) -> str:
        """The run that this starts, remembered. Whoever breaks off the call meanwhile does so once it is known: else
        it would go on, and nobody could stop it."""
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
        """Until the run has ended, telling what it tells. Whoever breaks off the call stops the run."""
        jobs = self.services.jobs
        try:
            async with self.news(call, words) as watch:
                await jobs.wait(run_id, watch, after=after)
        except asyncio.CancelledError:
            with anyio.move_on_after(GRACE, shield=True), suppress(TablewrightError):
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

    async def telling(self, call: Call, work: Callable[[Callable[[Progress], None]], Awaitable[T]]) -> T:
        """Does what tells its progress to a function, and passes that on."""
        async with self.news(call) as watch:
            return await self.apart(work(watch))

    @asynccontextmanager
    async def news(
        self, call: Call, words: Callable[[Progress], str] | None = None
    ) -> AsyncIterator[Callable[[Progress], None]]:
        """The function that passes on to the caller what is told to it."""
        told: asyncio.Queue[Progress | None] = asyncio.Queue()
        teller = Teller(call, words)

        async def pass_on() -> None:
            while (progress := await told.get()) is not None:
                await teller.tell(progress)

        passing = asyncio.create_task(pass_on())
        try:
            yield told.put_nowait
        finally:
            told.put_nowait(None)
            await asyncio.gather(passing, return_exceptions=True)

    async def apart(self, work: Awaitable[T], stop: Callable[[], object] | None = None) -> T:
        """Does it in a task of its own. A call that is broken off has every further wait in it broken off too, even
        those that write down how the work ended: so the work is stopped from here, once, and has time to part. `stop`
        is how, where it need not be cancelled."""
        task = asyncio.ensure_future(work)
        self._apart.add(task)
        task.add_done_callback(self._settle)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            (stop or task.cancel)()
            with anyio.move_on_after(GRACE, shield=True):
                await asyncio.wait([task])
            raise

    def _settle(self, task: asyncio.Future[Any]) -> None:
        self._apart.discard(task)
        if not task.cancelled():
            task.exception()  # nobody may be left whom it could be told

    async def close(self) -> None:
        """Stops what this process still does; what was found is kept, and `control_run` goes on with it."""
        jobs = self.services.jobs
        jobs.stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                for run_id in self._begun:
                    with suppress(TablewrightError):  # it has ended by itself
                        await jobs.cancel(run_id)
                for run_id in self._begun:
                    async for _ in jobs.watch(run_id):
                        pass


def refuse_failed(run: Run) -> None:
    """What went wrong in a run that somebody waited for is an error of the call."""
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


def step_by_step(watch: Callable[[Progress], None]) -> Callable[[Step], None]:
    """For what tells its steps."""
    return lambda step: watch(Progress(stage="working", detail=step.detail))


def begins_round(progress: Progress) -> bool:
    """Of a research."""
    return progress.detail.startswith("round")


def in_words(progress: Progress) -> str:
    stage = progress.stage.replace("_", " ")
    about = ": ".join(filter(None, (progress.label, progress.detail)))
    return f"{stage}: {about}"[:300] if about else stage


# ── files that assistants may have read ─────────────────────────────────────────────────────────────────────────────
# Which files assistants may have read: those in the folders that the owner named, and no others.
#
# An assistant can be talked into things by what it reads. So nothing is open unless the owner said so, and neither
# `..` nor a link leads out of what is.


class Folders:
    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self._folders = tuple(folder.expanduser().resolve() for folder in folders)
        for folder in self._folders:
            if not folder.is_dir():
                raise BadSetting(f"There is no folder {folder}.", advice="--files names folders that exist.")

    def find(self, path: str) -> Path:
        """A file or folder; what is not absolute is looked for in each folder."""
        if not self._folders:
            raise Forbidden(
                "This server may not read files.",
                advice="Its owner can allow a folder: tablewright mcp --files FOLDER. A table may come as CSV text.",
            )
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
        """A link to somewhere else would be read like a file of the folder."""
        for place, _, names in os.walk(folder):
            for name in names:
                file = Path(place) / name
                if file.is_symlink() and not any(file.resolve().is_relative_to(allowed) for allowed in self._folders):
                    raise Forbidden(f"{file} is a link that leads out of the folders that may be read.")
