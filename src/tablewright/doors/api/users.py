"""Users, for admins: who they are, what they may do, and which tables they see."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field as Value
from pydantic import StringConstraints

from tablewright.domain.access import Person, Role
from tablewright.domain.model import Noun
from tablewright.doors.api.answers import Json
from tablewright.doors.api.inputs import Body, Days, TableId, UserName, resource
from tablewright.doors.api.schemas import described
from tablewright.doors.api.visible import seen_table
from tablewright.doors.server.context import Visit, Visiting
from tablewright.errors import NotFound
from tablewright.operations.tables import Removed

router = resource("users")


class UserShown(Noun, frozen=True):
    """`tables` are those they may see; an admin sees all."""

    name: str
    role: Role
    tables: tuple[str, ...]


class UserList(Noun, frozen=True):
    users: tuple[UserShown, ...]


class UserWithToken(Noun, frozen=True):
    """The token is shown this once, and kept nowhere."""

    user: UserShown
    token: str


class NewUser(Body):
    name: Annotated[str, StringConstraints(min_length=1, max_length=80)] = Value(examples=["ann"])
    role: Role = "viewer"
    days: Days = None


class NewRole(Body):
    role: Role


def user_shown(person: Person) -> UserShown:
    return UserShown(name=person.name, role=person.role, tables=tuple(sorted(person.tables)))


async def user_called(visit: Visit, name: str) -> UserShown:
    found = [person for person in await visit.services.users.all() if person.name == name]
    if not found:
        raise NotFound(f"There is no user {name!r}.")
    return user_shown(found[0])


@router.get("/users", response_model=described(UserList))
async def list_users(visit: Visiting) -> Json:
    """All users, by name."""
    visit.must_administer()
    return Json(UserList(users=tuple(map(user_shown, await visit.services.users.all()))))


@router.post("/users", status_code=201, response_model=described(UserWithToken))
async def add_user(visit: Visiting, asked: NewUser) -> Json:
    """Adds a user and returns their token."""
    visit.must_administer()
    expiry = visit.services.settings.token_expiry(asked.days)
    person, token = await visit.services.users.add(asked.name, asked.role, expires_at=expiry)
    return Json(UserWithToken(user=user_shown(person), token=token), 201)


@router.put("/users/{name}", response_model=described(UserShown))
async def change_role(visit: Visiting, name: UserName, asked: NewRole) -> Json:
    """Changes the role of a user."""
    visit.must_administer()
    await visit.services.users.change_role(name, asked.role)
    return Json(await user_called(visit, name))


@router.delete("/users/{name}", response_model=described(Removed))
async def remove_user(visit: Visiting, name: UserName) -> Json:
    """Removes a user. Their tokens become invalid at once; their tables stay."""
    visit.must_administer()
    await visit.services.users.remove(name)
    return Json(Removed(removed=name))


@router.post("/users/{name}/token", response_model=described(UserWithToken))
async def renew_token(visit: Visiting, name: UserName) -> Json:
    """Replaces all tokens of a user with a new one."""
    visit.must_administer()
    expiry = visit.services.settings.token_expiry()
    _, token = await visit.services.tokens.renew(name, expires_at=expiry)
    return Json(UserWithToken(user=await user_called(visit, name), token=token))


@router.put("/users/{name}/tables/{table_id}", response_model=described(UserShown))
async def grant_table(visit: Visiting, name: UserName, table_id: TableId) -> Json:
    """Lets a user see a table."""
    visit.must_administer()
    table = await seen_table(visit, table_id)
    await visit.services.share("table", table.id, [name])
    return Json(await user_called(visit, name))


@router.delete("/users/{name}/tables/{table_id}", response_model=described(UserShown))
async def revoke_table(visit: Visiting, name: UserName, table_id: TableId) -> Json:
    """Stops a user from seeing a table."""
    visit.must_administer()
    table = await seen_table(visit, table_id)
    await visit.services.unshare("table", table.id, [name])
    return Json(await user_called(visit, name))
