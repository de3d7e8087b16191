"""The server's application: the guard, then the login, the API and the pages, and the runs in its background."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.routing import Route, compile_path
from starlette.types import Receive, Scope, Send

from tablewright.errors import NotFound, UsageError
from tablewright.interfaces.api.reference import router as reference
from tablewright.interfaces.api.routes import router as api
from tablewright.interfaces.server.authentication import Authentication
from tablewright.interfaces.server.guard import Guard
from tablewright.interfaces.server.handlers import add_error_handlers
from tablewright.interfaces.server.headers import API_PREFIX, HeadRequests
from tablewright.interfaces.server.limits import DEFAULT_LIMITS, ServerLimits
from tablewright.interfaces.server.login import login_routes, oidc_routes
from tablewright.interfaces.server.oidc import OidcLogin
from tablewright.interfaces.server.origin import ServedHosts, is_loopback
from tablewright.interfaces.server.probes import probe_routes
from tablewright.interfaces.server.probes import router as metrics
from tablewright.operations.paths import make_path_hider
from tablewright.operations.webhooks import notify_ended_runs
from tablewright.services import Services
from tablewright.threads import use_own_lookup_threads

log = logging.getLogger("tablewright.server")


def create_app(
    services: Services,
    *,
    host: str = "127.0.0.1",
    public_hosts: Collection[str] = (),
    limits: ServerLimits = DEFAULT_LIMITS,
    pages: bool = True,
    works: bool = True,
) -> FastAPI:
    """Return the application for a server bound to `host`; `public_hosts` are the names of a reverse proxy before it.

    Without `pages` it is the API alone (a process can mount the pages only once); without `works` other processes
    execute the runs."""
    names = ServedHosts(host, public_hosts)
    entrance = Authentication(services, trusting=is_loopback(host) and not public_hosts, limits=limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        use_own_lookup_threads()
        stop = asyncio.Event()
        working = asyncio.create_task(run_worker_loop(services, stop)) if works else None
        notifying = asyncio.create_task(notify_ended_runs(services, stop))
        yield
        stop.set()
        await notifying
        if working:
            await working

    app = FastAPI(
        title="Tablewright",
        version=version("tablewright"),
        lifespan=lifespan,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        # Generated clients name their functions after it.
        generate_unique_id_function=lambda route: route.name,
    )
    app.openapi = partial(mark_binary_schemas, app.openapi)  # type: ignore[method-assign]
    app.state.services = services
    app.state.telemetry = None
    add_error_handlers(app, make_path_hider(services.settings))
    if pages:
        from tablewright.interfaces.page.pages import OwnClients

        # Middleware runs in reverse order of being added: the guard sees every request first.
        app.add_middleware(OwnClients)
    app.add_middleware(HeadRequests)
    app.add_middleware(Guard, services=services, entrance=entrance, hosts=names, limits=limits)
    app.include_router(metrics)
    app.include_router(probe_routes(services))
    if services.settings.oidc_issuer:
        login = OidcLogin(services.settings)
        app.include_router(login_routes(entrance, limits, login.name))
        app.include_router(oidc_routes(services, entrance, names, login))
    else:
        app.include_router(login_routes(entrance, limits))
    app.include_router(api, prefix="/api/v1")
    app.include_router(reference)
    unknown = UnknownApiPath(app)
    app.router.default = unknown
    if pages:
        # Its framework takes seconds to import.
        from tablewright.interfaces.page.pages import mount_pages

        # Before the catch-all route of the pages.
        app.router.routes.append(Route(API_PREFIX + "{path:path}", unknown, include_in_schema=False))
        mount_pages(app)
        logging.getLogger("nicegui").addFilter(keep_page_log_record)
    return app


def mark_binary_schemas(openapi: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the OpenAPI document with files also marked as `format: binary`, which most client generators expect."""
    document = openapi()
    for schema in document["components"]["schemas"].values():
        for part in schema.get("properties", {}).values():
            for each in (part, part.get("items", {})):
                if isinstance(each, dict) and "contentMediaType" in each:
                    each["format"] = "binary"
    return document


class UnknownApiPath:
    """Refuse requests that no route takes: those below /api/ with the methods that would be taken."""

    def __init__(self, app: FastAPI) -> None:
        ours = [
            each
            for each in iter_route_contexts(app.routes)
            if each.methods and (each.path or "").startswith(API_PREFIX)
        ]
        self._known = [(compile_path(each.path or "")[0], each.methods or set()) for each in ours]
        self._refuse = app.router.not_found

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(API_PREFIX):
            await self._refuse(scope, receive, send)
            return
        allowed = {method for path, methods in self._known if path.match(scope["path"]) for method in methods}
        if not allowed:
            raise NotFound("The API has nothing there.", advice="/docs has all that it has.")
        listed = ", ".join(sorted(allowed))
        raise HTTPException(405, f"{scope['method']} cannot be done there, only {listed}.", {"Allow": listed})


def keep_page_log_record(record: logging.LogRecord) -> bool:
    """Return False for NiceGUI's record of an unknown address: it has the query, which the guard keeps from the log."""
    message = str(record.msg)
    return not (message.startswith("http") and message.endswith(" not found"))


async def refuse_open_bind(services: Services, host: str, public_hosts: Collection[str] = ()) -> None:
    """Raise UsageError if other machines can reach the server and it has neither a token nor users."""
    if is_loopback(host) and not public_hosts:
        return
    if not await Authentication(services, trusting=False).is_locked():
        raise UsageError(
            f"Others can reach {', '.join(public_hosts) or host}, but no token or user is set up.",
            kept="Nothing was started.",
            advice="Set TABLEWRIGHT_TOKEN to a long random text, or add a user: tablewright users add NAME.",
        )


async def run_worker_loop(services: Services, stop: asyncio.Event) -> None:
    try:
        await services.jobs.work(stop, kind="server")
    except Exception as error:
        log.error("This server has stopped executing runs (%s); restart it.", type(error).__name__)
