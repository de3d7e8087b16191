"""`tablewright tables …`: bring tables in, look at them, take them out, and undo."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tablewright.domain.text import count_noun
from tablewright.doors.cli import output, views
from tablewright.doors.cli.adapter import command
from tablewright.doors.cli.pipes import incoming, outgoing, refuse_two_outputs, spoken
from tablewright.doors.cli.root import Json, TableName, app, with_app
from tablewright.errors import UsageError

if TYPE_CHECKING:
    from tablewright.domain.history import Rollback
    from tablewright.operations.rows import Changed
    from tablewright.operations.tables import TablePage
    from tablewright.services import Exported, SentToSheets, Services

commands = typer.Typer(help="Import, show, edit, update and export tables.", no_args_is_help=True)
app.add_typer(commands, name="tables")
app.add_typer(commands, name="table", hidden=True)  # its old name

Name = Annotated[str, typer.Option("--name", help="What to call the table (default: the file's name).")]
Key = Annotated[str, typer.Option("--key", help="The column that names a row (default: the first text column).")]
NoHeader = Annotated[bool, typer.Option("--no-header", help="The first row is data; name the columns Column 1, …")]
Sheet = Annotated[str | None, typer.Option("--sheet", help="Which sheet of a workbook (default: the first with data).")]
Delimiter = Annotated[str | None, typer.Option("--delimiter", help="The column separator (default: detected).")]
Encoding = Annotated[str | None, typer.Option("--encoding", help="The text encoding (default: detected).")]
RowOption = Annotated[int | None, typer.Option("--row", help="A row's number.")]
FieldOption = Annotated[str | None, typer.Option("--field", help="A column's name.")]


@commands.command("import")
def import_(
    file: Annotated[str, typer.Argument(help="CSV, TSV, XLSX, JSON, JSONL or Parquet; - for standard input.")],
    name: Name = "",
    key: Key = "",
    no_header: NoHeader = False,
    sheet: Sheet = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    json: Json = False,
) -> None:
    """Import a file as a new table."""
    from tablewright.services import FileOptions

    options = FileOptions(
        name=name, key_field=key, header=not no_header, sheet=sheet, delimiter=delimiter, encoding=encoding
    )
    with incoming(file) as path, output.Bar(f"Importing {path.name}") as bar:
        imported = with_app(lambda services: services.import_file(path, options, bar.count))
    table = imported.table
    if json:
        output.print_json(
            {
                "table_id": table.id,
                "name": table.name,
                "rows": imported.rows,
                "key_field": table.key_field,
                "fields": [{"name": field.name, "type": field.type} for field in table.fields],
                "warnings": list(imported.warnings),
            }
        )
        return
    output.warn(imported.warnings)
    columns = ", ".join(f"{field.name} ({field.type})" for field in table.fields)
    output.say(f"Imported {count_noun(imported.rows, 'row')} as table {table.id}: {columns}.")


@command(commands, "tables.list_tables", name="list")
def list_(reply: TablePage) -> None:
    """List the tables."""
    empty = "No tables yet. Bring one in with `tablewright tables import FILE`."
    lines = [
        [table.id, table.name, f"{table.rows:,}", str(table.fields), output.when(table.changed_at)]
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
    from tablewright.values.row_names import current_row_key

    async def work(services: Services) -> None:
        head = await services.table(table)
        count = await services.count(head.id)
        if row is not None:
            shown = [await services.row(head.id, row)]
        else:
            if field is not None:
                raise UsageError("--field needs --row.", advice="Say which cell: --row 3 --field Price.")
            shown = list(await services.page(head.id, limit=rows)) if rows else []
        if row is not None and field is not None:
            chosen = head.require_field(field)
            cell = shown[0].cell(chosen.name)
            if json:
                output.print_json({"row_id": row, "field": chosen.name, "cell": cell})
            else:
                views.print_cell(f"{head.name}, row {row}, {chosen.name}", cell, cost=cost)
            return
        if json:
            output.print_json(
                {
                    "table_id": head.id,
                    "name": head.name,
                    "key_field": head.key_field,
                    "row_count": count,
                    "cost_usd": await services.cost(head.id),
                    "fields": head.fields,
                    "rows": [
                        {
                            "row_id": each.id,
                            "key": current_row_key(each, head.key_field),
                            "cells": {field.name: each.cell(field.name) for field in head.fields},
                        }
                        for each in shown
                    ],
                }
            )
            return
        output.print_rows(f"{head.name} ({count_noun(count, 'row')})", head, shown, cost=cost)
        if row is None and count > len(shown):
            output.say(f"… {count - len(shown):,} more rows; --rows N shows more, `tables export` writes all.")
        views.say_stale(head.id, len(await services.stale(head.id)))
        spent = await services.cost(head.id)
        if spent or cost:
            output.say(f"All runs of this table cost {output.dollars(spent)}.")

    with_app(work)


@commands.command()
def export(
    table: TableName,
    file: Annotated[
        Path | None,
        typer.Argument(
            help="The file to write: .csv, .tsv, .xlsx, .json, .jsonl, .md, .parquet, or - for standard output."
        ),
    ] = None,
    to_sheets: Annotated[
        str,
        typer.Option(
            "--to-sheets",
            help="Instead of a file, a Google spreadsheet: its link or id, or your Google address for a new one.",
        ),
    ] = "",
    evidence: Annotated[
        bool,
        typer.Option(
            "--evidence", help="Add source, quote, confidence, basis, status, reason and stale for each filled column."
        ),
    ] = False,
    cost: Annotated[bool, typer.Option("--cost", help="Add what each cell of the filled columns cost.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that a table was imported from.")] = False,
    json: Json = False,
) -> None:
    """Write a table to a file, as CSV to standard output (-), or to Google Sheets."""
    if (file is None) != bool(to_sheets):
        raise UsageError("Say where to: a file, or --to-sheets with a link.", kept="Nothing was written.")
    refuse_two_outputs(file, json=json)
    if file is None:
        export_to_sheets(table, to_sheets, json=json)
        return

    async def work(services: Services) -> Exported:
        head = await services.table(table)
        if not force and file.exists() and await services.is_source(file):
            raise UsageError(
                f"A table was imported from {file}.",
                kept="Nothing was written.",
                advice="Write to another file, or use --force.",
            )
        with outgoing(file) as path, output.Bar(f"Writing {file.name}", await services.count(head.id)) as bar:
            return await services.export_file(head.id, path, evidence=evidence, cost=cost, progress=bar.count)

    written = with_app(work)
    output.warn(written.warnings)
    output.print_result(
        json,
        {"file": str(file), "rows": written.rows, "stale": written.stale, "flagged": written.flagged},
        f"Wrote {count_noun(written.rows, 'row')} to {spoken(file)}.",
    )


def export_to_sheets(table: str, to: str, *, json: bool) -> None:
    async def work(services: Services) -> SentToSheets:
        head = await services.table(table)
        with output.Bar("Writing to Google Sheets", await services.count(head.id)) as bar:
            return await services.send_to_sheets(head.id, to, progress=bar.count)

    sent = with_app(work)
    output.print_result(
        json,
        {"link": sent.link, "sheets": list(sent.sheets), "rows": sent.rows},
        f"Wrote {count_noun(sent.rows, 'row')} to “{sent.sheets[0]}” in {sent.link}.",
    )


@command(commands, "rows.flag_cell", arguments=("table",))
def flag(reply: Changed) -> None:
    if reply.change is not None:
        output.say(f"{reply.change.note.capitalize()} (change {reply.change.number}).")


@commands.command()
def history(
    table: TableName,
    row: RowOption = None,
    field: FieldOption = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="The number of changes to show.")] = 20,
    json: Json = False,
) -> None:
    """The changes of a table, or with --row and --field every value a cell has had."""
    if (row is None) != (field is None):
        raise UsageError("--row and --field go together.", advice="Say which cell: --row 3 --field Price.")

    async def work(services: Services) -> None:
        head = await services.table(table)
        if row is not None and field is not None:
            versions = await services.cell_history(head.id, row, field)
            if json:
                output.print_json({"table_id": head.id, "row_id": row, "field": field, "versions": versions})
            else:
                views.print_cell_history(f"{head.name}, row {row}, {field}", versions)
            return
        changes = await services.history(head.id, limit)
        if json:
            output.print_json({"table_id": head.id, "changes": changes})
        else:
            views.print_history(head, changes)

    with_app(work)


@command(commands, "tables.undo", name="rollback", arguments=("table",))
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


@commands.command()
def remove(
    table: TableName,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Delete a table with its history, runs and proposals, permanently."""

    async def work(services: Services) -> str:
        head = await services.table(table)
        if not yes:
            count = await services.count(head.id)
            question = f"Delete table {head.id} with {count:,} rows and its whole history? This cannot be undone."
            if not output.ask(question):
                raise UsageError("Nothing was deleted.", advice="Pass --yes to delete without a question.")
        await services.remove_table(head.id)
        return head.id

    removed = with_app(work)
    output.print_result(json, {"removed": removed}, f"Deleted table {removed}.")
