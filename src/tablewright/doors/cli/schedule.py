"""`tablewright tables schedule`: recheck or refresh a table again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, get_args

import typer

from tablewright.domain.run import Routine
from tablewright.domain.text import count_noun
from tablewright.doors.cli import output
from tablewright.doors.cli.root import Json, check_choice, with_app
from tablewright.doors.cli.table import commands
from tablewright.errors import UsageError

if TYPE_CHECKING:
    from tablewright.services import Schedule, Services


@commands.command()
def schedule(
    table: Annotated[str, typer.Argument(metavar="[TABLE]", help="A table's id or name; all tables if left out.")] = "",
    every: Annotated[
        str, typer.Option("--every", metavar="TIME", help="hour, day, week, or a cron expression, in UTC.")
    ] = "",
    do: Annotated[
        str,
        typer.Option(
            "--do",
            help="recheck: flag what the cited pages no longer say. refresh: also look anew for what is flagged, empty "
            "or stale.",
        ),
    ] = "recheck",
    yes: Annotated[
        bool, typer.Option("--yes", help="Apply what a refresh finds; otherwise it waits for review.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the table's schedules.")] = False,
    json: Json = False,
) -> None:
    """Recheck or refresh a table every day or week, by a worker or server that is up then; or show the schedules."""
    check_choice(do, get_args(Routine), "routine")
    if (every or remove) and not table:
        raise UsageError("Which table?", advice="Name it: tablewright tables schedule TABLE --every day.")
    if every and remove:
        raise UsageError("--every and --remove do not go together.")
    routine: Routine = do  # type: ignore[assignment]

    async def work(services: Services) -> tuple[list[Schedule], int]:
        head = await services.table(table) if table else None
        removed = await services.jobs.unschedule(head.id) if head and remove else 0
        if head and every:
            await services.schedule(head.id, routine, every, apply=yes)
        workers = [worker for worker in await services.jobs.workers() if worker.kind != "command"]
        found = await services.jobs.schedules(head.id if head else "")
        if not json and remove:
            output.say(f"Removed: {count_noun(removed, 'schedule')}.")
        if found and not workers:
            output.warn(["No worker is up: start one with `tablewright worker`."])
        return found, removed

    found, removed = with_app(work)
    if json:
        output.print_json({"schedules": found, "removed": removed})
    elif found:
        output.warn([each.paused for each in found if each.paused])
        lines = [[each.table_id, each.routine, each.cron, each.last_at or "never"] for each in found]
        output.stdout().print(output.grid("", ["Table", "What", "When (UTC)", "Last"], lines))
    elif not remove:
        output.say("Nothing is scheduled.")
