"""Questions about the documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from fastapi import Query
from fastapi.responses import FileResponse, Response
from pydantic import AfterValidator, ConfigDict, StringConstraints
from pydantic import Field as Value

from tablewright.domain.corpus import Aggregate
from tablewright.domain.form import Form, form_of
from tablewright.domain.model import Noun
from tablewright.domain.reply import Reply
from tablewright.doors.api.answers import Json, Page, file_answer, file_responses, newest_first
from tablewright.doors.api.idempotency import OnlyOnce
from tablewright.doors.api.inputs import (
    SOME,
    After,
    Body,
    ConversationId,
    Limit,
    Name,
    ResultId,
    Text,
    resource,
    writable,
)
from tablewright.doors.api.schemas import described
from tablewright.doors.api.visible import not_there
from tablewright.doors.server.context import Visiting
from tablewright.errors import UsageError
from tablewright.operations.tables import Removed

router = resource("ask")


class ConversationHead(Noun, frozen=True):
    """`title` is its first question."""

    conversation: str
    started_at: str
    title: str


class ConversationPage(Page, frozen=True):
    conversations: tuple[ConversationHead, ...]


class TurnShown(Noun, frozen=True):
    question: str
    answer: str
    at: str


class ConversationShown(Noun, frozen=True):
    conversation: str
    started_at: str
    turns: tuple[TurnShown, ...]


class AskedQuestion(Body):
    """A question in words; or `where` and the like, which are looked up as they stand, without a model; or `rest`."""

    question: Annotated[str, StringConstraints(max_length=4_000), AfterValidator(writable)] = ""
    where: Text = Value("", description='Conditions: "kind = invoice and total > 500 EUR and date in 2026-03".')
    figure: Aggregate = Value("", description="With `where`: a figure instead of a list.")
    of: Name = Value("", description="The column that the figure is of; not for count.")
    by: Name = Value("", description="With a figure: one for each value of this column.")
    show: list[Name] = Value([], max_length=50, description="With `where`: further columns.")
    sort: Name = Value("", description="With `where`: a column; -COLUMN: the largest first.")
    unit: Name = Value("", description="With `where`: the column that has the currency of the figures.")
    limit: int = Value(0, ge=0, le=1_000_000, description="With `where`: only the first N.")
    rest: bool = Value(False, description="Only the next rows of the last list of the conversation.")
    conversation: Name = Value("", description="Continues an earlier one: the `conversation` of its last reply.")
    agreed: bool = Value(False, description="Read as many documents as needed, without asking first.")

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"question": "How much did we spend on tires in 2024?"}]}
    )

    @property
    def form(self) -> Form | None:
        if not (self.where.strip() or self.figure):
            return None
        return form_of(
            self.where,
            self.figure,
            self.of,
            by=self.by,
            show=self.show,
            sort=self.sort,
            unit=self.unit,
            limit=self.limit,
        )


@router.post("/ask", response_model=described(Reply))
async def ask(visit: Visiting, asked: AskedQuestion, once: OnlyOnce) -> Response:
    """Answers a question with citations. A list or a count includes everything that matches, and its `ledger` says what
    could not be decided or read. Follow-up questions refer to the last result: "only 2024", "and the largest?". Without
    a model, a question is looked up if every word of it is known (`form`); otherwise passages with its words are
    returned."""
    visit.must_run()
    form = asked.form
    if sum((bool(asked.question.strip()), form is not None, asked.rest)) != 1:
        raise UsageError("Give a question, or `where`, or `rest`: one of them.")

    async def work() -> Json:
        if form is not None:
            reply = await visit.services.query_documents(form, conversation=asked.conversation)
        elif asked.rest:
            reply = await visit.services.more_rows(asked.conversation)
        else:
            reply = await visit.services.ask(asked.question, conversation=asked.conversation, agreed=asked.agreed)
        return Json(without_places(reply))

    return await once.answer(work)


@router.get("/conversations", response_model=described(ConversationPage))
async def list_conversations(visit: Visiting, limit: Limit = SOME, after: After = "") -> Json:
    """Conversations, newest first."""
    found = await visit.services.conversations()
    some, more = newest_first(found, after, limit, lambda each: (each.started_at, each.id))
    heads = tuple(ConversationHead(conversation=each.id, started_at=each.started_at, title=each.title) for each in some)
    return Json(ConversationPage(conversations=heads, next=more))


@router.get("/conversations/{conversation_id}", response_model=described(ConversationShown))
async def get_conversation(visit: Visiting, conversation_id: ConversationId) -> Json:
    """The questions and answers of a conversation."""
    with not_there(f"conversation {conversation_id!r}"):
        found = await visit.services.conversation(conversation_id)
    turns = tuple(TurnShown(question=each.question, answer=each.answer, at=each.at) for each in found.turns)
    return Json(ConversationShown(conversation=found.id, started_at=found.started_at, turns=turns))


@router.delete("/conversations/{conversation_id}", response_model=described(Removed))
async def remove_conversation(visit: Visiting, conversation_id: ConversationId) -> Json:
    """Deletes a conversation with the rows of its answers."""
    visit.must_change()
    with not_there(f"conversation {conversation_id!r}"):
        await visit.services.remove_conversation(conversation_id)
    return Json(Removed(removed=conversation_id))


def without_places(reply: Reply) -> Reply:
    """Where files lie on the server is nobody's business."""
    cited = tuple(msgspec.structs.replace(each, path=Path(each.path).name) for each in reply.citations)
    return msgspec.structs.replace(reply, citations=cited)


@router.get(
    "/results/{result_id}/export",
    response_class=FileResponse,
    responses=file_responses("csv", "xlsx", "json", "md"),
)
async def export_result(
    visit: Visiting,
    result_id: ResultId,
    format: Annotated[Literal["csv", "xlsx", "json", "md"], Query(description="The kind of file.")] = "csv",
) -> FileResponse:
    """All rows of a reply, as a file."""
    with not_there(f"result {result_id!r}"):
        return await file_answer("result", format, lambda path: visit.services.export_result(result_id, path))
