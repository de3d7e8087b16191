"""Everything that reaches the server passes here first: requests and websockets alike.

In this order: is it for us, who is it, do they ask too much, does it come from a page of ours, may they do that, is it
too large. And on the way back: the headers that protect, and no word of what went wrong inside.
"""

from __future__ import annotations

import logging
import re
import time
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import quote, urlencode

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tablewright.domain.access import Person
from tablewright.doors.server.authentication import Authentication, How
from tablewright.doors.server.context import ONLY_LOOK, advice_for
from tablewright.doors.server.encoding import NOT_UTF_8, Utf8, check_headers
from tablewright.doors.server.errors import (
    AWAY_SECONDS,
    UNEXPECTED,
    Misdirected,
    NotLoggedIn,
    TooLarge,
    TooMany,
    error_response,
)
from tablewright.doors.server.headers import API, is_library, protect
from tablewright.doors.server.limits import Buckets, ServerLimits, Streams
from tablewright.doors.server.login import LOGIN, LOGOUT
from tablewright.doors.server.oidc import BEGIN, CALLBACK
from tablewright.doors.server.origin import READS, Hosts, address, is_embedded_elsewhere
from tablewright.doors.server.probes import PROBES, check_database
from tablewright.doors.server.turns import Turns
from tablewright.errors import Forbidden, TablewrightError, Unreachable, disk_full
from tablewright.operations.paths import hider
from tablewright.services import Services

log = logging.getLogger("tablewright.server")

OPEN = frozenset({LOGIN, LOGOUT, BEGIN, CALLBACK})
"""What whoever has no token may see."""
NOBODY = Person(id="nobody", name="nobody", role="viewer")
PIECE = 64 * 1024
"""Bytes of a body that are handed to the connection at once."""
PAGE_DATA = "/page-data/"
UPLOADS = re.compile(r"/api/v1/(tables/import|documents)|/_nicegui/client/[^/]+/upload/[^/]+")
"""What takes files, and keeps them on the disk meanwhile. All else is read into memory."""

OWN_TOKENS = re.compile(r"/api/v1/tokens(/[^/]+)?")
"""Which everybody sees to themselves."""

AGAIN = '<!doctype html><meta http-equiv="refresh" content="0"><title>Tablewright</title>'
"""For whoever follows a link from another site: the browser keeps the cookie back, but not when our own page asks."""


AWAY = f"""<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="{AWAY_SECONDS}">
<title>Tablewright</title><h1>The database cannot be reached</h1>
<p>What was written before is kept. Work that is under way goes on by itself when the database is back, and this page
opens.</p>"""


