"""The limit on what a run has in flight: model calls and searches, over all its rows and slices in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar

# True inside a call that has its turn, so that a call within it needs no second one.
_has_turn: ContextVar[bool] = ContextVar("has_turn", default=False)


class ModelCalls:
    """At most `size` model calls at once, and as many searches: more would only hit the limits of a search engine."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.searches = asyncio.Semaphore(size)
        self.begun = 0
        """Calls in flight, and those that wait for their turn."""
        self.rows_to_come: set[object] = set()
        """Rows that are about to ask, or wait for others to share a call with."""
        self._turns = asyncio.Semaphore(size)

    @property
    def free(self) -> int:
        return max(0, self.size - self.begun)

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """Wait until a call may be made; it is in flight inside."""
        if _has_turn.get():
            yield
            return
        self.begun += 1
        try:
            async with self.turn():
                yield
        finally:
            self.begun -= 1

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for the turn of a call that the caller has counted as `begun`."""
        async with self._turns:
            token = _has_turn.set(True)
            try:
                yield
            finally:
                _has_turn.reset(token)
