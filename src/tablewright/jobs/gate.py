"""The gate: lets in so many rows of a run at once, those of the slice that was begun first before all others.

Served evenly, the slices that a process has would all end at the same moment, and it would wait for the next with
nothing to do.
"""

from __future__ import annotations

import asyncio
import heapq
from itertools import count
from types import TracebackType


class Gate:
    def __init__(self, size: int) -> None:
        self._free = size
        self._slices = count()
        self._arrivals = count()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    def of_next_slice(self) -> SliceEntry:
        return SliceEntry(self, next(self._slices))

    async def enter(self, slice_no: int) -> None:
        if self._free:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (slice_no, next(self._arrivals), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave()
            raise

    def leave(self) -> None:
        while self._waiting:
            *_, turn = heapq.heappop(self._waiting)
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


class SliceEntry:
    """The gate, for the rows of one slice: `async with entry`, as often as there are rows."""

    def __init__(self, gate: Gate, slice_no: int) -> None:
        self._gate = gate
        self._slice_no = slice_no

    async def __aenter__(self) -> None:
        await self._gate.enter(self._slice_no)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._gate.leave()
