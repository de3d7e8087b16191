"""Answer one question about one row with a model that searches and opens pages as it sees fit.

This module has the prompts, the texts of tool results and the form of the answer; strategies/exploration.py runs the
loop. Answers are checked like those of read.py: quotes must be in what was retrieved, and what is concluded rather than
read is judged a second time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.citations.quotes import RETRIEVED_WARNING, mark_question, mark_text, prove_items
from tablewright.domain.model import Field
from tablewright.domain.retrieved import Retrieved
from tablewright.extraction.reader import Candidate
from tablewright.extraction.subject import Subject
from tablewright.llm.tasks.cell_answer import CellAnswer, TextVerdict, prove_answer
from tablewright.llm.tasks.choose_pages import Offer, result_block
from tablewright.llm.tasks.decision import describe_column, fit_sources, row_block, source_heading

_ANSWER_RULES = """\
Answer from what you have read, never from memory, and only about the very thing of this row, not another one of the \
same name. `value` goes into a table cell: in the column's type, unit and options, without a preamble; where the \
question asks for a description, a comparison or guidelines, sum up in a few plain sentences what the pages say. \
`quotes` are the passages that show it, each with the number of its result or page, copied exactly. `basis` is \
"stated" if a quote says it, even in other words; "computed" if it follows from figures of the quotes by the \
arithmetic in `calculation`, such as "this_year - 1987" or "4.20 / 1.5"; "judged" if you conclude it from the quotes. \
A number, date or amount is stated or computed. Give a second answer only where another \
page says something different. `same_row` is "unclear" if the pages may be about another thing of that name, with the \
`reason`. Give no answer if nothing you found has one.
"""
EXPLORATORY_INSTRUCTIONS = f"""\
You research one question about one row of a table. Open the results most likely to state the answer and read them; \
search again with other words if they do not. Answer as soon as a good source has it; try a second approach before \
you give up, unless nothing else is likely to be found.

{_ANSWER_RULES}
{RETRIEVED_WARNING}"""
COMPREHENSIVE_INSTRUCTIONS = f"""\
You research one question about one row of a table, thoroughly: search from several angles, up to three, and fewer if \
other words would find the same pages; read two or three pages of different sites if there are any, and compare what \
they say before you answer.

{_ANSWER_RULES}
{RETRIEVED_WARNING}"""


class Reply(BaseModel):
    """Gives the answer, with the quotes that show it; no answers if none was found."""

    # What sources contradict each other about has two sides, rarely three.
    answers: list[CellAnswer] = Key(max_length=3)
    same_row: Literal["same", "unclear"]
    reason: str


def question_text(
    subject: Subject, field: Field, examples: Sequence[str], notes: Mapping[str, str], tried: Sequence[str]
) -> str:
    said = {field.name: notes[field.name]} if field.name in notes else {}
    before = f"\nSearched before without success: {'; '.join(tried)}" if tried else ""
    column = mark_question(describe_column(field, examples))
    return f"The row:\n{row_block(subject, said)}\n\nThe column to fill:\n{column}{before}"


def results_text(offers: Sequence[tuple[int, Offer]]) -> str:
    """Return the numbered results. A page is opened by its number, so no text can add an address."""
    if not offers:
        return "No new result."
    numbers, results = zip(*offers, strict=True)
    return result_block(results, numbers)


def page_text(number: int, source: Retrieved, field: Field, room: int, name: str) -> str:
    """Return a page cut to the room; `name` is the row's."""
    (text,) = fit_sources((source,), (field,), room, name)
    return mark_text(number, text, source_heading(source))


def check_answers(
    field: Field, sources: Sequence[Retrieved], reply: Reply, *, strict: bool = False, today: str = ""
) -> tuple[list[Candidate], str]:
    """Return the parts of the answer that can be verified, and what is wrong with the rest, or ""."""
    # The model judges its answer as a whole, so each text that it quotes gets that verdict.
    verdicts = {
        quoted.text - 1: TextVerdict(text=quoted.text, same_row=reply.same_row, reason=reply.reason)
        for answer in reply.answers
        for quoted in answer.quotes
    }
    # Pages are shown in part, so a sum may lack something: `is_whole` is False.
    found, failed = prove_items(
        reply.answers,
        lambda answer: prove_answer(field, answer, sources, verdicts, strict=strict, today=today, is_whole=False),
    )
    return [candidate for candidates in found for candidate in candidates], "; ".join(fault for _, fault in failed)
