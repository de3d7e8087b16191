"""Routes that the grid's scripts call: rows in blocks, the selection as text, the table as a file, a page's picture."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse, PlainTextResponse
from starlette.background import BackgroundTask

from tablewright.documents.page_image import render_page_image
from tablewright.errors import NotFound, UsageError
from tablewright.interfaces.page.table.cells import CellSelection, selection_as_markdown, selection_as_text
from tablewright.interfaces.page.table.rows import RowOrders, describe_undecided_rows, parse_row_query, read_row_block
from tablewright.interfaces.server.context import Visiting
from tablewright.operations.documents import find_document
from tablewright.operations.files import export_table_file
from tablewright.operations.grid_rows import RowQuery
from tablewright.temporary import make_temporary_folder, remove_temporary_folder

router = APIRouter(prefix="/page-data", include_in_schema=False)


@router.get("/tables/{table_id}/rows")
async def get_rows(
    request: Request,
    visit: Visiting,
    table_id: str,
    start: Annotated[int, Query(ge=0)] = 0,
    end: Annotated[int, Query(ge=0)] = 100,
) -> Response:
    """Return the rows that match the query, in its order. `next` is where to continue if not all fitted."""
    table = await visit.table(table_id)
    wanted = await check_proposals(visit, parse_row_query(table.id, request.query_params))
    orders: RowOrders = request.app.state.page_rows
    # Sorting has turns of its own, so scrolling does not wait for it.
    async with request.state.without_turn():
        matching = await orders.find(visit.services, wanted)
    # Five times the block size that the grid asks for.
    ids = list(matching.row_ids[start : min(end, start + 500)])
    found = await read_row_block(visit.services, table, wanted.proposals, ids)
    next_start = start + found.done if found.done < len(ids) else None
    answer = {
        "rows": found.rows,
        "total": len(matching.row_ids),
        "next": next_start,
        "note": describe_undecided_rows(matching),
    }
    return await asyncio.to_thread(json_response, answer)


@router.post("/tables/{table_id}/cells")
async def copy_cells(request: Request, visit: Visiting, table_id: str, format: str = "") -> PlainTextResponse:
    """Return the selection as text or Markdown for the clipboard: the browser has only some of its rows."""
    table = await visit.table(table_id)
    try:
        picked = msgspec.json.decode(await request.body(), type=CellSelection)
    except msgspec.MsgspecError as error:
        raise UsageError(f"This is not a selection: {error}.") from None
    await check_proposals(visit, picked.wanted(table.id))
    found = await (selection_as_markdown if format == "md" else selection_as_text)(visit.services, table, picked)
    return PlainTextResponse(found, headers={"Cache-Control": "no-store"})


@router.get("/tables/{table_id}/file")
async def download_table(
    request: Request, visit: Visiting, table_id: str, format: str = "csv", evidence: bool = False, shown: bool = False
) -> FileResponse:
    """Return the table as a file: all rows, or with `shown` those of the rest of the query."""
    formats = ("csv", "xlsx", "json", "md", "parquet")
    table = await visit.table(table_id)
    row_ids = None
    if shown:
        wanted = await check_proposals(visit, parse_row_query(table.id, request.query_params))
        async with request.state.without_turn():
            row_ids = list(await request.app.state.page_rows.order(visit.services, wanted))
    if format not in formats:
        raise NotFound(f"A table cannot be written as {format!r}.", advice=f"Formats: {', '.join(formats)}.")
    # The file must outlive this function: it is removed once the response is sent.
    folder, handle = make_temporary_folder()
    path = folder / f"{table.id}.{format}"
    try:
        await export_table_file(visit.services, table.id, path, evidence=evidence, row_ids=row_ids)
    except BaseException:
        remove_temporary_folder(folder, handle)
        raise
    return FileResponse(path, filename=path.name, background=BackgroundTask(remove_temporary_folder, folder, handle))


@router.get("/documents/{document_id}/pages/{number}")
async def document_page_image(visit: Visiting, document_id: str, number: int, quote: str = "") -> Response:
    """Return a page of a PDF as a picture, with the quote marked."""
    document = await find_document(visit.services, document_id)
    path = Path(document.path)
    if document.media != "pdf" or not await asyncio.to_thread(path.is_file):
        raise NotFound(f"There is no picture of the pages of {document.name}.")
    picture = await render_page_image(path, number, quote[:1_000])
    return Response(picture, media_type="image/png", headers={"Cache-Control": "private, max-age=600"})


async def check_proposals(visit: Visiting, wanted: RowQuery) -> RowQuery:
    """Raise NotFound if a proposal belongs to another table than the visible one."""
    for proposal_id in wanted.proposals:
        if (await visit.services.store.proposals.get(proposal_id, counted=False)).table_id != wanted.table_id:
            raise NotFound(f"There is no proposal {proposal_id!r}.")
    return wanted


def json_response(content: Any) -> Response:
    return Response(msgspec.json.encode(content), media_type="application/json", headers={"Cache-Control": "no-store"})
