"""One turn of a conversation about documents: what it works with, what is remembered of it, and how it goes on with the
kept result of an earlier one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any

import msgspec

from tablewright.corpus.corpus import Corpus
from tablewright.decisions.decision import Tell
from tablewright.decisions.plan_question import QuestionPlan
from tablewright.domain.form import Form
from tablewright.domain.reply import Reply, ToolUse
from tablewright.domain.run import Watch, ignore_progress
from tablewright.domain.text import shortened
from tablewright.engine.policy import USUAL, Terms
from tablewright.journeys.ask.answering import ROWS, Sources, reply_row
from tablewright.journeys.enrich import OpenTools, no_tools
from tablewright.messages.catalogue import translate
from tablewright.store.conversations import Conversation, Turn
from tablewright.store.store import Store

if TYPE_CHECKING:
    from tablewright.journeys.ask.members import RowTable
    from tablewright.models.model import LanguageModel

UNASKED = 60
"""Documents that are read for a question without asking, unless the user says otherwise."""


@dataclass(frozen=True)
class AskContext:
    """Dependencies of every turn. `unasked` is the number of documents that may be read without asking first;
    `row_tables` caches the tables found inside documents for all questions."""

    store: Store
    corpus: Corpus
    model: LanguageModel | None
    open_tools: OpenTools = no_tools
    actor: str = ""
    terms: Terms = USUAL
    concurrency: int | None = None
    unasked: int = UNASKED
    tell: Tell = lambda _: None
    watch: Watch = ignore_progress
    today: Callable[[], date] = date.today
    row_tables: dict[int, list[RowTable]] = field(default_factory=dict)


@dataclass(kw_only=True)
class QuestionTurn:
    """A turn under way. `form` is what was filled in, or read from the question, where no model planned it. `agreed`:
    whatever must be read for it is read without asking first."""

    context: AskContext
    text: str
    today: str
    conversation: Conversation
    plan: QuestionPlan
    form: Form | None = None
    agreed: bool = False
    tried: list[ToolUse] = field(default_factory=list)
    segments: list[int] = field(default_factory=list)
    """The passages that were read for it."""

    def translate(self, text: str, /, **values: Any) -> str:
        """Return a text of ours in the language of the question."""
        return translate("ask", text, self.plan.language, **values)

    def calculated(self, text: str, calculations: Sequence[str]) -> str:
        """The sentence, and how code came to the figures in it that nothing states; a count explains itself."""
        shown = [each for each in calculations if {part.strip() for part in each.split("+")} != {"1"}]
        return f"{text} ({self.translate('calculated: {how}', how='; '.join(shown))})" if shown else text

    def what_is_missing(self, missing: str, left_out: int) -> list[str]:
        """Return lines on what the documents do not tell, and on statements that were not verified."""
        lines = [self.translate("Missing: {what}", what=missing)] if missing else []
        if left_out:
            lines.append(
                self.translate(
                    "{count} statement could not be verified and is left out.|"
                    "{count} statements could not be verified and are left out.",
                    count=left_out,
                )
            )
        return lines

    async def reply_with(self, text: str, *, clarification: str = "", waits: bool = False) -> Reply:
        """A reply that says nothing of the documents; with `waits`, the plan stands until the person agrees."""
        reply = Reply(
            question=self.text,
            answer=text,
            completeness="incomplete",
            clarification=clarification,
            route=self.plan.action,
        )
        return await self.remember(reply, plan=self.plan.model_dump_json() if waits else "")

    async def remember(self, reply: Reply, *, shown: int | None = None, plan: str | None = None) -> Reply:
        """Store what the next turn starts from, and what explains this one later."""
        reply = msgspec.structs.replace(
            reply,
            attempts=tuple(self.tried),
            conversation=self.conversation.id,
            question=self.text,
            language=self.plan.language,
        )
        turn = Turn(
            question=self.text,
            answer=shortened(reply.answer, 2_000),
            route=reply.route,
            reason=self.plan.question,
            attempts=tuple(f"{each.tool}({each.asked}): {each.matches}" for each in self.tried),
            clarification=reply.clarification,
            documents=tuple(dict.fromkeys(cited.document_id for cited in reply.citations)),
            segments=tuple(dict.fromkeys(self.segments)),
            result_id=reply.result_id,
            shown=len(reply.rows) if shown is None else shown,
            completeness=reply.completeness,
            plan=self.plan.model_dump_json() if plan is None else plan,
        )
        await self.context.store.conversations.add_turn(self.conversation.id, turn, summary="")
        return reply


def with_sources(text: str, numbers: Sequence[int]) -> str:
    return f"{text} {' '.join(f'[source {number}]' for number in dict.fromkeys(numbers))}"


# ── the kept result ──────────────────────────────────────────────────────────────────────────────────────────────────


def since_new_topic(turns: Sequence[Turn]) -> Sequence[Turn]:
    starts = [place for place, turn in enumerate(turns) if turn.route == "new topic"]
    return turns[starts[-1] + 1 :] if starts else turns


async def go_on(asking: QuestionTurn) -> Reply:
    """More of the kept result, or its beginning where all of it goes into a file; as complete as it was before."""
    before = next((turn for turn in reversed(since_new_topic(asking.conversation.turns)) if turn.result_id), None)
    if before is None:
        return await asking.reply_with(asking.translate("There are no rows yet. Ask for a list first."))
    is_export = asking.plan.action == "export"
    start = 0 if is_export else before.shown
    kept = await asking.context.store.results.page(before.result_id, start, ROWS)
    sources = Sources(corpus=asking.context.corpus)
    rows = tuple([reply_row(row, await sources.cite(row.document_id, [(row.start, row.end)])) for row in kept.rows])
    until = before.shown if is_export else start + len(rows)
    if is_export:
        named = asking.translate(" to {path}", path=asking.plan.path)
        where = named if asking.plan.path else asking.translate("; name a file, such as rows.csv")
        text = asking.translate(
            "{count} row can be exported{where}.|{count} rows can be exported{where}.", count=kept.total, where=where
        )
    elif rows:
        text = asking.translate("Rows {first} to {last} of {total}.", first=start + 1, last=until, total=kept.total)
    else:
        text = asking.translate("That was all.")
    reply = Reply(
        question=asking.text,
        answer=text,
        citations=tuple(sources.citations),
        columns=kept.columns[1:],
        rows=rows,
        count=kept.total,
        completeness=before.completeness,
        result_id=kept.id,
        more=max(0, kept.total - until),
        export=asking.plan.path if is_export else "",
        route=asking.plan.action,
    )
    return await asking.remember(reply, shown=until, plan=before.plan)
