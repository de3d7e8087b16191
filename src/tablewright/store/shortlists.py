"""The advisor's conversations: each is one state, written whole after every turn."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy import Row as Record

from tablewright.errors import NotFound
from tablewright.store import schema
from tablewright.store.database import Database
from tablewright.store.records import new_id, now, to_text
from tablewright.table.shortlist import ShortlistState

BROKEN = "The conversation could not be read any more, so it starts afresh."

_state = msgspec.json.Decoder(ShortlistState)


class Shortlists:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def start(self) -> ShortlistState:
        state = ShortlistState(id=new_id("h"), created_at=now(), updated_at=now())
        statement = insert(schema.shortlists).values(
            id=state.id, table_id="", state=to_text(state), created_at=state.created_at, updated_at=state.updated_at
        )
        await self._database.write(lambda connection: connection.execute(statement))
        return state

    async def get(self, id: str) -> ShortlistState:
        """A state that cannot be read is a new one, which says so; the table that was found by then is kept."""
        heads = schema.shortlists
        query = select(heads).where(heads.c.id == id)
        head = await self._database.read(lambda connection: connection.execute(query).first())
        if head is None:
            raise missing(id)
        return as_state(head)

    async def save(self, state: ShortlistState) -> ShortlistState:
        saved = msgspec.structs.replace(state, updated_at=now())

        def work(connection: Connection) -> None:
            heads = schema.shortlists
            changed = connection.execute(
                update(heads)
                .where(heads.c.id == state.id)
                .values(state=to_text(saved), table_id=saved.table_id, updated_at=saved.updated_at)
            ).rowcount
            if not changed:
                raise missing(state.id)

        await self._database.write(work)
        return saved

    async def all(self) -> list[ShortlistState]:
        """The newest first."""
        query = select(schema.shortlists).order_by(schema.shortlists.c.created_at.desc())
        return await self._database.read(lambda connection: [as_state(head) for head in connection.execute(query)])

    async def remove(self, id: str) -> None:
        """The table stays."""
        heads = schema.shortlists
        gone = await self._database.write(
            lambda connection: connection.execute(delete(heads).where(heads.c.id == id)).rowcount
        )
        if not gone:
            raise missing(id)


def as_state(head: Record[Any]) -> ShortlistState:
    try:
        return _state.decode(head.state)
    except msgspec.DecodeError:
        return ShortlistState(id=head.id, table_id=head.table_id, error=BROKEN, created_at=head.created_at)


def missing(id: str) -> NotFound:
    return NotFound(f"There is no shortlist {id!r}.", advice="`tablewright shortlist --list` shows what there is.")
