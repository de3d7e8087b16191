"""`{Column}` placeholders in questions and formulas."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tablewright.errors import BadField
from tablewright.table.model import Field

PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


def columns_in(template: str, fields: Sequence[Field]) -> tuple[str, ...]:
    """The fields a template names, in order, each once, ignoring case. An unknown one is the writer's mistake."""
    by_name = {field.name.casefold(): field.name for field in fields}
    found: dict[str, None] = {}
    for name in PLACEHOLDER.findall(template):
        field = by_name.get(name.strip().casefold())
        if field is None:
            known = ", ".join(field.name for field in fields) or "none"
            raise BadField(f"{{{name}}} is not a column of this table.", advice=f"It has: {known}.")
        found[field] = None
    return tuple(found)


def replace_columns(template: str, text_of: Callable[[str], str]) -> str:
    return PLACEHOLDER.sub(lambda match: text_of(match[1].strip()), template)
