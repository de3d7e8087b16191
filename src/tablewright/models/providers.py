"""The providers that are reached over the network. Each function is an entry point of `tablewright.models`.

The package of each is an extra, and imported where it is used: they take most of a second each.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pydantic_ai.models import Model
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.settings import CacheConfig, ModelSettings

from tablewright.errors import KeyWithheld
from tablewright.extras import need
from tablewright.keys import ADDRESS_VARIABLES, OWN_ADDRESSES, Key, guard_client
from tablewright.models.spec import PATIENCE_HERE, Access, checked_url, find_key, require_key

if TYPE_CHECKING:
    from pydantic_ai.models.openai import OpenAIChatModel

COMPATIBLE = "openai-compatible"
NO_KEY = "api-key-not-set"
"""What is sent in place of a key that an endpoint does not need: without one, libraries look for others."""
OLDER_TOKEN_LIMIT = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
"""Servers other than OpenAI's own understand `max_tokens`; only some of them its newer name."""
PREFIX_CACHED = CacheConfig(messages=False)
"""The provider keeps the instructions, which are the same for every row. Keeping the row too would cost more than it
saves: nobody asks about it twice. Other providers keep prompts without being asked, or not at all."""


def openai(name: str, access: Access) -> Model:
    need("openai", f"The model openai:{name}")
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    from tablewright.models.lean_completions import make_lean

    settings = ModelSettings(timeout=access.patience())
    if access.base_url:
        url = checked_url(access.base_url)
        return compatible(name, url, find_key(access, "openai", url), settings)
    key = require_key(access, "openai", usual_address("openai"), "OPENAI_API_KEY")
    provider = OpenAIProvider(api_key=key)
    make_lean(provider.client)
    guard_provider(provider, key)
    return OpenAIChatModel(name, provider=provider, settings=ModelSettings(**settings, cache=PREFIX_CACHED))


def compatible(name: str, base_url: str, key: Key, settings: ModelSettings) -> OpenAIChatModel:
    """OPENAI_API_KEY stays out of it: a key for OpenAI is nobody else's business."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    from tablewright.models.lean_completions import make_lean

    provider = OpenAICompatibleProvider(COMPATIBLE, base_url=base_url, api_key=key or NO_KEY)
    make_lean(provider.client)
    guard_provider(provider, key)
    thinks = (provider.model_profile(name) or {}).get("supports_thinking", False)
    return OpenAIChatModel(name, provider=provider, settings=settings, profile=None if thinks else OLDER_TOKEN_LIMIT)


def ollama(name: str, access: Access) -> Model:
    need("openai", f"The model ollama:{name}")
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    from tablewright.models.lean_completions import make_lean

    url = checked_url(access.base_url or usual_address("ollama"))
    try:
        key = find_key(access, "ollama", url, "OLLAMA_API_KEY")
    except KeyWithheld:
        if access.base_url and access.api_key:
            raise
        key = Key()  # Ollama needs none, and the user's key is for another provider
    provider = OllamaProvider(base_url=url, api_key=key or NO_KEY)
    make_lean(provider.client)
    guard_provider(provider, key)
    return OllamaModel(name, provider=provider, settings=ModelSettings(timeout=access.patience(PATIENCE_HERE)))


def anthropic(name: str, access: Access) -> Model:
    need("anthropic", f"The model anthropic:{name}")
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    key = require_key(access, "anthropic", access.base_url or usual_address("anthropic"), "ANTHROPIC_API_KEY")
    provider = AnthropicProvider(api_key=key, base_url=access.base_url or None)
    provider.client.max_retries = 0
    guard_provider(provider, key)
    settings = ModelSettings(timeout=access.patience(), cache=PREFIX_CACHED)
    return AnthropicModel(name, provider=provider, settings=settings)


def google(name: str, access: Access) -> Model:
    need("google", f"The model google:{name}")
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    address = access.base_url or usual_address("google")
    key = require_key(access, "google", address, "GOOGLE_API_KEY", "GEMINI_API_KEY")
    provider = GoogleProvider(api_key=key, base_url=access.base_url or None)
    guard_provider(provider, key)
    return GoogleModel(name, provider=provider, settings=ModelSettings(timeout=access.patience()))


def usual_address(provider: str) -> str:
    """Return where the provider's own library sends requests if nothing else is set."""
    return os.environ.get(ADDRESS_VARIABLES[provider]) or OWN_ADDRESSES["model_api_key"][provider]


def guard_provider(provider: Any, key: Key) -> None:
    """Guard the HTTP client of a provider, and each that it makes later in place of one that was closed."""
    make = provider._http_client_factory
    guard_client(provider._own_http_client, key)
    provider._http_client_factory = lambda: guard_client(make(), key)
