"""`tablewright tables recheck`: whether the cited pages still say what the cells say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from tablewright.domain.text import count_noun
from tablewright.doors.cli import output
from tablewright.doors.cli.adapter import command
from tablewright.doors.cli.root import Json, with_app
from tablewright.doors.cli.table import commands
from tablewright.doors.interrupting import on_interrupt

if TYPE_CHECKING:
    from rich.text import Text

    from tablewright.operations.fill import RecheckResult, RecheckTable
    from tablewright.services import Services

SHOWN = 50


@command(commands, "fill.recheck", arguments=("table",), settings=("search",))
def recheck(request: RecheckTable, flags: Mapping[str, str], json: Json = False) -> None:
    """Fetch the cited pages again and flag the cells whose quotes are gone.

    A page that refuses or cannot be reached proves nothing: its cells are left as they are.
    """
    from tablewright.operations.fill import recheck

    async def work(services: Services) -> RecheckResult:
        with output.Bar("Rechecking") as bar, on_interrupt(services.jobs.stop):
            return await recheck(services, request, watch=bar.follow)

    done = with_app(work, flags)
    if json:
        output.print_json(done)
    else:
        print_verdicts(done, dry_run=request.dry_run)
    if done.status == "cancelled":
        raise typer.Exit(130)


def print_verdicts(done: RecheckResult, *, dry_run: bool) -> None:
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
        f"{count_noun(done.pages, 'page')} asked for: {count_noun(done.supported, 'cell')} still supported, "
        f"{done.changed:,} changed, {done.not_checked:,} not checked."
    )
    if done.change is not None:
        output.say(
            f"Flagged: {count_noun(done.change.edits, 'cell')} (change {done.change.number}). The next run that asks "
            f"for their columns fills them again; `tablewright tables undo {done.table_id} --change "
            f"{done.change.number}` takes the flags back."
        )
    elif dry_run and done.changed:
        output.say("Nothing was flagged, because of --dry-run.")
