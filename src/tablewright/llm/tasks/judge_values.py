"""Judge the values read for one row, in three tasks, none of which sees the pages again.

* Support: do the quotes support a value that a model concluded from them? Asked separately from the reading.
* Compare values: do different values for a cell contradict each other, or are they about two things?
* Coverage: how completely the asked fields are answered. A low one is looked for again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.citations.quotes import RETRIEVED_WARNING, mark_question, mark_text
from tablewright.domain.model import Evidence, Field, Struct
from tablewright.extraction.subject import Subject
from tablewright.llm.tasks.decision import (
    InvalidReply,
    Prompt,
    answers_by_number,
    describe_column,
    quote_lines,
    row_block,
)

# ── support ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class JudgedValue(Struct, frozen=True):
    field: Field
    value: str
    evidence: tuple[Evidence, ...]


class SupportToCheck(Struct, frozen=True):
    subject: Subject
    values: tuple[JudgedValue, ...]


class Checked(BaseModel):
    number: int
    verdict: Literal["yes", "partly", "no"]
    reason: str


class CheckedValues(BaseModel):
    checked: list[Checked]


class CheckSupport:
    name = "support"
    instructions = f"""\
You check values of a table row that were concluded from quotes. You have not seen the pages. Each quote follows the \
title of its page. For each numbered value: do its quotes alone support it, for this row?
- "yes": a careful reader of the quotes would conclude it; the wording need not be theirs.
- "partly": they point to it, but leave room for something else, or support only a part of it.
- "no": they do not show it, or show something else. A number, date or amount that no quote has is always "no".
`reason` says in a few words what the quotes show or lack; for "partly", which part of the value they do not support.

{RETRIEVED_WARNING}"""

    def prompt(self, asked: SupportToCheck) -> Prompt:
        values = "\n\n".join(
            f"{number}. {mark_question(describe_column(each.field))}\n{mark_text(number, each.value, 'value')}\n"
            f"{mark_text(number, quote_lines(each.evidence), 'quotes')}"
            for number, each in enumerate(asked.values, start=1)
        )
        return Prompt(
            instructions=self.instructions,
            text=f"The row:\n{row_block(asked.subject)}\n\n{values}",
            reply=CheckedValues,
            # A verdict and a sentence of reason for each value.
            max_tokens=100 + 100 * len(asked.values),
        )

    def check(self, asked: SupportToCheck, reply: Any) -> Mapping[str, Checked]:
        """Return a verdict for each column. A missing one is reported and does not count as a yes."""
        names = [each.field.name for each in asked.values]
        said = answers_by_number(reply.checked, len(names))
        verdicts = {names[number - 1]: each for number, each in said.items()}
        if missing := [name for name in names if name not in verdicts]:
            raise InvalidReply(f"there is no verdict on {', '.join(missing)}.", usable=verdicts)
        return verdicts

    def fallback(self, asked: SupportToCheck) -> Mapping[str, Checked]:
        return {}


# ── compare values ───────────────────────────────────────────────────────────────────────────────────────────────────


class DifferentValues(Struct, frozen=True):
    """Two values of a cell, each with its evidence."""

    field: Field
    value: str
    evidence: tuple[Evidence, ...]
    other: str
    other_evidence: tuple[Evidence, ...]


class ValuesToCompare(Struct, frozen=True):
    subject: Subject
    pairs: tuple[DifferentValues, ...]


class ComparedPair(BaseModel):
    number: int
    relation: Literal["contradict", "differ", "unclear"]
    reason: str


class ComparedPairs(BaseModel):
    compared: list[ComparedPair]


class CompareValues:
    name = "compare values"
    instructions = f"""\
Sources give different values for cells of one table row. For each numbered pair of values, say how they go together, \
by their quotes, each of which follows the title of its page:
- "contradict": both speak of the same thing, so at most one can be right for what the column asks.
- "differ": each can be right for what it speaks of, such as offers of two sellers, a price before and after a change, \
figures of two years, another plan, size or region, or a part and the whole.
- "unclear": the quotes do not tell.
`reason` says in a few words what the difference is.

