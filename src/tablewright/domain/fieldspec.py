"""Parse fields as people type them, `Founded:number=What year was {Company} founded?`, and fill {Column} placeholders.

NAME [: TYPE [( UNIT or OPTIONS )]] [= QUESTION or FORMULA], such as `Weight:number(kg)=…` or `Size:select(S, M, L)=…`
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import get_args

from tablewright.domain.model import Field, FieldType, column_key
from tablewright.errors import BadField, did_you_mean

PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


def find_template_columns(template: str, fields: Sequence[Field], making: Collection[str] = ()) -> tuple[str, ...]:
    """Return the columns that a template names, in order, without repeats, in their own spelling.

    Raise BadField for an unknown one; its advice lists the columns except those in `making`."""
    names = index_column_names(fields)
    found: dict[str, None] = {}
    for name in PLACEHOLDER.findall(template):
        column = names.get(name.strip()) or names.get(column_key(name))
        if column is None:
            known = ", ".join(field.name for field in fields if field.name not in making) or "none"
            raise BadField(f"{{{name}}} is not a column of this table.", advice=f"It has: {known}.")
        found[column] = None
    return tuple(found)


def normalize_placeholders(template: str, fields: Sequence[Field]) -> str:
    """Return the template with each placeholder in its column's spelling; unknown placeholders are kept."""
    names = index_column_names(fields)
    named = list_placeholders(template)
    return fill_template(
        template, {name: f"{{{names.get(name) or names.get(column_key(name), name)}}}" for name in named}
    )


def index_column_names(fields: Sequence[Field]) -> dict[str, str]:
    """Return the names by themselves and by their keys; if two names share a key, the first one wins."""
    keys = {column_key(field.name): field.name for field in reversed(fields)}
    return keys | {field.name: field.name for field in fields}


def list_placeholders(template: str) -> list[str]:
    """Return the names in the placeholders of a template, without outer space."""
    return [name.strip() for name in PLACEHOLDER.findall(template)]


def fill_template(template: str, texts: Mapping[str, str], most: int = 100_000) -> str:
    """Return the template with its placeholders filled in. Raise BadField if the texts exceed `most` characters."""
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

FIELD_TYPES: tuple[str, ...] = get_args(FieldType)


def split_field_specs(text: str) -> list[str]:
    """Split at commas outside brackets: "Size:select(S, M)" is one field."""
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
    typed = re.match(
        r"^(?P<name>.*?)(?<!\s)\s*:\s*(?P<type>[A-Za-z]+)\s*(?:[(\[](?P<detail>[^()\[\]]*)[)\]])?$", left, re.DOTALL
    )
    if typed is None and re.search(rf"\S:(?:{'|'.join(FIELD_TYPES)})\b", left):
        raise BadField(
            f"The text after the type in the field {text!r} cannot be read.",
            advice="Put a unit or options in brackets: `Weight:number(kg)=…`, `Size:select(S, M, L)=…`.",
        )
    if typed is None:
        return Field(name=check_field_name(left, text), question=question.strip())
    kind = typed["type"].lower()
    if kind not in FIELD_TYPES:
        raise BadField(
            f"{typed['type']!r} in the field {text!r} is not a type.",
            advice=f"{did_you_mean(kind, FIELD_TYPES)}Types: {', '.join(FIELD_TYPES)}.",
        )
    detail = (typed["detail"] or "").strip()
    options = tuple(option.strip() for option in re.split(r"[,|;]", detail) if option.strip())
    if kind == "select" and not options:
        raise BadField(
            f"The field {text!r} is a select without options.", advice="Write them like `Size:select(S, M, L)=…`."
        )
    return Field(
        name=check_field_name(typed["name"], text),
        type=kind,  # type: ignore[arg-type]  # it is one of TYPES
        question=question.strip(),
        unit=detail if kind in ("number", "money") else "",
        options=options if kind == "select" else (),
    )


def check_field_name(name: str, text: str) -> str:
    name = name.strip()
    if not name:
        raise BadField(f"The field {text!r} has no name.", advice="Write NAME:TYPE=QUESTION.")
    if "{" in name or "}" in name or len(name) > 300:
        raise BadField(f"{name[:40]!r} cannot be a field's name.", advice="Use at most 300 characters, no { or }.")
    return name
