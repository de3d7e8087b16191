"""Who sees what: each thing is its owner's alone until they share it with people by name, or with everyone."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path
from pydantic import Field as Value

from tablewright.domain.access import Shareable, Shared
from tablewright.doors.api.answers import Json
from tablewright.doors.api.inputs import Body, Name, an_id, resource
from tablewright.doors.api.schemas import described
from tablewright.doors.api.visible import not_there
from tablewright.doors.server.context import Visiting

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
        return Json(await visit.tablewright.shared(kind, thing_id))


@router.put("/shares/{kind}/{thing_id}", response_model=described(Shared))
async def share(visit: Visiting, kind: Kind, thing_id: ThingId, asked: ShareWith) -> Json:
    """Shares something with exactly these people. The table of research or of a shortlist, and the rows of a
    conversation's answers, are shared with it; documents quoted in it are not."""
    visit.must_change()
    with not_there(f"{kind} {thing_id!r}"):
        await visit.tablewright.shared(kind, thing_id)
    return Json(await visit.tablewright.share(kind, thing_id, asked.people, everyone=asked.everyone, only=True))
