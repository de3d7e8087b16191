"""How many tokens a request is and what it costs, before and after it is sent.

Tokens are counted with the tokenizer that comes with the default embedder, prices are those of `genai-prices`: neither
needs a network. Other models cut texts otherwise, so an estimate has a margin; it is meant to be a little too high.
Without the extra `documents`, which brings the tokenizer, it follows from the number of bytes.
"""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from genai_prices import Usage, calc_price
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings

from tablewright.extras import is_installed

if TYPE_CHECKING:
    from tokenizers import Tokenizer


MARGIN = 1.15
WHOLE = 2_048
"""Characters that are counted in full; a longer text is counted in slices, spread over it. Counting a page of 8,000
characters would take 3 ms of CPU, as much as asking a model."""
SLICES = 4
BYTES = 3
"""Of a token, where there is no tokenizer to count them; those of English prose have 4."""
CUT_OFF = "it was cut off at {limit} tokens. Be shorter."
"""What a model is told whose answer did not end."""


def estimate_tokens(text: str) -> int:
    counts = tokenizer()
    if not text or counts is None:
        return -(-len(text.encode()) // BYTES)
    length = WHOLE // SLICES
    if len(text) <= WHOLE:
        slices = [text]
    else:
        slices = [text[(len(text) - length) * n // (SLICES - 1) :][:length] for n in range(SLICES)]
    counted = sum(len(counts.encode(piece, add_special_tokens=False).ids) for piece in slices)
    return int(counted * MARGIN * len(text) / sum(map(len, slices))) + 1


@cache
def tokenizer() -> Tokenizer | None:
    package = find_spec("wordllama") if is_installed("documents") else None
    if package is None:
        return None
    from tokenizers import Tokenizer

    file = Path(package.origin or "").parent / "tokenizers" / "l2_supercat_tokenizer_config.json"
    loaded = Tokenizer.from_file(str(file))
    loaded.no_padding()
    loaded.no_truncation()
    return loaded


UNKNOWN_WINDOW = 16_000
"""The window of a model of which nothing is known."""

KNOWN = (
    ("anthropic", "claude-", 200_000),
    ("google", "gemini-", 1_048_576),
    ("ollama", "", 4_096),  # what its server gives any model on a small machine; it cuts a longer question off silently
    ("openai", "gpt-", 128_000),
)
"""Provider, beginning of the name, tokens: the smallest among the models in use in November 2026."""


def known_window(model: Model) -> int | None:
    """Return the tokens that a model can take in at once, question and answer together; None if unknown. pydantic-ai
    has most of them, from the list of `genai-prices`; ours fill its gaps."""
    if listed := model.context_window:
        return listed
    for provider, beginning, tokens in KNOWN:
        if model.system == provider and model.model_name.startswith(beginning):
            return tokens
    return None


OUTPUT_WHEN_UNLIMITED = 4_096
AROUND_A_MESSAGE = 8
"""Tokens a chat template puts around each message."""


ROOM_TO_THINK = 4_096


def room_to_think(profile: ModelProfile) -> int:
    """A model that cannot stop thinking spends its output tokens on thoughts first."""
    return ROOM_TO_THINK if profile.get("thinking_always_enabled", False) else 0


def most_tokens(
    model: Model, messages: list[ModelMessage], settings: ModelSettings | None, asked: ModelRequestParameters
) -> tuple[int, int]:
    """Return the most tokens that a request can read and write, before it is sent."""
    texts = [text_of(message) for message in messages]
    texts.extend(part.content for part in asked.instruction_parts or [])
    if asked.output_object is not None:
        texts.append(json.dumps(asked.output_object.json_schema))
    tools = (*asked.function_tools, *asked.output_tools)
    texts.extend(json.dumps(tool.parameters_json_schema) + (tool.description or "") for tool in tools)
    read = estimate_tokens("\n".join(texts)) + AROUND_A_MESSAGE * (len(messages) + 1)
    return read, (settings or {}).get("max_tokens", OUTPUT_WHEN_UNLIMITED) + room_to_think(model.profile)


def text_of(message: ModelMessage) -> str:
    return "\n".join(str(getattr(part, "content", None) or getattr(part, "args", "") or "") for part in message.parts)


FREE = frozenset({"local", "ollama"})
"""Providers that run on one's own machine."""


def price_of(response: ModelResponse, model: Model) -> Decimal | None:
    """Return what was paid for an answer; None where nobody knows."""
    usage = response.usage
    if usage.cost is not None:
        return usage.cost
    likely = estimate(model, usage.input_tokens, usage.output_tokens)
    if not likely:
        return likely
    for answered in (response, replace(response, model_name=model.model_name)):
        try:
            return answered.cost().total_price  # it knows the prices of tokens read from the provider's cache
        except (LookupError, ValueError):
            continue
    return likely


def estimate(model: Model, input_tokens: int, output_tokens: int) -> Decimal | None:
    prices = prices_for(model.system, model.model_name, model.base_url)
    return None if prices is None else (input_tokens * prices[0] + output_tokens * prices[1]) / 1_000


@lru_cache(maxsize=256)
def prices_for(provider: str, name: str, base_url: str | None) -> tuple[Decimal, Decimal] | None:
    """Of 1,000 tokens in and out. Kept, because looking a model up takes half a millisecond."""
    if provider in FREE:
        return Decimal(0), Decimal(0)
    for place in ({"provider_api_url": base_url}, {"provider_id": provider}):
        if not all(place.values()):
            continue
        try:
            read, written = (
                calc_price(Usage(**tokens), name, **place).total_price
                for tokens in ({"input_tokens": 1_000}, {"output_tokens": 1_000})
            )
        except LookupError:
            continue
        return read, written
    return None
