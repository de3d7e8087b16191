"""Who somebody is here for whom a provider vouches: found by what the provider calls them for good, else matched with a
user who was added before, else made, as the settings say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from tablewright.app import Tablewright
from tablewright.domain.access import RANKS, Person, Role
from tablewright.doors.server.errors import NotLoggedIn
from tablewright.errors import BadSetting, UsageError
from tablewright.settings import Settings

ASK = "Ask an admin of this server to add you."


class Accounts:
    def __init__(self, tablewright: Tablewright) -> None:
        self._users = tablewright.users
        settings = tablewright.settings
        self._creates = (
            checked(settings.oidc_accounts.strip() or "match", ("match", "create"), "oidc_accounts") == "create"
        )
        self._role: Role = as_role(settings.oidc_role.strip() or "viewer", "oidc_role")
        self._roles = role_rules(settings)

    async def person(self, issuer: str, claims: Mapping[str, Any]) -> Person:
        subject = str(claims["sub"])
        found = await self._users.signed_in(issuer, subject)
        role = self._mapped_role(claims)
        if found is None:
            found = await self._first_time(issuer, subject, claims, role)
        if role and found.role != role:
            await self._users.change_role(found.name, role)
            found = await self._users.by_id(found.id)
        return found

    async def _first_time(self, issuer: str, subject: str, claims: Mapping[str, Any], role: Role | None) -> Person:
        names = names_in(claims)
        if not self._creates:
            for name in names:
                if person := await self._users.link(name, issuer, subject):
                    return person
            raise NotLoggedIn("You are signed in, but you are no user of this server.", advice=ASK)
        if not names:
            raise NotLoggedIn("The provider gave neither a user name nor a verified e-mail address.", advice=ASK)
        try:
            return await self._users.add_signed_in(names[0], role or self._role, issuer, subject)
        except UsageError as error:  # the name is somebody else's, or cannot be one
            raise NotLoggedIn(f"No account could be made for you: {error.what}", advice=ASK) from None

    def _mapped_role(self, claims: Mapping[str, Any]) -> Role | None:
        """The highest of those that the settings give for what the provider says; None where no rule fits."""
        fitting = [role for claim, value, role in self._roles if value in values_of(claims.get(claim))]
        if not fitting:
            return self._role if self._roles else None
        return max(fitting, key=RANKS.index)


def names_in(claims: Mapping[str, Any]) -> list[str]:
    """An e-mail address counts only if the provider has verified it."""
    name, email = claims.get("preferred_username"), claims.get("email")
    verified = email if claims.get("email_verified") is True else None
    return [each.strip() for each in (name, verified) if isinstance(each, str) and each.strip()]


def values_of(claim: Any) -> list[str]:
    return [str(each) for each in claim] if isinstance(claim, list) else [] if claim is None else [str(claim)]


def role_rules(settings: Settings) -> list[tuple[str, str, Role]]:
    rules = []
    for rule in filter(None, (each.strip() for each in settings.oidc_roles.split(","))):
        said, colon, role = rule.rpartition(":")
        claim, equals, value = said.partition("=")
        if not (colon and equals and claim.strip() and value.strip()):
            raise BadSetting(f"oidc_roles has {rule!r}.", advice="Write it as claim=value:role, e.g. groups=it:admin.")
        rules.append((claim.strip(), value.strip(), as_role(role.strip(), "oidc_roles")))
    return rules


def as_role(word: str, setting: str) -> Role:
    return checked(word, get_args(Role), setting)  # type: ignore[return-value]


def checked(word: str, known: tuple[str, ...], setting: str) -> str:
    if word not in known:
        raise BadSetting(f"{setting} has {word!r}.", advice=f"Use one of {', '.join(known)}.")
    return word
