"""Plan search patterns: queries with placeholders that find pages stating the asked fields. First for all rows of a
table, then for a row whose first searches left fields missing or unsure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.citations.quotes import (
    RETRIEVED_WARNING,
    clean_line,
    looks_like_prompt_injection,
    mark_question,
    mark_text,
)
from tablewright.domain.fieldspec import PLACEHOLDER
from tablewright.domain.model import Field, Struct, WeakColumn
from tablewright.domain.rowkey import fold_text, split_words
from tablewright.extraction.subject import Subject
from tablewright.llm.tasks.decision import InvalidReply, Prompt, add_missing_keys, describe_columns, row_block
from tablewright.llm.text_budget import split_batches
from tablewright.text import SMALL_WORDS, word_roots

ENTITY_PLACEHOLDER = "%entity"
# Each pattern is a paid search for every row that the patterns before it did not answer.
MAX_PATTERNS = 4
# Of a row that is searched for again: one pattern may find nothing new either.
MIN_RETRY_PATTERNS = 2


class PatternsToPlan(Struct, frozen=True):
    """The fields that patterns are for. `columns` are the other columns of the table, `telling` those that help to
    identify a row without a model, and `sample` is one of its rows."""

    key: str
    fields: tuple[Field, ...]
    columns: tuple[str, ...] = ()
    telling: tuple[str, ...] = ()
    sample: Subject = Subject(name="")
    table: str = ""


class OtherPatternsToPlan(PatternsToPlan, frozen=True):
    """Fields of the row `sample` to search for again. `avoid` are the patterns that were tried, `weak` says why they
    were not enough, and `notes` are what people said about its cells, by column."""

    attempt: int = 2
    avoid: tuple[str, ...] = ()
    weak: tuple[WeakColumn, ...] = ()
    notes: Mapping[str, str] = {}


class Patterns(BaseModel):
    patterns: list[str] = Key(min_length=1, max_length=MAX_PATTERNS)


class OtherPatterns(BaseModel):
    """No patterns where no other words are likely to find more."""

    name: str
    patterns: list[str] = Key(max_length=MAX_PATTERNS)

    _complete = add_missing_keys(name="")


class RowPatterns(Struct, frozen=True):
    """Patterns for one row. `name` is another form of its name, which they have in place of it, or ""."""

    patterns: tuple[str, ...] = ()
    name: str = ""


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
            f"One of the rows:\n{row_block(asked.sample)}\n\n"
        )
        return Prompt(
            instructions=f"{self.instructions}{RETRIEVED_WARNING}",
            text=f"{rows}Asked columns:\n{wanted}\n\nWrite one to {MAX_PATTERNS} patterns.",
            reply=Patterns,
            max_tokens=300,
        )

    def check(self, asked: PatternsToPlan, reply: Any) -> tuple[str, ...]:
        patterns = usable_patterns(asked, reply.patterns)
        if not patterns:
            raise InvalidReply(
                f"every pattern must contain {ENTITY_PLACEHOLDER}, may name only the listed columns, and is "
                "for all rows: it has no words of the sample's cells."
            )
        return patterns[:MAX_PATTERNS]

    def fallback(self, asked: PatternsToPlan) -> tuple[str, ...]:
        """Return the name with the words of a few columns at a time, and the name with the telling columns."""
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


class PlanOtherPatterns:
    """Plan for one row, whose first searches were not enough."""

    name = "plan other search patterns"
    instructions = f"""\
You plan further web searches for one row of a table, because the first ones left some of its columns missing or \
unsure. Write new search patterns that find other pages, which state these columns or settle them; no pattern at all \
if no other words are likely to find more.

