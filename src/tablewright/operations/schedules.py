"""Schedules: recheck or refresh a table again and again, by a worker or server that is up at the time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec

from tablewright.domain.model import Struct
from tablewright.domain.run import ACTOR, PERSON, Routine
from tablewright.operations.operation import (
    FieldNames,
    Name,
    Request,
    TableRequest,
    check_permission,
    copy_fields,
    operation,
)

if TYPE_CHECKING:
    from tablewright.services import Services


class ScheduleShown(Struct, frozen=True):
    """`cron` is in UTC; `fields` are the columns, none for all. It runs in the name of `author`; `paused` says why it
    does not run at present, or is empty."""

    table_id: str
    routine: Routine
    cron: str
    fields: tuple[str, ...]
    apply: bool
    last_at: str | None
    author: str
    paused: str


class ScheduleList(Struct, frozen=True):
    schedules: tuple[ScheduleShown, ...]


class SchedulesRemoved(Struct, frozen=True):
    removed: int


class ListSchedules(Request, frozen=True):
    table: Annotated[Name, msgspec.Meta(description="Only those of this table, by its id or name.")] = ""


@operation("read")
async def list_schedules(services: Services, request: ListSchedules) -> ScheduleList:
    """The schedules of a table, or of all tables that you can see."""
    if request.table:
        found = await services.jobs.schedules((await services.table(request.table)).id)
    else:
        seen = {table.id for table in await services.store.tables.all()}
        found = [each for each in await services.jobs.schedules() if each.table_id in seen]
    shown = [
        copy_fields(ScheduleShown, each, fields=tuple(each.spec.get("fields", ())), apply=bool(each.spec.get("apply")))
        for each in found
    ]
    return ScheduleList(schedules=tuple(shown))


class SetSchedule(TableRequest, frozen=True, kw_only=True):
    every: Annotated[
        str,
        msgspec.Meta(
            min_length=1,
            max_length=100,
            description="hour, day, week, or a cron expression, in UTC.",
            examples=["day", "0 6 * * 1-5"],
        ),
    ]
    routine: Annotated[
        Routine,
        msgspec.Meta(
            description="recheck: flag what the cited pages no longer say. refresh: also look again for what is "
            "flagged, empty or stale."
        ),
    ] = "recheck"
    fields: FieldNames = ()
    apply: Annotated[bool, msgspec.Meta(description="Apply what a refresh finds; otherwise it waits for review.")] = (
        False
    )


@operation("run")
async def set_schedule(services: Services, request: SetSchedule) -> ScheduleList:
    """Schedule a recheck or a refresh; a table has at most one schedule of each kind. It runs in your name, also if
    another user had set it before."""
    person = services.person
    if person is not None and request.apply:
        check_permission(person, "write")
    table = await services.table(request.table)
    spec = {
        "fields": [table.require_field(name).name for name in request.fields],
        "row_ids": None,
        "dry_run": False,
        "apply": request.apply,
        ACTOR: services.actor,
        PERSON: person.id if person else "",
    }
    await services.jobs.schedule(table.id, request.routine, request.every, spec)
    await services.store.tables.note_schedule(table.id)
    return await list_schedules(services, ListSchedules(table=table.id))


@operation("write")
async def remove_schedules(services: Services, request: TableRequest) -> SchedulesRemoved:
    """Remove the schedules of a table."""
    table = await services.table(request.table)
    return SchedulesRemoved(removed=await services.jobs.unschedule(table.id))
