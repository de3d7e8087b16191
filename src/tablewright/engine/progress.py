"""Who watches a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from tablewright.domain.feed import Progress

Watch: TypeAlias = Callable[[Progress], None]


def ignore(progress: Progress) -> None:
    """For callers who do not watch."""
