"""Limits of the server: requests per person and address, turns to compute, and repeated lines in the log.

Threads and the interpreter's lock are shared by all persons served. Without turns, the one who opens the most
connections gets the most of them. `RequestTurns` gives each person a few at a time, in rotation.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from tablewright.domain.model import Struct
from tablewright.interfaces.server.errors import TooMany

MEGABYTE = 1024 * 1024
# Addresses and persons with a bucket. The least recently seen is forgotten and starts again with a full one.
MAX_REMEMBERED_KEYS = 10_000


class ServerLimits(Struct, frozen=True):
    body: int = 2 * MEGABYTE
    """Bytes of a request that brings no file."""
    upload: int = 200 * MEGABYTE
    """Bytes of a request that brings files."""
    login: int = 16 * 1024
    """Bytes of a request before its login."""
    requests_per_second: float = 50
    burst: int = 500
    """Requests at once, after a quiet while: a page loads its scripts, styles and fonts in one go."""
    streams: int = 256
    """Websockets and event streams that one person has open."""
    logins_per_minute: float = 5
    """Wrong tokens from one address, at the login or with any other request."""
    login_delay: float = 0.5
    """Seconds before the answer to a wrong token."""
    connections: int = 2_000
    """Open at once in total; websockets are counted as streams."""
    connections_per_address: int = 256
    head_seconds: float = 20
    """From the first byte of a request, or from the connection, until its headers are whole."""
    body_seconds: float = 30
    """For the body, and a second more for each `body_rate` bytes that have arrived."""
    body_rate: float = 1_000
    read_answer_seconds: float = 60
    """A client may leave our answer unread for so long."""
    reads: int = 16
    """Requests that only read and are computed at once, in total; the others take turns."""
    reads_of_one: int = 4
    unread: int = 256 * MEGABYTE
    """Bytes of answers that are being sent, in total."""
    unread_of_one: int = 32 * MEGABYTE
    turn_seconds: float = 30
    """A request waits for its turn for so long."""
    database_seconds: float = 5
    """A request waits for an unreachable database for so long, enough for a quick restart."""
    check_again: float = 3.0
    """Seconds after which it is checked again that the person of an open stream may still see it."""


DEFAULT_LIMITS = ServerLimits()


class TokenBuckets:
    """Token buckets, one for each key: it fills at `rate` a second up to `size`, and each event takes one out."""

    def __init__(self, rate: float, size: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._size = size
        self._clock = clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> float:
        """Take one and return 0, or return the seconds to wait if there is none."""
        level = self._level(key)
        if level >= 1:
            self._put(key, level - 1)
            return 0.0
        self._put(key, level)
        return (1 - level) / self._rate

    def seconds_to_wait(self, key: str) -> float:
        """Return the seconds until there is one, without taking it."""
        return max(0.0, 1 - self._level(key)) / self._rate

    def owe(self, key: str) -> None:
        """Take one even if there is none. The debt must be waited for, so that many at once gain nothing in total."""
        self._put(key, self._level(key) - 1)

    def _level(self, key: str) -> float:
        now = self._clock()
        level, at = self._levels.get(key, (self._size, now))
        return min(self._size, level + (now - at) * self._rate)

    def _put(self, key: str, level: float) -> None:
        self._levels[key] = (level, self._clock())
        self._levels.move_to_end(key)
        if len(self._levels) > MAX_REMEMBERED_KEYS:
            self._levels.popitem(last=False)


class StreamCounter:
    """Count of the open websockets and event streams of each person."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()

    def enter(self, person_id: str) -> bool:
        if self._open[person_id] >= self._most:
            return False
        self._open[person_id] += 1
        return True

    def leave(self, person_id: str) -> None:
        self._open[person_id] -= 1
        if not self._open[person_id]:
            del self._open[person_id]


class LogLimits(Struct, frozen=True):
    """Lines of one kind and of all kinds: so many at once, then so many a second."""

    burst: int = 200
    per_second: float = 2.0
    total_burst: int = 2_000
    total_per_second: float = 50.0


class RepeatedLogFilter(logging.Filter):
    """Keep the log from being flooded: repeated records are counted instead of written.

    Records are of one kind if their logger, level and message are the same, and `repeats` of `extra` if given."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        limits = LogLimits()
        self._kinds = TokenBuckets(limits.per_second, limits.burst, clock)
        self._all = TokenBuckets(limits.total_per_second, limits.total_burst, clock)
        self._left_out: Counter[str] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        # Cut, so that long messages do not fill the memory.
        kind = f"{record.name} {record.levelno} {record.msg} {getattr(record, 'repeats', '')}"[:500]
        if self._kinds.take(kind) or self._all.take(""):
            if len(self._left_out) < MAX_REMEMBERED_KEYS or kind in self._left_out:
                self._left_out[kind] += 1
            return False
        if left_out := self._left_out.pop(kind, 0):
            record.msg, record.args = f"{record.getMessage()} ({left_out:,} more like this before it)", ()
        return True


class RequestTurns:
    """`most` turns at once, `most_of_one` for each person, and the same for the bytes of answers that are being sent.

    Those who wait get turns in rotation, person by person. A request whose person has left too much unread waits before
    it computes anything more, so that slow readers cannot make the server keep their answers."""

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
        """Wait for a turn and hold it. Raise TooMany after `seconds`."""
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
                raise TooMany(
                    "You have too many requests in progress, or too many answers that were not read.",
                    advice="Read the answers you requested, then try again.",
                    retry_after=5,
                ) from None
            raise

    def leave(self, person_id: str) -> None:
        subtract_count(self._taken, person_id, 1)
        self._admit()

    @asynccontextmanager
    async def sending(self, person_id: str, size: int) -> AsyncIterator[None]:
        """Count `size` bytes of an answer as unread while it is sent."""
        self._unread[person_id] += size
        try:
            yield
        finally:
            subtract_count(self._unread, person_id, size)
            self._admit()

    def _is_free(self, person_id: str) -> bool:
        return (
            self._taken[person_id] < self._most_of_one
            and self._taken.total() < self._most
            and self._unread[person_id] < self._unread_limit_of_one
            and self._unread.total() < self._unread_limit
        )

    def _admit(self) -> None:
        """Give the free turns to waiting requests: one to each person, then the next round."""
        admitted = True
        while admitted:
            admitted = False
            for person_id in list(self._waiting):
                if self._is_free(person_id):
                    turn = self._waiting[person_id][0]
                    self._forget(person_id, turn)
                    if person_id in self._waiting:
                        self._waiting.move_to_end(person_id)
                    # A turn that is done belongs to a request that was cancelled just now.
                    if not turn.done():
                        self._taken[person_id] += 1
                        turn.set_result(None)
                    admitted = True

    def _forget(self, person_id: str, turn: asyncio.Future[None]) -> None:
        own = self._waiting.get(person_id, deque())
        if turn in own:
            own.remove(turn)
            if not own:
                del self._waiting[person_id]


def subtract_count(counter: Counter[str], key: str, count: int) -> None:
    counter[key] -= count
    if not counter[key]:
        del counter[key]
