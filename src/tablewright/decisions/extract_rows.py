"""Extract fields of several rows in one call, where their texts are short. Each row's answers are checked against its
own texts alone, so nothing that a neighbour's text says can land in a row."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model
from pydantic import Field as Key

from tablewright.decisions.decision import Prompt
from tablewright.decisions.extract import reply_for
from tablewright.decisions.untrusted import WARNING

INSTRUCTIONS = (
    "You fill the fields of several table rows from texts. Each row has its own texts: use for a row nothing but the "
    "texts that stand under it. For each field of each row write `value`: the shortest answer, as it would stand in a "
    "cell, never a sentence; and `quote`: the few words of that row's text that state it, copied exactly. If its texts "
    'do not state it about that row, leave both empty (""). ' + WARNING
)


def prompt_for_rows(alone: tuple[Prompt, ...], names: tuple[str, ...]) -> Prompt:
    """One prompt for rows that ask for the same fields, out of the prompts that would ask for each alone."""
    rows = "\n\n".join(f"=== ROW {number} ===\n{prompt.text}" for number, prompt in enumerate(alone, start=1))
    return Prompt(
        instructions=INSTRUCTIONS,
        text=rows,
        reply=reply_for_rows(names, len(alone)),
        max_tokens=sum(prompt.max_tokens for prompt in alone),
    )


@lru_cache(maxsize=256)
def reply_for_rows(names: tuple[str, ...], rows: int) -> type[BaseModel]:
    """A form with the answers of each row under its number."""
    fields: dict[str, Any] = {f"r{place}": (reply_for(names), Key(alias=f"row {place + 1}")) for place in range(rows)}
    return create_model("Rows", __config__=ConfigDict(populate_by_name=True), **fields)


def of_row(reply: Any, place: int) -> BaseModel:
    row: BaseModel = getattr(reply, f"r{place}")
    return row


def says_nothing(reply: BaseModel) -> bool:
    """A row that got no answer at all: perhaps the model lost it among the others."""
    return not any(getattr(reply, name).value.strip() for name in type(reply).model_fields)
