"""A web to fetch from, on loopback: sites that answer as a test wants, and wires that lead to them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

import httpcore2

# A public address. Nothing is ever sent there: the wires below lead to loopback.
PUBLIC = "93.184.216.34"


@dataclass(frozen=True)
class Asked:
    path: str
    headers: dict[str, str]
    at: float


Handler: TypeAlias = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


def answer(
    body: bytes | str = b"", status: int = 200, content_type: str = "text/html; charset=utf-8", **headers: str
) -> Handler:
    async def handle(_asked: Asked, writer: asyncio.StreamWriter) -> None:
        content = body.encode() if isinstance(body, str) else body
        told = {"content-length": str(len(content)), "content-type": content_type}
        told |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"HTTP/1.1 {status} Said", *(f"{name}: {value}" for name, value in told.items() if value)]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
        await writer.drain()

    return handle


def redirect(location: str, status: int = 302, **headers: str) -> Handler:
    return answer("", status, location=location, **headers)


def in_turn(*handlers: Handler) -> Handler:
    """The first handler for the first request, the last for all that are left over."""
    left = list(handlers)

    async def handle(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await (left.pop(0) if len(left) > 1 else left[0])(asked, writer)

    return handle


async def cut(_asked: Asked, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


PAGE = answer("<html><body><p>A page.</p></body></html>")


@dataclass
class Site:
    """Answers by path; what it does not know is 404, robots.txt too."""

    pages: dict[str, Handler] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    port: int = 0
    at_once: int = 0
    most_at_once: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [asked.path for asked in self.asked]

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Site]:
        tasks: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task
            tasks.add(task)
            try:
                await self._serve(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass
            finally:
                writer.close()

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not writer.is_closing():
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").splitlines()
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
            asked = Asked(head[0].split()[1], headers, time.monotonic())
            self.asked.append(asked)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            try:
                await self.pages.get(asked.path.partition("?")[0], answer("not here", 404))(asked, writer)
            finally:
                self.at_once -= 1


class Wire(httpcore2.AsyncNetworkBackend):
    """Every address leads to one site: whatever the guard lets through arrives there, and nowhere else."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.dialled: list[tuple[str, int]] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        self.dialled.append((host, port))
        return await httpcore2.AnyIOBackend().connect_tcp("127.0.0.1", self._site.port)


async def everything_is_public(host: str, port: int) -> list[str]:
    return [PUBLIC]


def resolver(*answers: list[str]) -> Callable[[str, int], Awaitable[list[str]]]:
    """The first answer for the first lookup, the last for all that are left over."""
    left = list(answers)

    async def resolve(host: str, port: int) -> list[str]:
        return left.pop(0) if len(left) > 1 else left[0]

    return resolve
