"""The plan of a fill, and the rules for retries, prices and pauses that hold for all its rows.

Plain data that every layer above may build; nothing here reads the store or starts work."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from tablewright.domain.model import Attempt, Field, RowId, Struct, Table
from tablewright.domain.proposal import CellAt
from tablewright.settings import Settings
from tablewright.web.breaker import PAUSE_AFTER_FAILURES, CircuitBreaker

if TYPE_CHECKING:
    from tablewright.strategies.strategy import Strategy


class RetryPolicy(Struct, frozen=True):
    """`attempts` includes the first one. With `require_improvement`, a column is tried no more once an attempt at it
    improves nothing."""

    # The first, one that looks elsewhere, and one that may ask the stronger model. More: weak rows are paid for again;
    # fewer: more of them stay weak.
    attempts: int = 3
    # A confidence below it is tried again. Higher: more rows are paid for twice; lower: more weak values are proposed.
    threshold: float = 0.6
    require_improvement: bool = True

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(
            attempts=settings.attempts,
            threshold=settings.threshold,
            require_improvement=settings.require_improvement,
        )

    def columns_to_retry(self, history: Sequence[Attempt]) -> tuple[str, ...]:
        """Return the weak columns that are worth another attempt."""
        if not history or len(history) >= self.attempts:
            return ()
        weak = {column.name: column.confidence for column in history[-1].assessment.weak}
        # One attempt alone shows no improvement, so the second is always made.
        if len(history) < 2 or not self.require_improvement:
            return tuple(weak)
        before = {column.name: column.confidence for column in history[-2].assessment.weak}
        return tuple(name for name, confidence in weak.items() if name not in before or confidence > before[name])


SINGLE_ATTEMPT = RetryPolicy(attempts=1)


class RunPolicy(Struct, frozen=True):
    """Dollars per search, seconds between two pages of a site, and the number of failures that pauses a run."""

    search_price: float = 0.0
    # Polite to small sites: at most two pages a second from one.
    fetch_delay: float = 0.5
    offline: bool = False
    pause_after: int = PAUSE_AFTER_FAILURES
    """Consecutive failures of the search, the web or the model that pause a run."""

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(
            search_price=settings.search_price,
            fetch_delay=settings.fetch_delay,
            offline=settings.offline,
            pause_after=settings.pause_after,
        )

    @property
    def breaker(self) -> CircuitBreaker:
        """Return a new breaker; it never opens offline."""
        return CircuitBreaker(None if self.offline else self.pause_after)


DEFAULT_POLICY = RunPolicy()


@dataclass(frozen=True)
class FillPlan:
    """The cells to fill, and how."""

    table: Table
    fields: Sequence[Field]
    strategy: str | Strategy = ""
    """A name or an object; "" leaves the choice to `planning.prepare_fill`."""
    params: Mapping[str, str] = field(default_factory=dict)
    row_ids: Sequence[RowId] | None = None
    only: Collection[CellAt] | None = None
    """Exactly these cells, whatever their status; without it, those that need work. They have been filled before, so
    they stay as they are if no source answers or the budget runs out."""
    again: bool = False
    """Avoid the queries and pages of earlier runs."""
    examples: Mapping[str, tuple[str, ...]] | None = None
    """The examples that the run started with; None if it starts now."""
    text_sizes: Sequence[int] = ()
    """See `Task`."""
    max_rows: int | None = None
    concurrency: int | None = None
    retry: RetryPolicy = SINGLE_ATTEMPT
    policy: RunPolicy = DEFAULT_POLICY
