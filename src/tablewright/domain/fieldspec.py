"""Fields as people type them: `Founded:number=What year was {Company} founded?`

NAME [: TYPE [( UNIT or OPTIONS )]] [= QUESTION or FORMULA], such as `Weight:number(kg)=…` or `Size:select(S, M, L)=…`
"""

from __future__ import annotations

import re
from typing import get_args

from tablewright.domain.model import Field, FieldType
from tablewright.errors import BadField, did_you_mean

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
