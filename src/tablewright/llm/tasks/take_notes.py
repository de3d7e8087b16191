"""Take notes on pages for a research question: statements, each with the quote that it is based on.

Each page is read once, whole if it fits. The report is written from the notes alone, so code proves them here: the
quote must be on the page, and every figure of the statement in the quote or next to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace
from pydantic import BaseModel

from tablewright.citations.figures import prove_figures
from tablewright.citations.quotes import (
    RETRIEVED_WARNING,
    cite_span,
    clean_line,
    is_near_injection,
    mark_question,
    prove_items,
    prove_quote,
    prove_statement,
    quote_with_lines,
)
from tablewright.domain.model import Evidence, Struct
from tablewright.domain.research import Brief
from tablewright.domain.retrieved import Retrieved
from tablewright.llm.tasks.decision import Correction, InvalidReply, Prompt, lines_block, page_blocks
from tablewright.llm.text_budget import TEXT_LIMITS
from tablewright.text import page_sentences, word_roots


class PagesForNotes(Struct, frozen=True, gc=True):
    """Pages to read; `room` is the number of characters of text that fit."""

    brief: Brief
    pages: tuple[Retrieved, ...]
    room: int = TEXT_LIMITS.default_room


class CitedStatement(Struct, frozen=True):
    """A note before it has its number."""

    statement: str
    evidence: Evidence
    topic: str = ""


class Notes(Struct, frozen=True):
    """The verified notes; `lost` is the number of others."""

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
    instructions = """\
You read pages for a piece of research and note what helps to answer its question. These pages are not read again: the \
report is written from your notes alone, by a writer who sees your statements and quotes.

Each note:
- `page`: the number of the page.
- `statement`: one thing that the page says, and no more than could be right or wrong as a whole (a price, and what \
is included for it, are two notes), in a plain sentence that can be understood without the page: who or what it is \
about by name, with the figure, unit, period and conditions that belong to it. In the language of the report. Where \
a party speaks of itself, say so ("says that …", "by its own account").
- `quote`: the words of the page that say it, copied exactly from one place, at most a few sentences; its title can be \
quoted, too. Every figure of the statement must be in the quote, except for the date at the top of the page.
- `section`: the section that it belongs to, by its name, or "".

Note facts, figures, dates, prices and their conditions, experience, reasons and limits; what speaks for and \
against; and what differs from what others say, such as another price or a correction. Leave out advertising without \
content and whatever is irrelevant to the question. Before you note anything, make sure that the page is about what \
is asked and not about a namesake; if you cannot tell, say in the statement which one the page means. A page may \
yield no note, or many. Nothing from memory.
"""

    def prompt(self, asked: PagesForNotes) -> Prompt:
        about = " ".join((asked.brief.question, *(each.question for each in asked.brief.angles)))
        return Prompt(
            instructions=f"{self.instructions}\n{RETRIEVED_WARNING}\n\n{describe_research(asked.brief)}",
            text=page_blocks(asked.pages, about, asked.room),
            reply=PageNotes,
            # Several notes for each page, each with its statement and quote.
            max_tokens=1_000 + 500 * len(asked.pages),
        )

    def check(self, asked: PagesForNotes, reply: Any) -> Notes:
        taken, failed = prove_notes(reply.notes, asked)
        notes = Notes(taken=tuple(taken), lost=len(failed))
        if failed:
            faults = "; ".join(fault for _, fault in failed)
            raise InvalidReply(faults, usable=notes, correction=ask_for_mended(asked, notes, failed))
        return notes

    def fallback(self, asked: PagesForNotes) -> Notes:
        """Return excerpts: the sentences with the most words of the question or of a section's name."""
        topics = asked.brief.angles or (None,)
        taken = [
            CitedStatement(
                statement=" ".join(evidence.quote.split()), evidence=evidence, topic=topic.name if topic else ""
            )
            for page in asked.pages
            for topic in topics
            for evidence in find_excerpts(page, f"{asked.brief.question} {topic.name if topic else ''}")
        ]
        # Of one sentence that is noted for several sections, the first note stays.
        return Notes(taken=tuple({each.evidence.quote: each for each in reversed(taken)}.values())[::-1])


