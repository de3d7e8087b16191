"""One turn of a conversation about documents: its dependencies, its record, and the next rows of a kept result.

Stores the turn through `QuestionTurn.remember`, and nothing else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from tablewright.documents.corpus import Corpus
from tablewright.domain.reply import Form, Reply, ToolUse
from tablewright.domain.run import ProgressCallback, ignore_progress
from tablewright.domain.text import shorten_text
from tablewright.engine.fill import FillRun
from tablewright.engine.outcome import RunResult
from tablewright.engine.policy import DEFAULT_POLICY, RunPolicy
from tablewright.llm.tasks.decision import Tell
from tablewright.llm.tasks.plan_question import QuestionPlan
from tablewright.messages.catalogue import translate
from tablewright.store.conversations import Conversation, Turn
from tablewright.store.store import Store
from tablewright.strategies.strategy import OpenTools, open_no_tools
from tablewright.workflows.ask.answering import CitationList, make_reply_row

if TYPE_CHECKING:
    from tablewright.llm.model import LanguageModel
    from tablewright.workflows.ask.query_rows import RowTable

# Runs a fill to its end, in place or as a run that outlives this process.
RunFill: TypeAlias = Callable[[FillRun], Awaitable[RunResult]]


@dataclass(frozen=True)
class AskContext:
    """Dependencies of every turn. `unasked` is the number of documents that may be read without asking first;
    `shown_rows` and `shown_passages` are the most that a reply shows; `run_agreed` runs a reading that is longer, and
    that the user agreed to, so that others can watch, stop and resume it; `row_tables` caches the tables found inside
    documents for all questions."""

    store: Store
    corpus: Corpus
    model: LanguageModel | None
    open_tools: OpenTools = open_no_tools
    actor: str = ""
    policy: RunPolicy = DEFAULT_POLICY
    concurrency: int | None = None
    unasked: int = 60
    shown_rows: int = 50
    shown_passages: int = 8
    run_agreed: RunFill = FillRun.run
    tell: Tell = lambda _: None
    watch: ProgressCallback = ignore_progress
    today: Callable[[], date] = date.today
    row_tables: dict[int, list[RowTable]] = field(default_factory=dict)


@dataclass(kw_only=True)
class QuestionTurn:
    """A turn in progress. `form` was filled in, or parsed from the question if no model planned it. With `agreed`,
    documents are read without asking first."""

    context: AskContext
    text: str
    today: str
    conversation: Conversation
    plan: QuestionPlan
    form: Form | None = None
    agreed: bool = False
    assumed: str = ""
    """A reading of the question that code took without being sure; such an answer is not exact."""
    degraded: str = ""
    """Why the model did not answer, if it failed."""
    tried: list[ToolUse] = field(default_factory=list)
    segments: list[int] = field(default_factory=list)
    """The passages that were read for it."""

    def translate(self, text: str, /, **values: Any) -> str:
        """Return a text of ours in the language of the question."""
        return translate("ask", text, self.plan.language, **values)

    def calculated(self, text: str, calculations: Sequence[str]) -> str:
        """Return the sentence with the calculations of its figures; a plain count needs none."""
        # "1 + 1 + 1" only counts the sources, which the sentence names anyway.
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
        """Reply without an answer; with `waits`, keep the plan until the user agrees."""
        reply = Reply(
            question=self.text,
            answer=text,
            completeness="incomplete",
            clarification=clarification,
            route=self.plan.action,
        )
        return await self.remember(reply, plan=self.plan.model_dump_json() if waits else "")

    async def remember(self, reply: Reply, *, shown: int | None = None, plan: str | None = None) -> Reply:
        """Store the turn, for the next one to start from and for its explanation; return the reply."""
        if self.assumed and reply.completeness == "exact":
            reason = "; ".join(filter(None, (reply.reason, self.assumed)))
            reply = msgspec.structs.replace(reply, completeness="approximate", reason=reason)
        reply = msgspec.structs.replace(
            reply,
            attempts=tuple(self.tried),
            conversation=self.conversation.id,
            question=self.text,
            language=self.plan.language,
            degraded=self.degraded,
            outages=tuple(filter(None, [self.context.corpus.search.outage])),
        )
        turn = Turn(
            question=self.text,
            # The next plan is shown earlier answers; a long one would crowd out the question.
            answer=shorten_text(reply.answer, 2_000),
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


def append_sources(text: str, numbers: Sequence[int]) -> str:
    return f"{text} {' '.join(f'[source {number}]' for number in dict.fromkeys(numbers))}"


# ── the kept result ──────────────────────────────────────────────────────────────────────────────────────────────────


def turns_on_topic(turns: Sequence[Turn]) -> Sequence[Turn]:
    starts = [place for place, turn in enumerate(turns) if turn.route == "new topic"]
    return turns[starts[-1] + 1 :] if starts else turns


async def show_more_results(asking: QuestionTurn) -> Reply:
    """Show the next rows of the kept result, or announce its export."""
    before = next((turn for turn in reversed(turns_on_topic(asking.conversation.turns)) if turn.result_id), None)
    if before is None:
        return await asking.reply_with(asking.translate("There are no rows yet. Ask for a list first."))
    # An export starts over: it has all rows, not only those that are not shown yet.
    is_export = asking.plan.action == "export"
    start = 0 if is_export else before.shown
    kept = await asking.context.store.results.page(before.result_id, start, asking.context.shown_rows)
    sources = CitationList(corpus=asking.context.corpus)
    rows = tuple(
        [make_reply_row(row, await sources.cite(row.document_id, [(row.start, row.end)])) for row in kept.rows]
    )
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
        # The first column is the document, which each row of a reply has apart.
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
