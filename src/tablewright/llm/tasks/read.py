"""Read values for the cells of one row, for all asked columns at once: from retrieved texts, or from a document that is
the row.

The model sees the row whole, and each text whole if it fits. It says for each text whether it is about the row, and for
each column the value, the quotes that show it, and its basis. Code proves what can be proved (cell_answer.py) and sends
back once what cannot. What the model concludes rather than reads is `judged`, and judge_values.py asks about it again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Literal

from msgspec import structs
from pydantic import BaseModel, ConfigDict, create_model
from pydantic import Field as Key

from tablewright.citations.quotes import RETRIEVED_WARNING, mark_question, mark_text, prove_items
from tablewright.domain.model import Field, Struct
from tablewright.domain.retrieved import Retrieved
from tablewright.extraction import reader
from tablewright.extraction.reader import MIN_SURE, Candidate, OtherReading, SourceSpan
from tablewright.extraction.subject import Subject
from tablewright.llm.tasks.cell_answer import MAX_QUOTES, CellAnswer, Quoted, TextVerdict, prove_answer
from tablewright.llm.tasks.decision import (
    Correction,
    InvalidReply,
    Prompt,
    add_fault,
    add_missing_keys,
    answers_by_name,
    describe_columns,
    fit_sources,
    reply_by_name,
    row_block,
    source_heading,
    text_blocks,
)
from tablewright.llm.text_budget import TEXT_LIMITS


class Alternative(BaseModel):
    value: str
    quotes: list[Quoted] = Key(max_length=MAX_QUOTES)
    reason: str


class ReadAnswer(CellAnswer):
    """An answer with what else the column or its texts may mean: rarely more than one other value."""

    alternatives: list[Alternative] = Key(max_length=2)

    _complete = add_missing_keys(alternatives=[])


class RowToRead(Struct, frozen=True, gc=True):
    """A row with the texts retrieved for it. `room` is the number of characters of text that fit; by column, `examples`
    are values that people accepted, and `notes` are what people said about this cell."""

    subject: Subject
    fields: tuple[Field, ...]
    sources: tuple[Retrieved, ...]
    room: int = TEXT_LIMITS.default_room
    examples: Mapping[str, tuple[str, ...]] = {}
    notes: Mapping[str, str] = {}
    strict: bool = False
    today: str = ""
    earlier: tuple[Retrieved, ...] = ()
    """Texts that were read before, which help to tell things of the same name apart."""


class OtherThing(Struct, frozen=True):
    """A text that is about something other than the row, and what shows it."""

    source: int
    reason: str


class RowReading(Struct, frozen=True, gc=True):
    """The answers found, by column. `refused` says, by column, why an answer was not verified."""

    found: Mapping[str, list[Candidate]]
    others: tuple[OtherThing, ...] = ()
    refused: Mapping[str, str] = {}


class ReadRow:
    name = "read"
    instructions = """\
You fill cells of a table from texts that were retrieved for one row. A text marked "search result" is only the \
snippet of a page that could not be opened.

First judge each text: is it about the very thing of this row, or about another of the same or a similar name? \
Compare it with whatever else the row says, such as place, maker, website, year or kind; if the row says no more than \
the name, go by the name and by the kind of thing that the columns ask about. `same_row` is "same", also for a text on \
another subject that mentions this very thing; "other" for a namesake, or a text that does not mention it, which fills \
nothing; or "unclear", whose answers are marked as such. `reason` says in a few words what shows it.

Then fill each column from the texts that are about the row. Give one answer with all the quotes that show it. Give a \
second answer only where different texts contradict each other; an older figure next to a newer one is no \
contradiction: give the newest unless the column asks for another time. Give no answer if no text has one.
- `value`: as it should appear in the cell: in the column's type, converted into its unit, of its options, without a \
sentence around it. A column that asks for a description or a summary gets one or two plain sentences.
- `quotes`: the passages that show it, each with the number of its text, copied exactly. A checker who sees nothing \
but the quotes and the titles of their texts must be able to tell the value from them, so quote the label with the \
figure, and the whole sentence where a part of it could be misread; no more than that.
- `basis`: "stated" if a quote says it, even in other words, units or formats, such as the century of a year; \
"computed" if no text states it but the quotes have every figure that it follows from, such as an age from a year, or \
a price per litre; "judged" if you conclude it from the quotes: a category, a yes or no, a summary, a name that they \
only imply. A number, date or amount is stated or computed.
- `calculation`: for "computed", the arithmetic, in plain numbers of the quotes such as "4.20 / 1.5"; `this_year` and \
`today` stand for the current year and date, as in "this_year - 1987". Else "".
- `alternatives`: almost always empty. Another value, with its quotes and the `reason` in a few words, only where a \
careful reader could not rule out that it is what the column wants: the column's wording can be read in two ways that \
give different values, a text contradicts itself, or the value is known for a part where the whole may be meant. Not \
another format, an older figure, or what the column clearly does not ask for.

