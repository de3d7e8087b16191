"""A model whose requests pass a budget before they are sent."""

from __future__ import annotations

import math

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from tablewright.models.budget import NOTHING, Budget, Spend, open_allowance
from tablewright.models.layer import Layer
from tablewright.models.price import estimate
from tablewright.models.request_size import most_tokens


class Budgeted(Layer):
    def __init__(self, wrapped: Model, budget: Budget) -> None:
        super().__init__(wrapped)
        self._budget = budget

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        most = self._most(messages, model_settings, model_request_parameters)
        await self._budget.reserve(most)
        used = NOTHING
        try:
            response = await self.wrapped.request(messages, model_settings, model_request_parameters)
            usage = response.usage
            used = Spend(float(usage.cost or 0), usage.total_tokens, 1)
            return response
        finally:
            self._budget.settle(most, used)

    def _most(
        self, messages: list[ModelMessage], settings: ModelSettings | None, asked: ModelRequestParameters
    ) -> Spend:
        if not self._budget.needs_estimates:
            return Spend(calls=1)
        read, written = most_tokens(self, messages, settings, asked)
        price = estimate(self.wrapped, read, written)
        if price is None and self._budget.usd == 0:
            return Spend(math.inf, read + written, 1)  # who spends nothing does not ask what it costs
        if price is None and (self._budget.usd is not None or open_allowance() is not None):
            self._budget.price_unknown(self.model_name)
        return Spend(float(price or 0), read + written, 1)
