"""Tokens allow what their scopes say, until they expire, and tell when they were last used."""

from __future__ import annotations

import inspect
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi.routing import iter_route_contexts
from sqlalchemy import text

from tablewright.domain.access import Scope
from tablewright.errors import Forbidden
from tablewright.interfaces.api.routes import router
from tablewright.interfaces.server import authentication
from tablewright.operations.operation import OPERATIONS
from tablewright.operations.sharing import ThingRequest, create_view_link
from tablewright.services import Services
from tablewright.store.store import Store
from tests.interfaces.conftest import Shell
from tests.interfaces.server.serving import TOKEN, Served, error_of, served
from tests.patience import PATIENCE
from tests.store.released import load_release

EXPIRED = "2020-01-02T00:00:00Z"
TABLE = {"name": "towns", "rows": [{"Town": "Zug"}]}


def made(server: Served, user: str, *scopes: Scope, expires_at: str = "") -> str:
    return server.do(lambda services: services.store.tokens.add(user, scopes=scopes, expires_at=expires_at))[1]


def test_a_token_that_has_expired_is_refused_with_its_sentence(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN) as server:
        server.add_user("ann", "editor")
        expired = made(server, "ann", "read", expires_at=EXPIRED)
        with server.client(expired) as ann, server.browser() as browser:
            answer = ann.get("/api/v1/version")
            assert (answer.status_code, error_of(answer)["type"]) == (401, "NotLoggedIn")
            assert error_of(answer)["message"] == "This token expired on 2020-01-02."
            page = browser.post("/login", data={"token": expired})
            assert (page.status_code, "expired on 2020-01-02" in page.text) == (401, True)


def test_a_login_ends_when_its_token_expires_and_leads_to_the_login(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN) as server, server.browser(server.add_user("ann", "editor")) as browser:
        assert browser.get("/api/v1/version").status_code == 200

        async def expire(services: Services) -> None:
            update = text("UPDATE tokens SET expires_at = :at")
            await services.store.database.write(lambda connection: connection.execute(update, {"at": EXPIRED}))

        server.do(expire)
        assert browser.get("/api/v1/version").status_code == 401
        assert browser.get("/login").status_code == 200


def test_scopes_hold_for_what_a_token_may_do_and_the_role_for_what_it_may_at_most(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN) as server:
        for name, role in (("ann", "admin"), ("eve", "editor"), ("vic", "viewer")):
            server.add_user(name, role)  # type: ignore[arg-type]

        def may(user: str, *scopes: Scope) -> tuple[bool, ...]:
            """See, write, start work, see to users."""
            with server.client(made(server, user, *scopes)) as client:
                answers = (
                    client.get("/api/v1/tables"),
                    client.post("/api/v1/tables", json=TABLE),
                    client.post("/api/v1/ask", json={"question": "all receipts"}),
                    client.get("/api/v1/users"),
                )
            return tuple(answer.status_code != 403 for answer in answers)

        assert may("ann", "read", "write", "run", "admin") == (True, True, True, True)
        assert may("ann", "read") == (True, False, False, False)
        assert may("ann", "write") == (True, True, False, False)
        assert may("ann", "run") == (True, False, True, False)
        assert may("ann", "admin") == (True, False, False, True)
        assert may("eve", "read", "write", "run", "admin") == (True, True, True, False)
        assert may("vic", "read", "write", "run", "admin") == (True, False, False, False)


def test_every_route_that_writes_asks_for_a_scope() -> None:
    free = {
        "add_token",
        "remove_token",
        "estimate_fill",
        "estimate_refresh",
    }  # ask by themselves, or only look
    for route in iter_route_contexts(router.routes):
        if (route.methods or set()) - {"GET", "HEAD"}:
            endpoint = route.original_route.endpoint  # type: ignore[attr-defined]
            if endpoint.__name__ in OPERATIONS:
                assert OPERATIONS[endpoint.__name__].effect != "read" or endpoint.__name__ in free, endpoint.__name__
                continue
            said = inspect.getsource(endpoint)
            asks = any(word in said for word in ("must_change()", "must_run()", "must_administer()"))
            assert asks or endpoint.__name__ in free, endpoint.__name__


