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

from tablewright.doors.api.reference import router as reference
from tablewright.doors.api.routes import router as api
from tablewright.doors.server.authentication import Authentication
from tablewright.doors.server.guard import Guard
from tablewright.doors.server.handlers import answer_errors
from tablewright.doors.server.headers import API, HeadRequests
from tablewright.doors.server.limits import ServerLimits
from tablewright.doors.server.login import login_routes, oidc_routes
from tablewright.doors.server.oidc import OidcLogin
from tablewright.doors.server.origin import Hosts, is_loopback
from tablewright.doors.server.probes import probe_routes
from tablewright.doors.server.probes import router as metrics
from tablewright.errors import NotFound, UsageError
from tablewright.operations.paths import hider
from tablewright.operations.webhooks import notify
from tablewright.services import Services
from tablewright.threads import separate_lookups

log = logging.getLogger("tablewright.server")

DEFAULT_LIMITS = ServerLimits()


def create_app(
    services: Services,
    *,
    host: str = "127.0.0.1",
    public_hosts: Collection[str] = (),
    limits: ServerLimits = DEFAULT_LIMITS,
    pages: bool = True,
    works: bool = True,
) -> FastAPI:
    """`host` is the address it will be bound to, `public_hosts` the names that a reverse proxy before it has. Without
    `pages` it is the API alone (a process can have the pages once only); without `works` others do the runs."""
    names = Hosts(host, public_hosts)
    entrance = Authentication(services, trusting=is_loopback(host) and not public_hosts, limits=limits)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        separate_lookups()
        stop = asyncio.Event()
        working = asyncio.create_task(work(services, stop)) if works else None
        notifying = asyncio.create_task(notify(services, stop))
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
        generate_unique_id_function=lambda route: route.name,  # what generated clients call their functions
    )
    app.openapi = partial(described, app.openapi)  # type: ignore[method-assign]
    app.state.services = services
    app.state.telemetry = None
    answer_errors(app, hider(services.settings))
    if pages:
        from tablewright.doors.web.clients import OwnClients

        app.add_middleware(OwnClients)  # the last that is added is the first that is asked
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
    if pages:
        from tablewright.doors.web.pages import mount  # what the pages stand on takes seconds to import

        app.router.routes.append(Route(API + "{path:path}", Nowhere(app), include_in_schema=False))
        mount(app)
        logging.getLogger("nicegui").addFilter(is_news)
    return app


def described(openapi: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The OpenAPI document; files in it are marked as most generators of clients expect it, too."""
    document = openapi()
    for schema in document["components"]["schemas"].values():
        for part in schema.get("properties", {}).values():
            for each in (part, part.get("items", {})):
                if isinstance(each, dict) and "contentMediaType" in each:
                    each["format"] = "binary"
    return document


class Nowhere:
    """What no route of the API takes. Without it the pages would answer, for they take whatever is left."""

    def __init__(self, app: FastAPI) -> None:
        ours = [each for each in iter_route_contexts(app.routes) if each.methods and (each.path or "").startswith(API)]
        self._known = [(compile_path(each.path or "")[0], each.methods or set()) for each in ours]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        allowed = {method for path, methods in self._known if path.match(scope["path"]) for method in methods}
        if not allowed:
            raise NotFound("The API has nothing there.", advice="/docs has all that it has.")
        listed = ", ".join(sorted(allowed))
        raise HTTPException(405, f"{scope['method']} cannot be done there, only {listed}.", {"Allow": listed})


def is_news(record: logging.LogRecord) -> bool:
    """NiceGUI logs each address that it does not know, with the query; the guard has logged it without."""
    said = str(record.msg)
    return not (said.startswith("http") and said.endswith(" not found"))


async def check_bind(services: Services, host: str, public_hosts: Collection[str] = ()) -> None:
    """Before anything starts: whoever can be reached by others must know who is who."""
    if is_loopback(host) and not public_hosts:
        return
    if not await Authentication(services, trusting=False).is_locked():
        raise UsageError(
            f"Others can reach {', '.join(public_hosts) or host}, and there is neither a token nor a user.",
            kept="Nothing was started.",
            advice="Set TABLEWRIGHT_TOKEN to something long and random, or add a user: tablewright users add NAME.",
        )


async def work(services: Services, stop: asyncio.Event) -> None:
    try:
        await services.jobs.work(stop, kind="server")
    except Exception as error:
        log.error("This server no longer works on runs (%s); start it again.", type(error).__name__)
