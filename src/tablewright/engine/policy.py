"""How a run goes on and when it stops: further attempts at a row, and what costs money and time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from tablewright.domain.model import Attempt, Noun
from tablewright.settings import Settings
from tablewright.sources.breaker import PAUSE_AFTER, CircuitBreaker


class RetryPolicy(Noun, frozen=True):
    """`attempts` counts the first one too. With `require_improvement` the one that made nothing better is the last."""

    attempts: int = 3
    threshold: float = 0.6
    require_improvement: bool = True

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(
            attempts=settings.attempts,
            threshold=settings.threshold,
            require_improvement=settings.require_improvement,
        )

    def should_retry(self, history: Sequence[Attempt]) -> bool:
        if not history or history[-1].assessment.passed or len(history) >= self.attempts:
            return False
        return len(history) < 2 or not self.require_improvement or improved(history)


ONCE = RetryPolicy(attempts=1)


def improved(history: Sequence[Attempt]) -> bool:
    """Whether the last attempt made any of its columns surer."""
    before = {weak.name: weak.confidence for weak in history[-2].assessment.weak}
    after = {weak.name: weak.confidence for weak in history[-1].assessment.weak}
    return any(name not in after or after[name] > confidence for name, confidence in before.items())


class Terms(Noun, frozen=True):
    """What costs money and time beside the model: dollars a search, seconds between two pages of a site."""

    search_price: float = 0.0
    fetch_delay: float = 0.5
    offline: bool = False
    pause_after: int = PAUSE_AFTER
    """Failures in a row of the search, the web or the model that pause a run."""

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


USUAL = Terms()
