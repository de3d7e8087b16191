"""Read a document: what one of the user's own documents says of itself, for all asked columns at once.

The document is the row, so nobody asks whose it is. A figure that it does not state but whose parts it does may be
computed: the model says how, and code repeats the calculation with figures that stand in the quotes.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import structs
from pydantic import BaseModel, ConfigDict
from pydantic import Field as Key

from tablewright.citations.quotes import WARNING, block, question_block
from tablewright.decisions.cell_answer import MOST_QUOTES, CellAnswer, Quoted
from tablewright.decisions.decision import (
    Prompt,
    answers_by_name,
    describe_columns,
    fit_sources,
    reply_by_name,
    row_block,
    source_heading,
)
from tablewright.decisions.read import ReadRow, RowReading, RowToRead, reading_of

INSTRUCTIONS = """\
You fill cells of a table from a document. The document is the row: every column asks what this document says.

Give each column one answer, or none where the document does not say it; a second answer only where it contradicts \
itself.
- `value`: as it should stand in the cell: in the column's type, unit and options, without a sentence around it. A \
column that asks for a description or a summary gets one or two plain sentences.
- `quotes`: the passages that show it, copied exactly and as short as will still show it; one may run over several \
lines.
- `basis`: "stated" if a quote says it, be it in other words, units or formats; "computed" if the document states not \
the value but all its parts, such as items without a total, hours and a rate, or a date and a period; "judged" if you \
conclude it from the quotes: a category, a yes or no, a summary. A name is never judged; a number, an amount or a \
date is stated or computed.
- `calculation`: for "computed", the arithmetic that gives the value, in plain numbers such as "3 * 1450.50 + 12", or \
of a date such as "2026-03-04 + 30 days", in days, weeks, months or years; every figure of it stands in the quotes. \
Else "".

Better no answer than something nearby: another person's post, another year, a part instead of the whole. What the \
document states goes before what you compute. Nothing from memory.
"""


class DocumentAnswer(BaseModel):
    model_config = ConfigDict(extra="ignore")
    value: str
    basis: Literal["stated", "computed", "judged"]
    quotes: list[str] = Key(max_length=MOST_QUOTES)
    calculation: str


class ReadDocument(ReadRow):
    """`sources` of what is asked is the document alone."""

    def prompt(self, asked: RowToRead) -> Prompt:
        (document,) = asked.sources
        (text,) = fit_sources(asked.sources, asked.fields, asked.room)
        known = {name: value for name, value in asked.subject.context.items() if value != document.title}
        about = structs.replace(asked.subject, context=known)
        row = f"Known of it already:\n{row_block(about, asked.notes)}\n\n" if known or asked.notes else ""
        wanted = describe_columns(asked.fields, asked.examples)
        return Prompt(
            instructions=f"{INSTRUCTIONS}\n{WARNING}\n\nColumns:\n{question_block(wanted)}",
            text=f"{row}{block(1, text, source_heading(document))}",
            reply=reply_by_name("DocumentReply", tuple(field.name for field in asked.fields), list[DocumentAnswer]),
            max_tokens=300 + 300 * len(asked.fields),
        )

    def check(self, asked: RowToRead, reply: Any) -> RowReading:
        answers = [
            [
                CellAnswer(
                    value=each.value,
                    basis=each.basis,
                    quotes=[Quoted(text=1, quote=quote) for quote in each.quotes],
                    calculation=each.calculation,
                )
                for each in given
            ]
            for given in answers_by_name(reply)
        ]
        return reading_of(asked, answers, {})
