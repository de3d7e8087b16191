"""Requests to models, their answers, and the one interface of models, without any provider's library:
importing one takes longer than everything else before the first request.

Messages are dictionaries in the form in which pydantic-ai stores conversations, which is what answers are cached under.
pydantic_ai_bridge.py converts: its agents ask our models, and its models answer our requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias

if TYPE_CHECKING:
    from tablewright.llm.pydantic_ai_bridge import AgentTurn

Message: TypeAlias = dict[str, Any]


@dataclass(frozen=True, eq=False, slots=True)
class OutputSchema:
    """Compared and hashed by identity, which is quick."""

    name: str
    json_schema: dict[str, Any]


class Tool(NamedTuple):
    name: str
    description: str | None
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModelCall:
    messages: list[Message]
    settings: Mapping[str, Any]
    """Named as pydantic-ai names them: `max_tokens`, `temperature`, `thinking`, `timeout`, `cache`."""
    instructions: tuple[str, ...] = ()
    output_mode: str = "text"
    """`native` for an answer by `schema`, `tool` for one that is a call of the last of `tools`."""
    schema: OutputSchema | None = None
    tools: tuple[Tool, ...] = ()
    """The first ones are an agent's own, then those that end its work with an answer."""
    turn: AgentTurn | None = None
    """This call as a pydantic-ai agent made it, with all that only its models know."""


@dataclass
class TokenUsage:
    """The tokens and dollars of an answer; the names are those of `genai-prices`, which reads them. `cost` is
    the provider's own."""

    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = None

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(slots=True)
class ModelReply:
    message: Message
    usage: TokenUsage = field(default_factory=TokenUsage)

    @property
    def text(self) -> str:
        return "".join(part["content"] for part in self.message["parts"] if part["part_kind"] == "text")

    @property
    def finish_reason(self) -> str | None:
        """Return `stop`, `length`, `content_filter`, `tool_call`, or None if the provider did not say."""
        return self.message.get("finish_reason")


def user_message(text: str, instructions: str) -> Message:
    part = {"content": text, "part_kind": "user-prompt"}
    return {"parts": [part], "instructions": instructions, "kind": "request"}


def model_message(text: str, *, model_name: str | None = None, finish_reason: str | None = None) -> Message:
    part = {"content": text, "part_kind": "text"}
    return {"parts": [part], "model_name": model_name, "finish_reason": finish_reason, "kind": "response"}


FailureKind: TypeAlias = Literal[
    "busy", "timeout", "unreachable", "key", "missing", "context", "quota", "rejected", "unusable", "unsupported"
]


def failure_of_status(status: int) -> FailureKind:
    # Timeout, conflict, too many requests.
    if status >= 500 or status in (408, 409, 429):
        return "busy"
    known: dict[int, FailureKind] = {401: "key", 402: "quota", 403: "key", 404: "missing"}
    return known.get(status, "rejected")


class RequestFailed(Exception):
    """A request without a usable answer. retry.py turns it into the errors of `tablewright.errors`.

    `missing`: there is no such model; `context`: the request is too long; `unusable`: what came is not an answer;
    `unsupported`: this model cannot be asked this way. `body` is what the provider said.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        status: int | None = None,
        body: Any = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.status = status
        self.body = body
        self.retry_after = retry_after

    @property
    def is_transient(self) -> bool:
        """Return True if the same request may work later: busy, slow or unreachable, rather than refused."""
        return self.kind in ("busy", "timeout", "unreachable")


class ChatModel:
    """A model of a provider, or a wrapper around one."""

    @property
    def system(self) -> str:
        """Return the name of the provider."""
        raise NotImplementedError

    @property
    def model_name(self) -> str:
        raise NotImplementedError

    @property
    def base_url(self) -> str | None:
        return None

    @property
    def profile(self) -> Mapping[str, Any]:
        """Return what the model supports, named as in pydantic-ai's `ModelProfile`."""
        raise NotImplementedError

    @property
    def settings(self) -> Mapping[str, Any]:
        """Return the settings that a call need not have."""
        return {}

    async def answer(self, call: ModelCall) -> ModelReply:
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: Any) -> None:
        return None
