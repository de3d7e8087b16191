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

from tablewright.doors.server.app import DEFAULT_LIMITS, check_bind, create_app
from tablewright.doors.server.authentication import Authentication
from tablewright.doors.server.connections import LARGEST_HEAD, connections, websockets
from tablewright.doors.server.limits import MEGABYTE, ServerLimits, Unrepeated
from tablewright.doors.server.origin import is_loopback
from tablewright.errors import UsageError
from tablewright.logs import set_up
from tablewright.operations.settings import note_settings
from tablewright.services import Services
from tablewright.telemetry import telemetry

GRACE = 3
"""Seconds that open streams have to end once the server is told to."""
OPEN_FILES = 8_192
SWITCH_SECONDS = 0.001
"""For which a thread that computes keeps the interpreter from the event loop, which waits for it several times in each
request. The default of 0.005 makes a short request take 0.2 s while ten threads compute."""


async def serve(
    services: Services,
    host: str,
    port: int,
    *,
    public_hosts: Collection[str] = (),
    said: Callable[[str], None] = lambda _: None,
) -> None:
    """Until SIGTERM or Ctrl-C. `said` is told the address."""
    await check_bind(services, host, public_hosts)
    bound = bind(host, port)
    set_up(services.settings).addFilter(Unrepeated())
    await note_settings(services)
    Authentication(services, trusting=False).warn_of_short_token()
    raise_open_files()
    sys.setswitchinterval(SWITCH_SECONDS)
    os.umask(0o077)  # whatever this process keeps is for its owner alone
    app = create_app(services, host=host, public_hosts=public_hosts)
    config = configured(app, DEFAULT_LIMITS, proxied=bool(public_hosts))
    async with telemetry(services.settings, services.jobs.depth) as app.state.telemetry:
        said(address_of(bound, host))
        await Server(config).serve(sockets=[bound])


def configured(app: ASGIApp, limits: ServerLimits, *, proxied: bool = False, grace: int = GRACE) -> uvicorn.Config:
    """h11, because it bounds the size of a request's head; httptools does not."""
    return uvicorn.Config(
        app,
        port=0,
        http=connections(limits, proxied=proxied),
        ws=websockets(limits),
        h11_max_incomplete_event_size=LARGEST_HEAD,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=proxied,
        ws_max_size=2 * MEGABYTE,
        timeout_graceful_shutdown=grace,
    )


def raise_open_files() -> None:
    """Many systems allow a process 1,024 open files, fewer than the connections that are allowed here."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class Server(uvicorn.Server):
    """Ends by a signal without passing it on: what is open is closed by those who opened it."""

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


def bind(host: str, port: int) -> socket.socket:
    name = host.strip("[]")
    family = socket.AF_INET6 if ":" in name else socket.AF_INET
    try:
        return socket.create_server((name, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"{host}, port {port}, cannot be used: {reason}.", advice="Choose another with --port or --host."
        ) from None


def address_of(bound: socket.socket, host: str) -> str:
    name = host if is_loopback(host) or host not in ("0.0.0.0", "::", "[::]") else "127.0.0.1"
    return f"http://{f'[{name}]' if ':' in name and not name.startswith('[') else name}:{bound.getsockname()[1]}"
