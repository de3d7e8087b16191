"""Whose things are: who made a thing owns it, and others see it only once it is shared with them.

A store that is `seen_by` a person has that person in each of its transactions. What looks something up asks `visible`
here, so that the things of others are not there: not by id, not by name, not in a list. A store that nobody in
particular looks into, such as a command's or a worker's own, sees everything.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Table, delete, literal, select, true
from sqlalchemy import Row as Record

from tablewright.domain.access import EVERYONE, Shareable, Shared
from tablewright.errors import Forbidden, NotFound
from tablewright.store.database import StorePart, read_transaction, repeatable_transaction
from tablewright.store.ledger import return_bytes
from tablewright.store.records import fetch_among, upsert
from tablewright.store.schema import (
    conversations,
    documents,
    researches,
    results,
    shares,
    shortlists,
    tables,
    turns,
    users,
)
from tablewright.store.users import add_audit_entry, find_user_id, owner_of, person_of

TABLE_OF: dict[Shareable, Table] = {
    "table": tables,
    "document": documents,
    "conversation": conversations,
    "result": results,
    "research": researches,
    "shortlist": shortlists,
}
ADVICE: dict[Shareable, str] = {
    "conversation": "Start a new one.",
    "result": "Ask the question again.",
    "research": "`tablewright research --list` shows what there is.",
    "shortlist": "`tablewright shortlist --list` shows what there is.",
}
"""For whoever looks for one that is not there."""


def sees_all(connection: Connection) -> bool:
    person = person_of(connection)
    return person is None or person.may_administer


def visible(
    connection: Connection, kind: Shareable, column: ColumnElement[Any] | None = None, *, owned: bool = False
) -> ColumnElement[bool]:
    """The condition that a thing is there for whoever asks, or with `owned` is their own; `column` has its id."""
    if sees_all(connection):
        return true()
    theirs = shares.c.user_id.in_((owner_of(connection), EVERYONE))
    return (TABLE_OF[kind].c.id if column is None else column).in_(
        select(shares.c.thing_id).where(shares.c.kind == kind, theirs, shares.c.owns if owned else true())
    )


def find_visible(connection: Connection, kind: Shareable, id: str) -> Record[Any]:
    """Return the record of a thing; for whoever may not see it, it is not there."""
    head = TABLE_OF[kind]
    found = connection.execute(select(head).where(head.c.id == id, visible(connection, kind))).one_or_none()
    if found is None:
        raise not_there(kind, id)
    return found


def find_owned(connection: Connection, kind: Shareable, id: str) -> Record[Any]:
    """Return the record of a thing for whoever may share or remove it."""
    found = find_visible(connection, kind, id)
    must_own(connection, kind, id)
    return found


def not_there(kind: Shareable, id: str) -> NotFound:
    return NotFound(f"There is no {'result set' if kind == 'result' else kind} {id!r}.", advice=ADVICE.get(kind, ""))


def claim(connection: Connection, kind: Shareable, ids: Collection[str], *, owns: bool = True) -> None:
    """New things belong to whoever makes them. Without `owns` they only see it from now on."""
    owner = owner_of(connection)
    records = [{"kind": kind, "thing_id": id, "user_id": owner, "owns": owns} for id in ids] if owner else []
    if records:
        connection.execute(upsert(connection, shares).on_conflict_do_nothing(), records)


def release(connection: Connection, kind: Shareable, ids: Collection[str]) -> None:
    """What is removed is nobody's, and takes up no room."""
    gone = (shares.c.kind == kind) & shares.c.thing_id.in_(list(ids))
    return_bytes(connection, gone)
    connection.execute(delete(shares).where(gone))


def share_alike(connection: Connection, of: tuple[Shareable, str], with_it: tuple[Shareable, str]) -> None:
    """What is part of something is seen by whoever sees that: the table of a research, the rows of an answer."""
    own = (shares.c.kind == of[0]) & (shares.c.thing_id == of[1])
    rows = select(literal(with_it[0]), literal(with_it[1]), shares.c.user_id, shares.c.owns).where(own)
    columns = ["kind", "thing_id", "user_id", "owns"]
    connection.execute(upsert(connection, shares).from_select(columns, rows).on_conflict_do_nothing())


