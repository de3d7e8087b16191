"""Users of a server: their roles, tokens and limits, and the audit log of what they did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import UNSET, UnsetType

from tablewright.domain.access import (
    EVERY_SCOPE,
    INSTALLATION_OWNER,
    METERED_RESOURCES,
    SCOPES,
    Action,
    AuditEntry,
    MeteredResource,
    Person,
    Quota,
    Role,
    Scope,
    Token,
)
from tablewright.domain.model import Struct
from tablewright.errors import Forbidden, NotFound, UsageError
from tablewright.operations.operation import (
    ListRequest,
    Name,
    NoInput,
    Page,
    Request,
    check_permission,
    copy_fields,
    operation,
)
from tablewright.operations.paging import read_position_number
from tablewright.operations.tables import Removed

if TYPE_CHECKING:
    from tablewright.services import Services

UserName = Annotated[str, msgspec.Meta(min_length=1, max_length=80, description="The user's name.", examples=["ann"])]
OwnOrOf = Annotated[
    str, msgspec.Meta(max_length=80, description="The user whose they are, for admins. Default: your own.")
]
Days = Annotated[
    Annotated[int, msgspec.Meta(ge=0, le=36_500)] | None,
    msgspec.Meta(description="Days until the token expires; 0: never. Default: the setting `token_days`."),
]
RoleName = Annotated[Role, msgspec.Meta(description="viewer: look. editor: also change and spend. admin: everything.")]


class UserShown(Struct, frozen=True):
    """`tables` are those they may see; an admin sees all."""

    id: str
    name: str
    role: Role
    tables: tuple[str, ...]


class UserList(Struct, frozen=True):
    users: tuple[UserShown, ...]


class UserWithToken(Struct, frozen=True):
    """The token is shown this once, and kept nowhere."""

    user: UserShown
    token: str


class UserRequest(Request, frozen=True):
    user: UserName


def show_user(person: Person) -> UserShown:
    return copy_fields(UserShown, person, tables=tuple(sorted(person.tables)))


async def find_user(services: Services, name: str) -> Person:
    for person in await services.store.users.all():
        if person.name == name:
            return person
    raise NotFound(f"There is no user {name!r}.")


@operation("administer")
async def list_users(services: Services, request: NoInput) -> UserList:
    """List all users, by name, with their roles and the tables they see."""
    return UserList(users=tuple(map(show_user, await services.store.users.all())))


class AddUser(Request, frozen=True):
    name: UserName
    role: RoleName = "viewer"
    days: Days = None


@operation("administer")
async def add_user(services: Services, request: AddUser) -> UserWithToken:
    """Add a user and return their token. It is shown once and not stored."""
    expiry = services.settings.token_expiry(request.days)
    person, token = await services.store.users.add(request.name, request.role, expires_at=expiry)
    return UserWithToken(user=show_user(person), token=token)


@operation("administer")
async def remove_user(services: Services, request: UserRequest) -> Removed:
    """Remove a user. Their tokens and logins end at once; their tables and what they did stay."""
    await services.store.users.remove(request.user)
    return Removed(removed=request.user)


class ChangeRole(UserRequest, frozen=True):
    role: RoleName


@operation("administer")
async def change_role(services: Services, request: ChangeRole) -> UserShown:
    """Give a user another role."""
    await services.store.users.change_role(request.user, request.role)
    return show_user(await find_user(services, request.user))


# ── tokens ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class TokenList(Struct, frozen=True):
    tokens: tuple[Token, ...]


class TokenMade(Struct, frozen=True):
    """The secret is what is sent as `Authorization: Bearer`. It is shown this once, and kept nowhere."""

    token: Token
    secret: str


class RenewToken(UserRequest, frozen=True):
    days: Days = None


@operation("administer")
async def renew_token(services: Services, request: RenewToken) -> UserWithToken:
    """Make a new token for a user. All that they had, and their logins, end at once."""
    expiry = services.settings.token_expiry(request.days)
    _, token = await services.store.tokens.renew(request.user, expires_at=expiry)
    return UserWithToken(user=show_user(await find_user(services, request.user)), token=token)


class OwnRequest(Request, frozen=True):
    user: OwnOrOf = ""


@operation("read")
async def list_tokens(services: Services, request: OwnRequest) -> TokenList:
    """List tokens: what they allow, until when, and when they were last used. At the machine: those of all."""
    person = own_person(services, request.user)
    if person is not None and person.id == INSTALLATION_OWNER.id:
        return TokenList(tokens=())
    user = request.user if person is None else person.name
    return TokenList(tokens=tuple(await services.store.tokens.all(user)))


class AddToken(OwnRequest, frozen=True):
    name: Annotated[Name, msgspec.Meta(description="What it is for.")] = ""
    scopes: Annotated[
        tuple[Scope, ...],
        msgspec.Meta(
            description="read: see. write: change tables and documents. run: start, resume and stop what asks models "
            "and searches. admin: see to users. Of these, what the user's role allows. Each token reads."
        ),
    ] = SCOPES
    days: Days = None


@operation("read")
async def add_token(services: Services, request: AddToken) -> TokenMade:
    """Make another token. One of your own expires no later than the one you use; a token with restricted scopes cannot
    make any."""
    person = own_person(services, request.user)
    expiry = services.settings.token_expiry(request.days)
    if person is not None:
        if person.id == INSTALLATION_OWNER.id:
            raise UsageError("The owner has the token of the settings.", advice="Make a token for a user.")
        check_is_no_link(person)
        # Otherwise a restricted token could give itself all rights.
        if person.scopes != EVERY_SCOPE:
            raise Forbidden("This token may not make tokens.", advice="Log in, or use a token with all scopes.")
        if person.expires_at:  # a token must not outlive the one that makes it
            expiry = min(expiry or person.expires_at, person.expires_at)
    user = request.user if person is None else person.name
    if not user:
        raise UsageError("No user is given, and none is logged in.", advice="Name a user.")
    token, secret = await services.store.tokens.add(user, name=request.name, scopes=request.scopes, expires_at=expiry)
    return TokenMade(token=token, secret=secret)


class TokenRequest(Request, frozen=True):
    token: Annotated[str, msgspec.Meta(min_length=1, max_length=40, description="The id of the token.")]


@operation("read")
async def remove_token(services: Services, request: TokenRequest) -> Removed:
    """Revoke a token, and the logins by it: your own, or, as an admin, anyone's."""
    person = services.person
    if person is not None:
        check_is_no_link(person)
    # An empty name stands for everyone: only an admin may remove the tokens of others.
    theirs = "" if person is None or person.may_administer else person.name
    await services.store.tokens.remove(request.token, theirs)
    return Removed(removed=request.token)


