from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest

from tests.web.search.loopback import Loopback, loopback


@pytest.fixture
async def server() -> AsyncIterator[Loopback]:
    async with loopback() as served:
        yield served


@pytest.fixture
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(trust_env=False) as opened:
        yield opened
