"""Take notes: what pages say that helps to answer a research question, each statement with the words that make it.

Each page is read once, whole where it fits. The report is written from the notes alone, so code proves them here: the
quote stands in the page, and every figure of the statement stands in or beside the quote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace
from pydantic import BaseModel

from tablewright.citations.figures import prove_figures
from tablewright.citations.quotes import (
    WARNING,
    cite_span,
    clean_line,
    is_near_injection,
    lines_around,
    prove_each,
    prove_quote,
    prove_statement,
    question_block,
)
from tablewright.decisions.decision import Correction, Prompt, Unusable, lines_block, page_blocks
from tablewright.domain.model import Evidence, Noun
from tablewright.domain.research import Brief
from tablewright.domain.retrieved import Retrieved
from tablewright.models.text_budget import USUAL_ROOM
from tablewright.text import page_sentences, roots

INSTRUCTIONS = """\
You read pages for a piece of research and note what helps to answer its question. Nobody reads these pages again: \
the report is written from your notes alone, by a writer who sees your statements and quotes.

Each note:
- `page`: the number of the page.
- `statement`: one thing that the page says, and no more than could be right or wrong as a whole (a price, and what \
is included for it, are two notes), in a plain sentence that can be understood without the page: who or what it is \
about by name, with the figure, unit, period and conditions that belong to it. In the language of the report. Where \
a party speaks of itself, say so ("says that …", "by its own account").
- `quote`: the words of the page that say it, copied exactly from one place, at most a few sentences; its \
title can be quoted, too. Every figure of the statement stands in the quote, but for the date at the top of the page.
- `section`: the section that it belongs to, by its name, or "".

Note facts, figures, dates, prices and their conditions, experience, reasons and limits; what speaks for and \
against; and what differs from what others say, such as another price or a correction. Leave out advertising without \
content and whatever does not bear on the question. Before you note anything, make sure that the page is about what \
is asked and not about a namesake; if you cannot tell, say in the statement which one the page means. A page may \
yield no note, or many. Nothing from memory.
"""
MEND = """\
These notes of yours fail a check. Give each of them again with a statement and a quote that hold, or leave it out; \
none of your other notes."""
MOST_NOTES = 60
EXCERPTS = 3
"""Of a page, without a model."""
LONGEST_EXCERPT = 500
LEAST_WORDS = 2
"""Telling words of the question that an excerpt has, at least; all, where there are fewer."""
HEAD = 200
"""Characters of a page's beginning, where its heading and its date stand, that belong to every passage of it."""


class PagesForNotes(Noun, frozen=True, gc=True):
    """`room` are the characters of text that the model takes in."""

    brief: Brief
    pages: tuple[Retrieved, ...]
    room: int = USUAL_ROOM


class CitedStatement(Noun, frozen=True):
    """A note before it has its number."""

    statement: str
    evidence: Evidence
    topic: str = ""


class Notes(Noun, frozen=True):
    """`lost` is how many could not be verified."""

    taken: tuple[CitedStatement, ...] = ()
    lost: int = 0


class PageNote(BaseModel):
    page: int
    statement: str
    quote: str
    section: str


class PageNotes(BaseModel):
    notes: list[PageNote]


class TakeNotes:
    name = "take notes"

    def prompt(self, asked: PagesForNotes) -> Prompt:
        about = " ".join((asked.brief.question, *(each.question for each in asked.brief.angles)))
        return Prompt(
            instructions=f"{INSTRUCTIONS}\n{WARNING}\n\n{describe_research(asked.brief)}",
            text=page_blocks(asked.pages, about, asked.room),
            reply=PageNotes,
            max_tokens=1_000 + 500 * len(asked.pages),
        )

    def check(self, asked: PagesForNotes, reply: Any) -> Notes:
        taken, failed = prove_notes(reply.notes, asked)
        notes = Notes(taken=tuple(taken), lost=len(failed))
        if failed:
            faults = "; ".join(fault for _, fault in failed)
            raise Unusable(faults, usable=notes, correction=ask_for_mended(asked, notes, failed))
        return notes

    def fallback(self, asked: PagesForNotes) -> Notes:
        """Excerpts: the sentences that have the most words of the question, or of the name of a section."""
        topics = asked.brief.angles or (None,)
        taken = [
            CitedStatement(
                statement=" ".join(evidence.quote.split()), evidence=evidence, topic=topic.name if topic else ""
            )
            for page in asked.pages
            for topic in topics
            for evidence in find_excerpts(page, f"{asked.brief.question} {topic.name if topic else ''}")
        ]
        return Notes(taken=tuple({each.evidence.quote: each for each in reversed(taken)}.values())[::-1])


