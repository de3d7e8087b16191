"""Who may do what: viewers look, editors change and spend, admins also see to users and see everything.

Each thing belongs to whoever made it, and is theirs alone until they share it with people by name, or with everyone.
Those may see it; a shared table may also be changed by editors. Only its owner, or an admin, shares or removes it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tablewright.domain.model import Noun

Role: TypeAlias = Literal["viewer", "editor", "admin"]
RANKS: tuple[Role, ...] = ("viewer", "editor", "admin")
"""Each may do all that those before it may."""

Scope: TypeAlias = Literal["read", "write", "run", "admin"]
"""What a token allows, of what its user may do: see; change tables and documents; start, resume and stop what asks
models and searches; see to users. Each token reads."""
SCOPES: tuple[Scope, ...] = ("read", "write", "run", "admin")
EVERY_SCOPE: frozenset[Scope] = frozenset(SCOPES)

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
    scopes: frozenset[Scope] = EVERY_SCOPE
    """What the token allows by which they came."""
    expires_at: str = ""
    """When it ends; empty where it does not."""
    link_by: str = ""
    """The id of the admin who made the share link that this is the viewer of; empty for people."""

    def sees(self, table_id: str) -> bool:
        return self.role == "admin" or table_id in self.tables

    def may_all_of(self, before: Person) -> bool:
        """Return True if they may do all that they could, whatever they see."""
        return RANKS.index(self.role) >= RANKS.index(before.role) and self.scopes >= before.scopes

    def has_all_of(self, before: Person) -> bool:
        """Return True if they may do and see all that they could."""
        return self.may_all_of(before) and all(self.sees(table_id) for table_id in before.tables)

    @property
    def may_change(self) -> bool:
        """Write."""
        return self.role != "viewer" and "write" in self.scopes

    @property
    def may_run(self) -> bool:
        """Start what costs money."""
        return self.role != "viewer" and "run" in self.scopes

    @property
    def may_administer(self) -> bool:
        return self.role == "admin" and "admin" in self.scopes


class Token(Noun, frozen=True):
    """What is known of a token; the token itself is kept nowhere. Times are empty where it never expires, or was never
    used."""

    id: str
    user: str
    name: str
    scopes: tuple[Scope, ...]
    created_at: str
    expires_at: str = ""
    last_used_at: str = ""


class Holder(Noun, frozen=True):
    """Who came with a token, and by which."""

    person: Person
    token: Token
    ended: str = ""
    """Why the token lets nobody in any more, although it has not expired."""


class Acting(Noun, frozen=True):
    """In whose name something is done, and through which door. `person` is None for the installation's own."""

    person: Person | None = None
    actor: str = ""
    door: str = "library"


OWNER = Person(id="owner", name="owner", role="admin")
"""Who has the token of the settings, or, without one, sits at this machine."""


class Shared(Noun, frozen=True):
    """Who may see a thing. `owner` is empty where it is the installation's own: then only admins do, and `people`."""

    kind: Shareable
    id: str
    owner: str = ""
    people: tuple[str, ...] = ()
    everyone: bool = False


class Quota(Noun, frozen=True):
    """`most` is None without a limit; `renews_on` is empty for the disk: it is free again once things are removed.
    `held` is set aside for work under way, beside what is used."""

    what: Metered
    used: float
    most: float | None = None
    renews_on: str = ""
    held: float = 0.0


Action: TypeAlias = Literal[
    "login", "logout", "share", "unshare", "export", "remove", "user", "role", "token", "settings"
]


class AuditEntry(Noun, frozen=True):
    """`thing` says what of which kind, e.g. "table companies-x7k2"; `detail` the rest, in words."""

    number: int
    at: str
    who: str
    door: str
    action: Action
    thing: str
    detail: str = ""
