"""The one way to ask a language model something: instructions, a prompt, and the form of the answer."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_ai.messages import InstructionPart, ModelMessage, ModelRequest, ModelResponse, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings

from tablewright.errors import BadAnswer, ModelRefused
from tablewright.models.cache import WHOLE, Cached, keep, unproven_answers
from tablewright.models.text_budget import text_room
from tablewright.models.tokens import CUT_OFF, UNKNOWN_WINDOW

T = TypeVar("T", bound=BaseModel)

REPAIR = "This answer cannot be used: {problem}\nAnswer the same question again, with the JSON object only."
PROBLEMS_SHOWN = 5


class LanguageModel:
    """`agent_model` is the same model, with its cache, budget and limits, for pydantic-ai agents with tools."""

    def __init__(
        self, agent_model: Model, *, name: str, cached: Cached | None = None, window: int = UNKNOWN_WINDOW
    ) -> None:
        """`cached` is the layer of it that keeps answers, if any; `window` the tokens that it can take in at once."""
        self.agent_model = agent_model
        self.name = name
        self.window = window
        self._cached = cached

    @property
    def text_room(self) -> int:
        """Characters of retrieved texts that one request may carry."""
        return text_room(self.window)

    async def __aenter__(self) -> Self:
        await self.agent_model.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self.agent_model.__aexit__(*raised)

    async def ask(self, *, instructions: str, prompt: str, output: type[T], max_tokens: int = 512) -> T:
        """Raises ModelRefused, ModelUnavailable, BadAnswer or OverBudget.

        It goes to the model without an Agent: measured, 2.7 ms of CPU a call instead of 6 to 7.
        """
        question, asked = request_of(instructions, prompt, output)
        with unproven_answers() as answers:
            first = await self._request([question], max_tokens, asked)
            kept_as_asked = first.finish_reason in WHOLE
            try:
                result = read(first, output, max_tokens)
            except ValueError as problem:
                kept_as_asked = False
                correction = ModelRequest(
                    parts=[UserPromptPart(content=REPAIR.format(problem=problem))], instructions=instructions
                )
                said: list[ModelMessage] = [first] if first.text else []
                more = max_tokens * 4 if first.finish_reason == "length" else max_tokens
                second = await self._request([question, *said, correction], more, asked)
                try:
                    result = read(second, output, more)
                except ValueError as still:
                    raise BadAnswer(
                        f"{self.name} did not answer in the asked form, twice: {still}",
                        advice="A larger model may do better.",
                    ) from None
        await keep(answers)
        if not kept_as_asked:  # so that the next run finds the good answer, and not the way to it
            await self.remember(result, instructions=instructions, prompt=prompt, max_tokens=max_tokens)
        return result

    async def knows(self, *, instructions: str, prompt: str, output: type[T], max_tokens: int = 512) -> bool:
        """Return True if the answer to this question is kept, so that asking costs nothing."""
        if self._cached is None:
            return False
        question, asked = request_of(instructions, prompt, output)
        return await self._cached.knows([question], ModelSettings(max_tokens=max_tokens), asked)

    async def remember(self, answer: BaseModel, *, instructions: str, prompt: str, max_tokens: int = 512) -> None:
        """Keeps an answer to this question that was bought together with others."""
        if self._cached is not None:
            question, asked = request_of(instructions, prompt, type(answer))
            said = answer.model_dump_json(by_alias=True)
            await self._cached.remember([question], ModelSettings(max_tokens=max_tokens), asked, said)

    async def _request(
        self, messages: list[ModelMessage], max_tokens: int, asked: ModelRequestParameters
    ) -> ModelResponse:
        response = await self.agent_model.request(messages, ModelSettings(max_tokens=max_tokens), asked)
        if response.finish_reason == "content_filter":
            raise ModelRefused(f"{self.name} declined to answer.")
        return response


def request_of(instructions: str, prompt: str, output: type[BaseModel]) -> tuple[ModelMessage, ModelRequestParameters]:
    """The question as it is sent, which is also what its answer is kept under."""
    question = ModelRequest(parts=[UserPromptPart(content=prompt)], instructions=instructions)
    asked = ModelRequestParameters(
        output_mode="native",
        output_object=object_of(output),
        instruction_parts=[InstructionPart(content=instructions)],
    )
    return question, asked


@lru_cache(maxsize=256)
def object_of(output: type[BaseModel]) -> OutputObjectDefinition:
    return OutputObjectDefinition(json_schema=output.model_json_schema(), name=output.__name__)


def read(response: ModelResponse, output: type[T], limit: int) -> T:
    """Raises ValueError with the problem in words that a model can act on."""
    try:
        return output.model_validate_json(json_in(response.text or ""))
    except ValidationError as error:
        if response.finish_reason == "length":
            raise ValueError(CUT_OFF.format(limit=limit)) from None
        raise ValueError(problems(error)) from None


def json_in(text: str) -> str:
    """The JSON object in a text that may have prose or a code fence around it."""
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text


def problems(error: ValidationError) -> str:
    shown = error.errors(include_url=False, include_context=False, include_input=False)[:PROBLEMS_SHOWN]
    lines = [".".join(str(step) for step in problem["loc"]) + ": " + problem["msg"] for problem in shown]
    return "; ".join(line.removeprefix(": ") for line in lines)
