"""Answer a question from the user's documents: from passages of text, or from rows of tables that were filled from
them.

The model writes statements, each with the quotes or rows it is based on. Code finds every quote in its passage and
every figure in what is cited, and sends back once what it cannot find. What stays unproved is left out, and the answer
says so. What the passages do not say becomes the next searches.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from tablewright.citations.figures import prove_figures
from tablewright.citations.quotes import (
    RETRIEVED_WARNING,
    FoundQuote,
    Unproved,
    harmless_line,
    mark_question,
    prove_items,
    prove_quote,
    prove_statement,
    quote_with_lines,
)
from tablewright.domain.model import Struct
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import shorten_text
from tablewright.llm.tasks.decision import (
    Prompt,
    accept_reply,
    headed_block,
    join_parts,
    lines_block,
    pick_numbered,
    text_blocks,
)

# Statements of an answer, at most. One to six sentences are asked for.
MAX_STATEMENTS = 8


class Passage(Struct, frozen=True):
    """A part of a document's text that begins at `start`. Its quotes are cited by `document_id` and place. `heading` is
    the heading of its most relevant part."""

    document_id: str
    title: str
    text: str
    start: int = 0
    page: int | None = None
    heading: str = ""

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def is_within(self, other: Passage) -> bool:
        return self.document_id == other.document_id and other.start <= self.start and self.end <= other.end

    @property
    def shown_as(self) -> str:
        title = f"{self.title}, “{shorten_text(self.heading, 80)}”" if self.heading else self.title
        return f"{title}, page {self.page}" if self.page else title


class AnswerToCompose(Struct, frozen=True, gc=True):
    """A question with passages. `searched` are the queries so far, `lookup` what code found in the documents'
    tables."""

    question: str
    passages: tuple[Passage, ...]
    searched: tuple[str, ...] = ()
    today: str = ""
    lookup: str = ""


class Statement(Struct, frozen=True):
    """A proved statement. The sources of its quotes are the passages."""

    text: str
    quotes: tuple[FoundQuote, ...]
    contradiction: bool = False
    calculations: tuple[str, ...] = ()


class TextAnswer(Struct, frozen=True):
    """An answer from passages. `left_out` counts the statements that could not be verified."""

    statements: tuple[Statement, ...] = ()
    answered: Literal["yes", "partly", "no"] = "no"
    missing: str = ""
    queries: tuple[str, ...] = ()
    ask: str = ""
    left_out: int = 0


class PassageQuote(BaseModel):
    passage: int
    quote: str


class Said(BaseModel):
    statement: str
    quotes: list[PassageQuote]
    calculations: list[str]
    contradiction: bool


class Written(BaseModel):
    statements: list[Said]
    answered: Literal["yes", "partly", "no"]
    missing: str
    queries: list[str]
    ask: str


class ComposeAnswer:
    name = "compose answer"
    instructions = f"""\
You answer a question from passages of the user's own documents, in the language of the question, in one to six plain \
sentences. Begin with the answer itself: the figure, the name, yes or no, the reason. Explain, compare or summarise if \
that is asked for. If there are several people or documents, say which one a statement is about.

For each `statement`:
- `quotes`: the words of the passages that it is based on, each with the number of its passage, copied exactly and as \
short as will still show it. All figures, dates and amounts of the statement must be in its quotes.
- `calculations`: for each figure that follows by arithmetic, the expression with the figures of the quotes, such as \
"(1577 - 1200) / 1200 * 100"; for each date that follows from a date and a period, "2026-03-04 + 30 days" (days, \
weeks, months, years; "+ 3 * 1 year" for a term that was renewed three times); for days between two dates, \
"2026-04-03 - 2026-03-04"; for how many things the quotes name, "1 + 1 + 1"; else none.
- `contradiction`: true where it says that passages contradict each other about what is asked: name both sides, which \
document says which, and quote both. Do not choose between them. A newer version that replaces an older one is no \
contradiction: say which holds now.

If the passages cover only a part of the question, answer that part. Say nothing from memory and nothing that is \
merely likely. A passage about another person, thing, place, time or event than the one in question does not answer \
it, however similar they are; nor does one that contradicts what the question takes for granted.

`answered`: "yes", "partly", or "no" if no passage says it; then there are no statements. If it is not "yes", \
`missing` says in a few words what the passages do not say; `queries` are one to three further searches, in words that \
such documents would use and that were not searched for yet, or none if nothing more can be expected; and `ask` is one \
short question to the user that would help to find it: another name, which document, which time.

