"""Binding, logging and stopping: the process around the application."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import socket
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from tablewright.errors import UsageError
from tablewright.interfaces.server.app import create_app, refuse_open_bind
from tablewright.interfaces.server.authentication import Authentication
from tablewright.interfaces.server.connections import MAX_HEAD_BYTES, limit_connections, limit_websockets
from tablewright.interfaces.server.limits import DEFAULT_LIMITS, MEGABYTE, RepeatedLogFilter, ServerLimits
from tablewright.interfaces.server.origin import is_loopback
from tablewright.logs import set_up_logging
from tablewright.operations.settings import note_settings
from tablewright.services import Services
from tablewright.telemetry import run_telemetry


async def run_server(
    services: Services,
    host: str,
    port: int,
    *,
    public_hosts: Collection[str] = (),
    report: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve until SIGTERM or Ctrl-C. `report` is called with the address once the port is bound."""
    await refuse_open_bind(services, host, public_hosts)
    bound = bind_socket(host, port)
    set_up_logging(services.settings).addFilter(RepeatedLogFilter())
    await note_settings(services)
    Authentication(services, trusting=False).warn_of_short_token()
    raise_open_files()
    # Seconds for which a computing thread keeps the interpreter from the event loop, which waits for it several times
    # in each request. The default of 0.005 makes a short request take 0.2 s while ten threads compute.
    sys.setswitchinterval(0.001)
    # Files of this process are for its owner alone.
    os.umask(0o077)
    app = create_app(services, host=host, public_hosts=public_hosts)
    config = uvicorn_config(app, DEFAULT_LIMITS, proxied=bool(public_hosts))
    async with run_telemetry(services.settings, services.jobs.depth) as app.state.telemetry:
        report(server_url(bound, host))
        await Server(config).serve(sockets=[bound])


def uvicorn_config(app: ASGIApp, limits: ServerLimits, *, proxied: bool = False, grace: int = 3) -> uvicorn.Config:
    """Return the configuration of uvicorn; open streams have `grace` seconds to end at shutdown."""
    # h11 bounds the size of a request's head; httptools does not.
    return uvicorn.Config(
        app,
        port=0,
        http=limit_connections(limits, proxied=proxied),
        ws=limit_websockets(limits),
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        # Our own logging is set up already, and the guard writes the access log without queries.
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=proxied,
        # Longer texts are uploaded instead.
        ws_max_size=2 * MEGABYTE,
        timeout_graceful_shutdown=grace,
    )


def raise_open_files() -> None:
    """Raise the limit of open files; many systems allow 1,024, fewer than the connections allowed here."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Four times the connections: the database and files being read need some too.
    needed = 8_192
    target = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if soft != resource.RLIM_INFINITY and soft < target:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))


class Server(uvicorn.Server):
    """Stop at a signal without raising it again, so that the context managers around the server can close."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)


def bind_socket(host: str, port: int) -> socket.socket:
    name = host.strip("[]")
    family = socket.AF_INET6 if ":" in name else socket.AF_INET
    try:
        # A long backlog absorbs bursts of new connections while the loop is busy.
        return socket.create_server((name, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"Cannot listen on {host}, port {port}: {reason}.", advice="Choose another with --port or --host."
        ) from None


def server_url(bound: socket.socket, host: str) -> str:
    name = host if is_loopback(host) or host not in ("0.0.0.0", "::", "[::]") else "127.0.0.1"
    return f"http://{f'[{name}]' if ':' in name and not name.startswith('[') else name}:{bound.getsockname()[1]}"
