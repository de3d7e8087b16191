"""The tokens of users: only their hashes are kept, with what they may do, until when, and when they were last used."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from tablewright.domain.access import SCOPES, Holder, Scope, Token
from tablewright.domain.naming import check_name
from tablewright.domain.retrieved import content_hash
from tablewright.errors import NotFound, UsageError
from tablewright.store import schema
from tablewright.store.audit import note
from tablewright.store.authority import lost_link
from tablewright.store.database import Database
from tablewright.store.persons import as_person, find
from tablewright.store.records import new_id, now

LONGEST_NAME = 80
MOST = 100
"""Tokens of one person."""


class Tokens:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def holder(self, secret: str) -> Holder | None:
        """Whose token it is, also of one that has expired. What is compared are hashes, in a time that tells nothing
        of them."""
        wanted = content_hash(secret)

        def work(connection: Connection) -> Holder | None:
            tokens = schema.tokens
            record = connection.execute(select(tokens).where(tokens.c.hash == wanted)).one_or_none()
            if record is None or not hmac.compare_digest(record.hash, wanted):
                return None
            users = schema.users
            user = connection.execute(select(users).where(users.c.id == record.user_id)).one()
            token = as_token(record, user.name)
            ended = lost_link(connection, user.link_by)
            return Holder(person=as_person(connection, user, token), token=token, ended=ended)

        return await self._database.read(work)

    async def all(self, user: str = "") -> list[Token]:
        """Those of a user, or of all; the newest last."""

        def work(connection: Connection) -> list[Token]:
            tokens, users = schema.tokens, schema.users
            wanted = select(tokens, users.c.name.label("user")).join(users, users.c.id == tokens.c.user_id)
            if user:
                wanted = wanted.where(tokens.c.user_id == find(connection, user))
            found = connection.execute(wanted.order_by(users.c.name, tokens.c.created_at, tokens.c.id)).all()
            return [as_token(record, record.user) for record in found]

        return await self._database.read(work)

    async def add(
        self, user: str, *, name: str = "", scopes: Collection[Scope] = SCOPES, expires_at: str = ""
    ) -> tuple[Token, str]:
        """The token, and the secret: it is shown once and kept nowhere. Without `expires_at` it never expires."""
        name = name.strip()
        check_name(name, "a token")
        if len(name) > LONGEST_NAME:
            raise UsageError(f"The name of a token has at most {LONGEST_NAME} characters.")
        secret = new_secret()

        def work(connection: Connection) -> Token:
            user_id = find(connection, user)
            theirs = select(schema.tokens.c.id).where(schema.tokens.c.user_id == user_id)
            if len(connection.execute(theirs).all()) >= MOST:
                raise UsageError(f"{user} has {MOST} tokens already.", advice="Remove those that nobody uses.")
            token = put(connection, user_id, user, secret, name=name, scopes=scopes, expires_at=expires_at)
            note(connection, "token", f"user {user}", f"{token.id} made: {' '.join(token.scopes)}")
            return token

        return await self._database.write(work), secret

    async def remove(self, token_id: str, user: str = "") -> None:
        """It is worth nothing from now on. With `user`, only if it is theirs."""

        def work(connection: Connection) -> None:
            tokens, users = schema.tokens, schema.users
            wanted = select(users.c.name).join(tokens, users.c.id == tokens.c.user_id).where(tokens.c.id == token_id)
            owner = connection.execute(wanted).scalar()
            if owner is None or (user and owner != user):
                raise NotFound(f"There is no token {token_id!r}.")
            connection.execute(delete(tokens).where(tokens.c.id == token_id))
            note(connection, "token", f"user {owner}", f"{token_id} removed")

        await self._database.write(work, repeatable=True)

    async def renew(self, user: str, *, expires_at: str = "") -> tuple[Token, str]:
        """One new token for all that the user has; those are worth nothing from now on."""
        secret = new_secret()

        def work(connection: Connection) -> Token:
            user_id = find(connection, user)
            connection.execute(delete(schema.tokens).where(schema.tokens.c.user_id == user_id))
            note(connection, "token", f"user {user}", "renewed")
            return put(connection, user_id, user, secret, expires_at=expires_at)

        return await self._database.write(work), secret

    async def used(self, token_id: str) -> None:
        def work(connection: Connection) -> None:
            tokens = schema.tokens
            connection.execute(update(tokens).where(tokens.c.id == token_id).values(last_used_at=now()))

        await self._database.write(work, repeatable=True)


def put(
    connection: Connection,
    user_id: str,
    user: str,
    secret: str,
    *,
    name: str = "",
    scopes: Collection[Scope] = SCOPES,
    expires_at: str = "",
) -> Token:
    kept = tuple(each for each in SCOPES if each in scopes or each == "read")
    token = Token(
        id=new_id("k"), user=user, name=name, scopes=kept, created_at=now(), expires_at=expires_at, last_used_at=""
    )
    record = {
        "id": token.id,
        "user_id": user_id,
        "name": name,
        "hash": content_hash(secret),  # tokens are long and random, so a plain hash is enough
        "scopes": " ".join(kept),
        "created_at": token.created_at,
        "expires_at": expires_at,
        "last_used_at": "",
    }
    connection.execute(insert(schema.tokens).values(record))
    return token


def as_token(record: Any, user: str) -> Token:
    return Token(
        id=record.id,
        user=user,
        name=record.name,
        scopes=tuple(each for each in SCOPES if each in record.scopes.split()),
        created_at=record.created_at,
        expires_at=record.expires_at,
        last_used_at=record.last_used_at,
    )


def new_secret() -> str:
    return secrets.token_urlsafe(24)
