"""Compose the answer: short statements from what was found, each with the source that says it.

A model names for each statement the source and the words of it that it stands on. Code looks for those words, and that
every number and name of the statement stands in the source; it writes the citations itself, and leaves out what does
not hold. Without a model the answer is made of the rows that match, or of the sentences that answer the question.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import structs
from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions import answers
from tablewright.decisions.citations import OPENERS, cite, unsupported
from tablewright.decisions.decision import Outcome, Prompt, Tell, Unusable, decide
from tablewright.models.tokens import CUT_OFF, estimate_tokens
from tablewright.table.corpus import Question
from tablewright.table.evidence import locate
from tablewright.table.model import Noun, Step
from tablewright.table.reply import ReplyRow, Tried
from tablewright.table.text import plural
from tablewright.table.untrusted import WARNING, block, clean, gives_orders, is_tainted, question_block
from tablewright.text.sections import readable, sentences
from tablewright.text.words import roots

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel

BUDGET = 1_800
LEAST_BUDGET = 300
ROWS_LISTED = 20
MOST_STATEMENTS = 6
SHORTEST_SNIPPET = 200
"""Characters: a snippet of which less would fit is left out."""
NOT_SAID = "The documents do not say."

INSTRUCTIONS = (
    "You answer a question with nothing but the evidence below: numbered texts, and rows whose first cell is the "
    "number of their source. Give 2 to 4 short statements. For each write `source`, the number of the text or row that "
    "says it; `quote`, the few words of that source that say it, copied exactly; and `statement`, one concise sentence "
    "that answers the question and says no more than the quote, without the number of the source. If the evidence is "
    "not enough, give no statement that it does not say, and write in `missing` what is missing and what to do next; "
    'else leave `missing` empty (""). ' + WARNING
)


class Snippet(Noun, frozen=True):
    source: int
    text: str
    title: str = ""
    page: int | None = None

    @property
    def heading(self) -> str:
        return ", ".join(part for part in (self.title, f"page {self.page}" if self.page else "") if part)


class ComposeAnswer(Noun, frozen=True):
    """`rows` (under `columns`) and `snippets` stand in the order of their worth. `notes` are ours, and end the answer:
    what is not shown, not stated, or was relaxed. `budget` is in tokens, for rows and snippets together."""

    question: Question
    columns: tuple[str, ...] = ()
    rows: tuple[ReplyRow, ...] = ()
    snippets: tuple[Snippet, ...] = ()
    notes: tuple[str, ...] = ()
    tried: tuple[Tried, ...] = ()
    summary: str = ""
    budget: int = BUDGET

    @property
    def sources(self) -> dict[int, str]:
        """What each number stands for, as `check_citations` takes it."""
        held: dict[int, list[str]] = {}
        for row in self.rows:
            if row.source:
                held.setdefault(row.source, []).append(row_text(self.columns, row))
        for snippet in self.snippets:
            held.setdefault(snippet.source, []).append(f"{snippet.title}\n{snippet.text}")
        return {number: "\n".join(texts) for number, texts in held.items()}


class Statement(Noun, frozen=True):
    """`quote` stands at `start:end` of the snippet with that source; of a row there are no offsets (0, 0)."""

    text: str
    source: int
    quote: str
    start: int = 0
    end: int = 0


class Composed(Noun, frozen=True):
    text: str
    cited: tuple[int, ...] = ()
    missing: str = ""
    statements: tuple[Statement, ...] = ()


class Said(BaseModel):
    source: int
    quote: str = Key(max_length=300)
    statement: str = Key(max_length=400)


class Answer(BaseModel):
    statements: list[Said] = Key(max_length=MOST_STATEMENTS)
    missing: str = Key(max_length=300)


async def compose(asked: ComposeAnswer, model: LanguageModel | None, tell: Tell) -> Outcome[Composed]:
    """As `decide`. The layer of the model asks for more where an answer was cut off; if that is cut off too, the same
    question is asked once more with half the evidence, before the rule answers."""
    steps: list[Step] = []
    outcome = await decide(Compose(), asked, model, steps.append)
    if outcome.degraded and CUT_OFF.partition("{")[0] in outcome.degraded and asked.budget > LEAST_BUDGET:
        tell(
            Step(
                type="thinking",
                detail=f"{Compose.name}: the answer was cut off. Asked again with half the evidence.",
                data={"decision": Compose.name, "cut_off": True},
            )
        )
        shorter = structs.replace(asked, budget=max(LEAST_BUDGET, asked.budget // 2), summary="")
        return await decide(Compose(), shorter, model, tell)
    for step in steps:
        tell(step)
    return outcome


class Compose:
    name = "compose answer"

    def prompt(self, asked: ComposeAnswer) -> Prompt:
        fitted = fit(asked)
        parts = [f"Conversation so far:\n{block(0, asked.summary, 'conversation')}"] if asked.summary else []
        if fitted.rows:
            head = " | ".join(("source", "document", *asked.columns))
            lines = [" | ".join((str(row.source), row.title, *row.values)) for row in fitted.rows]
            parts.append("Structured rows:\n" + block(0, "\n".join((head, *lines)), "rows"))
        if fitted.snippets:
            texts = "\n".join(block(each.source, each.text, each.heading) for each in fitted.snippets)
            parts.append("Snippets:\n" + texts)
        if notes := (*asked.notes, *_left_out(asked, fitted)):
            parts.append("Notes: " + " ".join(notes))
        parts.append(question_block(asked.question.text))
        return Prompt(instructions=INSTRUCTIONS, text="\n\n".join(parts), reply=Answer, max_tokens=600)

    def check(self, asked: ComposeAnswer, reply: Any) -> Composed:
        """What the sources bear. Only an answer of which nothing is left is worth a second question."""
        found: list[Statement] = []
        problems = []
        for said in reply.statements:
            statement, problem = supported(asked, said)
            if statement is None:
                problems.append(problem)
            elif all(statement.text != other.text for other in found):
                found.append(statement)
        missing = " ".join(clean(reply.missing).split())
        missing = "" if gives_orders(missing) else missing
        if not found and problems:
            raise Unusable("; ".join(problems), usable=refused(asked, missing))
        return composed(asked, found, missing) if found else refused(asked, missing)

    def fallback(self, asked: ComposeAnswer) -> Composed:
        if rows := [row for row in asked.rows if row.source]:
            listed = [
                Statement(text=text, source=row.source, quote=text)
                for row in rows[:ROWS_LISTED]
                for text in (row_text(asked.columns, row),)
                if not gives_orders(text) and not unsupported(text, text)
            ]
            more = len(asked.rows) - len(listed)
            also = (f"And {more:,} more {plural('row', more)}.",) if more else ()
            return composed(structs.replace(asked, notes=(*also, *asked.notes)), listed, "", listing=True)
        told = answers.tell(asked.question.text, [(each.heading, each.text) for each in asked.snippets])
        found = []
        for each in told:
            snippet = asked.snippets[each.text]
            quote = snippet.text[each.start : each.end]
            text = readable(quote)
            if not unsupported(text, asked.sources[snippet.source]):
                found.append(Statement(text=text, source=snippet.source, quote=quote, start=each.start, end=each.end))
        return composed(asked, found, "") if found else refused(asked, _unheard(asked))


# ── what is sent ─────────────────────────────────────────────────────────────────────────────────────────────────────


def fit(asked: ComposeAnswer) -> ComposeAnswer:
    """The rows and snippets that fit into the budget, the best first; rows take at most half of it if there are
    snippets too. The last snippet is cut to what fits."""
    left = asked.budget
    rows = []
    for row in (row for row in asked.rows if row.source):
        cost = estimate_tokens(row_text(asked.columns, row)) + 4
        if cost > left - (asked.budget // 2 if asked.snippets else 0):
            break
        rows.append(row)
        left -= cost
    snippets = []
    for snippet in asked.snippets:
        cost = estimate_tokens(snippet.text) + estimate_tokens(snippet.heading) + 24
        if cost > left:
            cut = _cut(snippet.text, len(snippet.text) * max(0, left - 40) // cost)
            if len(cut) >= SHORTEST_SNIPPET:
                snippets.append(structs.replace(snippet, text=cut))
            break
        snippets.append(snippet)
        left -= cost
    return structs.replace(asked, rows=tuple(rows), snippets=tuple(snippets))


def _cut(text: str, length: int) -> str:
    """At the end of a sentence, or of a word."""
    ends = [end for _, end in sentences(text) if end <= length]
    return text[: ends[-1]] if ends else text[: max(0, text.rfind(" ", 0, length))]


def _left_out(asked: ComposeAnswer, fitted: ComposeAnswer) -> tuple[str, ...]:
    counts = (
        (len(asked.rows) - len(fitted.rows), "row"),
        (len(asked.snippets) - len(fitted.snippets), "snippet"),
    )
    return tuple(f"{count:,} more {plural(noun, count)} not shown here." for count, noun in counts if count)


def row_text(columns: tuple[str, ...], row: ReplyRow) -> str:
    """A row in one line: "receipt-7: Total 12.50; Date 2021-05-03"."""
    values = [f"{name} {value}".strip() for name, value in zip(columns, row.values, strict=False) if value]
    text = f"{row.title}: {'; '.join(values)}" if row.title and values else row.title or "; ".join(values)
    return " ".join(text.split())


# ── what is believed ─────────────────────────────────────────────────────────────────────────────────────────────────

_DENIES = re.compile(r"\b(?:not|no|never|none|neither|nor|cannot|without|\w+n['’]t)\b", re.IGNORECASE)


def supported(asked: ComposeAnswer, said: Said) -> tuple[Statement | None, str]:
    """The statement with the place of its quote, if its source bears it; else what is wrong with it."""
    text = " ".join(clean(said.statement).split())
    source = asked.sources.get(said.source)
    if source is None:
        return None, f"there is no source {said.source}"
    if problem := unsupported(text, source):
        return None, f"{text!r}: {problem} [{said.source}]"
    for snippet in asked.snippets:
        place = _place(text, said.quote, snippet) if snippet.source == said.source else None
        if place and not is_tainted(snippet.text, *place) and not _turned(text, snippet.text, *place):
            quote = snippet.text[place[0] : place[1]]
            return Statement(text=text, source=said.source, quote=quote, start=place[0], end=place[1]), ""
    for row in asked.rows:
        line = row_text(asked.columns, row)
        if row.source == said.source and not unsupported(text, line) and not gives_orders(line):
            return Statement(text=text, source=said.source, quote=line), ""
    return None, f"{text!r}: the quote does not stand in source {said.source}, or says something else"


def _place(statement: str, quote: str, snippet: Snippet) -> tuple[int, int] | None:
    """The shortest passage that says it all by itself: the quote, the sentences that it is part of, or another one."""
    spans = sentences(snippet.text)
    places = spans
    if quoted := locate(quote, snippet.text):
        around = [(start, end) for start, end in spans if start < quoted[1] and end > quoted[0]]
        places = [quoted, *([(around[0][0], around[-1][1])] if around else []), *spans]
    bears = (
        place for place in places if not unsupported(statement, f"{snippet.title}\n{snippet.text[place[0] : place[1]]}")
    )
    return next(bears, None)


def _turned(statement: str, text: str, start: int, end: int) -> bool:
    """Whether the statement denies what the sentence of its quote does not deny, or the quote alone denies."""
    around = " ".join(text[first:last] for first, last in sentences(text) if first < end and last > start)
    if _DENIES.search(statement):
        return not _DENIES.search(around)
    return bool(_DENIES.search(text, start, end))


# ── what is shown ────────────────────────────────────────────────────────────────────────────────────────────────────


def composed(asked: ComposeAnswer, found: list[Statement], missing: str, *, listing: bool = False) -> Composed:
    listing = listing or len(found) > 4
    said = [cite(statement.text, statement.source) for statement in found]
    lines = [f"- {each}" for each in said] if listing else [" ".join(said)]
    if missing:
        lines.append(f"Missing: {_plain(missing)}")
    return Composed(
        text="\n".join((*lines, *map(_plain, asked.notes))),
        cited=tuple(dict.fromkeys(statement.source for statement in found)),
        missing=missing,
        statements=tuple(found),
    )


def refused(asked: ComposeAnswer, missing: str = "") -> Composed:
    """No answer, and no citation: only what was tried."""
    lines = [NOT_SAID]
    if missing:
        lines.append(f"Missing: {_plain(missing)}")
    if asked.tried:
        tried = "; ".join(f"{each.tool} {each.asked} ({found(each.matches)})" for each in asked.tried)
        lines.append(f"Tried: {_plain(tried)}.")
    return Composed(text="\n".join((*lines, *map(_plain, asked.notes))), missing=missing)


def found(matches: int) -> str:
    return f"{matches:,} {plural('match', matches)}"


def _plain(text: str) -> str:
    """Without anything that looks like a citation."""
    return re.sub(r"\[(\s*sources?\b[^\]]*)\]", r"(\1)", text, flags=re.IGNORECASE)


def _unheard(asked: ComposeAnswer) -> str:
    """The telling words of the question that no snippet holds: what nothing was found about."""
    held = {root for each in asked.snippets for root in roots(f"{each.title} {each.text}")}
    words = re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", asked.question.text)
    telling = [word for word in words if word.casefold() not in OPENERS]
    unheard = [word for word in telling if (own := roots(word, telling=True)) and not set(own) & held]
    return f"nothing about {', '.join(dict.fromkeys(unheard))}." if unheard and asked.snippets else ""
