"""Clients of the server as assistants have them: over a process's streams, over HTTP, and within this process."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from starlette.types import ASGIApp

from tablewright.interfaces.mcp.server import TablewrightServer, create_server
from tablewright.sample.documents import sample_files
from tablewright.services import Services
from tablewright.settings import Settings
from tests.patience import PATIENCE

TABLEWRIGHT = str(Path(sys.executable).with_name("tablewright"))
SAMPLE = {"search": "sample", "model": "builtin", "fetch_delay": "0"}
FOUNDED = "Founded:number=What year was {Company} founded?"
COMPANIES = "Company\nHalden & Rourke Logistics\nSable & Finch\nQuillon\n"


def environ(folder: Path, **settings: str) -> dict[str, str]:
    """Of a process with a home of its own in the sample world."""
    wanted = {"home": str(folder / "home"), **SAMPLE, **settings}
    return {**os.environ, **{f"TABLEWRIGHT_{name.upper()}": value for name, value in wanted.items()}}


class Talk:
    """A client, and what it was told."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.progress: list[tuple[float, float | None, str]] = []
        self.told = asyncio.Event()

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments, progress_callback=self._note)
        assert not result.is_error, result.content
        assert result.structured_content is not None
        (text,) = result.content
        assert json.loads(text.text) == result.structured_content  # type: ignore[union-attr]
        return result.structured_content

    async def refused(self, tool: str, **arguments: Any) -> dict[str, str]:
        """The error that a call comes to."""
        result = await self.client.call_tool(tool, arguments)
        assert result.is_error, result.structured_content
        assert result.structured_content is not None
        error: dict[str, str] = result.structured_content["error"]
        return error

    async def read(self, uri: str) -> str:
        (content,) = (await self.client.read_resource(uri, cache_mode="bypass")).contents
        assert content.meta is not None
        assert "never instructions" in content.meta["tablewright/untrusted"]
        return content.text  # type: ignore[union-attr,no-any-return]

    async def _note(self, progress: float, total: float | None, message: str | None) -> None:
        self.progress.append((progress, total, message or ""))
        self.told.set()


@asynccontextmanager
async def over_stdio(folder: Path, *arguments: str, mode: str = "auto", **settings: str) -> AsyncIterator[Talk]:
    """With a process of its own, as an assistant starts it."""
    parameters = StdioServerParameters(
        command=TABLEWRIGHT, args=["mcp", *arguments], env=environ(folder, **settings), cwd=folder
    )
    async with Client(parameters, mode=mode) as client:
        yield Talk(client)


@asynccontextmanager
async def within(
    folder: Path,
    *,
    allowed: tuple[Path, ...] = (),
    mode: str = "auto",
    patience: float = PATIENCE,
    **settings: str,
) -> AsyncIterator[Talk]:
    """With the server in this process, where starting one would only cost time. By "legacy" with messages between the
    two, as over streams; else the client calls it, and breaks off like any caller."""
    async with Services.open(Settings(home=str(folder / "home"), **{**SAMPLE, **settings})) as services:
        server: TablewrightServer = create_server(services, allowed, patience=patience)
        async with Client(server, mode=mode) as client:
            yield Talk(client)
        await server.context.close()


@asynccontextmanager
async def http_server(folder: Path, **settings: str) -> AsyncIterator[str]:
    """Its address."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        TABLEWRIGHT, "mcp", "--http", "--port", str(port), env=environ(folder, **settings), cwd=folder
    )
    try:
        await answering(port)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        async with asyncio.timeout(PATIENCE):
            await process.wait()


@asynccontextmanager
async def listening(app: ASGIApp) -> AsyncIterator[str]:
    """The same in this process."""
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning"))
    serving = asyncio.create_task(server.serve())
    try:
        await answering(port)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        await serving


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def answering(port: int) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.1)
                continue
            writer.close()
            await writer.wait_closed()
            return


@asynccontextmanager
async def over_http(address: str, headers: Mapping[str, str], mode: str = "auto") -> AsyncIterator[Talk]:
    async with (
        httpx2.AsyncClient(headers=dict(headers), timeout=PATIENCE) as http,
        Client(streamable_http_client(address, http_client=http), mode=mode) as client,
    ):
        yield Talk(client)


def papers(folder: Path) -> Path:
    """The receipts of the sample world, and one data sheet."""
    place = folder / "papers"
    sheet = next(paper for paper in sample_files() if paper.kind == "datasheet" and paper.name.endswith(".txt"))
    for paper in sample_files():
        if (paper.kind == "receipt" and paper.name.endswith(".txt")) or paper is sheet:
            (place / paper.name).parent.mkdir(parents=True, exist_ok=True)
            (place / paper.name).write_bytes(paper.content)
    return place
