"""Choose which search results are worth opening, by title, address and snippet alone.

One task for rows, lists, research and products; its `goal` says what the pages are for and which of them help most.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any

from msgspec import structs
from pydantic import BaseModel

from tablewright.citations.quotes import (
    LEFT_OUT,
    RETRIEVED_WARNING,
    looks_like_prompt_injection,
    mark_question,
    mark_text,
)
from tablewright.domain.listing import ListPlan
from tablewright.domain.model import Field, Struct
from tablewright.domain.research import Brief
from tablewright.domain.rowkey import split_words
from tablewright.domain.shortlist import Requirements
from tablewright.domain.text import shorten_text
from tablewright.extraction.subject import SUBJECT_SCORES, Subject, score_subject_match
from tablewright.llm.tasks.decision import (
    InvalidReply,
    Prompt,
    describe_columns,
    headed_block,
    join_parts,
    lines_block,
    pick_numbered,
    row_block,
)
from tablewright.llm.tasks.shortlist.prompt_parts import wanted_block
from tablewright.llm.tasks.take_notes import describe_research
from tablewright.llm.text_budget import TEXT_LIMITS

# What the pages are for: the instructions.
PAGE_GOALS = {
    "row": """\
You choose which search results to open, to fill columns of one table row. Open results that are likely about this \
very row and likely to state the columns: its own or official page first, and an independent page that is likely to \
confirm it. Leave out results about others of a similar name, results about something else, and copies of each other. \
`numbers` are the results to open, the best first; none if none is worth opening.""",
    "list": """\
You choose which search results to open, to find the rows of a table. Best are pages that list many of the things, \
whole and with some of the columns: a register, a directory, an encyclopedia list, a ranking, a member list. Prefer \
pages of different sites over several of one: what independent lists agree on is reliable, and where they differ shows \
what is missing. Open pages about single things only where no list is offered. `numbers` are the results to open, the \
best first; none if none is worth opening.""",
    "research": """\
You choose which search results to open for a piece of research. Open those that are likely to say something that \
helps: the page of the person or organisation in question, what others report and compare, figures at their source, \
and sites that are independent of each other, including ones that may disagree. Several pages of one site are welcome \
if each is likely to say something different. Leave out results about something else or about a namesake, and copies \
of each other. `numbers` are the results to open, the best first; none if none is worth opening.""",
    "products": """\
