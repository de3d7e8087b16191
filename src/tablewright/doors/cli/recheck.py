"""`tablewright tables recheck`: whether the cited pages still say what the cells say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tablewright.domain.text import count_noun
from tablewright.doors.cli import output
from tablewright.doors.cli.root import Json, TableName, with_app
from tablewright.doors.cli.table import commands
from tablewright.doors.interrupting import on_interrupt

if TYPE_CHECKING:
    from rich.text import Text

    from tablewright.services import Rechecked, Services

SHOWN = 50


@commands.command()
def recheck(
    table: TableName,
    field: Annotated[list[str] | None, typer.Option("--field", help="Only this column; repeatable.")] = None,
    row: Annotated[
        list[int] | None, typer.Option("--row", metavar="N", min=1, help="Only the row with this number; repeatable.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check, but flag nothing.")] = False,
    search: Annotated[
        str, typer.Option("--search", help="`sample` for pages of the sample world, instead of TABLEWRIGHT_SEARCH.")
    ] = "",
    json: Json = False,
) -> None:
    """Fetch the cited pages again and flag the cells whose quotes are gone.

    A page that refuses or cannot be reached proves nothing: its cells are left as they are.
    """

    async def work(services: Services) -> Rechecked:
        head = await services.table(table)
        with output.Bar("Rechecking") as bar, on_interrupt(services.jobs.stop):
            return await services.recheck(head.id, field or [], row_ids=row, dry_run=dry_run, watch=bar.follow)

    done = with_app(work, {"search": search})
    if json:
        supported, changed = done.count("supported"), done.count("changed")
        output.print_json(
            {
                "table_id": done.table_id,
                "status": done.status,
                "pages": done.pages,
                "checked": supported + changed,
                "supported": supported,
                "changed": changed,
                "not_checked": done.count("not checked"),
                "cells": done.cells,
                "change": done.change,
            }
        )
    else:
        print_verdicts(done, dry_run=dry_run)
    if done.status == "cancelled":
        raise typer.Exit(130)


def print_verdicts(done: Rechecked, *, dry_run: bool) -> None:
    """What needs attention as a table; what still stands only as a number."""
    if not done.cells:
        output.say("No cell of these cites a source, so there is nothing to ask for.")
        return
    noted = sorted((cell for cell in done.cells if cell.note), key=lambda cell: cell.verdict != "changed")
    if noted:
        lines: list[list[str | Text]] = [
            [str(cell.row_id), cell.field, cell.verdict, output.plain(cell.note, 400)] for cell in noted[:SHOWN]
        ]
        output.stdout().print(output.grid("", ["#", "Column", "Verdict", "Why"], lines))
    if len(noted) > SHOWN:
        output.say(f"… {len(noted) - SHOWN:,} more; --json lists all.")
    if done.status == "cancelled":
        output.say("Stopped before all pages were asked for.")
    output.say(
        f"{count_noun(done.pages, 'page')} asked for: {count_noun(done.count('supported'), 'cell')} still supported, "
        f"{done.count('changed'):,} changed, {done.count('not checked'):,} not checked."
    )
    if done.change is not None:
        output.say(
            f"Flagged: {count_noun(done.change.edits, 'cell')} (change {done.change.number}). The next run that asks "
            f"for their columns fills them again; `tablewright tables undo {done.table_id} --change "
            f"{done.change.number}` takes the flags back."
        )
    elif dry_run and done.count("changed"):
        output.say("Nothing was flagged, because of --dry-run.")
