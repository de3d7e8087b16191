"""An answer that was read for a field, and where: what readers hand on, whether a model or code has read."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tablewright.domain.model import Basis, Noun

SameRow: TypeAlias = Literal["same", "unclear"]


class SourceSpan(Noun, frozen=True):
    """`text[start:end]` of the source with number `source`."""

    source: int
    start: int
    end: int


class Candidate(Noun, frozen=True):
    """An answer to `field`, read from `text[start:end]` of the source with number `source`.

    `score` is how likely it is right, by what the reader could see. `basis` is None where the reader did not say: then
    it is whatever code can show. `converted_by` is the rule of a converted value. `more` are further passages that it
    stands on. `doubt` says why the source may be about something else than the row."""

    field: str
    value: str
    source: int
    start: int
    end: int
    score: float
    how: str
    basis: Basis | None = None
    converted_by: str = ""
    more: tuple[SourceSpan, ...] = ()
    same_row: SameRow = "same"
    doubt: str = ""
