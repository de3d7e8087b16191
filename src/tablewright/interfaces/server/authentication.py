"""Authentication of requests: by a token in the header, by the cookie of a login, or as the user of this machine."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import math
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Literal, NamedTuple, TypeAlias

from starlette.requests import HTTPConnection

from tablewright.domain.access import INSTALLATION_OWNER, Person, Token
from tablewright.errors import TablewrightError
from tablewright.interfaces.server.errors import NotLoggedIn, TooMany
from tablewright.interfaces.server.limits import DEFAULT_LIMITS, ServerLimits, TokenBuckets
from tablewright.interfaces.server.origin import client_address, was_forwarded
from tablewright.services import Services

log = logging.getLogger("tablewright.server")

# Known to pages that read cookies by name: a new name logs everyone out.
SESSION_COOKIE = "tablewright_session"
# A working day without a request ends a session, a week ends any.
SESSION_IDLE_SECONDS = 12 * 3600.0
SESSION_MAX_SECONDS = 7 * 24 * 3600.0
# Bounds the memory for sessions and for hashes of accepted tokens (about 1 KB each).
MAX_SESSIONS = 10_000
# The last use of a token is written at most this often, so that a busy program does not cause a write per request.
TOKEN_USE_SECONDS = 60.0

LoginMethod: TypeAlias = Literal["bearer", "cookie", "here"]


class Authentication:
    """Identify the person behind a request. `trusting`: only this machine can reach the server, so no token is needed
    until one is set up.

    An address that sent too many wrong tokens must wait before its next one is looked up. A token that was accepted
    before stays accepted, whatever other clients at the same address or behind the same proxy try."""

    def __init__(self, services: Services, *, trusting: bool, limits: ServerLimits = DEFAULT_LIMITS) -> None:
        self._services = services.acting("server", door="server", patience=limits.database_seconds)
        self._trusting = trusting
        # The bucket refills in a minute, so that a person who mistyped waits seconds and a program gives up.
        self._guesses = TokenBuckets(limits.logins_per_minute / 60, limits.logins_per_minute)
        self._proven: OrderedDict[bytes, None] = OrderedDict()
        self._used: dict[str, float] = {}
        self._noting: set[asyncio.Task[None]] = set()
        self.sessions = Sessions()

    async def identify(self, request: HTTPConnection) -> tuple[Person, LoginMethod] | None:
        """Return the person and how they logged in, or None."""
        # A header counts before a cookie: a valid cookie must not hide that the token is wrong.
        header = request.headers.get("authorization")
        if header is not None:
            scheme, _, token = header.partition(" ")
            person = await self.find_token_holder(token.strip(), request) if scheme.lower() == "bearer" else None
            return (person, "bearer") if person else None
        session = request.cookies.get(SESSION_COOKIE, "")
        if session and (person := await self.find_session_person(session)):
            return person, "cookie"
        # A forwarded request may come from anywhere, even if the proxy is on this machine.
        if self._trusting and not was_forwarded(request) and not await self.is_locked():
            return INSTALLATION_OWNER, "here"
        return None

    async def find_token_holder(self, token: str, request: HTTPConnection) -> Person | None:
        """Return the holder of a token, or None. A token that was right before does not count as a guess."""
        if not token:
            return None
        key = hash_secret(token)
        if key not in self._proven:
            self._check_guesses(request)
        person = await self._look_up(token)
        if person is not None:
            self._proven[key] = None
            # The least recently used token is dropped first when the memory for them is full.
            self._proven.move_to_end(key)
            if len(self._proven) > MAX_SESSIONS:
                self._proven.popitem(last=False)
        elif key not in self._proven:
            self._guesses.owe(client_address(request))
        return person

    def _check_guesses(self, request: HTTPConnection) -> None:
        seconds = self._guesses.seconds_to_wait(client_address(request))
        if seconds:
            raise TooMany(
                "Too many wrong tokens from this address.", advice="Try again later.", retry_after=math.ceil(seconds)
            )

    async def _look_up(self, token: str) -> Person | None:
        own = self._services.settings.token
        # Compared in constant time, so that the time of an answer says nothing about the token.
        if own and hmac.compare_digest(hash_secret(own), hash_secret(token)):
            return INSTALLATION_OWNER
        found = await self._services.store.tokens.holder(token)
        if found is None:
            return None
        if is_past(found.token.expires_at):
            raise NotLoggedIn(
                f"This token expired on {found.token.expires_at[:10]}.", advice="Ask an admin for a new one, or log in."
            )
        if found.ended:
            raise NotLoggedIn(found.ended, advice="Ask for a new one.")
        self._note_use(found.token)
        return found.person

    def _note_use(self, token: Token) -> None:
        """Write in the background that the token was used, at most every TOKEN_USE_SECONDS."""
        last = self._used.get(token.id)
        if last is None or time.monotonic() - last > TOKEN_USE_SECONDS:
            # Noted before it is written: requests that come in between must not write as well.
            self._used[token.id] = time.monotonic()
            noting = asyncio.create_task(self._write_use(token.id))
            self._noting.add(noting)
            noting.add_done_callback(self._noting.discard)

    async def _write_use(self, token_id: str) -> None:
        # The database is unreachable or closed.
        with suppress(TablewrightError, RuntimeError):
            await self._services.store.tokens.used(token_id)

    async def find_session_person(self, session: str) -> Person | None:
        """Return the person logged in by this cookie, or None. The session ends with its token or its user."""
        login = self.sessions.find(session)
        if login is None:
            return None
        try:
            person = await (self._look_up(login.token) if login.token else self._signed_in(login.user_id))
        except NotLoggedIn:
            person = None
        if person is None:
            self.sessions.end(session)
        return person

    async def _signed_in(self, user_id: str) -> Person | None:
        person = await self._services.store.users.by_id(user_id)
        return person if person.name else None

    async def audit(self, action: Literal["login", "logout"], person: Person, request: HTTPConnection) -> None:
        """Write to the audit log."""
        audit = self._services.acting(person.name, person, door="page").store.audit
        await audit.note(action, f"user {person.name}", f"from {client_address(request)}")

    def warn_of_short_token(self) -> None:
        # Random characters: 96 bits even if each carries only six.
        enough = 16
        if 0 < len(self._services.settings.token) < enough:
            log.warning("The token has fewer than %d characters: it can be guessed.", enough)

    async def is_locked(self) -> bool:
        settings = self._services.settings
        return bool(settings.token or settings.oidc_issuer or await self._services.store.users.all())


class Login(NamedTuple):
    """A session's token, or the user that a provider signed in; times are of the monotonic clock."""

    token: str
    user_id: str
    begun: float
    used: float


