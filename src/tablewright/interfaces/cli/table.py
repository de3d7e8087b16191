"""`tablewright tables …`: bring tables in, look at them, take them out, and undo."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from tablewright.domain.complete_json import encode_complete
from tablewright.domain.model import Row
from tablewright.domain.text import count_noun, to_json_document
from tablewright.errors import UsageError
from tablewright.interfaces.cli import output, views
from tablewright.interfaces.cli.adapter import command, read_pair, run_operation
from tablewright.interfaces.cli.pipes import READING, name_output, open_input, open_output, refuse_two_outputs
from tablewright.interfaces.cli.root import Json, TableName, Yes, app, run_with_services
from tablewright.interfaces.wording import format_dollars

if TYPE_CHECKING:
    from tablewright.domain.files import SheetsExport
    from tablewright.domain.history import Rollback, WrittenValue
    from tablewright.operations.operation import TableRequest
    from tablewright.operations.rows import Changed, RowShown, SetCellRequest
    from tablewright.operations.tables import (
        ExportTable,
        ImportTable,
        ListChanges,
        TableExported,
        TablePage,
        TableShown,
        TableTags,
    )
    from tablewright.services import Services

commands = typer.Typer(help="Import, show, edit, update and export tables.", no_args_is_help=True)
app.add_typer(commands, name="tables")

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
def import_table_command(request: ImportTable, json: Json = False) -> None:
    """Import a file as a new table."""
    from tablewright.operations.tables import import_table

    with open_input(request.path) as path, output.Bar(f"Importing {path.name}") as bar:
        request = msgspec.structs.replace(request, path=str(path))
        reply = run_with_services(lambda services: import_table(services, request, progress=bar.count))
    if json:
        output.print_json(reply)
        return
    output.print_warnings(reply.warnings)
    columns = ", ".join(f"{field.name} ({field.type})" for field in reply.fields)
    output.print_note(f"Imported {count_noun(reply.row_count, 'row')} as table {reply.table_id}: {columns}.")


@command(commands, "tables.list_tables", name="list")
def list_tables_command(reply: TablePage) -> None:
    """List the tables."""
    empty = "No tables yet. Bring one in with `tablewright tables import FILE`."
    lines = [
        [
            table.id,
            table.name,
            f"{table.row_count:,}",
            str(table.field_count),
            output.format_local_time(table.changed_at),
        ]
        for table in reply.tables
    ]
    output.print_lines(empty, ["Table", "Name", "Rows", "Columns", "Last change"], lines)


@commands.command("show")
def show_table_command(
    table: TableName,
    rows: Annotated[int, typer.Option("--rows", metavar="N", min=0, help="The number of rows to show.")] = 20,
    row: RowOption = None,
    field: FieldOption = None,
    cost: Annotated[bool, typer.Option("--cost", help="Show what each filled cell cost.")] = False,
    json: Json = False,
) -> None:
    """Show a table, or with --row and --field one cell and where it came from."""
    from tablewright.operations import rows as of_rows
    from tablewright.operations.operation import RowRequest, TableRequest
    from tablewright.operations.tables import get_table

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
        about = await get_table(services, TableRequest(table=head.id))
        if row is not None:
            shown = [await of_rows.get_row(services, RowRequest(table=head.id, row_id=row))]
        elif json:
            read = (encode_complete(each) async for each in iterate_first_rows(services, head.id, rows))
            await output.stream_json(to_json_document(about) | {"rows": read})
            return
        else:
            shown = [each async for each in iterate_first_rows(services, head.id, rows)]
        if json:
            output.print_json(to_json_document(about) | {"rows": shown})
            return
        plain = [Row(id=each.row_id, cells=each.cells) for each in shown]
        output.print_rows(f"{head.name} ({count_noun(about.row_count, 'row')})", head, plain, cost=cost)
        if row is None and about.row_count > len(shown):
            more = about.row_count - len(shown)
            output.print_note(f"… {more:,} more rows; --rows N shows more, `tables export` writes all.")
        stale = of_rows.ListStaleCells(table=head.id, limit=1)
        views.say_stale(head.id, (await of_rows.list_stale_cells(services, stale)).total)
        if about.cost_usd or cost:
            output.print_note(f"All runs of this table cost {format_dollars(about.cost_usd)}.")

    run_with_services(work)


async def iterate_first_rows(services: Services, table_id: str, count: int) -> AsyncIterator[RowShown]:
    """Yield the first rows of a table, page by page: one page has at most 4 MB."""
    from tablewright.operations.rows import ListRows, list_rows

    after: int | None = 0
    while after is not None and count:
        page = await list_rows(services, ListRows(table=table_id, limit=min(count, 1_000), after=after))
        for row in page.rows:
            yield row
        count -= len(page.rows)
        after = page.next


@command(
    commands,
    "tables.export_table",
    name="export",
    arguments=("table",),
    fixed={"format": "csv"},  # the ending of the file is the format
)
def export_table_command(
    request: ExportTable,
    file: Annotated[
        str,
        typer.Argument(
            metavar="[FILE]",
            help="The file to write: .csv, .tsv, .xlsx, .json, .jsonl, .md, .parquet, or - for standard output. "
            "Leave it out with --to-sheets.",
        ),
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that a table was imported from.")] = False,
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
    if bool(file) == bool(to_sheets):
        raise UsageError("Say where to: a file, or --to-sheets with a link.", kept="Nothing was written.")
    if to_sheets:
        export_to_sheets(request.table, to_sheets, json=json)
        return
    from tablewright.operations.files import is_source
    from tablewright.operations.tables import export_table

    target = Path(file)
    refuse_two_outputs(target, json=json)

    async def work(services: Services) -> TableExported:
        count = await services.count((await services.table(request.table)).id)
        if not force and target.exists() and await is_source(services, target):
            raise UsageError(
                f"A table was imported from {target}.",
                kept="Nothing was written.",
                advice="Write to another file, or use --force.",
            )
        with open_output(target) as path, output.Bar(f"Writing {target.name}", count) as bar:
            return await export_table(services, request, path=path, progress=bar.count)

    written = run_with_services(work)
    output.print_warnings(written.warnings)
    shown = msgspec.structs.replace(written, file=file)
    output.print_json_or_note(json, shown, f"Wrote {count_noun(written.row_count, 'row')} to {name_output(target)}.")


def export_to_sheets(table: str, to: str, *, json: bool) -> None:
    from tablewright.operations.tables import SendToSheets, send_to_sheets

    async def work(services: Services) -> SheetsExport:
        head = await services.table(table)
        with output.Bar("Writing to Google Sheets", await services.count(head.id)) as bar:
            return await send_to_sheets(services, SendToSheets(table=head.id, to=to), progress=bar.count)

    sent = run_with_services(work)
    count = count_noun(sent.row_count, "row")
    output.print_json_or_note(json, sent, f"Wrote {count} to “{sent.sheets[0]}” in {sent.link}.")


# ── cells, rows and columns ─────────────────────────────────────────────────────────────────────────────────────────


@command(
    commands,
    "rows.set_cell",
    name="set",
    arguments=("table", "row_id", "field", "value"),
    metavars={"row_id": "ROW", "field": "COLUMN"},
    takes_any_text=True,
)
def set_cell_command(reply: WrittenValue, request: SetCellRequest) -> None:
    change, table = reply.change, request.table
    undo = f"undo with `tablewright tables undo {table} --change {change.number}`"
    output.print_note(f"Changed {change.note} (change {change.number}; {undo}).")
    if reply.stale:
        are = "is" if len(reply.stale) == 1 else "are"
        names = ", ".join(reply.stale)
        output.print_note(
            f"In this row {names} {are} stale now. `tablewright tables refresh {table}` fills what is stale."
        )


def say_change(reply: Changed) -> None:
    if reply.change is None:
        output.print_note("Nothing had to change.")
    else:
        note = reply.change.note
        output.print_note(f"{note[:1].upper()}{note[1:]} (change {reply.change.number}).")


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
    about="Add a row at the end, unless a value does not fit its column.",
)(say_change)
command(commands, "rows.remove_row", name="remove-row", arguments=("table", "row_id"))(say_change)
command(commands, "rows.add_field", name="add-column", arguments=("table", "name"))(say_change)
command(commands, "rows.change_field", name="change-column", arguments=("table", "field", "name"))(say_change)
command(commands, "rows.remove_field", name="remove-column", arguments=("table", "field"))(say_change)


@command(commands, "tables.list_changes", name="history", arguments=("table",), defaults={"limit": 20})
def show_history_command(
    request: ListChanges, row: RowOption = None, field: FieldOption = None, json: Json = False
) -> None:
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
def rename_table_command(reply: TableShown) -> None:
    output.print_note(f"Table {reply.table_id} is called {reply.name}.")


@command(commands, "tables.tag_table", name="tag", arguments=("table", "tags"))
def tag_table_command(reply: TableTags) -> None:
    output.print_note(f"Tags: {', '.join(reply.tags)}." if reply.tags else "The table has no tags.")


@command(commands, "tables.undo", name="undo", arguments=("table",))
def undo_change_command(reply: Rollback) -> None:
    if reply.change is None:
        output.print_note("There was nothing left to undo.")
    else:
        cells = count_noun(reply.cells, "cell")
        output.print_note(f"As before: {cells} (change {reply.change.number}: {reply.change.note}).")
    if reply.kept_cells:
        output.print_note(f"Changed by others since, and kept: {count_noun(reply.kept_cells, 'cell')}.")
    for name in reply.kept_fields:
        output.print_note(f"Column {name} was kept: it holds cells that were changed since.")


@command(commands, "tables.remove_table", name="remove", arguments=("table",))
def remove_table_command(request: TableRequest, yes: Yes = False, json: Json = False) -> None:
    from tablewright.operations.tables import remove_table

    async def work(services: Services) -> str:
        head = await services.table(request.table)
        if not yes:
            count = await services.count(head.id)
            question = f"Delete table {head.id} with {count:,} rows and its whole history? This cannot be undone."
            if not output.ask_yes_or_no(question):
                raise UsageError("Nothing was deleted.", advice="Pass --yes to delete without a question.")
        return (await remove_table(services, request)).removed

    removed = run_with_services(work)
    output.print_json_or_note(json, {"removed": removed}, f"Deleted table {removed}.")
