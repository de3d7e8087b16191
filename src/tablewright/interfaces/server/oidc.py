"""Signing in with an OpenID Connect provider: the authorization code flow with PKCE, a state and a nonce.

Authlib speaks the protocol and joserfc checks signatures. This module checks that the browser which returns is the one
that left, that it returns once and in time, and that the token is this provider's, for us, of this login, and signed
with a published key. Keys are fetched again when a token names an unknown one (rotation).
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

from tablewright.domain.access import ROLE_RANKS, Person, Role
from tablewright.errors import BadSetting, UsageError
from tablewright.extras import require_extra
from tablewright.interfaces.server.errors import NotLoggedIn
from tablewright.interfaces.server.origin import is_loopback
from tablewright.keys import bind_key, guard_client, origin_of
from tablewright.services import Services
from tablewright.settings import Settings

OIDC_PATH = "/login/oidc"
OIDC_CALLBACK_PATH = "/login/oidc/callback"
OIDC_COOKIE = "tablewright_oidc"
# From leaving for the provider until the return: enough for a second factor.
OIDC_LOGIN_SECONDS = 600.0
# Timeout for an answer of the provider.
PROVIDER_SECONDS = 15.0
TRY_AGAIN = "Go back to the login and try again."


class PendingLogin(NamedTuple):
    """A login under way. `browser` is a random value, also in a cookie of the browser that began it."""

    nonce: str
    verifier: str
    next: str
    browser: str
    redirect: str
    at: float


@dataclass(frozen=True)
class AuthorizationRedirect:
    """The provider's address to redirect to, and the value of the cookie that the browser must return with."""

    address: str
    browser: str


@dataclass(frozen=True)
class ProviderIdentity:
    """The claims of a person that the provider signed in, and the page to open next."""

    issuer: str
    claims: Mapping[str, Any]
    next: str