def ask_for_mended(asked: PagesForNotes, notes: Notes, failed: Sequence[tuple[PageNote, str]]) -> Correction:
    """Return a request for the failed notes, with the pages that they are from."""
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

    order = (
        "These notes of yours fail a check. Give each of them again with a statement and a quote that hold, "
        "or leave it out; none of your other notes."
    )
    text = f"{whole.text}\n\n{order}\n{lines_block(0, lines, 'notes')}"
    # A note that is given again: its statement and its quote.
    max_tokens = 200 + 150 * len(failed)
    prompt = Prompt(instructions=whole.instructions, text=text, reply=PageNotes, max_tokens=max_tokens)
    return Correction(prompt=prompt, put_in=put_in)


def prove_notes(
    notes: Sequence[PageNote], asked: PagesForNotes
) -> tuple[list[CitedStatement], list[tuple[PageNote, str]]]:
    """Return the verified notes, and the others with what is wrong with them."""
    topics = {angle.name.casefold(): angle.name for angle in asked.brief.angles}

    def prove(note: PageNote) -> CitedStatement:
        proved = prove_note(note.statement, note.quote, note.page, asked.pages)
        return replace(proved, topic=topics.get(note.section.strip().casefold(), ""))

    # Of one reply; a page rarely yields more than ten.
    return prove_items(notes[:60], prove)


def describe_research(brief: Brief) -> str:
    """Return the research question and plan, as all tasks of a research show it to the model."""
    lines = [brief.question]
    lines += [f"Meant is: {brief.asked}"] if brief.asked else []
    lines += [f"Condition: {each}" for each in brief.constraints]
    lines += [f"Compared: {', '.join(brief.subjects)}"] if brief.subjects else []
    lines += [f"Section “{angle.name}”" + (f": {angle.question}" if angle.question else "") for angle in brief.angles]
    lines += [f"Listed: {brief.things}, {brief.target_items} of them"] if brief.things else []
    lines += [f"Asked of each: {', '.join(each.field.name for each in brief.columns)}"] if brief.columns else []
    lines += [f"Language of the report: {brief.language}"] if brief.language else []
    today = f"Today is {brief.today}. " if brief.today else ""
    return f"{today}The research:\n{mark_question(chr(10).join(lines))}"


def prove_note(statement: str, quote: str, page: int, pages: tuple[Retrieved, ...]) -> CitedStatement:
    """Return the statement as one clean line with its evidence. Raise Unproved if the page does not show it."""
    statement = prove_statement(statement)
    found = prove_quote(quote, pages, page, noun="page")
    source = pages[found.source]
    around = quote_with_lines(source.text, found.start, found.end) if found.start <= len(source.text) else ""
    # The heading and the date in the first 200 characters belong to every passage of the page.
    prove_figures(statement, [source.title, source.text[:200], around], where="the quote")
    return CitedStatement(statement=statement, evidence=cite_span(source, found.start, found.end))


def find_excerpts(page: Retrieved, asked: str) -> list[Evidence]:
    """Return the sentences that share the most words with `asked`, in which rare words of the page count more.

    Words of the title need not be repeated, but a sentence with only those is no excerpt.
    """
    # Excerpts show what a page says; they do not replace reading it. One shared word says nothing.
    max_excerpts, max_characters, min_words = 3, 500, 2
    words = set(word_roots(asked, telling=True))
    title = set(word_roots(page.title, telling=True)) & words
    shared = [(each, words & set(word_roots(each.text, telling=True))) for each in page_sentences(page.text)]
    often = Counter(word for _, found in shared for word in found)
    scored = []
    for sentence, found in shared:
        enough = len(found | title) >= min(min_words, len(words)) and found - (title if title < words else set())
        if enough and not is_near_injection(page.text, sentence.start, sentence.end):
            worth = sum(1 / often[word] for word in found)
            scored.append((-worth, sentence.start, min(sentence.end, sentence.start + max_characters)))
    return [cite_span(page, start, end) for _, start, end in sorted(sorted(scored)[:max_excerpts], key=lambda e: e[1])]
