"""What a request costs, from the price list that comes with `genai-prices`: no network."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import lru_cache

from genai_prices import Usage, calc_price
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model

FREE = frozenset({"local", "ollama"})
"""Providers that run on one's own machine."""


def price_of(response: ModelResponse, model: Model) -> Decimal | None:
    """What was paid for an answer; None where nobody knows."""
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