{RETRIEVED_WARNING}"""

    def prompt(self, asked: AnswerToCompose) -> Prompt:
        texts = text_blocks((each.shown_as, each.text) for each in asked.passages)
        of_lookup = (
            "The user already sees what a lookup in tables of the documents found. Say only what the passages "
            "add to it or say against it that answers the question; if they say nothing of the kind, `answered` "
            'is "no".'
        )
        return Prompt(
            instructions=self.instructions,
            text=join_parts(
                f"{texts}\n\nToday is {asked.today}.",
                headed_block("Searched for so far:", 0, asked.searched, "searches"),
                headed_block(of_lookup, 0, asked.lookup, "lookup"),
                f"The question:\n{mark_question(asked.question)}",
                by="\n",
            ),
            reply=Written,
            max_tokens=1_200,
        )

    def check(self, asked: AnswerToCompose, reply: Any) -> TextAnswer:
        found, failed = prove_items(
            reply.statements[:MAX_STATEMENTS],
            lambda said: prove_passage_statement(said, asked),
            lambda said: said.statement,
        )
        answer = TextAnswer(
            statements=tuple(found),
            # Without a proved statement nothing is answered, whatever the model says.
            answered=reply.answered if found else "no",
            missing=harmless_line(reply.missing),
            queries=tuple(filter(None, map(harmless_line, reply.queries))),
            ask=harmless_line(reply.ask),
            left_out=len(failed),
        )
        return accept_reply(answer, (fault for _, fault in failed))

    def fallback(self, asked: AnswerToCompose) -> TextAnswer:
        """Return no statements: without a model the passages themselves are shown."""
        return TextAnswer()


def prove_passage_statement(said: Said, asked: AnswerToCompose) -> Statement:
    passages = asked.passages
    sources = [Retrieved(origin=each.document_id, text=each.text, kind="document") for each in passages]
    text = prove_statement(said.statement)
    quotes = [prove_quote(quoted.quote, sources, quoted.passage, noun="passage") for quoted in said.quotes]
    if not quotes:
        raise Unproved("it has no quote.")
    cited = [passages[quote.source] for quote in quotes]
    # Both sides of a contradiction must be shown, so one passage is not enough.
    if said.contradiction and len({(each.document_id, each.start) for each in cited}) < 2:
        raise Unproved("a contradiction needs quotes of both sides.")
    # Texts that need no quote: figures of the question, and today's date for periods.
    texts = [asked.question, asked.today]
    texts += [
        f"{each.shown_as}\n{quote_with_lines(each.text, quote.start, quote.end)}"
        for each, quote in zip(cited, quotes, strict=True)
    ]
    calculations = prove_figures(text, texts, said.calculations, where="the quotes")
    return Statement(text=text, quotes=tuple(quotes), contradiction=said.contradiction, calculations=calculations)


class NumberedRow(Struct, frozen=True):
    """A row of a table; `text` is its cells on one line."""

    table: str
    text: str


class RowsToConclude(Struct, frozen=True, gc=True):
    question: str
    rows: tuple[NumberedRow, ...]
    today: str = ""
    more: int = 0
    """Number of rows that did not fit."""


class ConcludedStatement(Struct, frozen=True):
    text: str
    rows: tuple[int, ...]
    calculations: tuple[str, ...] = ()


class Conclusion(Struct, frozen=True):
    """An answer from rows, which are numbered from 0. `left_out` counts the statements that could not be verified."""

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


class ConcludeFromRows:
    name = "conclude"
    instructions = f"""\
You answer a question from tables that were read from the user's own documents: one numbered row for each document, \
or for each row of a table inside one. Answer in the language of the question, in one to six plain sentences; begin \
with the answer itself: the figure, the names, yes or no.

For each `statement`, `rows` are the numbers of the rows that it is based on, and `calculations` the arithmetic of \
each figure that no row has, with the rows' own figures ("1200 + 350", or for dates "2026-03-04 + 30 days" and \
"2026-04-03 - 2026-03-04", which gives days), or none. A count of rows needs no calculation.

`listed`: where the question asks which, the numbers of exactly the rows that are meant; else none. `unsure`: rows for \
which the tables do not say whether they are meant. `missing`: what would have to be known to answer, or "".

Names may be spelled in several ways. An empty cell means that the document does not say it, not that it is false.

{RETRIEVED_WARNING}"""

    def prompt(self, asked: RowsToConclude) -> Prompt:
        lines: list[str] = []
        table = ""
        for number, row in enumerate(asked.rows, start=1):
            if row.table != table:
                table = row.table
                lines.append(f"{table}:")
            lines.append(f"[{number}] {row.text}")
        cut = f"\n{asked.more:,} more rows do not fit here; say that the answer is of these rows." if asked.more else ""
        return Prompt(
            instructions=self.instructions,
            text=(
                f"{lines_block(1, lines, 'rows')}{cut}\n\nToday is {asked.today}.\nThe question:\n"
                f"{mark_question(asked.question)}"
            ),
            reply=ConclusionReply,
            max_tokens=1_200,
        )

    def check(self, asked: RowsToConclude, reply: Any) -> Conclusion:
        found, failed = prove_items(
            reply.statements[:MAX_STATEMENTS],
            lambda said: prove_row_statement(said, asked),
            lambda said: said.statement,
        )
        places = range(len(asked.rows))
        conclusion = Conclusion(
            statements=tuple(found),
            listed=tuple(pick_numbered(places, reply.listed)),
            unsure=tuple(pick_numbered(places, reply.unsure)),
            missing=harmless_line(reply.missing),
            left_out=len(failed),
        )
        return accept_reply(conclusion, (fault for _, fault in failed))

    def fallback(self, asked: RowsToConclude) -> Conclusion:
        """Return no statements: without a model the rows themselves are shown."""
        return Conclusion()


def prove_row_statement(said: SaidOfRows, asked: RowsToConclude) -> ConcludedStatement:
    text = prove_statement(said.statement)
    rows = tuple(pick_numbered(range(len(asked.rows)), said.rows))
    if not rows:
        raise Unproved("it names no row that it is based on.")
    texts = [asked.rows[place].text for place in rows] + [asked.question, asked.today]
    # The number of rows is a figure that no row states.
    counts = len(rows), len(asked.rows)
    calculations = prove_figures(text, texts, said.calculations, where="its rows", counts=counts)
    return ConcludedStatement(text=text, rows=rows, calculations=calculations)
