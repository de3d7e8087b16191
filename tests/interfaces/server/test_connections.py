"""Clients that send slowly, never finish, or read nothing: the others are served all the same."""

from __future__ import annotations

import asyncio
import json
import resource
import select
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse
from websockets.sync.client import connect

from tablewright.interfaces.server.limits import ServerLimits
from tests.interfaces.server.serving import TOKEN, UNHURRIED, Served, served
from tests.patience import PATIENCE

HALF_SENT = 1_200
LONGEST = PATIENCE
HEAD = b"GET /api/v1/version HTTP/1.1\r\nHost: 127.0.0.1\r\nX-More: "
BODY = (
    b"POST /api/v1/bring HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n"
    b"Authorization: Bearer %s\r\n\r\n12345" % TOKEN.encode()
)


def limits(**given: Any) -> ServerLimits:
    return ServerLimits(**{name: getattr(UNHURRIED, name) for name in UNHURRIED.__struct_fields__} | given)


def with_routes(app: FastAPI) -> None:
    @app.post("/api/v1/bring")
    async def bring(request: Request) -> int:
        return len(await request.body())

    @app.get("/api/v1/stream")
    async def stream() -> StreamingResponse:
        async def events() -> AsyncIterator[str]:
            while True:
                yield "data: on\n\n"
                await asyncio.sleep(0.05)

        return StreamingResponse(events(), media_type="text/event-stream")

    @app.get("/api/v1/endless")
    async def endless() -> StreamingResponse:
        async def bytes_() -> AsyncIterator[bytes]:
            while True:
                yield b"x" * 100_000
                await asyncio.sleep(0)

        return StreamingResponse(bytes_())


@contextmanager
def raw(server: Served, sent: bytes, source: str = "127.0.0.1") -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", server.port), timeout=LONGEST, source_address=(source, 0)) as opened:
        opened.sendall(sent)
        yield opened


def said(opened: socket.socket) -> tuple[int, Any]:
    """The status and the body, once the server has closed the connection."""
    received = b""
    while part := opened.recv(65_536):
        received += part
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def is_open(opened: socket.socket) -> bool:
    looking = select.poll()
    looking.register(opened, select.POLLIN)
    return not looking.poll(0)


@pytest.mark.parametrize("half", [HEAD, BODY], ids=["headers", "body"])
def test_half_sent_requests_from_the_same_address_keep_nobody_out(tmp_path: Path, half: bytes) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 2 * HALF_SENT:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4 * HALF_SENT, hard), hard))
    few = limits(connections_per_address=50, head_seconds=600, body_seconds=600)
    with served(tmp_path, token=TOKEN, limits=few, more=with_routes) as server, ExitStack() as attack:
        attacking = []
        with server.client(TOKEN) as client:
            for number in range(HALF_SENT):
                source = "127.0.0.2" if number % 3 == 0 else "127.0.0.1"
                attacking.append(attack.enter_context(raw(server, half, source)))
                if number % 100 == 99:
                    assert client.get("/api/v1/version").status_code == 200
            for _ in range(20):
                with server.client(TOKEN) as newcomer:
                    assert newcomer.get("/api/v1/version").status_code == 200
        wait_until(lambda: sum(map(is_open, attacking)) <= 100)
        assert sum(map(is_open, attacking)) > 20  # they are held to a number, not cut off as such


def test_all_addresses_together_hold_so_many_connections(tmp_path: Path) -> None:
    few = limits(connections=30, connections_per_address=20)
    with served(tmp_path, limits=few) as server, ExitStack() as attack:
        attacking = [
            attack.enter_context(raw(server, HEAD, f"127.0.0.{2 + number % 5}"))  # 5 addresses
            for number in range(100)
        ]
        with server.client() as client:
            assert client.get("/api/v1/version").status_code == 200
        wait_until(lambda: sum(map(is_open, attacking)) <= 30)


def test_a_request_whose_headers_never_end_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with served(tmp_path, limits=limits(head_seconds=0.3)) as server:
        with raw(server, HEAD) as slow:
            status, body = said(slow)
            assert (status, body["error"]["type"]) == (408, "TooSlow")
            assert "headers" in body["error"]["message"]
        with raw(server, b"") as silent:
            assert silent.recv(1) == b""


def test_bytes_that_trickle_in_do_not_move_the_deadline_of_the_headers(tmp_path: Path) -> None:
    with served(tmp_path, limits=limits(head_seconds=0.5)) as server, raw(server, HEAD) as slow:
        until = time.monotonic() + LONGEST
        while is_open(slow):
            assert time.monotonic() < until
            slow.sendall(b"x")
            time.sleep(0.05)


