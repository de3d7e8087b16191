"""One field read on one page: what is known before any place of it is looked at, and what a place gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tablewright.domain.model import Noun
from tablewright.extraction.about import Subject
from tablewright.extraction.meaning import Likeness
from tablewright.extraction.page import PageWords
from tablewright.extraction.wanted import Wanted

SURELY_OWN = 0.85
"""How surely a page must be about the row for an answer to be called sure."""
ELSEWHERE = 0.6
"""The most that a sentence about the row is worth on a page about something else."""


class Seen(Noun, frozen=True):
    """An answer that stands at `start:end` of the text, with what speaks for it. `whole`: its place speaks of every
    word that is asked."""

    value: str
    start: int
    end: int
    how: str
    features: Mapping[str, float]
    whole: bool
    most: float = 1.0
    """The most that it can be worth, because of what the page is about."""


@dataclass(kw_only=True)
class FieldReading:
    subject: Subject
    want: Wanted
    page: PageWords
    fit: float
    own: bool
    """The page is about the subject."""
    names: frozenset[str]
    """Words that stand for the subject in running text."""
    titled: frozenset[str]
    """These, and those of the page's title."""
    alike: Likeness
    """Each asked word beside each word of the page."""
    context: Mapping[str, float]
    """How much of each asked word is said by what the page is about: its title and its first sentence."""

    @property
    def most(self) -> float:
        """What is said on a page that may be about something else is never sure."""
        if self.fit >= SURELY_OWN:
            return 1.0
        return self.fit if self.own else ELSEWHERE

    called: tuple[str, ...] = ()
    """Words for what the row is: those of its column, of its cells and, on its own page, of the first lines."""
    labels: dict[str, Any] = field(default_factory=dict)
    """How each label of the page speaks of what is asked, where it was looked at."""
