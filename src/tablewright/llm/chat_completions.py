"""Our own client of OpenAI's chat completions, which nearly every server of models speaks.

The library of OpenAI takes half a second to import and twice the CPU per request. This client sends what our requests
need: messages, a JSON schema, and a limit of tokens.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import httpx2

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
    failure_of_status,
    model_message,
)
from tablewright.retry_after import read_retry_after


@dataclass(frozen=True)
class CompletionsServer:
    """The server of a model. `system` is the name of the provider; `connect` opens a client."""

    system: str
    base_url: str
    headers: Mapping[str, str]
    connect: Callable[[], httpx2.AsyncClient]


class ChatCompletions(ChatModel):
    def __init__(self, name: str, server: CompletionsServer, timeout: float, window: int | None = None) -> None:
        self._name = name
        self._server = server
        self._timeout = timeout
        self._window = window
        # Each request in flight has a client with one connection: the pool of a shared one would look at all of its
        # idle connections before and after every request. The last one used is used first.
        self._idle: list[httpx2.AsyncClient] = []
        self._users = 0

    @property
    def system(self) -> str:
        return self._server.system

    @property
    def model_name(self) -> str:
        return self._name

    @property
    def base_url(self) -> str:
        return self._server.base_url

    @property
    def profile(self) -> Mapping[str, Any]:
        return {
            "supports_json_schema_output": True,
            "supports_inline_system_prompts": True,
            "context_window": self._window,
        }

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"timeout": self._timeout}

    async def __aenter__(self) -> Self:
        self._users += 1
        return self

    async def __aexit__(self, *raised: Any) -> None:
        self._users -= 1
        while self._users == 0 and self._idle:
            await self._idle.pop().aclose()

    async def answer(self, call: ModelCall) -> ModelReply:
        assert not call.tools, "structured_output.py sends tools as a schema"
        # Pages may hold halves of surrogate pairs, which are no UTF-8.
        body = json.dumps(request_body(self._name, call), ensure_ascii=False).encode(errors="replace")
        timeout = call.settings.get("timeout", self._timeout)
        client = self._idle.pop() if self._idle else self._server.connect()
        try:
            response = await client.post(
                f"{self._server.base_url}chat/completions",
                content=body,
                headers={"content-type": "application/json", **self._server.headers},
                timeout=timeout,
            )
        except httpx2.TimeoutException as error:
            raise RequestFailed("timeout", f"no answer in {timeout:g} seconds") from error
        except (httpx2.RequestError, KeyWithheld) as error:
            raise RequestFailed("unreachable", str(error) or type(error).__name__) from error
        finally:
            self._idle.append(client)
        if response.is_error:
            raise failure_of_response(response)
        return self._read(response)

    def _read(self, response: httpx2.Response) -> ModelReply:
        try:
            completion = json.loads(response.content)
            choice = completion["choices"][0]
            said = choice["message"]
            content, refusal = said.get("content") or "", said.get("refusal")
            finish = "content_filter" if refusal else read_finish_reason(choice)
            message = model_message(strip_thoughts(content), model_name=completion.get("model"), finish_reason=finish)
            usage = read_usage(completion.get("usage") or {})
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise RequestFailed("unusable", f"{self.system} sent no chat completion") from error
        source = {"provider_name": self.system, "provider_url": self.base_url}
        return ModelReply(message | source, usage)


def read_finish_reason(choice: Mapping[str, Any]) -> str | None:
    """Return why an answer ends, as pydantic-ai names it: cached answers have one set of names."""
    match choice.get("finish_reason") or "stop":
        case "stop" | "length" | "content_filter" as reason:
            return str(reason)
        case "tool_calls" | "function_call":
            return "tool_call"
    return None


def request_body(name: str, call: ModelCall) -> dict[str, Any]:
    messages = [said for message in call.messages for said in chat_messages(message)]
    if call.instructions:
        # In one message: many chat templates take only one of the system.
        messages.insert(0, {"role": "system", "content": "\n\n".join(call.instructions)})
    body: dict[str, Any] = {"model": name, "messages": messages}
    body |= {kind: call.settings[kind] for kind in ("temperature", "max_tokens") if kind in call.settings}
    if call.schema is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": strict_schema(call.schema)}
    return body


def chat_messages(message: Message) -> list[dict[str, Any]]:
    if message["kind"] == "response":
        return [{"role": "assistant", "content": ModelReply(message).text}]
    roles = {"user-prompt": "user", "system-prompt": "system"}
    return [{"role": roles[part["part_kind"]], "content": part["content"]} for part in message["parts"]]


# A task asks in one form for every row; an agent's schemas are new in each turn.
@lru_cache(maxsize=256)
def strict_schema(schema: OutputSchema) -> dict[str, Any]:
    """Return the schema as OpenAI has it, `strict` if it keeps the rules of that: closed objects without optional
    fields, and no limits on lengths."""
    json_schema, is_strict = close_objects(schema.json_schema)
    return {"name": schema.name, "schema": json_schema, "strict": is_strict}


def close_objects(node: Any) -> tuple[Any, bool]:
    """Return a part of a schema without titles and with closed objects, and whether it may be strict."""
    if not isinstance(node, dict):
        return node, True
    closed: dict[str, Any] = {}
    is_strict = has_strict_rules(node)
    for keyword, value in node.items():
        if keyword in ("title", "discriminator"):
            continue
        kept: Any = value
        if keyword in ("properties", "$defs"):
            parts = {name: close_objects(part) for name, part in value.items()}
            kept = {name: part for name, (part, _) in parts.items()}
            is_strict &= all(strict for _, strict in parts.values())
        elif keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
            listed = [close_objects(part) for part in value]
            kept = [part for part, _ in listed]
            is_strict &= all(strict for _, strict in listed)
        elif keyword in ("items", "additionalProperties"):
            kept, strict = close_objects(value)
            is_strict &= strict
        closed[keyword] = kept
    if closed.get("type") == "object":
        properties = closed.setdefault("properties", {})
        is_strict &= not closed.setdefault("additionalProperties", False) and set(closed.get("required", ())) >= set(
            properties
        )
    if "$ref" in closed and len(closed) > 1:
        # Strict schemas have nothing next to a reference.
        closed["anyOf"] = [{"$ref": closed.pop("$ref")}]
    return closed, is_strict


def has_strict_rules(node: Mapping[str, Any]) -> bool:
    """Return True if this part of a schema, without those inside of it, has no rule that strict schemas lack."""
    lengths = {"minLength", "maxLength", "minProperties", "maxProperties"}
    forms = {"default", "oneOf", "patternProperties", "propertyNames", "contains", "uniqueItems", "prefixItems"}
    formats = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid", None}
    return node.keys().isdisjoint(lengths | forms) and node.get("format") in formats


def strip_thoughts(content: str) -> str:
    """Return an answer without the thoughts that some servers leave in front of it."""
    start, tag, rest = content.partition("</think>")
    return rest.lstrip() if tag and start.lstrip().startswith("<think>") else content


def read_usage(usage: Mapping[str, Any]) -> TokenUsage:
    cached = usage.get("prompt_tokens_details") or {}
    return TokenUsage(
        input_tokens=usage.get("prompt_tokens") or 0,
        cache_read_tokens=cached.get("cached_tokens") or 0,
        cache_write_tokens=cached.get("cache_write_tokens") or 0,
        output_tokens=usage.get("completion_tokens") or 0,
    )


def failure_of_response(response: httpx2.Response) -> RequestFailed:
    try:
        body = json.loads(response.content)
    except ValueError:
        body = response.text
    said = body.get("error", body) if isinstance(body, dict) else body
    status = response.status_code
    return RequestFailed(
        find_reason(said if isinstance(said, dict) else {"message": said}) or failure_of_status(status),
        f"status {status}",
        status=status,
        body=body,
        retry_after=read_retry_after(response.headers),
    )


def find_reason(error: Mapping[str, Any]) -> FailureKind | None:
    """Return what the code or the type of an error says, which is more than its status, or None."""
    for reason in (error.get("code"), error.get("type")):
        match reason:
            case "insufficient_quota" | "billing_not_active" | "billing_hard_limit_reached":
                return "quota"
            case "context_length_exceeded" | "exceed_context_size_error":
                return "context"
            case "model_not_found":
                return "missing"
            case "invalid_api_key":
                return "key"
    # Some servers have no code for it.
    return "context" if "maximum context length" in str(error.get("message")).lower() else None