class OidcLogin:
    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self.issuer = settings.oidc_issuer.rstrip("/")
        self.name = settings.oidc_name or urlsplit(self.issuer).hostname or "OpenID Connect"
        self._client_id = settings.oidc_client_id
        self._secret = bind_key(settings.oidc_client_secret, "oidc_client_secret", {"oidc_issuer": self.issuer})
        self._scope = " ".join(dict.fromkeys(("openid", *settings.oidc_scopes.split())))
        self._clock = clock
        self._under_way: OrderedDict[str, PendingLogin] = OrderedDict()
        self._metadata: dict[str, Any] = {}
        self._keys: Any = None
        self._looking = asyncio.Lock()
        self._check_settings()

    def _check_settings(self) -> None:
        parts = urlsplit(self.issuer)
        plain = parts.scheme == "http" and is_loopback(parts.hostname or "")
        if not parts.hostname or (parts.scheme != "https" and not plain) or parts.query or parts.fragment:
            raise BadSetting(
                "oidc_issuer must be the https address of the provider.", advice="Copy it from the provider exactly."
            )
        if not self._client_id:
            raise BadSetting("oidc_issuer is set, but oidc_client_id is not.", advice="The provider gives you one.")
        self._secret.check(self.issuer)
        require_extra("oidc", "Signing in with a provider")

    # ── to the provider ──────────────────────────────────────────────────────────────────────────────────────────────

    async def begin_login(self, next: str, redirect: str) -> AuthorizationRedirect:
        metadata = await self._discover()
        # 192 random bits for state and nonce; the verifier has 64 characters, within the 43 to 128 that PKCE asks for.
        state, begun = secrets.token_urlsafe(24), self._clock()
        login = PendingLogin(
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
        # Logins under way; the oldest are dropped, so that a flood of them cannot fill the memory.
        while len(self._under_way) > 10_000 or oldest_has_expired(self._under_way, begun):
            # Oldest first: expired logins, and then those over the limit.
            self._under_way.popitem(last=False)
        return AuthorizationRedirect(address=address, browser=login.browser)

    # ── and back ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def finish_login(self, query: Mapping[str, str], browser: str) -> ProviderIdentity:
        """Return the identity. Each state is good for one attempt, by the browser that it was made for."""
        # Taken out before any check, so that a state is good for one attempt.
        login = self._under_way.pop(query.get("state", ""), None)
        if login is None or self._clock() - login.at > OIDC_LOGIN_SECONDS:
            raise NotLoggedIn("This login was not started here, or took too long.", advice=TRY_AGAIN)
        # In constant time, as every comparison of a secret.
        if not hmac.compare_digest(login.browser.encode(), browser.encode("utf-8", "replace")):
            raise NotLoggedIn("This login was started in another browser.", advice=TRY_AGAIN)
        if "error" in query or not query.get("code"):
            raise NotLoggedIn(f"{self.name} did not sign you in.", advice=TRY_AGAIN)
        if query.get("iss", self._metadata["issuer"]) != self._metadata["issuer"]:
            raise NotLoggedIn("The answer comes from another provider.", advice=TRY_AGAIN)
        claims = await self._check(await self._exchange(query["code"], login), login.nonce)
        return ProviderIdentity(issuer=self.issuer, claims=claims, next=login.next)

    async def _exchange(self, code: str, login: PendingLogin) -> str:
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
                # Seconds that the two clocks may differ.
                leeway=60,
                iss={"essential": True, "value": self._metadata["issuer"]},
                sub={"essential": True},
                aud={"essential": True, "value": self._client_id},
                exp={"essential": True},
                iat={"essential": True},
                nonce={"essential": True, "value": nonce},
            ).validate(claims)
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise NotLoggedIn(
                f"The answer of {self.name} is not valid ({type(error).__name__}).",
                advice="If this keeps happening, the settings of the provider and of this server do not match.",
            ) from None
        # A token for several audiences must name us as the authorized party.
        others = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", self._client_id) != self._client_id or (others and "azp" not in claims):
            raise NotLoggedIn(f"The answer of {self.name} is for another program.", advice=TRY_AGAIN)
        return claims

    async def _verified(self, token: str) -> dict[str, Any]:
        """Return the claims of a token. An unknown key may be new, so the keys are then fetched once more."""
        from joserfc import jwt
        from joserfc.errors import BadSignatureError, InvalidKeyIdError, MissingKeyError
        from joserfc.jwk import KeySet

        supported = self._metadata.get("id_token_signing_alg_values_supported") or ["RS256"]
        algorithms = [
            each
            for each in supported
            if each in ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
        ]
        # Twice at most, so that forged tokens cannot make this server ask the provider again and again.
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
        # Concurrent logins wait for one request instead of each sending their own.
        async with self._looking:
            if not self._metadata:
                found = await self._get(f"{self.issuer}/.well-known/openid-configuration")
                issuer = str(found.get("issuer", ""))
                needed = ("authorization_endpoint", "token_endpoint", "jwks_uri")
                if issuer.rstrip("/") != self.issuer or not all(self._is_safe(found.get(each)) for each in needed):
                    raise BadSetting(
                        f"{self.name} describes itself as another provider, or without https.",
                        advice="Set oidc_issuer exactly as the provider gives it.",
                    )
                self._metadata = found
        return self._metadata

    def _is_safe(self, address: object) -> bool:
        parts = urlsplit(str(address or ""))
        return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))

    async def _get(self, address: str) -> dict[str, Any]:
        import httpx

        try:
            async with httpx.AsyncClient(timeout=PROVIDER_SECONDS, follow_redirects=False) as client:
                answer = (await client.get(address)).raise_for_status().json()
        except (httpx.HTTPError, ValueError):
            answer = None
        if not isinstance(answer, dict):
            raise NotLoggedIn(f"{self.name} did not answer.", advice="Try again later, or use a token.")
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
            timeout=PROVIDER_SECONDS,
            follow_redirects=False,
        )
        # The issuer names the token endpoint over a checked connection, so the secret may go there too.
        return guard_client(client, self._secret.also_for([origin_of(self._metadata["token_endpoint"])]))


