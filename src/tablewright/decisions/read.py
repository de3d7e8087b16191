"""Read: what the texts at hand say about one row, for all asked columns at once.

A model sees the row whole and each text whole where it fits. It says of each text whether it is about the row, and for
each column the value, the quotes that show it, and its basis. Code proves what can be proved (cell_answer.py) and sends
back once what cannot. What a model concludes rather than reads is `judged`, and judge_values.py asks about it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from pydantic import BaseModel, create_model

from tablewright.citations.quotes import WARNING, prove_each, question_block
from tablewright.decisions.cell_answer import CellAnswer, TextVerdict, prove_answer
from tablewright.decisions.decision import (
    Prompt,
    Unusable,
    answers_by_name,
    describe_columns,
    fit_sources,
    reply_by_name,
    row_block,
    source_heading,
    text_blocks,
)
from tablewright.domain.model import Field, Noun
from tablewright.domain.retrieved import Retrieved
from tablewright.extraction import reader
from tablewright.extraction.about import Subject
from tablewright.extraction.reader import SURE, Candidate
from tablewright.models.text_budget import USUAL_ROOM

INSTRUCTIONS = """\
You fill cells of a table from texts that were retrieved for one row. A text marked "search result" is only the \
snippet of a page that could not be opened.

First judge each text: is it about the very thing of this row, or about another of the same or a similar name? \
Compare everything the row says (place, maker, website, year, kind). `same_row` is "same", also for a text on another \
subject that mentions this very thing; "other" for a namesake, or a text that does not mention it, which fills \
nothing; or "unclear", whose answers are marked as such. `reason` says in a few words what shows it.

Then fill each column from the texts that are about the row. Give one answer with all the quotes that show it. Give a \
second answer only where texts contradict each other; an older figure beside a newer one is no contradiction: give the \
newest unless the column asks for another time. No answer where no text has one.
- `value`: as it should stand in the cell: in the column's type, unit and options, without a sentence around it. A \
column that asks for a description or a summary gets one or two plain sentences.
- `quotes`: the passages that show it, each with the number of its text, copied exactly and as short as will still \
show it.
- `basis`: "stated" if a quote says it, be it in other words, units or formats; "computed" if no text states it but \
the quotes have every figure that it follows from, such as an age from a year, or a price per litre; "judged" if you \
conclude it from the quotes: a category, a yes or no, a summary. A name is never judged; a number, date or amount is \
stated or computed.
- `calculation`: for "computed", the arithmetic, in plain numbers of the quotes such as "4.20 / 1.5"; `this_year` and \
`today` stand for the current year and date, as in "this_year - 1987". Else "".

Better no answer than something nearby: another person's post, another year, a size class for a count, a part instead \
of the whole, one model of a series for another. Nothing from memory.
"""
STATED_ONLY = "Only what is stated counts here: no answer where you would have to judge.\n"
"""What is said where judged values are refused."""


class RowToRead(Noun, frozen=True, gc=True):
    """`room` are the characters of text that the model takes in. By column, `examples` are values that people accepted,
    and `notes` what people said of this cell."""

    subject: Subject
    fields: tuple[Field, ...]
    sources: tuple[Retrieved, ...]
    room: int = USUAL_ROOM
    examples: Mapping[str, tuple[str, ...]] = {}
    notes: Mapping[str, str] = {}
    strict: bool = False
    today: str = ""
    beside: tuple[Retrieved, ...] = ()
    """Texts that were read before: they tell which thing of a name a page is about."""


class OtherThing(Noun, frozen=True):
    """A text that is about something else than the row, and what shows it."""

    source: int
    reason: str


class RowReading(Noun, frozen=True, gc=True):
    """By column, the answers found; `refused` is, by column, why an answer was not verified."""

    found: Mapping[str, list[Candidate]]
    others: tuple[OtherThing, ...] = ()
    refused: Mapping[str, str] = {}


class ReadRow:
    name = "read"

    def prompt(self, asked: RowToRead) -> Prompt:
        shown = fit_sources(asked.sources, asked.fields, asked.room, asked.subject.name)
        texts = text_blocks(zip(map(source_heading, asked.sources), shown, strict=True))
        wanted = describe_columns(asked.fields, asked.examples)
        stated_only = STATED_ONLY if asked.strict else ""
        return Prompt(
            instructions=f"{INSTRUCTIONS}{stated_only}\n{WARNING}\n\nColumns:\n{question_block(wanted)}",
            text=f"The row:\n{row_block(asked.subject, asked.notes)}\n\n{texts}",
            reply=reply_for(tuple(field.name for field in asked.fields)),
            max_tokens=400 + 300 * len(asked.fields),
        )

    def check(self, asked: RowToRead, reply: Any) -> RowReading:
        verdicts = {verdict.text - 1: verdict for verdict in reply.texts if 1 <= verdict.text <= len(asked.sources)}
        return reading_of(asked, answers_by_name(reply.cells), verdicts)

    def fallback(self, asked: RowToRead) -> RowReading:
        found = reader.read(asked.subject, asked.fields, asked.sources, beside=asked.beside)
        return RowReading(
            found={name: [candidate for candidate in each if candidate.score >= SURE] for name, each in found.items()}
        )


@lru_cache(maxsize=256)
def reply_for(names: tuple[str, ...]) -> type[BaseModel]:
    cells = reply_by_name("Cells", names, list[CellAnswer])
    return create_model("RowReply", texts=(list[TextVerdict], ...), cells=(cells, ...))


# ── what code proves ─────────────────────────────────────────────────────────────────────────────────────────────────


def reading_of(
    asked: RowToRead, answers: Sequence[Sequence[CellAnswer]], verdicts: Mapping[int, TextVerdict]
) -> RowReading:
    """The answers of each column, as far as code can verify them."""
    is_whole = sum(len(source.text) for source in asked.sources) <= asked.room
    found: dict[str, list[Candidate]] = {}
    refused: dict[str, str] = {}
    for field, given in zip(asked.fields, answers, strict=True):
        prove = partial(prove_answer, field, sources=asked.sources, verdicts=verdicts)
        proved, failed = prove_each(given, partial(prove, strict=asked.strict, today=asked.today, is_whole=is_whole))
        found[field.name] = [candidate for candidates in proved for candidate in candidates]
        if failed:
            refused[field.name] = failed[-1][1]
    others = tuple(
        OtherThing(source=number, reason=verdict.reason)
        for number, verdict in verdicts.items()
        if verdict.same_row == "other"
    )
    reading = RowReading(found=found, others=others, refused=refused)
    if refused:
        raise Unusable("; ".join(f"{name}: {problem}" for name, problem in refused.items()), usable=reading)
    return reading
