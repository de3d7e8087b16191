"""Choose pages: which search results are worth opening, judged by title and snippet alone."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.decision import Prompt, Unusable
from tablewright.extraction.about import Subject, about
from tablewright.extraction.relations import normal
from tablewright.extraction.wanted import wanted
from tablewright.table.model import Field, Noun
from tablewright.table.untrusted import WARNING, block

INSTRUCTIONS = (
    "You choose which search results to open, to fill fields of one table row. Choose results that are about exactly "
    "this row and likely to state the fields; the row's own or official page and encyclopedias first. Answer with "
    "their numbers, the best first. " + WARNING
)
SURELY = 0.85
ELSEWHERE = 0.35
"""Below this a result is about something else, and opening it would be a waste."""


class Offer(Noun, frozen=True):
    origin: str
    title: str
    snippet: str


class ChoosePages(Noun, frozen=True):
    subject: Subject
    fields: tuple[Field, ...]
    offers: tuple[Offer, ...]
    most: int = 3


class Choice(BaseModel):
    numbers: list[int] = Key(max_length=10)


class Choose:
    name = "choose pages"

    def prompt(self, asked: ChoosePages) -> Prompt:
        results = "\n".join(
            block(number, f"{offer.title}\n{offer.origin}\n{offer.snippet[:300]}")
            for number, offer in enumerate(asked.offers, start=1)
        )
        fields = ", ".join(field.name for field in asked.fields)
        return Prompt(
            instructions=INSTRUCTIONS,
            text=f"Row: {asked.subject.described}\nFields: {fields}\n\n{results}\n\nChoose at most {asked.most}.",
            reply=Choice,
            max_tokens=60,
        )

    def check(self, asked: ChoosePages, reply: Any) -> tuple[str, ...]:
        """Only numbers that were offered count, so no text can add an address of its own."""
        chosen = [asked.offers[number - 1].origin for number in reply.numbers if 1 <= number <= len(asked.offers)]
        if reply.numbers and not chosen:
            raise Unusable(f"choose from the numbers 1 to {len(asked.offers)}.")
        return tuple(dict.fromkeys((*chosen, *self.fallback(asked))))[: asked.most]

    def is_plain(self, asked: ChoosePages) -> bool:
        """Whether a result is so surely about the row that a model need not be asked."""
        return any(about(asked.subject, offer.title, offer.snippet) >= SURELY for offer in asked.offers)

    def fallback(self, asked: ChoosePages) -> tuple[str, ...]:
        """Those most surely about the row first; then those that speak of the fields, then the search's own order."""
        words = {word for field in asked.fields for label in wanted(field).labels for word in label.split()}
        scored = []
        for place, offer in enumerate(asked.offers):
            fit = about(asked.subject, offer.title, offer.snippet)
            spoken = len(words & set(normal(f"{offer.title} {offer.snippet}").split()))
            scored.append((fit + 0.05 * min(3, spoken) - 0.01 * place, fit, offer))
        scored.sort(key=lambda entry: -entry[0])
        return tuple(offer.origin for _, fit, offer in scored if fit >= ELSEWHERE)[: asked.most]
