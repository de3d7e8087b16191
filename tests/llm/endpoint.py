"""A loopback OpenAI-compatible server that answers as it is told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Reply:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    """The connection is closed in the middle of the body."""
    never: bool = False
    """Says nothing until the client goes away."""


def answer(content: Any, *, finish: str = "stop", read: int = 10, written: int = 5, cached: int = 0) -> Reply:
    """`cached` of the tokens `read` come from the provider's prompt cache."""
    text = content if isinstance(content, str) else json.dumps(content)
    return json_reply(
        {
            "id": "c1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "gpt-4o-mini",
            "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}],
            "usage": {
                "prompt_tokens": read,
                "completion_tokens": written,
                "total_tokens": read + written,
                "prompt_tokens_details": {"cached_tokens": cached},
            },
        }
    )


def json_reply(value: Any, status: int = 200, **headers: str) -> Reply:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply(status, json.dumps(value).encode(), {"content-type": "application/json"} | named)


def refusal(status: int, message: str = "no", **headers: str) -> Reply:
    return json_reply({"error": {"message": message, "type": "error", "code": None}}, status, **headers)


@dataclass
class Asked:
    path: str
    headers: dict[str, str]
    body: Any


class Endpoint:
    """`replies` are given in turn, then `otherwise` for all further requests."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.otherwise: Reply | Callable[[Asked], Reply | Awaitable[Reply]] = answer({"year": 1987})
        self.asked: list[Asked] = []
        self.busy = 0
        self.busiest = 0
        self.somebody_waits = asyncio.Event()
        self.open_gate = asyncio.Event()
        self.open_gate.set()
        self.url = ""
        self._talking: dict[asyncio.StreamWriter, asyncio.Task[None] | None] = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._talking[writer] = asyncio.current_task()
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            del self._talking[writer]

    async def hang_up(self) -> None:
        """Ends the connections that clients have left open."""
        self.open_gate.set()
        talking = dict(self._talking)
        for writer in talking:
            writer.close()
        await asyncio.gather(*filter(None, talking.values()), return_exceptions=True)

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        asked = Asked(head[0].split()[1], headers, json.loads(body) if body else None)
        self.asked.append(asked)
        self.busy += 1
        self.busiest = max(self.busiest, self.busy)
        try:
            self.somebody_waits.set()
            await self.open_gate.wait()
            given = self.replies.pop(0) if self.replies else self.otherwise
            said = given(asked) if callable(given) else given
            reply = said if isinstance(said, Reply) else await said
            if reply.never:
                await reader.read()
                return False
        finally:
            self.busy -= 1
        lines = [f"HTTP/1.1 {reply.status} X", f"content-length: {len(reply.body)}"]
        lines += [f"{name}: {value}" for name, value in reply.headers.items()]
        sent = reply.body[: len(reply.body) // 2] if reply.cut else reply.body
        writer.write("\r\n".join([*lines, "", ""]).encode() + sent)
        await writer.drain()
        return not reply.cut


@asynccontextmanager
async def running_endpoint() -> AsyncIterator[Endpoint]:
    endpoint = Endpoint()
    server = await asyncio.start_server(endpoint.serve, "127.0.0.1", 0)
    endpoint.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield endpoint
    finally:
        server.close()
        await endpoint.hang_up()
