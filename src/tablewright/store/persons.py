"""Users as records and as persons, for those who keep them and those who keep their tokens."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from tablewright.domain.access import EVERY_SCOPE, EVERYONE, OWNER, Person, Token
from tablewright.errors import NotFound
from tablewright.store.database import acting_in
from tablewright.store.schema import shares, users


def person_of(connection: Connection) -> Person | None:
    """Return who acts; None for the installation's own."""
    person = acting_in(connection).person
    return None if person is None or person.id == OWNER.id else person


def owner_of(connection: Connection) -> str:
    """Return the id of the user who acts; "" for the installation's own."""
    person = person_of(connection)
    return person.id if person else ""


def find(connection: Connection, name: str) -> str:
    user_id = connection.scalar(select(users.c.id).where(users.c.name == name))
    if user_id is None:
        raise NotFound(f"There is no user {name!r}.")
    return str(user_id)


def as_person(connection: Connection, record: Any, token: Token | None = None) -> Person:
    """Who came by a token may do no more than it allows, and no longer."""
    theirs = shares.c.user_id.in_((record.id, EVERYONE))
    tables = connection.scalars(select(shares.c.thing_id).where(shares.c.kind == "table", theirs))
    return Person(
        id=record.id,
        name=record.name,
        role=record.role,
        tables=frozenset(tables),
        scopes=EVERY_SCOPE if token is None else frozenset(token.scopes),
        expires_at="" if token is None else token.expires_at,
        link_by=record.link_by,
    )
