"""How much one piece of work in a worker process may take from the machine."""

from __future__ import annotations

from time import monotonic

import msgspec

MB = 1024**2


class SandboxLimits(msgspec.Struct, frozen=True, kw_only=True):
    seconds: float = 120.0
    memory: int = 3 * 1024 * MB
    """Bytes of address space of a worker, where the system can limit it."""
    size: int = 500 * MB
    """Bytes of a file that is read."""
    written: int = 4 * 1024 * MB
    """Bytes of any file that a worker writes, where the system can limit it."""


class ParserDeadline:
    """The time that a parser takes for one file before it stops with what it has, rather than lose it all later."""

    def __init__(self, seconds: float) -> None:
        self._until = monotonic() + seconds

    @property
    def is_over(self) -> bool:
        return monotonic() > self._until
