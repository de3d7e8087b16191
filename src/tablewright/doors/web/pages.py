"""The pages, joined to the server's application."""

from __future__ import annotations

import logging
import secrets
from importlib import import_module
from importlib.util import find_spec

from fastapi import FastAPI
from fastapi.middleware.gzip import GZipMiddleware
from nicegui import app as pages
from nicegui import ui
from starlette.types import Receive, Scope, Send

from tablewright.doors.web import frame, page_data
from tablewright.doors.web.clients import bind_events
from tablewright.doors.web.grid_rows import RowOrders
from tablewright.errors import TablewrightError

MODULES = (
    "tables_page",
    "find_page",
    "table_page",
    "review_page",
    "documents_page",
    "research_page",
    "shortlist_page",
    "runs_page",
    "health_page",
    "settings_page",
)


def mount(app: FastAPI) -> None:
    """Every page at its address, below whatever the application has already. `app.state.tablewright` is read when a
    page is opened, so it may come later."""
    pages.state.server = app
    # The pages are one application for the whole process, and middleware cannot be added to one that has answered.
    pages.middleware_stack = None
    pages.user_middleware.clear()
    for name in MODULES:
        if find_spec(f"tablewright.doors.web.{name}"):
            import_module(f"tablewright.doors.web.{name}")
    app.include_router(page_data.router)
    app.state.page_rows = RowOrders()
    pages.remove_route("/page-files/{path:path}")
    pages.add_static_files("/page-files", frame.FILES)
    pages.on_page_exception(frame.show_page_error)
    bind_events()
    logging.getLogger("nicegui").addFilter(is_unforeseen)
    ui.run_with(
        app,
        title="Tablewright",
        favicon=frame.FILES / "icon.svg",
        dark=None,
        tailwind=False,
        storage_secret=secrets.token_urlsafe(32),
        show_welcome_message=False,
        language="en-US",
        gzip_middleware_factory=Compression,
        reconnect_timeout=20,
    )


def is_unforeseen(record: logging.LogRecord) -> bool:
    """Return False for errors that the page has explained, which do not belong in the log."""
    return not isinstance(record.msg, TablewrightError)


class Compression(GZipMiddleware):
    """Only for those who are far away: on this machine it took a third of the time until a page was there."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        if client and client[0] in ("127.0.0.1", "::1"):
            await self.app(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)
