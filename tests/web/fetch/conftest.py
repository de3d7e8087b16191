from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.web.fetch.site import PAGE, Site


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site({"/": PAGE, "/page": PAGE}).open() as opened:
        yield opened
