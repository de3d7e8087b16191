"""The form of every judgement: a typed question, a prompt, a typed reply, a check, and a fallback for no model.

With a model the judgement is the model's. Code checks what can be proved; a reply that fails, or only the failing parts
of it, goes back once with the true reason, and what still fails is omitted and reported. Only a model that cannot be
reached, or that answers nonsense twice, is replaced by the fallback, and the trace says `degraded`. Without a model the
fallback is the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, create_model
from pydantic import Field as Key

from tablewright.citations.untrusted import block, looks_like_prompt_injection
from tablewright.domain.model import Noun, Step
from tablewright.errors import ModelError, OverBudget
from tablewright.models.text_budget import REFUSED_REPLY

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel

Asked = TypeVar("Asked", contravariant=True)
Decided = TypeVar("Decided", covariant=True)
Any_Decided = TypeVar("Any_Decided")
Item = TypeVar("Item")

Tell: TypeAlias = Callable[[Step], None]


class Prompt(Noun, frozen=True, gc=True):
    """What is sent. `instructions` are ours and the same for all rows of a table, so that providers can cache them;
    in `text` everything retrieved stands in a marked block."""

    instructions: str
    text: str
    reply: type[BaseModel]
    max_tokens: int = 512


class Correction(Noun, frozen=True, gc=True):
    """A second question, about only those parts of a reply that fail their check. `put_in` returns the decision with
    the parts that come back."""

    prompt: Prompt
    put_in: Callable[[Any], Any]


class Unusable(Exception):
    """A reply that has the right form but fails its check; its text tells the model what is wrong with it.

    `usable` is what is left of it without the wrong parts: the decision, if a second reply is no better. The second
    reply is a whole one, unless there is a `correction`.
    """

    def __init__(self, problem: str, usable: object = None, correction: Correction | None = None) -> None:
        super().__init__(problem)
        self.usable = usable
        self.correction = correction


def accept(decided: Any_Decided, problems: Iterable[str]) -> Any_Decided:
    """Return the decision, unless there are problems: with these the reply goes back to the model once."""
    if problem := " ".join(problems):
        raise Unusable(problem, usable=decided)
    return decided


def pick_numbered(items: Sequence[Item], numbers: Iterable[int]) -> list[Item]:
    """Return the items that a model names by their numbers, from 1, each once. Only numbers that were shown count, so
    no text can add an item."""
    return [items[number - 1] for number in dict.fromkeys(numbers) if 1 <= number <= len(items)]


def answers_by_number(answers: Iterable[Item], count: int) -> dict[int, Item]:
    """Return the answers that a model gives to numbered items by their `number`, from 1 to `count`."""
    numbered = {getattr(each, "number", 0): each for each in answers}
    return {number: each for number, each in numbered.items() if 1 <= number <= count}


@lru_cache(maxsize=256)
def reply_by_name(title: str, names: tuple[str, ...], answer: Any) -> type[BaseModel]:
    """Return a form with an answer under each name, made once for the same names; in code they are f0, f1, …"""
    fields: dict[str, Any] = {f"f{place}": (answer, Key(alias=name)) for place, name in enumerate(names)}
    return create_model(title, __config__=ConfigDict(populate_by_name=True), **fields)


def answers_by_name(form: BaseModel) -> list[Any]:
    """Return the answers of such a form in the order of its names."""
    return [getattr(form, f"f{place}") for place in range(len(type(form).model_fields))]


class Decision(Protocol[Asked, Decided]):
    name: str

    def prompt(self, asked: Asked) -> Prompt: ...

    def check(self, asked: Asked, reply: Any) -> Decided:
        """The reply as a decision. Raises Unusable for what code can prove wrong, and for nothing else."""
        ...

    def fallback(self, asked: Asked) -> Decided:
        """What is decided without a model: short, general, and never mixed with a model's reply."""
        ...


class Outcome(Noun, Generic[Any_Decided], frozen=True, gc=True):
    """`degraded` says why the fallback decided although there is a model; `left_out` what of the model's reply failed
    its check twice."""

    decided: Any_Decided
    degraded: str = ""
    left_out: str = ""
    over_budget: bool = False


async def decide(
    decision: Decision[Any, Any_Decided],
    asked: Any,
    model: LanguageModel | None,
    tell: Tell,
    first: BaseModel | None = None,
) -> Outcome[Any_Decided]:
    """`first` is the model's reply where it came another way, such as together with those of other rows."""
    if model is None:
        return Outcome(decided=await fall_back(decision, asked))
    try:
        outcome = await _ask(decision, asked, model, first)
    except (ModelError, Unusable) as error:
        problem = error.what if isinstance(error, ModelError) else f"the model's answer cannot be used: {error}"
        tell(
            Step(
                type="thinking",
                detail=f"{decision.name}: {problem} Decided without the model.",
                data={"decision": decision.name, "degraded": True},
            )
        )
        over = isinstance(error, OverBudget)
        return Outcome(decided=await fall_back(decision, asked), degraded=problem, over_budget=over)
    if outcome.left_out:
        tell(
            Step(
                type="thinking",
                detail=f"{decision.name}: not verified and left out: {outcome.left_out}",
                data={"decision": decision.name, "left_out": True},
            )
        )
    return outcome


async def fall_back(decision: Decision[Any, Any_Decided], asked: Any) -> Any_Decided:
    """What the fallback decides, in a thread: reading long pages takes seconds, in which others are served."""
    return await asyncio.to_thread(decision.fallback, asked)


async def _ask(
    decision: Decision[Any, Any_Decided], asked: Any, model: LanguageModel, first: BaseModel | None
) -> Outcome[Any_Decided]:
    """Ask for the whole reply, once more if its check fails, and then once for the parts that still fail."""
    prompt = await asyncio.to_thread(decision.prompt, asked)
    text, attempts_left = prompt.text, 1
    while True:
        reply = await _reply(model, prompt, text) if first is None else first
        try:
            return Outcome(decided=await asyncio.to_thread(decision.check, asked, reply))
        except Unusable as error:
            problem = error
        if problem.correction or not attempts_left:
            break
        said = block(0, reply.model_dump_json(by_alias=True)[:REFUSED_REPLY])
        wrong = f"It fails a check: {problem}" if not looks_like_prompt_injection(str(problem)) else "It fails a check."
        text = f"{prompt.text}\n\nYour last answer was\n{said}\n{wrong}\nAnswer again, whole."
        first, attempts_left = None, 0
    if problem.usable is None:
        raise problem
    usable: Any_Decided = problem.usable  # type: ignore[assignment]
    if correction := problem.correction:
        try:
            reply = await _reply(model, correction.prompt, correction.prompt.text)
        except ModelError:
            return Outcome(decided=usable, left_out=str(problem))
        return Outcome(decided=await asyncio.to_thread(correction.put_in, reply))
    return Outcome(decided=usable, left_out=str(problem))


async def _reply(model: LanguageModel, prompt: Prompt, text: str) -> BaseModel:
    return await model.ask(
        instructions=prompt.instructions, prompt=text, output=prompt.reply, max_tokens=prompt.max_tokens
    )
