"""Nobody can ask for so much that the others get nothing."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pytest
from fastapi import FastAPI, Request, WebSocket
from fastapi.responses import StreamingResponse
from starlette.requests import ClientDisconnect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from tablewright.interfaces.server.limits import ServerLimits, TokenBuckets
from tests.interfaces.server.serving import TOKEN, Served, error_of, served
from tests.operating import unshare
from tests.patience import PATIENCE

FEW = ServerLimits(
    body=1_000,
    upload=100_000,
    requests_per_second=100_000,
    burst=100_000,
    streams=3,
    login_delay=0.0,
    logins_per_minute=1_000,
    check_again=0.0,
)


def with_routes(app: FastAPI) -> None:
    @app.post("/api/v1/bring")
    async def bring(request: Request) -> int:
        return len(await request.body())

    @app.post("/api/v1/patient")
    async def patient(request: Request) -> int:
        with suppress(ClientDisconnect):
            await request.body()
        return 0

    @app.get("/api/v1/stream")
    async def stream() -> StreamingResponse:
        async def events() -> AsyncIterator[str]:
            while True:
                yield "data: on\n\n"
                await asyncio.sleep(0.05)

        return StreamingResponse(events(), media_type="text/event-stream")

    @app.websocket("/talk")
    async def talk(websocket: WebSocket) -> None:
        await websocket.accept()
        async for said in websocket.iter_text():
            await websocket.send_text(said)


def test_a_body_that_is_too_large_is_refused(tmp_path: Path) -> None:
    kinds = ("application/json", "", "application/x-www-form-urlencoded", "text/csv", "multipart/form-data; boundary=x")
    with served(tmp_path, limits=FEW, more=with_routes) as server, server.client() as client:
        for kind in kinds:
            most, headers = FEW.body, {"Content-Type": kind}
            assert client.post("/api/v1/bring", content=b"x" * most, headers=headers).json() == most
            answer = client.post("/api/v1/bring", content=b"x" * (most + 1), headers=headers)
            assert (answer.status_code, error_of(answer)["type"]) == (413, "TooLarge"), kind


def test_only_where_files_are_taken_a_body_may_be_as_large_as_files_are(tmp_path: Path) -> None:
    """Files go to the disk, all else is read into memory."""
    with served(tmp_path, limits=FEW) as server, server.client() as client:
        for path in ("/api/v1/tables/import", "/api/v1/documents", "/_nicegui/client/abc/upload/7"):
            for most, headers in ((FEW.upload, {"Content-Type": "multipart/form-data; boundary=x"}), (FEW.body, {})):
                answers = [client.post(path, content=b"x" * size, headers=headers) for size in (most, most + 1)]
                assert [answer.status_code == 413 for answer in answers] == [False, True], (path, headers)


def test_a_body_of_unknown_length_is_refused_as_soon_as_it_is_too_large(tmp_path: Path) -> None:
    def pieces(many: int) -> Iterator[bytes]:
        for _ in range(many):
            yield b"x" * 100

    with served(tmp_path, limits=FEW, more=with_routes) as server, server.client() as client:
        assert client.post("/api/v1/bring", content=pieces(10)).json() == 1_000
        for path in ("/api/v1/bring", "/api/v1/patient"):
            answer = client.post(path, content=pieces(11))
            assert (answer.status_code, error_of(answer)["type"]) == (413, "TooLarge"), path


def test_a_large_body_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """Only the head is sent: the answer comes all the same."""
    with served(tmp_path, more=with_routes) as server, socket.create_connection(("127.0.0.1", server.port)) as raw:
        raw.sendall(b"POST /api/v1/bring HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 999999999999\r\n\r\n")
        raw.settimeout(PATIENCE)
        assert b" 413 " in raw.recv(1_000)


def test_whoever_is_not_known_can_bring_next_to_nothing(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN) as server, server.browser() as browser:
        assert browser.post("/login", data={"token": "x" * 20_000}).status_code == 413


def test_a_person_who_asks_too_fast_is_slowed_down_and_the_others_are_not(tmp_path: Path) -> None:
    limits = ServerLimits(requests_per_second=0.01, burst=5)
    with served(tmp_path, limits=limits, more=with_routes) as server:
        tokens = [server.add_user(name, "editor") for name in ("ann", "bob")]
        with server.client(tokens[0]) as ann, server.client(tokens[1]) as bob, server.client() as nobody:
            assert [ann.post("/api/v1/bring").status_code for _ in range(5)] == [200] * 5
            answer = ann.post("/api/v1/bring")
            assert (answer.status_code, error_of(answer)["type"]) == (429, "TooMany")
            assert 1 <= int(answer.headers["retry-after"]) <= 100
            assert bob.post("/api/v1/bring").status_code == 200
            assert [nobody.get("/login").status_code for _ in range(6)] == [200] * 5 + [429]


def test_tokens_cannot_be_tried_out_quickly(tmp_path: Path) -> None:
    limits = ServerLimits(login_delay=0.1, logins_per_minute=5)
    with served(tmp_path, token=TOKEN, limits=limits) as server, server.browser() as browser:
        begun = time.monotonic()
        assert [browser.post("/login", data={"token": f"{n}"}).status_code for n in range(5)] == [401] * 5
        assert time.monotonic() - begun >= 5 * limits.login_delay
        answer = browser.post("/login", data={"token": TOKEN})
        assert (answer.status_code, error_of(answer)["type"]) == (429, "TooMany")
        assert int(answer.headers["retry-after"]) > 5


def test_right_tokens_are_never_counted(tmp_path: Path) -> None:
    limits = ServerLimits(logins_per_minute=2)
    with served(tmp_path, token=TOKEN, limits=limits) as server, server.client(TOKEN) as client:
        assert [client.get("/api/v1/version").status_code for _ in range(10)] == [200] * 10
        for _ in range(5):
            with server.browser(TOKEN) as browser:
                assert browser.get("/api/v1/version").status_code == 200


def test_wherever_wrong_tokens_come_they_are_counted_together(tmp_path: Path) -> None:
    """In a header, in a websocket's, at the login; then whatever the address shows is refused, the right one too."""
    limits = ServerLimits(login_delay=0.0, logins_per_minute=3)
    with served(tmp_path, token=TOKEN, limits=limits, more=with_routes) as server, server.client() as nobody:
        with server.client("wrong") as guessing:
            assert guessing.get("/api/v1/version").status_code == 401
        assert talking(server, "wrong") == 401
        assert nobody.post("/login", data={"token": "wrong"}).status_code == 401
        with server.client("other") as other, server.client(TOKEN) as right:
            answers = [each.get("/api/v1/version") for each in (other, right)]
            answers.append(nobody.post("/login", data={"token": TOKEN}))
        for answer in answers:
            assert (answer.status_code, error_of(answer)["type"]) == (429, "TooMany")
            assert 5 < int(answer.headers["retry-after"]) <= 20
        assert talking(server, TOKEN) == 429
        assert nobody.get("/login").status_code == 200
        assert nobody.get("/api/v1/version").status_code == 401


