"""pydantic-ai at both ends: its agents ask our models, with all wrappers, and its models answer our requests.

Imported only where one of both is used, since it takes a third of a second.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, cast

from pydantic_ai import RunContext, exceptions
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import CompletedStreamedResponse, Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.profiles import DEFAULT_PROFILE, ModelProfile
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from tablewright.errors import KeyWithheld
from tablewright.llm.request import (
    ChatModel,
    FailureKind,
    Message,
    ModelCall,
    ModelReply,
    OutputSchema,
    RequestFailed,
    TokenUsage,
    Tool,
    failure_of_status,
)


class PydanticAIModel(ChatModel):
    """A model of pydantic-ai that answers our requests."""

    def __init__(self, wrapped: Model) -> None:
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
        return self.wrapped.settings or {}

    async def answer(self, call: ModelCall) -> ModelReply:
        if call.turn is None:
            messages, parameters = ModelMessagesTypeAdapter.validate_python(call.messages), parameters_of(call)
        else:
            messages, parameters = call.turn.messages, call.turn.parameters
        try:
            response = await self.wrapped.request(messages, cast("ModelSettings", dict(call.settings)), parameters)
        except (exceptions.AgentRunError, exceptions.UserError, KeyWithheld) as error:
            raise request_failure(error) from error
        (message,) = dump_messages([response])
        return ModelReply(message, cast("TokenUsage", response.usage))

    async def __aenter__(self) -> Self:
        await self.wrapped.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self.wrapped.__aexit__(*raised)


def parameters_of(call: ModelCall) -> ModelRequestParameters:
    tools = [
        ToolDefinition(
            name=tool.name, description=tool.description, parameters_json_schema=tool.parameters, kind="output"
        )
        for tool in call.tools
    ]
    schema = call.schema
    return ModelRequestParameters(
        output_mode=cast("Any", call.output_mode),
        output_object=None if schema is None else OutputObjectDefinition(schema.json_schema, schema.name),
        output_tools=tools,
        allow_text_output=not tools,
        instruction_parts=[InstructionPart(content=text) for text in call.instructions],
    )


def request_failure(error: Exception) -> RequestFailed:
    if not isinstance(error, exceptions.ModelAPIError):
        return RequestFailed("unsupported" if isinstance(error, exceptions.UserError) else "unusable", str(error))
    status = error.status_code if isinstance(error, exceptions.ModelHTTPError) else None
    return RequestFailed(
        failure_kind(error, status), str(error), status=status, body=error.body, retry_after=error.retry_after
    )


def failure_kind(error: exceptions.ModelAPIError, status: int | None) -> FailureKind:
    kinds: tuple[tuple[type[exceptions.ModelAPIError], FailureKind], ...] = (
        (exceptions.ModelQuotaExceededError, "quota"),
        (exceptions.ModelAuthenticationError, "key"),
        (exceptions.ModelNotFoundError, "missing"),
        (exceptions.ModelContextWindowExceededError, "context"),
        (exceptions.ModelRequestRejectedError, "rejected"),
        (exceptions.ModelTimeoutError, "timeout"),
        (exceptions.ModelRequestTimeout, "timeout"),
    )
    for category, kind in kinds:
        if isinstance(error, category):
            return kind
    return "unreachable" if status is None else failure_of_status(status)


def dump_messages(messages: Sequence[ModelMessage]) -> list[Message]:
    return cast("list[Message]", ModelMessagesTypeAdapter.dump_python(list(messages), mode="json"))


@dataclass(frozen=True)
class AgentTurn:
    """A request of an agent in pydantic-ai's own objects."""

    messages: list[ModelMessage]
    parameters: ModelRequestParameters

    @property
    def has_tools(self) -> bool:
        """Return True if the agent can do anything but answer."""
        return bool(self.parameters.function_tools)

    def plain_messages(self) -> list[Message]:
        """Return the messages with tool calls as the JSON that they were, and tool results as user messages."""
        return dump_messages(
            [
                replace(message, parts=[result_as_text(part) for part in message.parts])
                if isinstance(message, ModelRequest)
                else replace(message, parts=[call_as_text(part) for part in message.parts])
                for message in self.messages
            ]
        )


class AgentModel(Model):
    """One of our models for agents of pydantic-ai. A streamed request is answered whole, so that none goes past the
    cache, the budget and the limits."""

    def __init__(self, asked: ChatModel) -> None:
        super().__init__(settings=cast("ModelSettings", dict(asked.settings)) or None)
        self.asked = asked

    @property
    def system(self) -> str:
        return self.asked.system

    @property
    def model_name(self) -> str:
        return self.asked.model_name

    @property
    def base_url(self) -> str | None:
        return self.asked.base_url

    @cached_property
    def profile(self) -> ModelProfile:
        return cast("ModelProfile", {**DEFAULT_PROFILE, **self.asked.profile})

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        asked = model_request_parameters
        output = asked.output_object
        call = ModelCall(
            dump_messages(messages),
            dict(model_settings or {}),
            tuple(part.content for part in asked.instruction_parts or ()),
            asked.output_mode,
            None if output is None else OutputSchema(output.name or "", output.json_schema),
            tuple(
                Tool(tool.name, tool.description, tool.parameters_json_schema)
                for tool in (*asked.function_tools, *asked.output_tools)
            ),
            AgentTurn(messages, asked),
        )
        reply = await self.asked.answer(call)
        (response,) = ModelMessagesTypeAdapter.validate_python([reply.message])
        assert isinstance(response, ModelResponse)
        usage = reply.usage
        response.usage = usage if isinstance(usage, RequestUsage) else RequestUsage(**vars(usage))
        return response

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


def result_as_text(part: ModelRequestPart) -> ModelRequestPart:
    """Return a tool's result as text. A reply that is sent back says itself what is wrong or what else to read;
    pydantic-ai would call either an error."""
    if isinstance(part, RetryPromptPart):
        return UserPromptPart(content=part.content if isinstance(part.content, str) else part.model_response())
    if not isinstance(part, ToolReturnPart):
        return part
    return UserPromptPart(content=part.content if isinstance(part.content, str) else part.model_response_str())


def call_as_text(part: ModelResponsePart) -> ModelResponsePart:
    if not isinstance(part, ToolCallPart):
        return part
    return TextPart(content=json.dumps({"name": part.tool_name, "arguments": part.args_as_dict()}, ensure_ascii=False))
