"""Turns: how many requests are computed at once, and how many bytes of answers wait to be read; of all and of each.

Threads and the interpreter's lock are shared by all who are served. Without turns, the one who opens the most
connections gets the most of them. Here everyone has a few turns at a time, and those who wait take them in rotation,
person by person. A request whose person has left too much unread waits before it computes anything more, so that slow
readers cannot make the server keep their answers.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tablewright.doors.server.errors import TooMany

BUSY = "You have too many requests under way, or too many answers that were not read."


class Turns:
    """`most` turns at once, `most_of_one` for each person; the same for the bytes of answers that are being sent."""

    def __init__(
        self, most: int, most_of_one: int, *, unread: float = float("inf"), unread_of_one: float = float("inf")
    ) -> None:
        self._most, self._most_of_one = most, most_of_one
        self._unread_limit, self._unread_limit_of_one = unread, unread_of_one
        self._taken: Counter[str] = Counter()
        self._unread: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def take(self, person_id: str, seconds: float | None = None) -> AsyncIterator[None]:
        """Wait for a turn and hold it. Raises TooMany after `seconds`."""
        await self.enter(person_id, seconds)
        try:
            yield
        finally:
            self.leave(person_id)

    async def enter(self, person_id: str, seconds: float | None = None) -> None:
        if person_id not in self._waiting and self._is_free(person_id):
            self._taken[person_id] += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(person_id, deque()).append(turn)
        try:
            async with asyncio.timeout(seconds):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                self.leave(person_id)
            else:
                self._forget(person_id, turn)
            if isinstance(error, TimeoutError):
                raise TooMany(BUSY, advice="Read the answers you asked for, and ask again.", retry_after=5) from None
            raise

    def leave(self, person_id: str) -> None:
        subtract(self._taken, person_id, 1)
        self._admit()

    @asynccontextmanager
    async def sending(self, person_id: str, size: int) -> AsyncIterator[None]:
        """Count `size` bytes of an answer as unread while it is sent."""
        self._unread[person_id] += size
        try:
            yield
        finally:
            subtract(self._unread, person_id, size)
            self._admit()

    def _is_free(self, person_id: str) -> bool:
        return (
            self._taken[person_id] < self._most_of_one
            and self._taken.total() < self._most
            and self._unread[person_id] < self._unread_limit_of_one
            and self._unread.total() < self._unread_limit
        )

    def _admit(self) -> None:
        """Give the free turns to those who wait: one to each person, then around again."""
        admitted = True
        while admitted:
            admitted = False
            for person_id in list(self._waiting):
                if self._is_free(person_id):
                    turn = self._waiting[person_id][0]
                    self._forget(person_id, turn)
                    if person_id in self._waiting:
                        self._waiting.move_to_end(person_id)
                    if not turn.done():  # else the one who waited was cancelled just now
                        self._taken[person_id] += 1
                        turn.set_result(None)
                    admitted = True

    def _forget(self, person_id: str, turn: asyncio.Future[None]) -> None:
        own = self._waiting.get(person_id, deque())
        if turn in own:
            own.remove(turn)
            if not own:
                del self._waiting[person_id]


def subtract(counter: Counter[str], key: str, count: int) -> None:
    counter[key] -= count
    if not counter[key]:
        del counter[key]
