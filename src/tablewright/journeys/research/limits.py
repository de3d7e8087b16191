"""What a piece of research may spend: dollars and tokens through the budget that its tools share, minutes, and searches
and pages as its extent says."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING, TypeVar

from tablewright.domain.research import USUAL_EXTENT, Extent
from tablewright.formats.reports.wording import Words

if TYPE_CHECKING:
    from tablewright.models.budget import Budget

Done = TypeVar("Done")
ENDING = 0.15
"""The share of the time that is kept for writing the report."""


class ResearchLimits:
    def __init__(self, budget: Budget | None, minutes: float | None, extent: Extent = USUAL_EXTENT) -> None:
        self.extent = extent
        self.words = Words()
        """In whose language it says that a limit is reached."""
        self._budget = budget
        self._minutes = minutes
        self._ends = None if minutes is None else time.monotonic() + minutes * 60

    @property
    def seconds_left(self) -> float | None:
        """For searching and reading. None: as long as it takes."""
        if self._ends is None or self._minutes is None:
            return None
        return max(0.0, self._ends - self._minutes * 60 * ENDING - time.monotonic())

    async def in_time(self, work: Awaitable[Done]) -> Done | None:
        """What it comes to; None where the time is up before."""
        try:
            async with asyncio.timeout(self.seconds_left) as limit:
                return await work
        except TimeoutError:
            if limit.expired():
                return None
            raise

    @property
    def seconds_to_write(self) -> float | None:
        return None if self._ends is None else max(0.0, self._ends - time.monotonic())

    @property
    def money_spent(self) -> bool:
        return self._budget is not None and bool(self._budget.exhausted)

    @property
    def spent(self) -> str:
        """Which limit is reached, in words; "" while there is something left."""
        if self.seconds_left == 0.0:
            return self.words("the time of {minutes} minutes was up", minutes=f"{self._minutes:g}")
        if self._budget is not None and self._budget.exhausted:
            return self.words("the cap of {cap} was reached", cap=self._budget.exhausted)
        return ""
