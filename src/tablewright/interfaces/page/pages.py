"""The pages as part of the server's application, each open page reachable only by the person who opened it.

NiceGUI knows a page by its client's id, and a connection by its session's. For another person who is logged in and
knows such an id, there is no such page.
"""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from urllib.parse import parse_qs

from fastapi import FastAPI
from fastapi.middleware.gzip import GZipMiddleware
from nicegui import Client, core, ui
from nicegui import app as pages
from starlette.types import ASGIApp, Receive, Scope, Send

from tablewright.errors import NotFound, TablewrightError
from tablewright.interfaces.page import frame, page_data
from tablewright.interfaces.page.table.rows import RowOrders
from tablewright.interfaces.page.words import SCRIPT_FOLDER


def mount_pages(app: FastAPI) -> None:
    """Add every page to the application, after the routes that it has already. `app.state.services` is read when a page
    is opened, so it may be set later."""
    pages.state.server = app
    # The pages are one application for the whole process, and middleware cannot be added to one that has answered.
    pages.middleware_stack = None
    pages.user_middleware.clear()
    # By name: each declares its pages when it is imported, which must not happen before a server is there.
    names = "tables_page find_page table.page review_page documents_page research_page shortlist_page runs_page"
    for name in (*names.split(), "health_page", "settings_page"):
        if find_spec(f"tablewright.interfaces.page.{name}"):
            import_module(f"tablewright.interfaces.page.{name}")
    app.include_router(page_data.router)
    app.state.page_rows = RowOrders()
    # A second server in one process, as in tests, must not add the route twice.
    pages.remove_route("/page-files/{path:path}")
    pages.add_static_files("/page-files", SCRIPT_FOLDER)
    pages.on_page_exception(frame.show_page_error)
    guard_client_events()
    logging.getLogger("nicegui").addFilter(is_unexpected_record)
    ui.run_with(
        app,
        title="Tablewright",
        favicon=SCRIPT_FOLDER / "icon.svg",
        dark=None,
        tailwind=False,
        # Nothing is kept in the browser's storage, so the key may change with every start.
        storage_secret=secrets.token_urlsafe(32),
        show_welcome_message=False,
        language="en-US",
        gzip_middleware_factory=RemoteCompression,
        reconnect_timeout=20,
    )


def is_unexpected_record(record: logging.LogRecord) -> bool:
    """Return False for errors that the page has explained, which do not belong in the log."""
    return not isinstance(record.msg, TablewrightError)


class RemoteCompression(GZipMiddleware):
    """Compress only for other machines: on this one it took a third of the time until a page was shown."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        if client and client[0] in ("127.0.0.1", "::1"):
            await self.app(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


class OwnClients:
    """Refuse requests about another person's page. It runs inside the guard, which identifies the person."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan" and not may_reach_client(scope):
            raise NotFound("This page is no longer open.", advice="Load it again.")
        await self._app(scope, receive, send)


def may_reach_client(scope: Scope) -> bool:
    path = scope["path"]
    if found := re.match(r"/_nicegui/client/([^/]+)/", path):
        return owns_client(scope, found[1])
    if not path.startswith("/_nicegui_ws/"):
        return True
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    # The session of a websocket belongs to the person who opened it.
    begun = core.sio.environ.get(query.get("sid", [""])[0])
    if begun is not None and scope_person_id(begun["asgi.scope"]) != scope_person_id(scope):
        return False
    return "client_id" not in query or owns_client(scope, query["client_id"][0])


def owns_client(scope: Scope, client_id: object) -> bool:
    """Return False if the client is another person's. NiceGUI itself refuses an unknown one."""
    client = Client.instances.get(client_id) if isinstance(client_id, str) else None
    return client is None or client._request is None or scope_person_id(client._request.scope) == scope_person_id(scope)


def scope_person_id(scope: Scope) -> str:
    person = scope.get("state", {}).get("person")
    return person.id if person is not None else ""


def guard_client_events() -> None:
    """Wrap NiceGUI's handlers, once for all servers of this process."""
    handlers = core.sio.handlers["/"]
    # The events in which a page names a client.
    for name in ("handshake", "event", "javascript_response", "ack", "log"):
        # The handlers are global; wrapping them twice would check twice.
        if not hasattr(handlers[name], "__wrapped__"):
            handlers[name] = only_from_owner(handlers[name])


def only_from_owner(handler: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(handler)
    async def handled(sid: str, message: Any) -> Any:
        client_id = message.get("client_id") if isinstance(message, dict) else None
        environ = core.sio.get_environ(sid) or {}
        if client_id is None or not owns_client(environ.get("asgi.scope", {}), client_id):
            return False
        answer = handler(sid, message)
        return await answer if hasattr(answer, "__await__") else answer

    return handled
