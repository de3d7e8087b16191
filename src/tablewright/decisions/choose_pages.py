"""Choose pages: which search results are worth opening for a row, judged by title, address and snippet alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from tablewright.citations.untrusted import LEFT_OUT, WARNING, block, looks_like_prompt_injection, question_block
from tablewright.decisions.decision import Prompt, Unusable, pick_numbered
from tablewright.decisions.read import columns, row_block
from tablewright.domain.model import Field, Noun
from tablewright.domain.rowkey import fold, tokenize
from tablewright.domain.text import shortened
from tablewright.extraction.about import Subject, about
from tablewright.models.text_budget import RESULT_SNIPPET, RESULT_TITLE

INSTRUCTIONS = """\
You choose which search results to open, to fill columns of one table row. Open results that are likely about this \
very row and likely to state the columns: its own or official page first, and an independent page that is likely to \
confirm it. Leave out results about others of a similar name, results about something else, and copies of each other. \
`numbers` are the results to open, the best first; none if none is worth opening.
"""
ELSEWHERE = 0.35
"""Without a model: below this a result is about something else, and opening it would be a waste."""


class Offer(Noun, frozen=True):
    origin: str
    title: str
    snippet: str


def listed(offers: Sequence[tuple[int, Offer]]) -> str:
    """Search results as a prompt shows them, each on its own line under its number. A line break in one of them is no
    line break here, so none can pass for another."""
    lines = (
        f"[{number}] {harmless(offer.title, RESULT_TITLE)} — {offer.origin} — {harmless(offer.snippet, RESULT_SNIPPET)}"
        for number, offer in offers
    )
    return block(0, "\n".join(lines), "search results")


def harmless(text: str, length: int) -> str:
    return LEFT_OUT if looks_like_prompt_injection(text) else shortened(text, length)


class ChoosePages(Noun, frozen=True):
    subject: Subject
    fields: tuple[Field, ...]
    offers: tuple[Offer, ...]
    most: int = 3
    notes: Mapping[str, str] = {}
    read: tuple[str, ...] = ()
    """Addresses of pages that were read for the row already."""


class Choice(BaseModel):
    numbers: list[int]


class ChooseResults:
    """Choose among the `offers` of what is asked, at `most` so many. The model's choice is final."""

    def check(self, asked: Any, reply: Any) -> tuple[str, ...]:
        chosen = [offer.origin for offer in pick_numbered(asked.offers, reply.numbers)]
        if reply.numbers and not chosen:
            raise Unusable(f"choose from the numbers 1 to {len(asked.offers)}.", usable=())
        return tuple(dict.fromkeys(chosen))[: asked.most]

    def fallback(self, asked: Any) -> tuple[str, ...]:
        """In the order of the searches."""
        return tuple(offer.origin for offer in asked.offers)[: asked.most]


class Choose(ChooseResults):
    name = "choose pages"

    def prompt(self, asked: ChoosePages) -> Prompt:
        results = listed(list(enumerate(asked.offers, start=1)))
        read = f"\nRead already, without finding these columns: {', '.join(asked.read)}" if asked.read else ""
        row = f"The row:\n{row_block(asked.subject, asked.notes)}{read}"
        return Prompt(
            instructions=f"{INSTRUCTIONS}\n{WARNING}\n\nColumns:\n{question_block(columns(asked.fields, {}))}",
            text=f"{row}\n\n{results}\n\nChoose at most {asked.most}.",
            reply=Choice,
            max_tokens=80,
        )

    def fallback(self, asked: ChoosePages) -> tuple[str, ...]:
        """Those most surely about the row first, then those that share words with the columns, then the search's own
        order."""
        named = " ".join(f"{field.name} {field.question}" for field in asked.fields)
        words = {word for word in tokenize(fold(named)) if len(word) > 2}
        scored = []
        for place, offer in enumerate(asked.offers):
            fit = about(asked.subject, offer.title, offer.snippet)
            shared = len(words & set(tokenize(fold(f"{offer.title} {offer.snippet}"))))
            scored.append((fit + 0.05 * min(3, shared) - 0.01 * place, fit, offer))
        scored.sort(key=lambda entry: -entry[0])
        return tuple(offer.origin for _, fit, offer in scored if fit >= ELSEWHERE)[: asked.most]
