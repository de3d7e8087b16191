"""Whether work grows in proportion to its input, however fast the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

MORE = 8
QUICK = 0.1
"""Seconds. What takes no longer is not worth measuring."""


def grows_in_proportion(work: Callable[[int], object], size: int) -> bool:
    """Eight times the input may take three times as long as it should, never 64 times as long."""
    if (whole := seconds(work, size)) <= QUICK:
        return True
    part = seconds(work, size // MORE)
    return min(whole, seconds(work, size)) <= 3 * MORE * part + QUICK


def seconds(work: Callable[[int], object], size: int) -> float:
    began = time.process_time()
    work(size)
    return time.process_time() - began
