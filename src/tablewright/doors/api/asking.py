"""Questions about the documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Query
from fastapi.responses import FileResponse, Response
from pydantic import ConfigDict
from pydantic import Field as Value

from tablewright.doors.api.answers import Json, Page, file_answer, file_responses, newest_first
from tablewright.doors.api.described import described
from tablewright.doors.api.inputs import SOME, After, Body, ConversationId, Limit, Name, Question, ResultId
from tablewright.doors.api.once import OnlyOnce
from tablewright.doors.api.seen import not_there
from tablewright.doors.api.tables import Removed
from tablewright.doors.server.context import Visiting
from tablewright.table.model import Noun
from tablewright.table.reply import Reply

router = APIRouter(tags=["ask"])


class ConversationHead(Noun, frozen=True):
    conversation: str
    started_at: str


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
    question: Question
    conversation: Name = Value("", description="Goes on with an earlier one: the `conversation` of its last reply.")
    agreed: bool = Value(False, description="Read as many documents as it takes, without asking back first.")

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"question": "How much did we spend on tires in 2024?"}]}
    )


@router.post("/ask", response_model=described(Reply))
async def ask(visit: Visiting, asked: AskedQuestion, once: OnlyOnce) -> Response:
    """An answer with its citations. One that counts or lists has all that match, and its `ledger` says what could not
    be decided or read. Follow-ups work on the last result: "only 2024", "show the rest"."""
    visit.must_run()

    async def work() -> Json:
        reply = await visit.tablewright.ask(asked.question, conversation=asked.conversation, agreed=asked.agreed)
        return Json(without_places(reply))

    return await once.answer(work)


@router.get("/conversations", response_model=described(ConversationPage))
async def list_conversations(visit: Visiting, limit: Limit = SOME, after: After = "") -> Json:
    """The newest first."""
    found = await visit.tablewright.conversations()
    some, more = newest_first(found, after, limit, lambda each: (each.started_at, each.id))
    heads = tuple(ConversationHead(conversation=each.id, started_at=each.started_at) for each in some)
    return Json(ConversationPage(conversations=heads, next=more))


@router.get("/conversations/{conversation_id}", response_model=described(ConversationShown))
async def get_conversation(visit: Visiting, conversation_id: ConversationId) -> Json:
    """What was asked in it, and what was answered."""
    with not_there(f"conversation {conversation_id!r}"):
        found = await visit.tablewright.conversation(conversation_id)
    turns = tuple(TurnShown(question=each.question, answer=each.answer, at=each.at) for each in found.turns)
    return Json(ConversationShown(conversation=found.id, started_at=found.started_at, turns=turns))


@router.delete("/conversations/{conversation_id}", response_model=described(Removed))
async def remove_conversation(visit: Visiting, conversation_id: ConversationId) -> Json:
    """Forgets it, with the rows of its answers."""
    visit.must_change()
    with not_there(f"conversation {conversation_id!r}"):
        await visit.tablewright.remove_conversation(conversation_id)
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
        return await file_answer("result", format, lambda path: visit.tablewright.export_result(result_id, path))
