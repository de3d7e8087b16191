"""Plan search patterns: queries with placeholders that find pages stating the asked fields, for all rows of a table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.citations.quotes import RETRIEVED_WARNING, looks_like_prompt_injection, mark_question, mark_text
from tablewright.domain.fieldspec import PLACEHOLDER
from tablewright.domain.model import Field, Struct, WeakColumn
from tablewright.domain.rowkey import fold_text, split_words
from tablewright.extraction.subject import Subject
from tablewright.llm.tasks.decision import InvalidReply, Prompt, describe_columns, row_block
from tablewright.llm.text_budget import split_batches
from tablewright.text import SMALL_WORDS, word_roots

ENTITY_PLACEHOLDER = "%entity"
# Each pattern is a paid search for every row that the patterns before it did not answer.
MAX_PATTERNS = 4
# Fewer on another attempt, which is for the weak columns alone.
MAX_RETRY_PATTERNS = 2


class PatternsToPlan(Struct, frozen=True):
    """The fields that patterns are for. `columns` are the other columns of the table, `telling` those that help to
    identify a row without a model, and `sample` is one of its rows.

    On another attempt, `avoid` are the patterns that were tried, `weak` says why they were not enough, and `notes` are
    what people said about a row's cells, by column.
    """

    key: str
    fields: tuple[Field, ...]
    columns: tuple[str, ...] = ()
    telling: tuple[str, ...] = ()
    sample: Subject = Subject(name="")
    table: str = ""
    attempt: int = 1
    avoid: tuple[str, ...] = ()
    weak: tuple[WeakColumn, ...] = ()
    notes: Mapping[str, str] = {}

    @property
    def is_again(self) -> bool:
        return bool(self.avoid)


class Patterns(BaseModel):
    patterns: list[str] = Key(min_length=1, max_length=MAX_PATTERNS)


class NewPatterns(BaseModel):
    """None where no other words are likely to find more."""

    patterns: list[str] = Key(max_length=MAX_PATTERNS)


class PlanPatterns:
    name = "plan search patterns"
    instructions = f"""\
