"""Space requests evenly under a rate limit that several processes may share.

Each request takes the next time slot under a name, from `Slots` in memory or in the database, and starts when its slot
does. A slot used late would collide with the slots after it, so a request that misses its slot by more than a little
takes another one. Used for models, searches and pages; this module needs no model library.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

Clock: TypeAlias = Callable[[], float]
Sleep: TypeAlias = Callable[[float], Awaitable[None]]

# Part of a limit that is used, because delayed requests arrive together with later ones.
USED_SHARE = 0.9
# A slot may be used this late, or a tenth of the interval. Together with `USED_SHARE`, 20 per second stay 20 in every
# second; only a network that delays requests by another tenth of a second makes it 22.
LATE_SECONDS = 0.05
# A process reserves slots at most this far ahead: others wait no longer for the slots of a process that died.
AHEAD_SECONDS = 0.25


class Slots(Protocol):
    async def reserve(self, key: str, interval: float, *, refund: float = 0.0, credit: float = 0.0) -> float:
        """Take the next `interval` seconds of `key`; return in how many seconds they begin, negative if already begun.

        `refund` is time that was taken earlier and turned out not to be needed. With `credit`, unused time of the last
        so many seconds can still be taken.
        """
        ...


class LocalSlots:
    """Time slots of this process alone."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._free_at: dict[str, float] = {}

    async def reserve(self, key: str, interval: float, *, refund: float = 0.0, credit: float = 0.0) -> float:
        now = self._clock()
        start = max(self._free_at.get(key, 0.0) - refund, now - credit)
        self._free_at[key] = start + interval
        return max(start - now, 0.0)


class Pace:
    """A limit of requests per second under one name. Within a process, requests go first come, first served."""

    def __init__(
        self,
        slots: Slots,
        key: str,
        per_second: float,
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._slots = slots
        self._key = key
        self._interval = 1 / (per_second * USED_SHARE)
        self._clock = clock
        self._sleep = sleep
        # At least one goes on, also where a slot is longer than the time that is reserved ahead.
        self._front = asyncio.Semaphore(max(1, int(AHEAD_SECONDS / self._interval)))

    async def wait_turn(self) -> None:
        async with self._front:
            await take_slot(self._slots, self._key, self._interval, self._clock, self._sleep)


async def take_slot(
    slots: Slots, key: str, interval: float, clock: Clock = time.monotonic, sleep: Sleep = asyncio.sleep
) -> None:
    """Return when a slot begins. Each missed slot doubles the tolerance, so that a slow machine goes on as well."""
    late = max(LATE_SECONDS, interval / 10)
    while True:
        wait = await slots.reserve(key, interval)
        start = clock() + wait
        # In a loop, since a sleep may end a little early.
        while (wait := start - clock()) > 0:
            await sleep(wait)
        if clock() - start <= late:
            return
        late *= 2
