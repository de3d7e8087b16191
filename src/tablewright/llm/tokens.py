"""Count the tokens of a request and work out its price, before and after it is sent.

Tokens are counted with the tokenizer of the default embedder, and prices come from `genai-prices`; neither needs a
network. Models tokenize differently, so estimates have a margin and are meant to be a little too high. Without the
extra `documents`, which brings the tokenizer, tokens are estimated from the number of bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tablewright.extras import is_installed
from tablewright.llm.request import ChatModel, ModelCall, ModelReply

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def estimate_tokens(text: str) -> int:
    """Return a count that is rather too high than too low."""
    tokenizer = load_tokenizer()
    if not text or tokenizer is None:
        # English prose has about 4 bytes per token; 3 leaves a margin.
        return -(-len(text.encode()) // 3)
    # A longer text is sampled in slices: counting a page of 8,000 characters takes 3 ms of CPU, as much as a request.
    max_characters, count = 2_048, 4
    length = max_characters // count
    if len(text) <= max_characters:
        slices = [text]
    else:
        slices = [text[(len(text) - length) * n // (count - 1) :][:length] for n in range(count)]
    counted = sum(len(tokenizer.encode(piece, add_special_tokens=False).ids) for piece in slices)
    # Other models have other tokenizers.
    margin = 1.15
    return int(counted * margin * len(text) / sum(map(len, slices))) + 1


@cache
def load_tokenizer() -> Tokenizer | None:
    package = find_spec("wordllama") if is_installed("documents") else None
    if package is None:
        return None
    from tokenizers import Tokenizer

    file = Path(package.origin or "").parent / "tokenizers" / "l2_supercat_tokenizer_config.json"
    loaded = Tokenizer.from_file(str(file))
    # The tokenizer's own settings pad and cut for the embedder, which would make all counts alike.
    loaded.no_padding()
    loaded.no_truncation()
    return loaded


# The context window of a model that is not listed: small enough for most models in use.
DEFAULT_WINDOW_TOKENS = 16_000


def find_window_tokens(model: ChatModel) -> int | None:
    """Return the context window, question and answer together; None if it is unknown.

    `genai-prices` lists most windows; ours fill its gaps.
    """
    if known := model.profile.get("context_window"):
        return int(known)
    from genai_prices.data_snapshot import get_snapshot

    for provider, address in ((None, model.base_url), (model.system, None)):
        with suppress(LookupError):
            _, listed = get_snapshot().find_provider_model(model.model_name, None, provider, address)
            if listed.context_window:
                return listed.context_window
    # The smallest window among each provider's models in use in November 2026.
    known_windows = (
        ("anthropic", "claude-", 200_000),
        ("google", "gemini-", 1_048_576),
        # The default of its server on a small machine, which silently cuts off longer requests.
        ("ollama", "", 4_096),
        ("openai", "gpt-", 128_000),
    )
    for provider, beginning, tokens in known_windows:
        if model.system == provider and model.model_name.startswith(beginning):
            return tokens
    return None


def thinking_tokens(profile: Mapping[str, Any]) -> int:
    """Return the output tokens to add for a model that always thinks, since its thoughts come out of its output."""
    # Larger: more is reserved of a budget; smaller: a long thought leaves no room for the answer.
    return 4_096 if profile.get("thinking_always_enabled", False) else 0


def estimate_request_tokens(model: ChatModel, call: ModelCall) -> tuple[int, int]:
    """Return the most tokens that a request can read and write, before it is sent."""
    parts = (part for message in call.messages for part in message["parts"])
    texts = [str(part.get("content") or part.get("args") or "") for part in parts]
    texts.extend(call.instructions)
    if call.schema is not None:
        texts.append(json.dumps(call.schema.json_schema))
    texts.extend(json.dumps(tool.parameters) + (tool.description or "") for tool in call.tools)
    # A chat template adds about 8 to each message.
    read = estimate_tokens("\n".join(texts)) + 8 * (len(call.messages) + 1)
    # Without a limit, 4,096 tokens are the usual default of providers.
    return read, call.settings.get("max_tokens", 4_096) + thinking_tokens(model.profile)


# Providers that run on the user's own machine.
FREE_PROVIDERS = frozenset({"local", "ollama"})


def price_reply(reply: ModelReply, model: ChatModel) -> Decimal | None:
    """Return what was paid for an answer, or None if the price is unknown."""
    usage = reply.usage
    if usage.cost is not None:
        return usage.cost
    likely = estimate_price(model, usage.input_tokens, usage.output_tokens)
    if not likely:
        return likely
    # A provider may answer under a dated name that has no price yet; then the name that was asked for counts.
    names = filter(None, (reply.message.get("model_name"), model.model_name))
    # It knows the prices of tokens read from the provider's cache.
    prices = (find_price(usage, name, model.system, model.base_url) for name in names)
    return next((price for price in prices if price is not None), likely)


def estimate_price(model: ChatModel, input_tokens: int, output_tokens: int) -> Decimal | None:
    prices = find_token_prices(model.system, model.model_name, model.base_url)
    return None if prices is None else (input_tokens * prices[0] + output_tokens * prices[1]) / 1_000


@lru_cache(maxsize=256)
def find_token_prices(provider: str, name: str, base_url: str | None) -> tuple[Decimal, Decimal] | None:
    """Return the prices of 1,000 input and output tokens. Cached, because a lookup takes half a millisecond."""
    if provider in FREE_PROVIDERS:
        return Decimal(0), Decimal(0)
    # Here, because texts are measured without a model, too, and its libraries take most of a second to import.
    from genai_prices import Usage

    read = find_price(Usage(input_tokens=1_000), name, provider, base_url)
    written = find_price(Usage(output_tokens=1_000), name, provider, base_url)
    return None if read is None or written is None else (read, written)


def find_price(usage: object, name: str, provider: str, base_url: str | None) -> Decimal | None:
    """Return the price of some tokens, or None if it is unknown."""
    from genai_prices import calc_price

    # By the address first: a compatible endpoint may sell another provider's model at its own price.
    if base_url:
        with suppress(LookupError, ValueError):
            return calc_price(usage, name, provider_api_url=base_url).total_price
    with suppress(LookupError, ValueError):
        return calc_price(usage, name, provider_id=provider).total_price
    return None
