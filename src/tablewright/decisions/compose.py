"""Compose: an answer from passages of the user's documents, sentence by sentence, each with the words it stands on.

A model writes; code finds every quote in its passage and every figure in what is cited, numbers the sources, and sends
back once what it cannot find. What stays unproved is left out, and the answer says so. What the passages do not tell
becomes the next searches.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from tablewright.citations.figures import prove_figures
from tablewright.citations.quotes import (
    WARNING,
    FoundQuote,
    Unproved,
    harmless_line,
    lines_around,
    prove_each,
    prove_quote,
    prove_statement,
    question_block,
)
from tablewright.decisions.decision import Prompt, accept, headed_block, join_parts, text_blocks
from tablewright.domain.model import Noun
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import shortened

INSTRUCTIONS = f"""\
You answer a question from passages of somebody's own documents, in the language of the question, in one to six plain \
sentences. Begin with the answer itself: the figure, the name, yes or no, the reason. Explain, compare or summarise \
where that is asked for. Say who or which document a statement is about where several are.

For each `statement`:
- `quotes`: the passages' words that it stands on, each with the number of its passage, copied exactly and as short \
as will still show it. All figures, dates and amounts of the statement stand in its quotes.
- `calculations`: for each figure that follows by arithmetic, the expression with the figures of the quotes, such as \
"(1577 - 1200) / 1200 * 100"; for each date that follows from a date and a period, "2026-03-04 + 30 days" (days, \
weeks, months, years; "+ 3 * 1 year" for a term that was renewed three times); for days between two dates, \
"2026-04-03 - 2026-03-04"; for how many things the quotes name, "1 + 1 + 1"; else none.
- `contradiction`: true where it says that passages contradict each other about what is asked: name both sides, which \
document says which, and quote both. Do not choose between them. A newer version that replaces an older one is no \
contradiction: say which holds now.

Where the passages cover only a part of the question, answer that part. Say nothing from memory and nothing that is \
merely likely. A passage about another person, thing, place, time or event than the one that is asked about does not \
answer the question, however alike they are; nor does one that says otherwise than the question takes for granted.

`answered`: "yes", "partly", or "no" where no passage says it; then there are no statements. Where it is not "yes", \
`missing` says in a few words what is not told; `queries` are one to three further searches, in words that such \
documents would use and that were not searched for yet, or none if nothing more can be expected; and `ask` is one \
short question to the user that would help to find it: another name, which document, which time.

{WARNING}"""
BESIDE_LOOKUP = """\
The user is told already what a lookup in tables of the documents found. Say only what the passages say beyond it or \
against it that answers the question; where they say no such thing, `answered` is "no"."""
MOST = 8
"""Statements of an answer, at most."""


class Passage(Noun, frozen=True):
    """A stretch of a document's text, from `start` on; `document_id` and `start` are where its quotes are cited.
    `heading` is that of its best part."""

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
        title = f"{self.title}, “{shortened(self.heading, 80)}”" if self.heading else self.title
        return f"{title}, page {self.page}" if self.page else title


class ToCompose(Noun, frozen=True, gc=True):
    """`searched` are the queries so far, `lookup` what code has found in the tables of the documents."""

    question: str
    passages: tuple[Passage, ...]
    searched: tuple[str, ...] = ()
    today: str = ""
    lookup: str = ""


class Statement(Noun, frozen=True):
    """The sources of its quotes are the passages."""

    text: str
    quotes: tuple[FoundQuote, ...]
    contradiction: bool = False
    calculations: tuple[str, ...] = ()


class TextAnswer(Noun, frozen=True):
    """`left_out` are statements that could not be verified."""

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


class Compose:
    name = "compose answer"

    def prompt(self, asked: ToCompose) -> Prompt:
        texts = text_blocks((each.shown_as, each.text) for each in asked.passages)
        return Prompt(
            instructions=INSTRUCTIONS,
            text=join_parts(
                f"{texts}\n\nToday is {asked.today}.",
                headed_block("Searched for so far:", 0, asked.searched, "searches"),
                headed_block(BESIDE_LOOKUP, 0, asked.lookup, "lookup"),
                f"The question:\n{question_block(asked.question)}",
                by="\n",
            ),
            reply=Written,
            max_tokens=1_200,
        )

    def check(self, asked: ToCompose, reply: Any) -> TextAnswer:
        found, failed = prove_each(
            reply.statements[:MOST], lambda said: prove_said(said, asked), lambda said: said.statement
        )
        answer = TextAnswer(
            statements=tuple(found),
            answered=reply.answered if found else "no",
            missing=harmless_line(reply.missing),
            queries=tuple(filter(None, map(harmless_line, reply.queries))),
            ask=harmless_line(reply.ask),
            left_out=len(failed),
        )
        return accept(answer, (fault for _, fault in failed))

    def fallback(self, asked: ToCompose) -> TextAnswer:
        """Without a model nothing is said; the passages are shown as what they are."""
        return TextAnswer()


def prove_said(said: Said, asked: ToCompose) -> Statement:
    passages = asked.passages
    sources = [Retrieved(origin=each.document_id, text=each.text, kind="document") for each in passages]
    text = prove_statement(said.statement)
    quotes = [prove_quote(quoted.quote, sources, quoted.passage, noun="passage") for quoted in said.quotes]
    if not quotes:
        raise Unproved("it has no quote.")
    cited = [passages[quote.source] for quote in quotes]
    if said.contradiction and len({(each.document_id, each.start) for each in cited}) < 2:
        raise Unproved("a contradiction needs quotes of both sides.")
    texts = [asked.question, asked.today]
    texts += [
        f"{each.shown_as}\n{lines_around(each.text, quote.start, quote.end)}"
        for each, quote in zip(cited, quotes, strict=True)
    ]
    calculations = prove_figures(text, texts, said.calculations, where="the quotes")
    return Statement(text=text, quotes=tuple(quotes), contradiction=said.contradiction, calculations=calculations)
