"""Connections below the requests: how long a client may take to send one, and how many connections it may hold.

A client that begins requests and never finishes them (slow loris) would otherwise keep every connection there is. Three
rules stop it, whatever it sends:

* The head of a request has a deadline; its body one that moves on as bytes arrive, so that a large file may take as
  long as it needs but a trickle may not. An answer that nobody reads has one too.
* An address holds so many connections, and so does everybody together. Whoever is over the limit gets in all the same:
  the connection that has been silent for the longest, and owes us the rest of its request, is closed instead; where
  there is none, one that waits for a next request. So a crowd of half-sent requests only ever displaces itself.
* Where all of them are being answered, the new one is refused with a sentence.

A websocket leaves these rules with its handshake; the guard counts those of each person. One whose client stops reading
is cut off after the same time as any other answer.
"""

from __future__ import annotations

import asyncio
import socket
from collections import defaultdict
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from tablewright.doors.server.errors import TooMany, TooSlow, error_response
from tablewright.doors.server.limits import ServerLimits
from tablewright.errors import TablewrightError

LARGEST_HEAD = 64 * 1024
"""Bytes of a request's line and headers."""

BUSY = TooMany("This server has no free connection.", advice="Try again in a moment.")
SLOW_HEAD = TooSlow("The request's headers did not arrive in time.", advice="Send the request again, in one go.")
SLOW_BODY = TooSlow("The request's body arrived too slowly.", advice="Send it again over a faster connection.")


class Connections:
    """The open connections by address, those that were silent for the longest first."""

    def __init__(self, limits: ServerLimits, *, proxied: bool = False) -> None:
        """`proxied`: all clients share the address of a reverse proxy, so only the total is limited."""
        self._most = limits.connections
        self._most_of_one = limits.connections if proxied else limits.connections_per_address
        self._all: dict[Connection, None] = {}
        self._of: defaultdict[str, dict[Connection, None]] = defaultdict(dict)

    def __len__(self) -> int:
        return len(self._all)

    def enter(self, new: Connection) -> bool:
        """Makes room where there is none; False where that is not possible."""
        for held, most in ((self._of[new.address], self._most_of_one), (self._all, self._most)):
            if len(held) >= most:
                half_sent = (each for each in held if each.owes_request)
                silent = next(half_sent, None) or next((each for each in held if each.is_idle), None)
                if silent is None:
                    return False
                silent.close()
        self.heard(new)
        return True

    def heard(self, connection: Connection) -> None:
        for held in (self._of[connection.address], self._all):
            held.pop(connection, None)
            held[connection] = None

    def leave(self, connection: Connection) -> None:
        self._all.pop(connection, None)
        held = self._of[connection.address]
        held.pop(connection, None)
        if not held:
            del self._of[connection.address]


class Connection(H11Protocol):
    """uvicorn's, with deadlines."""

    limits: ClassVar[ServerLimits]
    open: ClassVar[Connections]

    address = ""
    _entered = False
    _until = 0.0
    _in_body = False
    _reading: asyncio.TimerHandle | None = None
    _writing: asyncio.TimerHandle | None = None

    # ── what asyncio tells ───────────────────────────────────────────────────────────────────────────────────────────

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        send_at_once(transport)
        self.address = self.client[0] if self.client else ""
        self._entered = self.open.enter(self)
        if self._entered:
            self._expect(self.limits.head_seconds)
        else:
            self._refuse(BUSY)

    def data_received(self, data: bytes) -> None:
        if not self._entered or self.transport.is_closing():
            return
        self.open.heard(self)
        if self._reading is None:
            self._expect(self.limits.head_seconds)
        super().data_received(data)
        if self.transport.get_protocol() is not self:  # a websocket by now; h11 would wait for a body that never comes
            return
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            if not self._in_body:
                self._expect(self.limits.body_seconds, in_body=True)
            self._until += len(data) / self.limits.body_rate
        elif state is not h11.IDLE:
            self._expect_nothing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._writing = self.loop.call_later(self.limits.read_answer_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._writing:
            self._writing.cancel()
            self._writing = None

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._leave()
        super().handle_websocket_upgrade(event)

    # ── deadlines ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _expect(self, seconds: float, *, in_body: bool = False) -> None:
        self._expect_nothing()
        self._in_body, self._until = in_body, self.loop.time() + seconds
        self._wait()

    def _wait(self) -> None:
        self._reading = self.loop.call_at(self._until, self._look)

    def _expect_nothing(self) -> None:
        if self._reading:
            self._reading.cancel()
            self._reading = None

    def _look(self) -> None:
        """The deadline may have moved on meanwhile. While we do not read, the client cannot send."""
        if self.flow.read_paused:
            self._until = self.loop.time() + self.limits.body_seconds
        if self._until > self.loop.time():
            self._wait()
            return
        self._reading = None
        sent_nothing = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        self._refuse(None if sent_nothing else SLOW_BODY if self._in_body else SLOW_HEAD)

    # ── ends ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def owes_request(self) -> bool:
        """A request has begun, or was never begun, and is not whole."""
        return self._reading is not None

    @property
    def is_idle(self) -> bool:
        """The last request was answered, and no other has begun."""
        return self.cycle is not None and self.cycle.response_complete

    def close(self) -> None:
        self._leave()
        self.transport.close()

    def _refuse(self, error: TablewrightError | None) -> None:
        begun = self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete
        if error and not begun:
            answer = error_response(error)
            answer.headers["Connection"] = "close"
            head = h11.Response(status_code=answer.status_code, headers=answer.raw_headers, reason=b"Refused")
            # With a writer of its own: what became of the request does not matter any more.
            writer = h11.Connection(h11.SERVER)
            for part in (head, h11.Data(data=bytes(answer.body)), h11.EndOfMessage()):
                self.transport.write(writer.send(part))
        self.close()

    def _leave(self) -> None:
        self._expect_nothing()
        if self._writing:
            self._writing.cancel()
            self._writing = None
        if self._entered:
            self._entered = False
            self.open.leave(self)


class WebSocket(WebSocketsSansIOProtocol):
    """uvicorn's, with a deadline for what nobody reads: its own only closes, which waits for the reader."""

    limits: ClassVar[ServerLimits]

    _writing: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._writing = self.loop.call_later(self.limits.read_answer_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _stop_waiting(self) -> None:
        if self._writing:
            self._writing.cancel()
            self._writing = None


def send_at_once(transport: asyncio.Transport) -> None:
    """Set TCP_NODELAY. asyncio sets it only on sockets made with IPPROTO_TCP, which `socket.create_server` does not do;
    without it the kernel keeps the body of an answer back until the client acknowledges its head (40 ms)."""
    opened = transport.get_extra_info("socket")
    if opened is not None and opened.family in (socket.AF_INET, socket.AF_INET6):
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def connections(limits: ServerLimits, *, proxied: bool = False) -> type[Connection]:
    """The class for uvicorn's `http`: it makes one for each connection, and all of them count together."""
    shared: dict[str, Any] = {"limits": limits, "open": Connections(limits, proxied=proxied)}
    return type("LimitedConnection", (Connection,), shared)


def websockets(limits: ServerLimits) -> type[WebSocket]:
    """The class for uvicorn's `ws`."""
    return type("LimitedWebSocket", (WebSocket,), {"limits": limits})
