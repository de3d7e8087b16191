from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.engine.works import pages
from tests.llm.endpoint import Endpoint, running_endpoint
from tests.pages import SmallWeb, small_web


@pytest.fixture
async def web() -> AsyncIterator[SmallWeb]:
    """With a page for each of the thirty works."""
    async with small_web(pages()) as running:
        yield running


@pytest.fixture
async def model() -> AsyncIterator[Endpoint]:
    async with running_endpoint() as running:
        yield running
