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
from typing import Any, Literal, TypeAlias

from tablewright.llm.request import (
    ChatModel,
    Message,
    ModelCall,
    ModelReply,
    OutputSchema,
    RequestFailed,
    Tool,
    model_message,
)
from tablewright.llm.tokens import thinking_tokens
from tablewright.llm.wrappers import ModelWrapper

Form: TypeAlias = Literal["native", "tool", "prompted"]


class StructuredOutput(ModelWrapper):
    """Set what all requests have in common: temperature 0, as little thinking as possible, JSON by schema."""

    def __init__(self, wrapped: ChatModel, *, json_tools: bool = False) -> None:
        """With `json_tools` an agent's tools are sent as a schema (see above)."""
        super().__init__(wrapped)
        self._json_tools = json_tools
        profile = wrapped.profile
        self.form: Form = answer_form(profile)
        self._defaults = default_settings(profile)
        self._room = thinking_tokens(profile)

    async def answer(self, call: ModelCall) -> ModelReply:
        settings = {**self._defaults, **call.settings}
        if self._room and "max_tokens" in settings:
            settings["max_tokens"] += self._room
        if call.turn is not None and call.turn.has_tools and "cache" in self.wrapped.settings:
            # Every turn of the conversation begins with all earlier ones.
            settings["cache"] = True
        if self._json_tools and call.tools:
            messages = call.messages if call.turn is None else call.turn.plain_messages()
            return parse_tool_call(await self._by_schema(tools_as_schema(call, messages, settings)))
        return await self._by_schema(replace(call, settings=settings))

    async def _by_schema(self, call: ModelCall) -> ModelReply:
        if call.schema is None:
            return await self.wrapped.answer(call)
        if self.form == "tool":
            return read_tool_answer(await self.wrapped.answer(schema_as_tool(call, call.schema)))
        if self.form == "prompted":
            return await self.wrapped.answer(schema_in_instructions(call, call.schema))
        try:
            return await self.wrapped.answer(call)
        except RequestFailed as refused:
            # Bad request and unprocessable: what endpoints answer to fields that they do not know.
            if refused.kind != "rejected" or refused.status not in (400, 422):
                raise
            try:
                reply = await self.wrapped.answer(schema_in_instructions(call, call.schema))
            except RequestFailed as again:
                # Without an HTTP status it is another trouble, which a retry may end.
                raise (again if again.status is None else refused) from None
            # Remembered only if it works: an endpoint that refuses both ways has another reason.
            self.form = "prompted"
            return reply


def answer_form(profile: Mapping[str, Any]) -> Form:
    if profile.get("supports_json_schema_output", False):
        return "native"
    return "tool" if profile.get("supports_tools", True) else "prompted"


def default_settings(profile: Mapping[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    if profile.get("supports_thinking", False):
        settings["thinking"] = False
    if not refuses_temperature(profile):
        settings["temperature"] = 0.0
    return settings


def refuses_temperature(profile: Mapping[str, Any]) -> bool:
    """Return True for OpenAI's reasoning models, unless their effort can be "none", and for some of Anthropic's."""
    if profile.get("anthropic_disallows_sampling_settings", False):
        return True
    efforts = profile.get("openai_reasoning_efforts")
    can_stop = "none" in efforts if efforts is not None else profile.get("openai_supports_reasoning_effort_none", False)
    return bool(profile.get("openai_supports_reasoning", False) and not can_stop)


def schema_in_instructions(call: ModelCall, answer: OutputSchema) -> ModelCall:
    """Return the request with the schema in its instructions, and without `response_format`: an endpoint that refuses
    a schema may refuse every value of it."""
    words = extend_instructions(
        call,
        "Answer with one JSON object and nothing else, no prose and no code fence. It must fit this JSON schema:\n"
        + json.dumps(answer.json_schema, ensure_ascii=False),
    )
    return replace(call, output_mode="text", schema=None, instructions=words, turn=None)


def schema_as_tool(call: ModelCall, answer: OutputSchema) -> ModelCall:
    tool = Tool("answer", "Gives the answer.", answer.json_schema)
    return replace(call, output_mode="tool", schema=None, tools=(tool,), turn=None)


def read_tool_answer(reply: ModelReply) -> ModelReply:
    """Return the reply with the arguments of the call as its text, like the other forms."""
    for part in reply.message["parts"]:
        if part["part_kind"] == "tool-call" and part["tool_name"] == "answer":
            arguments = part["args"]
            text = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
            return replace(reply, message=reply.message | {"parts": model_message(text)["parts"]})
    return reply


def tools_as_schema(call: ModelCall, messages: list[Message], settings: Mapping[str, Any]) -> ModelCall:
    """Return the request of an agent as one whose answer has a schema: which of the tools it calls."""
    calls = "\n".join(describe_tool(tool) for tool in call.tools)
    return ModelCall(
        messages,
        settings,
        extend_instructions(call, f"Each of your turns is one JSON object that calls one of these:\n{calls}"),
        output_mode="native",
        schema=OutputSchema("turn", tool_call_schema(call.tools)),
    )


def extend_instructions(call: ModelCall, words: str) -> tuple[str]:
    """Return the instructions and more text in one part: many chat templates take only one system message."""
    return ("\n\n".join([*call.instructions, words]),)


def describe_tool(tool: Tool) -> str:
    """Return `{"name": "search_web", "arguments": {"query": …}}: Searches the web.`"""
    properties = tool.parameters.get("properties", {})
    arguments = ", ".join(f'"{name}": …' for name in properties)
    description = f": {tool.description}" if tool.description else ""
    return f'{{"name": "{tool.name}", "arguments": {{{arguments}}}}}{description}'


def tool_call_schema(tools: Sequence[Tool]) -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    calls = []
    for tool in tools:
        arguments = dict(tool.parameters)
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


def parse_tool_call(reply: ModelReply) -> ModelReply:
    """Return the reply with its JSON as a tool call. Other text stays; the caller reports that it is no call."""
    text = reply.text
    start, end = text.find("{"), text.rfind("}")
    try:
        call = json.loads(text[start : end + 1])
        part = {"part_kind": "tool-call", "tool_name": str(call["name"]), "args": dict(call["arguments"])}
    except (ValueError, KeyError, TypeError):
        return reply
    return replace(reply, message=reply.message | {"parts": [part]})