def test_a_second_request_on_the_same_connection_has_the_same_deadline(tmp_path: Path) -> None:
    whole = b"GET /api/v1/version HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with served(tmp_path, limits=limits(head_seconds=0.5)) as server, raw(server, whole) as slow:
        assert b" 200 " in slow.recv(65_536)
        slow.sendall(HEAD)
        assert said(slow)[0] == 408


def test_a_body_that_trickles_in_is_refused_and_a_steady_one_may_take_longer(tmp_path: Path) -> None:
    hasty, lenient = (limits(body_seconds=0.5, body_rate=rate) for rate in (100, 100 / PATIENCE))
    with served(tmp_path / "hasty", token=TOKEN, limits=hasty, more=with_routes) as server, raw(server, BODY) as slow:
        status, body = said(slow)
        assert (status, body["error"]["type"]) == (408, "TooSlow")
        assert "body" in body["error"]["message"]
    begun = BODY.removesuffix(b"12345") + b"x" * 100
    with (
        served(tmp_path / "lenient", token=TOKEN, limits=lenient, more=with_routes) as server,
        raw(server, begun) as steady,
    ):
        for _ in range(9):  # each of these buys all the time that a test waits
            time.sleep(0.1)
            steady.sendall(b"x" * 100)
        assert b" 200 " in steady.recv(65_536)


def test_an_answer_that_nobody_reads_is_given_up(tmp_path: Path) -> None:
    unread = limits(read_answer_seconds=0.3, connections_per_address=1)
    asked = b"GET /api/v1/endless HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with served(tmp_path, limits=unread, more=with_routes) as server, raw(server, asked):

        def is_answered() -> bool:
            with server.client() as client:
                return client.get("/api/v1/version").status_code == 200

        wait_until(is_answered)


def test_whoever_comes_while_all_connections_are_being_answered_is_told_so(tmp_path: Path) -> None:
    two = limits(connections_per_address=2)
    with served(tmp_path, limits=two, more=with_routes) as server, ExitStack() as streams:
        asked = b"GET /api/v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        for _ in range(2):
            assert b" 200 " in streams.enter_context(raw(server, asked)).recv(1_000)
        with raw(server, b"") as late:
            status, body = said(late)
            assert (status, body["error"]["type"]) == (429, "TooMany")
        with server.client() as elsewhere, raw(server, asked, "127.0.0.9") as other:
            assert b" 200 " in other.recv(1_000)
            assert elsewhere.get("/api/v1/version").status_code == 429


def test_websockets_do_not_count_as_connections(tmp_path: Path) -> None:
    from tests.interfaces.server.test_limits import with_routes as with_talk

    with served(tmp_path, limits=limits(connections_per_address=1), more=with_talk) as server, ExitStack() as talks:
        for _ in range(5):
            address = f"ws://127.0.0.1:{server.port}/talk"
            talk = talks.enter_context(connect(address, origin=server.url, proxy=None, open_timeout=PATIENCE))  # type: ignore[arg-type]
            talk.send("one")
            assert talk.recv(timeout=LONGEST) == "one"
        with server.client() as client:
            assert client.get("/api/v1/version").status_code == 200


@pytest.mark.parametrize("talks", [True, False], ids=["talking", "silent"])
def test_a_websocket_outlives_the_deadlines_of_requests(tmp_path: Path, talks: bool) -> None:
    from tests.interfaces.server.test_limits import with_routes as with_talk

    brief = limits(body_seconds=0.3, body_rate=1e9, read_answer_seconds=0.3)
    address = "ws://127.0.0.1:{port}/talk"
    with served(tmp_path, limits=brief, more=with_talk) as server:
        opened = connect(address.format(port=server.port), origin=server.url, proxy=None, open_timeout=PATIENCE)  # type: ignore[arg-type]
        with opened as talk:
            until = time.monotonic() + 4 * brief.body_seconds
            while time.monotonic() < until:
                if talks:
                    talk.send("still here")
                    assert talk.recv(timeout=LONGEST) == "still here"
                with pytest.raises(TimeoutError):  # nothing else is written into it, and it stays open
                    talk.recv(timeout=brief.body_seconds / 6)
            talk.send("last")
            assert talk.recv(timeout=LONGEST) == "last"


def test_accepted_connections_send_at_once(tmp_path: Path) -> None:
    with served(tmp_path) as server, server.client() as client:
        assert client.get("/api/v1/version").status_code == 200
        accepted = server.accepted_sockets()
        assert accepted
        assert all(each.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for each in accepted)


def test_headers_without_end_are_refused_before_they_fill_the_memory(tmp_path: Path) -> None:
    with served(tmp_path) as server, raw(server, HEAD + b"x" * 200_000) as large:
        assert b" 400 " in large.recv(1_000)


def wait_until(holds: Any) -> None:
    until = time.monotonic() + LONGEST
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)
