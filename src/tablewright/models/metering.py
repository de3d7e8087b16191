"""Tells what every answer took: `table.usage.metered()` adds it up."""

from __future__ import annotations

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from tablewright.domain.usage import Usage, spend
from tablewright.models.layer import Layer
from tablewright.models.price import price_of
from tablewright.observe import count


class Metered(Layer):
    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        response = await self.wrapped.request(messages, model_settings, model_request_parameters)
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
