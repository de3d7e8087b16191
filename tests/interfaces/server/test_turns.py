"""One person on many connections, or one who reads slowly, takes nothing from the others."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from fastapi import FastAPI, Request, Response, WebSocket

from tablewright.interfaces.server.errors import TooMany
from tablewright.interfaces.server.limits import MEGABYTE, RequestTurns
from tests.interfaces.server.serving import TOKEN, Served, served
from tests.interfaces.server.test_connections import limits, raw, wait_until
from tests.patience import PATIENCE

LARGE = 8 * MEGABYTE


class Work:
    """Routes that last until they are told to go on, and how many are under way for each person."""

    def __init__(self) -> None:
        self.under_way: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.made: Counter[str] = Counter()
        self.sent = 0
        self.cut_off = threading.Event()
        self.goes_on = threading.Event()

    def add_routes(self, app: FastAPI) -> None:
        @app.get("/api/v1/work")
        async def work(request: Request) -> str:
            name = request.state.person.name
            self.under_way[name] += 1
            self.most[name] = max(self.most[name], self.under_way[name])
            if name == "greedy":
                await asyncio.to_thread(self.goes_on.wait, PATIENCE)
            self.under_way[name] -= 1
            return name

        @app.get("/api/v1/rest")
        async def rest(request: Request) -> str:
            async with request.state.without_turn():
                self.under_way["resting"] += 1
                await asyncio.to_thread(self.goes_on.wait, PATIENCE)
            return "rested"

        @app.get("/api/v1/large")
        async def large(request: Request) -> Response:
            self.made[request.state.person.name] += 1
            return Response(b"x" * LARGE)

        @app.websocket("/flood")
        async def flood(websocket: WebSocket) -> None:
            await websocket.accept()
            try:
                while True:
                    await websocket.send_bytes(b"x" * 65_536)
                    self.sent += 65_536
            finally:
                self.cut_off.set()


def asking(server: Served, path: str, token: str = "") -> bytes:
    own = f"Authorization: Bearer {token}\r\n" if token else ""
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n{own}\r\n".encode()


def test_one_viewer_on_sixteen_connections_takes_a_few_turns_and_the_others_have_theirs(tmp_path: Path) -> None:
    work = Work()
    with served(tmp_path, token=TOKEN, more=work.add_routes) as server, ExitStack() as crowd:
        greedy, other = server.add_user("greedy", "viewer"), server.add_user("other", "viewer")
        asked = [crowd.enter_context(raw(server, asking(server, "/api/v1/work", greedy))) for _ in range(16)]
        wait_until(lambda: work.under_way["greedy"] == 4)
        with server.client(other) as client:
            for _ in range(10):
                assert client.get("/api/v1/work").json() == "other"
            assert client.get("/health").status_code == 200
        assert work.most["greedy"] == 4
        work.goes_on.set()
        assert all(b" 200 " in each.recv(65_536) for each in asked)
        assert work.most["greedy"] == 4


def test_answers_that_are_not_read_are_bounded_for_a_person_and_cost_the_others_nothing(tmp_path: Path) -> None:
    work = Work()
    few = limits(unread_of_one=2 * LARGE, read_answer_seconds=PATIENCE, turn_seconds=PATIENCE)
    with served(tmp_path, token=TOKEN, limits=few, more=work.add_routes) as server, ExitStack() as crowd:
        slow, other = server.add_user("slow", "viewer"), server.add_user("other", "viewer")
        asked = [crowd.enter_context(raw(server, asking(server, "/api/v1/large", slow))) for _ in range(12)]
        wait_until(lambda: work.made["slow"] >= 2)
        with server.client(other) as client:
            for _ in range(5):
                assert len(client.get("/api/v1/large").content) == LARGE
        # Those that were let in together are made together: as many as there are turns, whatever they come to.
        assert work.made["slow"] <= 2 + 4
        with ThreadPoolExecutor(len(asked)) as readers:
            assert list(readers.map(received, asked)) == [LARGE] * len(asked)
        assert work.made["slow"] == 12


def test_requests_that_wait_for_something_else_hold_no_turn(tmp_path: Path) -> None:
    work = Work()
    one = limits(reads=1, turn_seconds=PATIENCE)
    with served(tmp_path, limits=one, more=work.add_routes) as server, ExitStack() as crowd:
        asked = [crowd.enter_context(raw(server, asking(server, "/api/v1/rest"))) for _ in range(3)]
        wait_until(lambda: work.under_way["resting"] == 3)
        with server.client() as client:
            assert client.get("/api/v1/work").status_code == 200
        work.goes_on.set()
        assert all(b" 200 " in each.recv(65_536) for each in asked)


def test_a_request_that_waits_too_long_for_its_turn_is_told_why(tmp_path: Path) -> None:
    work = Work()
    hasty = limits(turn_seconds=0.2, reads_of_one=1)
    with served(tmp_path, token=TOKEN, limits=hasty, more=work.add_routes) as server:
        greedy = server.add_user("greedy", "viewer")
        with raw(server, asking(server, "/api/v1/work", greedy)) as first, server.client(greedy) as client:
            wait_until(lambda: work.under_way["greedy"] == 1)
            refused = client.get("/api/v1/work")
            assert refused.status_code == 429
            assert "not read" in refused.json()["error"]["message"]
            assert refused.headers["retry-after"]
            work.goes_on.set()
            assert b" 200 " in first.recv(65_536)


def test_a_websocket_that_is_not_read_is_cut_off_before_it_fills_the_memory(tmp_path: Path) -> None:
    work = Work()
    impatient = limits(read_answer_seconds=0.5)
    handshake = (
        "GET /flood HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Origin: http://127.0.0.1:{port}\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    with (
        served(tmp_path, limits=impatient, more=work.add_routes) as server,
        raw(server, handshake.format(port=server.port).encode()) as opened,
    ):
        assert b" 101 " in opened.recv(1_000)
        assert work.cut_off.wait(PATIENCE)
        assert work.sent < 32 * MEGABYTE  # the kernel's buffers on both sides, and one message
        wait_until(lambda: not server.accepted_sockets())


def received(opened: socket.socket) -> int:
    """The bytes of the body."""
    head, _, body = opened.recv(65_536).partition(b"\r\n\r\n")
    assert b" 200 " in head
    count = len(body)
    while count < LARGE:
        part = opened.recv(1_000_000)
        assert part
        count += len(part)
    return count


async def test_those_who_wait_take_turns_person_by_person() -> None:
    turns, order = RequestTurns(1, 1), []
    await turns.enter("first")

    async def work(name: str) -> None:
        async with turns.take(name):
            order.append(name)

    waiting = [asyncio.create_task(work(name)) for name in ("ann", "ann", "ann", "bob", "cid")]
    await asyncio.sleep(0)
    waiting[1].cancel()
    turns.leave("first")
    await asyncio.gather(*waiting, return_exceptions=True)
    assert order == ["ann", "bob", "cid", "ann"]
    await turns.enter("ann")
    with pytest.raises(TooMany):
        await turns.enter("bob", 0.01)
    turns.leave("ann")
    async with asyncio.timeout(PATIENCE):
        await turns.enter("bob")
