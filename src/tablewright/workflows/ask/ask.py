"""Ask: a question about the user's documents, from its words to an answer that names its sources.

With a model: it plans (`llm/tasks/plan_question`); the engine reads the columns that the plan needs from every document
of the kind and keeps them (`kinds`), and code decides and counts (`query`, `tables`); what only sentences can answer is
searched for and composed from quotes (`texts`). Without a model: a form over what is known (`where`), which a question
becomes where every word of it is known (`question_form`), or passages (`without_model`).
"""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.domain.documents import Document
from tablewright.domain.reply import Form, KnownGroup, Reply
from tablewright.domain.retrieved import track_documents
from tablewright.domain.rowkey import split_words
from tablewright.domain.text import normalize_whitespace, shorten_text
from tablewright.errors import NotFound, UsageError
from tablewright.llm.tasks.decision import Outcome, decide
from tablewright.llm.tasks.plan_question import (
    PlanQuestion,
    QuestionPlan,
    QuestionToPlan,
    parse_stored_plan,
    text_search_plan,
)
from tablewright.llm.tasks.translation import translate_lines
from tablewright.llm.text_budget import TEXT_LIMITS
from tablewright.store.conversations import Conversation, Turn
from tablewright.text import SMALL_WORDS
from tablewright.workflows.ask.kinds import AT_INGEST, classify_documents, estimate_classification
from tablewright.workflows.ask.query_rows import Inventory, find_row_tables, take_inventory
from tablewright.workflows.ask.tables import answer_from_tables, describe_effort
from tablewright.workflows.ask.texts import answer_from_texts
from tablewright.workflows.ask.turn import AskContext, QuestionTurn, show_more_results, turns_on_topic
from tablewright.workflows.ask.where import list_known_groups, resolve_form
from tablewright.workflows.ask.without_model import answer_by_form, answer_without_model


