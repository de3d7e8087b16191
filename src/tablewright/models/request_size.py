"""How large a request is at most, for those who must know before it is sent: the budget and the governor."""

from __future__ import annotations

import json

from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings

from tablewright.models.tokens import estimate_tokens

OUTPUT_WHEN_UNLIMITED = 4_096
AROUND_A_MESSAGE = 8
"""Tokens a chat template puts around each message."""


ROOM_TO_THINK = 4_096


def room_to_think(profile: ModelProfile) -> int:
    """A model that cannot stop thinking spends its output tokens on thoughts first."""
    return ROOM_TO_THINK if profile.get("thinking_always_enabled", False) else 0


def most_tokens(
    model: Model, messages: list[ModelMessage], settings: ModelSettings | None, asked: ModelRequestParameters
) -> tuple[int, int]:
    """Input and output."""
    texts = [text_of(message) for message in messages]
    texts.extend(part.content for part in asked.instruction_parts or [])
    if asked.output_object is not None:
        texts.append(json.dumps(asked.output_object.json_schema))
    tools = (*asked.function_tools, *asked.output_tools)
    texts.extend(json.dumps(tool.parameters_json_schema) + (tool.description or "") for tool in tools)
    read = estimate_tokens("\n".join(texts)) + AROUND_A_MESSAGE * (len(messages) + 1)
    return read, (settings or {}).get("max_tokens", OUTPUT_WHEN_UNLIMITED) + room_to_think(model.profile)


def text_of(message: ModelMessage) -> str:
    return "\n".join(str(getattr(part, "content", None) or getattr(part, "args", "") or "") for part in message.parts)
