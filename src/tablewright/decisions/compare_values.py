"""Compare values: do sources that give different values for a cell contradict each other, or speak of two things?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel

from tablewright.citations.untrusted import WARNING, block, question_block
from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.prompt_text import describe_column, quote_lines, row_block
from tablewright.domain.model import Evidence, Field, Noun
from tablewright.extraction.about import Subject

INSTRUCTIONS = f"""\
Sources give different values for cells of one table row. For each numbered pair of values, say how they go together, \
by their quotes, each of which stands after the title of its page:
- "contradict": both speak of the same thing, so at most one can be right for what the column asks.
- "differ": each can be right for what it speaks of, such as offers of two sellers, a price before and after a change, \
figures of two years, another plan, size or region, or a part and the whole.
- "unclear": the quotes do not tell.
`reason` says in a few words what the difference is.

{WARNING}"""

Relation: TypeAlias = Literal["contradict", "differ", "unclear"]


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


class ComparedValues(Noun, frozen=True):
    relation: Relation = "unclear"
    reason: str = ""


class ComparedPair(BaseModel):
    number: int
    relation: Relation
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
            instructions=INSTRUCTIONS,
            text=f"The row:\n{row_block(asked.subject)}\n\n{pairs}",
            reply=ComparedPairs,
            max_tokens=100 + 80 * len(asked.pairs),
        )

    def check(self, asked: ToCompare, reply: Any) -> Sequence[ComparedValues]:
        """In the order of the pairs; one that was left out is unclear."""
        said = {each.number: ComparedValues(relation=each.relation, reason=each.reason) for each in reply.compared}
        compared = [said.get(number, ComparedValues()) for number in range(1, len(asked.pairs) + 1)]
        if missing := [number for number in range(1, len(asked.pairs) + 1) if number not in said]:
            raise Unusable(f"pair {missing[0]} is not compared.", usable=compared)
        return compared

    def fallback(self, asked: ToCompare) -> Sequence[ComparedValues]:
        """Without a model nobody can say."""
        return [ComparedValues() for _ in asked.pairs]
