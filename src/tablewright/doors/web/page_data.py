"""Requests of the grid itself: rows, block by block, and the table as a file. Guarded like all others."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse, PlainTextResponse
from starlette.background import BackgroundTask

from tablewright.corpus.page_image import page_image
from tablewright.doors.server.context import Visiting
from tablewright.doors.web.grid_rows import RowOrders, RowQuery, block, wanted_of
from tablewright.doors.web.table_cells import Picked, markdown_of, text_of
from tablewright.errors import NotFound, UsageError
from tablewright.operations.documents import find_document
from tablewright.operations.files import export_file
from tablewright.temporary import make_temporary_folder, remove_temporary_folder

router = APIRouter(prefix="/page-data", include_in_schema=False)

MOST = 500
LONGEST_QUOTE = 1_000
FORMATS = ("csv", "xlsx", "json", "md", "parquet")


@router.get("/tables/{table_id}/rows")
async def rows(
    request: Request,
    visit: Visiting,
    table_id: str,
    start: Annotated[int, Query(ge=0)] = 0,
    end: Annotated[int, Query(ge=0)] = 100,
) -> Response:
    """Return rows; the rest of the query says which, in which order. `next` is where to continue if not all fitted."""
    table = await visit.table(table_id)
    wanted = await checked(visit, wanted_of(table.id, request.query_params))
    orders: RowOrders = request.app.state.page_rows
    async with request.state.without_turn():  # sorting has turns of its own, and those who scroll do not wait for it
        matching = await orders.find(visit.services, wanted)
    ids = list(matching.row_ids[start : min(end, start + MOST)])
    found = await block(visit.services, table, wanted.proposals, ids)
    next_start = start + found.done if found.done < len(ids) else None
    answer = {"rows": found.rows, "total": len(matching.row_ids), "next": next_start, "note": matching.note}
    return await asyncio.to_thread(as_json, answer)


@router.post("/tables/{table_id}/cells")
async def cells(request: Request, visit: Visiting, table_id: str, format: str = "") -> PlainTextResponse:
    """Return the selection as text or Markdown for the clipboard: the browser has only some of its rows."""
    table = await visit.table(table_id)
    try:
        picked = msgspec.json.decode(await request.body(), type=Picked)
    except msgspec.MsgspecError as error:
        raise UsageError(f"This is no selection: {error}.") from None
    await checked(visit, picked.wanted(table.id))
    found = await (markdown_of if format == "md" else text_of)(visit.services, table, picked)
    return PlainTextResponse(found, headers={"Cache-Control": "no-store"})


@router.get("/tables/{table_id}/file")
async def file(
    request: Request, visit: Visiting, table_id: str, format: str = "csv", evidence: bool = False, shown: bool = False
) -> FileResponse:
    """Return the table as a file: all rows, or with `shown` those of the rest of the query."""
    table = await visit.table(table_id)
    row_ids = None
    if shown:
        wanted = await checked(visit, wanted_of(table.id, request.query_params))
        async with request.state.without_turn():
            row_ids = list(await request.app.state.page_rows.order(visit.services, wanted))
    if format not in FORMATS:
        raise NotFound(f"A table cannot be written as {format!r}.", advice=f"Formats: {', '.join(FORMATS)}.")
    folder, handle = make_temporary_folder()
    path = folder / f"{table.id}.{format}"
    try:
        await export_file(visit.services, table.id, path, evidence=evidence, row_ids=row_ids)
    except BaseException:
        remove_temporary_folder(folder, handle)
        raise
    return FileResponse(path, filename=path.name, background=BackgroundTask(remove_temporary_folder, folder, handle))


@router.get("/documents/{document_id}/pages/{number}")
async def document_page(visit: Visiting, document_id: str, number: int, quote: str = "") -> Response:
    """Return a page of a PDF as a picture, with the quote marked."""
    document = await find_document(visit.services, document_id)
    path = Path(document.path)
    if document.media != "pdf" or not await asyncio.to_thread(path.is_file):
        raise NotFound(f"There is no picture of the pages of {document.name}.")
    picture = await page_image(path, number, quote[:LONGEST_QUOTE])
    return Response(picture, media_type="image/png", headers={"Cache-Control": "private, max-age=600"})


async def checked(visit: Visiting, wanted: RowQuery) -> RowQuery:
    """Raise NotFound if a proposal belongs to another table than the visible one."""
    for proposal_id in wanted.proposals:
        if (await visit.services.store.proposals.get(proposal_id, counted=False)).table_id != wanted.table_id:
            raise NotFound(f"There is no proposal {proposal_id!r}.")
    return wanted


def as_json(content: Any) -> Response:
    return Response(msgspec.json.encode(content), media_type="application/json", headers={"Cache-Control": "no-store"})
