"""Which models there are to choose from: those that a provider lists for a key, those that run on this machine, else
those on the price list."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

import httpx2

from tablewright.domain.health import LocalServer
from tablewright.errors import ModelRefused, ModelUnavailable
from tablewright.keys import OWN_ADDRESSES, Key, as_key, guard_client

WAIT = httpx2.Timeout(15.0, connect=5.0)
LOOK = httpx2.Timeout(2.0)
OLLAMA = OWN_ADDRESSES["model_api_key"]["ollama"]
LOCAL_SERVERS = (
    ("LM Studio", "http://127.0.0.1:1234/v1"),
    ("llama.cpp", "http://127.0.0.1:8080/v1"),
)
"""Where programs listen that serve models on this machine, unless told otherwise."""
PATHS = {
    "openai": "/models",
    "anthropic": "/v1/models?limit=1000",
    "google": "/v1beta/models?pageSize=1000",
}


async def find_local_servers() -> list[LocalServer]:
    """Those that answer and have a model."""
    asked = [("Ollama", "ollama", os.environ.get("OLLAMA_BASE_URL") or OLLAMA)]
    asked += [(name, "openai", url) for name, url in LOCAL_SERVERS]

    async def ask(name: str, provider: str, url: str) -> LocalServer | None:
        try:
            models = await fetch_names(f"{url.rstrip('/')}/models", {}, local=True)
        except (ModelRefused, ModelUnavailable):
            return None
        return LocalServer(name=name, provider=provider, base_url=url, models=tuple(models)) if models else None

    found = await asyncio.gather(*(ask(*each) for each in asked))
    return [each for each in found if each is not None]


async def list_models(provider: str, base_url: str = "", api_key: str = "") -> list[str]:
    """Return what the provider offers to whoever has this key."""
    if provider == "ollama":
        base_url = base_url or os.environ.get("OLLAMA_BASE_URL") or OLLAMA
    own = OWN_ADDRESSES["model_api_key"].get(provider, "")
    url = f"{base_url.rstrip('/')}/models" if base_url else f"{own}{PATHS[provider]}"
    key = as_key(api_key, "model_api_key", {"model": f"{provider}:", "model_base_url": base_url})
    if provider == "ollama" and not key.allows(url):
        key = Key()  # it needs none
    forms: dict[str, dict[str, str]] = {
        "anthropic": {"x-api-key": key, "anthropic-version": "2023-06-01"},
        "google": {"x-goog-api-key": key},
    }
    headers = forms.get(provider, {"Authorization": f"Bearer {key}"})
    return await fetch_names(url, headers if key else {}, key)


def priced_models(provider: str) -> list[str]:
    """Models of a provider that have a price, the last of its list first: for those who have no key yet."""
    from genai_prices.data import providers  # a second to import

    known = next((each.models for each in providers if each.id == provider), [])
    current = [model.id for model in known if model.context_window and not model.deprecated and ":" not in model.id]
    return current[::-1]


async def fetch_names(
    url: str, headers: Mapping[str, str], key: Key | None = None, *, local: bool = False
) -> list[str]:
    try:
        made = httpx2.AsyncClient(timeout=LOOK if local else WAIT, trust_env=not local)
        async with guard_client(made, key or Key()) as client:
            answer = await client.get(url, headers=headers)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ModelUnavailable(f"{url} cannot be reached: {error or type(error).__name__}.") from None
    if not answer.is_success:
        said = " ".join(answer.text.split())[:300]
        raise ModelRefused(f"{url} answered {answer.status_code}: {said}")
    try:
        return names_in(answer.json())
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ModelUnavailable(f"{url} did not answer with a list of models.") from None


def names_in(answer: Any) -> list[str]:
    """OpenAI, Anthropic and those that speak like them say `data` and `id`, Google `models` and `name`."""
    if "data" in answer:
        return sorted(str(each["id"]) for each in answer["data"] or ())
    able = [each for each in answer["models"] if "generateContent" in each.get("supportedGenerationMethods", ())]
    return sorted(str(each["name"]).removeprefix("models/") for each in able)
