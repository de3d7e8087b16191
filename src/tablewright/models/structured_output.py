"""Ask each model in the form that it understands, so that everything above can ask for JSON of a schema alike.

`native` sends the schema with the request (grammar-constrained at OpenAI, llama.cpp, Ollama and others); `tool` offers
one tool whose arguments are the answer (older models of Anthropic); `prompted` only says it in words.

Models behind other servers get an agent's tools as JSON of a schema, too. What a server makes of `tool_choice:
required` differs: measured with llama.cpp and a 1.5B model, it is not enforced, and the model repeats the list of tools
until its tokens are used up. A schema is enforced. So a turn becomes one question, "which of these do you call", whose
answer is one JSON object; above this nobody sees the difference.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias, cast

from pydantic_ai.exceptions import (
    ModelAuthenticationError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
)
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
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
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from tablewright.models.layer import Layer, ModelCall
from tablewright.models.tokens import room_to_think

Form: TypeAlias = Literal["native", "tool", "prompted"]

IN_WORDS = "Answer with one JSON object and nothing else, no prose and no code fence. It must fit this JSON schema:\n"


class StructuredOutput(Layer):
    """Fits what every request has in common: temperature 0, as little thinking as the model allows, JSON by schema."""

    def __init__(self, wrapped: Model, *, json_tools: bool = False) -> None:
        """With `json_tools` an agent's tools are offered as JSON of a schema (see above)."""
        super().__init__(wrapped)
        self._json_tools = json_tools
        profile = wrapped.profile
        self.form: Form = form_of(profile)
        self._defaults = settings_for(profile)
        self._room = room_to_think(profile)

    async def answer(self, call: ModelCall) -> ModelResponse:
        settings = cast("ModelSettings", {**self._defaults, **(call.settings or {})})
        if self._room and "max_tokens" in settings:
            settings["max_tokens"] += self._room
        asked = call.parameters
        if asked.function_tools and "cache" in (self.wrapped.settings or {}):
            settings["cache"] = True  # every turn of the conversation begins with all earlier ones
        if self._json_tools and tools_of(asked):
            said = messages_as_json(call.messages)
            return read_call(await self._by_schema(said, settings, asked_as_json(asked)))
        return await self._by_schema(call.messages, settings, asked)

    async def _by_schema(
        self, messages: list[ModelMessage], settings: ModelSettings, asked: ModelRequestParameters
    ) -> ModelResponse:
        if asked.output_mode != "native" or asked.output_object is None:
            return await self.wrapped.request(messages, settings, asked)
        if self.form == "tool":
            return tool_answer(await self.wrapped.request(messages, settings, as_tool(asked, asked.output_object)))
        in_words = as_words(asked, asked.output_object)
        if self.form == "prompted":
            return await self.wrapped.request(messages, settings, in_words)
        try:
            return await self.wrapped.request(messages, settings, asked)
        except ModelHTTPError as refused:
            if not may_be_the_form(refused):
                raise
            try:
                response = await self.wrapped.request(messages, settings, in_words)
            except ModelHTTPError:
                raise refused from None
            self.form = "prompted"
            return response


def form_of(profile: ModelProfile) -> Form:
    if profile.get("supports_json_schema_output", False):
        return "native"
    return "tool" if profile.get("supports_tools", True) else "prompted"


def settings_for(profile: ModelProfile) -> ModelSettings:
    settings = ModelSettings()
    if profile.get("supports_thinking", False):
        settings["thinking"] = False
    if not refuses_temperature(profile):
        settings["temperature"] = 0.0
    return settings


def refuses_temperature(profile: ModelProfile) -> bool:
    """OpenAI's reasoning models take it only with the effort "none", some of Anthropic's never."""
    facts: Mapping[str, Any] = profile
    if facts.get("anthropic_disallows_sampling_settings", False):
        return True
    efforts = facts.get("openai_reasoning_efforts")
    can_stop = "none" in efforts if efforts is not None else facts.get("openai_supports_reasoning_effort_none", False)
    return bool(facts.get("openai_supports_reasoning", False) and not can_stop)


def may_be_the_form(error: ModelHTTPError) -> bool:
    other_reasons = (ModelAuthenticationError, ModelContextWindowExceededError, ModelNotFoundError)
    return error.status_code in (400, 422) and not isinstance(error, other_reasons)


