"""The advisor: a conversation about what to buy, beside a table of products."""

from __future__ import annotations

from pathlib import Path

import msgspec
from fastapi.responses import FileResponse, Response
from pydantic import ConfigDict
from pydantic import Field as Value

from tablewright.domain.model import Noun
from tablewright.domain.shortlist import ChatReply, Phase, ShortlistState
from tablewright.doors.api.answers import MEDIA, Json, file_responses
from tablewright.doors.api.idempotency import OnlyOnce
from tablewright.doors.api.inputs import SOME, After, Body, FileName, Limit, Question, ShortlistId, resource
from tablewright.doors.api.schemas import described
from tablewright.doors.api.visible import seen_shortlist
from tablewright.doors.server.context import Visit, Visiting
from tablewright.errors import NotFound
from tablewright.operations.operation import Page
from tablewright.operations.paging import newest_first
from tablewright.operations.tables import Removed

router = resource("shortlist")

FOLDER = "exports"
"""In the home folder: the files that people asked the advisor for."""


class ShortlistHead(Noun, frozen=True):
    id: str
    phase: Phase
    product_type: str
    table_id: str
    created_at: str
    updated_at: str


class ShortlistPage(Page, frozen=True):
    shortlists: tuple[ShortlistHead, ...]


class ShortlistTurn(Noun, frozen=True):
    """What the advisor replies, and where the conversation stands now. Every fact of the reply names its cells. A
    `file` is at `/shortlists/{shortlist_id}/files/{file}`."""

    shortlist: ShortlistState
    reply: ChatReply


class AskedTurn(Body):
    message: Question = Value(description="What you say, or the label of one of the last reply's buttons.")

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"message": "A quiet kettle under 60 pounds"}]}
    )


@router.get("/shortlists", response_model=described(ShortlistPage))
async def list_shortlists(visit: Visiting, limit: Limit = SOME, after: After = "") -> Json:
    """Shortlists, newest first."""
    some, more = newest_first(await visit.services.shortlists(), after, limit, lambda each: (each.created_at, each.id))
    heads = [
        ShortlistHead(
            id=each.id,
            phase=each.phase,
            product_type=each.requirements.product_type,
            table_id=each.table_id,
            created_at=each.created_at,
            updated_at=each.updated_at,
        )
        for each in some
    ]
    return Json(ShortlistPage(shortlists=tuple(heads), next=more))


@router.post("/shortlists", status_code=201, response_model=described(ShortlistState))
async def start_shortlist(visit: Visiting) -> Json:
    """Starts a conversation; keep its id."""
    visit.must_run()
    return Json(await visit.services.begin_shortlist(), 201)


@router.get("/shortlists/{shortlist_id}", response_model=described(ShortlistState))
async def get_shortlist(visit: Visiting, shortlist_id: ShortlistId) -> Json:
    """The whole conversation, and what it is waiting for."""
    return Json(await seen_shortlist(visit, shortlist_id))


@router.delete("/shortlists/{shortlist_id}", response_model=described(Removed))
async def remove_shortlist(visit: Visiting, shortlist_id: ShortlistId) -> Json:
    """Deletes a conversation; its table stays."""
    visit.must_change()
    state = await seen_shortlist(visit, shortlist_id)
    await visit.services.remove_shortlist(state.id)
    return Json(Removed(removed=state.id))


@router.post("/shortlists/{shortlist_id}/turns", response_model=described(ShortlistTurn))
async def take_turn(visit: Visiting, shortlist_id: ShortlistId, asked: AskedTurn, once: OnlyOnce) -> Response:
    """Sends a message or presses a button. Once products are searched for, the reply may take minutes."""
    visit.must_run()
    before = await seen_shortlist(visit, shortlist_id)

    async def work() -> Json:
        folder = exports(visit, before.id)
        folder.mkdir(parents=True, exist_ok=True)
        state, reply = await visit.services.shortlist_turn(before.id, asked.message, exports=folder)
        named = msgspec.structs.replace(reply, file=Path(reply.file).name)
        return Json(ShortlistTurn(shortlist=state, reply=named))

    return await once.answer(work)


@router.get(
    "/shortlists/{shortlist_id}/files/{file}",
    response_class=FileResponse,
    responses=file_responses("csv", "tsv", "xlsx", "json", "jsonl", "md", "parquet"),
)
async def get_shortlist_file(visit: Visiting, shortlist_id: ShortlistId, file: FileName) -> FileResponse:
    """A file that the advisor wrote."""
    state = await seen_shortlist(visit, shortlist_id)
    folder = exports(visit, state.id)
    written = {each.name: each for each in folder.iterdir()} if folder.is_dir() else {}
    path = written.get(file)
    if path is None:
        raise NotFound(f"There is no file {file!r}.")
    media = MEDIA.get(path.suffix.removeprefix("."), "application/octet-stream")
    return FileResponse(path, media_type=media, filename=path.name)


def exports(visit: Visit, shortlist_id: str) -> Path:
    return visit.services.settings.home_folder / FOLDER / shortlist_id