def test_who_was_let_in_before_is_not_locked_out_by_others_at_the_address(tmp_path: Path) -> None:
    limits = ServerLimits(login_delay=0.0, logins_per_minute=1)
    with (
        served(tmp_path, token=TOKEN, limits=limits) as server,
        server.browser(TOKEN) as browser,
        server.client(TOKEN) as right,
        server.client("wrong") as guessing,
    ):
        assert [guessing.get("/api/v1/version").status_code for _ in range(3)] == [401, 429, 429]
        assert [each.get("/api/v1/version").status_code for each in (browser, right)] == [200, 200]


def talking(server: Served, token: str) -> int:
    address, headers = f"ws://127.0.0.1:{server.port}/talk", {"Authorization": f"Bearer {token}"}
    with pytest.raises(InvalidStatus) as refused:
        connect(address, additional_headers=headers, proxy=None, open_timeout=PATIENCE)
    return int(refused.value.response.status_code)


def test_who_was_let_in_before_somebody_guessed_stays(tmp_path: Path) -> None:
    limits = ServerLimits(logins_per_minute=1, check_again=0.0)
    with (
        served(tmp_path, token=TOKEN, limits=limits, more=with_routes) as server,
        server.client(TOKEN) as client,
        client.stream("GET", "/api/v1/stream") as events,
    ):
        lines = events.iter_lines()
        assert next(lines) == "data: on"
        with server.client("wrong") as guessing:
            assert [guessing.get("/api/v1/version").status_code for _ in range(2)] == [401, 429]
        assert len(list(islice(lines, 20))) == 20


def test_a_bucket_that_was_overdrawn_is_waited_for() -> None:
    now = 0.0
    buckets = TokenBuckets(2, 3, lambda: now)
    assert buckets.seconds_to_wait("a") == 0
    for _ in range(5):
        buckets.owe("a")
    assert (buckets.seconds_to_wait("a"), buckets.seconds_to_wait("b")) == (1.5, 0)
    now = 1.5
    assert buckets.seconds_to_wait("a") == 0


