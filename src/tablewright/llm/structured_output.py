"""Get JSON of a schema from every model, in the form that the model supports. Callers always ask for a schema.

* `native` sends the schema with the request (grammar-constrained at OpenAI, llama.cpp, Ollama and others).
* `tool` offers one tool whose arguments are the answer (older models of Anthropic).
* `prompted` puts the schema into the instructions.

Models behind compatible servers get an agent's tools as a schema, too, because servers treat `tool_choice: required`
differently: llama.cpp with a 1.5B model does not enforce it, and the model repeats the list of tools until its tokens
are used up. A schema is enforced. So a turn becomes the question "which of these do you call", answered with one JSON
object, and callers see ordinary tool calls.
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

from tablewright.llm.tokens import thinking_tokens
from tablewright.llm.wrappers import ModelCall, ModelWrapper

Form: TypeAlias = Literal["native", "tool", "prompted"]


class StructuredOutput(ModelWrapper):
    """Set what all requests have in common: temperature 0, as little thinking as possible, JSON by schema."""

    def __init__(self, wrapped: Model, *, json_tools: bool = False) -> None:
        """With `json_tools` an agent's tools are sent as a schema (see above)."""
        super().__init__(wrapped)
        self._json_tools = json_tools
        profile = wrapped.profile
        self.form: Form = answer_form(profile)
        self._defaults = default_settings(profile)
        self._room = thinking_tokens(profile)

    async def answer(self, call: ModelCall) -> ModelResponse:
        settings = cast("ModelSettings", {**self._defaults, **(call.settings or {})})
        if self._room and "max_tokens" in settings:
            settings["max_tokens"] += self._room
        asked = call.parameters
        if asked.function_tools and "cache" in (self.wrapped.settings or {}):
            # Every turn of the conversation begins with all earlier ones.
            settings["cache"] = True
        if self._json_tools and list_tools(asked):
            messages = messages_as_json(call.messages)
            return parse_tool_call(await self._by_schema(messages, settings, tools_as_schema(asked)))
        return await self._by_schema(call.messages, settings, asked)

    async def _by_schema(
        self, messages: list[ModelMessage], settings: ModelSettings, asked: ModelRequestParameters
    ) -> ModelResponse:
        if asked.output_mode != "native" or asked.output_object is None:
            return await self.wrapped.request(messages, settings, asked)
        if self.form == "tool":
            return read_tool_answer(
                await self.wrapped.request(messages, settings, schema_as_tool(asked, asked.output_object))
            )
        in_words = schema_in_instructions(asked, asked.output_object)
        if self.form == "prompted":
            return await self.wrapped.request(messages, settings, in_words)
        try:
            return await self.wrapped.request(messages, settings, asked)
        except ModelHTTPError as refused:
            if not is_form_error(refused):
                raise
            try:
                response = await self.wrapped.request(messages, settings, in_words)
            except ModelHTTPError:
                raise refused from None
            # Remembered only if it works: an endpoint that refuses both ways has another reason.
            self.form = "prompted"
            return response


def answer_form(profile: ModelProfile) -> Form:
    if profile.get("supports_json_schema_output", False):
        return "native"
    return "tool" if profile.get("supports_tools", True) else "prompted"


def default_settings(profile: ModelProfile) -> ModelSettings:
    settings = ModelSettings()
    if profile.get("supports_thinking", False):
        settings["thinking"] = False
    if not refuses_temperature(profile):
        settings["temperature"] = 0.0
    return settings


def refuses_temperature(profile: ModelProfile) -> bool:
    """Return True for OpenAI's reasoning models, unless their effort can be "none", and for some of Anthropic's."""
    facts: Mapping[str, Any] = profile
    if facts.get("anthropic_disallows_sampling_settings", False):
        return True
    efforts = facts.get("openai_reasoning_efforts")
    can_stop = "none" in efforts if efforts is not None else facts.get("openai_supports_reasoning_effort_none", False)
    return bool(facts.get("openai_supports_reasoning", False) and not can_stop)


def is_form_error(error: ModelHTTPError) -> bool:
    other_reasons = (ModelAuthenticationError, ModelContextWindowExceededError, ModelNotFoundError)
    # Bad request and unprocessable: what endpoints answer to fields that they do not know.
    return error.status_code in (400, 422) and not isinstance(error, other_reasons)