{RETRIEVED_WARNING}"""

    def prompt(self, asked: ValuesToCompare) -> Prompt:
        pairs = "\n\n".join(
            f"{number}. {mark_question(describe_column(each.field))}\n"
            f"{mark_text(number, f'{each.value}{chr(10)}{quote_lines(each.evidence)}', 'one value')}\n"
            f"{mark_text(number, f'{each.other}{chr(10)}{quote_lines(each.other_evidence)}', 'other value')}"
            for number, each in enumerate(asked.pairs, start=1)
        )
        return Prompt(
            instructions=self.instructions,
            text=f"The row:\n{row_block(asked.subject)}\n\n{pairs}",
            reply=ComparedPairs,
            # A relation and a short reason for each pair.
            max_tokens=100 + 80 * len(asked.pairs),
        )

    def check(self, asked: ValuesToCompare, reply: Any) -> Sequence[ComparedPair]:
        """Return the relations in the order of the pairs; a missing one is unclear."""
        unclear = self.fallback(asked)
        said = answers_by_number(reply.compared, len(unclear))
        compared = [said.get(each.number, each) for each in unclear]
        if missing := [each.number for each in unclear if each.number not in said]:
            raise InvalidReply(f"pair {missing[0]} is not compared.", usable=compared)
        return compared

    def fallback(self, asked: ValuesToCompare) -> Sequence[ComparedPair]:
        return [ComparedPair(number=n, relation="unclear", reason="") for n in range(1, len(asked.pairs) + 1)]


# ── coverage ─────────────────────────────────────────────────────────────────────────────────────────────────────────


Rating: TypeAlias = Literal["high", "medium", "low"]


# Below even odds an answer is weak.
WEAK_CONFIDENCE = 0.5


class AnsweredField(Struct, frozen=True):
    field: Field
    value: str = ""
    evidence: tuple[Evidence, ...] = ()
    confidence: float = 0.0
    sources: int = 0
    conflict: bool = False


class CoverageToJudge(Struct, frozen=True):
    subject: Subject
    answers: tuple[AnsweredField, ...]
    opened: int
    """Number of pages that were read."""


class Coverage(Struct, frozen=True):
    rating: Rating
    weak: tuple[str, ...] = ()


class Verdict(BaseModel):
    rating: Rating
    # The schema keeps a small model from listing names forever.
    weak: list[str] = Key(max_length=20)


class JudgeCoverage:
    name = "judge coverage"
    instructions = f"""\
You judge how completely research answered the asked columns of one table row, by the values and the quotes that they \
rest on, each after the title of its page. You have not seen the pages.
- `rating`: "high" if each column is answered in full, as its question asks, by what its quotes say; "medium" if half \
of them are, or if parts of an answer are missing; "low" if fewer are, or if what was found does not answer the \
question.
- `weak`: the names of the columns that are missing, answered only in part, or answered by something else.

{RETRIEVED_WARNING}"""

    def prompt(self, asked: CoverageToJudge) -> Prompt:
        answers = "\n\n".join(
            f"{mark_question(describe_column(answer.field))}\n{describe_answered_field(number, answer)}"
            for number, answer in enumerate(asked.answers, start=1)
        )
        return Prompt(
            instructions=self.instructions,
            text=f"The row:\n{row_block(asked.subject)}\n\nPages read: {asked.opened}\n\n{answers}",
            reply=Verdict,
            # A rating and some names of columns.
            max_tokens=120,
        )

    def check(self, asked: CoverageToJudge, reply: Any) -> Coverage:
        known = {answer.field.name for answer in asked.answers}
        empty = tuple(answer.field.name for answer in asked.answers if not answer.value)
        if reply.rating == "high" and empty:
            left = Coverage(rating="low" if len(empty) == len(known) else "medium", weak=empty)
            raise InvalidReply(f"{', '.join(empty)} was not found, so coverage is not high.", usable=left)
        weak = dict.fromkeys((*empty, *(name for name in reply.weak if name in known)))
        # A low rating that names no column is about all of them.
        return Coverage(rating=reply.rating, weak=tuple(weak or (known if reply.rating == "low" else ())))

    def fallback(self, asked: CoverageToJudge) -> Coverage:
        weak = tuple(
            answer.field.name
            for answer in asked.answers
            if answer.confidence < WEAK_CONFIDENCE or answer.conflict or not answer.value
        )
        answered = sum(1 for answer in asked.answers if answer.value)
        share = answered / len(asked.answers) if asked.answers else 0.0
        # From 0.8 on, with a second source, it counts as well supported.
        well = all(answer.sources > 1 and answer.confidence >= 0.8 for answer in asked.answers)
        rating: Rating = "high" if share == 1 and (well or not weak) else "medium" if share >= 0.5 else "low"
        return Coverage(rating=rating, weak=weak)


def describe_answered_field(number: int, answer: AnsweredField) -> str:
    if not answer.value:
        return "Not found."
    sources = f"Sources: {answer.sources}{', which disagree' if answer.conflict else ''}"
    return (
        f"{mark_text(number, answer.value, 'value')}\n{mark_text(number, quote_lines(answer.evidence), 'quotes')}\n"
        f"{sources}"
    )
