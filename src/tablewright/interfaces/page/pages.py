"""The pages as part of the server's application, each open page reachable only by the person who opened it.

NiceGUI knows a page by its client's id, and a connection by its session's. For another person who is logged in and
knows such an id, there is no such page.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs

import msgspec
from fastapi import APIRouter, FastAPI, Query, Request, Response
from fastapi.middleware.gzip import GZipMiddleware
from fastapi.responses import FileResponse, PlainTextResponse
from nicegui import Client, core, ui
from nicegui import app as pages
from starlette.background import BackgroundTask
from starlette.types import ASGIApp, Receive, Scope, Send

from tablewright.documents.page_image import render_page_image
from tablewright.errors import NotFound, TablewrightError, UsageError
from tablewright.interfaces.page import frame
from tablewright.interfaces.page.table.cells import CellSelection, selection_as_markdown, selection_as_text
from tablewright.interfaces.page.table.rows import RowOrders, describe_undecided_rows, parse_row_query, read_row_block
from tablewright.interfaces.page.words import SCRIPT_FOLDER
from tablewright.interfaces.server.context import Visiting
from tablewright.operations.documents import find_document
from tablewright.operations.files import export_table_file
from tablewright.operations.grid_rows import RowQuery
from tablewright.temporary import make_temporary_folder, remove_temporary_folder

router = APIRouter(prefix="/page-data", include_in_schema=False)


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
    app.include_router(router)
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


# ── what the scripts of the pages ask for ────────────────────────────────────────────────────────────────────────────


@router.get("/tables/{table_id}/rows")
async def get_rows(
    request: Request,
    visit: Visiting,
    table_id: str,
    start: Annotated[int, Query(ge=0)] = 0,
    end: Annotated[int, Query(ge=0)] = 100,
) -> Response:
    """Return the rows that match the query, in its order. `next` is where to continue if not all fitted."""
    table = await visit.table(table_id)
    wanted = await check_proposals(visit, parse_row_query(table.id, request.query_params))
    orders: RowOrders = request.app.state.page_rows
    # Sorting has turns of its own, so scrolling does not wait for it.
    async with request.state.without_turn():
        matching = await orders.find(visit.services, wanted)
    # Five times the block size that the grid asks for.
    ids = list(matching.row_ids[start : min(end, start + 500)])
    found = await read_row_block(visit.services, table, wanted.proposals, ids)
    next_start = start + found.done if found.done < len(ids) else None
    answer = {
        "rows": found.rows,
        "total": len(matching.row_ids),
        "next": next_start,
        "note": describe_undecided_rows(matching),
    }
    content = await asyncio.to_thread(msgspec.json.encode, answer)
    return Response(content, media_type="application/json", headers={"Cache-Control": "no-store"})


@router.post("/tables/{table_id}/cells")
async def copy_cells(request: Request, visit: Visiting, table_id: str, format: str = "") -> PlainTextResponse:
    """Return the selection as text or Markdown for the clipboard: the browser has only some of its rows."""
    table = await visit.table(table_id)
    try:
        picked = msgspec.json.decode(await request.body(), type=CellSelection)
    except msgspec.MsgspecError as error:
        raise UsageError(f"This is not a selection: {error}.") from None
    await check_proposals(visit, picked.wanted(table.id))
    found = await (selection_as_markdown if format == "md" else selection_as_text)(visit.services, table, picked)
    return PlainTextResponse(found, headers={"Cache-Control": "no-store"})


@router.get("/tables/{table_id}/file")
async def download_table(
    request: Request, visit: Visiting, table_id: str, format: str = "csv", evidence: bool = False, shown: bool = False
) -> FileResponse:
    """Return the table as a file: all rows, or with `shown` those of the rest of the query."""
    formats = ("csv", "xlsx", "json", "md", "parquet")
    table = await visit.table(table_id)
    row_ids = None
    if shown:
        wanted = await check_proposals(visit, parse_row_query(table.id, request.query_params))
        async with request.state.without_turn():
            row_ids = list(await request.app.state.page_rows.order(visit.services, wanted))
    if format not in formats:
        raise NotFound(f"A table cannot be written as {format!r}.", advice=f"Formats: {', '.join(formats)}.")
    # The file must outlive this function: it is removed once the response is sent.
    folder, handle = make_temporary_folder()
    path = folder / f"{table.id}.{format}"
    try:
        await export_table_file(visit.services, table.id, path, evidence=evidence, row_ids=row_ids)
    except BaseException:
        remove_temporary_folder(folder, handle)
        raise
    return FileResponse(path, filename=path.name, background=BackgroundTask(remove_temporary_folder, folder, handle))


@router.get("/documents/{document_id}/pages/{number}")
async def document_page_image(visit: Visiting, document_id: str, number: int, quote: str = "") -> Response:
    """Return a page of a PDF as a picture, with the quote marked."""
    document = await find_document(visit.services, document_id)
    path = Path(document.path)
    if document.media != "pdf" or not await asyncio.to_thread(path.is_file):
        raise NotFound(f"There is no picture of the pages of {document.name}.")
    picture = await render_page_image(path, number, quote[:1_000])
    return Response(picture, media_type="image/png", headers={"Cache-Control": "private, max-age=600"})


async def check_proposals(visit: Visiting, wanted: RowQuery) -> RowQuery:
    """Raise NotFound if a proposal belongs to another table than the visible one."""
    for proposal_id in wanted.proposals:
        if (await visit.services.store.proposals.get(proposal_id, counted=False)).table_id != wanted.table_id:
            raise NotFound(f"There is no proposal {proposal_id!r}.")
    return wanted
