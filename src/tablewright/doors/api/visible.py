"""What a person may see: the store shows each their own and what is shared with them; all else is not there. Tables are
known by their id."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tablewright.domain.model import Table
from tablewright.domain.shortlist import ShortlistState
from tablewright.doors.server.context import Visit
from tablewright.errors import NotFound


async def seen_table(visit: Visit, table_id: str) -> Table:
    if not visit.person.sees(table_id):  # before the name is looked up: others' tables may be called the same
        raise NotFound(f"There is no table {table_id!r}.")
    return await visit.table(table_id)


async def seen_shortlist(visit: Visit, shortlist_id: str) -> ShortlistState:
    with not_there(f"shortlist {shortlist_id!r}"):
        return await visit.services.shortlist(shortlist_id)


@contextmanager
def not_there(what: str) -> Iterator[None]:
    """In the words of the API, and the same for what is somebody else's as for what never was."""
    try:
        yield
    except NotFound:
        raise NotFound(f"There is no {what}.") from None
