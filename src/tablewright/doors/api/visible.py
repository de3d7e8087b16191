"""What a person may see: the store shows each their own and what is shared with them; all else is not there. Tables are
known by their id."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import Path
from pydantic import Field as Value

from tablewright.domain.access import Shareable, Shared
from tablewright.domain.model import Table
from tablewright.domain.shortlist import ShortlistState
from tablewright.doors.api.answers import Json
from tablewright.doors.api.inputs import Body, Name, an_id, resource
from tablewright.doors.api.schemas import described
from tablewright.doors.server.context import Visit, Visiting
from tablewright.errors import NotFound


async def seen_table(visit: Visit, table_id: str) -> Table:
    if not visit.person.sees(table_id):  # before the name is looked up: others' tables may be called the same
        raise NotFound(f"There is no table {table_id!r}.")
    return await visit.table(table_id)


async def seen_shortlist(visit: Visit, shortlist_id: str) -> ShortlistState:
    with not_there(f"shortlist {shortlist_id!r}"):
        return await visit.services.shortlist(shortlist_id)


@contextmanager
def not_there(what: str) -> Iterator[None]:
    """In the words of the API, and the same for what is somebody else's as for what never was."""
    try:
        yield
    except NotFound:
        raise NotFound(f"There is no {what}.") from None


# ── sharing ─────────────────────────────────────────────────────────────────────────────────────────────────────────
# Who sees what: each thing is its owner's alone until they share it with people by name, or with everyone.


router = resource("sharing")

Kind = Annotated[Shareable, Path(description="What it is.")]
ThingId = Annotated[str, an_id("thing")]


class ShareWith(Body):
    """Who may see it from now on, beside its owner: nobody else where both are left out."""

    people: list[Name] = Value([], max_length=500, description="The names of users.")
    everyone: bool = Value(False, description="All who may use the server.")


@router.get("/shares/{kind}/{thing_id}", response_model=described(Shared))
async def get_sharing(visit: Visiting, kind: Kind, thing_id: ThingId) -> Json:
    """Who can see something of yours."""
    with not_there(f"{kind} {thing_id!r}"):
        return Json(await visit.services.shared(kind, thing_id))


@router.put("/shares/{kind}/{thing_id}", response_model=described(Shared))
async def share(visit: Visiting, kind: Kind, thing_id: ThingId, asked: ShareWith) -> Json:
    """Shares something with exactly these people. The table of research or of a shortlist, and the rows of a
    conversation's answers, are shared with it; documents quoted in it are not."""
    visit.must_change()
    with not_there(f"{kind} {thing_id!r}"):
        await visit.services.shared(kind, thing_id)
    return Json(await visit.services.share(kind, thing_id, asked.people, everyone=asked.everyone, only=True))
