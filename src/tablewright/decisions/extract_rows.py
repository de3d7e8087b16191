"""Extract fields of several rows in one call, where their texts are short. Each row's answers are checked against its
own texts alone, so nothing that a neighbour's text says can land in a row."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model
from pydantic import Field as Key

from tablewright.decisions.decision import Prompt
from tablewright.decisions.extract import PASSAGES_TRIED, Extract, reply_for, supported
from tablewright.extraction.candidate import Candidate
from tablewright.extraction.passages import passages
from tablewright.extraction.relations import normal
from tablewright.table.evidence import follows, locate
from tablewright.table.model import Field
from tablewright.table.untrusted import WARNING

ALIKE = 0.7
"""The share of a quote's words that a passage must have to be the one that was meant."""
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


def accepted(asked: Extract, reply: Any, neighbours: Sequence[str]) -> dict[str, list[Candidate]] | None:
    """What the row's own texts support; None where that is nothing, or where the rows seem to have been mixed up.

    A value that a neighbour's text has as well is this row's only if its quote stands in this row's text: it could
    stand there about something else."""
    found: dict[str, list[Candidate]] = {}
    for place, field in enumerate(asked.fields):
        answer = getattr(reply, f"f{place}")
        value, quote = answer.value.strip(), answer.quote.strip()
        if any(stated(value, quote, source.text, field) for source in asked.sources):
            candidate, _ = supported(asked, field, value, quote)
        elif any(has(text, value) for text in neighbours):
            return None
        else:
            candidate, _ = supported(asked, field, value, "")
        found[field.name] = [candidate] if candidate else []
    return found if any(found.values()) else None


def has(text: str, value: str) -> bool:
    return bool(value) and f" {normal(value)} " in f" {normal(text)} "


def stated(value: str, quote: str, text: str, field: Field) -> bool:
    """Whether the quote stands in the text and gives the value; a word or two of it may be otherwise."""
    if not value or not quote:
        return False
    if (found := locate(quote, text)) is not None:
        return bool(follows(value, text[found[0] : found[1]], field))
    quoted = set(normal(quote).split())
    for start, end in passages(text).pieces[:PASSAGES_TRIED]:
        piece = text[start:end]
        alike = len(quoted & set(normal(piece).split())) >= ALIKE * len(quoted)
        if alike and follows(value, piece, field):
            return True
    return False
