"""Choose pages: which search results are worth opening, judged by title, address and snippet alone.

One task for all who gather; what the pages are for, and which of them help most, is its goal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any

from msgspec import structs
from pydantic import BaseModel

from tablewright.citations.quotes import LEFT_OUT, WARNING, block, looks_like_prompt_injection, question_block
from tablewright.decisions.decision import (
    Prompt,
    Unusable,
    describe_columns,
    headed_block,
    join_parts,
    lines_block,
    pick_numbered,
    row_block,
)
from tablewright.decisions.shortlist.prompt_parts import wanted_block
from tablewright.decisions.take_notes import describe_research
from tablewright.domain.listing import ListPlan
from tablewright.domain.model import Field, Noun
from tablewright.domain.research import Brief
from tablewright.domain.rowkey import split_words
from tablewright.domain.shortlist import Requirements
from tablewright.domain.text import shortened
from tablewright.extraction.about import Subject, about
from tablewright.models.text_budget import RESULT_SNIPPET, RESULT_TITLE

FILL_A_ROW = """\
You choose which search results to open, to fill columns of one table row. Open results that are likely about this \
very row and likely to state the columns: its own or official page first, and an independent page that is likely to \
confirm it. Leave out results about others of a similar name, results about something else, and copies of each other. \
`numbers` are the results to open, the best first; none if none is worth opening."""
FIND_ROWS = """\
You choose which search results to open, to find the rows of a table. Best are pages that list many of the things, \
whole and with some of the columns: a register, a directory, an encyclopedia list, a ranking, a member list. Prefer \
pages of different sites over several of one: what independent lists agree on is sure, and where they differ shows \
what is missing. Open pages about single things only where no list is offered. `numbers` are the results to open, the \
best first; none if none is worth opening."""
RESEARCH = """\
You choose which search results to open for a piece of research. Open those that are likely to say something that \
helps: the page of whoever is asked about, what others report and compare, figures at their source, and sites that \
are independent of each other, also such as may say otherwise. Several pages of one site are welcome where each is \
likely to say something else. Leave out results about something else or about a namesake, and copies of each other. \
`numbers` are the results to open, the best first; none if none is worth opening."""
FIND_PRODUCTS = """\
You choose which search results to open, to find products that somebody may want to buy. Open pages that are likely \
to name suitable models: makers' own product pages and catalogues first, then comparisons and tests, and shops that \
sell where it is to be bought. Prefer many different makers over many pages of one. Leave out other goods, \
accessories and copies of each other. `numbers`: the results to open, the best first."""
MANY = 100
STRICT = " There are many results: choose only those that surely help."
ELSEWHERE = 0.35
"""Without a model: below this a result is about something else, and opening it would be a waste."""


class Offer(Noun, frozen=True):
    origin: str
    title: str
    snippet: str


def result_block(offers: Iterable[Offer], numbers: Iterable[int] = ()) -> str:
    """Return search results each on its own line under its number, from 1 unless they have `numbers`. A line break in
    one of them is no line break here, so none can pass for another."""
    lines = (
        f"[{number}] {harmless(offer.title, RESULT_TITLE)} — {offer.origin} — {harmless(offer.snippet, RESULT_SNIPPET)}"
        for number, offer in zip(numbers or count(1), offers, strict=False)
    )
    return block(0, "\n".join(lines), "search results")


def harmless(text: str, length: int) -> str:
    return LEFT_OUT if looks_like_prompt_injection(text) else shortened(text, length)


class ChoosePages(Noun, frozen=True, gc=True):
    """`asked` is what many requests share, such as the columns; `known` what this one is about."""

    goal: str
    known: str
    asked: str = ""
    offers: tuple[Offer, ...] = ()
    most: int = 3
    read: tuple[str, ...] = ()
    """Addresses that were read already."""
    subject: Subject | None = None
    """The row, where they are for one."""
    words: str = ""
    """What is looked for, for choosing without a model."""

    def among(self, offers: Iterable[Offer], most: int = 3, read: Iterable[str] = ()) -> ChoosePages:
        return structs.replace(self, offers=tuple(offers), most=most, read=tuple(read))


def pages_for_row(subject: Subject, fields: Sequence[Field], notes: Mapping[str, str] | None = None) -> ChoosePages:
    return ChoosePages(
        goal=FILL_A_ROW,
        known=f"The row:\n{row_block(subject, notes or {})}",
        asked=f"Columns:\n{question_block(describe_columns(fields))}",
        subject=subject,
        words=" ".join(f"{field.name} {field.question}" for field in fields),
    )


def pages_for_list(plan: ListPlan) -> ChoosePages:
    wanted = [plan.question, f"Things: {plan.things}", f"Columns: {', '.join(each.name for each in plan.fields)}"]
    wanted += [f"Such lists stand: {plan.places}"] if plan.places else []
    return ChoosePages(goal=FIND_ROWS, known=question_block("\n".join(wanted)))


def pages_for_research(brief: Brief, aims: Sequence[str]) -> ChoosePages:
    """`aims` say what the searches of the round are for."""
    known = f"Searched for:\n{lines_block(1, aims, 'searches')}"
    return ChoosePages(goal=RESEARCH, known=known, asked=describe_research(brief))


def pages_for_products(requirements: Requirements, lacking: Sequence[str] = ()) -> ChoosePages:
    """`lacking` are products whose maker's own page is still looked for."""
    known = join_parts(
        wanted_block(requirements), headed_block("Still without their maker's own page:", 1, lacking, "products")
    )
    return ChoosePages(goal=FIND_PRODUCTS, known=known)


class Choice(BaseModel):
    numbers: list[int]


class Choose:
    name = "choose pages"

    def prompt(self, asked: ChoosePages) -> Prompt:
        without = ", without finding these columns" if asked.subject is not None else ""
        read = f"\nRead already{without}: {', '.join(asked.read)}" if asked.read else ""
        strict = STRICT if len(asked.offers) > MANY else ""
        return Prompt(
            instructions=join_parts(asked.goal, WARNING, asked.asked),
            text=f"{asked.known}{read}\n\n{result_block(asked.offers)}\n\nChoose at most {asked.most}.{strict}",
            reply=Choice,
            max_tokens=80 + 8 * asked.most,
        )

    def check(self, asked: ChoosePages, reply: Any) -> tuple[str, ...]:
        """The model's choice is final."""
        chosen = [offer.origin for offer in pick_numbered(asked.offers, reply.numbers)]
        if reply.numbers and not chosen:
            raise Unusable(f"choose from the numbers 1 to {len(asked.offers)}.", usable=())
        return tuple(dict.fromkeys(chosen))[: asked.most]

    def fallback(self, asked: ChoosePages) -> tuple[str, ...]:
        """In the search's own order; for a row those most surely about it first, then those that share words with the
        columns."""
        if asked.subject is None:
            return tuple(offer.origin for offer in asked.offers)[: asked.most]
        words = {word for word in split_words(asked.words) if len(word) > 2}
        scored = []
        for place, offer in enumerate(asked.offers):
            fit = about(asked.subject, offer.title, offer.snippet)
            shared = len(words & set(split_words(f"{offer.title} {offer.snippet}")))
            scored.append((fit + 0.05 * min(3, shared) - 0.01 * place, fit, offer))
        scored.sort(key=lambda entry: -entry[0])
        return tuple(offer.origin for _, fit, offer in scored if fit >= ELSEWHERE)[: asked.most]
