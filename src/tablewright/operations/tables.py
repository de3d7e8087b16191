"""Tables and their history: list, create, import, export, show, rename, tag, remove, undo."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from tablewright.domain.files import ExportOutcome, FileOptions, ImportOutcome, SheetsExport
from tablewright.domain.history import Change, Rollback, TableSummary
from tablewright.domain.model import Field, Struct
from tablewright.domain.naming import check_name
from tablewright.errors import UsageError
from tablewright.operations.operation import (
    MAX_NUMBER,
    USUAL_LIMIT,
    FileWritten,
    Limit,
    ListRequest,
    Name,
    Page,
    Request,
    TableRequest,
    copy_fields,
    operation,
)
from tablewright.operations.paging import page_oldest_first

if TYPE_CHECKING:
    from tablewright.services import Services

KeyField = Annotated[Name, msgspec.Meta(description="The column that names a row; default: the first text column.")]
Scalar = str | int | float | bool | None


class TablePage(Page, frozen=True):
    tables: tuple[TableSummary, ...]


class TableShown(Struct, frozen=True):
    """A table without its rows. `cost_usd` is what all its runs have spent."""

    table_id: str
    name: str
    key_field: str
    row_count: int
    cost_usd: float
    fields: tuple[Field, ...]


class TableImported(Struct, frozen=True):
    """`warnings` are sentences about what the file did not say clearly."""

    table_id: str
    name: str
    key_field: str
    row_count: int
    fields: tuple[Field, ...]
    warnings: tuple[str, ...]


class Removed(Struct, frozen=True):
    removed: str


@operation("read")
async def list_tables(services: Services, request: ListRequest) -> TablePage:
    """The tables you can see, oldest first."""
    found = await services.tables()
    some, more = page_oldest_first(found, request.after, request.limit, lambda table: (table.created_at, table.id))
    return TablePage(tables=tuple(some), next=more)


class CreateTable(Request, frozen=True):
    """Rows as objects; the columns are their keys, the types are found out from the values."""

    name: Name
    rows: Annotated[
        tuple[dict[Name, Scalar | tuple[str, ...]], ...],
        msgspec.Meta(
            min_length=1, max_length=100_000, examples=[[{"Company": "Northwind Kettles"}, {"Company": "Aldermoor"}]]
        ),
    ]
    key_field: KeyField = ""


@operation("write")
async def create_table(services: Services, request: CreateTable) -> TableImported:
    """Create a table from the rows in the request."""
    from tablewright.operations.files import import_table_rows

    check_name(request.name, "a table")
    await services.charge_upload(len(msgspec.json.encode(request.rows)))
    options = FileOptions(name=request.name.strip() or "table", key_field=request.key_field)
    return describe_import(await import_table_rows(services, request.rows, options))


class ImportTable(Request, frozen=True):
    path: Annotated[
        str,
        msgspec.Meta(min_length=1, max_length=4_000, description="CSV, TSV, XLSX, XLS, ODS, JSON, JSONL or Parquet."),
    ]
    name: Annotated[str, msgspec.Meta(max_length=300, description="Name of the table; default: the file's name.")] = ""
    key_field: KeyField = ""
    header: Annotated[bool, msgspec.Meta(description="The first row has the names of the columns.")] = True
    sheet: Annotated[Name, msgspec.Meta(description="The sheet of a workbook; default: the first with data.")] = ""
    delimiter: Annotated[Name, msgspec.Meta(description="The column separator; default: detected.")] = ""
    encoding: Annotated[Name, msgspec.Meta(description="The text encoding; default: detected.")] = ""

    def to_options(self) -> FileOptions:
        check_name(self.name, "a table")
        given: dict[str, Any] = {each: getattr(self, each) or None for each in ("sheet", "delimiter", "encoding")}
        return FileOptions(name=self.name.strip(), key_field=self.key_field, header=self.header, **given)


@operation("write")
async def import_table(
    services: Services, request: ImportTable, *, progress: Callable[[int, int], None] | None = None
) -> TableImported:
    """Create a table from a file."""
    from tablewright.operations.files import import_table_file

    return describe_import(await import_table_file(services, request.path, request.to_options(), progress))


def describe_import(imported: ImportOutcome) -> TableImported:
    table = imported.table
    return copy_fields(
        TableImported, table, table_id=table.id, row_count=imported.rows, warnings=tuple(imported.warnings)
    )


TableFormat = Annotated[
    Literal["csv", "tsv", "xlsx", "json", "jsonl", "md", "parquet"], msgspec.Meta(description="The kind of file.")
]


class TableExported(FileWritten, frozen=True):
    """`stale` and `flagged` count the cells that should not be relied on as they are."""

    file: str
    row_count: int
    stale: int
    flagged: int

    @property
    def warnings(self) -> list[str]:
        return copy_fields(ExportOutcome, self).warnings


class ExportTable(TableRequest, frozen=True):
    format: TableFormat = "csv"
    evidence: Annotated[
        bool, msgspec.Meta(description="Add source, quote, confidence, basis, status, reason and stale.")
    ] = False
    cost: Annotated[bool, msgspec.Meta(description="Add the cost of the cells of each filled column.")] = False


@operation("read")
async def export_table(
    services: Services, request: ExportTable, *, path: Path, progress: Callable[[int], None] | None = None
) -> TableExported:
    """Write the whole table to a file. Texts that a spreadsheet would take for a formula are escaped."""
    from tablewright.operations.files import export_table_file

    table = await services.table(request.table)
    done = await export_table_file(
        services, table.id, path, evidence=request.evidence, cost=request.cost, progress=progress
    )
    return copy_fields(TableExported, done, name=table.name, file=str(path))


class SendToSheets(TableRequest, frozen=True):
    to: Annotated[
        str,
        msgspec.Meta(
            max_length=2_000,
            description="A Google spreadsheet: its link or id, or your Google address for a new one.",
        ),
    ]


# It sends data out with the key of the server, so a viewer may not.
@operation("write")
async def send_to_sheets(
    services: Services, request: SendToSheets, *, progress: Callable[[int], None] | None = None
) -> SheetsExport:
    """Writes the whole table to new sheets of a Google spreadsheet."""
    from tablewright.operations.files import write_to_sheets

    return await write_to_sheets(services, request.table, request.to, progress=progress)


# ── one table ───────────────────────────────────────────────────────────────────────────────────────────────────────


@operation("read")
async def get_table(services: Services, request: TableRequest) -> TableShown:
    """A table without its rows."""
    table = await services.table(request.table)
    return copy_fields(
        TableShown,
        table,
        table_id=table.id,
        row_count=await services.count(table.id),
        cost_usd=await services.store.runs.cost(table.id),
    )


class RenameTable(TableRequest, frozen=True):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=300)]


@operation("write")
async def rename_table(services: Services, request: RenameTable) -> TableShown:
    """Rename a table; its id stays the same."""
    check_name(request.name, "a table")
    table = await services.table(request.table)
    await services.store.tables.rename(table.id, request.name)
    return await get_table(services, TableRequest(table=table.id))


class TagTable(TableRequest, frozen=True):
    tags: Annotated[
        tuple[Annotated[str, msgspec.Meta(max_length=300)], ...],
        msgspec.Meta(max_length=100, description="Words to find it by, in place of those it has."),
    ] = ()


class TableTags(Struct, frozen=True):
    tags: tuple[str, ...]


@operation("write")
async def tag_table(services: Services, request: TagTable) -> TableTags:
    """Set the tags of a table: words to find it by."""
    kept = dict.fromkeys(" ".join(tag.split()) for tag in request.tags)
    tags = tuple(tag for tag in kept if tag)
    # They are shown as chips in one line of the list of tables.
    if len(tags) > 12 or any(len(tag) > 40 for tag in tags):
        raise UsageError("A table has at most 12 tags of 40 characters.")
    await services.store.tables.set_tags((await services.table(request.table)).id, tags)
    return TableTags(tags=tags)


@operation("write")
async def remove_table(services: Services, request: TableRequest) -> Removed:
    """Delete a table with its history, runs and proposals, permanently."""
    table = await services.table(request.table)
    await delete_table(services, table.id)
    return Removed(removed=table.id)


async def delete_table(services: Services, table_id: str) -> None:
    """Delete a table with its runs, its schedules, and the researches and shortlists that are about it."""
    if await services.store.tables.remove(table_id):
        await services.jobs.unschedule(table_id)


# ── history ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class ChangePage(Struct, frozen=True):
    """The newest first. `next` is what to pass as `before` for the older ones; null at the end."""

    changes: tuple[Change, ...]
    next: int | None


class ListChanges(TableRequest, frozen=True):
    limit: Limit = USUAL_LIMIT
    before: Annotated[
        int | None, msgspec.Meta(description="Only changes before this number.", extra_json_schema={"minimum": 1})
    ] = None


@operation("read")
async def list_changes(services: Services, request: ListChanges) -> ChangePage:
    """The changes of a table, newest first."""
    table = await services.table(request.table)
    log = services.store.log
    # Changes are numbered without gaps, so the number says how many of the newest to skip.
    newest = await log.changes(table.id, 1)
    first = newest[0].number if newest else 0
    skipped = max(0, first - request.before + 1) if request.before is not None else 0
    found = (await log.changes(table.id, skipped + request.limit))[skipped:]
    more = bool(found) and found[-1].number > 1
    return ChangePage(changes=tuple(found), next=found[-1].number if more else None)


class Undo(TableRequest, frozen=True):
    """One of `run`, `change` and `to`, or none: then the last change is undone."""

    run: Annotated[Name | None, msgspec.Meta(description="Everything that this run changed.")] = None
    change: Annotated[
        Annotated[int, msgspec.Meta(ge=1, le=MAX_NUMBER)] | None,
        msgspec.Meta(description="The change of this number.", examples=[7]),
    ] = None
    to: Annotated[
        Name | None, msgspec.Meta(description="Everything after a change (7) or a time (2026-11-15T09:30Z).")
    ] = None


@operation("write")
async def undo(services: Services, request: Undo) -> Rollback:
    """Undo the last change, one run, one change, or everything after a point. This is a change too, so it can be
    undone; later changes by others are kept."""
    if sum(each is not None for each in (request.run, request.change, request.to)) > 1:
        raise UsageError("`run`, `change` and `to` exclude each other.")
    table_id = (await services.table(request.table)).id
    changes = services.changes
    if request.run is not None:
        return await changes.undo_run(table_id, request.run)
    if request.change is not None:
        return await changes.undo_change(table_id, request.change)
    if request.to is not None:
        return await changes.go_back(table_id, request.to)
    return await changes.undo_last(table_id)
