"""Signing in with an OpenID Connect provider: the authorization code flow with PKCE, a state and a nonce.

Authlib speaks the protocol and joserfc checks signatures; here is what makes a login safe: that the browser which comes
back is the one that left, that it comes back once and in time, and that the token is this provider's, for us, of this
login, and signed with a key it publishes. Keys are asked for anew when a token names one that is not known (rotation).
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tablewright.domain.access import RANKS, Person, Role
from tablewright.doors.server.errors import NotLoggedIn
from tablewright.doors.server.origin import is_loopback
from tablewright.errors import BadSetting, UsageError
from tablewright.extras import need
from tablewright.keys import as_key, guard_client, origin_of
from tablewright.services import Services
from tablewright.settings import Settings

BEGIN = "/login/oidc"
CALLBACK = "/login/oidc/callback"
COOKIE = "tablewright_oidc"
IN_TIME = 600.0
"""Seconds between leaving for the provider and coming back."""
MOST_UNDER_WAY = 10_000
ANSWERS_IN = 15.0
LEEWAY = 60
"""Seconds that two clocks may differ."""
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""With a public key alone: never `none`, and no secret that both sides have."""
TRY_AGAIN = "Go back to the login and try again."


class Begun(NamedTuple):
    """A login under way. `browser` is in a cookie of whoever began it."""

    nonce: str
    verifier: str
    next: str
    browser: str
    redirect: str
    at: float


@dataclass(frozen=True)
class Left:
    """Where to send the browser, and what it must bring back."""

    address: str
    browser: str


@dataclass(frozen=True)
class Returned:
    """Whom the provider vouches for, and the page they wanted."""

    issuer: str
    claims: Mapping[str, Any]
    next: str


