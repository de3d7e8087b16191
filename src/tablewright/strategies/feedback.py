"""What the next attempt at a row should do differently.

The engine judges and decides whether to try again; a strategy that can look a second time is told why it should.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from tablewright.strategies.strategy import Tell
from tablewright.table.attempts import Attempt, WeakColumn
from tablewright.table.model import Finding, Noun, Row


class Feedback(Noun, frozen=True):
    """What the next attempt is told. The first attempt is told nothing: `FIRST`."""

    attempt: int = 1
    is_last: bool = False
    """Whether this is the last attempt allowed: a stronger model, where there is one, is asked now."""
    weak: tuple[WeakColumn, ...] = ()
    avoid_patterns: tuple[str, ...] = ()
    avoid_urls: tuple[str, ...] = ()
    previous: tuple[Attempt, ...] = ()
    hints: tuple[str, ...] = ()

    @property
    def focus(self) -> tuple[str, ...]:
        """The columns to work on; none: all that are open."""
        return tuple(column.name for column in self.weak)

    def wants(self, field: str) -> bool:
        return not self.weak or field in self.focus


FIRST = Feedback()


class Work(Protocol):
    """One row under work, between its attempts.

    `remembers`: its findings weigh all that was read in earlier attempts too, so the newer replaces the older; else the
    engine merges the two."""

    remembers: bool

    async def attempt(self, feedback: Feedback) -> Sequence[Finding]: ...


@runtime_checkable
class Repeatable(Protocol):
    """An `Answer` that can look again at what was weak. Called like any other, it looks once."""

    has_stronger: bool
    """Whether a stronger model waits for the last attempt."""

    async def __call__(self, row: Row, tell: Tell) -> Sequence[Finding]: ...

    def begin(self, row: Row, tell: Tell) -> Work: ...
