"""Annotate a document: the facts in an excerpt that the rules did not find, each with the words that state it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.citations.evidence import follows
from tablewright.citations.quotes import WARNING, Unproved, block, locate_quote, prove_each, prove_quote
from tablewright.decisions.decision import Prompt, Unusable, headed_block, join_parts
from tablewright.domain.model import Field, Noun
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import normalize_words
from tablewright.values.coerce import is_not_found

MOST_FACTS = 20
LONGEST_LABEL = 60

INSTRUCTIONS = (
    "You read the facts of a document: names, dates, numbers, amounts, sizes, parties, places, identifiers. For each "
    "write `label`, what it is, in one to four words; `value`, exactly as the text writes it; and `quote`, the few "
    "words of the text that state it, copied exactly. Leave out what is found already, and what is no fact of this "
    "document. With nothing to add give an empty list. " + WARNING
)


class AnnotateDocument(Noun, frozen=True):
    """An excerpt of a document. `known` are the labels and values that the rules found in it."""

    text: str
    title: str = ""
    known: tuple[tuple[str, str], ...] = ()
    most: int = MOST_FACTS


class ExtractedFact(Noun, frozen=True):
    """`value` stands at `start:end` of the excerpt, the passage that states it at `quote_start:quote_end`."""

    label: str
    value: str
    start: int
    end: int
    quote_start: int
    quote_end: int


class Read(BaseModel):
    label: str = Key(max_length=LONGEST_LABEL)
    value: str = Key(max_length=200)
    quote: str = Key(max_length=300)


class Facts(BaseModel):
    facts: list[Read] = Key(max_length=MOST_FACTS)


class Annotate:
    """Decides the further facts, in the order of the text. No rule of ours finds what the rules did not."""

    name = "annotate document"

    def prompt(self, asked: AnnotateDocument) -> Prompt:
        known = [f"{label}: {value}" for label, value in asked.known]
        return Prompt(
            instructions=INSTRUCTIONS,
            text=join_parts(
                block(1, asked.text, asked.title),
                headed_block("Found already:", 2, known),
                f"Give at most {asked.most} further facts.",
            ),
            reply=Facts,
            max_tokens=80 + 60 * asked.most,
        )

    def check(self, asked: AnnotateDocument, reply: Any) -> tuple[ExtractedFact, ...]:
        facts, failed = prove_each(
            reply.facts[: asked.most], lambda read: prove_fact(asked, read), lambda read: read.label
        )
        found = {(normalize_words(fact.label), fact.start): fact for fact in reversed(facts) if fact is not None}
        if failed and not found:
            raise Unusable(" ".join(fault for _, fault in failed[:5]), usable=())
        return tuple(sorted(found.values(), key=lambda fact: (fact.start, fact.label)))

    def fallback(self, asked: AnnotateDocument) -> tuple[ExtractedFact, ...]:
        return ()


def prove_fact(asked: AnnotateDocument, read: Read) -> ExtractedFact | None:
    """Return the fact with its places, or None for one that is of no use. Raises Unproved."""
    label, value = " ".join(read.label.split()).strip(" :"), read.value.strip()
    known = {(normalize_words(name), normalize_words(said)) for name, said in asked.known}
    if (
        not normalize_words(label)
        or not normalize_words(value)
        or is_not_found(value)
        or (normalize_words(label), normalize_words(value)) in known
    ):
        return None
    field = Field(name=label)
    document = Retrieved(origin="", text=asked.text, kind="document")
    found = prove_quote(read.quote, [document], 1, proves=lambda sentence: bool(follows(value, sentence, field)))
    passage = asked.text[found.start : found.end]
    if not follows(value, passage, field):
        raise Unproved(f"{value!r} is not in its quote.")
    place = locate_quote(value, passage) or (0, len(passage))
    start, end = found.start + place[0], found.start + place[1]
    return ExtractedFact(
        label=label, value=asked.text[start:end], start=start, end=end, quote_start=found.start, quote_end=found.end
    )
