"""How much one person, or one address, may ask for at once."""

from __future__ import annotations

import logging
import time
from collections import Counter, OrderedDict
from collections.abc import Callable

from tablewright.domain.model import Noun

MEGABYTE = 1024 * 1024
MOST_REMEMBERED = 10_000
"""Addresses and persons; whoever was not seen for the longest is forgotten, and begins with a full bucket."""


class ServerLimits(Noun, frozen=True):
    body: int = 2 * MEGABYTE
    """Bytes of a request that brings no file."""
    upload: int = 200 * MEGABYTE
    """Bytes of a request that brings files."""
    login: int = 16 * 1024
    """Bytes of a request by whoever is not known yet."""
    requests_per_second: float = 50
    burst: int = 500
    """Requests at once, after a quiet while: a page loads its scripts, styles and fonts in one go."""
    streams: int = 256
    """Websockets and event streams that one person has open."""
    logins_per_minute: float = 5
    """Wrong tokens from one address, at the login or with any other request."""
    login_delay: float = 0.5
    """Seconds that whoever tried a wrong token waits for the answer."""
    connections: int = 2_000
    """Open at once, of everybody together; websockets are counted as streams."""
    connections_per_address: int = 256
    head_seconds: float = 20
    """From the first byte of a request, or from the connection, until its headers are whole."""
    body_seconds: float = 30
    """For the body, and a second more for each `body_rate` bytes that have arrived."""
    body_rate: float = 1_000
    read_answer_seconds: float = 60
    """For which a client may leave our answer unread."""
    reads: int = 16
    """Requests that only read and are computed at once, of everybody together; the others take turns."""
    reads_of_one: int = 4
    unread: int = 256 * MEGABYTE
    """Of answers that are being sent, of everybody together."""
    unread_of_one: int = 32 * MEGABYTE
    turn_seconds: float = 30
    """For which a request waits for its turn."""
    database_seconds: float = 5
    """For which a request waits for a database that is away: as long as a quick restart takes."""
    check_again: float = 3.0
    """Seconds after which an open stream is looked at again: may the person still see this?"""


class Buckets:
    """For each key a bucket that fills at `rate` a second up to `size`; each event takes one out."""

    def __init__(self, rate: float, size: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._size = size
        self._clock = clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str) -> float:
        """0 where it may go on; else the seconds to wait."""
        level = self._level(key)
        if level >= 1:
            self._put(key, level - 1)
            return 0.0
        self._put(key, level)
        return (1 - level) / self._rate

    def wait(self, key: str) -> float:
        """As `take`, but takes nothing."""
        return max(0.0, 1 - self._level(key)) / self._rate

    def owe(self, key: str) -> None:
        """Takes one out whether or not it is there. What is missing is waited for, so that those who come all at once
        get no more in the long run."""
        self._put(key, self._level(key) - 1)

    def _level(self, key: str) -> float:
        now = self._clock()
        level, at = self._levels.get(key, (self._size, now))
        return min(self._size, level + (now - at) * self._rate)

    def _put(self, key: str, level: float) -> None:
        self._levels[key] = (level, self._clock())
        self._levels.move_to_end(key)
        if len(self._levels) > MOST_REMEMBERED:
            self._levels.popitem(last=False)


class Streams:
    """The open websockets and event streams of each person."""

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


# ── a log that cannot be flooded ────────────────────────────────────────────────────────────────────────────────────
# A log that cannot be flooded: what repeats is counted instead of shown.


BURST, PER_SECOND = 200, 2.0
"""Lines of one kind: so many at once, then so many a second."""
BURST_OF_ALL, PER_SECOND_OF_ALL = 2_000, 50.0
MOST_KINDS = 10_000


class Unrepeated(logging.Filter):
    """Of one kind are records of one logger, level and wording, and, where `extra` gives a `repeats`, of the same."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._kinds = Buckets(PER_SECOND, BURST, clock)
        self._all = Buckets(PER_SECOND_OF_ALL, BURST_OF_ALL, clock)
        self._left_out: Counter[str] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        kind = f"{record.name} {record.levelno} {record.msg} {getattr(record, 'repeats', '')}"[:500]
        if self._kinds.take(kind) or self._all.take(""):
            if len(self._left_out) < MOST_KINDS or kind in self._left_out:
                self._left_out[kind] += 1
            return False
        if left_out := self._left_out.pop(kind, 0):
            record.msg, record.args = f"{record.getMessage()} ({left_out:,} more like this before it)", ()
        return True
