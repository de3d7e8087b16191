"""Plan search patterns: which queries will find pages that answer the asked fields, for all rows of a table alike."""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.reader.relations import normal
from tablewright.table.model import Field, Noun
from tablewright.table.template import PLACEHOLDER

ENTITY = "%entity"
MOST = 4
FIELDS_A_PATTERN = 3

INSTRUCTIONS = (
    "You plan web searches for a table. Write 1 to 4 short search patterns that will find pages with the asked "
    f"columns. Every pattern contains {ENTITY}, which stands for the name of the row; {{Column}} stands for the value "
    "of another column. Write words that such pages use, no sentences, no operators."
)


class PlanPatterns(Noun, frozen=True):
    """`columns` are the other columns whose values help to find the right row; `samples` a few names of rows."""

    key: str
    fields: tuple[Field, ...]
    columns: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()


class Patterns(BaseModel):
    patterns: list[str] = Key(min_length=1, max_length=MOST)


class Plan:
    name = "plan search patterns"

    def prompt(self, asked: PlanPatterns) -> Prompt:
        columns = ", ".join(f"{{{column}}}" for column in asked.columns) or "none"
        wanted = "\n".join(
            f"- {field.name}: {field.question or field.description or field.type}" for field in asked.fields
        )
        names = "; ".join(asked.samples)
        return Prompt(
            instructions=INSTRUCTIONS,
            text=f"Rows: {asked.key} (such as {names})\nOther columns: {columns}\nAsked columns:\n{wanted}",
            reply=Patterns,
            max_tokens=200,
        )

    def accept(self, asked: PlanPatterns, reply: Any) -> tuple[str, ...]:
        known = {column.casefold() for column in asked.columns}
        patterns = []
        for pattern in reply.patterns:
            pattern = " ".join(pattern.split())[:200]
            used = {match[1].strip().casefold() for match in PLACEHOLDER.finditer(pattern)}
            if ENTITY in pattern and used <= known:
                patterns.append(pattern)
        if not patterns:
            raise Unusable(f"every pattern must contain {ENTITY} and may name only the listed columns.")
        return tuple(dict.fromkeys((*patterns, *self.rule(asked)[-1:])))[:MOST]

    def rule(self, asked: PlanPatterns) -> tuple[str, ...]:
        """The name with the words of a few fields at a time, and the name with what tells it from others."""
        groups = [
            asked.fields[start : start + FIELDS_A_PATTERN] for start in range(0, len(asked.fields), FIELDS_A_PATTERN)
        ]
        patterns = [" ".join((ENTITY, *(_words(field, asked.key) for field in group))) for group in groups[: MOST - 1]]
        telling = " ".join(f"{{{column}}}" for column in asked.columns[:2])
        return (*(" ".join(pattern.split()) for pattern in patterns), f"{ENTITY} {telling}".strip())


def _words(field: Field, key: str) -> str:
    """The field's name, what its question adds to it, and the other columns that the question names."""
    name = normal(field.name)
    asked = [
        word for word in normal(PLACEHOLDER.sub(" ", field.question)).split() if word not in _STOP and word not in name
    ]
    others = [f"{{{column}}}" for column in named_columns(field, key)]
    return " ".join((re.sub(r"[()/,]", " ", field.name), *asked[:3], *others))


def named_columns(field: Field, key: str) -> list[str]:
    """The columns beside the row's own name that a question speaks of: "the price of {Product} in {Market}"."""
    named = [name.strip() for name in PLACEHOLDER.findall(field.question)]
    return [name for name in dict.fromkeys(named) if name.casefold() != key.casefold()]


_STOP = frozenset(
    """a an and are as at be by can did do does for from had has have how in is it its many much of on or s that the
    this to was were what when where which who whom whose with find give list tell me us please current currently
    exact full official""".split()
)
