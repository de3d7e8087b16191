"""`LanguageModel.ask`, the one way to send a request to a model: instructions, a prompt, and the schema of the answer.

Tasks (`llm/tasks`) call it; it knows nothing of tables. Requests pass through the wrappers that build.py puts around
the provider's model.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import BaseModel, ValidationError

from tablewright.errors import BadAnswer, ModelRefused
from tablewright.llm.cache import WHOLE_ANSWER_REASONS, Cached, store_answers, unproven_answers
from tablewright.llm.request import (
    ChatModel,
    Message,
    ModelCall,
    ModelReply,
    OutputSchema,
    user_message,
)
from tablewright.llm.text_budget import text_room
from tablewright.llm.tokens import DEFAULT_WINDOW_TOKENS

if TYPE_CHECKING:
    from pydantic_ai.models import Model

Reply = TypeVar("Reply", bound=BaseModel)


class LanguageModel:
    """A model with its cache, budget and limits: `asked`, in all its wrappers."""

    def __init__(
        self, asked: ChatModel, *, name: str, cached: Cached | None = None, window: int = DEFAULT_WINDOW_TOKENS
    ) -> None:
        """`cached` is the wrapper that keeps answers, if there is one; `window` is the context window in tokens."""
        self.asked = asked
        self.name = name
        self.window = window
        self._cached = cached

    @property
    def agent_model(self) -> Model:
        """Return the same model for pydantic-ai agents with tools."""
        from tablewright.llm.pydantic_ai_bridge import AgentModel

        return AgentModel(self.asked)

    @property
    def text_room(self) -> int:
        """Return how many characters of retrieved texts one request may carry."""
        return text_room(self.window)

    async def __aenter__(self) -> Self:
        await self.asked.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self.asked.__aexit__(*raised)

    async def ask(self, *, instructions: str, prompt: str, output: type[Reply], max_tokens: int = 512) -> Reply:
        """Return the model's answer. Raise ModelRefused, ModelUnavailable, BadAnswer or OverBudget.

        Calls the model without a pydantic-ai Agent, which takes more CPU than all the rest of a call.
        """
        call = build_call(instructions, prompt, output, max_tokens)
        with unproven_answers() as answers:
            first = await self._answer(call)
            is_first_usable = first.finish_reason in WHOLE_ANSWER_REASONS
            try:
                result = parse_reply(first, output, max_tokens)
            except ValueError as problem:
                is_first_usable = False
                repair = (
                    f"This answer cannot be used: {problem}\nAnswer the same question again, with the JSON object only."
                )
                # Some providers refuse an empty message of the model.
                earlier: list[Message] = [first.message] if first.text else []
                # An answer that was cut off needs clearly more room, or it is cut off again.
                more = max_tokens * 4 if first.finish_reason == "length" else max_tokens
                messages = [*call.messages, *earlier, user_message(repair, instructions)]
                second = await self._answer(replace(call, messages=messages, settings={"max_tokens": more}))
                try:
                    result = parse_reply(second, output, more)
                except ValueError as still:
                    raise BadAnswer(
                        f"{self.name} did not answer in the asked form, twice: {still}",
                        advice="A larger model may do better.",
                    ) from None
        await store_answers(answers)
        # So that the next run finds the usable answer under the question itself, and not the first one.
        if not is_first_usable:
            await self.store_answer(result, instructions=instructions, prompt=prompt, max_tokens=max_tokens)
        return result

    async def has_answer(self, *, instructions: str, prompt: str, output: type[Reply], max_tokens: int = 512) -> bool:
        """Return True if the answer to this request is cached, so that asking costs nothing."""
        if self._cached is None:
            return False
        return await self._cached.has_answer(build_call(instructions, prompt, output, max_tokens))

    async def store_answer(self, answer: BaseModel, *, instructions: str, prompt: str, max_tokens: int = 512) -> None:
        """Cache an answer to this request that came in the reply to a request for several rows."""
        if self._cached is not None:
            call = build_call(instructions, prompt, type(answer), max_tokens)
            await self._cached.store_answer(call, answer.model_dump_json(by_alias=True))

    async def _answer(self, call: ModelCall) -> ModelReply:
        reply = await self.asked.answer(call)
        if reply.finish_reason == "content_filter":
            raise ModelRefused(f"{self.name} declined to answer.")
        return reply


def build_call(instructions: str, prompt: str, output: type[BaseModel], max_tokens: int) -> ModelCall:
    """Return the request as it is sent, which is also what its answer is cached under."""
    return ModelCall(
        messages=[user_message(prompt, instructions)],
        settings={"max_tokens": max_tokens},
        instructions=(instructions,),
        output_mode="native",
        schema=output_schema(output),
    )


# A task asks in one form for every row, so its schema is made once.
@lru_cache(maxsize=256)
def output_schema(output: type[BaseModel]) -> OutputSchema:
    return OutputSchema(output.__name__, output.model_json_schema())


def parse_reply(reply: ModelReply, output: type[Reply], limit: int) -> Reply:
    """Return the parsed answer. Raise ValueError with a problem that the model can act on."""
    try:
        return output.model_validate_json(extract_json(reply.text))
    except ValidationError as error:
        if reply.finish_reason == "length":
            # The schema's own errors would only say that the JSON ends too early.
            raise ValueError(f"it was cut off at {limit} tokens. Be shorter.") from None
        raise ValueError(describe_schema_errors(error)) from None


def extract_json(text: str) -> str:
    """Return the JSON object in a text that may have prose or a code fence around it."""
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text


def describe_schema_errors(error: ValidationError) -> str:
    # Five are enough to see what is wrong; a wrong list can have one for each of its items.
    errors = error.errors(include_url=False, include_context=False, include_input=False)[:5]
    lines = [".".join(str(step) for step in problem["loc"]) + ": " + problem["msg"] for problem in errors]
    return "; ".join(line.removeprefix(": ") for line in lines)
