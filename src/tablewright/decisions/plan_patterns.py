"""Plan search patterns: which queries will find pages that answer the asked fields, for all rows of a table alike."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.citations.quotes import WARNING, block, looks_like_prompt_injection, question_block
from tablewright.decisions.decision import Prompt, Unusable, describe_columns, row_block
from tablewright.domain.fieldspec import PLACEHOLDER
from tablewright.domain.model import Field, Noun, WeakColumn
from tablewright.domain.rowkey import fold, split_words
from tablewright.extraction.about import Subject
from tablewright.models.text_budget import batches
from tablewright.text import SMALL_WORDS, roots

ENTITY = "%entity"
NOBODY = Subject(name="")
MOST = 4
MOST_AGAIN = 2
FIELDS_A_PATTERN = 3

INSTRUCTIONS = f"""\
You plan web searches for a table. Write search patterns that together find the pages which state the asked columns. \
They are tried for every row in your order, the next only where the ones before brought nothing of use. Every pattern \
contains {ENTITY}, which stands for the name of the row; {{Column}} stands for the row's value of another column and \
helps to tell it from others of its name. Short, in words that such pages use, no sentences, no operators.
"""
OTHER_PAGES = ("profile", "facts", "specifications", "history", "about")
"""Without a model: words of the pages that often state what others do not."""


class PlanPatterns(Noun, frozen=True):
    """`columns` are the other columns of the table, and `telling` those of them that help to find the right row without
    a model; `sample` is one of its rows.

    On another attempt, `avoid` are the patterns that were tried, `weak` says why they were not enough, and `notes` are,
    by column, what people said of a row's cell."""

    key: str
    fields: tuple[Field, ...]
    columns: tuple[str, ...] = ()
    telling: tuple[str, ...] = ()
    sample: Subject = NOBODY
    table: str = ""
    attempt: int = 1
    avoid: tuple[str, ...] = ()
    weak: tuple[WeakColumn, ...] = ()
    notes: Mapping[str, str] = {}

    @property
    def is_again(self) -> bool:
        return bool(self.avoid)


class Patterns(BaseModel):
    patterns: list[str] = Key(min_length=1, max_length=MOST)


class NewPatterns(BaseModel):
    """None where no other words are likely to find more."""

    patterns: list[str] = Key(max_length=MOST)


