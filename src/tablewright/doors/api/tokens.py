"""Tokens: everybody sees to their own, admins to those of all. A token allows what its scopes say, until it expires."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import Field as Value

from tablewright.domain.access import EVERY_SCOPE, OWNER, SCOPES, Scope, Token
from tablewright.domain.model import Noun
from tablewright.doors.api.answers import Json
from tablewright.doors.api.inputs import Body, Days, Name, UserName, resource
from tablewright.doors.api.schemas import described
from tablewright.doors.server.context import Visit, Visiting
from tablewright.errors import Forbidden, UsageError
from tablewright.operations.tables import Removed

router = resource("tokens")

TokenId = Annotated[str, Path(max_length=40, pattern=r"^[^\x00/]+$", description="The id of the token.")]


class TokenList(Noun, frozen=True):
    tokens: tuple[Token, ...]


class TokenMade(Noun, frozen=True):
    """The secret is what is sent as `Authorization: Bearer`. It is shown this once, and kept nowhere."""

    token: Token
    secret: str


class NewToken(Body):
    name: Name = Value("", description="What it is for.")
    scopes: list[Scope] = Value(
        list(SCOPES),
        description="read: see. write: change tables and documents. run: start, resume and stop what asks models and "
        "searches. admin: see to users. Of these, what the user's role allows. Each token reads.",
    )
    days: Days = None


@router.get("/tokens", response_model=described(TokenList))
async def list_own_tokens(visit: Visiting) -> Json:
    """Your own tokens: what they allow, until when, and when they were last used."""
    found = [] if visit.person.id == OWNER.id else await visit.services.tokens.all(visit.person.name)
    return Json(TokenList(tokens=tuple(found)))


@router.post("/tokens", status_code=201, response_model=described(TokenMade))
async def make_own_token(visit: Visiting, asked: NewToken) -> Json:
    """Creates a token of your own. It expires no later than the one you use; a token with restricted scopes cannot
    create any."""
    if visit.person.id == OWNER.id:
        raise UsageError("The owner has the token of the settings.", advice="Make a token for a user.")
    must_be_no_link(visit)
    if visit.person.scopes != EVERY_SCOPE:
        raise Forbidden("This token may not make tokens.", advice="Log in, or use a token with all scopes.")
    return await made(visit, visit.person.name, asked, no_longer_than=visit.person.expires_at)


@router.delete("/tokens/{token_id}", response_model=described(Removed))
async def remove_token(visit: Visiting, token_id: TokenId) -> Json:
    """Revokes a token: your own, or, as an admin, anyone's."""
    must_be_no_link(visit)
    await visit.services.tokens.remove(token_id, "" if visit.person.may_administer else visit.person.name)
    return Json(Removed(removed=token_id))


@router.get("/users/{name}/tokens", response_model=described(TokenList))
async def list_tokens(visit: Visiting, name: UserName) -> Json:
    """The tokens of a user, for admins."""
    visit.must_administer()
    return Json(TokenList(tokens=tuple(await visit.services.tokens.all(name))))


@router.post("/users/{name}/tokens", status_code=201, response_model=described(TokenMade))
async def make_token(visit: Visiting, name: UserName, asked: NewToken) -> Json:
    """Creates another token for a user, for admins."""
    visit.must_administer()
    return await made(visit, name, asked)


def must_be_no_link(visit: Visit) -> None:
    """Raise if whoever asks came by a share link: it is not theirs to copy, prolong or end."""
    if visit.person.link_by:
        raise Forbidden("A share link makes and removes no tokens.", advice="Ask an admin for an account of your own.")


async def made(visit: Visit, user: str, asked: NewToken, *, no_longer_than: str = "") -> Json:
    expiry = visit.services.settings.token_expiry(asked.days)
    if no_longer_than:
        expiry = min(expiry or no_longer_than, no_longer_than)
    token, secret = await visit.services.tokens.add(user, name=asked.name, scopes=asked.scopes, expires_at=expiry)
    return Json(TokenMade(token=token, secret=secret), 201)
