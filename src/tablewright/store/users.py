"""Users of a server: their roles, identities and tokens, of which only hashes are kept; who acts in a transaction and
what they may still do; and the audit log.

Roles, users and shares change after a run, a schedule or a link was made. So authority is checked whenever one of them
is used: when a schedule fires, when a run or a slice of it begins or resumes, before its result is applied, and when a
share link is opened.
"""

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
    INSTALLATION_OWNER,
    SCOPES,
    Action,
    AuditEntry,
    Person,
    Role,
    Scope,
    Token,
    TokenHolder,
)
from tablewright.domain.naming import check_name, check_user_name, look_alike
from tablewright.domain.retrieved import hash_content
from tablewright.errors import NotFound, UsageError
from tablewright.store import schema
from tablewright.store.database import StorePart, acting_in, read_transaction, repeatable_transaction, write_transaction
from tablewright.store.records import (
    RecordMapper,
    acquire_advisory_lock,
    build_upsert,
    clean_for_storage,
    new_id,
    utc_now,
)
from tablewright.store.schema import audit, identities, requests, shares, tokens, users

token_records = RecordMapper(Token, tokens, scopes="")


class Tokens(StorePart):
    """Create, check and remove tokens."""

    @read_transaction
    def holder(self, connection: Connection, secret: str) -> TokenHolder | None:
        """Return the holder of a token, even of an expired one. Hashes are compared in constant time, so timing reveals
        nothing."""
        hashed = hash_content(secret)
        record = connection.execute(select(tokens).where(tokens.c.hash == hashed)).one_or_none()
        if record is None or not hmac.compare_digest(record.hash, hashed):
            return None
        user = connection.execute(select(users).where(users.c.id == record.user_id)).one()
        token = read_token(record, user.name)
        ended = explain_lost_link(connection, user.link_by)
        return TokenHolder(person=read_person(connection, user, token), token=token, ended=ended)

    @read_transaction
    def all(self, connection: Connection, user: str = "") -> list[Token]:
        """Return the tokens of a user, or of all; newest last."""
        query = select(tokens, users.c.name.label("user")).join(users, users.c.id == tokens.c.user_id)
        if user:
            query = query.where(tokens.c.user_id == find_user_id(connection, user))
        found = connection.execute(query.order_by(users.c.name, tokens.c.created_at, tokens.c.id)).all()
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
        """Return the token and its secret, which is shown once and stored nowhere. Without `expires_at` it never
        expires."""
        name = name.strip()
        check_name(name, "a token")
        # It has to fit into one line of a list.
        if len(name) > 80:
            raise UsageError("The name of a token has at most 80 characters.")
        user_id = find_user_id(connection, user)
        theirs = select(tokens.c.id).where(tokens.c.user_id == user_id)
        # Far more than one person needs: a limit on what a script can create by mistake.
        if len(connection.execute(theirs).all()) >= 100:
            raise UsageError(f"{user} has 100 tokens already.", advice="Remove unused ones.")
        token, secret = insert_token(connection, user_id, user, name=name, scopes=scopes, expires_at=expires_at)
        add_audit_entry(connection, "token", f"user {user}", f"{token.id} made: {' '.join(token.scopes)}")
        return token, secret

    @repeatable_transaction
    def remove(self, connection: Connection, token_id: str, user: str = "") -> None:
        """Remove a token. With `user`, only if it is theirs."""
        query = select(users.c.name).join(tokens, users.c.id == tokens.c.user_id).where(tokens.c.id == token_id)
        owner = connection.scalar(query)
        if owner is None or (user and owner != user):
            raise NotFound(f"There is no token {token_id!r}.")
        connection.execute(delete(tokens).where(tokens.c.id == token_id))
        add_audit_entry(connection, "token", f"user {owner}", f"{token_id} removed")

    @write_transaction
    def renew(self, connection: Connection, user: str, *, expires_at: str = "") -> tuple[Token, str]:
        """Replace all tokens of the user by a new one."""
        user_id = find_user_id(connection, user)
        connection.execute(delete(tokens).where(tokens.c.user_id == user_id))
        add_audit_entry(connection, "token", f"user {user}", "renewed")
        return insert_token(connection, user_id, user, expires_at=expires_at)

    @repeatable_transaction
    def used(self, connection: Connection, token_id: str) -> None:
        connection.execute(update(tokens).where(tokens.c.id == token_id).values(last_used_at=utc_now()))


