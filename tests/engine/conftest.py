from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from ..models.endpoint import Endpoint, running_endpoint
from ..pages import SmallWeb, small_web
from .works import pages


@pytest.fixture
async def web() -> AsyncIterator[SmallWeb]:
    """With a page for each of the thirty works."""
    async with small_web(pages()) as running:
        yield running


@pytest.fixture
async def model() -> AsyncIterator[Endpoint]:
    async with running_endpoint() as running:
        yield running
