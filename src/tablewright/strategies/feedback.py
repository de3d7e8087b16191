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
    """What the next attempt is told: the attempts before it. The first is told nothing: `FIRST`."""

    previous: tuple[Attempt, ...] = ()
    is_last: bool = False
    """Whether this is the last attempt allowed: a stronger model, where there is one, is asked now."""

    @property
    def attempt(self) -> int:
        return len(self.previous) + 1

    @property
    def weak(self) -> tuple[WeakColumn, ...]:
        return self.previous[-1].assessment.weak if self.previous else ()

    @property
    def avoid_patterns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(pattern for attempt in self.previous for pattern in attempt.patterns))

    @property
    def avoid_urls(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(url for attempt in self.previous for url in attempt.urls))

    @property
    def hints(self) -> tuple[str, ...]:
        return self.previous[-1].assessment.suggestions if self.previous else ()

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
