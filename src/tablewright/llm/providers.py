"""Models of providers that are reached over the network. `openai`, `ollama`, `anthropic` and `google` are entry points
of `tablewright.models`.

Each provider's package is an extra and is imported only when it is used, since that takes most of a second.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from pydantic_ai.models import Model
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.settings import CacheConfig, ModelSettings

from tablewright.errors import KeyWithheld
from tablewright.extras import require_extra
from tablewright.keys import ADDRESS_VARIABLES, PROVIDER_ADDRESSES, Key, guard_client
from tablewright.llm.spec import LOCAL_ANSWER_SECONDS, Access, find_key, require_http_url, require_key

if TYPE_CHECKING:
    from pydantic_ai.models.openai import OpenAIChatModel

# Sent to endpoints that need no key: without one, libraries look for keys in the environment.
PLACEHOLDER_KEY = "api-key-not-set"
# Compatible servers understand `max_tokens`, but only some of them its newer name.
OLDER_TOKEN_LIMIT = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
# Let the provider cache the instructions, which are the same for every row. Caching the row as well would cost more
# than it saves, since each row is asked about once. Other providers cache prompts without being asked, or not at all.
PREFIX_CACHED = CacheConfig(messages=False)


def openai(name: str, access: Access) -> Model:
    require_extra("openai", f"The model openai:{name}")
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    from tablewright.llm.lean_completions import use_lean_completions

    settings = ModelSettings(timeout=access.answer_seconds())
    if access.base_url:
        url = require_http_url(access.base_url)
        return create_compatible_model(name, url, find_key(access, "openai", url), settings)
    key = require_key(access, "openai", default_address("openai"), "OPENAI_API_KEY")
    provider = OpenAIProvider(api_key=key)
    use_lean_completions(provider.client)
    guard_provider(provider, key)
    return OpenAIChatModel(name, provider=provider, settings=ModelSettings(**settings, cache=PREFIX_CACHED))


def create_compatible_model(name: str, base_url: str, key: Key, settings: ModelSettings) -> OpenAIChatModel:
    """Return a model of an OpenAI-compatible endpoint. OPENAI_API_KEY is never sent there: it is for OpenAI only."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    from tablewright.llm.lean_completions import use_lean_completions

    provider = OpenAICompatibleProvider("openai-compatible", base_url=base_url, api_key=key or PLACEHOLDER_KEY)
    use_lean_completions(provider.client)
    guard_provider(provider, key)
    # Models that think know the newer name of the limit alone, and have a profile of their own.
    thinks = (provider.model_profile(name) or {}).get("supports_thinking", False)
    return OpenAIChatModel(name, provider=provider, settings=settings, profile=None if thinks else OLDER_TOKEN_LIMIT)


def ollama(name: str, access: Access) -> Model:
    require_extra("openai", f"The model ollama:{name}")
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    from tablewright.llm.lean_completions import use_lean_completions

    url = require_http_url(access.base_url or default_address("ollama"))
    try:
        key = find_key(access, "ollama", url, "OLLAMA_API_KEY")
    except KeyWithheld:
        if access.base_url and access.api_key:
            raise
        # Ollama needs none, and the user's key is for another provider.
        key = Key()
    provider = OllamaProvider(base_url=url, api_key=key or PLACEHOLDER_KEY)
    use_lean_completions(provider.client)
    guard_provider(provider, key)
    return OllamaModel(
        name, provider=provider, settings=ModelSettings(timeout=access.answer_seconds(LOCAL_ANSWER_SECONDS))
    )


def anthropic(name: str, access: Access) -> Model:
    require_extra("anthropic", f"The model anthropic:{name}")
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    key = require_key(access, "anthropic", access.base_url or default_address("anthropic"), "ANTHROPIC_API_KEY")
    provider = AnthropicProvider(api_key=key, base_url=access.base_url or None)
    # retry.py retries for all providers; both together would multiply the tries.
    provider.client.max_retries = 0
    guard_provider(provider, key)
    settings = ModelSettings(timeout=access.answer_seconds(), cache=PREFIX_CACHED)
    return AnthropicModel(name, provider=provider, settings=settings)


def google(name: str, access: Access) -> Model:
    require_extra("google", f"The model google:{name}")
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    address = access.base_url or default_address("google")
    key = require_key(access, "google", address, "GOOGLE_API_KEY", "GEMINI_API_KEY")
    provider = GoogleProvider(api_key=key, base_url=access.base_url or None)
    guard_provider(provider, key)
    return GoogleModel(name, provider=provider, settings=ModelSettings(timeout=access.answer_seconds()))


def default_address(provider: str) -> str:
    """Return the address that the provider's own library uses by default."""
    return os.environ.get(ADDRESS_VARIABLES[provider]) or PROVIDER_ADDRESSES["model_api_key"][provider]


def guard_provider(provider: Any, key: Key) -> None:
    """Guard the HTTP client of a provider, and each one that it opens later after closing the first."""
    make = provider._http_client_factory
    guard_client(provider._own_http_client, key)
    provider._http_client_factory = lambda: guard_client(make(), key)
