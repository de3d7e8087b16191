"""The providers that are reached over the network. Each function is an entry point of `tablewright.models`.

The package of each is an extra, and imported where it is used: they take most of a second each.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pydantic_ai.models import Model
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.settings import CacheConfig, ModelSettings

from tablewright.extras import need
from tablewright.models.spec import PATIENCE_HERE, Access, checked_url, key

if TYPE_CHECKING:
    from pydantic_ai.models.openai import OpenAIChatModel

COMPATIBLE = "openai-compatible"
OLLAMA_URL = "http://127.0.0.1:11434/v1"
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
        return compatible(name, checked_url(access.base_url), access.api_key, settings)
    provider = OpenAIProvider(api_key=key(access, "openai", "OPENAI_API_KEY"))
    make_lean(provider.client)
    return OpenAIChatModel(name, provider=provider, settings=ModelSettings(**settings, cache=PREFIX_CACHED))


def compatible(name: str, base_url: str, api_key: str, settings: ModelSettings) -> OpenAIChatModel:
    """OPENAI_API_KEY stays out of it: a key for OpenAI is nobody else's business."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    from tablewright.models.lean_completions import make_lean

    provider = OpenAICompatibleProvider(COMPATIBLE, base_url=base_url, api_key=api_key or None)
    make_lean(provider.client)
    thinks = (provider.model_profile(name) or {}).get("supports_thinking", False)
    return OpenAIChatModel(name, provider=provider, settings=settings, profile=None if thinks else OLDER_TOKEN_LIMIT)


def ollama(name: str, access: Access) -> Model:
    need("openai", f"The model ollama:{name}")
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    from tablewright.models.lean_completions import make_lean

    url = access.base_url or os.environ.get("OLLAMA_BASE_URL") or OLLAMA_URL
    provider = OllamaProvider(base_url=checked_url(url), api_key=access.api_key or None)
    make_lean(provider.client)
    return OllamaModel(name, provider=provider, settings=ModelSettings(timeout=access.patience(PATIENCE_HERE)))


def anthropic(name: str, access: Access) -> Model:
    need("anthropic", f"The model anthropic:{name}")
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(
        api_key=key(access, "anthropic", "ANTHROPIC_API_KEY"), base_url=access.base_url or None
    )
    provider.client.max_retries = 0
    settings = ModelSettings(timeout=access.patience(), cache=PREFIX_CACHED)
    return AnthropicModel(name, provider=provider, settings=settings)


def google(name: str, access: Access) -> Model:
    need("google", f"The model google:{name}")
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(
        api_key=key(access, "google", "GOOGLE_API_KEY", "GEMINI_API_KEY"), base_url=access.base_url or None
    )
    return GoogleModel(name, provider=provider, settings=ModelSettings(timeout=access.patience()))
