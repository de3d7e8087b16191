"""Only so often: requests of everybody who shares a limit, spaced evenly.

Nobody counts what others did. Each request takes the next slot of time under a name, from `Slots` that many processes
may share, and starts when its slot does. What is taken in time but used late would meet the slots that follow, so a
slot that was missed by more than a little is given up for another one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

Clock: TypeAlias = Callable[[], float]
Sleep: TypeAlias = Callable[[float], Awaitable[None]]

FILLED = 0.9
"""The part of a limit that is used: requests that were held up on their way arrive together with later ones."""
LATE = 0.05
"""Seconds, or a tenth of the interval: so late a slot may still be used. With `FILLED`, 20 a second stay 20 in every
second; it takes a network that holds requests up for another tenth of a second to make 22 of them."""
AHEAD = 0.25
"""A process holds slots for so many seconds at most: others wait no longer for those of one that is stopped."""


class Slots(Protocol):
    async def reserve(self, key: str, interval: float, *, refund: float = 0.0, credit: float = 0.0) -> float:
        """Takes the next `interval` seconds of `key`. Says how many seconds from now they begin; below 0, how long ago.

        `refund` are seconds that were taken earlier and turned out not to be needed. With `credit`, the last so many
        seconds are not yet lost when nobody took them."""
        ...


class OwnSlots:
    """For one process alone."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._free_at: dict[str, float] = {}

    async def reserve(self, key: str, interval: float, *, refund: float = 0.0, credit: float = 0.0) -> float:
        now = self._clock()
        start = max(self._free_at.get(key, 0.0) - refund, now - credit)
        self._free_at[key] = start + interval
        return max(start - now, 0.0)


class Pace:
    """So many a second under one name. Of those who wait in this process, the first goes first."""

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
        self._interval = 1 / (per_second * FILLED)
        self._clock = clock
        self._sleep = sleep
        self._front = asyncio.Semaphore(max(1, int(AHEAD / self._interval)))

    async def turn(self) -> None:
        async with self._front:
            await take_slot(self._slots, self._key, self._interval, self._clock, self._sleep)


async def take_slot(
    slots: Slots, key: str, interval: float, clock: Clock = time.monotonic, sleep: Sleep = asyncio.sleep
) -> None:
    """Returns when a slot begins. Each one missed makes us more patient with the next: a machine that is always late
    goes on, at the price of what it missed."""
    late = max(LATE, interval / 10)
    while True:
        wait = await slots.reserve(key, interval)
        start = clock() + wait
        while (wait := start - clock()) > 0:
            await sleep(wait)
        if clock() - start <= late:
            return
        late *= 2
