"""Summarise a text: what a large part of a document is about, in few words and with no number that it does not hold."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.citations.figures import prove_figures
from tablewright.citations.quotes import WARNING, block, clean, prove_each, prove_statement
from tablewright.decisions.decision import Prompt, Unusable
from tablewright.domain.model import Noun
from tablewright.models.text_budget import SUMMARY_TOKENS, sample_text
from tablewright.text import split_sentences

MOST_WORDS = 150

INSTRUCTIONS = (
    f"You summarise a part of a document in at most {MOST_WORDS} words: what it is, what it is about, whom and what it "
    "names, which questions it could answer. Plain sentences, in the language of the text. Use only numbers and names "
    "that stand in the text. " + WARNING
)


class SummariseText(Noun, frozen=True):
    """`extract` is the summary of its own sentences that needs no model."""

    text: str
    extract: str
    title: str = ""
    tokens: int = SUMMARY_TOKENS


class Summary(BaseModel):
    summary: str = Key(max_length=1_600)


class Summarise:
    """Decides the text of the summary."""

    name = "summarise text"

    def prompt(self, asked: SummariseText) -> Prompt:
        return Prompt(
            instructions=INSTRUCTIONS,
            text=f"{block(1, sample_text(asked.text, asked.tokens), asked.title)}\n\nSummarise it.",
            reply=Summary,
            max_tokens=300,
        )

    def check(self, asked: SummariseText, reply: Any) -> str:
        """The sentences whose figures the text has, as far as they go within the words allowed."""
        said = " ".join(clean(reply.summary).split())
        sources = [asked.title, asked.text]

        def prove(sentence: str) -> str:
            prove_figures(sentence, sources, where="the text")
            return prove_statement(sentence)

        proved, failed = prove_each((said[start:end] for start, end in split_sentences(said)), prove, str)
        kept: list[str] = []
        for sentence in proved:
            if sum(len(each.split()) for each in (*kept, sentence)) <= MOST_WORDS:
                kept.append(sentence)
        if not kept:
            raise Unusable(failed[-1][1] if failed else "nothing is said", usable=asked.extract)
        return " ".join(kept)

    def fallback(self, asked: SummariseText) -> str:
        return asked.extract
