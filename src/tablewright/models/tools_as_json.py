"""Tools for models that are better at JSON of a schema than at calling tools.

What a server makes of `tool_choice: required` differs: measured with llama.cpp and a 1.5B model, it is not enforced,
and the model repeats the list of tools until its tokens are used up. A JSON schema is enforced. So a turn becomes
one question, "which of these do you call", whose answer is one JSON object; above this nobody sees the difference.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

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
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.tools import ToolDefinition

IN_WORDS = "Each of your turns is one JSON object that calls one of these:\n"


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
        instruction_parts=instructed(asked, IN_WORDS + "\n".join(described(tool) for tool in tools)),
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
    """What a tool says as it says it. An answer that is sent back says by itself what is wrong with it, or what more to
    read; pydantic-ai would call either an error."""
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
