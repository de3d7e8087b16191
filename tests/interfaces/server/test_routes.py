"""Every route there is, walked by those who may not."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.routing import Mount, WebSocketRoute
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tablewright.domain.model import Field
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import plan_fill
from tablewright.services import Services
from tests.interfaces.server.serving import TOKEN, Served, error_of, served
from tests.operating import begin_research, share
from tests.patience import PATIENCE

OPEN = {("GET", "/login"), ("HEAD", "/login"), ("POST", "/login"), ("POST", "/logout"), ("GET", "/api/v1/health")}
OPEN |= {("GET", "/health"), ("GET", "/ready")}
SECRET = "Quietwater"
HIDDEN = "Hush Ltd"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("home"), token=TOKEN, pages=True) as running:
        yield running


def routes(app: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """(method, path) of all; what is mounted is walked too, and what has no routes of its own is asked for a file."""
    for each in iter_route_contexts(app.routes):
        path = prefix + (each.path or "")
        found = each.original_route
        if isinstance(found, Mount):
            below = list(routes(found, path))
            yield from below or [("GET", path + "/file.js"), ("POST", path + "/file.js"), ("WEBSOCKET", path + "/")]
        elif isinstance(found, WebSocketRoute):
            yield "WEBSOCKET", path
        else:
            yield from ((method, path) for method in sorted(each.methods or ()))


def filled(path: str, known: dict[str, str]) -> str:
    return re.sub(r"{(\w+)(?::\w+)?}", lambda match: known.get(match[1], "1"), path)


def test_the_walk_finds_the_pages_the_api_the_files_and_the_websockets(server: Served) -> None:
    found = set(routes(server.app))
    assert {
        ("GET", "/"),
        ("GET", "/api/v1/tables"),
        ("DELETE", "/api/v1/tables/{table}"),
        ("POST", "/login"),
    } <= found
    assert ("WEBSOCKET", "/_nicegui_ws/") in found
    assert any(path.endswith("/static/file.js") for _, path in found)
    assert len(found) > 80


@pytest.mark.parametrize("token", ["", "wrong"])
def test_without_a_token_and_with_a_wrong_one_every_route_says_no(server: Served, token: str) -> None:
    accept = {"Accept": "text/html,*/*"}
    with server.client(token, **accept) as client:
        for method, path in routes(server.app):
            if (method, path) in OPEN:
                continue
            path = filled(path, {})
            if method == "WEBSOCKET":
                assert handshake(server, path, token) == 401, path
                continue
            answer = client.request(method, path, json={} if method != "GET" else None)
            if answer.status_code == 303:
                assert method in ("GET", "HEAD")
                assert not path.startswith("/api/")
                assert answer.headers["location"].startswith("/login?next=")
                assert answer.content == b""
            else:
                assert answer.status_code == 401, (method, path)
                assert method == "HEAD" or error_of(answer)["type"] == "NotLoggedIn"


def test_what_the_api_does_not_have_is_said_in_its_own_shape_and_logged_without_the_query(
    server: Served, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "tablewright.server")
    nowhere = ("/api/v1/tablez?secret=abc", "/api/v1/tables/", "/api/v1", "/api/v2/tables", "/api/")
    refused = (
        ("PUT", "/api/v1/tables?secret=abc", "GET, POST"),
        ("PROPFIND", "/api/v1/health", "GET"),
        ("GET", "/api/v1/tables/x/fields/a%2Fb", "DELETE, PUT"),
    )
    with server.client(TOKEN) as client:
        for path in nowhere:
            answer = client.get(path)
            assert (answer.status_code, error_of(answer)["type"]) == (404, "NotFound"), path
        for method, path, allowed in refused:
            answer = client.request(method, path)
            assert (answer.status_code, error_of(answer)["type"]) == (405, "MethodNotAllowed"), path
            assert answer.headers["allow"] == allowed
        assert client.get("/nowhere?secret=abc").status_code == 404  # a page
    with server.client() as nobody:
        for path in nowhere:
            assert error_of(nobody.get(path))["type"] == "NotLoggedIn"
        assert error_of(nobody.put("/api/v1/tables"))["type"] == "NotLoggedIn"
    assert "GET /api/v1/tablez 404" in caplog.text
    assert "GET /nowhere 404" in caplog.text
    assert "abc" not in caplog.text


def handshake(server: Served, path: str, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    address = f"ws://127.0.0.1:{server.port}{path}?EIO=4&transport=websocket"
    try:
        with connect(address, additional_headers=headers, origin=server.url, proxy=None, open_timeout=PATIENCE):  # type: ignore[arg-type]
            return 101
    except InvalidStatus as refused:
        return int(refused.response.status_code)


def test_what_needs_no_token_tells_nothing(server: Served) -> None:
    with server.client() as client:
        assert client.get("/api/v1/health").json() == {"status": "ok"}
        assert client.get("/login").status_code == 200


def test_the_pages_libraries_may_be_cached_and_nothing_else(server: Served) -> None:
    with server.browser(TOKEN) as browser:
        page = browser.get("/")
        assert page.headers["cache-control"] == "no-store"
        (script,) = set(re.findall(r'src="(/_nicegui/[^"]*/nicegui\.js)"', page.text))
        assert "max-age" in browser.get(script).headers["cache-control"]
        assert browser.get("/_nicegui/auto/static/report.csv").headers["cache-control"] == "no-store"


@pytest.fixture(scope="module")
def known(server: Served, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Somebody's table with a run and a proposal, and a research with a table of its own."""
    file = tmp_path_factory.mktemp("files") / "companies.csv"
    file.write_text(f"Company,Price\n{HIDDEN},2\n")

    async def make(services: Services) -> dict[str, str]:
        from tablewright.domain.files import FileOptions

        table = (await import_table_file(services, file, FileOptions(name=SECRET))).table
        fill = await plan_fill(services, table.id, [Field(name="Twice", question="={Price} * 2")], "computation")
        result = await fill.run()
        proposals = await services.store.proposals.all(table.id)
        research = await begin_research(services, f"Which towns are near {SECRET}?")
        return {
            "table": table.id,
            "table_id": table.id,
            "run_id": result.run_id,
            "proposal_id": proposals[0].id,
            "research": research.id,
            "research_id": research.id,
            "kind": "table",
            "id": table.id,
            "row_id": "1",
            "field": "Company",
        }

    return server.do(make)


