"""Findings, steps and events of a run that are not written yet, and writes that a cancelled caller still waits for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from tablewright.domain.model import Attempt, Cell, RowId
from tablewright.domain.proposal import Operation
from tablewright.domain.run import Progress
from tablewright.errors import OverQuota
from tablewright.store.records import now

LARGEST = 2_000
MOST_CHARACTERS = 250_000
"""Of values and quotes that wait to be written: thousands of cells of the longest texts would fill the memory, and a
run is to learn soon that its owner may store no more."""
EVERY = 1.0
TICK = 0.25
"""Seconds after which those who watch a durable run are told what is new."""


@dataclass
class OutboxBatch:
    """What is written together: a row that is said to be done has its cells with it."""

    cells: list[Operation] = field(default_factory=list)
    attempts: list[tuple[RowId, Attempt]] = field(default_factory=list)
    events: list[Progress] = field(default_factory=list)


Write: TypeAlias = Callable[[OutboxBatch, bool], Coroutine[Any, Any, None]]
"""How all of it is written, and whether it is the last. What it says of the run beside is that of the call, not of the
moment in which the database answers: rows go on meanwhile."""


class Outbox:
    def __init__(self, write: Write) -> None:
        self._write = write
        self._waiting = OutboxBatch()
        self._being_written = self._characters = 0
        self._flushed_at, self.now = time.monotonic(), now()
        self._writing = asyncio.Lock()
        self.refused: OverQuota | None = None
        """Why nothing is written any more."""

    def add(self, cell: Operation) -> None:
        self._waiting.cells.append(cell)
        self._characters += text_length(cell.cell)

    def tried(self, row_id: RowId, attempt: Attempt) -> None:
        self._waiting.attempts.append((row_id, attempt))

    def tell(self, news: Progress) -> None:
        """What somebody does at the moment replaces what they did before; each row that is over is told."""
        events = self._waiting.events
        if events and not events[-1].stage.startswith("row_"):
            events.pop()
        events.append(news)

    async def flush_in_time(self) -> None:
        late = time.monotonic() - self._flushed_at > EVERY
        if late or len(self._waiting.cells) + self._being_written >= LARGEST or self._characters > MOST_CHARACTERS:
            await self.flush()

    async def tick(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            if self._waiting.events:
                await self.flush()

    async def flush(self, *, finished: bool = False) -> None:
        """What is written is taken all at once, before anything is waited for. Who is cancelled waits for what he has
        begun to write, so that no older state can come after a newer one."""
        async with self._writing:
            if self.refused is not None:
                raise self.refused
            taken, self._waiting, self._characters = self._waiting, OutboxBatch(), 0
            self._being_written = len(taken.cells)
            self._flushed_at, self.now = time.monotonic(), now()
            await shield_to_completion(self._kept(taken, self._write(taken, finished)))

    async def _kept(self, taken: OutboxBatch, writing: Coroutine[Any, Any, None]) -> None:
        """What could not be written is kept for the next time, but for what may not be stored."""
        try:
            await writing
        except OverQuota as error:
            self.refused = OverQuota(error.what, kept="What was found before is kept.", advice=error.advice)
            raise self.refused from error
        except BaseException:
            waiting = self._waiting
            waiting.cells[:0], waiting.attempts[:0], waiting.events[:0] = taken.cells, taken.attempts, taken.events
            raise
        finally:
            self._being_written = 0


def text_length(cell: Cell) -> int:
    value = cell.value
    texts = value if isinstance(value, list | tuple) else (value,)
    return sum(len(text) for text in texts if isinstance(text, str)) + sum(len(each.quote) for each in cell.evidence)


T = TypeVar("T")


async def shield_to_completion(work: Coroutine[Any, Any, T]) -> T:
    """Run to completion even if the caller is cancelled, however often; the cancellation is raised afterwards.

    For records of how a run ended: a record that is half written would look like a run that goes on forever."""
    task = asyncio.ensure_future(work)
    broken_off: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            broken_off = error
    if broken_off is not None:
        if not task.cancelled():
            task.exception()  # retrieved, because the caller no longer can
        raise broken_off
    return task.result()


async def wait_for_workers(workers: Sequence[asyncio.Task[None]]) -> None:
    """Wait for all workers; if one fails, cancel the others and raise its error, which all would meet: a full disk."""
    try:
        if workers:
            await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for each in workers:
            each.cancel()
        results = await asyncio.gather(*workers, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            raise result
