"""Rows: page by page, by what became of their cells; added and removed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

import msgspec
from fastapi import Query

from tablewright.domain.model import Noun, Row, RowId, Status, Table
from tablewright.doors.api.answers import Json, encoded
from tablewright.doors.api.inputs import SOME, AfterRow, Limit, TableId, resource
from tablewright.doors.api.schemas import described
from tablewright.doors.api.visible import seen_table
from tablewright.doors.server.context import Visiting
from tablewright.operations.rows import RowShown, show_row

router = resource("rows")

WINDOW = 500
LOOKED_THROUGH = 20_000
"""Rows that one request looks through for those with a status; the next goes on from there."""
MOST_CELLS = 20_000
"""That are read at once for a page: more do not fit into it."""
REPLY_BYTES = 4 * 1024 * 1024
"""Of the rows of a page; a longer row is a page by itself."""


class RowPage(Noun, frozen=True):
    """`next` is what to pass as `after` for what follows; null at the end. `shortened` says that the page has fewer
    rows than were asked for because a reply has at most 4 MB; the others follow with `next`. A page of rows with a
    status may be short, or empty, and still have a `next`."""

    rows: tuple[RowShown, ...]
    next: int | None
    shortened: bool = False


@router.get("/tables/{table_id}/rows", response_model=described(RowPage))
async def list_rows(
    visit: Visiting,
    table_id: TableId,
    limit: Limit = SOME,
    after: AfterRow = 0,
    status: Annotated[Status | None, Query(description="Only rows in which a cell has this status.")] = None,
    field: Annotated[str, Query(max_length=300, description="With `status`: of this column only.")] = "",
) -> Json:
    """Rows with their cells, ordered by number; fewer where they are long."""
    table = await seen_table(visit, table_id)
    names = [table.require_field(field).name] if field else [each.name for each in table.fields]
    reply = RowReply(table, names, status, limit)
    fits = max(1, MOST_CELLS // max(1, len(table.fields)))
    while not reply.is_full and reply.looked_through < LOOKED_THROUGH:
        wanted = WINDOW if status else limit - len(reply.rows)
        window = await visit.services.page(table.id, after=after, limit=min(wanted, fits))
        if not window:
            return reply.as_json(next=None)
        after = await asyncio.to_thread(reply.take, window)
    more = bool(await visit.services.page(table.id, after=after, limit=1))
    return reply.as_json(next=after if more else None)


class RowReply:
    """Collects the rows of a page, encoded one by one, until there are enough of them or enough bytes."""

    def __init__(self, table: Table, names: Sequence[str], status: Status | None, limit: int) -> None:
        self._table = table
        self._names = names
        self._status = status
        self._limit = limit
        self._bytes = 0
        self._shortened = False
        self.rows: list[msgspec.Raw] = []
        self.looked_through = 0

    @property
    def is_full(self) -> bool:
        return self._shortened or len(self.rows) >= self._limit

    def take(self, window: Sequence[Row]) -> RowId:
        """Return the last row that was looked at; the page goes on after it. For a thread: a thousand rows with their
        sources take a second, in which nobody else would be answered."""
        last = window[0].id - 1
        for row in window:
            if self.is_full:
                break
            if self._status is None or any(row.cell(name).status == self._status for name in self._names):
                written = encoded(show_row(self._table, row))
                if self.rows and self._bytes + len(written) > REPLY_BYTES:
                    self._shortened = True
                    break
                self.rows.append(msgspec.Raw(written))
                self._bytes += len(written)
            last = row.id
            self.looked_through += 1
        return last

    def as_json(self, next: RowId | None) -> Json:
        """The form of `RowPage`."""
        return Json(msgspec.json.encode({"rows": self.rows, "next": next, "shortened": self._shortened}))
