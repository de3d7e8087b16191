"""Judge coverage: how completely the asked fields of a row are answered, for the person who reads the trace."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.citations.untrusted import WARNING, block, marked
from tablewright.decisions.decision import Prompt, Unusable
from tablewright.domain.model import Noun

Rating = Literal["high", "medium", "low"]

INSTRUCTIONS = (
    "You judge how completely research answered the asked fields of one table row: high (all answered by good "
    "sources), medium (mostly, or from one source), low (hardly). Name the fields that are missing or weak. " + WARNING
)


class AnsweredField(Noun, frozen=True):
    field: str
    value: str = ""
    confidence: float = 0.0
    sources: int = 0
    conflict: bool = False


class JudgeCoverage(Noun, frozen=True):
    row: str
    answers: tuple[AnsweredField, ...]
    opened: int
    """How many pages were read."""


class Coverage(Noun, frozen=True):
    rating: Rating
    weak: tuple[str, ...] = ()


class Verdict(BaseModel):
    rating: Rating
    weak: list[str] = Key(max_length=20)


class Judge:
    name = "judge coverage"

    def prompt(self, asked: JudgeCoverage) -> Prompt:
        lines = "\n".join(
            f"{answer.field}: {answer.value or 'not found'} (confidence {answer.confidence:.2f}, "
            f"sources {answer.sources}{', which disagree' if answer.conflict else ''})"
            for answer in asked.answers
        )
        return Prompt(
            instructions=INSTRUCTIONS,
            text=f"The row:\n{marked('TEXT 0', asked.row)}\nPages read: {asked.opened}\n{block(1, lines)}",
            reply=Verdict,
            max_tokens=120,
        )

    def check(self, asked: JudgeCoverage, reply: Any) -> Coverage:
        known = {answer.field for answer in asked.answers}
        empty = tuple(answer.field for answer in asked.answers if not answer.value)
        if reply.rating == "high" and empty:
            left = Coverage(rating="low" if len(empty) == len(known) else "medium", weak=empty)
            raise Unusable(f"{', '.join(empty)} was not found, so coverage is not high.", usable=left)
        weak = dict.fromkeys((*empty, *(name for name in reply.weak if name in known)))
        return Coverage(rating=reply.rating, weak=tuple(weak))

    def fallback(self, asked: JudgeCoverage) -> Coverage:
        weak = tuple(
            answer.field for answer in asked.answers if answer.confidence < 0.5 or answer.conflict or not answer.value
        )
        answered = sum(1 for answer in asked.answers if answer.value)
        share = answered / len(asked.answers) if asked.answers else 0.0
        well = all(answer.sources > 1 and answer.confidence >= 0.8 for answer in asked.answers)
        rating: Rating = "high" if share == 1 and (well or not weak) else "medium" if share >= 0.5 else "low"
        return Coverage(rating=rating, weak=weak)