- `name`: the form of the row's name to search for: as the row has it or, if no result was about the row, another form \
that pages may use, such as the full, the short, a former or the original one.
- `patterns`: each contains {ENTITY_PLACEHOLDER}, which stands for that name; {{Column}} stands for the row's value of \
another column and helps to tell it from others of its name: write the placeholder, never the value. Short, in words \
that such pages use, no sentences, no operators, and no guess of what a cell may hold.
"""

    def prompt(self, asked: OtherPatternsToPlan) -> Prompt:
        others = ", ".join(f"{{{column}}}" for column in asked.columns) or "none"
        tried = "\n".join(f"- {pattern}" for pattern in asked.avoid)
        reasons: dict[str, list[str]] = {}
        for weak in asked.weak:
            reasons.setdefault(weak.reason, []).append(weak.name)
        results = "\n".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
        brought = f"What they brought:\n{mark_text(1, results)}\n" if results else ""
        hints = "".join(f"{hint}\n" for hint in dict.fromkeys(weak.hint for weak in asked.weak))
        return Prompt(
            instructions=f"{self.instructions}{RETRIEVED_WARNING}",
            text=f"The table {asked.table!r}; other columns: {others}\nThe row:\n"
            f"{row_block(asked.sample, asked.notes)}\n\n"
            f"[CONTEXT: RETRY ATTEMPT {asked.attempt}]\nPatterns used before:\n{tried}\n{brought}\n"
            f"[TASK]\nWrite at most {count_retry_patterns(asked)} NEW patterns, for these columns only:\n"
            f"{mark_question(describe_columns(asked.fields))}\n{hints}",
            reply=OtherPatterns,
            max_tokens=300,
        )

    def check(self, asked: OtherPatternsToPlan, reply: Any) -> RowPatterns:
        if not reply.patterns:
            return RowPatterns()
        said = clean_line(reply.name)
        name = "" if fold_text(said) == fold_text(asked.sample.name) else said
        # Another cell's words are private unless a pattern may name its column.
        if has_sample_words(name, asked) or looks_like_prompt_injection(name):
            raise InvalidReply("the name has words of the row's other cells.", usable=RowPatterns())
        patterns = usable_patterns(asked, reply.patterns)
        if not patterns:
            raise InvalidReply(
                f"every pattern must contain {ENTITY_PLACEHOLDER}, may name only the listed columns in braces, and has "
                "no words of the row's other cells.",
                usable=RowPatterns(),
            )
        tried = {" ".join(split_words(pattern)) for pattern in asked.avoid}
        spelled = dict.fromkeys(pattern.replace(ENTITY_PLACEHOLDER, name or ENTITY_PLACEHOLDER) for pattern in patterns)
        new = tuple(pattern for pattern in spelled if " ".join(split_words(pattern)) not in tried)
        if not new:
            raise InvalidReply("these patterns were tried. Use other words.", usable=RowPatterns())
        return RowPatterns(patterns=new[: count_retry_patterns(asked)], name=name)

    def fallback(self, asked: OtherPatternsToPlan) -> RowPatterns:
        """Return the name with each column and a kind of page that was not tried."""
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
        return RowPatterns(patterns=tuple(dict.fromkeys(patterns)))


def count_retry_patterns(asked: OtherPatternsToPlan) -> int:
    """Return how many patterns a row may get: at least two, and one for each of several columns."""
    return min(MAX_PATTERNS, max(MIN_RETRY_PATTERNS, len(asked.fields)))


def usable_patterns(asked: PatternsToPlan, patterns: Iterable[str]) -> tuple[str, ...]:
    """Return the patterns that have the row's name, name only known columns, and have no words of the sample's other
    cells."""
    known = {column.casefold() for column in asked.columns}
    tidy = dict.fromkeys(tidy_pattern(pattern, asked) for pattern in patterns)
    return tuple(
        pattern
        for pattern in tidy
        if ENTITY_PLACEHOLDER in pattern
        and {match[1].strip().casefold() for match in PLACEHOLDER.finditer(pattern)} <= known
        and not looks_like_prompt_injection(pattern)
        and not has_sample_words(pattern, asked)
    )


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
