"""The audit log and monthly limits: who did what, and how much a person may use and has used."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import Field as Value

from tablewright.domain.access import OWNER, Metered, Person
from tablewright.domain.model import Noun
from tablewright.doors.api.answers import Json, Page
from tablewright.doors.api.inputs import MOST_ROWS, SOME, Body, Limit, UserName, resource
from tablewright.doors.api.schemas import described
from tablewright.doors.server.context import Visit, Visiting
from tablewright.errors import NotFound
from tablewright.services import Action, AuditEntry, Quota

router = resource("audit")

Most = Annotated[float | None, Value(ge=0, le=1e12)]


class AuditPage(Page, frozen=True):
    entries: tuple[AuditEntry, ...]


class QuotasShown(Noun, frozen=True):
    """`uploads` and `disk` are megabytes. The disk does not renew: it is free again once things are removed. `held` is
    set aside for work under way."""

    name: str
    quotas: tuple[Quota, ...]


class NewLimits(Body):
    """What is left out stays as it is; null: as the server's settings say for everybody."""

    uploads: Most = None
    rows: Most = None
    disk: Most = None
    dollars: Most = None


@router.get("/audit", response_model=described(AuditPage))
async def list_audit(
    visit: Visiting,
    limit: Limit = SOME,
    after: Annotated[
        int, Query(ge=0, le=MOST_ROWS, description="Start after this: the `next` of the previous page.")
    ] = 0,
    action: Annotated[Action | None, Query(description="Only of this kind.")] = None,
    who: Annotated[str, Query(max_length=80, description="Only what this user did.")] = "",
) -> Json:
    """The audit log, newest first: logins, shares, exports, removals and settings. An entry outlives what it is
    about."""
    visit.must_administer()
    found = await visit.services.audit.entries(before=after or None, limit=limit + 1, action=action or "", who=who)
    more = str(found[limit - 1].number) if len(found) > limit else None
    return Json(AuditPage(entries=tuple(found[:limit]), next=more))


@router.get("/quotas", response_model=described(QuotasShown))
async def my_quotas(visit: Visiting) -> Json:
    """Your monthly limits, and what you have used."""
    if visit.person.id == OWNER.id:
        return Json(QuotasShown(name=OWNER.name, quotas=()))
    return Json(await quotas_of(visit, visit.person))


@router.get("/users/{name}/quotas", response_model=described(QuotasShown))
async def user_quotas(visit: Visiting, name: UserName) -> Json:
    """A user's monthly limits, and what they have used."""
    visit.must_administer()
    return Json(await quotas_of(visit, await user_called(visit, name)))


@router.put("/users/{name}/quotas", response_model=described(QuotasShown))
async def limit_user(visit: Visiting, name: UserName, asked: NewLimits) -> Json:
    """Sets limits for one user."""
    visit.must_administer()
    limits: dict[Metered, float | None] = {what: getattr(asked, what) for what in asked.model_fields_set}  # type: ignore[misc]
    await visit.services.limit_user(name, limits)
    return Json(await quotas_of(visit, await user_called(visit, name)))


async def quotas_of(visit: Visit, person: Person) -> QuotasShown:
    return QuotasShown(name=person.name, quotas=tuple(await visit.services.quotas(person)))


async def user_called(visit: Visit, name: str) -> Person:
    found = [person for person in await visit.services.users.all() if person.name == name]
    if not found:
        raise NotFound(f"There is no user {name!r}.")
    return found[0]