def lock_existing(connection: Connection, ids: Collection[str]) -> set[str]:
    """Those of the documents that are there, and stay until this is written: nothing about one may outlive it."""
    query = select(documents.c.id).with_for_update(read=True)
    return {record.id for record in fetch_among(connection, query, documents.c.id, sorted(set(ids)))}


def must_own(connection: Connection, kind: Shareable, id: str) -> None:
    """Before whatever removes or shares it, or goes on with it. Whoever may not even see it is told nothing."""
    if sees_all(connection):
        return
    own = (shares.c.kind == kind) & (shares.c.thing_id == id) & (shares.c.user_id == owner_of(connection))
    if not connection.scalar(select(shares.c.owns).where(own)):
        raise Forbidden(
            f"This {kind} is somebody else's; you may only look at it.", advice="Ask whoever shared it with you."
        )


class Sharing(StorePart):
    @read_transaction
    def of(self, connection: Connection, kind: Shareable, id: str) -> Shared:
        """Return who may see it; for whoever owns it."""
        find_owned(connection, kind, id)
        return read_shared(connection, kind, id)

    @repeatable_transaction
    def share(
        self,
        connection: Connection,
        kind: Shareable,
        id: str,
        people: Sequence[str] = (),
        *,
        everyone: bool = False,
        only: bool = False,
    ) -> Shared:
        """Lets these people see it too, by name, or everyone; with `only`, nobody but them and its owner."""
        find_owned(connection, kind, id)
        users = [find_user_id(connection, name) for name in people] + [EVERYONE] * everyone
        for part_kind, part_id in [(kind, id), *parts_of(connection, kind, id)]:
            if only:
                take_back(connection, part_kind, part_id, keep=users)
            records = [{"kind": part_kind, "thing_id": part_id, "user_id": each, "owns": False} for each in users]
            if records:
                connection.execute(upsert(connection, shares).on_conflict_do_nothing(), records)
        seen = [*people, *["everyone"] * everyone]
        add_audit_entry(connection, "share", f"{kind} {id}", f"{'only ' * only}with {', '.join(seen) or 'nobody'}")
        return read_shared(connection, kind, id)

    @repeatable_transaction
    def unshare(self, connection: Connection, kind: Shareable, id: str, people: Sequence[str]) -> Shared:
        """These see it no longer. From its owner only an admin takes it: then it is the installation's."""
        find_owned(connection, kind, id)
        users = [find_user_id(connection, name) for name in people]
        for part_kind, part_id in [(kind, id), *parts_of(connection, kind, id)]:
            theirs = (shares.c.kind == part_kind) & (shares.c.thing_id == part_id) & shares.c.user_id.in_(users)
            taken = theirs if sees_all(connection) else theirs & ~shares.c.owns
            return_bytes(connection, taken)
            connection.execute(delete(shares).where(taken))
        add_audit_entry(connection, "unshare", f"{kind} {id}", f"from {', '.join(people)}")
        return read_shared(connection, kind, id)


def take_back(connection: Connection, kind: Shareable, id: str, *, keep: Collection[str]) -> None:
    own = (shares.c.kind == kind) & (shares.c.thing_id == id) & ~shares.c.owns
    connection.execute(delete(shares).where(own, shares.c.user_id.not_in(list(keep))))


def parts_of(connection: Connection, kind: Shareable, id: str) -> list[tuple[Shareable, str]]:
    """Return what is shared with it, because it cannot be read without."""
    if kind in ("research", "shortlist"):
        head = TABLE_OF[kind]
        table_id = connection.scalar(select(head.c.table_id).where(head.c.id == id))
        return [("table", table_id)] if table_id else []
    if kind == "conversation":
        kept = connection.scalars(select(turns.c.turn).where(turns.c.conversation_id == id))
        return [("result", each) for turn in kept if (each := msgspec.json.decode(turn).get("result_id"))]
    return []


def read_shared(connection: Connection, kind: Shareable, id: str) -> Shared:
    found = connection.execute(
        select(shares.c.user_id, shares.c.owns, users.c.name)
        .outerjoin(users, users.c.id == shares.c.user_id)
        .where(shares.c.kind == kind, shares.c.thing_id == id)
    ).all()
    return Shared(
        kind=kind,
        id=id,
        owner=next((each.name or "" for each in found if each.owns), ""),
        people=tuple(sorted(each.name for each in found if each.name and not each.owns)),
        everyone=any(each.user_id == EVERYONE for each in found),
    )
