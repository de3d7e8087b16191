"""Roles and permissions: viewers read, editors change and spend, admins also manage users and see everything.

Each thing belongs to the user who made it and is private until they share it with named people or with everyone. Those
people can see it; editors can also change a shared table. Only its owner or an admin can share or remove it.

Types and rules only: the store keeps users and shares, and `interfaces/server` enforces them."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tablewright.domain.model import Struct

Role: TypeAlias = Literal["viewer", "editor", "admin"]
# In rising order: each role may do everything that those before it may.
ROLE_RANKS: tuple[Role, ...] = ("viewer", "editor", "admin")

# Narrows what a token may do, within its user's role: read; change tables and documents; start, resume and stop work
# that asks models and search providers; manage users. Every token reads.
Scope: TypeAlias = Literal["read", "write", "run", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "write", "run", "admin")
EVERY_SCOPE: frozenset[Scope] = frozenset(SCOPES)

# Kinds of things that have an owner.
Shareable: TypeAlias = Literal["table", "document", "conversation", "result", "research", "shortlist"]

# Resources with a quota: megabytes uploaded, rows added and dollars spent per month; megabytes stored.
MeteredResource: TypeAlias = Literal["uploads", "rows", "disk", "dollars"]
METERED_RESOURCES: tuple[MeteredResource, ...] = ("uploads", "rows", "disk", "dollars")

# Stands for every user of the server, in the place of a user's id.
EVERYONE = "*"


class Person(Struct, frozen=True):
    """A user of a server. `tables` are the ids of the tables they may see; an admin sees all."""

    id: str
    name: str
    role: Role
    tables: frozenset[str] = frozenset()
    scopes: frozenset[Scope] = EVERY_SCOPE
    """The scopes of the token that they logged in with."""
    expires_at: str = ""
    """Expiry of that token; "" if it never expires."""
    link_by: str = ""
    """For the viewer of a share link: the id of the admin who made the link. Empty for people."""

    def sees(self, table_id: str) -> bool:
        return self.role == "admin" or table_id in self.tables

    def may_all_of(self, before: Person) -> bool:
        """Return True if they still may do everything that `before` could, whatever they may see."""
        return ROLE_RANKS.index(self.role) >= ROLE_RANKS.index(before.role) and self.scopes >= before.scopes

    def has_all_of(self, before: Person) -> bool:
        """Return True if they still may do and see everything that `before` could."""
        return self.may_all_of(before) and all(self.sees(table_id) for table_id in before.tables)

    @property
    def may_change(self) -> bool:
        """Return True if they may change data."""
        return self.role != "viewer" and "write" in self.scopes

    @property
    def may_run(self) -> bool:
        """Return True if they may start work that costs money."""
        return self.role != "viewer" and "run" in self.scopes

    @property
    def may_administer(self) -> bool:
        return self.role == "admin" and "admin" in self.scopes


class Token(Struct, frozen=True):
    """The record of an access token; the secret itself is never stored. `expires_at` is empty if it never expires,
    `last_used_at` if it was never used."""

    id: str
    user: str
    name: str
    scopes: tuple[Scope, ...]
    created_at: str
    expires_at: str = ""
    last_used_at: str = ""


class TokenHolder(Struct, frozen=True):
    """A user with the token that they presented."""

    person: Person
    token: Token
    ended: str = ""
    """Why the token is no longer accepted although it has not expired."""


class ActingUser(Struct, frozen=True):
    """The user on whose behalf an operation runs, and the interface (`door`) they use. `person` is None for work of the
    installation itself."""

    person: Person | None = None
    actor: str = ""
    door: str = "library"


# The user with the token of the settings or, without such a token, the user of this machine.
INSTALLATION_OWNER = Person(id="owner", name="owner", role="admin")


class SharedThing(Struct, frozen=True):
    """The people with access to a thing, besides its `owner`. Without an owner it belongs to the installation, and only
    admins and `people` see it."""

    kind: Shareable
    id: str
    owner: str = ""
    people: tuple[str, ...] = ()
    everyone: bool = False


class Quota(Struct, frozen=True):
    """The use of a limited resource. `most` is None without a limit. `renews_on` is empty for disk space, which becomes
    free when things are removed. `held` is reserved for running work, in addition to `used`."""

    what: MeteredResource
    used: float
    most: float | None = None
    renews_on: str = ""
    held: float = 0.0


Action: TypeAlias = Literal[
    "login", "logout", "share", "unshare", "export", "remove", "user", "role", "token", "settings"
]


class AuditEntry(Struct, frozen=True):
    """One line of the audit log. `thing` is a kind and an id, such as "table companies-x7k2"."""

    number: int
    at: str
    who: str
    door: str
    action: Action
    thing: str
    detail: str = ""
