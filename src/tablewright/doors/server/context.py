"""Who asks, and what is done in their name: for the routes of the API and the pages alike.

The guard has put the person into the request before any route sees it.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from tablewright.domain.access import Person, Scope
from tablewright.domain.model import Table
from tablewright.errors import Forbidden, NotFound
from tablewright.services import Services

ONLY_LOOK = "You may look, but not change anything."


def advice_for(person: Person, scope: Scope) -> str:
    """Whether it is the role or the token that does not allow it."""
    if person.role == "viewer":
        return "Ask an admin for the role of an editor."
    return f"Use a token that has the scope {scope}."


class Visit:
    """One request, or one open page: the person, and Tablewright in their name."""

    def __init__(self, person: Person, services: Services, door: str = "api", *, patience: float | None = None) -> None:
        self.person = person
        self.server = services
        """The same for all who are served: what a server remembers is kept under it."""
        self.services = services.acting(person.name, person, door=door, patience=patience)

    async def table(self, name_or_id: str) -> Table:
        """A table that the person may see; others are not there, not even as namesakes."""
        try:
            return await self.services.table(name_or_id)
        except NotFound:
            raise NotFound(f"There is no table {name_or_id!r}.") from None

    def must_change(self) -> None:
        """Before whatever writes."""
        if not self.person.may_change:
            raise Forbidden(ONLY_LOOK, advice=advice_for(self.person, "write"))

    def must_run(self) -> None:
        """Before whatever starts, or stops, work that costs money."""
        if not self.person.may_run:
            raise Forbidden("You may not start or stop work.", advice=advice_for(self.person, "run"))

    def must_administer(self) -> None:
        if not self.person.may_administer:
            raise Forbidden("Only an admin may do that.")


async def visit(request: Request) -> Visit:
    """Also in a page, whose `request.app` is another: what the guard put into the request is in both."""
    return Visit(request.state.person, request.state.services, patience=request.state.patience)


Visiting = Annotated[Visit, Depends(visit)]