class Plan:
    name = "plan search patterns"

    def prompt(self, asked: PlanPatterns) -> Prompt:
        others = ", ".join(f"{{{column}}}" for column in asked.columns) or "none"
        wanted = question_block(describe_columns(asked.fields))
        rows = (
            f"The table {asked.table!r}. {ENTITY} is the column {asked.key}; other columns: {others}\n"
            f"One of the rows:\n{row_block(asked.sample, asked.notes)}\n\n"
        )
        return Prompt(
            instructions=f"{INSTRUCTIONS}{WARNING}",
            text=f"{rows}{self._again(asked, wanted)}"
            if asked.is_again
            else f"{rows}Asked columns:\n{wanted}\n\nWrite one to {MOST} patterns.",
            reply=NewPatterns if asked.is_again else Patterns,
            max_tokens=300,
        )

    def _again(self, asked: PlanPatterns, wanted: str) -> str:
        """Return what was tried, why it was weak, and that the new patterns are for the weak columns alone."""
        tried = "\n".join(f"- {pattern}" for pattern in asked.avoid)
        reasons: dict[str, list[str]] = {}
        for weak in asked.weak:
            reasons.setdefault(weak.reason, []).append(weak.name)
        results = "\n".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
        brought = f"What they brought:\n{block(1, results)}\n" if results else ""
        hints = "".join(f"{hint}\n" for hint in dict.fromkeys(weak.hint for weak in asked.weak))
        return (
            f"[CONTEXT: RETRY ATTEMPT {asked.attempt}]\nPatterns used before:\n{tried}\n"
            f"{brought}\n"
            f"[TASK]\nWrite one or {MOST_AGAIN} NEW patterns, for these columns only:\n{wanted}\n{hints}"
            "Use other words than the patterns before; no pattern at all if no other words are likely to find more."
        )

    def check(self, asked: PlanPatterns, reply: Any) -> tuple[str, ...]:
        if asked.is_again and not reply.patterns:
            return ()
        known = {column.casefold() for column in asked.columns}
        patterns = []
        for pattern in reply.patterns:
            pattern = tidy(pattern, asked)
            used = {match[1].strip().casefold() for match in PLACEHOLDER.finditer(pattern)}
            if (
                ENTITY in pattern
                and used <= known
                and not looks_like_prompt_injection(pattern)
                and not copies_cell(pattern, asked)
            ):
                patterns.append(pattern)
        if not patterns:
            raise Unusable(
                f"every pattern must contain {ENTITY}, may name only the listed columns, and is for all rows: it has "
                "no words of the sample's cells."
            )
        if not asked.is_again:
            return tuple(dict.fromkeys(patterns))[:MOST]
        tried = {" ".join(split_words(pattern)) for pattern in asked.avoid}
        new = tuple(dict.fromkeys(pattern for pattern in patterns if " ".join(split_words(pattern)) not in tried))
        if not new:
            raise Unusable("these patterns were tried. Use other words.", usable=())
        return new[:MOST_AGAIN]

    def fallback(self, asked: PlanPatterns) -> tuple[str, ...]:
        """The name with the words of a few columns at a time, and the name with what tells it from others; on another
        attempt, the name with each column and a kind of page that was not tried."""
        if asked.is_again:
            return self._other_pages(asked)
        groups = islice(batches(asked.fields, most=FIELDS_A_PATTERN), MOST - 1)
        patterns = [" ".join((ENTITY, *(_words(field, asked.key) for field in group))) for group in groups]
        telling = " ".join(f"{{{column}}}" for column in asked.telling[:2])
        patterns.append(f"{ENTITY} {telling}")
        if len(asked.fields) == 1:  # a question by itself may be asked from three angles
            patterns.append(f"{patterns[0]} {OTHER_PAGES[0]}")
        return tuple(" ".join(pattern.split()) for pattern in patterns)

    def _other_pages(self, asked: PlanPatterns) -> tuple[str, ...]:
        tried = {word for pattern in asked.avoid for word in split_words(pattern)}
        new = next((page for page in OTHER_PAGES if page not in tried), "")
        patterns = [
            " ".join((ENTITY, field.name, new, *(f"{{{column}}}" for column in named_columns(field, asked.key))))
            for field in asked.fields
            if new
        ]
        return tuple(dict.fromkeys(patterns))


def tidy(pattern: str, asked: PlanPatterns) -> str:
    """As it was meant: the row's own column is the entity, however it is marked, and what is asked for has no value to
    put in. "Founded: %Company% in {Founded}" → "Founded: %entity in"."""
    own = {asked.key.casefold(), ENTITY[1:]}
    unknown = {field.name.casefold().replace(" ", "") for field in asked.fields}

    def marked(match: re.Match[str]) -> str:
        name = (match[1] or match[2]).strip().strip("%").casefold()
        if name in own:
            return ENTITY
        return "" if name.replace(" ", "") in unknown else match[0]

    return " ".join(_MARKED.sub(marked, pattern).split())[:200]


def copies_cell(pattern: str, asked: PlanPatterns) -> bool:
    """True if a pattern, which goes to a search engine for every row, has words of the sample row's other cells: such
    a cell is put in by the name of its column, or not at all."""
    own = (asked.key, asked.table, asked.sample.name, *asked.columns, describe_columns(asked.fields))
    cells = {word for text in asked.sample.context.values() for word in roots(text, telling=True)}
    cells -= {word for text in own for word in roots(text)}
    return not cells.isdisjoint(roots(PLACEHOLDER.sub(" ", pattern.replace(ENTITY, " "))))


_MARKED = re.compile(r"\{([^{}]+)\}|%(\w+(?: \w+)*%|\w+)")


def _words(field: Field, key: str) -> str:
    """The field's name, what its question adds to it, and the other columns that the question names."""
    name = fold(field.name)
    spoken = split_words(PLACEHOLDER.sub(" ", field.question))
    asked = [word for word in spoken if word.isalnum() and word not in SMALL_WORDS and word not in name]
    others = [f"{{{column}}}" for column in named_columns(field, key)]
    return " ".join((re.sub(r"[()/,]", " ", field.name), *asked[:3], *others))


def named_columns(field: Field, key: str) -> list[str]:
    """The columns beside the row's own name that a question speaks of: "the price of {Product} in {Market}"."""
    named = [name.strip() for name in PLACEHOLDER.findall(field.question)]
    return [name for name in dict.fromkeys(named) if name.casefold() != key.casefold()]
