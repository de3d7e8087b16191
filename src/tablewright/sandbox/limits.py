"""Limits of one call in a worker process, and the wording of its errors."""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

import msgspec

MEBIBYTE = 1024**2


class SandboxLimits(msgspec.Struct, frozen=True, kw_only=True):
    # The defaults are for documents. Longer: one bad file holds a place for long; shorter: large scans fail.
    seconds: float = 120.0
    # Address space, not memory in use: libraries reserve far more than they touch.
    memory: int = 3 * 1024 * MEBIBYTE
    """Bytes of address space of a worker, where the system can limit it."""
    size: int = 500 * MEBIBYTE
    """Bytes of a file that is read."""
    written: int = 4 * 1024 * MEBIBYTE
    """Bytes of any file that a worker writes, where the system can limit it."""


class SandboxWording(NamedTuple):
    """The words with which errors of a lost call name the work, its process, and what to do."""

    verb: str = "read"
    participle: str = "read"
    worker: str = "reader"
    advice: str = "It may be damaged or made to keep readers busy; save it again, or divide it."


class ParserDeadline:
    """The time after which a parser stops with what it has, rather than lose everything when its process is killed."""

    def __init__(self, seconds: float) -> None:
        self._until = monotonic() + seconds

    @property
    def is_over(self) -> bool:
        return monotonic() > self._until
