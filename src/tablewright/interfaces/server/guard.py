"""The guard in front of the application: every request and websocket passes it first.

It checks the host name, the person, their rate of requests, the origin, their rights, and the size and encoding of the
body, in this order. On the way back it adds the security headers and hides internal errors.
"""

from __future__ import annotations

import codecs
import logging
import re
import time
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from email.message import Message as EmailMessage
from urllib.parse import quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, HTTPConnection
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tablewright.domain.access import Person
from tablewright.errors import Forbidden, TablewrightError, Unreachable, disk_full
from tablewright.interfaces.server.authentication import Authentication, LoginMethod
from tablewright.interfaces.server.context import missing_right
from tablewright.interfaces.server.errors import (
    RETRY_AFTER_OUTAGE_SECONDS,
    UNEXPECTED_ERROR,
    BadEncoding,
    Misdirected,
    NotLoggedIn,
    TooLarge,
    TooMany,
    error_response,
)
from tablewright.interfaces.server.headers import API_PREFIX, is_library_path, set_security_headers
from tablewright.interfaces.server.limits import RequestTurns, ServerLimits, StreamCounter, TokenBuckets
from tablewright.interfaces.server.login import LOGIN_PATH, LOGOUT_PATH
from tablewright.interfaces.server.oidc import OIDC_CALLBACK_PATH, OIDC_PATH
from tablewright.interfaces.server.origin import READ_METHODS, ServedHosts, client_address, is_embedded_elsewhere
from tablewright.interfaces.server.probes import PROBE_PATHS, require_database
from tablewright.operations.paths import make_path_hider
from tablewright.services import Services

log = logging.getLogger("tablewright.server")

# A viewer, so that nothing that is reached before a login could ever write.
ANONYMOUS = Person(id="anonymous", name="anonymous", role="viewer")
# A body is handed to the connection in pieces: the largest part of it that the server's buffer holds.
PIECE_BYTES = 64 * 1024

OUTAGE_PAGE = f"""<!doctype html><meta charset="utf-8">
<meta http-equiv="refresh" content="{RETRY_AFTER_OUTAGE_SECONDS}">
<title>Tablewright</title><h1>The database cannot be reached</h1>
<p>Your data is safe. Work in progress continues when the database is back, and this page opens by itself.</p>"""