class Sessions:
    """Logins, in memory only: a random value for the browser, mapped to the token or the user it stands for. These are
    looked up again with each request, so a login ends when its token or its user does."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: OrderedDict[bytes, Login] = OrderedDict()

    def begin(self, token: str = "", *, user_id: str = "") -> str:
        # 256 random bits.
        session = secrets.token_urlsafe(32)
        now = self._clock()
        self._known[hash_secret(session)] = Login(token, user_id, now, now)
        if len(self._known) > MAX_SESSIONS:
            self._known.popitem(last=False)
        return session

    def find(self, session: str) -> Login | None:
        key, now = hash_secret(session), self._clock()
        login = self._known.get(key)
        if login is None or now - login.begun > SESSION_MAX_SECONDS or now - login.used > SESSION_IDLE_SECONDS:
            self._known.pop(key, None)
            return None
        # Each use moves a session to the end, so the one that is dropped when memory is full is the least used.
        self._known[key] = login._replace(used=now)
        self._known.move_to_end(key)
        return login

    def end(self, session: str) -> None:
        self._known.pop(hash_secret(session), None)


def hash_secret(secret: str) -> bytes:
    # A header can hold lone surrogates, which plain UTF-8 refuses to encode.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def is_past(moment: str) -> bool:
    """Return True if the time has passed; "" means never."""
    return bool(moment) and datetime.fromisoformat(moment) <= datetime.now(UTC)
