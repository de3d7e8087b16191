"""A second model for the time that the first cannot be reached. Not for a refusal, nor for an empty budget."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model

from tablewright.errors import ModelUnavailable
from tablewright.models.layer import Layer, ModelCall

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
    def __init__(self, first: Model, second: Model) -> None:
        super().__init__(first)
        self._second = second

    async def __aenter__(self) -> Self:
        await self._second.__aenter__()
        return await super().__aenter__()

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        await self._second.__aexit__(exc_type, exc_val, exc_tb)
        return await super().__aexit__(exc_type, exc_val, exc_tb)

    async def answer(self, call: ModelCall) -> ModelResponse:
        try:
            return await self.wrapped.request(*call)
        except ModelUnavailable as first:
            try:
                return await self._second.request(*call)
            except ModelUnavailable as second:
                raise ModelUnavailable(f"{first.what} {second.what}", advice=second.advice) from second