def schema_in_instructions(asked: ModelRequestParameters, answer: OutputObjectDefinition) -> ModelRequestParameters:
    """Return the request with the schema in its instructions, and without `response_format`: an endpoint that refuses
    a schema may refuse every value of it."""
    words = extend_instructions(
        asked,
        "Answer with one JSON object and nothing else, no prose and no code fence. It must fit this JSON schema:\n"
        + json.dumps(answer.json_schema, ensure_ascii=False),
    )
    return replace(asked, output_mode="text", output_object=None, instruction_parts=words)


def schema_as_tool(asked: ModelRequestParameters, answer: OutputObjectDefinition) -> ModelRequestParameters:
    tool = ToolDefinition(
        name="answer", description="Gives the answer.", parameters_json_schema=answer.json_schema, kind="output"
    )
    return replace(asked, output_mode="tool", output_object=None, output_tools=[tool], allow_text_output=False)


def read_tool_answer(response: ModelResponse) -> ModelResponse:
    """Return the response with the arguments of the call as its text, like the other forms."""
    for part in response.parts:
        if isinstance(part, ToolCallPart) and part.tool_name == "answer":
            return replace(response, parts=[TextPart(content=part.args_as_json_str())])
    return response


def list_tools(asked: ModelRequestParameters) -> list[ToolDefinition]:
    return [*asked.function_tools, *asked.output_tools]


def tools_as_schema(asked: ModelRequestParameters) -> ModelRequestParameters:
    tools = list_tools(asked)
    calls = "\n".join(describe_tool(tool) for tool in tools)
    return replace(
        asked,
        function_tools=[],
        output_tools=[],
        tool_visibility=None,
        output_mode="native",
        output_object=OutputObjectDefinition(json_schema=tool_call_schema(tools), name="turn"),
        allow_text_output=True,
        instruction_parts=extend_instructions(
            asked, f"Each of your turns is one JSON object that calls one of these:\n{calls}"
        ),
    )


def extend_instructions(asked: ModelRequestParameters, words: str) -> list[InstructionPart]:
    """Return the instructions and more text in one part: many chat templates take only one system message."""
    parts = [part.content for part in asked.instruction_parts or []]
    return [InstructionPart(content="\n\n".join([*parts, words]))]


def describe_tool(tool: ToolDefinition) -> str:
    """Return `{"name": "search_web", "arguments": {"query": …}}: Searches the web.`"""
    properties = tool.parameters_json_schema.get("properties", {})
    arguments = ", ".join(f'"{name}": …' for name in properties)
    description = f": {tool.description}" if tool.description else ""
    return f'{{"name": "{tool.name}", "arguments": {{{arguments}}}}}{description}'


def tool_call_schema(tools: Sequence[ToolDefinition]) -> dict[str, Any]:
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
    """Return the messages with tool calls as the JSON that they were, and tool results as user messages."""
    return [
        replace(message, parts=[_result_as_text(part) for part in message.parts])
        if isinstance(message, ModelRequest)
        else replace(message, parts=[_call_as_text(part) for part in message.parts])
        for message in messages
    ]


def _result_as_text(part: ModelRequestPart) -> ModelRequestPart:
    """Return a tool's result as text. A reply that is sent back says itself what is wrong or what else to read;
    pydantic-ai would call either an error."""
    if isinstance(part, RetryPromptPart):
        return UserPromptPart(content=part.content if isinstance(part.content, str) else part.model_response())
    if not isinstance(part, ToolReturnPart):
        return part
    return UserPromptPart(content=part.content if isinstance(part.content, str) else part.model_response_str())


def _call_as_text(part: ModelResponsePart) -> ModelResponsePart:
    if not isinstance(part, ToolCallPart):
        return part
    return TextPart(content=json.dumps({"name": part.tool_name, "arguments": part.args_as_dict()}, ensure_ascii=False))


def parse_tool_call(response: ModelResponse) -> ModelResponse:
    """Return the response with its JSON as a tool call. Other text stays; the caller reports that it is no call."""
    text = response.text or ""
    start, end = text.find("{"), text.rfind("}")
    try:
        call = json.loads(text[start : end + 1])
        part = ToolCallPart(tool_name=str(call["name"]), args=dict(call["arguments"]))
    except (ValueError, KeyError, TypeError):
        return response
    return replace(response, parts=[part])
