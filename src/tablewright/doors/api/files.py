"""A table as a file."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query
from fastapi.responses import FileResponse

from tablewright.doors.api.answers import file_answer, file_responses
from tablewright.doors.api.inputs import TableId, resource
from tablewright.doors.api.visible import seen_table
from tablewright.doors.server.context import Visiting
from tablewright.operations.tables import ExportTable, export_table

router = resource("tables")

Format = Literal["csv", "tsv", "xlsx", "json", "jsonl", "md", "parquet"]


@router.get(
    "/tables/{table_id}/export",
    name="export_table",
    response_class=FileResponse,
    responses=file_responses("csv", "tsv", "xlsx", "json", "jsonl", "md", "parquet"),
)
async def send_table(
    visit: Visiting,
    table_id: TableId,
    format: Annotated[Format, Query(description="The kind of file.")] = "csv",
    evidence: Annotated[
        bool, Query(description="Add source, quote, confidence, basis, status, reason and stale.")
    ] = False,
    cost: Annotated[bool, Query(description="Add the cost of the cells of each filled column.")] = False,
) -> FileResponse:
    """The whole table as a file. Texts that a spreadsheet would take for a formula are escaped. Where values in it are
    stale or flagged, the header `Tablewright-Warning` says so."""
    table = await seen_table(visit, table_id)
    return await file_answer(
        table.name,
        format,
        lambda path: export_table(
            visit.services, ExportTable(table=table.id, path=str(path), evidence=evidence, cost=cost)
        ),
    )
