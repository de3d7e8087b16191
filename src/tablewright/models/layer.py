"""The form of every wrapper: one concern around pydantic-ai's own `Model`."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, Self

from pydantic_ai import RunContext
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import CompletedStreamedResponse, Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from tablewright.domain.run import Usage, metered, spend
from tablewright.errors import ModelError, ModelRefused, ModelUnavailable
from tablewright.models.budget import NOTHING, Budget, Spend, open_allowance
from tablewright.models.tokens import estimate, most_tokens, price_of
from tablewright.observe import count


class ModelCall(NamedTuple):
    """What a model is asked."""

    messages: list[ModelMessage]
    settings: ModelSettings | None
    parameters: ModelRequestParameters


class Layer(WrapperModel):
    """A layer says what it does in `answer`. A streamed request is answered whole through it, so that nothing is
    spent, asked or kept past the cache, the budget and the limits."""

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        return await self.answer(ModelCall(messages, model_settings, model_request_parameters))

    async def answer(self, call: ModelCall) -> ModelResponse:
        return await self.wrapped.request(*call)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        response = await self.request(messages, model_settings, model_request_parameters)
        yield CompletedStreamedResponse(response, model_request_parameters=model_request_parameters, replay_events=True)


class Observed(Layer):
    """Tells a caller whether the model answers. Lies above all other layers: a fallback model that answers is an
    answer, and one from the cache is none."""

    def __init__(
        self,
        wrapped: Model,
        *,
        before: Callable[[], None],
        answered: Callable[[], None],
        failed: Callable[[ModelError], None],
    ) -> None:
        """`before` may raise the error that asking would come to."""
        super().__init__(wrapped)
        self._before = before
        self._answered = answered
        self._failed = failed

    async def answer(self, call: ModelCall) -> ModelResponse:
        with metered() as meter:
            try:
                self._before()
                response = await self.wrapped.request(*call)
            except (ModelUnavailable, ModelRefused) as error:
                self._failed(error)
                raise
        if meter.usage.llm_calls:
            self._answered()
        return response


class Metered(Layer):
    """Counts what every answer took: `domain.usage.metered()` adds it up."""

    async def answer(self, call: ModelCall) -> ModelResponse:
        response = await self.wrapped.request(*call)
        usage = response.usage
        usage.cost = price_of(response, self.wrapped)
        spend(
            Usage(
                llm_calls=1,
                input_tokens=usage.input_tokens,
                cached_tokens=usage.cache_read_tokens,
                output_tokens=usage.output_tokens,
                cost_usd=float(usage.cost or 0),
            )
        )
        provider = f"{self.system}:{self.model_name}"
        count("model_calls", provider=provider)
        count("tokens", usage.input_tokens, provider=provider, direction="input")
        count("tokens", usage.output_tokens, provider=provider, direction="output")
        count("dollars", float(usage.cost or 0), provider=provider)
        return response


class Budgeted(Layer):
    """Requests pass a budget before they are sent."""

    def __init__(self, wrapped: Model, budget: Budget) -> None:
        super().__init__(wrapped)
        self._budget = budget

    async def answer(self, call: ModelCall) -> ModelResponse:
        most = self._most(call)
        await self._budget.reserve(most)
        used = NOTHING
        try:
            response = await self.wrapped.request(*call)
            usage = response.usage
            used = Spend(float(usage.cost or 0), usage.total_tokens, 1)
            return response
        finally:
            self._budget.settle(most, used)

    def _most(self, call: ModelCall) -> Spend:
        if not self._budget.needs_estimates:
            return Spend(calls=1)
        read, written = most_tokens(self, *call)
        price = estimate(self.wrapped, read, written)
        if price is None and self._budget.usd == 0:
            return Spend(math.inf, read + written, 1)  # who spends nothing does not ask what it costs
        if price is None and (self._budget.usd is not None or open_allowance() is not None):
            self._budget.price_unknown(self.model_name)
        return Spend(float(price or 0), read + written, 1)


REST = 30.0
"""Seconds in which a model that was unavailable is not asked again: else every cell would wait for all its retries."""


class Resting(Layer):
    """Lies below the cache: what is already bought can be had from a resting model too."""

    def __init__(self, wrapped: Model, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(wrapped)
        self._clock = clock
        self._until = 0.0
        self._why = ""

    async def answer(self, call: ModelCall) -> ModelResponse:
        if self._clock() < self._until:
            raise ModelUnavailable(self._why)
        try:
            return await self.wrapped.request(*call)
        except ModelUnavailable as error:
            self._until = self._clock() + REST
            self._why = error.what
            raise


class Fallback(Layer):
    """A second model for the time that the first cannot be reached; not for a refusal, nor for an empty budget."""

    def __init__(self, first: Model, second: Model) -> None:
        super().__init__(first)
        self._second = second

    async def __aenter__(self) -> Self:
        await self._second.__aenter__()
        return await super().__aenter__()

    async def __aexit__(self, *raised: Any) -> bool | None:
        await self._second.__aexit__(*raised)
        return await super().__aexit__(*raised)

    async def answer(self, call: ModelCall) -> ModelResponse:
        try:
            return await self.wrapped.request(*call)
        except ModelUnavailable as first:
            try:
                return await self._second.request(*call)
            except ModelUnavailable as second:
                raise ModelUnavailable(f"{first.what} {second.what}", advice=second.advice) from second
