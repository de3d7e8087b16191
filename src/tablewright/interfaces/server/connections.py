"""Limits on connections, below the requests: how long a client may take to send one, and how many it may hold.

A client that begins requests and never finishes them (slow loris) would otherwise hold every connection. Three rules
stop it, whatever it sends:

* The head of a request has a deadline; its body one that moves on as bytes arrive, so that a large file may take as
  long as it needs but a trickle may not. An answer that the client does not read has one too.
* Connections are limited per address and in total. A new connection over the limit is still accepted: the one that has
  been silent for the longest with its request unfinished is closed instead, or else one waiting for its next request.
  So a crowd of half-sent requests only ever displaces itself.
* If all connections are being answered, the new one is refused with a message.

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

from tablewright.errors import TablewrightError
from tablewright.interfaces.server.errors import TooMany, TooSlow, error_response
from tablewright.interfaces.server.limits import ServerLimits

# A request's line and headers: room for long cookies and queries.
MAX_HEAD_BYTES = 64 * 1024


class OpenConnections:
    """The open connections by address, ordered by when they last sent something."""

    def __init__(self, limits: ServerLimits, *, proxied: bool = False) -> None:
        """`proxied`: all clients share the address of a reverse proxy, so only the total is limited."""
        self._most = limits.connections
        self._most_of_one = limits.connections if proxied else limits.connections_per_address
        self._all: dict[LimitedConnection, None] = {}
        self._of: defaultdict[str, dict[LimitedConnection, None]] = defaultdict(dict)

    def __len__(self) -> int:
        return len(self._all)

    def enter(self, new: LimitedConnection) -> bool:
        """Add the connection, closing another if the limit is reached; return False if none can be closed."""
        # The address first: a client over its own limit displaces its own connections, not those of others.
        for held, most in ((self._of[new.address], self._most_of_one), (self._all, self._most)):
            if len(held) >= most:
                # The mapping is ordered by activity: the first match has been silent for the longest.
                half_sent = (each for each in held if each.owes_request)
                silent = next(half_sent, None) or next((each for each in held if each.is_idle), None)
                if silent is None:
                    return False
                silent.close()
        self.move_to_end(new)
        return True

    def move_to_end(self, connection: LimitedConnection) -> None:
        for held in (self._of[connection.address], self._all):
            held.pop(connection, None)
            held[connection] = None

    def leave(self, connection: LimitedConnection) -> None:
        self._all.pop(connection, None)
        held = self._of[connection.address]
        held.pop(connection, None)
        if not held:
            del self._of[connection.address]


class LimitedConnection(H11Protocol):
    """uvicorn's protocol for HTTP/1.1, with deadlines."""

    limits: ClassVar[ServerLimits]
    open: ClassVar[OpenConnections]

    address = ""
    _entered = False
    _until = 0.0
    _in_body = False
    _reading: asyncio.TimerHandle | None = None
    _writing: asyncio.TimerHandle | None = None

    # ── callbacks of asyncio ─────────────────────────────────────────────────────────────────────────────────────────

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        disable_send_delay(transport)
        self.address = self.client[0] if self.client else ""
        self._entered = self.open.enter(self)
        if self._entered:
            self._expect(self.limits.head_seconds)
        else:
            self._refuse(TooMany("This server has no free connection.", advice="Try again in a moment."))

    def data_received(self, data: bytes) -> None:
        if not self._entered or self.transport.is_closing():
            return
        self.open.move_to_end(self)
        if self._reading is None:
            self._expect(self.limits.head_seconds)
        super().data_received(data)
        # A handshake hands the connection to the websocket protocol; h11 would wait for a body that never comes.
        if self.transport.get_protocol() is not self:
            return
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            if not self._in_body:
                self._expect(self.limits.body_seconds, in_body=True)
            # Bytes extend the deadline, so only a trickle is cut off, not a large file.
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
        self._reading = self.loop.call_at(self._until, self._check_deadline)

    def _expect_nothing(self) -> None:
        if self._reading:
            self._reading.cancel()
            self._reading = None

    def _check_deadline(self) -> None:
        """Refuse the request unless the deadline has moved on."""
        # The deadline is extended: the client cannot send while we do not read.
        if self.flow.read_paused:
            self._until = self.loop.time() + self.limits.body_seconds
        if self._until > self.loop.time():
            self._wait()
            return
        self._reading = None
        # A browser opens connections ahead of need; closing one that sent nothing is no error to report.
        sent_nothing = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        if sent_nothing:
            self._refuse(None)
        elif self._in_body:
            self._refuse(
                TooSlow("The request's body arrived too slowly.", advice="Send it again over a faster connection.")
            )
        else:
            self._refuse(
                TooSlow("The request's headers did not arrive in time.", advice="Send the request again, in one go.")
            )

    # ── ends ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def owes_request(self) -> bool:
        """True until the whole request has arrived."""
        return self._reading is not None

    @property
    def is_idle(self) -> bool:
        """True if the last request was answered and no other has begun."""
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
            # A writer of its own, since the state of the request's does not matter any more.
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


class LimitedWebSocket(WebSocketsSansIOProtocol):
    """uvicorn's protocol for websockets, with a deadline for unread answers: its own close waits for the reader."""

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


def disable_send_delay(transport: asyncio.Transport) -> None:
    """Set TCP_NODELAY on the connection's socket."""
    # asyncio sets it only on sockets made with IPPROTO_TCP, which `socket.create_server` does not do. Without it the
    # kernel keeps the body of an answer back until the client acknowledges its head (40 ms).
    opened = transport.get_extra_info("socket")
    if opened is not None and opened.family in (socket.AF_INET, socket.AF_INET6):
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def limit_connections(limits: ServerLimits, *, proxied: bool = False) -> type[LimitedConnection]:
    """Return the class for uvicorn's `http`; its instances share one count of connections."""
    shared: dict[str, Any] = {"limits": limits, "open": OpenConnections(limits, proxied=proxied)}
    return type("LimitedConnection", (LimitedConnection,), shared)


def limit_websockets(limits: ServerLimits) -> type[LimitedWebSocket]:
    """Return the class for uvicorn's `ws`."""
    return type("LimitedWebSocket", (LimitedWebSocket,), {"limits": limits})
