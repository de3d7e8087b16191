from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from tablewright.settings import Settings
from tests.llm.endpoint import Endpoint, running_endpoint


class Founded(BaseModel):
    year: int


KEYS = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY", "OLLAMA_BASE_URL")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    async with running_endpoint() as running:
        yield running


@pytest.fixture
def settings(endpoint: Endpoint, tmp_path: Path) -> Callable[..., Settings]:
    """Settings whose model is the endpoint."""

    def make(**values: Any) -> Settings:
        given = {"model": "openai:gpt-4o-mini", "model_base_url": endpoint.url, "home": str(tmp_path)}
        return Settings(**(given | values))

    return make


class Naps:
    """A sleep that does not sleep, and a clock that it moves."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.taken: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.taken.append(seconds)
        await asyncio.sleep(0)
        self.now += seconds


@pytest.fixture
def naps() -> Naps:
    return Naps()