class Guard:
    def __init__(
        self, app: ASGIApp, *, services: Services, entrance: Authentication, hosts: Hosts, limits: ServerLimits
    ) -> None:
        self._app = app
        self._tablewright = services
        self._entrance = entrance
        self._hosts = hosts
        self._limits = limits
        self._paces = Buckets(limits.requests_per_second, limits.burst)
        self._streams = Streams(limits.streams)
        self._turns = Turns(limits.reads, limits.reads_of_one, unread=limits.unread, unread_of_one=limits.unread_of_one)
        self._hide = hider(services.settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        asked, begun = HTTPConnection(scope), time.perf_counter()
        answer = GuardedResponse(scope, send, self._hide, self._turns)
        person = NOBODY
        try:
            person, how = await self._identify(asked)
            self._check(asked, person, how)
            await self._let_in(asked, person, receive, answer)
            if answer.refusal:  # and nobody inside minded that the client seemed gone
                raise answer.refusal
        except Exception as error:
            await answer.give_up(asked, error)
        finally:
            level = logging.DEBUG if is_library(scope["path"]) else logging.INFO
            milliseconds = (time.perf_counter() - begun) * 1000
            line = "%s %s %s %s %.0f ms"
            repeats = {"repeats": f"{address(asked)} {person.id} {answer.status}"}
            log.log(level, line, address(asked), who(person), what(scope), answer.status, milliseconds, extra=repeats)

    async def _identify(self, asked: HTTPConnection) -> tuple[Person, How | None]:
        if asked.scope["path"] in PROBES and asked.scope.get("method") in READS:
            self._check_pace(f"address {address(asked)}")  # by nothing that the database would have to tell
            return NOBODY, None
        if not self._hosts.answers(asked):
            raise Misdirected(
                "This server does not answer for that host.",
                advice="Open it by the address it prints, or start it with --public-host NAME.",
            )
        await check_database(self._tablewright, away_for=self._limits.database_seconds)
        found = await self._entrance.who(asked)
        self._check_pace(found[0].id if found else f"address {address(asked)}")
        if found:
            return found
        if asked.scope["path"] in OPEN and asked.scope["type"] == "http":
            return NOBODY, None
        raise NotLoggedIn("A token is needed.", advice="Send it as `Authorization: Bearer …`, or log in at /login.")

    def _check_pace(self, key: str) -> None:
        seconds = self._paces.take(key)
        if seconds:
            raise TooMany("Too many requests.", advice="Ask more slowly.", retry_after=seconds)

    def _check(self, asked: HTTPConnection, person: Person, how: How | None) -> None:
        websocket = asked.scope["type"] == "websocket"
        writes = not websocket and asked.scope["method"] not in READS
        if how != "bearer":
            own = self._hosts.is_own(asked)
            # Browsers always say where a page's write or websocket comes from; programs, who may need no token, do not.
            unsaid = own is None and how != "cookie" and not websocket
            if ((writes or websocket) and not own and not unsaid) or is_embedded_elsewhere(asked):
                raise Forbidden("This request comes from another site's page.")
        path, may_some = asked.scope["path"], person.may_change or person.may_run or person.may_administer
        if writes and not may_some and path.startswith(API) and not OWN_TOKENS.fullmatch(path):
            raise Forbidden(ONLY_LOOK, advice=advice_for(person, "write"))

    async def _let_in(self, asked: HTTPConnection, person: Person, receive: Receive, answer: GuardedResponse) -> None:
        scope = asked.scope
        patience = self._limits.database_seconds
        scope.setdefault("state", {}).update(person=person, services=self._tablewright, patience=patience)
        stream = Stream(asked, person, self._entrance, self._limits.check_again)
        if scope["type"] == "websocket":
            if not self._streams.enter(person.id):
                raise TooMany("Too many open connections.", advice="Close some of the pages.", retry_after=10)
            try:
                await self._app(scope, stream.receiving(receive, answer), answer)
            finally:
                self._streams.leave(person.id)
            return
        answer.streams, answer.stream = self._streams, stream
        scope["state"]["without_turn"] = answer.without_turn
        if takes_turn(scope):
            await answer.wait_for_turn(self._limits.turn_seconds)
        try:
            await self._app(scope, self._measured(asked, receive, answer), answer)
        finally:
            answer.end_turn()
            if answer.streaming:
                self._streams.leave(person.id)

    def _measured(self, asked: HTTPConnection, receive: Receive, answer: GuardedResponse) -> Receive:
        check_headers(asked.headers)
        kind = asked.headers.get("content-type", "").partition(";")[0].strip().lower()
        brings_files = kind == "multipart/form-data" and UPLOADS.fullmatch(asked.scope["path"])
        text = None if kind == "multipart/form-data" else Utf8()
        most = self._limits.upload if brings_files else self._limits.body
        if asked.state.person is NOBODY:
            most = self._limits.login
        length = asked.headers.get("content-length", "0")
        error = TooLarge(f"The request is larger than {most // 1024:,} KB.")
        if not length.isdecimal() or int(length) > most:
            raise error
        left = most

        async def measured() -> Message:
            nonlocal left
            message = await receive()
            body = message.get("body", b"")
            left -= len(body)
            if left < 0:
                answer.refusal = error
            elif text and not text.accepts(body, last=not message.get("more_body", False)):
                answer.refusal = NOT_UTF_8
            return {"type": "http.disconnect"} if answer.refusal else message

        return measured


class Stream:
    """A connection that stays open: whoever loses their token, or their login, loses it too. What an event stream may
    show was decided when it was opened, so it also ends with a role or a table; a page is then loaded anew."""

    def __init__(self, asked: HTTPConnection, person: Person, entrance: Authentication, every: float) -> None:
        self._asked = asked
        self.person = person
        self._entrance = entrance
        self._every = every
        self._looked = time.monotonic()

    async def is_welcome(self) -> bool:
        """Looks again now and then."""
        if time.monotonic() - self._looked < self._every:
            return True
        try:
            found = await self._entrance.who(self._asked)
        except Unreachable:  # nobody can tell; who was welcome is, until somebody can
            return True
        self._looked = time.monotonic()
        if found is None or found[0].id != self.person.id:
            return False
        return self._asked.scope["type"] == "websocket" or found[0].has_all_of(self.person)

    def receiving(self, receive: Receive, send: Send) -> Receive:
        async def received() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive" and not await self.is_welcome():
                await send({"type": "websocket.close", "code": 1008})
                return {"type": "websocket.disconnect", "code": 1008}
            return message

        return received


class Over(OSError):
    """Nothing more is sent; to the framework it looks like a client that is gone."""


class GuardedResponse:
    """What goes back, with the headers that protect, and a word of refusal instead where one is due."""

    def __init__(self, scope: Scope, send: Send, hide: Callable[[str], str], turns: Turns) -> None:
        self._scope = scope
        self._send = send
        self._hide = hide
        self._turns = turns
        self._turn_of = ""
        self._turn_seconds = 0.0
        self.status = 0
        self.refusal: TablewrightError | None = None
        self.streams: Streams | None = None
        self.stream: Stream | None = None
        self.streaming = False

    async def __call__(self, message: Message) -> None:
        if self.refusal:
            raise Over
        kind = message["type"]
        if kind == "http.response.start":
            headers = MutableHeaders(scope=message)
            if headers.get("content-type", "").startswith("text/event-stream"):
                self._open_stream()
            protect(headers, self._scope["path"])
            self.status = message["status"]
        elif kind == "http.response.body" and self.streaming and self.stream and not await self.stream.is_welcome():
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
            raise Over
        elif kind == "websocket.accept":
            self.status = 101
        if kind == "http.response.body":
            await self._send_body(message)
        else:
            await self._send(message)

    async def wait_for_turn(self, seconds: float) -> None:
        person_id = self.stream.person.id if self.stream else NOBODY.id
        await self._turns.enter(person_id, seconds)
        self._turn_of, self._turn_seconds = person_id, seconds

    @asynccontextmanager
    async def without_turn(self) -> AsyncIterator[None]:
        """Give the turn back while the request waits for something else, and wait for another afterwards."""
        held = bool(self._turn_of)
        self.end_turn()
        yield
        if held:
            await self.wait_for_turn(self._turn_seconds)

    def end_turn(self) -> None:
        """The answer is computed; that its reader is slow keeps no one else waiting."""
        if self._turn_of:
            self._turns.leave(self._turn_of)
            self._turn_of = ""

    async def _send_body(self, message: Message) -> None:
        """A large body goes piece by piece: the server's buffer never has more of it than one, and it counts as unread
        until the last has left."""
        self.end_turn()
        body = message.get("body", b"")
        if len(body) <= PIECE:
            await self._send(message)
            return
        async with self._turns.sending(self.stream.person.id if self.stream else NOBODY.id, len(body)):
            for start in range(0, len(body), PIECE):
                more = start + PIECE < len(body) or message.get("more_body", False)
                part = bytes(memoryview(body)[start : start + PIECE])
                await self._send({"type": "http.response.body", "body": part, "more_body": more})

    def _open_stream(self) -> None:
        if self.streams and self.stream and not self.streams.enter(self.stream.person.id):
            self.refusal = TooMany("Too many open streams.", advice="Close some of them.", retry_after=10)
            raise Over
        self.streaming = self.stream is not None

    async def give_up(self, asked: HTTPConnection, error: Exception) -> None:
        if self.refusal:
            error, self.refusal = self.refusal, None
        if isinstance(error, Over | ClientDisconnect):
            return
        error = disk_full(error) or error
        if not isinstance(error, TablewrightError):
            tell(self._scope, error)
            error = UNEXPECTED
        if self.status:
            return
        if isinstance(error, NotLoggedIn) and wants_page(asked) and asked.headers.get("sec-fetch-site") == "cross-site":
            await self._refuse(HTMLResponse(AGAIN, 401))
        elif isinstance(error, NotLoggedIn) and wants_page(asked):
            await self._refuse(RedirectResponse(f"{LOGIN}?{urlencode({'next': wanted(asked)})}", 303))
        elif isinstance(error, Unreachable) and wants_page(asked):
            await self._refuse(HTMLResponse(AWAY, 503, {"Retry-After": AWAY_SECONDS}))
        else:
            await self._refuse(error_response(error, self._hide))

    async def _refuse(self, response: Response) -> None:
        if self._scope["type"] == "http":
            await response(self._scope, nothing, self)
            return
        self.status = response.status_code
        if "websocket.http.response" in self._scope.get("extensions", {}):
            start = {"type": "websocket.http.response.start", "status": self.status, "headers": response.raw_headers}
            await self._send(start)
            await self._send({"type": "websocket.http.response.body", "body": response.body})
        else:
            await self._send({"type": "websocket.close", "code": 1008})


def takes_turn(scope: Scope) -> bool:
    """Requests that read data. The others are short, or work that the person waits for anyway."""
    path = scope["path"]
    return path.startswith(PAGE_DATA) or (path.startswith(API) and scope["method"] in READS and path not in PROBES)


async def nothing() -> Message:
    return {"type": "http.disconnect"}


def tell(scope: Scope, error: Exception) -> None:
    """Where it happened and of what kind it is; what it says may be a secret."""
    where = "".join(traceback.format_tb(error.__traceback__))
    log.error("%s failed: %s\n%s", what(scope), type(error).__name__, where)


def wants_page(asked: HTTPConnection) -> bool:
    reads = asked.scope["type"] == "http" and asked.scope["method"] in READS
    return reads and not asked.scope["path"].startswith(API) and "text/html" in asked.headers.get("accept", "")


def wanted(asked: HTTPConnection) -> str:
    return asked.url.path + (f"?{asked.url.query}" if asked.url.query else "")


def who(person: Person) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in person.name)


def what(scope: Scope) -> str:
    """Never the query: it may hold what nobody else should read."""
    return f"{scope.get('method', 'WEBSOCKET')} {quote(scope['path'][:500])}"