def oldest_has_expired(under_way: OrderedDict[str, PendingLogin], now: float) -> bool:
    oldest = next(iter(under_way.values()), None)
    return oldest is not None and now - oldest.at > OIDC_LOGIN_SECONDS


# ── accounts of people who signed in with a provider ────────────────────────────────────────────────────────────────


ASK_ADMIN = "Ask an admin of this server to add you."


class OidcAccounts:
    """Find the user of a person whom the provider signed in: by the provider's permanent identifier, else by the name
    of a user who was added before, else by adding one, as the settings say."""

    def __init__(self, services: Services) -> None:
        self._users = services.store.users
        settings = services.settings
        self._creates = settings.oidc_accounts == "create"
        self._role = settings.oidc_role
        self._roles = parse_role_rules(settings)

    async def find_or_add(self, issuer: str, claims: Mapping[str, Any]) -> Person:
        subject = str(claims["sub"])
        # The provider's identifier never changes; names and addresses may go to another person.
        found = await self._users.signed_in(issuer, subject)
        role = self._mapped_role(claims)
        if found is None:
            found = await self._first_time(issuer, subject, claims, role)
        if role and found.role != role:
            await self._users.change_role(found.name, role)
            found = await self._users.by_id(found.id)
        return found

    async def _first_time(self, issuer: str, subject: str, claims: Mapping[str, Any], role: Role | None) -> Person:
        names = claimed_names(claims)
        if not self._creates:
            for name in names:
                if person := await self._users.link(name, issuer, subject):
                    return person
            raise NotLoggedIn("You are signed in, but you are not a user of this server.", advice=ASK_ADMIN)
        if not names:
            raise NotLoggedIn("The provider gave neither a user name nor a verified e-mail address.", advice=ASK_ADMIN)
        try:
            return await self._users.add_signed_in(names[0], role or self._role, issuer, subject)
        except UsageError as error:  # the name is taken or invalid
            raise NotLoggedIn(f"No account could be made for you: {error.what}", advice=ASK_ADMIN) from None

    def _mapped_role(self, claims: Mapping[str, Any]) -> Role | None:
        """Return the highest role that the settings give for the claims; None if there are no rules."""
        fitting = [role for claim, value, role in self._roles if value in claim_values(claims.get(claim))]
        if not fitting:
            return self._role if self._roles else None
        # A person in several groups has the rights of all of them.
        return max(fitting, key=ROLE_RANKS.index)


def claimed_names(claims: Mapping[str, Any]) -> list[str]:
    """Return the user name and the e-mail address; the address counts only if the provider has verified it."""
    name, email = claims.get("preferred_username"), claims.get("email")
    verified = email if claims.get("email_verified") is True else None
    return [each.strip() for each in (name, verified) if isinstance(each, str) and each.strip()]


def claim_values(claim: Any) -> list[str]:
    return [str(each) for each in claim] if isinstance(claim, list) else [] if claim is None else [str(claim)]


def parse_role_rules(settings: Settings) -> list[tuple[str, str, Role]]:
    rules = []
    for rule in filter(None, (each.strip() for each in settings.oidc_roles.split(","))):
        condition, colon, role = rule.rpartition(":")
        claim, equals, value = condition.partition("=")
        if not (colon and equals and claim.strip() and value.strip()):
            raise BadSetting(f"oidc_roles has {rule!r}.", advice="Write it as claim=value:role, e.g. groups=it:admin.")
        rules.append((claim.strip(), value.strip(), parse_role(role.strip())))
    return rules


def parse_role(word: str) -> Role:
    for role in ROLE_RANKS:
        if word == role:
            return role
    raise BadSetting(f"oidc_roles has {word!r}.", advice=f"Use one of {', '.join(ROLE_RANKS)}.")
