"""Whether work grows in proportion to its input, however fast the machine is."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

MORE = 8
# Seconds. What takes no longer is not worth measuring.
QUICK = 0.1


# A busy machine may slow one measurement down; no number of tries hides what grows with the square.
TRIES = 6


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
    """Processor time of this thread alone, without collecting garbage: that costs more, the more other tests left."""
    gc.disable()
    try:
        began = time.thread_time()
        work(size)
        return time.thread_time() - began
    finally:
        gc.enable()
