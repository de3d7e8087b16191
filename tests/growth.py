"""Whether work grows in proportion to its input, however fast the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

MORE = 8
QUICK = 0.1
"""Seconds. What takes no longer is not worth measuring."""


TRIES = 3
"""Collecting garbage may cost one measurement more than the work; no try hides what grows with the square."""


def grows_in_proportion(work: Callable[[int], object], size: int) -> bool:
    """Eight times the input may take three times as long as it should, never 64 times as long."""
    if (whole := seconds(work, size)) <= QUICK:
        return True
    for _ in range(TRIES):
        part = seconds(work, size // MORE)
        whole = min(whole, seconds(work, size))
        if whole <= 3 * MORE * part + QUICK:
            return True
    return False


def seconds(work: Callable[[int], object], size: int) -> float:
    """Of this thread alone: what servers and browsers of other tests do meanwhile is not counted."""
    began = time.thread_time()
    work(size)
    return time.thread_time() - began
