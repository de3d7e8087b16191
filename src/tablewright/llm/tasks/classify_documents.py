"""Classify documents by kind, in one or two words each, so that a question can be asked of all of a kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from tablewright.citations.quotes import RETRIEVED_WARNING
from tablewright.domain.model import Struct
from tablewright.domain.text import normalize_whitespace
from tablewright.llm.tasks.decision import InvalidReply, Prompt, answers_by_number, text_blocks
from tablewright.llm.text_budget import TEXT_LIMITS


class Beginning(Struct, frozen=True):
    name: str
    text: str


class DocumentsToClassify(Struct, frozen=True, gc=True):
    documents: tuple[Beginning, ...]
    kinds: tuple[str, ...] = ()


class KindOf(BaseModel):
    number: int
    kind: str


class KindsOf(BaseModel):
    kinds: list[KindOf]


class ClassifyDocuments:
    """Decides the kind of each document, by its place. Documents without a kind are left out."""

    name = "classify documents"
    instructions = f"""\
You sort a user's documents into kinds. For each numbered text, which is the beginning of a document, give its kind: \
what people in an office call such a paper, one or two lower-case English words in the singular ("invoice", "purchase \
order", "lab report", "lease", "meeting minutes", "email", "price list"). The format does not matter: an invoice that \
is a spreadsheet or a scan is an invoice. Use an existing kind if it fits; the same sort of paper always gets the same \
kind. A document unlike all others gets its own kind.

{RETRIEVED_WARNING}"""

    def prompt(self, asked: DocumentsToClassify) -> Prompt:
        texts = text_blocks((each.name, each.text[: TEXT_LIMITS.document_beginning]) for each in asked.documents)
        return Prompt(
            instructions=self.instructions,
            text=f"Kinds in use: {', '.join(asked.kinds) or 'none yet'}\n\n{texts}",
            reply=KindsOf,
            # A number and a kind of one or two words for each document.
            max_tokens=60 + 25 * len(asked.documents),
        )

    def check(self, asked: DocumentsToClassify, reply: Any) -> Mapping[int, str]:
        said = answers_by_number(reply.kinds, len(asked.documents))
        kinds = {number - 1: normalize_whitespace(each.kind.lower()) for number, each in said.items()}
        # Longer is a sentence, not a kind.
        kinds = {place: kind for place, kind in kinds.items() if 0 < len(kind) <= 40}
        if missing := [str(place + 1) for place in range(len(asked.documents)) if place not in kinds]:
            raise InvalidReply(f"there is no kind for {', '.join(missing)}.", usable=kinds)
        return kinds

    def fallback(self, asked: DocumentsToClassify) -> Mapping[int, str]:
        """Return nothing: documents keep the kinds that were guessed when they were read."""
        return {}
