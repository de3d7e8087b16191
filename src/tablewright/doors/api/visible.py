"""What a person may see: the store shows each their own and what is shared with them; all else is not there. Tables are
known by their id."""

from __future__ import annotations

from tablewright.domain.model import Table
from tablewright.doors.server.context import Visit
from tablewright.errors import NotFound


async def seen_table(visit: Visit, table_id: str) -> Table:
    if not visit.person.sees(table_id):  # before the name is looked up: others' tables may be called the same
        raise NotFound(f"There is no table {table_id!r}.")
    return await visit.table(table_id)