def test_people_see_to_their_own_tokens_and_admins_to_all(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN, token_days="30") as server:
        first, admin = server.add_user("vic", "viewer"), server.add_user("ann", "admin")
        with server.client(first) as vic, server.client(admin) as ann:
            answer = vic.post("/api/v1/tokens", json={"name": "script", "scopes": ["read"], "days": 7})
            assert answer.status_code == 201, answer.text
            token = answer.json()["token"]
            assert (token["name"], token["scopes"], token["last_used_at"]) == ("script", ["read"], "")
            assert token["expires_at"] > token["created_at"]
            with server.client(answer.json()["secret"]) as script:
                assert script.get("/api/v1/tables").status_code == 200
                assert script.post("/api/v1/tokens", json={}).status_code == 403  # a limited token makes none
                wait_until(lambda: used(vic, token["id"]))
                assert ann.get("/api/v1/tokens", params={"user": "vic"}).json() == vic.get("/api/v1/tokens").json()
                assert vic.get("/api/v1/tokens", params={"user": "ann"}).status_code == 403
                theirs = ann.get("/api/v1/tokens").json()["tokens"][0]["id"]
                assert vic.delete(f"/api/v1/tokens/{theirs}").status_code == 404
                assert ann.delete(f"/api/v1/tokens/{token['id']}").json() == {"removed": token["id"]}
                assert script.get("/api/v1/tables").status_code == 401


def test_a_token_made_by_a_token_does_not_outlast_it(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN) as server:
        server.add_user("eve", "editor")
        ends = "2030-01-01T00:00:00Z"
        with server.client(made(server, "eve", "read", "write", "run", "admin", expires_at=ends)) as eve:
            for days in (0, 36_500):
                made_by_it = eve.post("/api/v1/tokens", json={"days": days}).json()["token"]
                assert made_by_it["expires_at"] <= ends


def used(client: httpx2.Client, token_id: str) -> bool:
    listed: list[dict[str, Any]] = client.get("/api/v1/tokens").json()["tokens"]
    return any(each["id"] == token_id and each["last_used_at"] for each in listed)


def wait_until(holds: Any) -> None:
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_the_time_of_last_use_is_written_once_in_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert authentication.TOKEN_USE_SECONDS == 60
    monkeypatch.setattr(authentication, "TOKEN_USE_SECONDS", float("inf"))
    with served(tmp_path, token=TOKEN) as server, server.client(server.add_user("vic", "viewer")) as vic:

        def last_use() -> str:
            (token,) = vic.get("/api/v1/tokens").json()["tokens"]
            return str(token["last_used_at"])

        wait_until(last_use)
        first = last_use()
        assert {last_use() for _ in range(20)} == {first}
        monkeypatch.setattr(authentication, "TOKEN_USE_SECONDS", 0.0)
        wait_until(lambda: last_use() != first)


@pytest.mark.parametrize(("asked", "days"), [([], 90), (["--days", "5"], 5), (["--days", "0"], 0)])
def test_a_new_token_expires_after_90_days_unless_asked_otherwise(shell: Shell, asked: list[str], days: int) -> None:
    shell("users", "add", "ann", "--role", "editor")
    details = shell.json("tokens", "add", "ann", "--name", "script", *asked)["token"]
    if not days:
        assert details["expires_at"] == ""
        return
    lasts = datetime.fromisoformat(details["expires_at"]) - datetime.fromisoformat(details["created_at"])
    assert abs(lasts - timedelta(days=days)) < timedelta(minutes=10)


def test_tokens_on_the_command_line(shell: Shell) -> None:
    user = shell.json("users", "add", "ann", "--role", "editor", "--days", "10")
    secret = shell.json("tokens", "add", "ann", "--name", "nightly", "--scope", "run", "--days", "0")
    assert secret["token"]["scopes"] == ["read", "run"]
    listed = shell.json("tokens", "list", "--user", "ann")["tokens"]
    assert [(each["name"], each["expires_at"] == "") for each in listed] == [("", False), ("nightly", True)]
    assert user["token"] not in str(listed)
    assert "nightly" in shell("tokens", "list").stdout
    shell("tokens", "remove", secret["token"]["id"])
    assert len(shell.json("tokens", "list")["tokens"]) == 1
    assert "--scope" in shell("tokens", "add", "ann", "--scope", "all", code=2).stderr
    assert shell("tokens", "remove", "k123", code=2).stderr


