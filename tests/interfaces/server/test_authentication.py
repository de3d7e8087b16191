"""Who gets in, and for how long."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI, Request

from tablewright.interfaces.mcp.server import create_server, http_app
from tablewright.interfaces.server.authentication import (
    SESSION_COOKIE,
    SESSION_IDLE_SECONDS,
    SESSION_MAX_SECONDS,
    Sessions,
)
from tablewright.interfaces.server.context import Visiting
from tablewright.services import Services
from tablewright.settings import Settings
from tests.interfaces.mcp.talking import listening
from tests.interfaces.server.serving import TOKEN, Served, error_of, served


def with_whoami(app: FastAPI) -> None:
    @app.get("/api/v1/whoami")
    async def whoami(visit: Visiting) -> dict[str, str]:
        return {"name": visit.person.name, "role": visit.person.role}

    @app.post("/api/v1/change")
    async def change(visit: Visiting) -> dict[str, str]:
        return {"by": visit.person.name}


def test_at_this_machine_everybody_is_the_owner_until_there_is_a_user(tmp_path: Path) -> None:
    with served(tmp_path, more=with_whoami) as server, server.client() as client:
        assert client.get("/api/v1/whoami").json() == {"name": "owner", "role": "admin"}
        token = server.add_user("ann", "editor")
        assert error_of(client.get("/api/v1/whoami"))["type"] == "NotLoggedIn"
        with server.client(token) as ann:
            assert ann.get("/api/v1/whoami").json() == {"name": "ann", "role": "editor"}


def test_with_a_token_in_the_settings_it_is_needed_at_this_machine_too(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN, more=with_whoami) as server:
        for token in ("", "wrong", TOKEN[:-1], TOKEN + "x"):
            with server.client(token) as client:
                answer = client.get("/api/v1/whoami")
                assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        with server.client(TOKEN) as client:
            assert client.get("/api/v1/whoami").json()["name"] == "owner"


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"])
def test_what_a_proxy_passes_on_is_not_at_this_machine(tmp_path: Path, header: str) -> None:
    with served(tmp_path, more=with_whoami) as server, server.client(**{header: "203.0.113.7"}) as client:
        assert client.get("/api/v1/whoami").status_code == 401


@pytest.mark.parametrize(
    ("public_hosts", "proxies", "seen"),
    [
        ([], "", "127.0.0.1"),
        (["tables.example"], "", "203.0.113.7"),
        (["tables.example"], "10.1.2.3", "127.0.0.1"),
        (["tables.example"], "10.1.2.3,127.0.0.1", "203.0.113.7"),
    ],
    ids=["no public name", "on this machine", "another machine is named", "this one is named"],
)
def test_a_proxy_is_believed_only_with_a_public_name_and_on_this_machine_or_where_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, public_hosts: list[str], proxies: str, seen: str
) -> None:
    if proxies:
        monkeypatch.setenv("FORWARDED_ALLOW_IPS", proxies)

    def with_address(app: FastAPI) -> None:
        @app.get("/api/v1/from")
        async def address(request: Request) -> str:
            assert request.client is not None
            return request.client.host

    with (
        served(tmp_path, token=TOKEN, public_hosts=public_hosts, more=with_address) as server,
        server.client(TOKEN, **{"X-Forwarded-For": "203.0.113.7"}) as client,
    ):
        host = public_hosts[0] if public_hosts else f"127.0.0.1:{server.port}"
        assert client.get("/api/v1/from", headers={"Host": host}).json() == seen


def test_a_wrong_token_is_not_made_good_by_a_cookie(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN, more=with_whoami) as server, server.browser(TOKEN) as browser:
        assert browser.get("/api/v1/whoami").status_code == 200
        assert browser.get("/api/v1/whoami", headers={"Authorization": "Bearer wrong"}).status_code == 401


def test_a_login_gives_a_cookie_that_is_not_the_token_and_scripts_cannot_read(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN, more=with_whoami) as server, server.browser() as browser:
        answer = browser.post("/login?next=/tables", data={"token": TOKEN})
        cookie = answer.headers["set-cookie"]
        assert (answer.status_code, answer.headers["location"]) == (303, "/tables")
        assert TOKEN not in cookie
        assert {"HttpOnly", "SameSite=strict", "Path=/"} <= {part.strip() for part in cookie.split(";")}
        assert "Secure" not in cookie
        assert browser.get("/api/v1/whoami").json()["name"] == "owner"
        assert browser.post("/api/v1/change").json() == {"by": "owner"}


def test_behind_a_proxy_with_https_the_cookie_is_for_https_only(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN, public_hosts=["tables.example"]) as server:
        headers = {"Host": "tables.example", "Origin": "https://tables.example", "X-Forwarded-Proto": "https"}
        with server.client(**headers) as browser:
            assert "Secure" in browser.post("/login", data={"token": TOKEN}).headers["set-cookie"]


def test_a_login_leads_nowhere_else(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN) as server, server.browser() as browser:
        for elsewhere in ("https://evil.example", "//evil.example", "/\\evil.example", "/\n/evil.example", "x"):
            answer = browser.post("/login", params={"next": elsewhere}, data={"token": TOKEN})
            assert answer.headers["location"] == "/", elsewhere


def test_the_form_shows_what_it_was_given_as_text_only(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN) as server, server.browser() as browser:
        page = browser.get("/login", params={"next": '/"><script>alert(1)</script>'})
        assert page.status_code == 200
        assert "<script" not in page.text
        wrong = browser.post("/login", data={"token": "<script>alert(1)</script>"})
        assert wrong.status_code == 401
        assert "<script" not in wrong.text
        assert "set-cookie" not in wrong.headers


def test_logging_out_ends_the_login_even_for_whoever_kept_the_cookie(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN, more=with_whoami) as server, server.browser(TOKEN) as browser:
        kept = browser.cookies[SESSION_COOKIE]
        assert browser.post("/logout").status_code == 303
        with server.client(Cookie=f"{SESSION_COOKIE}={kept}") as thief:
            assert thief.get("/api/v1/whoami").status_code == 401


def renewed(server: Served) -> None:
    server.do(lambda services: services.store.tokens.renew("ann"))


def removed(server: Served) -> None:
    server.do(lambda services: services.store.users.remove("ann"))


@pytest.mark.parametrize("ends", [renewed, removed])
def test_a_login_ends_with_its_token(tmp_path: Path, ends: Callable[[Served], None]) -> None:
    with served(tmp_path, more=with_whoami) as server:
        server.add_user("bob", "admin")
        token = server.add_user("ann", "editor")
        with server.browser(token) as browser, server.client(token) as program:
            assert browser.get("/api/v1/whoami").json()["name"] == "ann"
            ends(server)
            assert browser.get("/api/v1/whoami").status_code == 401
            assert program.get("/api/v1/whoami").status_code == 401


def test_a_new_role_counts_at_once(tmp_path: Path) -> None:
    with served(tmp_path, more=with_whoami) as server:
        token = server.add_user("ann", "editor")
        with server.client(token) as ann:
            assert ann.post("/api/v1/change").status_code == 200
            server.do(lambda services: services.store.users.change_role("ann", "viewer"))
            assert error_of(ann.post("/api/v1/change"))["type"] == "Forbidden"


def test_a_login_is_forgotten_when_it_is_not_used_and_when_it_is_old() -> None:
    now = 0.0
    sessions = Sessions(lambda: now)
    idle = sessions.begin("token")
    now += SESSION_IDLE_SECONDS + 1
    assert sessions.find(idle) is None
    busy = sessions.begin("token")
    begun = now
    while now + SESSION_IDLE_SECONDS / 2 - begun <= SESSION_MAX_SECONDS:
        now += SESSION_IDLE_SECONDS / 2
        assert sessions.find(busy)
    now += SESSION_IDLE_SECONDS / 2
    assert sessions.find(busy) is None


def test_a_login_ends_when_the_server_restarts_and_a_token_does_not(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN) as server, server.browser(TOKEN) as browser:
        kept = browser.cookies[SESSION_COOKIE]
    with served(tmp_path, token=TOKEN, more=with_whoami) as server:
        with server.client(Cookie=f"{SESSION_COOKIE}={kept}") as browser:
            assert browser.get("/api/v1/whoami").status_code == 401
        with server.client(TOKEN) as program:
            assert program.get("/api/v1/whoami").status_code == 200


def test_somebody_who_asks_for_a_page_is_led_to_the_login_and_back(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN) as server, server.browser() as browser:
        answer = browser.get("/tables/t1?row=3")
        assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=%2Ftables%2Ft1%3Frow%3D3")


async def test_over_mcp_tokens_cannot_be_tried_out_quickly_either_and_a_short_one_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    tried = [*(f"hus{letter}" for letter in "abcde"), "hush"]
    async with (
        Services.open(Settings(home=str(tmp_path), token="hush")) as services,
        listening(http_app(create_server(services), "127.0.0.1")) as address,
        httpx2.AsyncClient(trust_env=False) as http,
    ):
        said = [await http.post(address, json=call, headers={"Authorization": f"Bearer {token}"}) for token in tried]
    assert [answer.status_code for answer in said] == [401] * 5 + [429]
    assert error_of(said[-1])["type"] == "TooMany"
    assert int(said[-1].headers["retry-after"]) > 5
    assert caplog.text.count("can be guessed") == 1
