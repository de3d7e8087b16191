"""Who is it? By a token in the header, by the cookie of a login, or because they sit at this machine."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Literal, TypeAlias

from starlette.requests import HTTPConnection

from tablewright.app import Tablewright
from tablewright.doors.server.origin import was_forwarded
from tablewright.table.access import OWNER, Person

COOKIE = "tablewright_session"
IDLE = 12 * 3600.0
LONGEST = 7 * 24 * 3600.0
MOST_SESSIONS = 10_000

How: TypeAlias = Literal["bearer", "cookie", "here"]


class Entrance:
    """`trusting`: whoever reaches the server sits at its machine, so that no token is needed until there is one."""

    def __init__(self, tablewright: Tablewright, *, trusting: bool) -> None:
        self._tablewright = tablewright
        self._trusting = trusting
        self.sessions = Sessions()

    async def who(self, asked: HTTPConnection) -> tuple[Person, How] | None:
        """A header counts before a cookie, so that a wrong token is never made good by something else."""
        header = asked.headers.get("authorization")
        if header is not None:
            scheme, _, token = header.partition(" ")
            person = await self.holder(token.strip()) if scheme.lower() == "bearer" else None
            return (person, "bearer") if person else None
        token = self.sessions.token(asked.cookies.get(COOKIE, ""))
        person = await self.holder(token)
        if person:
            return person, "cookie"
        if self._trusting and not was_forwarded(asked) and not await self.is_locked():
            return OWNER, "here"
        return None

    async def holder(self, token: str) -> Person | None:
        """Whose token it is."""
        if not token:
            return None
        own = self._tablewright.settings.token
        if own and hmac.compare_digest(digest(own), digest(token)):
            return OWNER
        return await self._tablewright.users.who(token)

    async def is_locked(self) -> bool:
        return bool(self._tablewright.settings.token or await self._tablewright.users.all())


class Sessions:
    """Logins, in memory only: a random value for the browser, behind it the token that was shown. Because the token is
    looked up again with each request, a login ends when its token does."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: OrderedDict[bytes, tuple[str, float, float]] = OrderedDict()

    def begin(self, token: str) -> str:
        session = secrets.token_urlsafe(32)
        now = self._clock()
        self._known[digest(session)] = (token, now, now)
        if len(self._known) > MOST_SESSIONS:
            self._known.popitem(last=False)
        return session

    def token(self, session: str) -> str:
        """Empty where there is no such login any more."""
        key, now = digest(session), self._clock()
        token, begun, used = self._known.get(key, ("", 0.0, 0.0))
        if not token or now - begun > LONGEST or now - used > IDLE:
            self._known.pop(key, None)
            return ""
        self._known[key] = (token, begun, now)
        self._known.move_to_end(key)
        return token

    def end(self, session: str) -> None:
        self._known.pop(digest(session), None)


def digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
