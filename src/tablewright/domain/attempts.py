"""What attempts at a row came to: what was tried, what was found, and where that is weak."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from tablewright.domain.model import Noun

Weakness: TypeAlias = Literal["missing", "blocked", "unsure", "disputed"]


class WeakColumn(Noun, frozen=True):
    """`weakness` is the kind, `reason` the words, `hint` what to look for instead; `confidence` is 0 where nothing was
    found."""

    name: str
    weakness: Weakness
    reason: str
    hint: str = ""
    confidence: float = 0.0


class Assessment(Noun, frozen=True):
    """Whether the row is good enough, and where it is not."""

    weak: tuple[WeakColumn, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.weak

    @property
    def suggestions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(column.hint for column in self.weak if column.hint))


class Attempt(Noun, frozen=True):
    """One look at a row: what it was for, what was tried, what came of it."""

    number: int
    columns: tuple[str, ...]
    patterns: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    """Every page that was asked for; `refused` are those of them that could not be read."""
    refused: tuple[str, ...] = ()
    results: Mapping[str, str] = {}
    confidences: Mapping[str, float] = {}
    assessment: Assessment = Assessment()