def insert_token(
    connection: Connection,
    user_id: str,
    user: str,
    *,
    name: str = "",
    scopes: Collection[Scope] = SCOPES,
    expires_at: str = "",
) -> tuple[Token, str]:
    """Return the token and its secret."""
    # 192 random bits: none can be guessed.
    secret = secrets.token_urlsafe(24)
    # Every token may read; without that right it could do nothing useful.
    kept = tuple(each for each in SCOPES if each in scopes or each == "read")
    token = Token(
        id=new_id("k"), user=user, name=name, scopes=kept, created_at=utc_now(), expires_at=expires_at, last_used_at=""
    )
    # Tokens are long and random, so a plain hash without salt or stretching is enough.
    record = token_records.write(token, user_id=user_id, hash=hash_content(secret), scopes=" ".join(kept))
    connection.execute(insert(tokens), record)
    return token, secret


def read_token(record: Any, user: str) -> Token:
    return token_records.read(record, user=user, scopes=tuple(each for each in SCOPES if each in record.scopes.split()))


# A request in progress is renewed more often than this; without renewal its server has died.
REQUEST_ABANDONED_AFTER = timedelta(minutes=10)


class Users(StorePart):
    """Add, find, change and remove users."""

    async def lost_authority(self, user_id: str, table_id: str = "") -> str:
        """Return why this person may no longer run or change anything, here in this table, or "" if they still may."""
        # No lookup for work without a user.
        if is_installation(user_id):
            return ""
        return await self._lost_authority(user_id, table_id)

    @read_transaction
    def _lost_authority(self, connection: Connection, user_id: str, table_id: str) -> str:
        return explain_lost_authority(connection, user_id, table_id)

    async def by_id(self, user_id: str) -> Person:
        """Return the user who began something; a removed user may do and see nothing."""
        return INSTALLATION_OWNER if user_id == INSTALLATION_OWNER.id else await self._by_id(user_id)

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
        """Return the user and a token, which is shown once and stored nowhere."""
        person = insert_user(connection, name, role)
        _, secret = insert_token(connection, person.id, person.name, expires_at=expires_at)
        return person, secret

    @write_transaction
    def add_link(self, connection: Connection, name: str, link_by: str, *, expires_at: str = "") -> tuple[Person, str]:
        """Add the viewer of a share link, whose token only reads; return both. `link_by` is the id of its author."""
        person = insert_user(connection, name, "viewer", link_by)
        only_read: tuple[Scope, ...] = ("read",)
        _, secret = insert_token(connection, person.id, person.name, scopes=only_read, expires_at=expires_at)
        return person, secret

    @write_transaction
    def add_signed_in(self, connection: Connection, name: str, role: Role, issuer: str, subject: str) -> Person:
        """Add a user who signed in with a provider; they have no token until they make one."""
        person = insert_user(connection, name, role)
        link_identity(connection, person.id, person.name, issuer, subject)
        return person

    @read_transaction
    def signed_in(self, connection: Connection, issuer: str, subject: str) -> Person | None:
        """Return the user of an identity that has signed in before."""
        query = select(users).join(identities, identities.c.user_id == users.c.id)
        query = query.where(identities.c.issuer == issuer, identities.c.subject == subject)
        record = connection.execute(query).one_or_none()
        return read_person(connection, record) if record else None

    @write_transaction
    def link(self, connection: Connection, name: str, issuer: str, subject: str) -> Person | None:
        """Let the user of that name sign in with this identity. Return None if there is no such user, or if they have
        another identity at this provider."""
        acquire_advisory_lock(connection, "tablewright users")
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
            raise UsageError(f"{name!r} is a share link, which only allows looking.", advice="Add a user instead.")
        connection.execute(update(users).where(users.c.id == user_id).values(role=role))
        add_audit_entry(connection, "role", f"user {name}", f"now {role}")

    @write_transaction
    def remove(self, connection: Connection, name: str) -> None:
        user_id = find_user_id(connection, name)
        # By the column, so that a new table about users cannot be forgotten.
        for theirs in schema.tables_with_column("user_id"):
            connection.execute(delete(theirs).where(theirs.c.user_id == user_id))
        connection.execute(delete(users).where(users.c.id == user_id))
        add_audit_entry(connection, "user", f"user {name}", "removed")

    # ── requests with a key ──────────────────────────────────────────────────────────────────────────────────────────

    @write_transaction
    def begin_request(self, connection: Connection, actor: str, key: str, route: str) -> str | None:
        """Return None for a new request, which has now begun; else its answer, "" while that is not known yet. Raise
        UsageError if the key was used for another request. An abandoned request begins again."""
        # Clients retry a request with an idempotency key within hours; its answer is kept for two days.
        connection.execute(delete(requests).where(requests.c.created_at < time_ago(timedelta(days=2))))
        # The server that worked on the request has died, so it may begin again.
        abandoned = (requests.c.answer == "") & (requests.c.created_at < time_ago(REQUEST_ABANDONED_AFTER))
        connection.execute(delete(requests).where(abandoned))
        own = (requests.c.actor == actor) & (requests.c.key == key)
        record = {"actor": actor, "key": key, "route": route, "answer": "", "created_at": utc_now()}
        begin = build_upsert(connection, requests).values(record).on_conflict_do_nothing()
        # Of two at the same moment, one succeeds.
        if connection.execute(begin).rowcount:
            return None
        found = connection.execute(select(requests.c.route, requests.c.answer).where(own)).one()
        # The same key for another request is a client's mistake: answering with the old result would hide it.
        if found.route != route:
            raise UsageError("This idempotency key was used for another request.", advice="Use a new key.")
        return str(found.answer)

    @repeatable_transaction
    def renew_request(self, connection: Connection, actor: str, key: str) -> None:
        """Record that the request is still in progress."""
        under_way = (requests.c.actor == actor) & (requests.c.key == key) & (requests.c.answer == "")
        connection.execute(update(requests).where(under_way).values(created_at=utc_now()))

    @repeatable_transaction
    def answer_request(self, connection: Connection, actor: str, key: str, answer: str | None) -> None:
        """Store the answer; None if it failed, so that the same key may be tried again."""
        own = (requests.c.actor == actor) & (requests.c.key == key)
        if answer is None:
            connection.execute(delete(requests).where(own))
        else:
            connection.execute(update(requests).where(own).values(answer=answer))


