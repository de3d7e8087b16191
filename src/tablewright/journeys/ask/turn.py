"""One turn of a conversation about documents: what it is answered with, and what is remembered of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from tablewright.corpus.corpus import Corpus
from tablewright.decisions.decision import Tell
from tablewright.decisions.plan_question import QuestionPlan
from tablewright.domain.form import Form
from tablewright.domain.reply import Reply, ToolUse
from tablewright.domain.text import shortened
from tablewright.engine.fill import Terms
from tablewright.engine.progress import Watch
from tablewright.journeys.enrich import OpenTools
from tablewright.messages.catalogue import translate
from tablewright.store.conversations import Conversation, Turn
from tablewright.store.store import Store

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel


@dataclass(frozen=True, kw_only=True)
class AskContext:
    """What every turn works with. `unasked` are the documents that may be read for it without asking first."""

    store: Store
    corpus: Corpus
    model: LanguageModel | None
    open_tools: OpenTools
    actor: str
    terms: Terms
    concurrency: int | None
    unasked: int
    tell: Tell
    watch: Watch


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
        """What the next turn starts from, and what explains this one later."""
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
