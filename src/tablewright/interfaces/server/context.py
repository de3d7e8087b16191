"""The person behind a request and the services acting for them, for the routes of the API and the pages alike.

The guard has put the person into the request before any route sees it.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from tablewright.domain.access import Person, Scope
from tablewright.domain.model import Table
from tablewright.errors import Forbidden, NotFound
from tablewright.services import Services


def missing_right(person: Person, scope: Scope, what: str = "You may look, but not change anything.") -> Forbidden:
    """Return the error for a missing right; its advice depends on whether the role or the token lacks it."""
    if person.role == "viewer":
        return Forbidden(what, advice="Ask an admin for the role of an editor.")
    return Forbidden(what, advice=f"Use a token that has the scope {scope}.")


class Visit:
    """A request or an open page: the person, and the services acting for them."""

    def __init__(
        self, person: Person, services: Services, interface: str = "api", *, patience: float | None = None
    ) -> None:
        self.person = person
        self.server = services
        """The services shared by all persons; what the server remembers is kept under it."""
        self.services = services.acting(person.name, person, door=interface, patience=patience)

    async def table(self, name_or_id: str) -> Table:
        """Return a table that the person may see. Others do not exist for them, not even to make a name ambiguous."""
        try:
            return await self.services.table(name_or_id)
        except NotFound:
            raise NotFound(f"There is no table {name_or_id!r}.") from None

    def must_change(self) -> None:
        """Raise Forbidden unless the person may write."""
        if not self.person.may_change:
            raise missing_right(self.person, "write")

    def must_run(self) -> None:
        """Raise Forbidden unless the person may start and stop work that costs money."""
        if not self.person.may_run:
            raise missing_right(self.person, "run", "You may not start or stop work.")

    def must_administer(self) -> None:
        if not self.person.may_administer:
            raise Forbidden("Only an admin may do that.")


async def visit_from_request(request: Request) -> Visit:
    """Return the visit of a request to the API or of a page. `request.app` differs between them; the guard's state of
    the request does not."""
    return Visit(request.state.person, request.state.services, patience=request.state.patience)


Visiting = Annotated[Visit, Depends(visit_from_request)]
