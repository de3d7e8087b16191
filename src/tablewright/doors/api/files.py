"""Files: a table from one, and a table as one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from fastapi import File, Form, Query, UploadFile
from fastapi.responses import FileResponse
from pydantic import FiniteFloat, StringConstraints

from tablewright.doors.api.adapter import encode_reply
from tablewright.doors.api.answers import Json, file_answer, file_responses
from tablewright.doors.api.inputs import Name, TableId, TableName, resource
from tablewright.doors.api.schemas import COMPANY, EXAMPLES, described
from tablewright.doors.api.uploads import safe_name, save
from tablewright.doors.api.visible import seen_table
from tablewright.doors.server.context import Visiting
from tablewright.operations.tables import TableImported, describe_import
from tablewright.services import FileOptions
from tablewright.temporary import temporary_folder

router = resource("tables")

Format = Literal["csv", "tsv", "xlsx", "json", "jsonl", "md", "parquet"]
Scalar = str | int | FiniteFloat | bool | None
Heading = Annotated[str, StringConstraints(max_length=300)]


EXAMPLES[TableImported] = {
    "table_id": "companies-3fkq9",
    "name": "companies",
    "key_field": "Company",
    "rows": 2,
    "fields": [COMPANY],
    "warnings": [],
}


@router.post("/tables/import", status_code=201, response_model=described(TableImported))
async def import_table(
    visit: Visiting,
    file: Annotated[UploadFile, File(description="CSV, TSV, XLSX, XLS, ODS, JSON, JSONL or Parquet.")],
    name: Annotated[TableName, Form(description="What to call the table; default: the file's name.")] = "",
    key_field: Annotated[Name, Form(description="The column that names a row; default: the first text column.")] = "",
    header: Annotated[bool, Form(description="Whether the first row has the names of the columns.")] = True,
    sheet: Annotated[Name, Form(description="Which sheet of a workbook; else the first with data.")] = "",
    delimiter: Annotated[Name, Form(description="What separates the columns; else found out.")] = "",
    encoding: Annotated[Name, Form(description="The text encoding; else found out.")] = "",
) -> Json:
    """Creates a table from a file."""
    visit.must_change()
    options = FileOptions(
        name=name.strip(),
        key_field=key_field,
        header=header,
        sheet=sheet or None,
        delimiter=delimiter or None,
        encoding=encoding or None,
    )
    with temporary_folder() as folder:
        path = Path(folder) / safe_name(file.filename, "table.csv")
        await save(file, path)
        return await encode_reply(describe_import(await visit.services.import_file(path, options)), 201)


@router.get(
    "/tables/{table_id}/export",
    response_class=FileResponse,
    responses=file_responses("csv", "tsv", "xlsx", "json", "jsonl", "md", "parquet"),
)
async def export_table(
    visit: Visiting,
    table_id: TableId,
    format: Annotated[Format, Query(description="The kind of file.")] = "csv",
    evidence: Annotated[
        bool, Query(description="Add source, quote, confidence, basis, status, reason and stale.")
    ] = False,
    cost: Annotated[bool, Query(description="Add what the cells of each asked column cost.")] = False,
) -> FileResponse:
    """The whole table as a file. Texts that a spreadsheet would take for a formula are written so that it does not.
    Where values in it are stale or flagged, the header `Tablewright-Warning` says so."""
    table = await seen_table(visit, table_id)
    return await file_answer(
        table.name,
        format,
        lambda path: visit.services.export_file(table.id, path, evidence=evidence, cost=cost),
    )
