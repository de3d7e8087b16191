"""Tables and their history: list, create, show, rename, remove, undo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec

from tablewright.domain.history import Change, Rollback, TableSummary
from tablewright.domain.model import Field, Noun
from tablewright.domain.naming import check_name
from tablewright.errors import UsageError
from tablewright.operations.operation import (
    NUMBERS_UP_TO,
    USUAL_LIMIT,
    After,
    Limit,
    Name,
    Page,
    Request,
    TableRef,
    operation,
)
from tablewright.operations.paging import oldest_first

if TYPE_CHECKING:
    from tablewright.journeys.files import Imported
    from tablewright.services import Services

KeyField = Annotated[Name, msgspec.Meta(description="The column that names a row; default: the first text column.")]
Scalar = str | int | float | bool | None


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


class ListTables(Request, frozen=True):
    limit: Limit = USUAL_LIMIT
    after: After = ""


@operation("read")
async def list_tables(services: Services, request: ListTables) -> TablePage:
    """The tables you can see, oldest first."""
    found = await services.tables()
    some, more = oldest_first(found, request.after, request.limit, lambda table: (table.created_at, table.id))
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
    key_field: Annotated[
        Name, msgspec.Meta(description="The column that names a row; default: the first text column.")
    ] = ""


@operation("write")
async def create_table(services: Services, request: CreateTable) -> TableImported:
    """Creates a table from the rows in the request."""
    from tablewright.journeys.files import FileOptions

    check_name(request.name, "a table")
    await services.charge_upload(len(msgspec.json.encode(request.rows)))
    options = FileOptions(name=request.name.strip() or "table", key_field=request.key_field)
    return describe_import(await services.import_rows(request.rows, options))


def describe_import(imported: Imported) -> TableImported:
    table = imported.table
    return TableImported(
        table_id=table.id,
        name=table.name,
        key_field=table.key_field,
        rows=imported.rows,
        fields=table.fields,
        warnings=tuple(imported.warnings),
    )


class GetTable(Request, frozen=True):
    table: TableRef


@operation("read")
async def get_table(services: Services, request: GetTable) -> TableShown:
    """A table without its rows."""
    table = await services.table(request.table)
    return TableShown(
        table_id=table.id,
        name=table.name,
        key_field=table.key_field,
        rows=await services.count(table.id),
        cost_usd=await services.cost(table.id),
        fields=table.fields,
    )


class RenameTable(Request, frozen=True):
    table: TableRef
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=300)]


@operation("write")
async def rename_table(services: Services, request: RenameTable) -> TableShown:
    """Renames a table; its id stays the same."""
    check_name(request.name, "a table")
    table = await services.table(request.table)
    await services.rename_table(table.id, request.name)
    return await get_table(services, GetTable(table=table.id))


class RemoveTable(Request, frozen=True):
    table: TableRef


@operation("write")
async def remove_table(services: Services, request: RemoveTable) -> Removed:
    """Deletes a table with its history, runs and proposals, permanently."""
    table = await services.table(request.table)
    await services.remove_table(table.id)
    return Removed(removed=table.id)


class ChangePage(Noun, frozen=True):
    """The newest first. `next` is what to pass as `before` for the older ones; null at the end."""

    changes: tuple[Change, ...]
    next: int | None


class ListChanges(Request, frozen=True):
    table: TableRef
    limit: Limit = USUAL_LIMIT
    before: Annotated[
        int | None, msgspec.Meta(description="Only changes before this number.", extra_json_schema={"minimum": 1})
    ] = None


@operation("read")
async def list_changes(services: Services, request: ListChanges) -> ChangePage:
    """The changes of a table, newest first."""
    table = await services.table(request.table)
    newest = await services.history(table.id, 1)
    first = newest[0].number if newest else 0
    skipped = max(0, first - request.before + 1) if request.before is not None else 0
    found = (await services.history(table.id, skipped + request.limit))[skipped:]
    more = bool(found) and found[-1].number > 1
    return ChangePage(changes=tuple(found), next=found[-1].number if more else None)


class Undo(Request, frozen=True):
    """One of `run`, `change` and `to`, or none: then the last change is undone."""

    table: TableRef
    run: Annotated[Name | None, msgspec.Meta(description="Everything that this run changed.")] = None
    change: Annotated[
        Annotated[int, msgspec.Meta(ge=1, le=NUMBERS_UP_TO)] | None,
        msgspec.Meta(description="The change of this number.", examples=[7]),
    ] = None
    to: Annotated[
        Name | None, msgspec.Meta(description="Everything after a change (7) or a time (2026-11-15T09:30Z).")
    ] = None


@operation("write")
async def undo(services: Services, request: Undo) -> Rollback:
    """Undoes the last change, one run, one change, or everything after a point. This is a change too, so it can be
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
