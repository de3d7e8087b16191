"""What each of the reader's ways of reading returns."""

from __future__ import annotations

from tablewright.table.model import Noun


class Found(Noun, frozen=True):
    """An answer as it would be written in a cell, read from `start:end` of a text."""

    value: str
    start: int
    end: int
    score: float

    def times(self, factor: float) -> Found:
        return Found(value=self.value, start=self.start, end=self.end, score=self.score * factor)
