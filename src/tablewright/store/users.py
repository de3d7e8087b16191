"""Users of a server: their roles, and how they are let in.

And what was answered to a request that must not be done twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, delete, insert, select, update

from tablewright.domain.access import OWNER, Person, Role, Scope
from tablewright.domain.naming import check_user_name, look_alike
from tablewright.errors import UsageError
from tablewright.store import schema
from tablewright.store.audit import note
from tablewright.store.authority import is_installation, lost_authority
from tablewright.store.database import StorePart, read_transaction, repeatable_transaction, write_transaction
from tablewright.store.dialect import take_turns, upsert
from tablewright.store.persons import as_person, find
from tablewright.store.records import new_id, now
from tablewright.store.schema import holds, identities, quotas, requests, shares, spent, tokens, users
from tablewright.store.tokens import add_token

RESERVED = frozenset({"owner", "assistant"})
REMEMBERED = timedelta(days=2)
"""How long the answer to a request with a key is kept."""
CLAIMED = timedelta(minutes=10)
"""How long a request without an answer counts as under way after its server last said so."""


class Users(StorePart):
    async def lost_authority(self, user_id: str, table_id: str = "") -> str:
        """Return why this person may no longer run or change anything, here in this table, or "" if they still may."""
        if is_installation(user_id):  # nothing is looked up for work that no user is behind
            return ""
        return await self._lost_authority(user_id, table_id)

    @read_transaction
    def _lost_authority(self, connection: Connection, user_id: str, table_id: str) -> str:
        return lost_authority(connection, user_id, table_id)

    async def by_id(self, user_id: str) -> Person:
        """Who began something; one who is a user no longer may do and see nothing of their own any more."""
        return OWNER if user_id == OWNER.id else await self._by_id(user_id)

    @read_transaction
    def _by_id(self, connection: Connection, user_id: str) -> Person:
        record = connection.execute(select(users).where(users.c.id == user_id)).one_or_none()
        return as_person(connection, record) if record else Person(id=user_id, name="", role="viewer")

    @read_transaction
    def all(self, connection: Connection) -> list[Person]:
        records = connection.execute(select(users).order_by(users.c.name)).all()
        return [as_person(connection, record) for record in records]

    @write_transaction
    def add(self, connection: Connection, name: str, role: Role, *, expires_at: str = "") -> tuple[Person, str]:
        """The person, and a token: it is shown once and kept nowhere."""
        person = add_user(connection, name, role)
        _, secret = add_token(connection, person.id, person.name, expires_at=expires_at)
        return person, secret

    @write_transaction
    def add_link(self, connection: Connection, name: str, link_by: str, *, expires_at: str = "") -> tuple[Person, str]:
        """Add the viewer of a share link, whose token only reads; return both. `link_by` is the id of its author."""
        person = add_user(connection, name, "viewer", link_by)
        only_read: tuple[Scope, ...] = ("read",)
        _, secret = add_token(connection, person.id, person.name, scopes=only_read, expires_at=expires_at)
        return person, secret

    @write_transaction
    def add_signed_in(self, connection: Connection, name: str, role: Role, issuer: str, subject: str) -> Person:
        """Somebody for whom a provider vouches; they have no token until they make one."""
        person = add_user(connection, name, role)
        link(connection, person.id, person.name, issuer, subject)
        return person

    @read_transaction
    def signed_in(self, connection: Connection, issuer: str, subject: str) -> Person | None:
        """Whom a provider vouched for before."""
        known = schema.identities
        wanted = select(users).join(known, known.c.user_id == users.c.id)
        wanted = wanted.where(known.c.issuer == issuer, known.c.subject == subject)
        record = connection.execute(wanted).one_or_none()
        return as_person(connection, record) if record else None

    @write_transaction
    def link(self, connection: Connection, name: str, issuer: str, subject: str) -> Person | None:
        """The user of that name, from now on let in by what the provider says; None where there is none, or where they
        are somebody else to this provider."""
        take_turns(connection, "tablewright users")
        known = schema.identities
        record = connection.execute(select(users).where(users.c.name == name)).one_or_none()
        theirs = (known.c.user_id == record.id) & (known.c.issuer == issuer) if record else None
        if record is None or record.link_by or theirs is None:
            return None
        if connection.execute(select(known).where(theirs)).first():
            return None
        link(connection, record.id, name, issuer, subject)
        return as_person(connection, record)

    @repeatable_transaction
    def change_role(self, connection: Connection, name: str, role: Role) -> None:
        user_id = find(connection, name)
        link_by = select(users.c.link_by).where(users.c.id == user_id)
        if connection.scalar(link_by):
            raise UsageError(f"{name!r} is a share link: whoever has it only looks.", advice="Add a user instead.")
        connection.execute(update(users).where(users.c.id == user_id).values(role=role))
        note(connection, "role", f"user {name}", f"now {role}")

    @write_transaction
    def remove(self, connection: Connection, name: str) -> None:
        user_id = find(connection, name)
        for theirs in (shares, quotas, spent, holds, tokens, identities):
            connection.execute(delete(theirs).where(theirs.c.user_id == user_id))
        connection.execute(delete(users).where(users.c.id == user_id))
        note(connection, "user", f"user {name}", "removed")

    # ── requests with a key ──────────────────────────────────────────────────────────────────────────────────────────

    @write_transaction
    def begin_request(self, connection: Connection, actor: str, key: str, route: str) -> str | None:
        """None where it is new, and now begun; else what was answered to it, empty while that is not known yet. A key
        that was used for something else is refused. What nobody works on any more is begun anew."""
        connection.execute(delete(requests).where(requests.c.created_at < before(REMEMBERED)))
        abandoned = (requests.c.answer == "") & (requests.c.created_at < before(CLAIMED))
        connection.execute(delete(requests).where(abandoned))
        own = (requests.c.actor == actor) & (requests.c.key == key)
        record = {"actor": actor, "key": key, "route": route, "answer": "", "created_at": now()}
        begin = upsert(connection, requests).values(record).on_conflict_do_nothing()
        if connection.execute(begin).rowcount:  # of two at the same moment, one
            return None
        found = connection.execute(select(requests.c.route, requests.c.answer).where(own)).one()
        if found.route != route:
            raise UsageError("This idempotency key was used for another request.", advice="Use a new key.")
        return str(found.answer)

    @repeatable_transaction
    def renew_request(self, connection: Connection, actor: str, key: str) -> None:
        """It is still being worked on."""
        under_way = (requests.c.actor == actor) & (requests.c.key == key) & (requests.c.answer == "")
        connection.execute(update(requests).where(under_way).values(created_at=now()))

    @repeatable_transaction
    def answer_request(self, connection: Connection, actor: str, key: str, answer: str | None) -> None:
        """None: it failed, and may be tried again with the same key."""
        own = (requests.c.actor == actor) & (requests.c.key == key)
        if answer is None:
            connection.execute(delete(requests).where(own))
        else:
            connection.execute(update(requests).where(own).values(answer=answer))


def add_user(connection: Connection, name: str, role: Role, link_by: str = "") -> Person:
    name = name.strip()
    check_user_name(name)
    if any(look_alike(name, taken) for taken in RESERVED):
        raise UsageError(f"Nobody can be called {name!r}: that stands for somebody else in the history.")
    take_turns(connection, "tablewright users")  # of two who look alike and come at once, one
    for taken in connection.scalars(select(users.c.name)):
        if look_alike(name, taken):
            same = "already" if name == taken else f"who would look like {name!r}"
            raise UsageError(f"There is a user {taken!r} {same}.", advice="Choose a name of its own.")
    person = Person(id=new_id("u"), name=name, role=role, link_by=link_by)
    record = {"id": person.id, "name": name, "role": role, "created_at": now(), "link_by": link_by}
    connection.execute(insert(users).values(record))
    note(connection, "user", f"user {name}", f"added as {role}")
    return person


def link(connection: Connection, user_id: str, name: str, issuer: str, subject: str) -> None:
    connection.execute(insert(identities).values(issuer=issuer, subject=subject, user_id=user_id))
    note(connection, "user", f"user {name}", f"signs in with {issuer}")


def before(age: timedelta) -> str:
    return (datetime.now(UTC) - age).isoformat(timespec="microseconds").replace("+00:00", "Z")
