"""Ask: a question about the user's documents, from its words to an answer that says what it stands on.

Understood, routed, looked up with fallbacks, assembled within limits, answered with sources, remembered and logged: the
steps of a turn, in this order. The facts of the documents are a table already; an answer is a query over it, or a few
sentences of the texts.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, Any

import msgspec

from tablewright.corpus.corpus import Corpus
from tablewright.decisions.ask_clarification import AskClarification, Clarify
from tablewright.decisions.compose_answer import ComposeAnswer, Composed, Snippet, compose
from tablewright.decisions.decision import decide
from tablewright.decisions.follow_up import Followed, FollowUp, Message, rolling_summary
from tablewright.decisions.select_route import NEEDED, Route, RouteName, Select, SelectRoute
from tablewright.decisions.understand_question import Ask, Understand
from tablewright.errors import NotFound, RunError, UsageError
from tablewright.journeys.ask.answering import (
    ROWS,
    Sources,
    columns_of,
    kept_rows,
    ledger_of,
    listed,
    quoted,
    shown_rows,
    told,
)
from tablewright.journeys.ask.routes import Evidence, Routes
from tablewright.models.concern import concerning
from tablewright.store.conversations import Conversation, Turn
from tablewright.store.documents import Counts
from tablewright.store.store import Store
from tablewright.table.corpus import Question
from tablewright.table.model import Step
from tablewright.table.reply import Reply, ReplyRow, Tried
from tablewright.table.text import plural

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel

LABELS = 60
"""The commonest labels that a question is understood with."""
GOING_ON = ("rest", "export", "widen", "text search")
NOTHING = Question(text="", intent="conceptual")
TEXTS = Route(route="long-text", fallbacks=("hybrid",), reason="the texts were asked for")
TOO_MANY = 200
"""Matches beyond which one is asked to narrow the question."""


class Asker:
    def __init__(
        self,
        store: Store,
        corpus: Corpus,
        model: LanguageModel | None,
        *,
        today: Callable[[], date] = date.today,
        tell: Callable[[Step], None] = lambda _: None,
        health: dict[str, str] | None = None,
    ) -> None:
        """`health` is what is known of the tools, for all questions."""
        self._store = store
        self._corpus = corpus
        self._model = model
        self._today = today
        self._tell = tell
        self._health: dict[str, str] = {} if health is None else health

    async def ask(self, text: str, conversation_id: str = "") -> Reply:
        if not text.strip():
            raise UsageError("There is no question.")
        counts = await self._store.documents.counts()
        if not counts.documents:
            raise UsageError("There are no documents yet.", advice="Add some: `tablewright docs add PATH`.")
        conversation = await self._conversation(conversation_id)
        last = conversation.turns[-1] if conversation.turns else None
        labels = await self._labels()
        message = Message(
            text=text,
            today=self._today().isoformat(),
            last=last.understood if last else None,
            summary=conversation.summary,
            kinds=tuple(counts.kinds),
            labels=labels,
        )
        followed = await self._followed(message)
        if followed.kind in GOING_ON and (last is None or message.last is None):
            return await self._said(conversation.id, text, "There is nothing yet to go on from. Ask a question first.")
        if followed.kind in ("rest", "export") and last is not None:
            return await self._go_on(conversation.id, last, followed, text)
        if followed.kind == "new topic":
            conversation = msgspec.structs.replace(conversation, summary="")
            message = msgspec.structs.replace(message, last=None, summary="")
            if not followed.text:
                return await self._said(conversation.id, text, "A new topic. What is the question?")
        if followed.kind in ("widen", "text search") and message.last is not None:
            question = message.last
        else:
            question = followed.question or await self._understood(message, followed.text or text)
        if followed.kind == "widen":
            question = msgspec.structs.replace(question, things="")
        in_texts = followed.kind == "text search"
        try:
            return await self._answer(question, conversation, counts, in_texts=in_texts)
        except NotFound:  # a document was removed between finding and quoting it
            return await self._answer(question, conversation, counts, in_texts=in_texts)

    async def _said(self, conversation_id: str, text: str, answer: str) -> Reply:
        """A turn that asks nothing of the documents, and that the next does not go on from."""
        await self._store.conversations.add_turn(conversation_id, Turn(question=text, answer=answer), summary="")
        return Reply(question=text, answer=answer, conversation=conversation_id)

    # ── understanding ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _conversation(self, id: str) -> Conversation:
        return await self._store.conversations.get(id or await self._store.conversations.start())

    async def _labels(self) -> tuple[str, ...]:
        uses = sorted(await self._store.documents.labels(), key=lambda use: -use.documents)
        return tuple(dict.fromkeys(use.label for use in uses))[:LABELS]

    async def _followed(self, message: Message) -> Followed:
        if message.last is None:
            command = FollowUp().fallback(msgspec.structs.replace(message, last=NOTHING))
            if command.kind in GOING_ON:
                return command
        if FollowUp().is_plain(message):
            return FollowUp().fallback(message)
        followed: Followed = await self._decide(FollowUp(), message)
        return followed

    async def _understood(self, message: Message, text: str) -> Question:
        asked = Ask(
            text=text,
            today=message.today,
            summary=message.summary,
            last=message.last,
            kinds=message.kinds,
            labels=message.labels,
        )
        if Understand().is_plain(asked):
            return Understand().fallback(asked)
        question: Question = await self._decide(Understand(), asked)
        return question

    async def _decide(self, decision: Any, asked: Any) -> Any:
        return (await decide(decision, asked, self._model, self._tell)).decided

    # ── finding ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _answer(self, question: Question, conversation: Conversation, counts: Counts, *, in_texts: bool) -> Reply:
        route = TEXTS if in_texts else await self._routed(question, conversation.summary, counts)
        evidence = Evidence(question=question)
        routes = Routes(self._corpus, evidence)
        reply = None
        taken: RouteName = route.route
        for taken in (route.route, *route.fallbacks):
            try:
                enough = await routes.take(taken)
            except RunError as error:  # a tool that fails is one that found nothing; the next one may
                self._health |= dict.fromkeys(NEEDED[taken], f"failed: {error.what}")
                evidence.tried.append(Tried(tool=taken, asked=question.text, matches=0, note=error.what))
                continue
            self._health |= dict.fromkeys(NEEDED[taken], "ok")
            if enough:
                by_facts = evidence.decides and not in_texts
                reply = await (self._from_facts(evidence) if by_facts else self._from_texts(evidence, conversation))
                if reply is not None:
                    break
        if reply is None:
            reply, taken = await self._nothing(evidence), route.route
        reply = msgspec.structs.replace(
            reply,
            intent=question.intent,
            route=taken,
            route_reason=route.reason,
            fallbacks=tuple(other for other in (route.route, *route.fallbacks) if other != taken),
            attempts=tuple(evidence.tried),
            relaxed=tuple(evidence.relaxed),
            conversation=conversation.id,
        )
        await self._remember(reply, question, conversation, evidence)
        return reply

    async def _routed(self, question: Question, summary: str, counts: Counts) -> Route:
        asked = SelectRoute(
            question=question,
            summary=summary,
            coverage=counts.annotated / counts.documents,
            categories=counts.categories,
            health=dict(self._health),
        )
        route: Route = await self._decide(Select(), asked)
        return route

    # ── answering ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _from_facts(self, evidence: Evidence) -> Reply:
        found, question = evidence.found, evidence.question
        assert found is not None
        sources = Sources(corpus=self._corpus)
        answer = await told(evidence, sources)
        things = listed(evidence)
        rows = await shown_rows(question, things, sources)
        columns = ("document", *columns_of(question))
        result_id = await self._store.results.keep(question.text, columns, kept_rows(question, things))
        aggregated = evidence.aggregated
        clarification = ""
        if len(found.matches) > TOO_MANY and not question.aggregate:
            clarification = await self._clarified(evidence, f"{len(found.matches):,} matches, {len(rows)} shown")
        return Reply(
            question=question.text,
            answer=answer,
            citations=tuple(sources.citations),
            columns=columns_of(question),
            rows=rows,
            count=len(found.matches),
            completeness=aggregated.completeness if aggregated else found.completeness,
            reason=aggregated.reason if aggregated else found.reason,
            ledger=ledger_of(found),
            result_id=result_id,
            more=len(things) - len(rows),
            clarification=clarification,
        )

    async def _from_texts(self, evidence: Evidence, conversation: Conversation) -> Reply | None:
        """None where the texts do not say."""
        sources = Sources(corpus=self._corpus)
        snippets = []
        for hit in evidence.hits:
            number = await sources.of_hit(hit)
            snippets.append(Snippet(source=number, text=hit.text, title=hit.document.title, page=hit.page))
        asked = ComposeAnswer(
            question=evidence.question,
            snippets=tuple(snippets),
            tried=tuple(evidence.tried),
            summary=conversation.summary,
        )
        with concerning([hit.document.id for hit in evidence.hits]):
            composed: Composed = (await compose(asked, self._model, self._tell)).decided
        if not composed.cited:
            return None
        citations = [
            quoted(cited, [each for each in composed.statements if each.source == cited.number])
            for cited in sources.citations
            if cited.number in composed.cited
        ]
        return Reply(
            question=evidence.question.text,
            answer=composed.text,
            citations=tuple(citations),
            completeness="approximate",
            reason="the best passages were read, not all of them",
        )

    async def _nothing(self, evidence: Evidence) -> Reply:
        said = await self._clarified(evidence, "nothing was found")
        return Reply(
            question=evidence.question.text,
            answer="The documents do not say.",
            completeness="incomplete",
            reason="nothing was found",
            ledger=ledger_of(evidence.found) if evidence.found is not None else None,
            clarification=said,
        )

    async def _clarified(self, evidence: Evidence, reason: str) -> str:
        asked = AskClarification(question=evidence.question, reason=reason, attempts=tuple(evidence.tried))
        clarification: str = await self._decide(Clarify(), asked)
        return clarification

    # ── going on ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _go_on(self, conversation_id: str, last: Turn, followed: Followed, text: str) -> Reply:
        """More of the kept result, or all of it for a file; as complete as the answer was that it belongs to."""
        if not last.result_id:
            return await self._said(conversation_id, text, "The last answer has no rows to go on with.")
        sources = Sources(corpus=self._corpus)
        is_export = followed.kind == "export"
        kept = await self._store.results.page(last.result_id, 0 if is_export else last.shown, 0 if is_export else ROWS)
        rows = tuple(
            [
                ReplyRow(
                    document_id=row.document_id,
                    title=row.values[0],
                    values=row.values[1:],
                    page=row.page,
                    source=await sources.cite(row.document_id, [(row.start, row.end)]),
                )
                for row in kept.rows
            ]
        )
        until = last.shown + len(rows)
        if is_export:
            named = f" to {followed.path}" if followed.path else "; name a file, such as: export that table to rows.csv"
            answer = f"{kept.total:,} {plural('row', kept.total)} can be exported{named}."
        else:
            answer = f"Rows {last.shown + 1:,} to {until:,} of {kept.total:,}." if rows else "That was all."
        reply = Reply(
            question=text,
            answer=answer,
            citations=tuple(sources.citations),
            columns=kept.columns[1:],
            rows=rows,
            count=kept.total,
            completeness=last.completeness,
            result_id=kept.id,
            more=max(0, kept.total - until),
            export=followed.path if is_export else "",
            conversation=conversation_id,
        )
        shown = tuple(dict.fromkeys((*last.documents, *(row.document_id for row in rows))))
        turn = msgspec.structs.replace(last, question=text, answer=answer, shown=until, documents=shown, at="")
        await self._store.conversations.add_turn(conversation_id, turn)
        return reply

    async def _remember(self, reply: Reply, question: Question, conversation: Conversation, evidence: Evidence) -> None:
        """What the next turn starts from, and what explains this one later."""
        used = tuple(dict.fromkeys(cited.document_id for cited in reply.citations))
        summary = rolling_summary(conversation.summary, question, reply.answer)
        turn = Turn(
            question=reply.question,
            answer=reply.answer,
            route=reply.route,
            fallbacks=reply.fallbacks,
            reason=reply.route_reason,
            attempts=tuple(f"{each.tool}({each.asked}): {each.matches} ({each.threshold})" for each in reply.attempts),
            clarification=reply.clarification,
            documents=used,
            segments=tuple(hit.id for hit in evidence.hits),
            result_id=reply.result_id,
            understood=question,
            shown=len(reply.rows),
            completeness=reply.completeness,
        )
        await self._store.conversations.add_turn(conversation.id, turn, summary=summary)
