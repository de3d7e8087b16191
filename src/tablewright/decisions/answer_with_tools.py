"""Answer with tools: one question about one row, by a model that searches and opens pages as it sees fit.

The words it is given, and the form of its answer. The check is that of every reading (read.py): quotes are found in
what was really retrieved, and what is concluded rather than read is judged a second time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.citations.quotes import WARNING, block, prove_each, question_block
from tablewright.decisions.cell_answer import CellAnswer, TextVerdict, prove_answer
from tablewright.decisions.choose_pages import Offer, result_block
from tablewright.decisions.decision import describe_column, fit_sources, row_block, source_heading
from tablewright.domain.model import Field
from tablewright.domain.retrieved import Retrieved
from tablewright.extraction.about import Subject
from tablewright.extraction.reader import Candidate

_ANSWER = """\
Answer from what you have read, never from memory, and only about the very thing of this row, not another of its \
name. `value` goes into a table cell: in the column's type, unit and options, without a preamble; where the question \
asks for a description, a comparison or guidelines, put together in a few plain sentences what the pages say. \
`quotes` are the passages that show it, each with the number of its result or page, copied exactly. `basis` is \
"stated" if a quote says it, be it in other words; "computed" if it follows from figures of the quotes by the \
arithmetic in `calculation`, such as "this_year - 1987" or "4.20 / 1.5"; "judged" if you conclude it from the \
quotes; a name is never judged, and a number, date or amount is stated or computed. Give a second answer only where \
another page says something different. `same_row` is "unclear" if the pages may be about another thing of that name, \
with the `reason`. No answer at all if nothing you found has one.
"""
EXPLORATORY = f"""\
You research one question about one row of a table. Open the results most likely to state the answer and read them; \
search again with other words where they do not. Answer as soon as a good source has it; try a second approach before \
you give up, unless nothing else is likely to be found.

{_ANSWER}
{WARNING}"""
COMPREHENSIVE = f"""\
You research one question about one row of a table, thoroughly: search from several angles, up to three, and fewer \
where further words would find the same pages; read two or three pages of different sites where there are such, and \
compare what they say before you answer.

{_ANSWER}
{WARNING}"""


class Reply(BaseModel):
    """Gives the answer, with the quotes that show it; no answers if none was found."""

    answers: list[CellAnswer] = Key(max_length=3)
    same_row: Literal["same", "unclear"]
    reason: str


def question_text(
    subject: Subject, field: Field, examples: Sequence[str], notes: Mapping[str, str], tried: Sequence[str]
) -> str:
    said = {field.name: notes[field.name]} if field.name in notes else {}
    before = f"\nSearched before, in vain: {'; '.join(tried)}" if tried else ""
    column = question_block(describe_column(field, examples))
    return f"The row:\n{row_block(subject, said)}\n\nThe column to fill:\n{column}{before}"


def results_text(offers: Sequence[tuple[int, Offer]]) -> str:
    """Numbered: a page is opened by its number, so no text can add an address of its own."""
    if not offers:
        return "No new result."
    numbers, results = zip(*offers, strict=True)
    return result_block(results, numbers)


def page_text(number: int, source: Retrieved, field: Field, room: int, name: str) -> str:
    """`name` is the row's."""
    (text,) = fit_sources((source,), (field,), room, name)
    return block(number, text, source_heading(source))


def check_answers(
    field: Field, sources: Sequence[Retrieved], reply: Reply, *, strict: bool = False, today: str = ""
) -> tuple[list[Candidate], str]:
    """Return what can be verified of the answer, and what is wrong with the rest, "" where nothing is."""
    verdicts = {
        quoted.text - 1: TextVerdict(text=quoted.text, same_row=reply.same_row, reason=reply.reason)
        for answer in reply.answers
        for quoted in answer.quotes
    }
    found, failed = prove_each(
        reply.answers,
        lambda answer: prove_answer(field, answer, sources, verdicts, strict=strict, today=today, is_whole=False),
    )
    return [candidate for candidates in found for candidate in candidates], "; ".join(fault for _, fault in failed)
