"""Who may do what: viewers look, editors change and spend, admins also see to users. Tables have their own viewers."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tablewright.table.model import Noun

Role: TypeAlias = Literal["viewer", "editor", "admin"]
RANKS: tuple[Role, ...] = ("viewer", "editor", "admin")
"""Each may do all that those before it may."""


class Person(Noun, frozen=True):
    """Somebody who uses Tablewright through a server. `tables` are those they may see; an admin sees all."""

    id: str
    name: str
    role: Role
    tables: frozenset[str] = frozenset()

    def sees(self, table_id: str) -> bool:
        return self.role == "admin" or table_id in self.tables

    @property
    def among(self) -> frozenset[str] | None:
        """The tables to which their lists are limited; None for whoever sees all."""
        return None if self.role == "admin" else self.tables

    def may_all_of(self, before: Person) -> bool:
        """Whether they may do all that they could, whatever they see."""
        return RANKS.index(self.role) >= RANKS.index(before.role)

    def has_all_of(self, before: Person) -> bool:
        """Whether they may do and see all that they could."""
        return self.may_all_of(before) and all(self.sees(table_id) for table_id in before.tables)

    @property
    def may_change(self) -> bool:
        """Write, and start what costs money."""
        return self.role != "viewer"

    @property
    def may_administer(self) -> bool:
        return self.role == "admin"


OWNER = Person(id="owner", name="owner", role="admin")
"""Who has the token of the settings, or, without one, sits at this machine."""