class Asker:
    def __init__(self, context: AskContext) -> None:
        self.context = context
        self._store = context.store

    async def ask(self, text: str, conversation_id: str = "", *, agreed: bool = False) -> Reply:
        """`agreed`: whatever must be read for the answer is read, without asking first."""
        if not text.strip():
            raise UsageError("There is no question.")
        documents = await self._store.documents.all()
        if not documents:
            raise UsageError("There are no documents yet.", advice="Add some: `tablewright docs add PATH`.")
        things = await self._sorted(documents, agreed=agreed)
        asking = await self._begin(text, conversation_id, agreed=agreed)
        if self.context.model is None:
            return await answer_without_model(asking, things)
        planned = await self._plan(text, asking.conversation, things)
        if planned.degraded:
            asking.degraded = planned.degraded
            return await answer_without_model(asking, things)
        asking.plan = planned.decided
        await translate_lines("ask", asking.plan.language, self.context.model, self.context.tell)
        return await self._carry_out(asking, things)

    async def _sorted(self, documents: Sequence[Document], *, agreed: bool) -> Inventory:
        """With a kind from the model for each document; where very many have none, only if the person has agreed."""
        unsorted = sum(not (each.is_sorted or each.problem) for each in documents)
        if (agreed or unsorted <= AT_INGEST) and await classify_documents(
            self._store, self.context.model, self.context.tell
        ):
            documents = await self._store.documents.all()
        return await self.inventory(documents)

    async def query(self, form: Form, conversation_id: str = "") -> Reply:
        """Conditions over what is known of the documents, without a model."""
        things = await self.inventory(await self._store.documents.all())
        looked = await resolve_form(
            self._store, self.context.corpus, form, things
        )  # raises before a conversation begins
        return await answer_by_form(await self._begin(str(form), conversation_id), things, form, looked)

    async def more(self, conversation_id: str) -> Reply:
        """The next rows of the last result."""
        asking = await self._begin("show the rest", conversation_id)
        asking.plan = asking.plan.model_copy(update={"action": "rest"})
        return await show_more_results(asking)

    async def _begin(self, text: str, conversation_id: str, *, agreed: bool = False) -> QuestionTurn:
        conversation = await self._store.conversations.get(conversation_id or await self._store.conversations.start())
        last = next((turn.plan for turn in reversed(conversation.turns) if turn.plan), "")
        language = parse_stored_plan(last).language if last else ""
        return QuestionTurn(
            context=self.context,
            text=text,
            today=self.context.today().isoformat(),
            conversation=conversation,
            plan=text_search_plan(text, language),
            agreed=agreed,
        )

    async def known(self) -> list[KnownGroup]:
        """Return what a form can look up."""
        return await list_known_groups(self._store, await self.inventory(await self._store.documents.all()))

    async def _carry_out(self, asking: QuestionTurn, things: Inventory) -> Reply:
        plan, turns = asking.plan, asking.conversation.turns
        match plan.action:
            case "rest" | "export":
                return await show_more_results(asking)
            case "new topic":
                return await asking.reply_with(plan.say or asking.translate("A new topic. What is your question?"))
            case "ask back":
                return await asking.reply_with(plan.say, clarification=plan.say)
            case "go on":
                waiting = turns[-1].plan if turns and turns[-1].clarification else ""
                if not waiting:
                    return await asking.reply_with(
                        asking.translate("Nothing is waiting for your approval. What is your question?")
                    )
                asking.plan, asking.agreed = parse_stored_plan(waiting), True
                if things.unsorted > AT_INGEST:  # the kinds that it was planned with were guesses
                    things = await self._sorted(await self._store.documents.all(), agreed=True)
                    asking.plan = (await self._plan(asking.plan.question, asking.conversation, things)).decided
        if question := await ask_to_classify(asking, things):
            return await asking.reply_with(question, clarification=question, waits=True)
        try:
            reply = await carry_out_plan(asking, things)
        except NotFound:  # a document was removed between finding and quoting it
            reply = await carry_out_plan(asking, things)
        return reply or await answer_without_model(asking, things)

    async def inventory(self, documents: Sequence[Document]) -> Inventory:
        readable = [each for each in documents if not each.problem]
        version = hash(tuple((each.id, each.text_hash, each.kind) for each in readable))
        if version not in self.context.row_tables:
            found = await find_row_tables(self._store, {each.id: each for each in readable})
            # Collections of documents whose inner tables are held in memory: people may see different ones.
            while len(self.context.row_tables) >= 4:
                self.context.row_tables.pop(next(iter(self.context.row_tables)))
            self.context.row_tables[version] = found
        return await take_inventory(
            self._store, readable, self.context.row_tables[version], len(documents) - len(readable)
        )

    async def _plan(self, text: str, conversation: Conversation, things: Inventory) -> Outcome[QuestionPlan]:
        turns = turns_on_topic(conversation.turns)
        last = next((turn for turn in reversed(turns) if turn.plan), None)
        listed = next((turn for turn in reversed(turns) if turn.result_id), None)
        hits = await self._hits(text)
        # Behind the inventory, and only while something fails, so that a provider's prompt cache hits.
        health = f"\nHealth: {self.context.corpus.search.outage}" if self.context.corpus.search.outage else ""
        asked = QuestionToPlan(
            text=text,
            today=self.context.today().isoformat(),
            inventory=f"{things.text}{health}",
            groups=things.groups,
            turns=tuple((turn.question, turn.answer) for turn in turns),
            last=last.plan if last else "",
            result=await self._shown_result(listed) if listed else "",
            hits=hits,
        )
        with track_documents([each.id for members in things.kinds.values() for each in members]):
            return await decide(PlanQuestion(), asked, self.context.model, self.context.tell)

    async def _hits(self, text: str) -> str:
        """Return a line for each passage with words of the question, so that the plan sees where names and numbers
        occur."""
        # Passages with words of the question that its plan is shown.
        found = await self.context.corpus.search.hybrid(text, 8)
        return "\n".join(
            f"- {hit.document.name} ({hit.document.kind or 'document'}): {find_relevant_lines(text, hit.text)}"
            for hit in found.hits
        )

    async def _shown_result(self, turn: Turn) -> str:
        # Rows of the last result that the next plan is shown.
        kept = await self._store.results.page(turn.result_id, 0, 12)
        lines = [" | ".join(kept.columns), *(" | ".join(row.values) for row in kept.rows)]
        more = kept.total - len(kept.rows)
        return "\n".join(lines) + (f"\n({more:,} more rows)" if more else "")


def find_relevant_lines(question: str, text: str) -> str:
    """Return the two lines that share the most words with the question."""
    words = {word for word in split_words(question) if word not in SMALL_WORDS}
    lines = list(dict.fromkeys(normalize_whitespace(line) for line in text.splitlines() if line.strip()))

    def shared(place: int) -> tuple[int, int]:
        return -len(words.intersection(split_words(lines[place]))), -len(lines[place])

    best = sorted(range(len(lines)), key=shared)[:2]
    return " … ".join(shorten_text(lines[place], TEXT_LIMITS.document_line) for place in sorted(best))


async def ask_to_classify(asking: QuestionTurn, things: Inventory) -> str:
    """Return the question for permission to sort very many documents, if the plan is about a kind; else ""."""
    is_of_kind = asking.plan.action == "table" and any(name in things.kinds for name in asking.plan.of)
    if asking.agreed or not is_of_kind or things.unsorted <= AT_INGEST:
        return ""
    unsorted = [each for members in things.kinds.values() for each in members if not each.is_sorted]
    assert asking.context.model is not None
    effort = describe_effort(
        asking, *await estimate_classification(asking.context.store, asking.context.model, unsorted)
    )
    return asking.translate(
        "To answer this, {count} documents must first be sorted by kind: {effort}. Shall I go on?",
        count=len(unsorted),
        effort=effort,
    )


async def carry_out_plan(asking: QuestionTurn, things: Inventory) -> Reply | None:
    """Return the answer, or None if the model failed to word it."""
    if asking.plan.action != "table":
        return await answer_from_texts(asking, things)
    reply = await answer_from_tables(asking, things)
    return reply or await answer_from_texts(
        asking,
        things,
        instead=asking.translate("The columns that were looked up do not tell, so the texts were searched."),
    )
