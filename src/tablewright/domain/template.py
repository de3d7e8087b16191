"""`{Column}` placeholders in questions and formulas."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from tablewright.domain.model import Field, column_key
from tablewright.errors import BadField

PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
MOST_CHARACTERS = 100_000
"""Of a question with the values of a row in it."""


def columns_in(template: str, fields: Sequence[Field], making: Collection[str] = ()) -> tuple[str, ...]:
    """The fields a template names, in order, each once, however they are spelled. An unknown one is the writer's
    mistake; the advice does not offer the columns that are being made."""
    names = names_by_key(fields)
    found: dict[str, None] = {}
    for name in PLACEHOLDER.findall(template):
        column = names.get(name.strip()) or names.get(column_key(name))
        if column is None:
            known = ", ".join(field.name for field in fields if field.name not in making) or "none"
            raise BadField(f"{{{name}}} is not a column of this table.", advice=f"It has: {known}.")
        found[column] = None
    return tuple(found)


def spelled_as_columns(template: str, fields: Sequence[Field]) -> str:
    """The template with each placeholder as its column is spelled; those of no column stay as they are."""
    names = names_by_key(fields)

    def spelled(name: str) -> str:
        return f"{{{names.get(name) or names.get(column_key(name), name)}}}"

    return replace_columns(template, spelled)


def names_by_key(fields: Sequence[Field]) -> dict[str, str]:
    """Each name under itself and under its key; of two names with one key the first has it."""
    keys = {column_key(field.name): field.name for field in reversed(fields)}
    return keys | {field.name: field.name for field in fields}


def replace_columns(template: str, text_of: Callable[[str], str], most: int = MOST_CHARACTERS) -> str:
    """Return the template with a text for each placeholder; raise BadField before these have more than `most`
    characters."""
    made = 0

    def text(match: re.Match[str]) -> str:
        nonlocal made
        found = text_of(match[1].strip())
        made += len(found)
        if made > most:
            raise BadField(
                f"With the values of this row, {template[:60]!r} is longer than {most:,} characters.",
                advice="Name fewer columns in it, or columns with shorter values.",
            )
        return found

    return PLACEHOLDER.sub(text, template)
