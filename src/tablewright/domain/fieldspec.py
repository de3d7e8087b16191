"""Fields as people type them, `Founded:number=What year was {Company} founded?`, and {Column} in any text.

NAME [: TYPE [( UNIT or OPTIONS )]] [= QUESTION or FORMULA], such as `Weight:number(kg)=…` or `Size:select(S, M, L)=…`
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import get_args

from tablewright.domain.model import Field, FieldType, column_key
from tablewright.errors import BadField, did_you_mean

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
    named = named_placeholders(template)
    return replace_columns(
        template, {name: f"{{{names.get(name) or names.get(column_key(name), name)}}}" for name in named}
    )


def names_by_key(fields: Sequence[Field]) -> dict[str, str]:
    """Each name under itself and under its key; of two names with one key the first has it."""
    keys = {column_key(field.name): field.name for field in reversed(fields)}
    return keys | {field.name: field.name for field in fields}


def named_placeholders(template: str) -> list[str]:
    """Return what stands in the placeholders of a template, without outer space."""
    return [name.strip() for name in PLACEHOLDER.findall(template)]


def replace_columns(template: str, texts: Mapping[str, str], most: int = MOST_CHARACTERS) -> str:
    """Return the template with a text for each placeholder; raise BadField before these have more than `most`
    characters."""
    made = 0

    def text(match: re.Match[str]) -> str:
        nonlocal made
        found = texts[match[1].strip()]
        made += len(found)
        if made > most:
            raise BadField(
                f"With the values of this row, {template[:60]!r} is longer than {most:,} characters.",
                advice="Name fewer columns in it, or columns with shorter values.",
            )
        return found

    return PLACEHOLDER.sub(text, template)


# ── fields as people type them ───────────────────────────────────────────────────────────────────────────────────────

TYPES: tuple[str, ...] = get_args(FieldType)

_TYPED = re.compile(
    r"^(?P<name>.*?)(?<!\s)\s*:\s*(?P<type>[A-Za-z]+)\s*(?:[(\[](?P<detail>[^()\[\]]*)[)\]])?$", re.DOTALL
)
_ALMOST_TYPED = re.compile(rf"\S:(?:{'|'.join(TYPES)})\b")


def split_columns(text: str) -> list[str]:
    """At commas, but not inside brackets: "Size:select(S, M)" is one."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def parse_field(text: str) -> Field:
    left, _, question = text.partition("=")
    left = left.strip()
    typed = _TYPED.match(left)
    if typed is None and _ALMOST_TYPED.search(left):
        raise BadField(
            f"What stands behind the type in the field {text!r} cannot be read.",
            advice="A unit or options stand in brackets: `Weight:number(kg)=…`, `Size:select(S, M, L)=…`.",
        )
    if typed is None:
        return Field(name=checked_name(left, text), question=question.strip())
    kind = typed["type"].lower()
    if kind not in TYPES:
        raise BadField(
            f"{typed['type']!r} in the field {text!r} is not a type.",
            advice=f"{did_you_mean(kind, TYPES)}Types: {', '.join(TYPES)}.",
        )
    detail = (typed["detail"] or "").strip()
    options = tuple(option.strip() for option in re.split(r"[,|;]", detail) if option.strip())
    if kind == "select" and not options:
        raise BadField(
            f"The field {text!r} is a select without options.", advice="Write them like `Size:select(S, M, L)=…`."
        )
    return Field(
        name=checked_name(typed["name"], text),
        type=kind,  # type: ignore[arg-type]  # it is one of TYPES
        question=question.strip(),
        unit=detail if kind in ("number", "money") else "",
        options=options if kind == "select" else (),
    )


def checked_name(name: str, text: str) -> str:
    name = name.strip()
    if not name:
        raise BadField(f"The field {text!r} has no name.", advice="Write NAME:TYPE=QUESTION.")
    if "{" in name or "}" in name or len(name) > 300:
        raise BadField(f"{name[:40]!r} cannot be a field's name.", advice="Use at most 300 characters, no { or }.")
    return name
