"""Questions about the documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Query
from fastapi.responses import FileResponse, Response
from pydantic import ConfigDict
from pydantic import Field as Value

from tablewright.doors.api.answers import Json, file_answer, file_responses
from tablewright.doors.api.described import described
from tablewright.doors.api.inputs import Body, Name, Question, ResultId
from tablewright.doors.api.once import OnlyOnce
from tablewright.doors.server.context import Visiting
from tablewright.table.reply import Reply

router = APIRouter(tags=["ask"])


class AskedQuestion(Body):
    question: Question
    conversation: Name = Value("", description="Goes on with an earlier one: the `conversation` of its last reply.")

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"question": "How much did we spend on tires in 2024?"}]}
    )


@router.post("/ask", response_model=described(Reply))
async def ask(visit: Visiting, asked: AskedQuestion, once: OnlyOnce) -> Response:
    """An answer with its citations. One that counts or lists has all that match, and its `ledger` says what could not
    be decided or read. Follow-ups work on the last result: "only 2024", "show the rest"."""
    visit.must_change()

    async def work() -> Json:
        reply = await visit.tablewright.ask(asked.question, conversation=asked.conversation)
        return Json(without_places(reply))

    return await once.answer(work)


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
    return await file_answer("result", format, lambda path: visit.tablewright.export_result(result_id, path))
