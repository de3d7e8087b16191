"""What was answered once is not bought again: answers kept under a hash of everything that was asked."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse, TextPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from tablewright.domain.retrieved import concerned
from tablewright.domain.run import Usage, spend
from tablewright.errors import ModelUnavailable
from tablewright.models.layer import Layer, ModelCall
from tablewright.observe import count

KIND = "model"
INCIDENTAL = frozenset(
    {
        "timestamp",
        "run_id",
        "conversation_id",
        "tool_call_id",
        "metadata",
        "usage",
        "provider_response_id",
        "provider_details",
        "state",
    }
)
"""What differs between two messages that say the same."""
NOT_ASKED = frozenset({"timeout", "request_timeout", "max_retries"})
WHOLE = frozenset({"stop", "tool_call", None})
"""How an answer worth keeping ended: not cut off, not filtered."""


class AnswerCache(Protocol):
    async def get(self, kind: str, key: str) -> bytes | None: ...

    async def put(self, kind: str, key: str, value: bytes, *, about: Sequence[str] = ()) -> None:
        """`about` are the documents that the answer was made from: it is forgotten with them."""
        ...


class MemoryCache:
    """Forgotten with the process."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], bytes] = {}

    async def get(self, kind: str, key: str) -> bytes | None:
        return self.kept.get((kind, key))

    async def put(self, kind: str, key: str, value: bytes, *, about: Sequence[str] = ()) -> None:
        self.kept[kind, key] = value


Unproven: TypeAlias = "list[tuple[AnswerCache, str, bytes]]"

_unproven: ContextVar[Unproven | None] = ContextVar("unproven", default=None)


@contextmanager
def unproven_answers() -> Iterator[Unproven]:
    """Inside, answers are only collected: who asked keeps them (`keep`) once they turned out usable, so that an answer
    in the wrong form is asked again next time rather than replayed forever."""
    collected: Unproven = []
    token = _unproven.set(collected)
    try:
        yield collected
    finally:
        _unproven.reset(token)


async def keep(answers: Unproven) -> None:
    for cache, key, value in answers:
        await cache.put(KIND, key, value, about=concerned())


class Cached(Layer):
    def __init__(self, wrapped: Model, cache: AnswerCache, *, replay_only: bool = False) -> None:
        super().__init__(wrapped)
        self._cache = cache
        self._replay_only = replay_only
        self._under_way: dict[str, asyncio.Future[ModelResponse | None]] = {}

    async def answer(self, call: ModelCall) -> ModelResponse:
        key = key_of(self.wrapped, *call)
        if kept := await self._cache.get(KIND, key):
            spend(Usage(cache_hits=1))
            count("cache_hits", kind="model")
            (answer,) = ModelMessagesTypeAdapter.validate_json(kept)
            assert isinstance(answer, ModelResponse)
            return replace(answer, usage=RequestUsage())
        if self._replay_only:
            raise ModelUnavailable(
                f"{self.model_name} was never asked this, and only kept answers may be used.",
                advice="Run it once without replaying.",
            )
        while (first := self._under_way.get(key)) is not None:
            if theirs := await asyncio.shield(first):
                spend(Usage(cache_hits=1))
                count("cache_hits", kind="model")
                return replace(theirs, usage=RequestUsage())
        answer = await self._ask_first(key, call)
        if answer.finish_reason in WHOLE:
            value = ModelMessagesTypeAdapter.dump_json([answer])
            waiting = _unproven.get()
            if waiting is None:
                await self._cache.put(KIND, key, value, about=concerned())
            else:
                waiting.append((self._cache, key, value))
        return answer

    async def _ask_first(self, key: str, call: ModelCall) -> ModelResponse:
        """Return the answer. Requests for the same one wait for it; if there is none, the next of them asks."""
        first = self._under_way[key] = asyncio.get_running_loop().create_future()
        answer: ModelResponse | None = None
        try:
            answer = await self.wrapped.request(*call)
            return answer
        finally:
            del self._under_way[key]
            first.set_result(answer)

    async def knows(self, messages: list[ModelMessage], settings: ModelSettings, asked: ModelRequestParameters) -> bool:
        return await self._cache.get(KIND, key_of(self.wrapped, messages, settings, asked)) is not None

    async def remember(
        self, messages: list[ModelMessage], settings: ModelSettings, asked: ModelRequestParameters, said: str
    ) -> None:
        """Keeps an answer that came another way, as if this question had been asked alone."""
        answer = ModelResponse(parts=[TextPart(content=said)], model_name=self.model_name, finish_reason="stop")
        key = key_of(self.wrapped, messages, settings, asked)
        await self._cache.put(KIND, key, ModelMessagesTypeAdapter.dump_json([answer]), about=concerned())


def key_of(
    model: Model, messages: list[ModelMessage], settings: ModelSettings | None, asked: ModelRequestParameters
) -> str:
    question = {
        "model": [model.system, model.model_name, model.base_url],
        "messages": essence(ModelMessagesTypeAdapter.dump_python(messages, mode="json")),
        "settings": {name: value for name, value in (settings or {}).items() if name not in NOT_ASKED},
        "instructions": [part.content for part in asked.instruction_parts or []],
        "output": [asked.output_mode, asked.output_object and asked.output_object.json_schema],
        "tools": [
            [tool.name, tool.description, tool.parameters_json_schema]
            for tool in (*asked.function_tools, *asked.output_tools)
        ],
    }
    text = json.dumps(question, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def essence(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: essence(inner) for name, inner in value.items() if name not in INCIDENTAL}
    return [essence(inner) for inner in value] if isinstance(value, list) else value
