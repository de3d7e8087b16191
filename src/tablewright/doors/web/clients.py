"""An open page belongs to the person who opened it, with its connection, its events and its uploads.

NiceGUI knows a page by its client's id, and a connection by its session's. For another person who is logged in and
knows such an id, there is no such page.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import parse_qs

from nicegui import Client, core
from starlette.types import ASGIApp, Receive, Scope, Send

from tablewright.errors import NotFound

OF_A_CLIENT = re.compile(r"/_nicegui/client/(?P<client>[^/]+)/")
SOCKET = "/_nicegui_ws/"
EVENTS = ("handshake", "event", "javascript_response", "ack", "log")
"""What a page sends about a client that it names."""


class OwnClients:
    """Inside the guard, so that it is known who asks."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan" and not is_own(scope):
            raise NotFound("There is no such page any more.", advice="Load it again.")
        await self._app(scope, receive, send)


def is_own(scope: Scope) -> bool:
    path = scope["path"]
    if found := OF_A_CLIENT.match(path):
        return is_owner(scope, found["client"])
    if not path.startswith(SOCKET):
        return True
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    begun = core.sio.environ.get(query.get("sid", [""])[0])
    if begun is not None and person_id(begun["asgi.scope"]) != person_id(scope):
        return False
    return "client_id" not in query or is_owner(scope, query["client_id"][0])


def is_owner(scope: Scope, client_id: object) -> bool:
    """Return False if the client is another person's; about an unknown one NiceGUI complains itself."""
    client = Client.instances.get(client_id) if isinstance(client_id, str) else None
    return client is None or client._request is None or person_id(client._request.scope) == person_id(scope)


def person_id(scope: Scope) -> str:
    person = scope.get("state", {}).get("person")
    return person.id if person is not None else ""


def bind_events() -> None:
    """Once for all servers of this process."""
    handlers = core.sio.handlers["/"]
    for name in EVENTS:
        if not hasattr(handlers[name], "__wrapped__"):
            handlers[name] = only_from_owner(handlers[name])


def only_from_owner(handler: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(handler)
    async def handled(sid: str, message: Any) -> Any:
        client_id = message.get("client_id") if isinstance(message, dict) else None
        environ = core.sio.get_environ(sid) or {}
        if client_id is None or not is_owner(environ.get("asgi.scope", {}), client_id):
            return False
        answer = handler(sid, message)
        return await answer if hasattr(answer, "__await__") else answer

    return handled