class OidcLogin:
    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self.issuer = settings.oidc_issuer.rstrip("/")
        self.name = settings.oidc_name or urlsplit(self.issuer).hostname or "OpenID Connect"
        self._client_id = settings.oidc_client_id
        self._secret = as_key(settings.oidc_client_secret, "oidc_client_secret", {"oidc_issuer": self.issuer})
        self._scope = " ".join(dict.fromkeys(("openid", *settings.oidc_scopes.split())))
        self._clock = clock
        self._under_way: OrderedDict[str, Begun] = OrderedDict()
        self._metadata: dict[str, Any] = {}
        self._keys: Any = None
        self._looking = asyncio.Lock()
        self._check_settings()

    def _check_settings(self) -> None:
        parts = urlsplit(self.issuer)
        plain = parts.scheme == "http" and is_loopback(parts.hostname or "")
        if not parts.hostname or (parts.scheme != "https" and not plain) or parts.query or parts.fragment:
            raise BadSetting(
                "oidc_issuer must be the https address of the provider.", advice="Set it as the provider spells it."
            )
        if not self._client_id:
            raise BadSetting("oidc_issuer is set, but oidc_client_id is not.", advice="The provider gives you one.")
        self._secret.check(self.issuer)
        need("oidc", "Signing in with a provider")

    # ── there ────────────────────────────────────────────────────────────────────────────────────────────────────────

    async def leave(self, next: str, redirect: str) -> Left:
        metadata = await self._discover()
        state, begun = secrets.token_urlsafe(24), self._clock()
        login = Begun(
            nonce=secrets.token_urlsafe(24),
            verifier=secrets.token_urlsafe(48),
            next=next,
            browser=secrets.token_urlsafe(24),
            redirect=redirect,
            at=begun,
        )
        async with self._client(redirect) as client:
            address, _ = client.create_authorization_url(
                metadata["authorization_endpoint"], state=state, nonce=login.nonce, code_verifier=login.verifier
            )
        self._under_way[state] = login
        while len(self._under_way) > MOST_UNDER_WAY or next_is_late(self._under_way, begun):
            self._under_way.popitem(last=False)
        return Left(address=address, browser=login.browser)

    # ── and back ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def come_back(self, query: Mapping[str, str], browser: str) -> Returned:
        """Each state is good for one try, by the browser that it was made for."""
        login = self._under_way.pop(query.get("state", ""), None)
        if login is None or self._clock() - login.at > IN_TIME:
            raise NotLoggedIn("This login was not begun here, or took too long.", advice=TRY_AGAIN)
        if not hmac.compare_digest(login.browser.encode(), browser.encode("utf-8", "replace")):
            raise NotLoggedIn("This login was begun in another browser.", advice=TRY_AGAIN)
        if "error" in query or not query.get("code"):
            raise NotLoggedIn(f"{self.name} did not sign you in.", advice=TRY_AGAIN)
        if query.get("iss", self._metadata["issuer"]) != self._metadata["issuer"]:
            raise NotLoggedIn("The answer comes from another provider.", advice=TRY_AGAIN)
        claims = await self._check(await self._exchange(query["code"], login), login.nonce)
        return Returned(issuer=self.issuer, claims=claims, next=login.next)

    async def _exchange(self, code: str, login: Begun) -> str:
        import httpx
        from authlib.common.errors import AuthlibBaseError

        try:
            async with self._client(login.redirect) as client:
                answer = await client.fetch_token(
                    self._metadata["token_endpoint"], code=code, code_verifier=login.verifier
                )
        except (AuthlibBaseError, httpx.HTTPError, ValueError):
            raise NotLoggedIn(f"{self.name} did not confirm the login.", advice=TRY_AGAIN) from None
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise NotLoggedIn(f"{self.name} did not say who you are.", advice="Its client must allow `openid`.")
        return token

    async def _check(self, token: str, nonce: str) -> Mapping[str, Any]:
        from joserfc.errors import JoseError
        from joserfc.jwt import JWTClaimsRegistry

        try:
            claims: dict[str, Any] = await self._verified(token)
            JWTClaimsRegistry(
                leeway=LEEWAY,
                iss={"essential": True, "value": self._metadata["issuer"]},
                sub={"essential": True},
                aud={"essential": True, "value": self._client_id},
                exp={"essential": True},
                iat={"essential": True},
                nonce={"essential": True, "value": nonce},
            ).validate(claims)
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise NotLoggedIn(
                f"What {self.name} said cannot be trusted ({type(error).__name__}).",
                advice="If this keeps happening, the settings of the provider and of this server do not match.",
            ) from None
        others = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", self._client_id) != self._client_id or (others and "azp" not in claims):
            raise NotLoggedIn(f"What {self.name} said is meant for another program.", advice=TRY_AGAIN)
        return claims

    async def _verified(self, token: str) -> dict[str, Any]:
        """A key that is not known may be new; the provider is asked for its keys once more."""
        from joserfc import jwt
        from joserfc.errors import BadSignatureError, InvalidKeyIdError, MissingKeyError
        from joserfc.jwk import KeySet

        asked = self._metadata.get("id_token_signing_alg_values_supported") or ["RS256"]
        algorithms = [each for each in asked if each in ALGORITHMS]
        for fresh in (False, True):
            if self._keys is None or fresh:
                published: Any = await self._get(self._metadata["jwks_uri"])
                self._keys = KeySet.import_key_set(published)
            try:
                return dict(jwt.decode(token, self._keys, algorithms=algorithms).claims)
            except (InvalidKeyIdError, MissingKeyError, BadSignatureError):
                if fresh:
                    raise
        raise AssertionError

    # ── the provider ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def _discover(self) -> dict[str, Any]:
        async with self._looking:
            if not self._metadata:
                found = await self._get(f"{self.issuer}/.well-known/openid-configuration")
                said = str(found.get("issuer", ""))
                needed = ("authorization_endpoint", "token_endpoint", "jwks_uri")
                if said.rstrip("/") != self.issuer or not all(self._is_safe(found.get(each)) for each in needed):
                    raise BadSetting(
                        f"{self.name} describes itself as another provider, or without https.",
                        advice="Set oidc_issuer as the provider spells it.",
                    )
                self._metadata = found
        return self._metadata

    def _is_safe(self, address: object) -> bool:
        parts = urlsplit(str(address or ""))
        return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))

    async def _get(self, address: str) -> dict[str, Any]:
        import httpx

        try:
            async with httpx.AsyncClient(timeout=ANSWERS_IN, follow_redirects=False) as client:
                answer = (await client.get(address)).raise_for_status().json()
        except (httpx.HTTPError, ValueError):
            answer = None
        if not isinstance(answer, dict):
            raise NotLoggedIn(f"{self.name} cannot be reached now.", advice="Try again later, or use a token.")
        return answer

    def _client(self, redirect: str) -> Any:
        from authlib.integrations.httpx_client import AsyncOAuth2Client

        client = AsyncOAuth2Client(
            self._client_id,
            self._secret or None,
            scope=self._scope,
            redirect_uri=redirect,
            code_challenge_method="S256",
            token_endpoint_auth_method="client_secret_basic" if self._secret else "none",
            timeout=ANSWERS_IN,
            follow_redirects=False,
        )
        # The issuer itself says, over a connection that was checked, where tokens are handed out.
        return guard_client(client, self._secret.also_for([origin_of(self._metadata["token_endpoint"])]))


def next_is_late(under_way: OrderedDict[str, Begun], now: float) -> bool:
    oldest = next(iter(under_way.values()), None)
    return oldest is not None and now - oldest.at > IN_TIME


# ── the user for whom a provider vouches ────────────────────────────────────────────────────────────────────────────
# Who somebody is here for whom a provider vouches: found by what the provider calls them for good, else matched with
# a user who was added before, else made, as the settings say.


ASK = "Ask an admin of this server to add you."


class Accounts:
    def __init__(self, services: Services) -> None:
        self._users = services.store.users
        settings = services.settings
        self._creates = settings.oidc_accounts == "create"
        self._role = settings.oidc_role
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
        rules.append((claim.strip(), value.strip(), as_role(role.strip())))
    return rules


def as_role(word: str) -> Role:
    for role in RANKS:
        if word == role:
            return role
    raise BadSetting(f"oidc_roles has {word!r}.", advice=f"Use one of {', '.join(RANKS)}.")