# By POST, because what is asked for may not fit into an address.
READS = ("/page-data/tables/{table_id}/cells",)


def api_routes(app: FastAPI, *, writes: bool) -> list[tuple[str, str]]:
    found = [(method, path) for method, path in routes(app) if method not in ("HEAD", "WEBSOCKET")]
    ours = [each for each in found if each[1].startswith(("/api/", "/page-data/"))]
    return [each for each in ours if (each[0] != "GET" and each[1] not in READS) is writes]


def test_a_viewer_cannot_write_or_start_anything(server: Served, known: dict[str, str]) -> None:
    token = server.add_user("vera", "viewer")
    server.do(lambda services: share(services, "table", known["table_id"], ["vera"]))
    walked = api_routes(server.app, writes=True)
    assert len(walked) > 30
    with server.client(token) as viewer:
        for method, path in walked:
            if path.startswith("/api/v1/tokens"):  # their own
                continue
            answer = viewer.request(method, filled(path, known), json={})
            assert (answer.status_code, error_of(answer)["type"]) == (403, "Forbidden"), (method, path)
        assert viewer.get(f"/api/v1/tables/{known['table_id']}").status_code == 200


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_others_tables_are_not_there(server: Served, known: dict[str, str], role: Any) -> None:
    token = server.add_user(f"other {role}", role)
    about = re.compile("{(table|table_id|run_id|proposal_id|research|id)}")
    with server.client(token) as other:
        for method, path in api_routes(server.app, writes=False) + api_routes(server.app, writes=True):
            if "/users" in path:
                continue
            answer = other.request(method, filled(path, known), json=None if method == "GET" else {})
            if about.search(path):
                assert answer.status_code in ((404,) if method == "GET" else (403, 404, 422)), (method, path)
            assert SECRET not in answer.text, (method, path)
            assert HIDDEN not in answer.text, (method, path)

    async def look(services: Services) -> tuple[str, int, str]:
        table = await services.table(known["table_id"])
        return (
            table.name,
            await services.count(table.id),
            (await services.store.proposals.get(known["proposal_id"])).status,
        )

    assert server.do(look) == (SECRET, 1, "open")


def test_the_pages_of_others_tables_show_nothing_of_them(server: Served, known: dict[str, str]) -> None:
    with server.browser(server.add_user("looker", "viewer")) as other:
        walked = [path for method, path in routes(server.app) if method == "GET" and "{" in path]
        for path in walked:
            if not path.startswith(("/api/", "/_nicegui", "/page-files")):
                shown = other.get(filled(path, known), follow_redirects=True).text
                assert SECRET not in shown, path
                assert HIDDEN not in shown, path
    with server.browser(TOKEN) as owner:
        assert SECRET in owner.get(f"/tables/{known['table_id']}").text


@pytest.mark.parametrize("role", ["viewer", "editor"])
def test_only_admins_see_to_users(server: Served, role: Any) -> None:
    with server.client(server.add_user(f"curious {role}", role)) as client:
        for method, path in routes(server.app):
            if path.startswith("/api/v1/users") and method != "HEAD":
                asked = {"name": "new", "role": "admin"}
                answer = client.request(method, filled(path, {"user": "vera"}), json=None if method == "GET" else asked)
                assert answer.status_code in (403, 404, 422), (method, path)
    assert "new" not in [person.name for person in server.do(lambda services: services.store.users.all())]


def test_a_page_that_takes_long_is_shown_all_the_same(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = Services.tables

    async def slowly(self: Services) -> Any:
        await asyncio.sleep(3.5)
        return await tables(self)

    monkeypatch.setattr(Services, "tables", slowly)
    with server.browser(TOKEN) as browser:
        assert browser.get("/").status_code == 200
