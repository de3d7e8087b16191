"""More searches: what to look for next, so that a list becomes complete."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from tablewright.citations.quotes import WARNING, block, question_block
from tablewright.decisions.decision import Prompt
from tablewright.domain.condition import describe_condition
from tablewright.domain.listing import ListPlan
from tablewright.domain.model import Noun
from tablewright.domain.text import new_queries, shortened
from tablewright.models.text_budget import LIST_TITLE, NAME, NAMES

INSTRUCTIONS = f"""\
You look after a search for the rows of a table. You see what was found so far and where. Say which searches would \
find more of the things: other registers, directories, rankings and lists, other names for the same kind of thing, \
another language, a part of the field (a country, a year, a letter) that is missing among the names. At most 4 \
`queries`, none that was tried or only rewords one that was. No queries where the list is plainly complete or nothing \
more is to be expected.

{WARNING}"""
INSISTS = "\n\nThe user has seen what was found and asks for more: try what was not tried."


class SearchSoFar(Noun, frozen=True, gc=True):
    """`sources` are the pages read, each with how many of the things it lists or why it could not be read."""

    plan: ListPlan
    rows: int
    names: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]
    tried: tuple[str, ...]
    aside: int = 0
    """Of the names, those that fail a condition."""
    insists: bool = False
    """Whether the user has seen this and asks for more."""


class NextSearches(BaseModel):
    queries: list[str]


class MoreSearches:
    name = "more searches"

    def prompt(self, asked: SearchSoFar) -> Prompt:
        plan = asked.plan
        wanted = [plan.question, f"Things: {plan.things}", f"Rows wanted: {asked.rows}"]
        if plan.conditions:
            wanted.append(f"Conditions: {'; '.join(map(describe_condition, plan.conditions))}")
        names = "\n".join(shortened(name, NAME) for name in asked.names[:NAMES])
        read = "\n".join(f"{shortened(title, LIST_TITLE)}: {what}" for title, what in asked.sources)
        tried = "\n".join(asked.tried)
        failing = f", of which {asked.aside} fail a condition" if asked.aside else ""
        return Prompt(
            instructions=INSTRUCTIONS,
            text=(
                f"{question_block(chr(10).join(wanted))}\n\nTried searches:\n{block(0, tried)}\n\n"
                f"Pages:\n{block(1, read)}\n\nFound so far, {len(asked.names)}{failing}:\n{block(2, names)}"
                f"{INSISTS if asked.insists else ''}"
            ),
            reply=NextSearches,
            max_tokens=400,
        )

    def check(self, asked: SearchSoFar, reply: Any) -> tuple[str, ...]:
        return new_queries(reply.queries, asked.tried)[:4]

    def fallback(self, asked: SearchSoFar) -> tuple[str, ...]:
        return ()
