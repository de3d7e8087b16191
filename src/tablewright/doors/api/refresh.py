"""Keeping a table true: recheck its sources, fill what is stale, and both again and again."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi.responses import Response
from pydantic import Field as Value
from pydantic import StringConstraints

from tablewright.domain.model import Noun
from tablewright.domain.run import Routine
from tablewright.doors.api.answers import Json
from tablewright.doors.api.idempotency import OnlyOnce
from tablewright.doors.api.inputs import MOST_ROWS, Body, Name, TableId, resource
from tablewright.doors.api.runs import EstimateShown, Started
from tablewright.doors.api.schemas import described
from tablewright.doors.api.visible import seen_table
from tablewright.doors.server.context import Visit, Visiting
from tablewright.errors import UsageError
from tablewright.services import Fill, RefreshRound

router = resource("upkeep")


class RefreshRun(Noun, frozen=True):
    """Stale columns that are filled again together. `run_id` is empty where they wait for others that are stale: apply
    those, then refresh again. `error` says why it could not begin."""

    fields: tuple[str, ...]
    strategy: str
    cells: int
    run_id: str
    error: str


class Refreshing(Noun, frozen=True):
    table_id: str
    runs: tuple[RefreshRun, ...]


class RefreshEstimate(Noun, frozen=True):
    fields: tuple[str, ...]
    strategy: str
    cells: int
    estimate: EstimateShown | None
    error: str


class RefreshEstimates(Noun, frozen=True):
    table_id: str
    rounds: tuple[RefreshEstimate, ...]


class ScheduleShown(Noun, frozen=True):
    """`cron` is in UTC. It runs in the name of `author`; `paused` says why it does not run at present, or is empty."""

    table_id: str
    routine: Routine
    cron: str
    apply: bool
    last_at: str | None
    author: str
    paused: str


class ScheduleList(Noun, frozen=True):
    schedules: tuple[ScheduleShown, ...]


class SchedulesRemoved(Noun, frozen=True):
    removed: int


class AskedRecheck(Body):
    fields: list[Name] = Value([], max_length=1_000, description="Only these columns.")
    rows: list[Annotated[int, Value(ge=1, le=MOST_ROWS)]] | None = Value(
        None, min_length=1, max_length=100_000, description="Only the rows of these numbers."
    )
    dry_run: bool = Value(False, description="Look, but flag nothing.")


class AskedRefresh(Body):
    fields: list[Name] = Value([], max_length=1_000, description="Only these columns.")
    acts: bool = Value(False, description="Must be true for a strategy that has an effect outside the table.")


class AskedSchedule(Body):
    routine: Routine = Value(
        "recheck", description="recheck: flag what the cited pages no longer say. refresh: also look for it again."
    )
    every: Annotated[str, StringConstraints(min_length=1, max_length=100)] = Value(
        description="hour, day, week, or a cron expression, in UTC.", examples=["day", "0 6 * * 1-5"]
    )
    apply: bool = Value(False, description="Apply what a refresh finds; otherwise it waits for review.")


@router.post("/tables/{table_id}/recheck", status_code=202, response_model=described(Started))
async def start_recheck(visit: Visiting, table_id: TableId, asked: AskedRecheck, once: OnlyOnce) -> Response:
    """Fetches the cited pages again and flags the cells whose quotes are gone. A page that refuses access proves
    nothing."""
    visit.must_run()
    table = await seen_table(visit, table_id)
    fields = [table.require_field(name).name for name in asked.fields]

    async def work() -> Json:
        run_id = await visit.services.start_recheck(table.id, fields, row_ids=asked.rows, dry_run=asked.dry_run)
        return Json(Started(run_id=run_id, table_id=table.id), 202)

    return await once.answer(work)


@router.post("/tables/{table_id}/refresh", status_code=202, response_model=described(Refreshing))
async def start_refresh(visit: Visiting, table_id: TableId, asked: AskedRefresh, once: OnlyOnce) -> Response:
    """Fills the stale cells again, and only those, each with the strategy that filled it before. Each run ends with a
    proposal; columns that depend on stale ones wait until those are applied."""
    visit.must_run()
    table = await seen_table(visit, table_id)
    for name in asked.fields:
        table.require_field(name)

    async def work() -> Json:
        rounds = await visit.services.stale_rounds(table.id, asked.fields)
        runs = [await refreshed(visit, table.id, each, acts=asked.acts) for each in rounds]
        return Json(Refreshing(table_id=table.id, runs=tuple(runs)), 202)

    return await once.answer(work)


async def refreshed(visit: Visit, table_id: str, of: RefreshRound, *, acts: bool) -> RefreshRun:
    run_id, error = "", ""
    fill = await planned(visit, table_id, of, waiting=False)
    if isinstance(fill, UsageError):
        error = str(fill)
    elif visit.services.acts(of.strategy) and not acts:
        error = f"{of.strategy} acts outside the table: say `acts` to start it."
    elif fill is not None:
        run_id = await visit.services.jobs.start(fill)
    return RefreshRun(fields=of.fields, strategy=of.strategy, cells=len(of.cells), run_id=run_id, error=error)


@router.post("/tables/{table_id}/refresh/estimate", response_model=described(RefreshEstimates))
async def estimate_refresh(visit: Visiting, table_id: TableId, asked: AskedRefresh) -> Json:
    """Estimates filling the stale cells again."""
    table = await seen_table(visit, table_id)
    for name in asked.fields:
        table.require_field(name)
    rounds: list[dict[str, Any]] = []
    for of in await visit.services.stale_rounds(table.id, asked.fields):
        fill = await planned(visit, table.id, of, waiting=True)
        known = isinstance(fill, Fill)
        rounds.append(
            {
                "fields": of.fields,
                "strategy": of.strategy,
                "cells": len(of.cells),
                "estimate": await fill.estimate() if isinstance(fill, Fill) else None,
                "error": "" if known or fill is None else str(fill),
            }
        )
    return Json({"table_id": table.id, "rounds": rounds})


async def planned(visit: Visit, table_id: str, of: RefreshRound, *, waiting: bool) -> Fill | UsageError | None:
    """What one round lacks does not keep the others from being filled."""
    try:
        return await visit.services.plan_refresh(table_id, of, waiting=waiting)
    except UsageError as error:
        return error


@router.get("/tables/{table_id}/schedules", response_model=described(ScheduleList))
async def list_schedules(visit: Visiting, table_id: TableId) -> Json:
    """The schedules of a table."""
    return await scheduled(visit, (await seen_table(visit, table_id)).id)


@router.put("/tables/{table_id}/schedules", response_model=described(ScheduleList))
async def set_schedule(visit: Visiting, table_id: TableId, asked: AskedSchedule) -> Json:
    """Schedules a recheck or a refresh; a table has at most one schedule of each kind. It runs in your name, also if
    somebody else had set it before."""
    visit.must_run()
    if asked.apply:
        visit.must_change()
    table = await seen_table(visit, table_id)
    await visit.services.schedule(table.id, asked.routine, asked.every, apply=asked.apply)
    return await scheduled(visit, table.id)


@router.delete("/tables/{table_id}/schedules", response_model=described(SchedulesRemoved))
async def remove_schedules(visit: Visiting, table_id: TableId) -> Json:
    """Removes the schedules of a table."""
    visit.must_change()
    table = await seen_table(visit, table_id)
    return Json(SchedulesRemoved(removed=await visit.services.jobs.unschedule(table.id)))


async def scheduled(visit: Visit, table_id: str) -> Json:
    found = await visit.services.jobs.schedules(table_id)
    return Json(
        ScheduleList(
            schedules=tuple(
                ScheduleShown(
                    table_id=each.table_id,
                    routine=each.routine,
                    cron=each.cron,
                    apply=bool(each.spec.get("apply")),
                    last_at=each.last_at,
                    author=each.author,
                    paused=each.paused,
                )
                for each in found
            )
        )
    )
