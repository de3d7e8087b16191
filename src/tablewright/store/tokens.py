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
from tablewright.store.audit import note
from tablewright.store.authority import lost_link
from tablewright.store.database import StorePart, read_transaction, repeatable_transaction, write_transaction
from tablewright.store.persons import as_person, find
from tablewright.store.records import RecordMapper, new_id, now
from tablewright.store.schema import tokens, users

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
        token = as_token(record, user.name)
        ended = lost_link(connection, user.link_by)
        return Holder(person=as_person(connection, user, token), token=token, ended=ended)

    @read_transaction
    def all(self, connection: Connection, user: str = "") -> list[Token]:
        """Those of a user, or of all; the newest last."""
        wanted = select(tokens, users.c.name.label("user")).join(users, users.c.id == tokens.c.user_id)
        if user:
            wanted = wanted.where(tokens.c.user_id == find(connection, user))
        found = connection.execute(wanted.order_by(users.c.name, tokens.c.created_at, tokens.c.id)).all()
        return [as_token(record, record.user) for record in found]

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
        user_id = find(connection, user)
        theirs = select(tokens.c.id).where(tokens.c.user_id == user_id)
        if len(connection.execute(theirs).all()) >= MOST:
            raise UsageError(f"{user} has {MOST} tokens already.", advice="Remove those that nobody uses.")
        token, secret = add_token(connection, user_id, user, name=name, scopes=scopes, expires_at=expires_at)
        note(connection, "token", f"user {user}", f"{token.id} made: {' '.join(token.scopes)}")
        return token, secret

    @repeatable_transaction
    def remove(self, connection: Connection, token_id: str, user: str = "") -> None:
        """It is worth nothing from now on. With `user`, only if it is theirs."""
        wanted = select(users.c.name).join(tokens, users.c.id == tokens.c.user_id).where(tokens.c.id == token_id)
        owner = connection.scalar(wanted)
        if owner is None or (user and owner != user):
            raise NotFound(f"There is no token {token_id!r}.")
        connection.execute(delete(tokens).where(tokens.c.id == token_id))
        note(connection, "token", f"user {owner}", f"{token_id} removed")

    @write_transaction
    def renew(self, connection: Connection, user: str, *, expires_at: str = "") -> tuple[Token, str]:
        """One new token for all that the user has; those are worth nothing from now on."""
        user_id = find(connection, user)
        connection.execute(delete(tokens).where(tokens.c.user_id == user_id))
        note(connection, "token", f"user {user}", "renewed")
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
    record = token_records.write(token, user_id=user_id, hash=content_hash(secret), scopes=" ".join(kept))
    connection.execute(insert(tokens).values(record))
    return token, secret


def as_token(record: Any, user: str) -> Token:
    return token_records.read(record, user=user, scopes=tuple(each for each in SCOPES if each in record.scopes.split()))
