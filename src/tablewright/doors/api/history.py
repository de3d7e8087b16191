"""What happened to a table, and how to undo it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import ConfigDict, model_validator
from pydantic import Field as Value

from tablewright.app import Change, Rollback
from tablewright.domain.model import Noun
from tablewright.doors.api.answers import Json
from tablewright.doors.api.inputs import MOST_ROWS, SOME, Body, Limit, Name, TableId, resource
from tablewright.doors.api.schemas import described
from tablewright.doors.api.visible import seen_table
from tablewright.doors.server.context import Visiting

router = resource("history")


class ChangePage(Noun, frozen=True):
    """The newest first. `next` is what to pass as `before` for the older ones; null at the end."""

    changes: tuple[Change, ...]
    next: int | None


class Undoing(Body):
    """One of these, or none: then the last change is undone."""

    run: Name | None = Value(None, description="Everything that this run changed.")
    change: int | None = Value(None, ge=1, le=MOST_ROWS, description="The change of this number.")
    to: Name | None = Value(None, description="Everything after a change (7) or a time (2026-11-15T09:30Z).")

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"change": 7}]})

    @model_validator(mode="after")
    def exclude_each_other(self) -> Undoing:
        if sum(each is not None for each in (self.run, self.change, self.to)) > 1:
            raise ValueError("`run`, `change` and `to` exclude each other.")
        return self


@router.get("/tables/{table_id}/history", response_model=described(ChangePage))
async def list_changes(
    visit: Visiting,
    table_id: TableId,
    limit: Limit = SOME,
    before: Annotated[int | None, Query(ge=1, le=MOST_ROWS, description="Only changes before this number.")] = None,
) -> Json:
    """The changes of a table, newest first."""
    table = await seen_table(visit, table_id)
    newest = await visit.tablewright.history(table.id, 1)
    first = newest[0].number if newest else 0
    skipped = max(0, first - before + 1) if before is not None else 0
    found = (await visit.tablewright.history(table.id, skipped + limit))[skipped:]
    more = bool(found) and found[-1].number > 1
    return Json(ChangePage(changes=tuple(found), next=found[-1].number if more else None))


@router.post("/tables/{table_id}/rollback", response_model=described(Rollback))
async def undo(visit: Visiting, table_id: TableId, asked: Undoing) -> Json:
    """Undoes the last change, one run, one change, or everything after a point. This is a change too, so it can be
    undone; later changes by others are kept."""
    visit.must_change()
    table_id = (await seen_table(visit, table_id)).id
    changes = visit.tablewright.changes
    if asked.run is not None:
        done = await changes.undo_run(table_id, asked.run)
    elif asked.change is not None:
        done = await changes.undo_change(table_id, asked.change)
    elif asked.to is not None:
        done = await changes.go_back(table_id, asked.to)
    else:
        done = await changes.undo_last(table_id)
    return Json(done)
