"""Annotate and summarise documents: the facts in an excerpt that the rules did not find, each with the quote that
states it, and summaries whose figures are all in the text."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.citations.evidence import find_proving_rule
from tablewright.citations.figures import prove_figures
from tablewright.citations.quotes import (
    RETRIEVED_WARNING,
    Unproved,
    locate_quote,
    mark_text,
    prove_items,
    prove_quote,
    prove_statement,
    remove_marks,
)
from tablewright.domain.model import Field, Struct
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import normalize_words
from tablewright.llm.tasks.decision import InvalidReply, Prompt, headed_block, join_parts
from tablewright.llm.text_budget import TEXT_LIMITS, sample_text
from tablewright.text import split_sentences
from tablewright.values.coerce import is_not_found

# Of one excerpt. More: a longer reply for facts that matter less and less.
MAX_FACTS = 20


class ExcerptToAnnotate(Struct, frozen=True):
    """An excerpt of a document; `known` are the labels and values that the rules found in it."""

    text: str
    title: str = ""
    known: tuple[tuple[str, str], ...] = ()
    most: int = MAX_FACTS


class ExtractedFact(Struct, frozen=True):
    """A fact. `value` is at `start:end` of the excerpt, the passage that states it at `quote_start:quote_end`."""

    label: str
    value: str
    start: int
    end: int
    quote_start: int
    quote_end: int


class Read(BaseModel):
    # A label is one to four words; a longer value or quote is a sentence rather than a fact.
    label: str = Key(max_length=60)
    value: str = Key(max_length=200)
    quote: str = Key(max_length=300)


class Facts(BaseModel):
    facts: list[Read] = Key(max_length=MAX_FACTS)


class AnnotateDocument:
    """Decides the further facts, in the order of the text. Without a model there are none besides those of the
    rules."""

    name = "annotate document"
    instructions = (
        "You read the facts of a document: names, dates, numbers, amounts, sizes, parties, places, identifiers. For "
        "each write `label`, what it is, in one to four words; `value`, exactly as the text writes it; and `quote`, "
        "the few words of the text that state it, copied exactly. Leave out what was already found and anything that "
        "is not a fact of this document. If there is nothing to add, give an empty list. " + RETRIEVED_WARNING
    )

    def prompt(self, asked: ExcerptToAnnotate) -> Prompt:
        known = [f"{label}: {value}" for label, value in asked.known]
        return Prompt(
            instructions=self.instructions,
            text=join_parts(
                mark_text(1, asked.text, asked.title),
                headed_block("Found already:", 2, known),
                f"Give at most {asked.most} further facts.",
            ),
            reply=Facts,
            # For each fact its label, its value and a short quote.
            max_tokens=80 + 60 * asked.most,
        )

    def check(self, asked: ExcerptToAnnotate, reply: Any) -> tuple[ExtractedFact, ...]:
        facts, failed = prove_items(
            reply.facts[: asked.most], lambda read: prove_fact(asked, read), lambda read: read.label
        )
        # Reversed, so that of two facts with one label at the same place the first stays.
        found = {(normalize_words(fact.label), fact.start): fact for fact in reversed(facts) if fact is not None}
        # Facts are extras: a second request is only worth its price if the first brought none.
        if failed and not found:
            # Five are enough to see what is wrong.
            raise InvalidReply(" ".join(fault for _, fault in failed[:5]), usable=())
        return tuple(sorted(found.values(), key=lambda fact: (fact.start, fact.label)))

    def fallback(self, asked: ExcerptToAnnotate) -> tuple[ExtractedFact, ...]:
        return ()


def prove_fact(asked: ExcerptToAnnotate, read: Read) -> ExtractedFact | None:
    """Return the fact with its places, or None if it is useless. Raise Unproved if no quote states it."""
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
    found = prove_quote(
        read.quote, [document], 1, proves=lambda sentence: bool(find_proving_rule(value, sentence, field))
    )
    passage = asked.text[found.start : found.end]
    if not find_proving_rule(value, passage, field):
        raise Unproved(f"{value!r} is not in its quote.")
    # The value may be written otherwise in the quote; then the whole passage counts as its place.
    place = locate_quote(value, passage) or (0, len(passage))
    start, end = found.start + place[0], found.start + place[1]
    return ExtractedFact(
        label=label, value=asked.text[start:end], start=start, end=end, quote_start=found.start, quote_end=found.end
    )


# As long as a summary that is made without a model (documents/summarise.py).
MAX_SUMMARY_WORDS = 150


class TextToSummarise(Struct, frozen=True):
    """A text to summarise; `extract` is a summary of its own sentences made without a model."""

    text: str
    extract: str
    title: str = ""
    tokens: int = TEXT_LIMITS.summary_tokens


class Summary(BaseModel):
    # Some ten characters a word: more is no summary of so many words.
    summary: str = Key(max_length=1_600)


class SummariseText:
    """Decides the text of the summary."""

    name = "summarise text"
    instructions = (
        f"You summarise a part of a document in at most {MAX_SUMMARY_WORDS} words: what it is, what it is about, which "
        "people and things it names, and which questions it could answer. Plain sentences, in the language of the "
        "text. Use only numbers and names that are in the text. " + RETRIEVED_WARNING
    )

    def prompt(self, asked: TextToSummarise) -> Prompt:
        return Prompt(
            instructions=self.instructions,
            text=f"{mark_text(1, sample_text(asked.text, asked.tokens), asked.title)}\n\nSummarise it.",
            reply=Summary,
            # Two tokens for each word.
            max_tokens=300,
        )

    def check(self, asked: TextToSummarise, reply: Any) -> str:
        """Return the sentences whose figures are in the text, up to the allowed number of words."""
        said = " ".join(remove_marks(reply.summary).split())
        sources = [asked.title, asked.text]

        def prove(sentence: str) -> str:
            prove_figures(sentence, sources, where="the text")
            return prove_statement(sentence)

        proved, failed = prove_items((said[start:end] for start, end in split_sentences(said)), prove, str)
        kept: list[str] = []
        for sentence in proved:
            # A shorter sentence that follows one that is too long may still fit.
            if sum(len(each.split()) for each in (*kept, sentence)) <= MAX_SUMMARY_WORDS:
                kept.append(sentence)
        if not kept:
            raise InvalidReply(failed[-1][1] if failed else "nothing is said", usable=asked.extract)
        return " ".join(kept)

    def fallback(self, asked: TextToSummarise) -> str:
        return asked.extract