You plan web searches for a table. Write search patterns that together find the pages which state the asked columns. \
They are tried for every row in your order, the next only where the ones before brought nothing of use. Every pattern \
contains {ENTITY_PLACEHOLDER}, which stands for the name of the row; {{Column}} stands for the row's value of another \
column and helps to tell it from others of its name. Short, in words that such pages use, no sentences, no operators.
"""

    def prompt(self, asked: PatternsToPlan) -> Prompt:
        others = ", ".join(f"{{{column}}}" for column in asked.columns) or "none"
        wanted = mark_question(describe_columns(asked.fields))
        rows = (
            f"The table {asked.table!r}. {ENTITY_PLACEHOLDER} is the column {asked.key}; other columns: {others}\n"
            f"One of the rows:\n{row_block(asked.sample, asked.notes)}\n\n"
        )
        return Prompt(
            instructions=f"{self.instructions}{RETRIEVED_WARNING}",
            text=f"{rows}{self._again(asked, wanted)}"
            if asked.is_again
            else f"{rows}Asked columns:\n{wanted}\n\nWrite one to {MAX_PATTERNS} patterns.",
            reply=NewPatterns if asked.is_again else Patterns,
            max_tokens=300,
        )

    def _again(self, asked: PatternsToPlan, wanted: str) -> str:
        """Return the part of the prompt for another attempt: what was tried, why it was weak, which columns remain."""
        tried = "\n".join(f"- {pattern}" for pattern in asked.avoid)
        reasons: dict[str, list[str]] = {}
        for weak in asked.weak:
            reasons.setdefault(weak.reason, []).append(weak.name)
        results = "\n".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
        brought = f"What they brought:\n{mark_text(1, results)}\n" if results else ""
        hints = "".join(f"{hint}\n" for hint in dict.fromkeys(weak.hint for weak in asked.weak))
        return (
            f"[CONTEXT: RETRY ATTEMPT {asked.attempt}]\nPatterns used before:\n{tried}\n"
            f"{brought}\n"
            f"[TASK]\nWrite one or {MAX_RETRY_PATTERNS} NEW patterns, for these columns only:\n{wanted}\n{hints}"
            "Use other words than the patterns before; no pattern at all if no other words are likely to find more."
        )

    def check(self, asked: PatternsToPlan, reply: Any) -> tuple[str, ...]:
        if asked.is_again and not reply.patterns:
            return ()
        known = {column.casefold() for column in asked.columns}
        patterns = []
        for pattern in reply.patterns:
            pattern = tidy_pattern(pattern, asked)
            used = {match[1].strip().casefold() for match in PLACEHOLDER.finditer(pattern)}
            if (
                ENTITY_PLACEHOLDER in pattern
                and used <= known
                and not looks_like_prompt_injection(pattern)
                and not has_sample_words(pattern, asked)
            ):
                patterns.append(pattern)
        if not patterns:
            raise InvalidReply(
                f"every pattern must contain {ENTITY_PLACEHOLDER}, may name only the listed columns, and is "
                "for all rows: it has no words of the sample's cells."
            )
        if not asked.is_again:
            return tuple(dict.fromkeys(patterns))[:MAX_PATTERNS]
        tried = {" ".join(split_words(pattern)) for pattern in asked.avoid}
        new = tuple(dict.fromkeys(pattern for pattern in patterns if " ".join(split_words(pattern)) not in tried))
        if not new:
            raise InvalidReply("these patterns were tried. Use other words.", usable=())
        return new[:MAX_RETRY_PATTERNS]

    def fallback(self, asked: PatternsToPlan) -> tuple[str, ...]:
        """Return the name with the words of a few columns at a time, and the name with the telling columns. On another
        attempt, return the name with each column and a kind of page that was not tried."""
        if asked.is_again:
            return self._other_pages(asked)
        # Three columns at a time keep a pattern short. The last pattern is for the telling columns.
        groups = islice(split_batches(asked.fields, most=3), MAX_PATTERNS - 1)
        patterns = [
            " ".join((ENTITY_PLACEHOLDER, *(_search_words(field, asked.key) for field in group))) for group in groups
        ]
        telling = " ".join(f"{{{column}}}" for column in asked.telling[:2])
        patterns.append(f"{ENTITY_PLACEHOLDER} {telling}")
        # A single question is worth a third search.
        if len(asked.fields) == 1:
            patterns.append(f"{patterns[0]} profile")
        return tuple(" ".join(pattern.split()) for pattern in patterns)

    def _other_pages(self, asked: PatternsToPlan) -> tuple[str, ...]:
        tried = {word for pattern in asked.avoid for word in split_words(pattern)}
        # Kinds of pages that often state what others do not.
        kinds = ("profile", "facts", "specifications", "history", "about")
        new = next((page for page in kinds if page not in tried), "")
        patterns = [
            " ".join(
                (
                    ENTITY_PLACEHOLDER,
                    field.name,
                    new,
                    *(f"{{{column}}}" for column in columns_in_question(field, asked.key)),
                )
            )
            for field in asked.fields
            if new
        ]
        return tuple(dict.fromkeys(patterns))


def tidy_pattern(pattern: str, asked: PatternsToPlan) -> str:
    """Return the pattern with the row's own column as the entity, and without placeholders of asked columns, which have
    no value yet. "Founded: %Company% in {Founded}" → "Founded: %entity in"."""
    own = {asked.key.casefold(), ENTITY_PLACEHOLDER[1:]}
    unknown = {field.name.casefold().replace(" ", "") for field in asked.fields}

    def marked(match: re.Match[str]) -> str:
        name = (match[1] or match[2]).strip().strip("%").casefold()
        if name in own:
            return ENTITY_PLACEHOLDER
        return "" if name.replace(" ", "") in unknown else match[0]

    # Patterns are short; the cut keeps a reply that runs on from becoming a query.
    return " ".join(re.sub(r"\{([^{}]+)\}|%(\w+(?: \w+)*%|\w+)", marked, pattern).split())[:200]


def has_sample_words(pattern: str, asked: PatternsToPlan) -> bool:
    """Return True if the pattern has words of the sample row's cells, which would be wrong for all other rows."""
    own = (asked.key, asked.table, asked.sample.name, *asked.columns, describe_columns(asked.fields))
    cells = {word for text in asked.sample.context.values() for word in word_roots(text, telling=True)}
    # Words that the sample shares with the columns or the table are for all rows.
    cells -= {word for text in own for word in word_roots(text)}
    return not cells.isdisjoint(word_roots(PLACEHOLDER.sub(" ", pattern.replace(ENTITY_PLACEHOLDER, " "))))


def _search_words(field: Field, key: str) -> str:
    """Return the field's name, the words that its question adds, and the other columns that the question names."""
    name = fold_text(field.name)
    spoken = split_words(PLACEHOLDER.sub(" ", field.question))
    asked = [word for word in spoken if word.isalnum() and word not in SMALL_WORDS and word not in name]
    others = [f"{{{column}}}" for column in columns_in_question(field, key)]
    # Marks in a name have a meaning of their own for search engines. Three words of a question say what it is about.
    return " ".join((re.sub(r"[()/,]", " ", field.name), *asked[:3], *others))


def columns_in_question(field: Field, key: str) -> list[str]:
    """Return the columns in a question other than the row's name: "the price of {Product} in {Market}"."""
    named = [name.strip() for name in PLACEHOLDER.findall(field.question)]
    return [name for name in dict.fromkeys(named) if name.casefold() != key.casefold()]
