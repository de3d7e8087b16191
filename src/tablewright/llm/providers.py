"""Models of providers that are reached over the network. `openai`, `ollama`, `anthropic` and `google` are entry points
of `tablewright.models`.

A plain OpenAI-compatible endpoint is asked by our own client. The others are models of pydantic-ai, which knows what is
special about each; every package of theirs is an extra, and imported only when it is used, since that takes a second.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import httpx2

from tablewright.errors import KeyWithheld
from tablewright.extras import require_extra
from tablewright.keys import ADDRESS_VARIABLES, PROVIDER_ADDRESSES, Key, guard_client, trusted_certificates
from tablewright.llm.chat_completions import ChatCompletions, CompletionsServer
from tablewright.llm.request import ChatModel
from tablewright.llm.spec import LOCAL_ANSWER_SECONDS, Access, find_key, require_http_url, require_key

if TYPE_CHECKING:
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

# Sent to endpoints that need no key: without one, libraries look for keys in the environment.
PLACEHOLDER_KEY = "api-key-not-set"


def openai(name: str, access: Access) -> Model | ChatModel:
    if access.base_url:
        url = require_http_url(access.base_url)
        return create_compatible_model(name, url, find_key(access, "openai", url), access.answer_seconds())
    require_extra("openai", f"The model openai:{name}")
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    key = require_key(access, "openai", default_address("openai"), "OPENAI_API_KEY")
    provider = OpenAIProvider(api_key=key)
    guard_provider(provider, key)
    settings = call_settings(access.answer_seconds(), keeps_instructions=True)
    return OpenAIChatModel(name, provider=provider, settings=settings)


def create_compatible_model(name: str, base_url: str, key: Key, timeout: float) -> Model | ChatModel:
    """Return a model of an OpenAI-compatible endpoint. OPENAI_API_KEY is never sent there: it is for OpenAI only."""
    # A gateway's model of another vendor, or one of OpenAI's that think: what to leave out differs between them.
    if re.match(r".+/|o\d|gpt-[5-9]", name) is None:
        return ChatCompletions(name, network_server("openai-compatible", base_url, key), timeout)
    require_extra("openai", f"The model openai:{name}")
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    provider = OpenAICompatibleProvider("openai-compatible", base_url=base_url, api_key=key or PLACEHOLDER_KEY)
    guard_provider(provider, key)
    # Compatible servers understand `max_tokens`, but only some of them its newer name, unless their models think.
    thinks = (provider.model_profile(name) or {}).get("supports_thinking", False)
    older_limit = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
    profile = None if thinks else older_limit
    return OpenAIChatModel(name, provider=provider, settings=call_settings(timeout), profile=profile)


def network_server(system: str, base_url: str, key: Key) -> CompletionsServer:
    def connect() -> httpx2.AsyncClient:
        # Without TLS there is nothing to verify, and reading the certificates takes some 20 ms.
        verify = trusted_certificates() if base_url.startswith("https:") else False
        return guard_client(httpx2.AsyncClient(verify=verify), key)

    headers = {"authorization": f"Bearer {key}"} if key else {}
    return CompletionsServer(system, f"{base_url.rstrip('/')}/", headers, connect)


def call_settings(timeout: float, *, keeps_instructions: bool = False) -> ModelSettings:
    """Return the settings of all calls. With `keeps_instructions` the provider caches those: they are the same for
    every row, while caching the row would cost more than it saves. Others cache prompts without being asked, or never.
    """
    from pydantic_ai.settings import CacheConfig, ModelSettings

    settings = ModelSettings(timeout=timeout)
    if keeps_instructions:
        settings["cache"] = CacheConfig(messages=False)
    return settings


def ollama(name: str, access: Access) -> Model:
    require_extra("openai", f"The model ollama:{name}")
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    url = require_http_url(access.base_url or default_address("ollama"))
    try:
        key = find_key(access, "ollama", url, "OLLAMA_API_KEY")
    except KeyWithheld:
        if access.base_url and access.api_key:
            raise
        # Ollama needs none, and the user's key is for another provider.
        key = Key()
    provider = OllamaProvider(base_url=url, api_key=key or PLACEHOLDER_KEY)
    guard_provider(provider, key)
    return OllamaModel(name, provider=provider, settings=call_settings(access.answer_seconds(LOCAL_ANSWER_SECONDS)))


def anthropic(name: str, access: Access) -> Model:
    require_extra("anthropic", f"The model anthropic:{name}")
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    key = require_key(access, "anthropic", access.base_url or default_address("anthropic"), "ANTHROPIC_API_KEY")
    provider = AnthropicProvider(api_key=key, base_url=access.base_url or None)
    guard_provider(provider, key)
    settings = call_settings(access.answer_seconds(), keeps_instructions=True)
    return AnthropicModel(name, provider=provider, settings=settings)


def google(name: str, access: Access) -> Model:
    require_extra("google", f"The model google:{name}")
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    address = access.base_url or default_address("google")
    key = require_key(access, "google", address, "GOOGLE_API_KEY", "GEMINI_API_KEY")
    provider = GoogleProvider(api_key=key, base_url=access.base_url or None)
    guard_provider(provider, key)
    return GoogleModel(name, provider=provider, settings=call_settings(access.answer_seconds()))


def default_address(provider: str) -> str:
    """Return the address that the provider's own library uses by default."""
    return os.environ.get(ADDRESS_VARIABLES[provider]) or PROVIDER_ADDRESSES["model_api_key"][provider]


def guard_provider(provider: Any, key: Key) -> None:
    """Guard the HTTP client of a provider, and each one that it opens later after closing the first."""
    if hasattr(provider.client, "max_retries"):
        # retry.py retries for all providers; both together would multiply the tries.
        provider.client.max_retries = 0
    make = provider._http_client_factory
    guard_client(provider._own_http_client, key)
    provider._http_client_factory = lambda: guard_client(make(), key)