def test_a_bucket_fills_again() -> None:
    now = 0.0
    buckets = TokenBuckets(2, 3, lambda: now)
    assert [buckets.take("a") for _ in range(5)] == [0, 0, 0, 0.5, 0.5]
    now = 0.5
    assert [buckets.take("a"), buckets.take("a")] == [0, 0.5]
    now = 100
    assert [buckets.take("a") for _ in range(4)] == [0, 0, 0, 0.5]


def test_a_person_can_have_so_many_streams_open(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with served(tmp_path, limits=FEW, more=with_routes) as server, server.client() as client:
        opened = [client.send(client.build_request("GET", "/api/v1/stream"), stream=True) for _ in range(2)]
        address = f"ws://127.0.0.1:{server.port}/talk"
        with connect(address, origin=server.url, proxy=None, open_timeout=PATIENCE):  # type: ignore[arg-type]
            answer = client.get("/api/v1/stream")
            assert (answer.status_code, error_of(answer)["type"]) == (429, "TooMany")
            with (
                pytest.raises(InvalidStatus) as caught,
                connect(address, origin=server.url, proxy=None, open_timeout=PATIENCE),
            ):  # type: ignore[arg-type]
                pass
            assert caught.value.response.status_code == 429
        for response in opened:
            response.close()
        opened.clear()
        until = time.monotonic() + PATIENCE
        while len(opened) < FEW.streams:  # what was closed counts no more, once the server has seen it
            again = client.send(client.build_request("GET", "/api/v1/stream"), stream=True)
            if again.status_code == 200:
                opened.append(again)
            else:
                again.close()
                assert time.monotonic() < until
                time.sleep(0.05)
        for response in opened:
            response.close()
    assert "failed" not in caplog.text  # whoever leaves is no error


def test_an_open_stream_ends_with_the_token(tmp_path: Path) -> None:
    with served(tmp_path, limits=FEW, more=with_routes) as server:
        server.add_user("bob", "admin")
        token = server.add_user("ann", "viewer")
        with server.client(token) as ann, ann.stream("GET", "/api/v1/stream") as events:
            lines = events.iter_lines()
            assert next(lines) == "data: on"
            server.do(lambda services: services.store.users.remove("ann"))
            assert len(list(islice(lines, 100))) < 100


def demoted(server: Served) -> None:
    server.do(lambda services: services.store.users.change_role("ann", "viewer"))


def bereft(server: Served) -> None:
    server.do(lambda services: unshare(services, "table", "towns", ["ann"]))


@pytest.mark.parametrize("loses", [demoted, bereft])
def test_an_open_stream_ends_where_somebody_may_do_or_see_less_than_before(
    tmp_path: Path, loses: Callable[[Served], None]
) -> None:
    def make(name: str) -> None:
        ann.post("/api/v1/tables", json={"name": name, "rows": [{"A": "x"}]}).raise_for_status()

    with (
        served(tmp_path, limits=FEW, more=with_routes) as server,
        server.client(server.add_user("ann", "editor")) as ann,
    ):
        make("towns")
        with ann.stream("GET", "/api/v1/stream") as events:
            lines = events.iter_lines()
            make("more")
            assert [next(lines) for _ in range(10)][-2] == "data: on"  # whoever sees more watches on
            loses(server)
            assert len(list(islice(lines, 100))) < 100


def test_an_open_websocket_ends_with_the_login(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN, limits=FEW, more=with_routes) as server, server.browser(TOKEN) as browser:
        cookie = {"Cookie": "; ".join(f"{name}={value}" for name, value in browser.cookies.items())}
        address = f"ws://127.0.0.1:{server.port}/talk"
        with connect(address, origin=server.url, additional_headers=cookie, proxy=None, open_timeout=PATIENCE) as talk:  # type: ignore[arg-type]
            talk.send("one")
            assert talk.recv(timeout=PATIENCE) == "one"
            assert browser.post("/logout").status_code == 303
            talk.send("two")
            with pytest.raises(ConnectionClosed):
                talk.recv(timeout=PATIENCE)


def test_the_usual_limits_let_a_page_load_all_it_needs() -> None:
    usual = ServerLimits()
    assert (usual.body, usual.upload) == (2 * 1024 * 1024, 200 * 1024 * 1024)
    buckets = TokenBuckets(usual.requests_per_second, usual.burst, lambda: 0.0)
    assert not any(buckets.take("ann") for _ in range(300))
    assert usual.streams >= 200
