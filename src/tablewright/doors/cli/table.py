"""`tablewright tables …`: bring tables in, look at them, take them out, and undo."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from tablewright.domain.document import document
from tablewright.domain.text import count_noun
from tablewright.doors.cli import output, views
from tablewright.doors.cli.adapter import command, read_pair, run_operation
from tablewright.doors.cli.pipes import READING, incoming, outgoing, refuse_two_outputs, spoken
from tablewright.doors.cli.root import Json, TableName, Yes, app, with_app
from tablewright.errors import UsageError

if TYPE_CHECKING:
    from tablewright.domain.files import SentToSheets
    from tablewright.domain.history import Rollback, WrittenValue
    from tablewright.operations.rows import Changed, SetCellRequest
    from tablewright.operations.tables import (
        ExportTable,
        ImportTable,
        ListChanges,
        RemoveTable,
        TableExported,
        TablePage,
        TableShown,
        TableTags,
    )
    from tablewright.services import Services

commands = typer.Typer(help="Import, show, edit, update and export tables.", no_args_is_help=True)
app.add_typer(commands, name="tables")
app.add_typer(commands, name="table", hidden=True)  # its old name

RowOption = Annotated[int | None, typer.Option("--row", metavar="N", min=1, help="The row's number.")]
FieldOption = Annotated[str | None, typer.Option("--field", help="The column's name.")]


@command(
    commands,
    "tables.import_table",
    name="import",
    arguments=("path",),
    metavars={"path": "FILE"},
    helps={
        "path": "CSV, TSV, XLSX, JSON, JSONL or Parquet; - for standard input.",
        "header": "The first row is data; name the columns Column 1, …",
    },
    panels={READING: ("key_field", "header", "sheet", "delimiter", "encoding")},
)
def import_(request: ImportTable, json: Json = False) -> None:
    """Import a file as a new table."""
    from tablewright.operations.tables import import_table

    with incoming(request.path) as path, output.Bar(f"Importing {path.name}") as bar:
        request = msgspec.structs.replace(request, path=str(path))
        reply = with_app(lambda services: import_table(services, request, progress=bar.count))
    if json:
        output.print_json(reply)
        return
    output.warn(reply.warnings)
    columns = ", ".join(f"{field.name} ({field.type})" for field in reply.fields)
    output.say(f"Imported {count_noun(reply.row_count, 'row')} as table {reply.table_id}: {columns}.")


@command(commands, "tables.list_tables", name="list")
def list_(reply: TablePage) -> None:
    """List the tables."""
    empty = "No tables yet. Bring one in with `tablewright tables import FILE`."
    lines = [
        [table.id, table.name, f"{table.row_count:,}", str(table.field_count), output.when(table.changed_at)]
        for table in reply.tables
    ]
    output.print_lines(empty, ["Table", "Name", "Rows", "Columns", "Last change"], lines)


@commands.command()
def show(
    table: TableName,
    rows: Annotated[int, typer.Option("--rows", metavar="N", min=0, help="The number of rows to show.")] = 20,
    row: RowOption = None,
    field: FieldOption = None,
    cost: Annotated[bool, typer.Option("--cost", help="Show what each filled cell cost.")] = False,
    json: Json = False,
) -> None:
    """Show a table, or with --row and --field one cell and where it came from."""
    from tablewright.operations import rows as of_rows
    from tablewright.operations.tables import GetTable, get_table

    if field is not None and row is None:
        raise UsageError("--field needs --row.", advice="Say which cell: --row 3 --field Price.")

    async def work(services: Services) -> None:
        head = await services.table(table)
        if row is not None and field is not None:
            shown_cell = await of_rows.get_cell(services, of_rows.CellRequest(table=head.id, row_id=row, field=field))
            if json:
                output.print_json(shown_cell)
            else:
                title = f"{head.name}, row {row}, {shown_cell.field}"
                views.print_cell(title, shown_cell.cell, cost=cost)
            return
        about = await get_table(services, GetTable(table=head.id))
        if row is not None:
            shown = [await services.row(head.id, row)]
        else:
            shown = list(await services.page(head.id, limit=rows)) if rows else []
        if json:
            output.print_json(document(about) | {"rows": [of_rows.show_row(head, each) for each in shown]})
            return
        output.print_rows(f"{head.name} ({count_noun(about.row_count, 'row')})", head, shown, cost=cost)
        if row is None and about.row_count > len(shown):
            more = about.row_count - len(shown)
            output.say(f"… {more:,} more rows; --rows N shows more, `tables export` writes all.")
        stale = of_rows.ListStaleCells(table=head.id, limit=1)
        views.say_stale(head.id, (await of_rows.list_stale_cells(services, stale)).total)
        if about.cost_usd or cost:
            output.say(f"All runs of this table cost {output.dollars(about.cost_usd)}.")

    with_app(work)


@command(
    commands,
    "tables.export_table",
    name="export",
    arguments=("table", "path"),
    metavars={"path": "FILE"},
    helps={
        "path": "The file to write: .csv, .tsv, .xlsx, .json, .jsonl, .md, .parquet, or - for standard output. "
        "Leave it out with --to-sheets.",
    },
    defaults={"path": ""},
)
def export(
    request: ExportTable,
    to_sheets: Annotated[
        str,
        typer.Option(
            "--to-sheets",
            help="Instead of a file, a Google spreadsheet: its link or id, or your Google address for a new one.",
        ),
    ] = "",
    json: Json = False,
) -> None:
    """Write a table to a file, as CSV to standard output (-), or to Google Sheets."""
    if bool(request.path) == bool(to_sheets):
        raise UsageError("Say where to: a file, or --to-sheets with a link.", kept="Nothing was written.")
    if to_sheets:
        export_to_sheets(request.table, to_sheets, json=json)
        return
    from tablewright.operations.tables import export_table

    file = Path(request.path)
    refuse_two_outputs(file, json=json)

    async def work(services: Services) -> TableExported:
        count = await services.count((await services.table(request.table)).id)
        with outgoing(file) as path, output.Bar(f"Writing {file.name}", count) as bar:
            return await export_table(services, msgspec.structs.replace(request, path=str(path)), progress=bar.count)

    written = with_app(work)
    output.warn(written.warnings)
    shown = msgspec.structs.replace(written, file=str(file))
    output.print_result(json, shown, f"Wrote {count_noun(written.row_count, 'row')} to {spoken(file)}.")


def export_to_sheets(table: str, to: str, *, json: bool) -> None:
    from tablewright.operations.tables import SendToSheets, send_to_sheets

    async def work(services: Services) -> SentToSheets:
        head = await services.table(table)
        with output.Bar("Writing to Google Sheets", await services.count(head.id)) as bar:
            return await send_to_sheets(services, SendToSheets(table=head.id, to=to), progress=bar.count)

    sent = with_app(work)
    count = count_noun(sent.row_count, "row")
    output.print_result(json, sent, f"Wrote {count} to “{sent.sheets[0]}” in {sent.link}.")


# ── cells, rows and columns ─────────────────────────────────────────────────────────────────────────────────────────


@command(
    commands,
    "rows.set_cell",
    name="set",
    arguments=("table", "row_id", "field", "value"),
    metavars={"row_id": "ROW", "field": "COLUMN"},
    takes_any_text=True,
)
def set_cell(reply: WrittenValue, request: SetCellRequest) -> None:
    change, table = reply.change, request.table
    undo = f"undo with `tablewright tables undo {table} --change {change.number}`"
    output.say(f"Changed {change.note} (change {change.number}; {undo}).")
    if reply.stale:
        are = "is" if len(reply.stale) == 1 else "are"
        names = ", ".join(reply.stale)
        output.say(f"In this row {names} {are} stale now. `tablewright tables refresh {table}` fills what is stale.")


def say_change(reply: Changed) -> None:
    if reply.change is None:
        output.say("Nothing had to change.")
    else:
        note = reply.change.note
        output.say(f"{note[:1].upper()}{note[1:]} (change {reply.change.number}).")


def read_row(cells: Sequence[str]) -> tuple[dict[str, str], ...]:
    """Read the cells of one row: "Company=Aldermoor", "Founded=1894"."""
    return (dict(read_pair(each, "A cell") for each in cells),)


command(commands, "rows.flag_cell", name="flag", arguments=("table",))(say_change)
command(
    commands,
    "rows.add_rows",
    name="add-row",
    arguments=("table", "rows"),
    metavars={"rows": "COLUMN=VALUE…"},
    helps={"rows": 'Its cells: "Company=Aldermoor" "Founded=1894".'},
    parse={"rows": read_row},
    about="Adds a row at the end, unless a value does not fit its column.",
)(say_change)
command(commands, "rows.remove_row", name="remove-row", arguments=("table", "row_id"))(say_change)
command(commands, "rows.add_field", name="add-column", arguments=("table", "name"))(say_change)
command(commands, "rows.change_field", name="change-column", arguments=("table", "field", "name"))(say_change)
command(commands, "rows.remove_field", name="remove-column", arguments=("table", "field"))(say_change)


@command(commands, "tables.list_changes", name="history", arguments=("table",), defaults={"limit": 20})
def history(request: ListChanges, row: RowOption = None, field: FieldOption = None, json: Json = False) -> None:
    """The changes of a table, or with --row and --field every value a cell has had."""
    from tablewright.operations.rows import CellRequest, get_cell_history
    from tablewright.operations.tables import list_changes

    if row is None and field is None:
        changes = run_operation(list_changes, request)
        if json:
            output.print_json(changes)
        else:
            views.print_history(request.table, changes.changes)
    elif row is None or field is None:
        raise UsageError("--row and --field go together.", advice="Say which cell: --row 3 --field Price.")
    else:
        found = run_operation(get_cell_history, CellRequest(table=request.table, row_id=row, field=field))
        if json:
            output.print_json(found)
        else:
            views.print_cell_history(f"{request.table}, row {row}, {found.field}", found.versions)


@command(commands, "tables.rename_table", name="rename", arguments=("table", "name"))
def rename(reply: TableShown) -> None:
    output.say(f"Table {reply.table_id} is called {reply.name}.")


@command(commands, "tables.tag_table", name="tag", arguments=("table", "tags"))
def tag(reply: TableTags) -> None:
    output.say(f"Tags: {', '.join(reply.tags)}." if reply.tags else "The table has no tags.")


@command(commands, "tables.undo", arguments=("table",))
def undo(reply: Rollback) -> None:
    if reply.change is None:
        output.say("There was nothing left to undo.")
    else:
        cells = count_noun(reply.cells, "cell")
        output.say(f"As before: {cells} (change {reply.change.number}: {reply.change.note}).")
    if reply.kept_cells:
        output.say(f"Changed by others since, and kept: {count_noun(reply.kept_cells, 'cell')}.")
    for name in reply.kept_fields:
        output.say(f"Column {name} was kept: it holds cells that were changed since.")


@command(commands, "tables.remove_table", name="remove", arguments=("table",))
def remove(request: RemoveTable, yes: Yes = False, json: Json = False) -> None:
    from tablewright.operations.tables import remove_table

    async def work(services: Services) -> str:
        head = await services.table(request.table)
        if not yes:
            count = await services.count(head.id)
            question = f"Delete table {head.id} with {count:,} rows and its whole history? This cannot be undone."
            if not output.ask(question):
                raise UsageError("Nothing was deleted.", advice="Pass --yes to delete without a question.")
        return (await remove_table(services, request)).removed

    removed = with_app(work)
    output.print_result(json, {"removed": removed}, f"Deleted table {removed}.")
