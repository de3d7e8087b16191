"""The write buffer of a run: findings, attempts and events that are stored together, in batches.

It also has the two ways in which the engine waits: for writes that a cancelled caller must not cut off, and for a group
of workers. It knows nothing of strategies; `fill.py` and the runs use it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from tablewright.domain.model import Attempt, Cell, RowId
from tablewright.domain.proposal import ProposedCell
from tablewright.domain.run import Progress
from tablewright.errors import OverQuota
from tablewright.store.records import utc_now

# A transaction of more cells would block other writers of a SQLite file for too long.
MAX_BUFFERED_CELLS = 2_000
# Characters of values and quotes: thousands of cells with the longest texts would fill the memory, and a run should
# notice soon that its owner may store no more.
MAX_BUFFERED_CHARACTERS = 250_000


@dataclass
class WriteBatch:
    """Records that are written in one transaction: a row is only marked as done together with its cells."""

    cells: list[ProposedCell] = field(default_factory=list)
    attempts: list[tuple[RowId, Attempt]] = field(default_factory=list)
    events: list[Progress] = field(default_factory=list)


# Writes a batch; the flag marks the last one. It must read the run's counts when it is called, not when the database
# answers: rows are finished in between.
Write: TypeAlias = Callable[[WriteBatch, bool], Coroutine[Any, Any, None]]


class WriteBuffer:
    def __init__(self, write: Write) -> None:
        self._write = write
        self._waiting = WriteBatch()
        self._being_written = self._characters = 0
        self._flushed_at, self.now = time.monotonic(), utc_now()
        self._writing = asyncio.Lock()
        self.refused: OverQuota | None = None
        """Set once the owner's quota is reached: nothing is written any more."""

    def add(self, cell: ProposedCell) -> None:
        self._waiting.cells.append(cell)
        self._characters += text_length(cell.cell)

    def tried(self, row_id: RowId, attempt: Attempt) -> None:
        self._waiting.attempts.append((row_id, attempt))

    def tell(self, news: Progress) -> None:
        """Add an event. A passing stage replaces the one before it; the end of each row is kept."""
        events = self._waiting.events
        if events and not events[-1].stage.startswith("row_"):
            events.pop()
        events.append(news)

    async def flush_in_time(self) -> None:
        # A process that dies loses what it found since the last flush: at most a second of work.
        late = time.monotonic() - self._flushed_at > 1.0
        if (
            late
            # Cells that are being written are still in the memory, and would be put back if that fails.
            or len(self._waiting.cells) + self._being_written >= MAX_BUFFERED_CELLS
            or self._characters > MAX_BUFFERED_CHARACTERS
        ):
            await self.flush()

    async def tick(self) -> None:
        while True:
            # People who watch a durable run see news after this time.
            await asyncio.sleep(0.25)
            if self._waiting.events:
                await self.flush()

    async def flush(self, *, finished: bool = False) -> None:
        """Write everything buffered. A cancelled caller still waits for its own write, so that no older state can
        overwrite a newer one."""
        async with self._writing:
            if self.refused is not None:
                raise self.refused
            taken, self._waiting, self._characters = self._waiting, WriteBatch(), 0
            # Taken before the first await: rows that finish during the write go into the next batch.
            self._being_written = len(taken.cells)
            self._flushed_at, self.now = time.monotonic(), utc_now()
            await shield_to_completion(self._kept(taken, self._write(taken, finished)))

    async def _kept(self, taken: WriteBatch, writing: Coroutine[Any, Any, None]) -> None:
        """Await the write; put the batch back if it failed, unless it may not be stored at all."""
        try:
            await writing
        except OverQuota as error:
            self.refused = OverQuota(error.what, kept="What was found before is kept.", advice=error.advice)
            raise self.refused from error
        except BaseException:
            waiting = self._waiting
            # At the front, in their order: a later event must not come before an earlier one.
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
            # Retrieved, because the caller no longer can.
            task.exception()
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
