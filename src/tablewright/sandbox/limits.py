"""How much one piece of work in a worker process may take from the machine."""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

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


class SandboxWording(NamedTuple):
    """How the errors of a lost call name the work, the process that does it, and what to do."""

    verb: str = "read"
    participle: str = "read"
    worker: str = "reader"
    advice: str = "It may be damaged or made to keep readers busy; save it again, or divide it."


class ParserDeadline:
    """The time that a parser takes for one file before it stops with what it has, rather than lose it all later."""

    def __init__(self, seconds: float) -> None:
        self._until = monotonic() + seconds

    @property
    def is_over(self) -> bool:
        return monotonic() > self._until
