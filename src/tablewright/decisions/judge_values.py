"""Judge values: three judgements on what was read for one row, none of which sees the pages again.

* Support: do the quotes bear a value that a model concluded from them? Asked a second time, apart from the reading.
* Compare values: do different values for a cell contradict each other, or speak of two things?
* Coverage: how completely the asked fields are answered, for the person who reads the trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.citations.quotes import WARNING, block, marked, question_block
from tablewright.decisions.decision import Prompt, Unusable, answers_by_number, describe_column, quote_lines, row_block
from tablewright.domain.model import Evidence, Field, Noun
from tablewright.extraction.about import Subject

# ── support ──────────────────────────────────────────────────────────────────────────────────────────────────────────

SUPPORT = f"""\
You check cells of a table row that somebody concluded from quotes, without having seen the pages. Each quote stands \
after the title of its page. For each numbered value: do its quotes alone, about this row, bear it?
- "yes": a careful reader of the quotes would conclude it; the wording need not be theirs.
- "partly": they point to it, but leave room for something else, or bear only a part of it.
- "no": they do not show it, or show something else. A name, number, date or amount that no quote has is always "no".
`reason` says in a few words what the quotes show or lack.

{WARNING}"""


class JudgedValue(Noun, frozen=True):
    field: Field
    value: str
    evidence: tuple[Evidence, ...]


class ToSupport(Noun, frozen=True):
    subject: Subject
    values: tuple[JudgedValue, ...]


class Checked(BaseModel):
    number: int
    verdict: Literal["yes", "partly", "no"]
    reason: str


class CheckedValues(BaseModel):
    checked: list[Checked]


class Support:
    name = "support"

    def prompt(self, asked: ToSupport) -> Prompt:
        values = "\n\n".join(
            f"{number}. {question_block(describe_column(each.field))}\n{block(number, each.value, 'value')}\n"
            f"{block(number, quote_lines(each.evidence), 'quotes')}"
            for number, each in enumerate(asked.values, start=1)
        )
        return Prompt(
            instructions=SUPPORT,
            text=f"The row:\n{row_block(asked.subject)}\n\n{values}",
            reply=CheckedValues,
            max_tokens=100 + 100 * len(asked.values),
        )

    def check(self, asked: ToSupport, reply: Any) -> Mapping[str, Checked]:
        """Return a verdict for each column; a missing one is reported, and does not count as a yes."""
        names = [each.field.name for each in asked.values]
        said = answers_by_number(reply.checked, len(names))
        verdicts = {names[number - 1]: each for number, each in said.items()}
        if missing := [name for name in names if name not in verdicts]:
            raise Unusable(f"there is no verdict on {', '.join(missing)}.", usable=verdicts)
        return verdicts

    def fallback(self, asked: ToSupport) -> Mapping[str, Checked]:
        return {}


# ── compare values ───────────────────────────────────────────────────────────────────────────────────────────────────

COMPARE = f"""\
Sources give different values for cells of one table row. For each numbered pair of values, say how they go together, \
by their quotes, each of which stands after the title of its page:
- "contradict": both speak of the same thing, so at most one can be right for what the column asks.
- "differ": each can be right for what it speaks of, such as offers of two sellers, a price before and after a change, \
figures of two years, another plan, size or region, or a part and the whole.
- "unclear": the quotes do not tell.
`reason` says in a few words what the difference is.

{WARNING}"""


class DifferentValues(Noun, frozen=True):
    """Two values of a cell, each with what it was read from."""

    field: Field
    value: str
    evidence: tuple[Evidence, ...]
    other: str
    other_evidence: tuple[Evidence, ...]


class ToCompare(Noun, frozen=True):
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

    def prompt(self, asked: ToCompare) -> Prompt:
        pairs = "\n\n".join(
            f"{number}. {question_block(describe_column(each.field))}\n"
            f"{block(number, f'{each.value}{chr(10)}{quote_lines(each.evidence)}', 'one value')}\n"
            f"{block(number, f'{each.other}{chr(10)}{quote_lines(each.other_evidence)}', 'other value')}"
            for number, each in enumerate(asked.pairs, start=1)
        )
        return Prompt(
            instructions=COMPARE,
            text=f"The row:\n{row_block(asked.subject)}\n\n{pairs}",
            reply=ComparedPairs,
            max_tokens=100 + 80 * len(asked.pairs),
        )

    def check(self, asked: ToCompare, reply: Any) -> Sequence[ComparedPair]:
        """Return them in the order of the pairs; a missing one is unclear."""
        unclear = self.fallback(asked)
        said = answers_by_number(reply.compared, len(unclear))
        compared = [said.get(each.number, each) for each in unclear]
        if missing := [each.number for each in unclear if each.number not in said]:
            raise Unusable(f"pair {missing[0]} is not compared.", usable=compared)
        return compared

    def fallback(self, asked: ToCompare) -> Sequence[ComparedPair]:
        return [ComparedPair(number=n, relation="unclear", reason="") for n in range(1, len(asked.pairs) + 1)]


# ── coverage ─────────────────────────────────────────────────────────────────────────────────────────────────────────

COVERAGE = (
    "You judge how completely research answered the asked fields of one table row: high (all answered by good "
    "sources), medium (mostly, or from one source), low (hardly). Name the fields that are missing or weak. " + WARNING
)


Rating: TypeAlias = Literal["high", "medium", "low"]


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
            instructions=COVERAGE,
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
