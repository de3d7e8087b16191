"""Who asks, and what is done in their name: for the routes of the API and the pages alike.

The guard has put the person into the request before any route sees it.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from tablewright.app import Tablewright
from tablewright.errors import Forbidden, NotFound
from tablewright.table.access import Person
from tablewright.table.model import Table


class Visit:
    """One request, or one open page: the person, and Tablewright in their name."""

    def __init__(self, person: Person, tablewright: Tablewright) -> None:
        self.person = person
        self.tablewright = tablewright.acting(person.name)

    async def table(self, name_or_id: str) -> Table:
        """A table that the person may see; others are not there, not even as namesakes."""
        if self.person.sees(name_or_id):
            return await self.tablewright.table(name_or_id)
        named = [table.id for table in await self.tablewright.tables() if table.name == name_or_id]
        seen = [table_id for table_id in named if self.person.sees(table_id)]
        if len(seen) != 1:
            raise NotFound(f"There is no table {name_or_id!r}.")
        return await self.tablewright.table(seen[0])

    def must_change(self) -> None:
        """Before whatever writes, or costs money."""
        if not self.person.may_change:
            raise Forbidden("You may look, but not change anything.", advice="Ask an admin for the role of an editor.")

    def must_administer(self) -> None:
        if not self.person.may_administer:
            raise Forbidden("Only an admin may do that.")

    async def own(self, table_id: str) -> None:
        """A new table is seen by whoever made it."""
        if self.person.role != "admin":
            await self.tablewright.users.grant(self.person.name, table_id)


async def visit(request: Request) -> Visit:
    """Also in a page, whose `request.app` is another: what the guard put into the request is in both."""
    return Visit(request.state.person, request.state.tablewright)


Visiting = Annotated[Visit, Depends(visit)]
