"""Somebody else's page cannot act in the name of whoever looks at it."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import FastAPI, WebSocket
from starlette.requests import HTTPConnection
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tablewright.interfaces.server.authentication import SESSION_COOKIE
from tablewright.interfaces.server.origin import ServedHosts, is_loopback
from tests.interfaces.server.serving import TOKEN, Served, error_of, served
from tests.patience import PATIENCE


def with_routes(app: FastAPI) -> None:
    @app.get("/api/v1/read")
    async def read() -> str:
        return "read"

    @app.api_route("/api/v1/write", methods=["POST", "PUT", "PATCH", "DELETE"])
    async def write() -> str:
        return "written"

    @app.websocket("/talk")
    async def talk(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text("hello " + socket.state.person.name)
        await socket.close()


ELSEWHERE = (
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": "http://localhost"},
    {"Origin": "http://[half"},
    {"Origin": "file://"},
    {"Referer": "http://evil.example/page"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
)


def test_at_this_machine_pages_of_others_cannot_write_but_programs_can(tmp_path: Path) -> None:
    with served(tmp_path, more=with_routes) as server, server.client() as client:
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            for here in ({}, {"Origin": server.url}, {"Referer": server.url + "/x"}):
                assert client.request(method, "/api/v1/write", headers=here).status_code == 200
            for headers in ELSEWHERE:
                answer = client.request(method, "/api/v1/write", headers=headers)
                assert (answer.status_code, error_of(answer)["type"]) == (403, "Forbidden"), (method, headers)


def test_with_a_cookie_a_write_must_say_that_it_comes_from_here(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN, more=with_routes) as server, server.browser(TOKEN) as browser:
        assert browser.post("/api/v1/write").status_code == 200
        with server.client(Cookie=f"{SESSION_COOKIE}={browser.cookies[SESSION_COOKIE]}") as other:
            assert other.post("/api/v1/write").status_code == 403
            for headers in ELSEWHERE:
                assert other.post("/api/v1/write", headers=headers).status_code == 403, headers


def test_with_a_token_in_the_header_it_does_not_matter_from_where(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN, more=with_routes) as server, server.client(TOKEN) as client:
        for headers in ELSEWHERE:
            assert client.post("/api/v1/write", headers=headers).status_code == 200


def test_pages_of_others_cannot_embed_what_is_read_but_may_link_to_it(tmp_path: Path) -> None:
    with served(tmp_path, more=with_routes) as server, server.client() as client:
        embedded = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}
        assert client.get("/api/v1/read", headers=embedded).status_code == 403
        linked = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
        assert client.get("/api/v1/read", headers=linked).status_code == 200
        del linked["Sec-Fetch-Dest"]  # as older browsers do
        assert client.get("/api/v1/read", headers=linked).status_code == 200
        for frame in ("iframe", "frame", "object", "embed"):
            assert client.get("/api/v1/read", headers=linked | {"Sec-Fetch-Dest": frame}).status_code == 403, frame


def test_pages_of_others_cannot_log_somebody_in_or_out(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN) as server, server.client(Origin="http://evil.example") as client:
        assert client.post("/login", data={"token": TOKEN}).status_code == 403
        assert client.post("/logout").status_code == 403


def refused(server: Served, headers: dict[str, str], origin: str | None = None) -> int:
    with pytest.raises(InvalidStatus) as caught:
        greeting(server, headers, origin)
    return int(caught.value.response.status_code)


def greeting(server: Served, headers: dict[str, str], origin: str | None = None) -> str | bytes:
    address = f"ws://127.0.0.1:{server.port}/talk"
    with connect(address, additional_headers=headers, origin=origin, proxy=None, open_timeout=PATIENCE) as socket:  # type: ignore[arg-type]
        return socket.recv(timeout=PATIENCE)


def test_websockets_at_this_machine_open_from_own_pages_only(tmp_path: Path) -> None:
    with served(tmp_path, more=with_routes) as server:
        assert greeting(server, {}, server.url) == "hello owner"
        assert refused(server, {}, "http://evil.example") == 403
        assert refused(server, {}) == 403
        assert refused(server, {"Host": "evil.example"}, "http://evil.example") in (400, 421)


def test_websockets_need_a_login_or_a_token(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN, more=with_routes) as server, server.browser(TOKEN) as browser:
        cookie = {"Cookie": f"{SESSION_COOKIE}={browser.cookies[SESSION_COOKIE]}"}
        assert greeting(server, cookie, server.url) == "hello owner"
        assert refused(server, cookie, "http://evil.example") == 403
        assert refused(server, cookie) == 403
        assert greeting(server, {"Authorization": f"Bearer {TOKEN}"}) == "hello owner"
        assert refused(server, {"Authorization": "Bearer wrong"}, server.url) == 401
        assert refused(server, {}, server.url) == 401


def test_a_name_that_somebody_points_at_this_machine_is_not_answered_for(tmp_path: Path) -> None:
    with served(tmp_path, more=with_routes) as server, server.client() as client:
        for name in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "a@127.0.0.1", "[::1", ""):
            assert client.get("/api/v1/read", headers={"Host": name}).status_code == 421, name
        for name in ("127.0.0.1", "localhost", "LOCALHOST:8000", "[::1]:8000"):
            assert client.get("/api/v1/read", headers={"Host": name}).json() == "read", name


def test_behind_a_proxy_the_public_name_is_answered_for_and_is_an_own_origin(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN, more=with_routes, public_hosts=["tables.example"]) as server:
        for host in ("tables.example", f"127.0.0.1:{server.port}"):
            with server.client(Host=host, Origin="https://tables.example") as browser:
                session = browser.post("/login", data={"token": TOKEN}).cookies[SESSION_COOKIE]
                cookie = {"Cookie": f"{SESSION_COOKIE}={session}"}
                assert browser.post("/api/v1/write", headers=cookie).status_code == 200
                assert (
                    browser.post("/api/v1/write", headers=cookie | {"Origin": "https://x.example"}).status_code == 403
                )
        with server.client(Host="other.example") as client:
            assert client.get("/login").status_code == 421


@pytest.mark.parametrize(
    ("public", "own", "others"),
    [
        ("tables.example", ["https://tables.example", "http://tables.example:80"], ["https://tables.example:8443"]),
        ("tables.example:8443", ["https://tables.example:8443"], ["https://tables.example", "http://tables.example:9"]),
    ],
)
def test_behind_a_proxy_only_its_own_port_is_an_own_origin(
    tmp_path: Path, public: str, own: list[str], others: list[str]
) -> None:
    with served(tmp_path, token=TOKEN, public_hosts=[public]) as server:
        for host in ("tables.example", f"127.0.0.1:{server.port}"):
            for origins, code in ((own, 303), (others, 403)):
                for origin in origins:
                    with server.client(Host=host, Origin=origin) as browser:
                        assert browser.post("/login", data={"token": TOKEN}).status_code == code, (host, origin)
        with server.client(Host="tables.example:8000", Origin="http://tables.example:8000") as browser:
            assert browser.post("/login", data={"token": TOKEN}).status_code == 303  # without the proxy


def test_which_addresses_only_this_machine_reaches() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.8.8.8", "localhost", "::1", "[::1]")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.1.2", "tables.example", "")))


def test_a_server_for_others_answers_for_any_name_unless_told_which() -> None:
    asked = HTTPConnection({"type": "http", "headers": [(b"host", b"tables.example:8000")]})
    assert ServedHosts("0.0.0.0").includes_host_of(asked)
    assert not ServedHosts("0.0.0.0", ["other.example"]).includes_host_of(asked)
