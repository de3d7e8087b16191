"""Users of a server: their roles, how they are let in, and their tokens, of which only hashes are kept; who acts in a
transaction, and what they may still do; and the audit log of what they did.

Roles, users and shares change after a run, a schedule or a link was made. So authority is checked whenever one of them
is used: when a schedule fires, when a run or a slice of it begins or resumes, before its result is applied, and when a
share link is opened."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from tablewright.domain.access import (
    EVERY_SCOPE,
    EVERYONE,
    OWNER,
    SCOPES,
    Action,
    AuditEntry,
    Holder,
    Person,
    Role,
    Scope,
    Token,
)
from tablewright.domain.naming import check_name, check_user_name, look_alike
from tablewright.domain.retrieved import content_hash
from tablewright.errors import NotFound, UsageError
from tablewright.store import schema
from tablewright.store.database import StorePart, acting_in, read_transaction, repeatable_transaction, write_transaction
from tablewright.store.records import RecordMapper, new_id, now, printable, take_turns, upsert
from tablewright.store.schema import audit, identities, requests, shares, tokens, users

LONGEST_NAME = 80
MOST = 100
"""Tokens of one person."""
token_records = RecordMapper(Token, tokens, scopes="")


class Tokens(StorePart):
    @read_transaction
    def holder(self, connection: Connection, secret: str) -> Holder | None:
        """Whose token it is, also of one that has expired. What is compared are hashes, in a time that tells nothing
        of them."""
        wanted = content_hash(secret)
        record = connection.execute(select(tokens).where(tokens.c.hash == wanted)).one_or_none()
        if record is None or not hmac.compare_digest(record.hash, wanted):
            return None
        user = connection.execute(select(users).where(users.c.id == record.user_id)).one()
        token = read_token(record, user.name)
        ended = lost_link(connection, user.link_by)
        return Holder(person=read_person(connection, user, token), token=token, ended=ended)

    @read_transaction
    def all(self, connection: Connection, user: str = "") -> list[Token]:
        """Those of a user, or of all; the newest last."""
        wanted = select(tokens, users.c.name.label("user")).join(users, users.c.id == tokens.c.user_id)
        if user:
            wanted = wanted.where(tokens.c.user_id == find_user_id(connection, user))
        found = connection.execute(wanted.order_by(users.c.name, tokens.c.created_at, tokens.c.id)).all()
        return [read_token(record, record.user) for record in found]

    @write_transaction
    def add(
        self,
        connection: Connection,
        user: str,
        *,
        name: str = "",
        scopes: Collection[Scope] = SCOPES,
        expires_at: str = "",
    ) -> tuple[Token, str]:
        """The token, and the secret: it is shown once and kept nowhere. Without `expires_at` it never expires."""
        name = name.strip()
        check_name(name, "a token")
        if len(name) > LONGEST_NAME:
            raise UsageError(f"The name of a token has at most {LONGEST_NAME} characters.")
        user_id = find_user_id(connection, user)
        theirs = select(tokens.c.id).where(tokens.c.user_id == user_id)
        if len(connection.execute(theirs).all()) >= MOST:
            raise UsageError(f"{user} has {MOST} tokens already.", advice="Remove those that nobody uses.")
        token, secret = add_token(connection, user_id, user, name=name, scopes=scopes, expires_at=expires_at)
        add_audit_entry(connection, "token", f"user {user}", f"{token.id} made: {' '.join(token.scopes)}")
        return token, secret

    @repeatable_transaction
    def remove(self, connection: Connection, token_id: str, user: str = "") -> None:
        """It is worth nothing from now on. With `user`, only if it is theirs."""
        wanted = select(users.c.name).join(tokens, users.c.id == tokens.c.user_id).where(tokens.c.id == token_id)
        owner = connection.scalar(wanted)
        if owner is None or (user and owner != user):
            raise NotFound(f"There is no token {token_id!r}.")
        connection.execute(delete(tokens).where(tokens.c.id == token_id))
        add_audit_entry(connection, "token", f"user {owner}", f"{token_id} removed")

    @write_transaction
    def renew(self, connection: Connection, user: str, *, expires_at: str = "") -> tuple[Token, str]:
        """One new token for all that the user has; those are worth nothing from now on."""
        user_id = find_user_id(connection, user)
        connection.execute(delete(tokens).where(tokens.c.user_id == user_id))
        add_audit_entry(connection, "token", f"user {user}", "renewed")
        return add_token(connection, user_id, user, expires_at=expires_at)

    @repeatable_transaction
    def used(self, connection: Connection, token_id: str) -> None:
        connection.execute(update(tokens).where(tokens.c.id == token_id).values(last_used_at=now()))


def add_token(
    connection: Connection,
    user_id: str,
    user: str,
    *,
    name: str = "",
    scopes: Collection[Scope] = SCOPES,
    expires_at: str = "",
) -> tuple[Token, str]:
    """Return the token and its secret."""
    secret = secrets.token_urlsafe(24)
    kept = tuple(each for each in SCOPES if each in scopes or each == "read")
    token = Token(
        id=new_id("k"), user=user, name=name, scopes=kept, created_at=now(), expires_at=expires_at, last_used_at=""
    )
    # Tokens are long and random, so a plain hash is enough.
    record = token_records.write(token, user_id=user_id, hash=content_hash(secret), scopes=" ".join(kept))
    connection.execute(insert(tokens), record)
    return token, secret


def read_token(record: Any, user: str) -> Token:
    return token_records.read(record, user=user, scopes=tuple(each for each in SCOPES if each in record.scopes.split()))


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
        """Return who began something; one who is a user no longer may do and see nothing of their own any more."""
        return OWNER if user_id == OWNER.id else await self._by_id(user_id)

    @read_transaction
    def _by_id(self, connection: Connection, user_id: str) -> Person:
        record = connection.execute(select(users).where(users.c.id == user_id)).one_or_none()
        return read_person(connection, record) if record else Person(id=user_id, name="", role="viewer")

    @read_transaction
    def all(self, connection: Connection) -> list[Person]:
        records = connection.execute(select(users).order_by(users.c.name)).all()
        return [read_person(connection, record) for record in records]

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
        link_identity(connection, person.id, person.name, issuer, subject)
        return person

    @read_transaction
    def signed_in(self, connection: Connection, issuer: str, subject: str) -> Person | None:
        """Whom a provider vouched for before."""
        wanted = select(users).join(identities, identities.c.user_id == users.c.id)
        wanted = wanted.where(identities.c.issuer == issuer, identities.c.subject == subject)
        record = connection.execute(wanted).one_or_none()
        return read_person(connection, record) if record else None

    @write_transaction
    def link(self, connection: Connection, name: str, issuer: str, subject: str) -> Person | None:
        """The user of that name, from now on let in by what the provider says; None where there is none, or where they
        are somebody else to this provider."""
        take_turns(connection, "tablewright users")
        record = connection.execute(select(users).where(users.c.name == name)).one_or_none()
        theirs = (identities.c.user_id == record.id) & (identities.c.issuer == issuer) if record else None
        if record is None or record.link_by or theirs is None:
            return None
        if connection.execute(select(identities).where(theirs)).first():
            return None
        link_identity(connection, record.id, name, issuer, subject)
        return read_person(connection, record)

    @repeatable_transaction
    def change_role(self, connection: Connection, name: str, role: Role) -> None:
        user_id = find_user_id(connection, name)
        link_by = select(users.c.link_by).where(users.c.id == user_id)
        if connection.scalar(link_by):
            raise UsageError(f"{name!r} is a share link: whoever has it only looks.", advice="Add a user instead.")
        connection.execute(update(users).where(users.c.id == user_id).values(role=role))
        add_audit_entry(connection, "role", f"user {name}", f"now {role}")

    @write_transaction
    def remove(self, connection: Connection, name: str) -> None:
        user_id = find_user_id(connection, name)
        for theirs in schema.tables_with("user_id"):
            connection.execute(delete(theirs).where(theirs.c.user_id == user_id))
        connection.execute(delete(users).where(users.c.id == user_id))
        add_audit_entry(connection, "user", f"user {name}", "removed")

    # ── requests with a key ──────────────────────────────────────────────────────────────────────────────────────────

    @write_transaction
    def begin_request(self, connection: Connection, actor: str, key: str, route: str) -> str | None:
        """None where it is new, and now begun; else what was answered to it, empty while that is not known yet. A key
        that was used for something else is refused. What nobody works on any more is begun anew."""
        connection.execute(delete(requests).where(requests.c.created_at < time_before(REMEMBERED)))
        abandoned = (requests.c.answer == "") & (requests.c.created_at < time_before(CLAIMED))
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
    connection.execute(insert(users), record)
    add_audit_entry(connection, "user", f"user {name}", f"added as {role}")
    return person


def link_identity(connection: Connection, user_id: str, name: str, issuer: str, subject: str) -> None:
    connection.execute(insert(identities).values(issuer=issuer, subject=subject, user_id=user_id))
    add_audit_entry(connection, "user", f"user {name}", f"signs in with {issuer}")


def time_before(age: timedelta) -> str:
    return (datetime.now(UTC) - age).isoformat(timespec="microseconds").replace("+00:00", "Z")


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
    """Return the person of a record; one who came by a token may do no more than it allows, and no longer."""
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


audit_records = RecordMapper(AuditEntry, audit, number="no")


def add_audit_entry(connection: Connection, action: Action, thing: str, detail: str = "", *, who: str = "") -> None:
    acting = acting_in(connection)
    connection.execute(
        insert(audit).values(
            at=now(),
            who=printable(who or acting.actor),
            door=acting.door,
            action=action,
            thing=printable(thing),
            detail=printable(detail),
        )
    )


class Audit(StorePart):
    @write_transaction
    def note(self, connection: Connection, action: Action, thing: str, detail: str = "", *, who: str = "") -> None:
        """What is done outside the database, such as an export."""
        add_audit_entry(connection, action, thing, detail, who=who)

    @read_transaction
    def entries(
        self, connection: Connection, *, before: int | None = None, limit: int = 100, action: str = "", who: str = ""
    ) -> list[AuditEntry]:
        """The newest first, on from before the one of that number."""
        query = select(audit).order_by(audit.c.no.desc()).limit(limit)
        for column, wanted in ((audit.c.action, action), (audit.c.who, who)):
            query = query.where(column == wanted) if wanted else query
        if before is not None:
            query = query.where(audit.c.no < before)
        return audit_records.read_all(connection.execute(query))
