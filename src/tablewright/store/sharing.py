"""Ownership and visibility: the user who makes a thing owns it, and others see it only once it is shared with them.

A store that is `seen_by` a person carries that person in each of its transactions. Every lookup asks `is_visible` here,
so the things of others do not exist: not by id, not by name, not in a list. A store without a person, such as that of a
command or a worker, sees everything.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Table, delete, literal, select, true
from sqlalchemy import Row as Record

from tablewright.domain.access import EVERYONE, Shareable, SharedThing
from tablewright.errors import Forbidden, NotFound
from tablewright.store.database import StorePart, read_transaction, repeatable_transaction
from tablewright.store.ledger import return_bytes
from tablewright.store.records import build_upsert, fetch_among
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
from tablewright.store.users import acting_person, acting_user_id, add_audit_entry, find_user_id

TABLE_OF_KIND: dict[Shareable, Table] = {
    "table": tables,
    "document": documents,
    "conversation": conversations,
    "result": results,
    "research": researches,
    "shortlist": shortlists,
}


def sees_all(connection: Connection) -> bool:
    """Return True if the acting user sees everything."""
    person = acting_person(connection)
    return person is None or person.may_administer


def is_visible(
    connection: Connection, kind: Shareable, column: ColumnElement[Any] | None = None, *, owned: bool = False
) -> ColumnElement[bool]:
    """Return the condition that the acting user sees a thing, or with `owned` owns it; `column` has its id."""
    if sees_all(connection):
        return true()
    # Sharing with everyone is one line for all users, also for those who come later.
    theirs = shares.c.user_id.in_((acting_user_id(connection), EVERYONE))
    return (TABLE_OF_KIND[kind].c.id if column is None else column).in_(
        select(shares.c.thing_id).where(shares.c.kind == kind, theirs, shares.c.owns if owned else true())
    )


def find_visible(connection: Connection, kind: Shareable, id: str) -> Record[Any]:
    """Return the record of a thing. Raise NotFound for users who may not see it."""
    head = TABLE_OF_KIND[kind]
    found = connection.execute(select(head).where(head.c.id == id, is_visible(connection, kind))).one_or_none()
    if found is None:
        raise not_found_error(kind, id)
    return found


def find_owned(connection: Connection, kind: Shareable, id: str) -> Record[Any]:
    """Return the record of a thing for a user who may share or remove it."""
    found = find_visible(connection, kind, id)
    check_owner(connection, kind, id)
    return found


def not_found_error(kind: Shareable, id: str) -> NotFound:
    advice = {
        "conversation": "Start a new one.",
        "result": "Ask the question again.",
        "research": "`tablewright research --list` shows what there is.",
        "shortlist": "`tablewright shortlist --list` shows what there is.",
    }
    return NotFound(f"There is no {'result set' if kind == 'result' else kind} {id!r}.", advice=advice.get(kind, ""))


def claim_ownership(connection: Connection, kind: Shareable, ids: Collection[str], *, owns: bool = True) -> None:
    """Make the acting user the owner of new things. Without `owns` they may only see them."""
    owner = acting_user_id(connection)
    records = [{"kind": kind, "thing_id": id, "user_id": owner, "owns": owns} for id in ids] if owner else []
    if records:
        connection.execute(build_upsert(connection, shares).on_conflict_do_nothing(), records)


def release_shares(connection: Connection, kind: Shareable, ids: Collection[str]) -> None:
    """Remove all shares of removed things, and return their bytes to the owners."""
    gone = (shares.c.kind == kind) & shares.c.thing_id.in_(list(ids))
    # Before the shares are gone, which say how many bytes each owner was charged.
    return_bytes(connection, gone)
    connection.execute(delete(shares).where(gone))


def copy_shares(connection: Connection, of: tuple[Shareable, str], with_it: tuple[Shareable, str]) -> None:
    """Share a part of something with all who see the whole: the table of a research, the rows of an answer."""
    own = (shares.c.kind == of[0]) & (shares.c.thing_id == of[1])
    rows = select(literal(with_it[0]), literal(with_it[1]), shares.c.user_id, shares.c.owns).where(own)
    columns = ["kind", "thing_id", "user_id", "owns"]
    connection.execute(build_upsert(connection, shares).from_select(columns, rows).on_conflict_do_nothing())


def lock_existing_documents(connection: Connection, ids: Collection[str]) -> set[str]:
    """Return the documents that exist, locked until this transaction ends: nothing about a document may outlive it."""
    # A shared lock: several writers may quote a document, but none can remove it until they commit.
    query = select(documents.c.id).with_for_update(read=True)
    return {record.id for record in fetch_among(connection, query, documents.c.id, sorted(set(ids)))}


def check_owner(connection: Connection, kind: Shareable, id: str) -> None:
    """Raise Forbidden unless the acting user may remove, share or continue the thing. Call it after the thing was
    found, since it confirms that the thing exists."""
    if sees_all(connection):
        return
    own = (shares.c.kind == kind) & (shares.c.thing_id == id) & (shares.c.user_id == acting_user_id(connection))
    if not connection.scalar(select(shares.c.owns).where(own)):
        raise Forbidden(
            f"This {kind} belongs to another user; you may only look at it.",
            advice="Ask the person who shared it with you.",
        )


class Sharing(StorePart):
    """Share things, and read with whom they are shared."""

    @read_transaction
    def of(self, connection: Connection, kind: Shareable, id: str) -> SharedThing:
        """Return the users who may see a thing, to its owner."""
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
    ) -> SharedThing:
        """Share a thing with these people, by name, or everyone; with `only`, with no others."""
        find_owned(connection, kind, id)
        users = [find_user_id(connection, name) for name in people] + [EVERYONE] * everyone
        for part_kind, part_id in [(kind, id), *find_shared_parts(connection, kind, id)]:
            if only:
                own = (shares.c.kind == part_kind) & (shares.c.thing_id == part_id) & ~shares.c.owns
                connection.execute(delete(shares).where(own, shares.c.user_id.not_in(list(users))))
            records = [{"kind": part_kind, "thing_id": part_id, "user_id": each, "owns": False} for each in users]
            if records:
                connection.execute(build_upsert(connection, shares).on_conflict_do_nothing(), records)
        seen = [*people, *["everyone"] * everyone]
        add_audit_entry(connection, "share", f"{kind} {id}", f"{'only ' * only}with {', '.join(seen) or 'no one'}")
        return read_shared(connection, kind, id)

    @repeatable_transaction
    def unshare(self, connection: Connection, kind: Shareable, id: str, people: Sequence[str]) -> SharedThing:
        """Stop sharing a thing with these people. Only an admin can remove its owner: then it belongs to the
        installation."""
        find_owned(connection, kind, id)
        users = [find_user_id(connection, name) for name in people]
        for part_kind, part_id in [(kind, id), *find_shared_parts(connection, kind, id)]:
            theirs = (shares.c.kind == part_kind) & (shares.c.thing_id == part_id) & shares.c.user_id.in_(users)
            # Owners cannot remove themselves by mistake; an admin can remove an owner.
            taken = theirs if sees_all(connection) else theirs & ~shares.c.owns
            return_bytes(connection, taken)
            connection.execute(delete(shares).where(taken))
        add_audit_entry(connection, "unshare", f"{kind} {id}", f"from {', '.join(people)}")
        return read_shared(connection, kind, id)


def find_shared_parts(connection: Connection, kind: Shareable, id: str) -> list[tuple[Shareable, str]]:
    """Return the things that are shared along, because it cannot be read without them."""
    if kind in ("research", "shortlist"):
        head = TABLE_OF_KIND[kind]
        table_id = connection.scalar(select(head.c.table_id).where(head.c.id == id))
        return [("table", table_id)] if table_id else []
    if kind == "conversation":
        kept = connection.scalars(select(turns.c.turn).where(turns.c.conversation_id == id))
        return [("result", each) for turn in kept if (each := msgspec.json.decode(turn).get("result_id"))]
    return []


def read_shared(connection: Connection, kind: Shareable, id: str) -> SharedThing:
    found = connection.execute(
        select(shares.c.user_id, shares.c.owns, users.c.name)
        .outerjoin(users, users.c.id == shares.c.user_id)
        .where(shares.c.kind == kind, shares.c.thing_id == id)
    ).all()
    return SharedThing(
        kind=kind,
        id=id,
        owner=next((each.name or "" for each in found if each.owns), ""),
        people=tuple(sorted(each.name for each in found if each.name and not each.owns)),
        everyone=any(each.user_id == EVERYONE for each in found),
    )
