"""A real server in a thread, on a free port, with a real database; and whoever talks to it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Awaitable, Callable, Collection, Iterator
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import uvicorn
from fastapi import FastAPI

from tablewright.domain.access import Role
from tablewright.interfaces.server.app import create_app
from tablewright.interfaces.server.limits import ServerLimits
from tablewright.interfaces.server.run import bind_socket, uvicorn_config
from tablewright.services import Services
from tablewright.settings import Settings
from tests.homes import new_home
from tests.patience import PATIENCE

T = TypeVar("T")
TOKEN = "a-long-token-that-only-the-owner-knows"
UNHURRIED = ServerLimits(requests_per_second=100_000, burst=100_000, login_delay=0.0, logins_per_minute=1_000)


class Served:
    def __init__(
        self,
        services: Services,
        app: FastAPI,
        loop: asyncio.AbstractEventLoop,
        port: int,
        server: uvicorn.Server,
    ) -> None:
        self._tablewright = services
        self._loop = loop
        self._server = server
        self.app = app
        self.port = port
        self.url = f"http://127.0.0.1:{port}"

    def do(self, work: Callable[[Services], Awaitable[T]]) -> T:
        """In the server's own loop."""

        async def run() -> T:
            return await work(self._tablewright)

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(PATIENCE)

    def accepted_sockets(self) -> list[socket.socket]:
        """Return the sockets of the connections that are open now."""

        async def list_sockets(_: Services) -> list[socket.socket]:
            return [each.transport.get_extra_info("socket") for each in self._server.server_state.connections]

        return self.do(list_sockets)

    def add_user(self, name: str, role: Role) -> str:
        return self.do(lambda services: services.store.users.add(name, role))[1]

    def client(self, token: str = "", **headers: str) -> httpx2.Client:
        """A program, with a token or without."""
        if token:
            headers["Authorization"] = f"Bearer {token}"
        return httpx2.Client(base_url=self.url, headers=headers, trust_env=False, timeout=PATIENCE)

    @contextlib.contextmanager
    def browser(self, token: str = "") -> Iterator[httpx2.Client]:
        """What a browser sends with a page of this server; logged in where there is a token."""
        headers = {"Origin": self.url, "Sec-Fetch-Site": "same-origin", "Accept": "text/html,*/*"}
        with self.client(**headers) as client:
            if token:
                assert client.post("/login", data={"token": token}).status_code == 303
            yield client


@contextlib.contextmanager
def served(
    home: Path,
    *,
    token: str = "",
    limits: ServerLimits = UNHURRIED,
    more: Callable[[FastAPI], None] = lambda _: None,
    public_hosts: Collection[str] = (),
    pages: bool = False,
    works: bool = False,
    **more_settings: str,
) -> Iterator[Served]:
    usual = {"search": "sample", "fetch_delay": "0"}
    settings = Settings(home=str(new_home(home)), token=token, **usual | more_settings)
    started: list[Served] = []
    ready = threading.Event()
    failed: list[BaseException] = []

    async def run() -> None:
        async with Services.open(settings) as services:
            app = create_app(services, public_hosts=public_hosts, limits=limits, pages=pages, works=works)
            more(app)
            server = uvicorn.Server(uvicorn_config(app, limits, proxied=bool(public_hosts), grace=1))
            servers.append(server)
            bound = bind_socket("127.0.0.1", 0)
            serving = asyncio.create_task(server.serve(sockets=[bound]))
            while not server.started and not serving.done():  # noqa: ASYNC110  # uvicorn has no event for it
                await asyncio.sleep(0.01)
            port = bound.getsockname()[1]
            started.append(Served(services, app, asyncio.get_running_loop(), port, server))
            ready.set()
            await serving

    servers: list[uvicorn.Server] = []

    def begin() -> None:
        try:
            asyncio.run(run())
        except BaseException as error:
            failed.append(error)
            ready.set()

    thread = threading.Thread(target=begin)
    thread.start()
    ready.wait(PATIENCE)
    try:
        assert started, failed
        yield started[0]
    finally:
        for server in servers:
            server.should_exit = True
        thread.join(PATIENCE)
    assert not failed, failed


def error_of(response: httpx2.Response) -> Any:
    """The one shape, and nothing beside it."""
    body = response.json()
    assert list(body) == ["error"], body
    assert list(body["error"]) == ["type", "message", "kept", "advice"]
    assert all(isinstance(said, str) for said in body["error"].values())
    return body["error"]
