"""A model behind a loopback endpoint, for the decisions that ask one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tablewright.llm.build import build_model
from tablewright.llm.model import LanguageModel
from tablewright.settings import Settings
from tests.llm.endpoint import Endpoint, running_endpoint


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    async with running_endpoint() as running:
        yield running


@pytest.fixture
async def model(endpoint: Endpoint, tmp_path: Path) -> AsyncIterator[LanguageModel]:
    settings = Settings(model="openai:m", model_base_url=endpoint.url, model_api_key="k", home=str(tmp_path))
    built = build_model(settings)
    assert built is not None
    async with built:
        yield built
