"""One sample web for all tests of the room, and a visitor who finds its hosts."""

from __future__ import annotations

import http.client
import json
from collections.abc import AsyncIterator, Callable, Mapping
from importlib.resources import files
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import pytest

from tablewright.sample.server import SampleWeb
from tests.patience import PATIENCE

Reply: TypeAlias = tuple[http.client.HTTPResponse, bytes]
Get: TypeAlias = Callable[..., Reply]


@pytest.fixture(scope="session")
def truth() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((files("tablewright.sample") / "truth.json").read_text(encoding="utf-8"))
    return loaded


@pytest.fixture
async def web() -> AsyncIterator[SampleWeb]:
    async with SampleWeb() as opened:
        yield opened


@pytest.fixture
def get(web: SampleWeb) -> Get:
    """Fetches a URL of the sample web; a path alone is asked of 127.0.0.1."""

    def fetch(url: str, headers: Mapping[str, str] | None = None, method: str = "GET") -> Reply:
        parts = urlsplit(url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection = http.client.HTTPConnection("127.0.0.1", web.port, timeout=PATIENCE)
        try:
            connection.request(method, path, headers={"Host": parts.netloc or "127.0.0.1", **(headers or {})})
            reply = connection.getresponse()
            return reply, reply.read()
        finally:
            connection.close()

    return fetch
