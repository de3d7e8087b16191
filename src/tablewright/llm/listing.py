"""List the models to choose from in the settings: those of a provider, those running on this machine, or those with a
known price. The only place that asks providers for anything but answers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

import httpx2

from tablewright.domain.health import LocalServer
from tablewright.errors import ModelRefused, ModelUnavailable
from tablewright.keys import PROVIDER_ADDRESSES, Key, bind_key, guard_client


def ollama_address() -> str:
    return os.environ.get("OLLAMA_BASE_URL") or PROVIDER_ADDRESSES["model_api_key"]["ollama"]


async def detect_local_servers() -> list[LocalServer]:
    """Return the servers on this machine that answer and have a model."""
    # The default addresses of programs that serve models on this machine.
    asked = [
        ("Ollama", "ollama", ollama_address()),
        ("LM Studio", "openai", "http://127.0.0.1:1234/v1"),
        ("llama.cpp", "openai", "http://127.0.0.1:8080/v1"),
    ]

    async def ask(name: str, provider: str, url: str) -> LocalServer | None:
        try:
            models = await fetch_model_names(f"{url.rstrip('/')}/models", {}, local=True)
        except (ModelRefused, ModelUnavailable):
            return None
        return LocalServer(name=name, provider=provider, base_url=url, models=tuple(models)) if models else None

    found = await asyncio.gather(*(ask(*each) for each in asked))
    return [each for each in found if each is not None]


async def list_provider_models(provider: str, base_url: str = "", api_key: str = "") -> list[str]:
    """Return the models that the provider offers with this key."""
    if provider == "ollama":
        base_url = base_url or ollama_address()
    own = PROVIDER_ADDRESSES["model_api_key"].get(provider, "")
    # With the largest page that each API allows, since further pages are not asked for.
    paths = {
        "openai": "/models",
        "anthropic": "/v1/models?limit=1000",
        "google": "/v1beta/models?pageSize=1000",
    }
    url = f"{base_url.rstrip('/')}/models" if base_url else f"{own}{paths[provider]}"
    key = bind_key(api_key, "model_api_key", {"model": f"{provider}:", "model_base_url": base_url})
    if provider == "ollama" and not key.allows(url):
        # It needs none, so a key for someone else is no reason to fail.
        key = Key()
    forms: dict[str, dict[str, str]] = {
        "anthropic": {"x-api-key": key, "anthropic-version": "2023-06-01"},
        "google": {"x-goog-api-key": key},
    }
    headers = forms.get(provider, {"Authorization": f"Bearer {key}"})
    return await fetch_model_names(url, headers if key else {}, key)


def list_priced_models(provider: str) -> list[str]:
    """Return the models of a provider that have a price, the last listed first, for users without a key yet."""
    from genai_prices.data import providers  # a second to import

    known = next((each.models for each in providers if each.id == provider), [])
    # A colon marks a variant of a model, which would be listed next to the model itself.
    current = [model.id for model in known if model.context_window and not model.deprecated and ":" not in model.id]
    return current[::-1]


async def fetch_model_names(
    url: str, headers: Mapping[str, str], key: Key | None = None, *, local: bool = False
) -> list[str]:
    # A local server that runs answers at once; the settings page waits for this.
    timeout = httpx2.Timeout(2.0) if local else httpx2.Timeout(15.0, connect=5.0)
    try:
        # A server on this machine is never asked through a proxy.
        made = httpx2.AsyncClient(timeout=timeout, trust_env=not local)
        async with guard_client(made, key or Key()) as client:
            answer = await client.get(url, headers=headers)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ModelUnavailable(f"{url} cannot be reached: {error or type(error).__name__}.") from None
    if not answer.is_success:
        said = " ".join(answer.text.split())[:300]
        raise ModelRefused(f"{url} answered {answer.status_code}: {said}")
    try:
        return parse_model_names(answer.json())
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ModelUnavailable(f"{url} did not answer with a list of models.") from None


def parse_model_names(answer: Any) -> list[str]:
    """Return the names in a list of models. OpenAI, Anthropic and compatible servers use `data` and `id`, Google
    `models` and `name`."""
    if "data" in answer:
        return sorted(str(each["id"]) for each in answer["data"] or ())
    # Some models of Google only embed texts or draw; only those that write can be asked.
    able = [each for each in answer["models"] if "generateContent" in each.get("supportedGenerationMethods", ())]
    return sorted(str(each["name"]).removeprefix("models/") for each in able)
