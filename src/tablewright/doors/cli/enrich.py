"""`tablewright enrich`: the main job."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tablewright.doors.cli.root import Json, app, with_app
from tablewright.doors.cli.table import Delimiter, Encoding, Key, NoHeader, Sheet

if TYPE_CHECKING:
    from tablewright.app import Filled, Tablewright
    from tablewright.table.model import Field

PREVIEW = 20


@app.command()
def enrich(
    target: Annotated[str, typer.Argument(metavar="FILE|TABLE", help="A table file, or a table that is already kept.")],
    field: Annotated[
        list[str],
        typer.Option("--field", help='A column to fill, "NAME:TYPE=QUESTION or FORMULA"; may be repeated.'),
    ],
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            help="How each row is answered: computation, pipeline. Default: a formula is computed, else pipeline.",
        ),
    ] = "",
    out: Annotated[Path | None, typer.Option("--out", help="Write the result to this file once it is applied.")] = None,
    evidence: Annotated[bool, typer.Option("--evidence", help="With --out: add source, quote, confidence.")] = False,
    rows: Annotated[int | None, typer.Option("--rows", min=1, help="Only the first N rows.")] = None,
    review: Annotated[bool, typer.Option("--review", help="Keep the proposal open; decide later.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Apply what was found without a question.")] = False,
    model: Annotated[str, typer.Option("--model", help="Who thinks, instead of TABLEWRIGHT_MODEL.")] = "",
    search: Annotated[str, typer.Option("--search", help="Where to search, instead of TABLEWRIGHT_SEARCH.")] = "",
    budget: Annotated[str, typer.Option("--budget", help="The most dollars to spend on models.")] = "",
    cascade: Annotated[
        bool, typer.Option("--cascade", help="Ask the model only where the built-in reader is not sure.")
    ] = False,
    key: Key = "",
    no_header: NoHeader = False,
    sheet: Sheet = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    json: Json = False,
) -> None:
    """Fill columns of a table; you see what would change before it does.

    A question is answered from the web: --field "Founded:number=What year was {Company} founded?". A formula
    is computed, with {Column} for the values of a row: --field "Total:number=round({Price} * {Quantity}, 2)".
    """
    from tablewright.app import FileOptions
    from tablewright.doors.cli import output, views
    from tablewright.errors import UsageError
    from tablewright.table.fieldspec import parse_field
    from tablewright.table.files import format_of

    if review and yes:
        raise UsageError("--review and --yes exclude each other.")
    fields = [parse_field(text) for text in field]
    if out is not None:
        format_of(out)
    options = FileOptions(key_field=key, header=not no_header, sheet=sheet, delimiter=delimiter, encoding=encoding)

    async def work(tablewright: Tablewright) -> Filled:
        table_id, filled = await fill(tablewright, target, options, fields, strategy, rows)
        output.warn(tablewright.warnings)
        head = await tablewright.proposal(filled.proposal_id)
        stopped = filled.status == "cancelled"
        applied = yes and not stopped
        if not json and not yes and not stopped:
            operations = await tablewright.operations(head.id, limit=PREVIEW)
            await views.print_proposal(tablewright, head, operations)
            found = head.counts.get("with_value", 0)
            question = f"Apply {output.many(found, 'value')} to table {table_id}?"
            applied = not review and bool(found) and output.ask(question)
        if applied and head.counts.get("open"):
            done = await tablewright.changes.apply(head.id)
            head = await tablewright.proposal(head.id)
            if not json:
                if yes:
                    await print_result(tablewright, table_id)
                views.say_applied(done, head)
        if out is not None and applied:
            count = await tablewright.export_file(table_id, out, evidence=evidence)
            output.say(f"Wrote {output.many(count, 'row')} to {out}.")
        elif out is not None:
            output.say(f"{out} was not written, because nothing was applied.")
        if not applied and not json and not stopped:
            output.say(f"Nothing was applied. Decide with `tablewright proposal apply {head.id}` (or reject).")
        if json:
            output.print_json(await tablewright.enrich_report(filled))
        return filled

    filled = with_app(work, {"model": model, "search": search, "budget": budget, "cascade": "yes" if cascade else ""})
    if filled.status == "cancelled":
        found = output.many(filled.found + filled.empty, "cell")
        output.say(f"Stopped. Kept in proposal {filled.proposal_id}: {found}; apply or reject it as you like.")
        raise typer.Exit(130)


async def fill(
    tablewright: Tablewright, target: str, options: Any, fields: list[Field], strategy: str, max_rows: int | None
) -> tuple[str, Filled]:
    """Imports the file if it is one, and runs, with a progress bar, until it is done or Ctrl-C is pressed."""
    from tablewright.doors.cli import output
    from tablewright.errors import BadFile

    imported = None
    if Path(target).is_file():
        with output.bar() as progress:
            task = progress.add_task(f"Importing {Path(target).name}", total=None)
            imported = await tablewright.import_file(
                Path(target), options, lambda done, total: progress.update(task, completed=done, total=total)
            )
        output.warn(imported.warnings)
    elif Path(target).suffix or "/" in target:
        raise BadFile(f"There is no file {target}.")
    table_id = imported.table.id if imported else (await tablewright.table(target)).id
    with output.bar() as progress:
        task = progress.add_task("Filling", total=None)
        try:
            run = await tablewright.plan_enrich(
                table_id,
                fields,
                strategy,
                max_rows=max_rows,
                watch=lambda news: progress.update(
                    task, completed=news.done, total=news.total, description=output.doing(news)
                ),
            )
        except BaseException:
            if imported:
                await tablewright.remove_table(table_id)
            raise
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, run.cancel)
        try:
            return table_id, await run.run()
        finally:
            loop.remove_signal_handler(signal.SIGINT)


async def print_result(tablewright: Tablewright, table_id: str) -> None:
    from tablewright.doors.cli import output

    table = await tablewright.table(table_id)
    rows = await tablewright.rows(table_id, limit=PREVIEW)
    count = await tablewright.count(table_id)
    output.print_rows(f"{table.name} ({count:,} rows)", table, rows)
    if count > len(rows):
        output.say(f"… {count - len(rows):,} more rows.")
