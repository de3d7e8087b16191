"""Who may do what: viewers look, editors change and spend, admins also see to users and see everything.

Each thing belongs to whoever made it, and is theirs alone until they share it with people by name, or with everyone.
Those may see it; a shared table may also be changed by editors. Only its owner, or an admin, shares or removes it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import field

from tablewright.table.model import Noun

Role: TypeAlias = Literal["viewer", "editor", "admin"]
RANKS: tuple[Role, ...] = ("viewer", "editor", "admin")
"""Each may do all that those before it may."""

Shareable: TypeAlias = Literal["table", "document", "conversation", "result", "research", "shortlist"]
"""What belongs to somebody."""

Metered: TypeAlias = Literal["uploads", "rows", "disk", "dollars"]
"""What a person may have a limit of: megabytes handed in, rows added and dollars spent in a month; megabytes kept."""
METERED: tuple[Metered, ...] = ("uploads", "rows", "disk", "dollars")

EVERYONE = "*"
"""In the place of a user's id: shared with all who may use the server."""


class Person(Noun, frozen=True):
    """Somebody who uses Tablewright through a server. `tables` are those they may see; an admin sees all."""

    id: str
    name: str
    role: Role
    tables: frozenset[str] = frozenset()
    limits: dict[Metered, float] = field(default_factory=dict)
    """Those that an admin gave them; the settings have those of all others."""

    def sees(self, table_id: str) -> bool:
        return self.role == "admin" or table_id in self.tables

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


class Acting(Noun, frozen=True):
    """In whose name something is done, and through which door. `person` is None for the installation's own; `limits`
    is the most that they may use of each thing in a month."""

    person: Person | None = None
    actor: str = ""
    door: str = "library"
    limits: dict[Metered, float] = field(default_factory=dict)


OWNER = Person(id="owner", name="owner", role="admin")
"""Who has the token of the settings, or, without one, sits at this machine."""


class Shared(Noun, frozen=True):
    """Who may see a thing. `owner` is empty where it is the installation's own: then only admins do, and `people`."""

    kind: Shareable
    id: str
    owner: str = ""
    people: tuple[str, ...] = ()
    everyone: bool = False
