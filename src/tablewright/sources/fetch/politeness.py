"""Politeness: each domain is asked by a few requests at once, and not too soon after the last. With `Slots`, the time
in between holds for all processes that share them; how many at once is for each process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tablewright.models.pace import Slots, take_slot

MANY = 1_000


class DomainQueue:
    """Those who wait for one domain."""

    def __init__(self, at_once: int) -> None:
        self.slots = asyncio.Semaphore(at_once)
        self.users = 0
        self.next_start = 0.0

    async def wait(self, delay: float) -> None:
        now = time.monotonic()
        start = max(now, self.next_start)
        self.next_start = start + delay
        if start > now:
            await asyncio.sleep(start - now)


class Politeness:
    def __init__(self, at_once: int, slots: Slots | None = None) -> None:
        self._at_once = at_once
        self._slots = slots
        self._lines: dict[str, DomainQueue] = {}

    @asynccontextmanager
    async def turn(self, domain: str, delay: float) -> AsyncIterator[None]:
        """Waits until `domain` may be asked; `delay` is how long whoever comes next has to keep away."""
        line = self._line(domain)
        line.users += 1
        try:
            async with line.slots:
                if self._slots is None:
                    await line.wait(delay)
                elif delay:
                    await take_slot(self._slots, f"domain {domain}", delay)
                yield
        finally:
            line.users -= 1

    def _line(self, domain: str) -> DomainQueue:
        if len(self._lines) >= MANY and domain not in self._lines:
            now = time.monotonic()
            self._lines = {name: line for name, line in self._lines.items() if line.users or line.next_start > now}
        return self._lines.setdefault(domain, DomainQueue(self._at_once))
