"""The examples of docs/models.md work."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tablewright.llm.pull import CATALOG
from tablewright.llm.spec import Access, list_providers
from tablewright.settings import Settings
from tests.llm.endpoint import Endpoint

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")


def example(number: int) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[number], names)  # our own documentation
    return names


def test_every_provider_and_every_catalog_model_is_in_the_docs() -> None:
    for name in ("anthropic", "google", "local", "ollama", "openai"):
        assert name in list_providers()
        assert f"| `{name}:" in PAGE
    for model in CATALOG:
        assert f"| `{model.name}` | {model.size / 1e9:.1f} GB | {model.licence} |" in PAGE


def test_the_provider_of_the_docs_is_a_model() -> None:
    model = example(0)["acme"]("road-runner", Access(api_key="k"))
    assert (model.system, model.model_name) == ("acme", "road-runner")


async def test_the_library_example_of_the_docs_asks(
    endpoint: Endpoint, settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = example(1)
    monkeypatch.setitem(names, "load_settings", settings)
    assert await names["when"]("Founded in 1987.") == 1987
    assert len(endpoint.asked) == 1
    monkeypatch.setitem(names, "load_settings", Settings)
    assert await names["when"]("Founded in 1987.") is None
