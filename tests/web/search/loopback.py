"""A search provider on 127.0.0.1: keeps what it was asked, and answers what it was told to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    params: dict[str, str]
    headers: dict[str, str]
    content: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.content)


@dataclass
class Loopback:
    url: str = ""
    status: int = 200
    content: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    silent: bool = False
    """Takes the request and never answers."""
    dripping: bool = False
    """Answers one byte at a time and never ends."""
    asked: list[Asked] = field(default_factory=list)

    def answers(self, body: object, status: int = 200, **headers: str) -> None:
        self.content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self.asked.append(await _read(reader))
            if self.silent:
                await reader.read()  # until the other side gives up
                return
            if self.dripping:
                await _drip(writer)
            lines = [f"HTTP/1.1 {self.status} Because", f"Content-Length: {len(self.content)}", "Connection: close"]
            lines += [f"{name}: {value}" for name, value in self.headers.items()]
            writer.write("\r\n".join([*lines, "", ""]).encode() + self.content)
            await writer.drain()
        except ConnectionError:
            pass  # the other side has seen enough
        finally:
            writer.close()


async def _drip(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.01)


async def _read(reader: asyncio.StreamReader) -> Asked:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().rstrip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    content = await reader.readexactly(int(headers.get("content-length", "0")))
    parts = urlsplit(target)
    return Asked(method, parts.path, dict(parse_qsl(parts.query)), headers, content)


@asynccontextmanager
async def loopback() -> AsyncIterator[Loopback]:
    served = Loopback()
    server = await asyncio.start_server(served._serve, "127.0.0.1", 0)
    served.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield served
    finally:
        server.close()
        await server.wait_closed()
