"""What a piece of research may spend: dollars and tokens through the budget that its tools share, and minutes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tablewright.models.budget import Budget

ENDING = 0.15
"""The share of the time that is kept for writing the report."""


class Purse:
    def __init__(self, budget: Budget | None, minutes: float | None) -> None:
        self._budget = budget
        self._minutes = minutes
        self._ends = None if minutes is None else time.monotonic() + minutes * 60 * (1 - ENDING)

    @property
    def seconds_left(self) -> float | None:
        """None: as long as it takes."""
        return None if self._ends is None else max(0.0, self._ends - time.monotonic())

    @property
    def spent(self) -> str:
        """Which limit is reached, in words; "" while there is something left."""
        if self.seconds_left == 0.0:
            return f"the time of {self._minutes:g} minutes was up"
        if self._budget is not None and self._budget.exhausted:
            return f"the cap of {self._budget.exhausted} was reached"
        return ""
