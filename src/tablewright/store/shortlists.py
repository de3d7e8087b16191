"""The advisor's conversations: each is one state, written whole after every turn."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy import Row as Record

from tablewright.domain.shortlist import ShortlistState
from tablewright.store.audit import note
from tablewright.store.database import StorePart, read_transaction, write_transaction
from tablewright.store.ledger import octets, set_bytes
from tablewright.store.records import new_id, now, to_text
from tablewright.store.schema import shortlists
from tablewright.store.sharing import (
    claim,
    find_owned,
    find_visible,
    must_own,
    not_there,
    release,
    share_alike,
    visible,
)

BROKEN = "The conversation could not be read any more, so it starts afresh."
OLD = "The conversation is of an earlier version, which kept requirements in another form, so it starts afresh."

_state = msgspec.json.Decoder(ShortlistState)


class Shortlists(StorePart):
    @write_transaction
    def start(self, connection: Connection) -> ShortlistState:
        state = ShortlistState(id=new_id("h"), created_at=now(), updated_at=now())
        statement = insert(shortlists).values(
            id=state.id, table_id="", state=to_text(state), created_at=state.created_at, updated_at=state.updated_at
        )
        connection.execute(statement)
        claim(connection, "shortlist", [state.id])
        return state

    @read_transaction
    def get(self, connection: Connection, id: str) -> ShortlistState:
        """A state that cannot be read is a new one, which says so; the table that was found by then is kept."""
        return as_state(find_visible(connection, "shortlist", id))

    @write_transaction
    def save(self, connection: Connection, state: ShortlistState) -> ShortlistState:
        saved = msgspec.structs.replace(state, updated_at=now())
        content, seen = to_text(saved), (shortlists.c.id == state.id) & visible(connection, "shortlist")
        values = {"state": content, "table_id": saved.table_id, "updated_at": saved.updated_at}
        if not connection.execute(update(shortlists).where(seen).values(values)).rowcount:
            raise not_there("shortlist", state.id)
        must_own(connection, "shortlist", state.id)
        if saved.table_id:
            share_alike(connection, ("shortlist", state.id), ("table", saved.table_id))
        set_bytes(connection, "shortlist", state.id, octets(content))
        return saved

    @read_transaction
    def all(self, connection: Connection) -> list[ShortlistState]:
        """The newest first."""
        query = select(shortlists).order_by(shortlists.c.created_at.desc())
        seen = query.where(visible(connection, "shortlist"))
        return [as_state(head) for head in connection.execute(seen)]

    @write_transaction
    def remove(self, connection: Connection, id: str) -> None:
        """The table stays."""
        find_owned(connection, "shortlist", id)
        connection.execute(delete(shortlists).where(shortlists.c.id == id))
        release(connection, "shortlist", [id])
        note(connection, "remove", f"shortlist {id}")


def as_state(head: Record[Any]) -> ShortlistState:
    error = OLD
    if '"must_haves":' not in head.state:
        try:
            return _state.decode(head.state)
        except msgspec.DecodeError:
            error = BROKEN
    return ShortlistState(id=head.id, table_id=head.table_id, error=error, created_at=head.created_at)
