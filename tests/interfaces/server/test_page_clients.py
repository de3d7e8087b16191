"""An open page is for whoever opened it: nobody else can connect to it, speak for it or send it files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.interfaces.server.serving import TOKEN, Served, served
from tests.patience import PATIENCE


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("home"), token=TOKEN, pages=True) as running:
        yield running


def client_of(page: str) -> str:
    """The id by which the page's connection is known."""
    found = re.search(r"client_id\W+([0-9a-f-]{36})", page)
    assert found, page[:2_000]
    return found[1]


def handshake(client_id: str) -> dict[str, Any]:
    return {"client_id": client_id, "tab_id": "tab", "document_id": "document", "next_message_id": 0}


def connection(server: Served, browser: httpx2.Client, **query: str) -> ClientConnection:
    cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    asked = urlencode({"EIO": "4", "transport": "websocket", **query})
    return connect(
        f"ws://127.0.0.1:{server.port}/_nicegui_ws/socket.io/?{asked}",
        additional_headers={"Cookie": cookie},
        origin=server.url,  # type: ignore[arg-type]
        proxy=None,
        open_timeout=PATIENCE,
    )


def answer_to(socket: ClientConnection, event: str, message: dict[str, Any]) -> Any:
    """What the server acknowledges it with."""
    socket.send("420" + json.dumps([event, message]))
    while True:
        said = str(socket.recv(timeout=PATIENCE))
        if said.startswith("430"):
            return json.loads(said[3:])[0]


def opened(socket: ClientConnection) -> None:
    assert str(socket.recv(timeout=PATIENCE)).startswith("0")
    socket.send("40")
    assert str(socket.recv(timeout=PATIENCE)).startswith("40")


def test_only_who_opened_a_page_is_connected_to_it(server: Served) -> None:
    tokens = [server.add_user(name, "editor") for name in ("ann", "bob")]
    with server.browser(tokens[0]) as ann, server.browser(tokens[1]) as bob:
        client_id = client_of(ann.get("/").text)
        with pytest.raises(InvalidStatus) as refused, connection(server, bob, client_id=client_id):
            pass
        assert refused.value.response.status_code == 404
        with connection(server, bob) as socket:
            opened(socket)
            assert answer_to(socket, "handshake", handshake(client_id)) is False
            assert (
                answer_to(socket, "event", {"client_id": client_id, "id": 1, "listener_id": "x", "args": []}) is False
            )
            own = client_of(bob.get("/").text)
            assert answer_to(socket, "handshake", handshake(own)) is True
        upload = f"/_nicegui/client/{client_id}/upload/1"
        assert bob.post(upload, files={"file": ("a.csv", b"a")}).status_code == 404
        with connection(server, ann, client_id=client_id) as socket:
            opened(socket)
            assert answer_to(socket, "handshake", handshake(client_id)) is True


def test_a_connection_that_one_began_another_cannot_go_on_with(server: Served) -> None:
    tokens = [server.add_user(name, "editor") for name in ("anna", "bobby")]
    with server.browser(tokens[0]) as ann, server.browser(tokens[1]) as bob:
        polling = {"EIO": "4", "transport": "polling"}
        begun = ann.get("/_nicegui_ws/socket.io/", params=polling)
        session = json.loads(begun.text[1:])["sid"]
        asked = polling | {"sid": session}
        assert bob.post("/_nicegui_ws/socket.io/", params=asked, content="40").status_code == 404
        assert ann.post("/_nicegui_ws/socket.io/", params=asked, content="40").status_code == 200
