"""Wrappers around a `ChatModel`, one concern each: usage, budget, cool-down, fallback, health.

build.py says in which order they are nested. The cache, retries and rate limits have files of their own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Self

from tablewright.domain.run import Usage, measure_usage, record_usage
from tablewright.errors import ModelError, ModelRefused, ModelUnavailable
from tablewright.llm.budget import NO_SPEND, Budget, Spend, current_allowance
from tablewright.llm.request import ChatModel, ModelCall, ModelReply
from tablewright.llm.tokens import estimate_price, estimate_request_tokens, price_reply
from tablewright.observe import count_event


class ModelWrapper(ChatModel):
    """Base class: subclasses override `answer`."""

    def __init__(self, wrapped: ChatModel) -> None:
        self.wrapped = wrapped

    @property
    def system(self) -> str:
        return self.wrapped.system

    @property
    def model_name(self) -> str:
        return self.wrapped.model_name

    @property
    def base_url(self) -> str | None:
        return self.wrapped.base_url

    @property
    def profile(self) -> Mapping[str, Any]:
        return self.wrapped.profile

    @property
    def settings(self) -> Mapping[str, Any]:
        return self.wrapped.settings

    async def __aenter__(self) -> Self:
        await self.wrapped.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self.wrapped.__aexit__(*raised)


class Observed(ModelWrapper):
    """Report to callbacks whether the model answers. The outermost wrapper, so that an answer of the fallback model
    counts and one from the cache does not."""

    def __init__(
        self,
        wrapped: ChatModel,
        *,
        before: Callable[[], None],
        answered: Callable[[], None],
        failed: Callable[[ModelError], None],
        turn: Callable[[], AbstractAsyncContextManager[None]],
    ) -> None:
        """`before` may raise the error that the request would end in. The request is made inside a `turn`."""
        super().__init__(wrapped)
        self._before = before
        self._answered = answered
        self._failed = failed
        self._turn = turn

    async def answer(self, call: ModelCall) -> ModelReply:
        with measure_usage() as meter:
            try:
                async with self._turn():
                    # `before` raises for a model that is known to be down: reported like a failure of the model.
                    self._before()
                    reply = await self.wrapped.answer(call)
            except (ModelUnavailable, ModelRefused) as error:
                self._failed(error)
                raise
        # An answer from the cache makes no call and says nothing about the model.
        if meter.usage.llm_calls:
            self._answered()
        return reply


class Metered(ModelWrapper):
    """Record the tokens and the price of each answer; `domain.run.metered()` adds them up."""

    async def answer(self, call: ModelCall) -> ModelReply:
        reply = await self.wrapped.answer(call)
        usage = reply.usage
        usage.cost = price_reply(reply, self.wrapped)
        record_usage(
            Usage(
                llm_calls=1,
                input_tokens=usage.input_tokens,
                cached_tokens=usage.cache_read_tokens,
                output_tokens=usage.output_tokens,
                cost_usd=float(usage.cost or 0),
            )
        )
        provider = f"{self.system}:{self.model_name}"
        count_event("model_calls", provider=provider)
        count_event("tokens", usage.input_tokens, provider=provider, direction="input")
        count_event("tokens", usage.output_tokens, provider=provider, direction="output")
        count_event("dollars", float(usage.cost or 0), provider=provider)
        return reply


class Budgeted(ModelWrapper):
    """Reserve the most a request can take before it is sent, and settle what it took. Raises OverBudget."""

    def __init__(self, wrapped: ChatModel, budget: Budget) -> None:
        super().__init__(wrapped)
        self._budget = budget

    async def answer(self, call: ModelCall) -> ModelReply:
        most = self._most(call)
        await self._budget.reserve(most)
        used = NO_SPEND
        try:
            reply = await self.wrapped.answer(call)
            usage = reply.usage
            used = Spend(float(usage.cost or 0), usage.total_tokens, 1)
            return reply
        finally:
            self._budget.settle(most, used)

    def _most(self, call: ModelCall) -> Spend:
        if not self._budget.needs_estimates:
            return Spend(calls=1)
        read, written = estimate_request_tokens(self, call)
        price = estimate_price(self.wrapped, read, written)
        if price is None and self._budget.usd == 0:
            # A budget of nothing refuses unknown prices, too.
            return Spend(math.inf, read + written, 1)
        if price is None and (self._budget.usd is not None or current_allowance() is not None):
            self._budget.warn_unpriced(self.model_name)
        return Spend(float(price or 0), read + written, 1)


# An unavailable first model is not tried again for this long; else every cell would wait for all its retries.
COOL_DOWN_SECONDS = 30.0


class CoolDown(ModelWrapper):
    """Do not send requests to an unavailable model for a while. Nested inside the cache, which still answers."""

    def __init__(self, wrapped: ChatModel, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(wrapped)
        self._clock = clock
        self._until = 0.0
        self._why = ""

    async def answer(self, call: ModelCall) -> ModelReply:
        if self._clock() < self._until:
            raise ModelUnavailable(self._why)
        try:
            return await self.wrapped.answer(call)
        except ModelUnavailable as error:
            self._until = self._clock() + COOL_DOWN_SECONDS
            self._why = error.what
            raise


class Fallback(ModelWrapper):
    """Ask a second model while the first is unavailable, but not after a refusal or when the budget is spent."""

    def __init__(self, first: ChatModel, second: ChatModel) -> None:
        super().__init__(first)
        self._second = second

    async def __aenter__(self) -> Self:
        await self._second.__aenter__()
        return await super().__aenter__()

    async def __aexit__(self, *raised: Any) -> None:
        await self._second.__aexit__(*raised)
        await super().__aexit__(*raised)

    async def answer(self, call: ModelCall) -> ModelReply:
        try:
            return await self.wrapped.answer(call)
        except ModelUnavailable as first:
            try:
                return await self._second.answer(call)
            except ModelUnavailable as second:
                raise ModelUnavailable(f"{first.what} {second.what}", advice=second.advice) from second
