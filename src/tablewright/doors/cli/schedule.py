"""`tablewright tables schedule`: recheck or refresh a table again and again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tablewright.domain.run import Routine
from tablewright.domain.text import count_noun
from tablewright.doors.cli import output
from tablewright.doors.cli.root import Json, with_app
from tablewright.doors.cli.table import commands
from tablewright.errors import UsageError

if TYPE_CHECKING:
    from tablewright.operations.schedules import ScheduleList
    from tablewright.services import Services


@commands.command()
def schedule(
    table: Annotated[str, typer.Argument(metavar="[TABLE]", help="A table's id or name; all tables if left out.")] = "",
    every: Annotated[
        str, typer.Option("--every", metavar="TIME", help="hour, day, week, or a cron expression, in UTC.")
    ] = "",
    routine: Annotated[
        Routine,
        typer.Option(
            "--routine",
            help="recheck: flag what the cited pages no longer say. refresh: also look again for what is flagged, "
            "empty or stale.",
        ),
    ] = "recheck",
    field: Annotated[list[str] | None, typer.Option("--field", help="Only this column; repeatable.")] = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="Apply what a refresh finds; otherwise it waits for review.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the table's schedules.")] = False,
    json: Json = False,
) -> None:
    """Recheck or refresh a table every day or week, by a worker or server that is up then; or show the schedules."""
    from tablewright.operations import schedules

    if (every or remove) and not table:
        raise UsageError("Which table?", advice="Name it: tablewright tables schedule TABLE --every day.")
    if every and remove:
        raise UsageError("--every and --remove do not go together.")

    async def work(services: Services) -> tuple[ScheduleList, int]:
        removed = 0
        if remove:
            removed = (await schedules.remove_schedules(services, schedules.RemoveSchedules(table=table))).removed
        if every:
            request = schedules.SetSchedule(
                table=table, every=every, routine=routine, fields=tuple(field or ()), apply=apply
            )
            await schedules.set_schedule(services, request)
        found = await schedules.list_schedules(services, schedules.ListSchedules(table=table))
        if not json and remove:
            output.say(f"Removed: {count_noun(removed, 'schedule')}.")
        if found.schedules and all(worker.kind == "command" for worker in await services.jobs.workers()):
            output.warn(["No worker is up: start one with `tablewright worker`."])
        return found, removed

    reply, removed = with_app(work)
    found = reply.schedules
    if json:
        output.print_json({"schedules": found, "removed": removed})
    elif found:
        output.warn([each.paused for each in found if each.paused])
        lines = [[each.table_id, each.routine, each.cron, each.last_at or "never"] for each in found]
        output.stdout().print(output.grid("", ["Table", "What", "When (UTC)", "Last"], lines))
    elif not remove:
        output.say("Nothing is scheduled.")
