"""Conclude: an answer that needs judgement across the rows of tables that were filled from documents."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from tablewright.citations.figures import prove_figures
from tablewright.citations.quotes import WARNING, Unproved, harmless_line, prove_each, prove_statement, question_block
from tablewright.decisions.compose import MOST
from tablewright.decisions.decision import Prompt, accept, lines_block, pick_numbered
from tablewright.domain.model import Noun

INSTRUCTIONS = f"""\
You answer a question from tables that were read from somebody's own documents: one numbered row for each document, \
or for each row of a table inside one. Answer in the language of the question, in one to six plain sentences; begin \
with the answer itself: the figure, the names, yes or no.

For each `statement`, `rows` are the numbers of the rows that it stands on, and `calculations` the arithmetic of each \
figure that no row has, with the rows' own figures ("1200 + 350", or for dates "2026-03-04 + 30 days" and "2026-04-03 \
- 2026-03-04", which gives days), or none. How many rows something holds for needs no calculation.

`listed`: where the question asks which, the numbers of exactly the rows that are meant; else none. `unsure`: rows of \
which the tables do not say whether they are. `missing`: what would have to be known to answer, or "".

Names may be spelled in several ways. An empty cell means that the document does not say it, not that it is not so.

{WARNING}"""


class NumberedRow(Noun, frozen=True):
    """`text` is its cells in one line."""

    table: str
    text: str


class ToConclude(Noun, frozen=True, gc=True):
    question: str
    rows: tuple[NumberedRow, ...]
    today: str = ""
    more: int = 0
    """Rows that did not fit."""


class ConcludedStatement(Noun, frozen=True):
    text: str
    rows: tuple[int, ...]
    calculations: tuple[str, ...] = ()


class Conclusion(Noun, frozen=True):
    """Rows by their place, from 0. `left_out` are statements that could not be verified."""

    statements: tuple[ConcludedStatement, ...] = ()
    listed: tuple[int, ...] = ()
    unsure: tuple[int, ...] = ()
    missing: str = ""
    left_out: int = 0


class SaidOfRows(BaseModel):
    statement: str
    rows: list[int]
    calculations: list[str]


class ConclusionReply(BaseModel):
    statements: list[SaidOfRows]
    listed: list[int]
    unsure: list[int]
    missing: str


class Conclude:
    name = "conclude"

    def prompt(self, asked: ToConclude) -> Prompt:
        lines: list[str] = []
        table = ""
        for number, row in enumerate(asked.rows, start=1):
            if row.table != table:
                table = row.table
                lines.append(f"{table}:")
            lines.append(f"[{number}] {row.text}")
        cut = f"\n{asked.more:,} more rows do not fit here; say that the answer is of these rows." if asked.more else ""
        return Prompt(
            instructions=INSTRUCTIONS,
            text=(
                f"{lines_block(1, lines, 'rows')}{cut}\n\nToday is {asked.today}.\nThe question:\n"
                f"{question_block(asked.question)}"
            ),
            reply=ConclusionReply,
            max_tokens=1_200,
        )

    def check(self, asked: ToConclude, reply: Any) -> Conclusion:
        found, failed = prove_each(
            reply.statements[:MOST], lambda said: prove_said(said, asked), lambda said: said.statement
        )
        places = range(len(asked.rows))
        conclusion = Conclusion(
            statements=tuple(found),
            listed=tuple(pick_numbered(places, reply.listed)),
            unsure=tuple(pick_numbered(places, reply.unsure)),
            missing=harmless_line(reply.missing),
            left_out=len(failed),
        )
        return accept(conclusion, (fault for _, fault in failed))

    def fallback(self, asked: ToConclude) -> Conclusion:
        """Without a model nobody compares; the rows are shown."""
        return Conclusion()


def prove_said(said: SaidOfRows, asked: ToConclude) -> ConcludedStatement:
    text = prove_statement(said.statement)
    rows = tuple(pick_numbered(range(len(asked.rows)), said.rows))
    if not rows:
        raise Unproved("it names no row that it stands on.")
    texts = [asked.rows[place].text for place in rows] + [asked.question, asked.today]
    counts = len(rows), len(asked.rows)
    calculations = prove_figures(text, texts, said.calculations, where="its rows", counts=counts)
    return ConcludedStatement(text=text, rows=rows, calculations=calculations)
