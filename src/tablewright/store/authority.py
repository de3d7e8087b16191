"""Who acts in a transaction, and whether a person may still do what was begun, scheduled or shared in their name.

Roles, users and shares change after a run, a schedule or a link was made. So authority is asked for whenever one of
them is used: when a schedule fires, when a run or a slice of it begins or resumes, before its result is applied, and
when a share link is opened."""

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


def find_user_id(connection: Connection, name: str) -> str:
    user_id = connection.scalar(select(users.c.id).where(users.c.name == name))
    if user_id is None:
        raise NotFound(f"There is no user {name!r}.")
    return str(user_id)


def read_person(connection: Connection, record: Any, token: Token | None = None) -> Person:
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


def is_installation(user_id: str) -> bool:
    """Return True for the owner and for the installation itself (no id), who always may."""
    return user_id in ("", OWNER.id)


def lost_authority(connection: Connection, user_id: str, table_id: str = "") -> str:
    """Return why this person may no longer run or change anything, here in this table, or "" if they still may."""
    if is_installation(user_id):
        return ""
    user = connection.execute(select(users.c.name, users.c.role).where(users.c.id == user_id)).one_or_none()
    if user is None:
        return "the user in whose name it runs was removed"
    if user.role == "viewer":
        return f"{user.name}, in whose name it runs, is only a viewer now"
    if table_id and user.role != "admin":
        theirs = (shares.c.kind == "table") & (shares.c.thing_id == table_id)
        theirs &= shares.c.user_id.in_((user_id, EVERYONE))
        if connection.execute(select(shares.c.user_id).where(theirs)).first() is None:
            return f"{user.name}, in whose name it runs, no longer has access to the table"
    return ""


def lost_link(connection: Connection, link_by: str) -> str:
    """Return why a share link that this user made lets nobody in any more, or "" if it still does."""
    if is_installation(link_by):
        return ""
    role = connection.scalar(select(users.c.role).where(users.c.id == link_by))
    return "" if role == "admin" else "This link no longer works: the person who made it may no longer share."
