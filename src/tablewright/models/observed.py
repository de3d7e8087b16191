"""Tells somebody whether the model answers. Lies above all other layers: a fallback model that answers is an answer,
and one from the cache is none."""

from __future__ import annotations

from collections.abc import Callable

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from tablewright.domain.usage import metered
from tablewright.errors import ModelError, ModelRefused, ModelUnavailable
from tablewright.models.layer import Layer


class Observed(Layer):
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

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        with metered() as meter:
            try:
                self._before()
                response = await self.wrapped.request(messages, model_settings, model_request_parameters)
            except (ModelUnavailable, ModelRefused) as error:
                self._failed(error)
                raise
        if meter.usage.llm_calls:
            self._answered()
        return response
