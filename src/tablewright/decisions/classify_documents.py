"""Classify documents: what each of them is, in one or two words, so that a question can be asked of all of a kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from tablewright.citations.quotes import WARNING
from tablewright.decisions.decision import Prompt, Unusable, answers_by_number, text_blocks
from tablewright.domain.model import Noun
from tablewright.domain.text import normalize_whitespace
from tablewright.models.text_budget import BEGINNING

INSTRUCTIONS = f"""\
You sort somebody's documents into kinds. For each numbered text, which is the beginning of a document, give its kind: \
what people in an office call such a paper, one or two lower-case English words in the singular ("invoice", "purchase \
order", "lab report", "lease", "meeting minutes", "email", "price list"). The format does not matter: an invoice that \
is a spreadsheet or a scan is an invoice. Use a kind that is in use already where it fits; the same sort of paper \
always gets the same kind. A document of its own sort gets its own kind.

{WARNING}"""
LONGEST = 40


class Beginning(Noun, frozen=True):
    name: str
    text: str


class ToClassify(Noun, frozen=True, gc=True):
    documents: tuple[Beginning, ...]
    kinds: tuple[str, ...] = ()


class KindOf(BaseModel):
    number: int
    kind: str


class KindsOf(BaseModel):
    kinds: list[KindOf]


class ClassifyDocuments:
    """Decides the kind of each document, by its place; what has none is left out."""

    name = "classify documents"

    def prompt(self, asked: ToClassify) -> Prompt:
        texts = text_blocks((each.name, each.text[:BEGINNING]) for each in asked.documents)
        return Prompt(
            instructions=INSTRUCTIONS,
            text=f"Kinds in use: {', '.join(asked.kinds) or 'none yet'}\n\n{texts}",
            reply=KindsOf,
            max_tokens=60 + 25 * len(asked.documents),
        )

    def check(self, asked: ToClassify, reply: Any) -> Mapping[int, str]:
        said = answers_by_number(reply.kinds, len(asked.documents))
        kinds = {number - 1: normalize_whitespace(each.kind.lower()) for number, each in said.items()}
        kinds = {place: kind for place, kind in kinds.items() if 0 < len(kind) <= LONGEST}
        if missing := [str(place + 1) for place in range(len(asked.documents)) if place not in kinds]:
            raise Unusable(f"there is no kind for {', '.join(missing)}.", usable=kinds)
        return kinds

    def fallback(self, asked: ToClassify) -> Mapping[int, str]:
        """Return nothing: the kinds that were guessed when the documents were read stay."""
        return {}