class Guard:
    """ASGI middleware that checks every request, in the order of this module's docstring."""

    def __init__(
        self, app: ASGIApp, *, services: Services, entrance: Authentication, hosts: ServedHosts, limits: ServerLimits
    ) -> None:
        self._app = app
        self._services = services
        self._entrance = entrance
        self._hosts = hosts
        self._limits = limits
        self._paces = TokenBuckets(limits.requests_per_second, limits.burst)
        self._streams = StreamCounter(limits.streams)
        self._turns = RequestTurns(
            limits.reads, limits.reads_of_one, unread=limits.unread, unread_of_one=limits.unread_of_one
        )
        self._hide = make_path_hider(services.settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        request, begun = HTTPConnection(scope), time.perf_counter()
        answer = GuardedResponse(scope, send, self._hide, self._turns)
        person = ANONYMOUS
        try:
            # Cheap and general checks come first: who sends too much must not reach the dearer ones.
            person, method = await self._identify(request)
            self._check_origin_and_rights(request, person, method)
            await self._handle(request, person, receive, answer)
            # The route ignored that the client seemed gone, and answered.
            if answer.refusal:
                raise answer.refusal
        except Exception as error:
            await answer.answer_error(request, error)
        finally:
            # A page loads dozens of library files, which would bury the requests that matter.
            level = logging.DEBUG if is_library_path(scope["path"]) else logging.INFO
            milliseconds = (time.perf_counter() - begun) * 1000
            line = "%s %s %s %s %.0f ms"
            client = client_address(request)
            repeats = {"repeats": f"{client} {person.id} {answer.status}"}
            values = (client, printable_name(person), describe_request(scope), answer.status, milliseconds)
            log.log(level, line, *values, extra=repeats)

    async def _identify(self, request: HTTPConnection) -> tuple[Person, LoginMethod | None]:
        if request.scope["path"] in PROBE_PATHS and request.scope.get("method") in READ_METHODS:
            # Probes must work without the database, so they are limited by address only.
            self._check_pace(f"address {client_address(request)}")
            return ANONYMOUS, None
        if not self._hosts.includes_host_of(request):
            # A page of another name could be rebound to this address (DNS rebinding) and read the answers.
            raise Misdirected(
                "This server does not answer for that host.",
                advice="Open it by the address it prints, or start it with --public-host NAME.",
            )
        # Without the database no person can be identified: a short outage is waited for, a longer one is reported.
        await require_database(self._services, away_for=self._limits.database_seconds)
        found = await self._entrance.identify(request)
        # By person, so that people behind one proxy do not share a limit.
        self._check_pace(found[0].id if found else f"address {client_address(request)}")
        if found:
            return found
        # Logging out is among them: a session that has ended must still be able to clear its cookie.
        path, kind = request.scope["path"], request.scope["type"]
        if path in {LOGIN_PATH, LOGOUT_PATH, OIDC_PATH, OIDC_CALLBACK_PATH} and kind == "http":
            return ANONYMOUS, None
        raise NotLoggedIn("A token is needed.", advice="Send it as `Authorization: Bearer …`, or log in at /login.")

    def _check_pace(self, key: str) -> None:
        seconds = self._paces.take(key)
        if seconds:
            raise TooMany("Too many requests.", advice="Send fewer at a time.", retry_after=seconds)

    def _check_origin_and_rights(self, request: HTTPConnection, person: Person, method: LoginMethod | None) -> None:
        websocket = request.scope["type"] == "websocket"
        writes = not websocket and request.scope["method"] not in READ_METHODS
        # A browser never adds a token by itself, so a request that has one was meant.
        if method != "bearer":
            own = self._hosts.is_own_page(request)
            # Browsers always send the origin of a page's write or websocket; programs, which may need no token, do not.
            from_program = own is None and method != "cookie" and not websocket
            if ((writes or websocket) and not own and not from_program) or is_embedded_elsewhere(request):
                raise Forbidden("This request comes from another site's page.")
        path, may_some = request.scope["path"], person.may_change or person.may_run or person.may_administer
        # Viewers may write nothing but their own tokens.
        is_own_token = re.fullmatch(r"/api/v1/tokens(/[^/]+)?", path)
        if writes and not may_some and path.startswith(API_PREFIX) and not is_own_token:
            raise missing_right(person, "write")

    async def _handle(self, request: HTTPConnection, person: Person, receive: Receive, answer: GuardedResponse) -> None:
        scope = request.scope
        patience = self._limits.database_seconds
        scope.setdefault("state", {}).update(person=person, services=self._services, patience=patience)
        # Both event streams and websockets are checked again while they are open.
        stream = OpenStream(request, person, self._entrance, self._limits.check_again)
        if scope["type"] == "websocket":
            # Counted by person: a websocket has left the limits of connections.
            if not self._streams.enter(person.id):
                raise TooMany("Too many open connections.", advice="Close some of the pages.", retry_after=10)
            try:
                await self._app(scope, stream.guarded_receive(receive, answer), answer)
            finally:
                self._streams.leave(person.id)
            return
        answer.streams, answer.stream = self._streams, stream
        scope["state"]["without_turn"] = answer.without_turn
        if needs_turn(scope):
            await answer.wait_for_turn(self._limits.turn_seconds)
        try:
            await self._app(scope, self._checked_body(request, receive, answer), answer)
        finally:
            answer.end_turn()
            if answer.streaming:
                self._streams.leave(person.id)

    def _checked_body(self, request: HTTPConnection, receive: Receive, answer: GuardedResponse) -> Receive:
        check_content_headers(request.headers)
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        # Routes that take files, which they keep on the disk as they arrive. Other bodies are read into memory.
        brings_files = kind == "multipart/form-data" and re.fullmatch(
            r"/api/v1/(tables/import|documents)|/_nicegui/client/[^/]+/upload/[^/]+", request.scope["path"]
        )
        text = None if kind == "multipart/form-data" else Utf8Check()
        most = self._limits.upload if brings_files else self._limits.body
        # A login form is small, and a stranger must not fill the memory.
        if request.state.person is ANONYMOUS:
            most = self._limits.login
        length = request.headers.get("content-length", "0")
        error = TooLarge(f"The request is larger than {most // 1024:,} KB.")
        # The declared length is refused before a byte is read; the bytes are counted as well, since it may be wrong.
        if not length.isdecimal() or int(length) > most:
            raise error
        left = most

        async def receive_checked() -> Message:
            nonlocal left
            message = await receive()
            body = message.get("body", b"")
            left -= len(body)
            if left < 0:
                answer.refusal = error
            elif text and not text.accepts(body, last=not message.get("more_body", False)):
                answer.refusal = encoding_error("The text of the request is not UTF-8.")
            # To the framework the client is gone; the refusal is sent in place of its answer.
            return {"type": "http.disconnect"} if answer.refusal else message

        return receive_checked


class OpenStream:
    """A connection that stays open; it ends when its person's token or login ends.

    The content of an event stream was decided when it was opened, so it also ends when a right is lost. A page is
    loaded again then, so its websocket stays."""

    def __init__(self, request: HTTPConnection, person: Person, entrance: Authentication, every: float) -> None:
        self._request = request
        self.person = person
        self._entrance = entrance
        self._every = every
        self._checked_at = time.monotonic()

    async def is_allowed(self) -> bool:
        """Return whether the person still has access, checked every few seconds."""
        if time.monotonic() - self._checked_at < self._every:
            return True
        try:
            found = await self._entrance.identify(self._request)
        except Unreachable:  # an outage of the database takes no rights away
            return True
        self._checked_at = time.monotonic()
        if found is None or found[0].id != self.person.id:
            return False
        return self._request.scope["type"] == "websocket" or found[0].has_all_of(self.person)

    def guarded_receive(self, receive: Receive, send: Send) -> Receive:
        async def receive_if_allowed() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive" and not await self.is_allowed():
                # 1008: closed for a violation of policy; the page then loads again and finds the login.
                await send({"type": "websocket.close", "code": 1008})
                return {"type": "websocket.disconnect", "code": 1008}
            return message

        return receive_if_allowed


class ResponseEnded(OSError):
    """Nothing more can be sent; an OSError, which the framework treats like a client that is gone."""


class GuardedResponse:
    """The response of a request: adds the security headers, holds its turn, and answers errors in its place."""

    def __init__(self, scope: Scope, send: Send, hide: Callable[[str], str], turns: RequestTurns) -> None:
        self._scope = scope
        self._send = send
        self._hide = hide
        self._turns = turns
        self._turn_of = ""
        self._turn_seconds = 0.0
        self.status = 0
        self.refusal: TablewrightError | None = None
        self.streams: StreamCounter | None = None
        self.stream: OpenStream | None = None
        self.streaming = False

    async def __call__(self, message: Message) -> None:
        if self.refusal:
            raise ResponseEnded
        kind = message["type"]
        if kind == "http.response.start":
            headers = MutableHeaders(scope=message)
            if headers.get("content-type", "").startswith("text/event-stream"):
                self._open_stream()
            set_security_headers(headers, self._scope["path"])
            self.status = message["status"]
        elif kind == "http.response.body" and self.streaming and self.stream and not await self.stream.is_allowed():
            # An empty last part ends the stream properly, so that the browser does not report an error.
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
            raise ResponseEnded
        elif kind == "websocket.accept":
            self.status = 101
        if kind == "http.response.body":
            await self._send_body(message)
        else:
            await self._send(message)

    async def wait_for_turn(self, seconds: float) -> None:
        person_id = self.stream.person.id if self.stream else ANONYMOUS.id
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
        """Give the turn back once the answer is computed: a slow reader should keep no one else waiting."""
        if self._turn_of:
            self._turns.leave(self._turn_of)
            self._turn_of = ""

    async def _send_body(self, message: Message) -> None:
        """Send a large body in pieces: the server's buffer never holds more than one, and the body counts as unread
        until the last piece has left."""
        self.end_turn()
        body = message.get("body", b"")
        # A small body needs no counting: it fits into the connection's buffer.
        if len(body) <= PIECE_BYTES:
            await self._send(message)
            return
        async with self._turns.sending(self.stream.person.id if self.stream else ANONYMOUS.id, len(body)):
            for start in range(0, len(body), PIECE_BYTES):
                more = start + PIECE_BYTES < len(body) or message.get("more_body", False)
                part = bytes(memoryview(body)[start : start + PIECE_BYTES])
                await self._send({"type": "http.response.body", "body": part, "more_body": more})

    def _open_stream(self) -> None:
        if self.streams and self.stream and not self.streams.enter(self.stream.person.id):
            self.refusal = TooMany("Too many open streams.", advice="Close some of them.", retry_after=10)
            raise ResponseEnded
        self.streaming = self.stream is not None

    async def answer_error(self, request: HTTPConnection, error: Exception) -> None:
        if self.refusal:
            error, self.refusal = self.refusal, None
        if isinstance(error, ResponseEnded | ClientDisconnect):
            return
        # A full disk can surface as any OSError; the person can do something about it.
        error = disk_full(error) or error
        if not isinstance(error, TablewrightError):
            log_unexpected_error(self._scope, error)
            error = UNEXPECTED_ERROR
        # The head was sent already, so no other status can follow.
        if self.status:
            return
        if isinstance(error, NotLoggedIn) and is_page_request(request):
            if request.headers.get("sec-fetch-site") == "cross-site":
                # A followed link: the browser sends the strict cookie only once our own page reloads itself.
                page = '<!doctype html><meta http-equiv="refresh" content="0"><title>Tablewright</title>'
                await self._refuse(HTMLResponse(page, 401))
            else:
                next_page = urlencode({"next": path_with_query(request)})
                await self._refuse(RedirectResponse(f"{LOGIN_PATH}?{next_page}", 303))
        elif isinstance(error, Unreachable) and is_page_request(request):
            await self._refuse(HTMLResponse(OUTAGE_PAGE, 503, {"Retry-After": RETRY_AFTER_OUTAGE_SECONDS}))
        else:
            await self._refuse(error_response(error, self._hide))

    async def _refuse(self, response: Response) -> None:
        if self._scope["type"] == "http":
            await response(self._scope, receive_disconnect, self)
            return
        self.status = response.status_code
        if "websocket.http.response" in self._scope.get("extensions", {}):
            start = {"type": "websocket.http.response.start", "status": self.status, "headers": response.raw_headers}
            await self._send(start)
            await self._send({"type": "websocket.http.response.body", "body": response.body})
        else:
            await self._send({"type": "websocket.close", "code": 1008})


def needs_turn(scope: Scope) -> bool:
    """Return True for requests that read data. The others are short, or work that the person waits for anyway."""
    path = scope["path"]
    if path.startswith("/page-data/"):
        return True
    return path.startswith(API_PREFIX) and scope["method"] in READ_METHODS and path not in PROBE_PATHS


async def receive_disconnect() -> Message:
    return {"type": "http.disconnect"}


def log_unexpected_error(scope: Scope, error: Exception) -> None:
    """Log where the error happened and its class, never its message, which may hold a secret."""
    where = "".join(traceback.format_tb(error.__traceback__))
    log.error("%s failed: %s\n%s", describe_request(scope), type(error).__name__, where)


def is_page_request(request: HTTPConnection) -> bool:
    reads = request.scope["type"] == "http" and request.scope["method"] in READ_METHODS
    html = "text/html" in request.headers.get("accept", "")
    return reads and html and not request.scope["path"].startswith(API_PREFIX)


def path_with_query(request: HTTPConnection) -> str:
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


def printable_name(person: Person) -> str:
    # A name with line breaks could forge lines of the log.
    return "".join(letter if letter.isprintable() else "?" for letter in person.name)


def describe_request(scope: Scope) -> str:
    """Return the method and path for the log, never the query: it may hold private data."""
    return f"{scope.get('method', 'WEBSOCKET')} {quote(scope['path'][:500])}"


# ── encoding of bodies ──────────────────────────────────────────────────────────────────────────────────────────────
# Texts in requests are UTF-8 and nothing else. A body in another encoding would be guessed at by one library and read
# as UTF-8 by the next, so that what one lets through would be another text to the other.


def encoding_error(what: str) -> BadEncoding:
    return BadEncoding(what, kept="Nothing was changed.", advice="Send UTF-8, uncompressed.")


def check_content_headers(headers: Headers) -> None:
    parsed = EmailMessage()
    parsed["content-type"] = headers.get("content-type", "")
    charset = str(parsed.get_param("charset", "utf-8")).strip().lower()
    # ASCII is a part of UTF-8.
    if charset not in ("utf-8", "utf8", "us-ascii", "ascii"):
        raise encoding_error("This server reads only UTF-8.")
    if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise encoding_error("This server does not read compressed requests.")


class Utf8Check:
    """Check a body as it arrives. A zero byte is in no text that we accept, and in every text of UTF-16."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def accepts(self, part: bytes, *, last: bool) -> bool:
        try:
            self._decoder.decode(part, last)
        except UnicodeDecodeError:
            return False
        return b"\0" not in part
