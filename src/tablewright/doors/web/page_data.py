"""What the grid asks the server for by itself: rows, block by block, and the table as a file. Guarded as all is."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from tablewright.doors.server.context import Visiting
from tablewright.doors.web.grid_rows import Only, RowOrders, Wanted, block
from tablewright.errors import NotFound

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
    proposal: str = "",
    only: Only = "",
    find: Annotated[str, Query(max_length=200)] = "",
    sort: Annotated[str, Query(max_length=300)] = "",
    descending: bool = False,
    view: Annotated[str, Query(max_length=60)] = "",
) -> Response:
    table = await visit.table(table_id)
    if proposal:
        await check_belongs(visit, proposal, table.id)
    orders: RowOrders = request.app.state.page_rows
    wanted = Wanted(
        table_id=table.id,
        proposal_id=proposal,
        only=only,
        find=find.strip(),
        sort=sort,
        descending=descending,
        view=view,
    )
    order = await orders.order(visit.tablewright, wanted)
    ids = list(order[start : min(end, start + MOST)])
    found = await block(visit.tablewright, table, proposal, ids)
    return as_json({"rows": found, "total": len(order)})


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


async def check_belongs(visit: Visiting, proposal_id: str, table_id: str) -> None:
    """Whoever may see one table learns nothing of another by naming its proposal."""
    if (await visit.tablewright.proposal(proposal_id)).table_id != table_id:
        raise NotFound(f"There is no proposal {proposal_id!r}.")


def as_json(content: Any) -> Response:
    return Response(msgspec.json.encode(content), media_type="application/json", headers={"Cache-Control": "no-store"})