def own_person(services: Services, user: str) -> Person | None:
    """Return who acts if they ask about themselves; None if an admin, or the owner of the machine, asks about another.
    Raise Forbidden if it is not theirs to ask."""
    person = services.person
    if person is None or user in ("", person.name):
        return person
    check_permission(person, "administer")
    return None


def check_is_no_link(person: Person) -> None:
    """Raise Forbidden for the viewer of a share link: it is not theirs to copy, prolong or end."""
    if person.link_by:
        raise Forbidden("A share link makes and removes no tokens.", advice="Ask an admin for an account of your own.")


# ── limits ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class QuotasShown(Struct, frozen=True):
    """`uploads` and `disk` are megabytes. The disk does not renew: it is free again once things are removed. `held` is
    set aside for work under way."""

    name: str
    quotas: tuple[Quota, ...]


@operation("read")
async def list_quotas(services: Services, request: OwnRequest) -> QuotasShown:
    """Show monthly limits, and what has been used of them."""
    person = own_person(services, request.user)
    if person is not None and person.id == INSTALLATION_OWNER.id:
        return QuotasShown(name=INSTALLATION_OWNER.name, quotas=())
    return await show_quotas(services, request.user if person is None else person.name)


Most = Annotated[float, msgspec.Meta(ge=0, le=1e12)] | UnsetType | None


class SetQuotas(UserRequest, frozen=True):
    """A limit that is left out stays as it is; null resets it to the server's settings."""

    uploads: Most = UNSET
    rows: Most = UNSET
    disk: Most = UNSET
    dollars: Most = UNSET


@operation("administer")
async def set_quotas(services: Services, request: SetQuotas) -> QuotasShown:
    """Set limits for one user: megabytes of files, rows and dollars per month, and megabytes kept."""
    limits: dict[MeteredResource, float | None] = {
        what: most for what in METERED_RESOURCES if (most := getattr(request, what)) is not UNSET
    }
    await services.store.ledger.limit(request.user, limits)
    return await show_quotas(services, request.user)


async def show_quotas(services: Services, user: str) -> QuotasShown:
    return QuotasShown(name=user, quotas=tuple(await services.store.ledger.of(user)))


# ── audit log ────────────────────────────────────────────────────────────────────────────────────────────────────────


class AuditPage(Page, frozen=True):
    entries: tuple[AuditEntry, ...]


class ListAudit(ListRequest, frozen=True):
    action: Annotated[Action | None, msgspec.Meta(description="Only of this kind.")] = None
    who: Annotated[str, msgspec.Meta(max_length=80, description="Only what this user did.")] = ""


@operation("administer")
async def list_audit(services: Services, request: ListAudit) -> AuditPage:
    """List the audit log, newest first: logins, shares, exports, removals, users and settings. An entry outlives what
    it is about."""
    found = await services.store.audit.entries(
        before=read_position_number(request.after) or None,
        # One more than is shown tells if there is a next page.
        limit=request.limit + 1,
        action=request.action or "",
        who=request.who,
    )
    more = str(found[request.limit - 1].number) if len(found) > request.limit else None
    return AuditPage(entries=tuple(found[: request.limit]), next=more)
