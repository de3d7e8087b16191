"""Parse files in worker processes, several at once. A file that crashes, hangs or fills its worker affects no other."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from typing_extensions import TypeVar

from tablewright.documents.parse.parser import parse_file
from tablewright.errors import Unreadable
from tablewright.extraction.layout.draft import Parsed
from tablewright.sandbox.limits import SandboxLimits
from tablewright.sandbox.sandbox import DEFAULT_LIMITS, Sandbox

T = TypeVar("T", default=Parsed)

Outcome: TypeAlias = tuple[Path, T | Unreadable]


async def parse_files(
    paths: Sequence[Path],
    *,
    workers: int = 0,
    limits: SandboxLimits = DEFAULT_LIMITS,
    read: Callable[[str, int], T] = parse_file,  # type: ignore[assignment]
) -> AsyncIterator[Outcome[T]]:
    """Yield each file as soon as `read` has returned for its path and the maximum size in bytes.

    Ending or cancelling the iteration ends the workers at once."""
    waiting = iter(paths)
    # Workers pause until results are taken.
    finished: asyncio.Queue[Outcome[T] | None] = asyncio.Queue(maxsize=2)
    count = min(workers or os.cpu_count() or 1, len(paths))
    async with Sandbox(limits, workers=count or 1) as sandbox:
        tasks = [asyncio.create_task(_parse_waiting(waiting, finished, sandbox, limits, read)) for _ in range(count)]
        running = count
        try:
            while running:
                outcome = await finished.get()
                if outcome is None:
                    running -= 1
                else:
                    yield outcome
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _parse_waiting(
    waiting: Iterator[Path],
    finished: asyncio.Queue[Outcome[T] | None],
    sandbox: Sandbox,
    limits: SandboxLimits,
    read: Callable[[str, int], T],
) -> None:
    try:
        for path in waiting:
            outcome: T | Unreadable
            try:
                outcome = await sandbox.run(path.name, read, str(path), limits.size)
            except Unreadable as problem:
                outcome = problem
            await finished.put((path, outcome))
        await finished.put(None)
    except Exception:
        await finished.put(None)
        raise
