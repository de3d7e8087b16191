"""Tables: list, bring in, look at, rename, remove, take out."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import File, Form, Query, UploadFile
from fastapi.responses import FileResponse
from pydantic import ConfigDict, FiniteFloat, StringConstraints
from pydantic import Field as Value

from tablewright.app import FileOptions, Imported, TableSummary
from tablewright.domain.model import Field, Noun
from tablewright.doors.api.answers import Json, Page, file_answer, file_responses, oldest_first
from tablewright.doors.api.inputs import SOME, UNWRITABLE, After, Body, Limit, Name, TableId, TableName, resource
from tablewright.doors.api.schemas import COMPANY, EXAMPLES, described
from tablewright.doors.api.uploads import safe_name, save
from tablewright.doors.api.visible import seen_table
from tablewright.doors.server.context import Visit, Visiting
from tablewright.doors.wording import REST, in_words_of
from tablewright.errors import BadFile
from tablewright.temporary import temporary_folder

router = resource("tables")

Format = Literal["csv", "tsv", "xlsx", "json", "jsonl", "md", "parquet"]
Scalar = str | int | FiniteFloat | bool | None
Heading = Annotated[str, StringConstraints(max_length=300)]


class TablePage(Page, frozen=True):
    tables: tuple[TableSummary, ...]


class TableShown(Noun, frozen=True):
    """A table without its rows. `cost_usd` is what all its runs have spent."""

    table_id: str
    name: str
    key_field: str
    rows: int
    cost_usd: float
    fields: tuple[Field, ...]


class TableImported(Noun, frozen=True):
    """`warnings` are sentences about what the file did not say clearly."""

    table_id: str
    name: str
    key_field: str
    rows: int
    fields: tuple[Field, ...]
    warnings: tuple[str, ...]


class Removed(Noun, frozen=True):
    removed: str


EXAMPLES[TableImported] = {
    "table_id": "companies-3fkq9",
    "name": "companies",
    "key_field": "Company",
    "rows": 2,
    "fields": [COMPANY],
    "warnings": [],
}


class NewTable(Body):
    """Rows as objects; the columns are their keys, the types are found out from the values."""

    name: TableName
    rows: list[dict[Heading, Scalar | list[str]]] = Value(min_length=1, max_length=100_000)
    key_field: Name = Value("", description="The column that names a row; default: the first text column.")

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"name": "companies", "rows": [{"Company": "Northwind Kettles"}, {"Company": "Aldermoor"}]}]
        },
    )


class Renaming(Body):
    name: TableName = Value(min_length=1)


@router.get("/tables", response_model=described(TablePage))
async def list_tables(visit: Visiting, limit: Limit = SOME, after: After = "") -> Json:
    """The tables you can see, oldest first."""
    some, more = oldest_first(
        await visit.tablewright.tables(), after, limit, lambda table: (table.created_at, table.id)
    )
    return Json(TablePage(tables=tuple(some), next=more))


@router.post("/tables", status_code=201, response_model=described(TableImported))
async def create_table(visit: Visiting, asked: NewTable) -> Json:
    """Creates a table from the rows in the request."""
    visit.must_change()
    with temporary_folder() as folder:
        path = Path(folder) / "rows.json"
        await asyncio.to_thread(write_rows, path, asked.rows)
        options = FileOptions(name=asked.name.strip() or "table", key_field=asked.key_field)
        return brought_in(await visit.tablewright.import_file(path, options))


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    """As a file to import. Each text is looked at here, in a thread: a request may bring many."""
    for row in rows:
        for name, value in row.items():
            for text in (name, *(value if isinstance(value, list) else (value,))):
                if isinstance(text, str) and UNWRITABLE.search(text):
                    raise BadFile("There is a NUL, or half a character, in the rows.")
    path.write_text(json.dumps(rows), encoding="utf-8")


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
        return brought_in(await visit.tablewright.import_file(path, options))


def brought_in(imported: Imported) -> Json:
    table = imported.table
    made = TableImported(
        table_id=table.id,
        name=table.name,
        key_field=table.key_field,
        rows=imported.rows,
        fields=table.fields,
        warnings=tuple(in_words_of(REST, warning) for warning in imported.warnings),
    )
    return Json(made, 201)


@router.get("/tables/{table_id}", response_model=described(TableShown))
async def get_table(visit: Visiting, table_id: TableId) -> Json:
    """A table without its rows."""
    return await shown(visit, table_id)


async def shown(visit: Visit, table_id: str) -> Json:
    table = await seen_table(visit, table_id)
    return Json(
        TableShown(
            table_id=table.id,
            name=table.name,
            key_field=table.key_field,
            rows=await visit.tablewright.count(table.id),
            cost_usd=await visit.tablewright.cost(table.id),
            fields=table.fields,
        )
    )


@router.patch("/tables/{table_id}", response_model=described(TableShown))
async def rename_table(visit: Visiting, table_id: TableId, asked: Renaming) -> Json:
    """Renames a table; its id stays the same."""
    visit.must_change()
    table = await seen_table(visit, table_id)
    await visit.tablewright.rename_table(table.id, asked.name)
    return await shown(visit, table.id)


@router.delete("/tables/{table_id}", response_model=described(Removed))
async def remove_table(visit: Visiting, table_id: TableId) -> Json:
    """Deletes a table with its history, runs and proposals, permanently."""
    visit.must_change()
    table = await seen_table(visit, table_id)
    await visit.tablewright.remove_table(table.id)
    return Json(Removed(removed=table.id))


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
        lambda path: visit.tablewright.export_file(table.id, path, evidence=evidence, cost=cost),
    )
