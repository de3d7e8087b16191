"""What the next attempt at a row should do differently.

The engine judges and decides whether to try again; a strategy that can look a second time is told why it should.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from tablewright.domain.attempts import Attempt, WeakColumn
from tablewright.domain.model import Finding, Noun, Row
from tablewright.strategies.strategy import Tell


class Feedback(Noun, frozen=True):
    """What the next attempt is told: the attempts before it, and what people said of the cells. The first attempt at a
    row that is new is told nothing: `FIRST`."""

    previous: tuple[Attempt, ...] = ()
    """The attempts of this run, oldest first."""
    earlier: tuple[Attempt, ...] = ()
    """The attempts of earlier runs at the columns now asked, oldest first."""
    avoided: tuple[Attempt, ...] = ()
    """Those of `earlier` whose queries and pages are not to be tried again: the user asked again, or flagged a cell."""
    notes: Mapping[str, str] = {}
    """By field, what a person said of its cell: "A person flagged 'Paris': wrong city"."""
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
        return tuple(dict.fromkeys(pattern for attempt in self._tried for pattern in attempt.patterns))

    @property
    def avoid_queries(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(query for attempt in self._tried for query in attempt.queries))

    @property
    def avoid_urls(self) -> tuple[str, ...]:
        """Of an earlier run only what was read: a page that could not be reached then may be reached now."""
        old = (url for attempt in self.avoided for url in attempt.urls if url not in attempt.refused)
        return tuple(dict.fromkeys((*old, *(url for attempt in self.previous for url in attempt.urls))))

    @property
    def _tried(self) -> tuple[Attempt, ...]:
        return (*self.avoided, *self.previous)

    @property
    def hints(self) -> tuple[str, ...]:
        """What to look for instead, by the last attempt of this run or, for its first, by the last one avoided."""
        return self._tried[-1].assessment.suggestions if self._tried else ()

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
