"""Share things, which are private to their owners, with people by name, with everyone, or by a link."""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING, Annotated

import msgspec

from tablewright.domain.access import INSTALLATION_OWNER, Shareable, SharedThing
from tablewright.domain.model import Struct
from tablewright.errors import Forbidden
from tablewright.operations.operation import Name, Request, operation
from tablewright.operations.paths import hide_existence
from tablewright.operations.users import UserShown, show_user

if TYPE_CHECKING:
    from tablewright.services import Services


class ThingRequest(Request, frozen=True):
    kind: Annotated[Shareable, msgspec.Meta(description="Table, document, conversation, result, research, shortlist.")]
    id: Annotated[
        str,
        msgspec.Meta(min_length=1, max_length=300, description="Its id; a table or a document also by its name."),
    ]


@operation("read")
async def get_sharing(services: Services, request: ThingRequest) -> SharedThing:
    """Show who can see something of yours."""
    return await find_shared(services, request)


class ShareThing(ThingRequest, frozen=True):
    people: Annotated[tuple[Name, ...], msgspec.Meta(max_length=500, description="The names of users.")] = ()
    everyone: Annotated[bool, msgspec.Meta(description="All who may use the server.")] = False
    only: Annotated[bool, msgspec.Meta(description="First withdraw it from everyone it is shared with.")] = False
    without: Annotated[
        tuple[Name, ...], msgspec.Meta(max_length=500, description="The names of users who may no longer see it.")
    ] = ()


@operation("write")
async def share(services: Services, request: ShareThing) -> SharedThing:
    """Share something with people or with everyone; its owner and admins always see it. The table of research or of a
    shortlist, and the rows of a conversation's answers, are shared with it; documents quoted in it are not. Only an
    admin can withdraw a thing from its owner: then it belongs to the installation."""
    id = (await find_shared(services, request)).id
    sharing = services.store.sharing
    if request.without:
        left = await sharing.unshare(request.kind, id, request.without)
        if not (request.people or request.everyone or request.only):
            return left
    return await sharing.share(request.kind, id, request.people, everyone=request.everyone, only=request.only)


class ViewLink(Struct, frozen=True):
    """A viewer of one thing alone, and a token that lets in anyone who has it. It is shown only once."""

    user: UserShown
    token: str


@operation("write")
async def create_view_link(services: Services, request: ThingRequest) -> ViewLink:
    """Make a link with which anyone may view this, and nothing else, without an account. It ends like other tokens,
    with its user, and once its author is no longer an admin."""
    author, shared = services.person, await find_shared(services, request)
    if author is not None and not author.may_administer:
        raise Forbidden("Only an admin makes share links.", advice="Share it with people by name.")
    # The random part keeps the names of several links to one thing apart.
    name = f"link-{shared.id[:30]}-{token_hex(3)}"
    person, token = await services.store.users.add_link(
        name, INSTALLATION_OWNER.id if author is None else author.id, expires_at=services.settings.token_expiry()
    )
    await services.store.sharing.share(request.kind, shared.id, [person.name])
    return ViewLink(user=show_user(person), token=token)


async def find_shared(services: Services, request: ThingRequest) -> SharedThing:
    if services.person is None:
        return await services.store.sharing.of(request.kind, await find_id(services, request))
    with hide_existence(f"{request.kind} {request.id!r}"):
        return await services.store.sharing.of(request.kind, await find_id(services, request))


async def find_id(services: Services, request: ThingRequest) -> str:
    if request.kind == "table":
        return (await services.table(request.id)).id
    if request.kind == "document":
        return (await services.store.documents.get(request.id)).id
    return request.id