You choose which search results to open, to find products that a user may want to buy. Open pages that are likely to \
name suitable models: makers' own product pages and catalogues first, then comparisons and tests, and shops that sell \
in the buyer's region. Prefer many different makers over many pages of one. Leave out other goods, accessories and \
copies of each other. `numbers`: the results to open, the best first.""",
}


class Offer(Struct, frozen=True):
    origin: str
    title: str
    snippet: str


def result_block(offers: Iterable[Offer], numbers: Iterable[int] = ()) -> str:
    """Return search results, one per line under its number, from 1 unless they have `numbers`. Line breaks in a result
    are removed, so that it cannot fake another."""
    lines = (
        f"[{number}] {' — '.join(describe_result(offer))}"
        for number, offer in zip(numbers or count(1), offers, strict=False)
    )
    return mark_text(0, "\n".join(lines), "search results")


def describe_result(offer: Offer) -> tuple[str, str]:
    """Return the page of a result, by its title and address, and what the search shows of it."""
    title, snippet = TEXT_LIMITS.result_title, TEXT_LIMITS.result_snippet
    return f"{clip_harmless(offer.title, title)} — {offer.origin}", clip_harmless(offer.snippet, snippet)


def clip_harmless(text: str, length: int) -> str:
    return LEFT_OUT if looks_like_prompt_injection(text) else shorten_text(text, length)


class PagesToChoose(Struct, frozen=True, gc=True):
    """Search results to choose from. `asked` is the part that many requests share, such as the columns; `known` is what
    this one is about."""

    goal: str
    known: str
    asked: str = ""
    offers: tuple[Offer, ...] = ()
    most: int = 3
    read: tuple[str, ...] = ()
    """Addresses that were read already."""
    subject: Subject | None = None
    """The row, if the pages are for one."""
    words: str = ""
    """Words of what is searched for, for choosing without a model."""

    def among(self, offers: Iterable[Offer], most: int = 3, read: Iterable[str] = ()) -> PagesToChoose:
        return structs.replace(self, offers=tuple(offers), most=most, read=tuple(read))


def pages_for_row(subject: Subject, fields: Sequence[Field], notes: Mapping[str, str] | None = None) -> PagesToChoose:
    return PagesToChoose(
        goal=PAGE_GOALS["row"],
        known=f"The row:\n{row_block(subject, notes or {})}",
        asked=f"Columns:\n{mark_question(describe_columns(fields))}",
        subject=subject,
        words=" ".join(f"{field.name} {field.question}" for field in fields),
    )


def pages_for_list(plan: ListPlan) -> PagesToChoose:
    wanted = [plan.question, f"Things: {plan.things}", f"Columns: {', '.join(each.name for each in plan.fields)}"]
    wanted += [f"Where such lists are: {plan.places}"] if plan.places else []
    return PagesToChoose(goal=PAGE_GOALS["list"], known=mark_question("\n".join(wanted)))


def pages_for_research(brief: Brief, aims: Sequence[str]) -> PagesToChoose:
    """Return the task for a round of research; `aims` say what its searches are for."""
    known = f"Searched for:\n{lines_block(1, aims, 'searches')}"
    return PagesToChoose(goal=PAGE_GOALS["research"], known=known, asked=describe_research(brief))


def pages_for_products(requirements: Requirements, lacking: Sequence[str] = ()) -> PagesToChoose:
    """Return the task for products; `lacking` are those whose maker's own page is still missing."""
    known = join_parts(
        wanted_block(requirements), headed_block("Still without their maker's own page:", 1, lacking, "products")
    )
    return PagesToChoose(goal=PAGE_GOALS["products"], known=known)


class Choice(BaseModel):
    numbers: list[int]


class ChoosePages:
    name = "choose pages"

    def prompt(self, asked: PagesToChoose) -> Prompt:
        open_yet = ", which left these columns missing or unsure" if asked.subject is not None else ""
        read = f"\nRead already{open_yet}: {', '.join(asked.read)}" if asked.read else ""
        # Every page that is opened costs time and money: of so many results only the best are worth it.
        is_many = len(asked.offers) > 100
        strict = " There are many results: choose only those that surely help." if is_many else ""
        return Prompt(
            instructions=join_parts(asked.goal, RETRIEVED_WARNING, asked.asked),
            text=f"{asked.known}{read}\n\n{result_block(asked.offers)}\n\nChoose at most {asked.most}.{strict}",
            reply=Choice,
            # A number and its comma for each page.
            max_tokens=80 + 8 * asked.most,
            results=tuple(map(describe_result, asked.offers)),
        )

    def check(self, asked: PagesToChoose, reply: Any) -> tuple[str, ...]:
        """Return the chosen addresses. The model's choice is final."""
        chosen = [offer.origin for offer in pick_numbered(asked.offers, reply.numbers)]
        if reply.numbers and not chosen:
            raise InvalidReply(f"choose from the numbers 1 to {len(asked.offers)}.", usable=())
        return tuple(dict.fromkeys(chosen))[: asked.most]

    def fallback(self, asked: PagesToChoose) -> tuple[str, ...]:
        """Return the results in the search's order; for a row, those most surely about it and with the most words of
        the columns first."""
        if asked.subject is None:
            return tuple(offer.origin for offer in asked.offers)[: asked.most]
        # Words of one or two letters are in every result.
        words = {word for word in split_words(asked.words) if len(word) > 2}
        scored = []
        for place, offer in enumerate(asked.offers):
            fit = score_subject_match(asked.subject, offer.title, offer.snippet)
            shared = len(words & set(split_words(f"{offer.title} {offer.snippet}")))
            # Shared words count less than the fit to the row, and the search's own order only breaks ties.
            scored.append((fit + 0.05 * min(3, shared) - 0.01 * place, fit, offer))
        scored.sort(key=lambda entry: -entry[0])
        return tuple(offer.origin for _, fit, offer in scored if fit >= SUBJECT_SCORES.possible)[: asked.most]
