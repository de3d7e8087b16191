"""Cache answers under a hash of the whole request, so that the same request is paid for only once."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeAlias

from tablewright.domain.retrieved import tracked_documents
from tablewright.domain.run import Usage, record_usage
from tablewright.errors import ModelUnavailable
from tablewright.llm.request import ChatModel, ModelCall, ModelReply, model_message
from tablewright.llm.wrappers import ModelWrapper
from tablewright.observe import count_event

CACHE_KIND = "model"
# Finish reasons of answers that are cached: not cut off, not filtered.
WHOLE_ANSWER_REASONS = frozenset({"stop", "tool_call", None})


class AnswerCache(Protocol):
    async def get(self, kind: str, key: str) -> bytes | None: ...

    async def put(self, kind: str, key: str, value: bytes, *, about: Sequence[str] = ()) -> None:
        """Store an answer. `about` are the documents that it was made from: it is deleted with them."""
        ...


class MemoryCache:
    """A cache that lasts as long as the process."""

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
    """Collect the answers inside instead of caching them. The caller passes them to `store_answers` once they are
    parsed; else an answer in the wrong form would be replayed forever."""
    collected: Unproven = []
    token = _unproven.set(collected)
    try:
        yield collected
    finally:
        _unproven.reset(token)


async def store_answers(answers: Unproven) -> None:
    for cache, key, value in answers:
        await cache.put(CACHE_KIND, key, value, about=tracked_documents())


class Cached(ModelWrapper):
    """Answer from the cache, and let equal requests under way share one answer."""

    def __init__(self, wrapped: ChatModel, cache: AnswerCache, *, replay_only: bool = False) -> None:
        super().__init__(wrapped)
        self._cache = cache
        self._replay_only = replay_only
        self._under_way: dict[str, asyncio.Future[ModelReply | None]] = {}

    async def answer(self, call: ModelCall) -> ModelReply:
        key = answer_key(self.wrapped, call)
        if kept := await self._cache.get(CACHE_KIND, key):
            record_usage(Usage(cache_hits=1))
            count_event("cache_hits", kind="model")
            # The cost of a kept answer was paid when it was made; replayed usage would count it twice.
            (message,) = json.loads(kept)
            return ModelReply(message)
        if self._replay_only:
            raise ModelUnavailable(
                f"{self.model_name} was never asked this, and only kept answers may be used.",
                advice="Run it once without replaying.",
            )
        while (first := self._under_way.get(key)) is not None:
            # `shield`: a caller that gives up must not cancel the answer that others wait for.
            if theirs := await asyncio.shield(first):
                record_usage(Usage(cache_hits=1))
                count_event("cache_hits", kind="model")
                return ModelReply(theirs.message)
        answer = await self._ask_first(key, call)
        if answer.finish_reason in WHOLE_ANSWER_REASONS:
            value = dump_answer(answer)
            waiting = _unproven.get()
            if waiting is None:
                await self._cache.put(CACHE_KIND, key, value, about=tracked_documents())
            else:
                waiting.append((self._cache, key, value))
        return answer

    async def _ask_first(self, key: str, call: ModelCall) -> ModelReply:
        """Return the answer. Equal requests wait for it; if this one fails, the next of them asks."""
        first = self._under_way[key] = asyncio.get_running_loop().create_future()
        answer: ModelReply | None = None
        try:
            answer = await self.wrapped.answer(call)
            return answer
        finally:
            # Removed before it is resolved: a waiting request that finds no answer asks by itself.
            del self._under_way[key]
            first.set_result(answer)

    async def has_answer(self, call: ModelCall) -> bool:
        return await self._cache.get(CACHE_KIND, answer_key(self.wrapped, call)) is not None

    async def store_answer(self, call: ModelCall, text: str) -> None:
        """Cache an answer that came another way, as if this request had been sent alone."""
        answer = ModelReply(model_message(text, model_name=self.model_name, finish_reason="stop"))
        value = dump_answer(answer)
        await self._cache.put(CACHE_KIND, answer_key(self.wrapped, call), value, about=tracked_documents())


def dump_answer(answer: ModelReply) -> bytes:
    return json.dumps([answer.message], ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def answer_key(model: ChatModel, call: ModelCall) -> str:
    # How long to wait for an answer does not change it.
    waits = ("timeout", "request_timeout", "max_retries")
    question = {
        "model": [model.system, model.model_name, model.base_url],
        "messages": strip_incidental(call.messages),
        "settings": {name: value for name, value in call.settings.items() if name not in waits},
        "instructions": call.instructions,
        "output": [call.output_mode, call.schema and call.schema.json_schema],
        "tools": call.tools,
    }
    # `default=str`: settings of other packages may hold values that JSON does not know.
    text = json.dumps(question, sort_keys=True, ensure_ascii=False, default=str)
    # Pages may hold halves of surrogate pairs, which strict UTF-8 refuses.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def strip_incidental(value: Any) -> Any:
    """Return messages without the parts that differ between two runs that ask the same."""
    ids = {"run_id", "conversation_id", "tool_call_id", "provider_response_id"}
    if isinstance(value, dict):
        kept = value.keys() - ids - {"timestamp", "metadata", "usage", "provider_details", "state"}
        return {name: strip_incidental(value[name]) for name in kept}
    return [strip_incidental(inner) for inner in value] if isinstance(value, list) else value