def as_words(asked: ModelRequestParameters, answer: OutputObjectDefinition) -> ModelRequestParameters:
    """Without `response_format`: an endpoint that refuses a schema may refuse every value of it."""
    words = instructed(asked, IN_WORDS + json.dumps(answer.json_schema, ensure_ascii=False))
    return replace(asked, output_mode="text", output_object=None, instruction_parts=words)


def as_tool(asked: ModelRequestParameters, answer: OutputObjectDefinition) -> ModelRequestParameters:
    tool = ToolDefinition(
        name="answer", description="Gives the answer.", parameters_json_schema=answer.json_schema, kind="output"
    )
    return replace(asked, output_mode="tool", output_object=None, output_tools=[tool], allow_text_output=False)


def tool_answer(response: ModelResponse) -> ModelResponse:
    """The arguments of the call as text, as the other forms give it."""
    for part in response.parts:
        if isinstance(part, ToolCallPart) and part.tool_name == "answer":
            return replace(response, parts=[TextPart(content=part.args_as_json_str())])
    return response


TOOLS_IN_WORDS = "Each of your turns is one JSON object that calls one of these:\n"


def tools_of(asked: ModelRequestParameters) -> list[ToolDefinition]:
    return [*asked.function_tools, *asked.output_tools]


def asked_as_json(asked: ModelRequestParameters) -> ModelRequestParameters:
    tools = tools_of(asked)
    return replace(
        asked,
        function_tools=[],
        output_tools=[],
        tool_visibility=None,
        output_mode="native",
        output_object=OutputObjectDefinition(json_schema=schema_of(tools), name="turn"),
        allow_text_output=True,
        instruction_parts=instructed(asked, TOOLS_IN_WORDS + "\n".join(described(tool) for tool in tools)),
    )


def instructed(asked: ModelRequestParameters, words: str) -> list[InstructionPart]:
    """The instructions with more words, in one part: many chat templates take one system message and no more."""
    said = [part.content for part in asked.instruction_parts or []]
    return [InstructionPart(content="\n\n".join([*said, words]))]


def described(tool: ToolDefinition) -> str:
    """`{"name": "search_web", "arguments": {"query": …}}: Searches the web.`"""
    properties = tool.parameters_json_schema.get("properties", {})
    arguments = ", ".join(f'"{name}": …' for name in properties)
    said = f": {tool.description}" if tool.description else ""
    return f'{{"name": "{tool.name}", "arguments": {{{arguments}}}}}{said}'


def schema_of(tools: Sequence[ToolDefinition]) -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    calls = []
    for tool in tools:
        arguments = dict(tool.parameters_json_schema)
        definitions |= arguments.pop("$defs", {})
        calls.append(
            {
                "type": "object",
                "properties": {"name": {"const": tool.name}, "arguments": arguments},
                "required": ["name", "arguments"],
                "additionalProperties": False,
            }
        )
    schema: dict[str, Any] = calls[0] if len(calls) == 1 else {"anyOf": calls}
    return schema | {"$defs": definitions} if definitions else schema


def messages_as_json(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Calls as the JSON that they were, results as the answers to it."""
    return [
        replace(message, parts=[_result(part) for part in message.parts])
        if isinstance(message, ModelRequest)
        else replace(message, parts=[_call(part) for part in message.parts])
        for message in messages
    ]


def _result(part: ModelRequestPart) -> ModelRequestPart:
    """Return the result of a tool as it was given. An answer that is sent back says itself what is wrong with it, or
    what more to read; pydantic-ai would call either an error."""
    if isinstance(part, RetryPromptPart):
        return UserPromptPart(content=part.content if isinstance(part.content, str) else part.model_response())
    if not isinstance(part, ToolReturnPart):
        return part
    return UserPromptPart(content=part.content if isinstance(part.content, str) else part.model_response_str())


def _call(part: ModelResponsePart) -> ModelResponsePart:
    if not isinstance(part, ToolCallPart):
        return part
    return TextPart(content=json.dumps({"name": part.tool_name, "arguments": part.args_as_dict()}, ensure_ascii=False))


def read_call(response: ModelResponse) -> ModelResponse:
    """The JSON as a call; anything else stays the text that it is, and who asked says that a call was expected."""
    text = response.text or ""
    start, end = text.find("{"), text.rfind("}")
    try:
        call = json.loads(text[start : end + 1])
        part = ToolCallPart(tool_name=str(call["name"]), args=dict(call["arguments"]))
    except (ValueError, KeyError, TypeError):
        return response
    return replace(response, parts=[part])
