"""Support: do the quotes bear a value that a model concluded from them? Asked a second time, apart from the reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel

from tablewright.citations.untrusted import WARNING, block, question_block
from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.prompt_text import describe_column, quote_lines, row_block
from tablewright.domain.model import Evidence, Field, Noun
from tablewright.extraction.about import Subject

INSTRUCTIONS = f"""\
You check cells of a table row that somebody concluded from quotes, without having seen the pages. Each quote stands \
after the title of its page. For each numbered value: do its quotes alone, about this row, bear it?
- "yes": a careful reader of the quotes would conclude it; the wording need not be theirs.
- "partly": they point to it, but leave room for something else, or bear only a part of it.
- "no": they do not show it, or show something else. A name, number, date or amount that no quote has is always "no".
`reason` says in a few words what the quotes show or lack.

{WARNING}"""

Verdict: TypeAlias = Literal["yes", "partly", "no"]


class JudgedValue(Noun, frozen=True):
    field: Field
    value: str
    evidence: tuple[Evidence, ...]


class ToSupport(Noun, frozen=True):
    subject: Subject
    values: tuple[JudgedValue, ...]


class Supported(Noun, frozen=True):
    verdict: Verdict
    reason: str = ""


class Checked(BaseModel):
    number: int
    verdict: Verdict
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
            instructions=INSTRUCTIONS,
            text=f"The row:\n{row_block(asked.subject)}\n\n{values}",
            reply=CheckedValues,
            max_tokens=100 + 100 * len(asked.values),
        )

    def check(self, asked: ToSupport, reply: Any) -> Mapping[str, Supported]:
        """A verdict for each column; one that was left out says so, and does not count as a yes."""
        said = {each.number: Supported(verdict=each.verdict, reason=each.reason) for each in reply.checked}
        verdicts = {each.field.name: said[n] for n, each in enumerate(asked.values, start=1) if n in said}
        if missing := [each.field.name for each in asked.values if each.field.name not in verdicts]:
            raise Unusable(f"there is no verdict on {', '.join(missing)}.", usable=verdicts)
        return verdicts

    def fallback(self, asked: ToSupport) -> Mapping[str, Supported]:
        """Without a model nobody can say."""
        return {}