Better no answer than something nearby: another person's post, another year, a size class for a count, a part instead \
of the whole, one model of a series for another. Nothing from memory.
"""

    def prompt(self, asked: RowToRead) -> Prompt:
        shown = fit_sources(asked.sources, asked.fields, asked.room, asked.subject.name)
        texts = text_blocks(zip(map(source_heading, asked.sources), shown, strict=True))
        wanted = describe_columns(asked.fields, asked.examples)
        # Judged values would be refused, so they are not asked for.
        strict = "Only what is stated counts here: no answer where you would have to judge.\n" if asked.strict else ""
        return Prompt(
            instructions=f"{self.instructions}{strict}\n{RETRIEVED_WARNING}\n\nColumns:\n{mark_question(wanted)}",
            text=f"The row:\n{row_block(asked.subject, asked.notes)}\n\n{texts}",
            reply=row_reply_form(tuple(field.name for field in asked.fields)),
            # A verdict on each text, and for each column a value with some quotes.
            max_tokens=400 + 300 * len(asked.fields),
        )

    def check(self, asked: RowToRead, reply: Any) -> RowReading:
        try:
            return self.prove(asked, reply)
        except InvalidReply as problem:
            problem.correction = self._correct(asked, reply, problem)
            raise

    def prove(self, asked: RowToRead, reply: Any) -> RowReading:
        verdicts = {verdict.text - 1: verdict for verdict in reply.texts if 1 <= verdict.text <= len(asked.sources)}
        return prove_row_reading(asked, answers_by_name(reply.cells), verdicts)

    def _correct(self, asked: RowToRead, reply: Any, problem: InvalidReply) -> Correction | None:
        """Return a request for the cells that fail their check; None if all do."""
        reading: RowReading = problem.usable  # type: ignore[assignment]
        narrow = structs.replace(asked, fields=tuple(each for each in asked.fields if each.name in reading.refused))
        if len(narrow.fields) == len(asked.fields):
            return None
        said = reply.model_dump(by_alias=True)
        cells = {field.name: said.get("cells", said)[field.name] for field in narrow.fields}

        def merge(again: RowReading) -> RowReading:
            return structs.replace(reading, found={**reading.found, **again.found}, refused=again.refused)

        def put_in(again: Any) -> RowReading:
            try:
                return merge(self.prove(narrow, again))
            except InvalidReply as left:
                raise InvalidReply(str(left), usable=merge(left.usable)) from left  # type: ignore[arg-type]

        return Correction(add_fault(self.prompt(narrow), json.dumps(cells, ensure_ascii=False), problem), put_in)

    def fallback(self, asked: RowToRead) -> RowReading:
        found = reader.read_candidates(asked.subject, asked.fields, asked.sources, context_pages=asked.earlier)
        return RowReading(
            found={
                name: [candidate for candidate in each if candidate.score >= MIN_SURE] for name, each in found.items()
            }
        )


# One form for the columns of a table serves all its rows.
@lru_cache(maxsize=256)
def row_reply_form(names: tuple[str, ...]) -> type[BaseModel]:
    cells = reply_by_name("Cells", names, list[ReadAnswer])
    return create_model("RowReply", texts=(list[TextVerdict], ...), cells=(cells, ...))


# ── what code proves ─────────────────────────────────────────────────────────────────────────────────────────────────


def prove_row_reading(
    asked: RowToRead, answers: Sequence[Sequence[ReadAnswer]], verdicts: Mapping[int, TextVerdict]
) -> RowReading:
    """Return the answers of each column that code can verify. Raise InvalidReply if some cannot be verified."""
    is_whole = sum(len(source.text) for source in asked.sources) <= asked.room
    found: dict[str, list[Candidate]] = {}
    refused: dict[str, str] = {}
    for field, given in zip(asked.fields, answers, strict=True):
        prove = partial(
            partial(prove_answer, field, sources=asked.sources, verdicts=verdicts),
            strict=asked.strict,
            today=asked.today,
            is_whole=is_whole,
        )
        proved, failed = prove_items(given, lambda answer: (answer, prove(answer)))  # noqa: B023  # called at once
        faults = [fault for _, fault in failed]
        found[field.name] = []
        for answer, candidates in proved:
            alternatives, unproved = prove_alternatives(answer, prove)
            found[field.name] += [structs.replace(candidate, alternatives=alternatives) for candidate in candidates]
            faults += unproved if candidates else []
        if faults:
            refused[field.name] = faults[-1]
    others = tuple(
        OtherThing(source=number, reason=verdict.reason)
        for number, verdict in verdicts.items()
        if verdict.same_row == "other"
    )
    reading = RowReading(found=found, others=others, refused=refused)
    if refused:
        raise InvalidReply("; ".join(f"{name}: {problem}" for name, problem in refused.items()), usable=reading)
    return reading


def prove_alternatives(
    answer: ReadAnswer, prove: Callable[[CellAnswer], list[Candidate]]
) -> tuple[tuple[OtherReading, ...], list[str]]:
    """Return the other readings, without passages where their quotes do not show them, and those faults."""

    def prove_other(other: Alternative) -> list[Candidate]:
        return prove(CellAnswer(value=other.value, basis="stated", quotes=other.quotes, calculation=""))

    readings, faults = [], []
    for other in answer.alternatives:
        proved, failed = prove_items([other], prove_other)
        spans: list[SourceSpan] = []
        for each in (candidate for candidates in proved for candidate in candidates):
            spans += [SourceSpan(each.source, each.start, each.end), *each.more]
        readings.append(OtherReading(value=other.value, reason=other.reason, spans=tuple(spans)))
        faults += [f"the alternative {other.value!r}: {fault}" for _, fault in failed]
    return tuple(readings), faults


class DocumentAlternative(BaseModel):
    value: str
    quotes: list[str] = Key(max_length=MAX_QUOTES)
    reason: str


class DocumentAnswer(BaseModel):
    model_config = ConfigDict(extra="ignore")
    value: str
    basis: Literal["stated", "computed", "judged"]
    quotes: list[str] = Key(max_length=MAX_QUOTES)
    calculation: str
    alternatives: list[DocumentAlternative] = Key(max_length=2)

    _complete = add_missing_keys(alternatives=[])


class ReadDocument(ReadRow):
    """Read a document that is the row itself, so there is no question whose values they are. `asked.sources` has only
    the document. A figure that it does not state may be calculated from its parts; code repeats the calculation."""

    instructions = """\
