"""Users of a server: their tokens (as hashes only), their roles, and the tables they may see.

And what was answered to a request that must not be done twice."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from tablewright.errors import NotFound, UsageError
from tablewright.store import schema
from tablewright.store.audit import Action, note
from tablewright.store.database import Database
from tablewright.store.dialect import take_turns, upsert
from tablewright.store.records import new_id, now
from tablewright.table.access import EVERYONE, Person, Role
from tablewright.table.naming import check_user_name, look_alike

RESERVED = frozenset({"owner", "assistant"})
REMEMBERED = timedelta(days=2)
"""How long the answer to a request with a key is kept."""
CLAIMED = timedelta(minutes=10)
"""How long a request without an answer counts as under way after its server last said so."""


class Users:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def who(self, token: str) -> Person | None:
        """Whose token it is. What is compared are hashes, in a time that tells nothing of them."""
        wanted = hashed(token)

        def work(connection: Connection) -> Person | None:
            users = schema.users
            record = connection.execute(select(users).where(users.c.token_hash == wanted)).one_or_none()
            if record is None or not hmac.compare_digest(record.token_hash, wanted):
                return None
            return as_person(connection, record)

        return await self._database.read(work)

    async def by_id(self, user_id: str) -> Person:
        """Who began something; one who is a user no longer may do and see nothing of their own any more."""

        def work(connection: Connection) -> Person:
            record = connection.execute(select(schema.users).where(schema.users.c.id == user_id)).one_or_none()
            return as_person(connection, record) if record else Person(id=user_id, name="", role="viewer")

        return await self._database.read(work)

    async def all(self) -> list[Person]:
        def work(connection: Connection) -> list[Person]:
            records = connection.execute(select(schema.users).order_by(schema.users.c.name)).all()
            return [as_person(connection, record) for record in records]

        return await self._database.read(work)

    async def add(self, name: str, role: Role) -> tuple[Person, str]:
        """The person, and the token: it is shown once and kept nowhere."""
        token = secrets.token_urlsafe(24)
        name = name.strip()
        check_user_name(name)
        if any(look_alike(name, taken) for taken in RESERVED):
            raise UsageError(f"Nobody can be called {name!r}: that stands for somebody else in the history.")

        def work(connection: Connection) -> Person:
            users = schema.users
            take_turns(connection, "tablewright users")  # of two who look alike and come at once, one
            for taken in connection.execute(select(users.c.name)).scalars():
                if look_alike(name, taken):
                    same = "already" if name == taken else f"who would look like {name!r}"
                    raise UsageError(f"There is a user {taken!r} {same}.", advice="Choose a name of its own.")
            user_id = new_id("u")
            connection.execute(
                insert(users).values(id=user_id, name=name, role=role, token_hash=hashed(token), created_at=now())
            )
            note(connection, "user", f"user {name}", f"added as {role}")
            return Person(id=user_id, name=name, role=role)

        return await self._database.write(work), token

    async def change_role(self, name: str, role: Role) -> None:
        await self._change(name, "role", f"now {role}", role=role)

    async def renew_token(self, name: str) -> str:
        """The old one is worth nothing from now on."""
        token = secrets.token_urlsafe(24)
        await self._change(name, "token", "renewed", token_hash=hashed(token))
        return token

    async def remove(self, name: str) -> None:
        def work(connection: Connection) -> None:
            user_id = find(connection, name)
            for theirs in (schema.shares, schema.quotas, schema.spent):
                connection.execute(delete(theirs).where(theirs.c.user_id == user_id))
            connection.execute(delete(schema.users).where(schema.users.c.id == user_id))
            note(connection, "user", f"user {name}", "removed")

        await self._database.write(work)

    async def _change(self, name: str, action: Action, said: str, **values: str) -> None:
        def work(connection: Connection) -> None:
            user_id = find(connection, name)
            connection.execute(update(schema.users).where(schema.users.c.id == user_id).values(values))
            note(connection, action, f"user {name}", said)

        await self._database.write(work, repeatable=True)

    # ── requests with a key ──────────────────────────────────────────────────────────────────────────────────────────

    async def begin_request(self, actor: str, key: str, route: str) -> str | None:
        """None where it is new, and now begun; else what was answered to it, empty while that is not known yet. A key
        that was used for something else is refused. What nobody works on any more is begun anew."""

        def work(connection: Connection) -> str | None:
            requests = schema.requests
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

        return await self._database.write(work)

    async def renew_request(self, actor: str, key: str) -> None:
        """It is still being worked on."""

        def work(connection: Connection) -> None:
            requests = schema.requests
            under_way = (requests.c.actor == actor) & (requests.c.key == key) & (requests.c.answer == "")
            connection.execute(update(requests).where(under_way).values(created_at=now()))

        await self._database.write(work, repeatable=True)

    async def answer_request(self, actor: str, key: str, answer: str | None) -> None:
        """None: it failed, and may be tried again with the same key."""

        def work(connection: Connection) -> None:
            requests = schema.requests
            own = (requests.c.actor == actor) & (requests.c.key == key)
            if answer is None:
                connection.execute(delete(requests).where(own))
            else:
                connection.execute(update(requests).where(own).values(answer=answer))

        await self._database.write(work, repeatable=True)


def hashed(token: str) -> str:
    """Tokens are long and random, so a plain hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


def find(connection: Connection, name: str) -> str:
    user_id = connection.execute(select(schema.users.c.id).where(schema.users.c.name == name)).scalar()
    if user_id is None:
        raise NotFound(f"There is no user {name!r}.")
    return str(user_id)


def as_person(connection: Connection, record: Any) -> Person:
    shares = schema.shares
    theirs = shares.c.user_id.in_((record.id, EVERYONE))
    tables = connection.execute(select(shares.c.thing_id).where(shares.c.kind == "table", theirs)).scalars()
    quotas = schema.quotas
    limits = connection.execute(select(quotas.c.what, quotas.c.most).where(quotas.c.user_id == record.id)).all()
    return Person(
        id=record.id,
        name=record.name,
        role=record.role,
        tables=frozenset(tables),
        limits={each.what: each.most for each in limits},
    )


def before(age: timedelta) -> str:
    return (datetime.now(UTC) - age).isoformat(timespec="microseconds").replace("+00:00", "Z")
