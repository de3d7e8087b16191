"""A log that cannot be flooded: what repeats is counted instead of shown."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable

from tablewright.doors.server.limits import Buckets

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
