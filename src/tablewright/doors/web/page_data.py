"""What the grid asks the server for by itself: rows, block by block, and the table as a file. Guarded as all is."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse, PlainTextResponse
from starlette.background import BackgroundTask

from tablewright.doors.server.context import Visiting
from tablewright.doors.web.grid_rows import RowOrders, Wanted, block, wanted_of
from tablewright.doors.web.table_cells import Picked, text_of
from tablewright.errors import NotFound, UsageError

router = APIRouter(prefix="/page-data", include_in_schema=False)

MOST = 500
FORMATS = ("csv", "xlsx", "json", "md", "parquet")


@router.get("/tables/{table_id}/rows")
async def rows(
    request: Request,
    visit: Visiting,
    table_id: str,
    start: Annotated[int, Query(ge=0)] = 0,
    end: Annotated[int, Query(ge=0)] = 100,
) -> Response:
    """The rest of the query says which rows, in which order."""
    table = await visit.table(table_id)
    wanted = await checked(visit, wanted_of(table.id, request.query_params))
    orders: RowOrders = request.app.state.page_rows
    order = await orders.order(visit.tablewright, wanted)
    ids = list(order[start : min(end, start + MOST)])
    found = await block(visit.tablewright, table, wanted.proposals, ids)
    return as_json({"rows": found, "total": len(order)})


@router.post("/tables/{table_id}/cells")
async def cells(request: Request, visit: Visiting, table_id: str) -> PlainTextResponse:
    """What is selected, as a text for the clipboard: the browser has only some of the rows."""
    table = await visit.table(table_id)
    try:
        picked = msgspec.json.decode(await request.body(), type=Picked)
    except msgspec.MsgspecError as error:
        raise UsageError(f"This is no selection: {error}.") from None
    await checked(visit, picked.wanted(table.id))
    return PlainTextResponse(await text_of(visit.tablewright, table, picked), headers={"Cache-Control": "no-store"})


@router.get("/tables/{table_id}/file")
async def file(visit: Visiting, table_id: str, format: str = "csv", evidence: bool = False) -> FileResponse:
    table = await visit.table(table_id)
    if format not in FORMATS:
        raise NotFound(f"A table cannot be written as {format!r}.", advice=f"Formats: {', '.join(FORMATS)}.")
    folder = Path(tempfile.mkdtemp(prefix="tablewright-export-"))
    path = folder / f"{table.id}.{format}"
    try:
        await visit.tablewright.export_file(table.id, path, evidence=evidence)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return FileResponse(path, filename=path.name, background=BackgroundTask(shutil.rmtree, folder, ignore_errors=True))


async def checked(visit: Visiting, wanted: Wanted) -> Wanted:
    """Whoever may see one table learns nothing of another by naming its proposal."""
    for proposal_id in wanted.proposals:
        if (await visit.tablewright.proposal(proposal_id)).table_id != wanted.table_id:
            raise NotFound(f"There is no proposal {proposal_id!r}.")
    return wanted


def as_json(content: Any) -> Response:
    return Response(msgspec.json.encode(content), media_type="application/json", headers={"Cache-Control": "no-store"})