You fill cells of a table from a document. The document is the row: every column asks what this document says.

Give each column one answer, or none where the document does not say it.
- `value`: as it should appear in the cell: in the column's type, converted into its unit, of its options, without a \
sentence around it. A column that asks for a description or a summary gets one or two plain sentences.
- `quotes`: the passages that show it, copied exactly; one may run over several lines. A checker who sees nothing but \
the quotes must be able to tell the value from them, so quote the label with the figure, and the whole sentence where \
a part of it could be misread; no more than that.
- `basis`: "stated" if a quote says it, even in other words, units or formats, such as the century of a year; \
"computed" if the document states not the value but all its parts, such as items without a total, hours and a rate, \
or a date and a period; "judged" if you conclude it from the quotes: a category, a yes or no, a summary, a name that \
they only imply. A number, an amount or a date is stated or computed.
- `calculation`: for "computed", the arithmetic that gives the value, in plain numbers such as "3 * 1450.50 + 12", or \
of a date such as "2026-03-04 + 30 days", in days, weeks, months or years; every figure in it must be in the quotes. \
Else "".
- `alternatives`: almost always empty. Another value, with its quotes and the `reason` in a few words, only where a \
careful reader could not rule out that it is what the column wants: the column's wording can be read in two ways that \
give different values, the document contradicts itself, or the value is known for a part where the whole may be \
meant. Not another format, an older figure, or what the column clearly does not ask for.

Better no answer than something nearby: another person's post, another year, a part instead of the whole. What the \
document states takes precedence over what you compute. Nothing from memory.
"""

    def prompt(self, asked: RowToRead) -> Prompt:
        (document,) = asked.sources
        (text,) = fit_sources(asked.sources, asked.fields, asked.room)
        # What the row tells of the document; its title is in the heading of the text.
        known = {name: value for name, value in asked.subject.context.items() if value != document.title}
        about = structs.replace(asked.subject, context=known)
        row = f"Known of it already:\n{row_block(about, asked.notes)}\n\n" if known or asked.notes else ""
        wanted = describe_columns(asked.fields, asked.examples)
        return Prompt(
            instructions=f"{self.instructions}\n{RETRIEVED_WARNING}\n\nColumns:\n{mark_question(wanted)}",
            text=f"{row}{mark_text(1, text, source_heading(document))}",
            reply=reply_by_name("DocumentReply", tuple(field.name for field in asked.fields), list[DocumentAnswer]),
            max_tokens=300 + 300 * len(asked.fields),
        )

    def prove(self, asked: RowToRead, reply: Any) -> RowReading:
        answers = [
            [
                ReadAnswer(
                    value=each.value,
                    basis=each.basis,
                    quotes=[Quoted(text=1, quote=quote) for quote in each.quotes],
                    calculation=each.calculation,
                    alternatives=[
                        Alternative(
                            value=other.value,
                            quotes=[Quoted(text=1, quote=quote) for quote in other.quotes],
                            reason=other.reason,
                        )
                        for other in each.alternatives
                    ],
                )
                for each in given
            ]
            for given in answers_by_name(reply)
        ]
        return prove_row_reading(asked, answers, {})
