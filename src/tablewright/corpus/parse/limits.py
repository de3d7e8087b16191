"""How much one file may take from the machine."""

from __future__ import annotations

from time import monotonic

from tablewright.table.model import Noun


class Limits(Noun, frozen=True):
    seconds: float = 120.0
    memory: int = 3 * 1024**3
    """Bytes of address space of a worker, where the system can limit it."""
    size: int = 500 * 1024**2


class Patience:
    """The time that a parser takes for one file before it stops with what it has, rather than lose it all later."""

    def __init__(self, seconds: float) -> None:
        self._until = monotonic() + seconds

    @property
    def is_over(self) -> bool:
        return monotonic() > self._until