def insert_user(connection: Connection, name: str, role: Role, link_by: str = "") -> Person:
    name = name.strip()
    check_user_name(name)
    # The history uses these names for the owner of the machine and for the model.
    if any(look_alike(name, taken) for taken in ("owner", "assistant")):
        raise UsageError(f"A user cannot be called {name!r}: the history uses that name for something else.")
    # Of two similar names at once, one succeeds.
    acquire_advisory_lock(connection, "tablewright users")
    for taken in connection.scalars(select(users.c.name)):
        if look_alike(name, taken):
            same = "already" if name == taken else f"who would look like {name!r}"
            raise UsageError(f"There is a user {taken!r} {same}.", advice="Choose a name of its own.")
    person = Person(id=new_id("u"), name=name, role=role, link_by=link_by)
    record = {"id": person.id, "name": name, "role": role, "created_at": utc_now(), "link_by": link_by}
    connection.execute(insert(users), record)
    add_audit_entry(connection, "user", f"user {name}", f"added as {role}")
    return person


def link_identity(connection: Connection, user_id: str, name: str, issuer: str, subject: str) -> None:
    connection.execute(insert(identities).values(issuer=issuer, subject=subject, user_id=user_id))
    add_audit_entry(connection, "user", f"user {name}", f"signs in with {issuer}")


def time_ago(age: timedelta) -> str:
    return (datetime.now(UTC) - age).isoformat(timespec="microseconds").replace("+00:00", "Z")


def acting_person(connection: Connection) -> Person | None:
    """Return the acting user; None for the installation itself."""
    person = acting_in(connection).person
    return None if person is None or person.id == INSTALLATION_OWNER.id else person


def acting_user_id(connection: Connection) -> str:
    """Return the id of the acting user; "" for the installation itself."""
    person = acting_person(connection)
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
    """Return True for the owner and for the installation itself (no id), who are always allowed."""
    return user_id in ("", INSTALLATION_OWNER.id)


def explain_lost_authority(connection: Connection, user_id: str, table_id: str = "") -> str:
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


def explain_lost_link(connection: Connection, link_by: str) -> str:
    """Return why a share link that this user made no longer works, or "" if it does."""
    if is_installation(link_by):
        return ""
    role = connection.scalar(select(users.c.role).where(users.c.id == link_by))
    # Only admins share by link.
    return "" if role == "admin" else "This link no longer works: the person who made it may no longer share."


audit_records = RecordMapper(AuditEntry, audit, number="no")


def add_audit_entry(connection: Connection, action: Action, thing: str, detail: str = "", *, who: str = "") -> None:
    acting = acting_in(connection)
    connection.execute(
        insert(audit).values(
            at=utc_now(),
            who=clean_for_storage(who or acting.actor),
            door=acting.door,
            action=action,
            thing=clean_for_storage(thing),
            detail=clean_for_storage(detail),
        )
    )


class Audit(StorePart):
    """Write and read the audit log."""

    @write_transaction
    def note(self, connection: Connection, action: Action, thing: str, detail: str = "", *, who: str = "") -> None:
        """Record what is done outside the database, such as an export."""
        add_audit_entry(connection, action, thing, detail, who=who)

    @read_transaction
    def entries(
        self, connection: Connection, *, before: int | None = None, limit: int = 100, action: str = "", who: str = ""
    ) -> list[AuditEntry]:
        """Return entries, newest first, before the one of that number."""
        query = select(audit).order_by(audit.c.no.desc()).limit(limit)
        for column, value in ((audit.c.action, action), (audit.c.who, who)):
            query = query.where(column == value) if value else query
        if before is not None:
            query = query.where(audit.c.no < before)
        return audit_records.read_all(connection.execute(query))
