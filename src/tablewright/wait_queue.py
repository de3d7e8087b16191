"""Wait for a turn or for money, in the order in which the rows of a run began.

The row that began first is served first, so that rows are finished before others are begun: the first results come
early, and at a cap on spending few rows are half done.
"""

from __future__ import annotations

import asyncio
import itertools
from contextvars import ContextVar
from heapq import heappop, heappush

# The place of the row in progress among those of its run; what belongs to no row goes first.
place_in_run: ContextVar[int] = ContextVar("place_in_run", default=0)


class WaitQueue:
    """Those who wait until others release something. Who is woken looks again, and waits again if it is gone."""

    def __init__(self) -> None:
        self._count = itertools.count()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    async def next(self) -> None:
        woken = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (place_in_run.get(), next(self._count), woken))
        try:
            await woken
        except asyncio.CancelledError:
            # Else what was released for it would be lost on those behind it.
            if not woken.cancelled():
                self.wake_first()
            raise

    def wake_first(self) -> None:
        while self._waiting:
            *_, woken = heappop(self._waiting)
            # One that was cancelled while it waited is done.
            if not woken.done():
                woken.set_result(None)
                return

    def wake(self) -> None:
        """Wake all in their order."""
        for _ in range(len(self._waiting)):
            self.wake_first()
