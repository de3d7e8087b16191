"""What a request costs, from the price list that comes with `genai-prices`: no network."""

from __future__ import annotations

from decimal import Decimal

from genai_prices import Usage, calc_price
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model

FREE = frozenset({"local", "ollama"})
"""Providers that run on one's own machine."""


def price_of(response: ModelResponse, model: Model) -> Decimal | None:
    """What was paid for an answer; None where nobody knows."""
    if response.usage.cost is not None:
        return response.usage.cost
    if model.system in FREE:
        return Decimal(0)
    try:
        return response.cost().total_price
    except (LookupError, ValueError, AssertionError):
        return estimate(model, response.usage.input_tokens, response.usage.output_tokens)


def estimate(model: Model, input_tokens: int, output_tokens: int) -> Decimal | None:
    if model.system in FREE:
        return Decimal(0)
    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
    if model.base_url:
        try:
            return calc_price(usage, model.model_name, provider_api_url=model.base_url).total_price
        except LookupError:
            pass
    try:
        return calc_price(usage, model.model_name, provider_id=model.system).total_price
    except LookupError:
        return None
