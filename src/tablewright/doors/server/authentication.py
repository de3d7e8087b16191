"""Who is it? By a token in the header, by the cookie of a login, or because they sit at this machine."""

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

from tablewright.domain.access import OWNER, Person, Token
from tablewright.doors.server.errors import NotLoggedIn, TooMany
from tablewright.doors.server.limits import Buckets, ServerLimits
from tablewright.doors.server.origin import address, was_forwarded
from tablewright.errors import TablewrightError
from tablewright.services import Services

log = logging.getLogger("tablewright.server")

SHORT = 16
COOKIE = "tablewright_session"
IDLE = 12 * 3600.0
LONGEST = 7 * 24 * 3600.0
MOST_SESSIONS = 10_000
USED_EVERY = 60.0
"""Seconds between two notes of when a token was last used."""

How: TypeAlias = Literal["bearer", "cookie", "here"]

USUAL = ServerLimits()


class Authentication:
    """`trusting`: whoever reaches the server sits at its machine, so that no token is needed until there is one.

    An address from which too many tokens came that are nobody's is told to wait, before anybody looks whose its next
    one is. Whoever was let in before is let in still, whatever others at their address, or behind their proxy, try."""

    def __init__(self, services: Services, *, trusting: bool, limits: ServerLimits = USUAL) -> None:
        self._tablewright = services.acting("server", door="server", patience=limits.database_seconds)
        self._trusting = trusting
        self._guesses = Buckets(limits.logins_per_minute / 60, limits.logins_per_minute)
        self._proven: OrderedDict[bytes, None] = OrderedDict()
        self._used: dict[str, float] = {}
        self._noting: set[asyncio.Task[None]] = set()
        self.sessions = Sessions()

    async def who(self, asked: HTTPConnection) -> tuple[Person, How] | None:
        """A header counts before a cookie, so that a wrong token is never made good by something else."""
        header = asked.headers.get("authorization")
        if header is not None:
            scheme, _, token = header.partition(" ")
            person = await self.holder(token.strip(), asked) if scheme.lower() == "bearer" else None
            return (person, "bearer") if person else None
        session = asked.cookies.get(COOKIE, "")
        if session and (person := await self.whose(session)):
            return person, "cookie"
        if self._trusting and not was_forwarded(asked) and not await self.is_locked():
            return OWNER, "here"
        return None

    async def holder(self, token: str, asked: HTTPConnection) -> Person | None:
        """Whose token it is that somebody shows; one that was right before is no guess."""
        if not token:
            return None
        key = digest(token)
        if key not in self._proven:
            self._check_guesses(asked)
        person = await self._look_up(token)
        if person is not None:
            self._proven[key] = None
            self._proven.move_to_end(key)
            if len(self._proven) > MOST_SESSIONS:
                self._proven.popitem(last=False)
        elif key not in self._proven:
            self._guesses.owe(address(asked))
        return person

    def _check_guesses(self, asked: HTTPConnection) -> None:
        seconds = self._guesses.wait(address(asked))
        if seconds:
            raise TooMany(
                "Too many wrong tokens from this address.", advice="Try again later.", retry_after=math.ceil(seconds)
            )

    async def _look_up(self, token: str) -> Person | None:
        own = self._tablewright.settings.token
        if own and hmac.compare_digest(digest(own), digest(token)):
            return OWNER
        found = await self._tablewright.store.tokens.holder(token)
        if found is None:
            return None
        if has_passed(found.token.expires_at):
            raise NotLoggedIn(
                f"This token expired on {found.token.expires_at[:10]}.", advice="Ask an admin for a new one, or log in."
            )
        if found.ended:
            raise NotLoggedIn(found.ended, advice="Ask for a new one.")
        self._note_use(found.token)
        return found.person

    def _note_use(self, token: Token) -> None:
        """Now and then, and while the request is answered: nobody waits for it."""
        last = self._used.get(token.id)
        if last is None or time.monotonic() - last > USED_EVERY:
            self._used[token.id] = time.monotonic()
            noting = asyncio.create_task(self._write_use(token.id))
            self._noting.add(noting)
            noting.add_done_callback(self._noting.discard)

    async def _write_use(self, token_id: str) -> None:
        with suppress(TablewrightError, RuntimeError):  # the database is away, or closed
            await self._tablewright.store.tokens.used(token_id)

    async def whose(self, session: str) -> Person | None:
        """Who is logged in by this cookie. Whose token has ended, or who is a user no longer, is not any more."""
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
        person = await self._tablewright.store.users.by_id(user_id)
        return person if person.name else None

    async def note(self, action: Literal["login", "logout"], person: Person, asked: HTTPConnection) -> None:
        """In the audit log."""
        audit = self._tablewright.acting(person.name, person, door="page").store.audit
        await audit.note(action, f"user {person.name}", f"from {address(asked)}")

    def warn_of_short_token(self) -> None:
        if 0 < len(self._tablewright.settings.token) < SHORT:
            log.warning("The token has fewer than %d characters: it can be guessed.", SHORT)

    async def is_locked(self) -> bool:
        settings = self._tablewright.settings
        return bool(settings.token or settings.oidc_issuer or await self._tablewright.store.users.all())


class Login(NamedTuple):
    """By the token that was shown, or as the user for whom a provider vouched."""

    token: str
    user_id: str
    begun: float
    used: float


class Sessions:
    """Logins, in memory only: a random value for the browser, behind it the token that was shown, or the user. Because
    these are looked up again with each request, a login ends when its token or its user does."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: OrderedDict[bytes, Login] = OrderedDict()

    def begin(self, token: str = "", *, user_id: str = "") -> str:
        session = secrets.token_urlsafe(32)
        now = self._clock()
        self._known[digest(session)] = Login(token, user_id, now, now)
        if len(self._known) > MOST_SESSIONS:
            self._known.popitem(last=False)
        return session

    def find(self, session: str) -> Login | None:
        key, now = digest(session), self._clock()
        login = self._known.get(key)
        if login is None or now - login.begun > LONGEST or now - login.used > IDLE:
            self._known.pop(key, None)
            return None
        self._known[key] = login._replace(used=now)
        self._known.move_to_end(key)
        return login

    def end(self, session: str) -> None:
        self._known.pop(digest(session), None)


def digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def has_passed(moment: str) -> bool:
    """Empty: never."""
    return bool(moment) and datetime.fromisoformat(moment) <= datetime.now(UTC)