def ask_for_mended(asked: PagesForNotes, notes: Notes, failed: Sequence[tuple[PageNote, str]]) -> Correction:
    """Ask for the notes that fail once more, with the pages that they are of."""
    numbers = sorted({note.page for note, _ in failed if 1 <= note.page <= len(asked.pages)})
    own = replace(asked, pages=tuple(asked.pages[number - 1] for number in numbers))
    places = {number: place for place, number in enumerate(numbers, start=1)}
    whole = TakeNotes().prompt(own)
    lines = [
        f"- page {places.get(note.page, 0)}: {clean_line(note.statement)}\n  quoted: {clean_line(note.quote)}\n"
        f"  fails: {fault}"
        for note, fault in failed
    ]

    def put_in(reply: PageNotes) -> Notes:
        better, _ = prove_notes(reply.notes, own)
        return Notes(taken=(*notes.taken, *better), lost=max(len(failed) - len(better), 0))

    text = f"{whole.text}\n\n{MEND}\n{lines_block(0, lines, 'notes')}"
    max_tokens = 200 + 150 * len(failed)
    prompt = Prompt(instructions=whole.instructions, text=text, reply=PageNotes, max_tokens=max_tokens)
    return Correction(prompt=prompt, put_in=put_in)


def prove_notes(
    notes: Sequence[PageNote], asked: PagesForNotes
) -> tuple[list[CitedStatement], list[tuple[PageNote, str]]]:
    """Return the notes that hold, and the others with what is wrong with them."""
    topics = {angle.name.casefold(): angle.name for angle in asked.brief.angles}

    def prove(note: PageNote) -> CitedStatement:
        proved = prove_note(note.statement, note.quote, note.page, asked.pages)
        return replace(proved, topic=topics.get(note.section.strip().casefold(), ""))

    return prove_each(notes[:MOST_NOTES], prove)


def describe_research(brief: Brief) -> str:
    """Return what is asked, as every reader of the research is told it."""
    lines = [brief.question]
    lines += [f"Meant is: {brief.asked}"] if brief.asked else []
    lines += [f"Condition: {each}" for each in brief.constraints]
    lines += [f"Compared: {', '.join(brief.subjects)}"] if brief.subjects else []
    lines += [f"Section “{angle.name}”" + (f": {angle.question}" if angle.question else "") for angle in brief.angles]
    lines += [f"Listed: {brief.things}, {brief.target_items} of them"] if brief.things else []
    lines += [f"Asked of each: {', '.join(each.field.name for each in brief.columns)}"] if brief.columns else []
    lines += [f"Language of the report: {brief.language}"] if brief.language else []
    today = f"Today is {brief.today}. " if brief.today else ""
    return f"{today}The research:\n{question_block(chr(10).join(lines))}"


def prove_note(statement: str, quote: str, page: int, pages: tuple[Retrieved, ...]) -> CitedStatement:
    """Return the statement as one clean line with its evidence. Raises Unproved where there is none."""
    statement = prove_statement(statement)
    found = prove_quote(quote, pages, page, noun="page")
    source = pages[found.source]
    beside = lines_around(source.text, found.start, found.end) if found.start <= len(source.text) else ""
    prove_figures(statement, [source.title, source.text[:HEAD], beside], where="the quote")
    return CitedStatement(statement=statement, evidence=cite_span(source, found.start, found.end))


def find_excerpts(page: Retrieved, asked: str) -> list[Evidence]:
    """The sentences that share words with what is asked, the rare words of the page first. What the title says need not
    be said again, but a sentence that has nothing beyond it is no excerpt."""
    words = set(roots(asked, telling=True))
    title = set(roots(page.title, telling=True)) & words
    shared = [(each, words & set(roots(each.text, telling=True))) for each in page_sentences(page.text)]
    often = Counter(word for _, found in shared for word in found)
    scored = []
    for sentence, found in shared:
        enough = len(found | title) >= min(LEAST_WORDS, len(words)) and found - (title if title < words else set())
        if enough and not is_near_injection(page.text, sentence.start, sentence.end):
            worth = sum(1 / often[word] for word in found)
            scored.append((-worth, sentence.start, min(sentence.end, sentence.start + LONGEST_EXCERPT)))
    return [cite_span(page, start, end) for _, start, end in sorted(sorted(scored)[:EXCERPTS], key=lambda e: e[1])]