def test_tokens_of_an_older_database_go_on_and_never_expire(tmp_path: Path) -> None:
    digest = "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8"  # of "password"
    known = f"UPDATE users SET token_hash = '{digest}' WHERE name = 'bob';"
    load_release(f"sqlite:///{tmp_path / 'tablewright.db'}", "0.1.0", known)
    with served(tmp_path, token=TOKEN) as server, server.client("password") as bob:
        assert bob.get("/api/v1/version").json()["user"] == "bob"
        assert [each["expires_at"] for each in bob.get("/api/v1/tokens").json()["tokens"]] == [""]


@pytest.mark.parametrize("how", ["demoted", "removed"])
def test_a_share_link_makes_no_tokens_and_ends_with_the_authority_of_its_author(tmp_path: Path, how: str) -> None:
    with served(tmp_path, token=TOKEN) as server:
        admin = server.add_user("ada", "admin")
        with server.client(admin) as ada:
            table_id = ada.post("/api/v1/tables", json=TABLE).json()["table_id"]

        async def link(services: Services) -> str:
            (author,) = await services.store.users.all()
            return (
                await create_view_link(services.acting("ada", author), ThingRequest(kind="table", id=table_id))
            ).token

        secret = server.do(link)
        with server.client(secret) as guest, server.browser(secret) as page:
            assert guest.get(f"/api/v1/tables/{table_id}").status_code == 200
            (own,) = guest.get("/api/v1/tokens").json()["tokens"]
            assert own["scopes"] == ["read"]
            assert own["expires_at"] > own["created_at"]
            refused = guest.post("/api/v1/tokens", json={})
            assert (refused.status_code, "share link" in error_of(refused)["message"]) == (403, True)
            assert guest.delete(f"/api/v1/tokens/{own['id']}").status_code == 403
            assert page.get(f"/api/v1/tables/{table_id}").status_code == 200, "still there"
            with server.client(TOKEN) as owner:
                assert owner.put(f"/api/v1/users/{own['user']}", json={"role": "editor"}).status_code == 400
                if how == "demoted":
                    assert owner.put("/api/v1/users/ada", json={"role": "editor"}).status_code == 200
                else:
                    assert owner.delete("/api/v1/users/ada").status_code == 200
            ended = guest.get(f"/api/v1/tables/{table_id}")
            assert (ended.status_code, "This link no longer works" in error_of(ended)["message"]) == (401, True)
            assert page.get(f"/api/v1/tables/{table_id}").status_code == 401


def test_only_an_admin_makes_share_links(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN) as server, server.client(server.add_user("eve", "editor")) as client:
        table_id = client.post("/api/v1/tables", json=TABLE).json()["table_id"]

        async def link(services: Services) -> None:
            (author,) = await services.store.users.all()
            await create_view_link(services.acting("eve", author), ThingRequest(kind="table", id=table_id))

        with pytest.raises(Forbidden, match="Only an admin"):
            server.do(link)


async def test_share_links_of_an_older_database_count_as_the_owners(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'tablewright.db'}"
    guests = (("u1", "link-towns-ab12-c0ffee"), ("u2", "link-farmer"))
    new_user = "INSERT INTO users (id, name, role, created_at) VALUES ('{}', '{}', 'viewer', '2024');"
    shared = "INSERT INTO shares (kind, thing_id, user_id, owns) VALUES ('table', 'towns-ab12', '{}', false);"
    load_release(url, "0.3.1", *(line.format(*guest) for guest in guests for line in (new_user, shared)))
    async with await Store.open(url) as store:
        assert [(await store.users.by_id(id)).link_by for id, _ in guests] == ["owner", ""]
