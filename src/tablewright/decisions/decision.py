"""The form of every judgement: a typed question, a prompt for a model, and a rule that needs none.

With a model: ask, check the answer, ask once more with what was wrong. If that fails, or the model cannot be reached,
or the budget is spent, the rule answers and the trace says `degraded`. Without a model the rule is the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel

from tablewright.decisions.untrusted import block, gives_orders
from tablewright.errors import ModelError, OverBudget
from tablewright.table.model import Noun, Step

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel

Asked = TypeVar("Asked", contravariant=True)
Decided = TypeVar("Decided", covariant=True)
Any_Decided = TypeVar("Any_Decided")

Tell: TypeAlias = Callable[[Step], None]


class Prompt(Noun, frozen=True, gc=True):
    """What is sent: instructions of ours, and a text in which everything retrieved stands in a marked block."""

    instructions: str
    text: str
    reply: type[BaseModel]
    max_tokens: int = 512


class Unusable(Exception):
    """A reply that has the right form but cannot be true; its text tells the model what is wrong with it.

    `usable` is what is left of it without the wrong parts: the decision, if a second reply is no better.
    """

    def __init__(self, problem: str, usable: object = None) -> None:
        super().__init__(problem)
        self.usable = usable


class Decision(Protocol[Asked, Decided]):
    name: str

    def prompt(self, asked: Asked) -> Prompt: ...

    def accept(self, asked: Asked, reply: Any) -> Decided:
        """The reply as a decision; raises Unusable for what no retrieved text supports."""
        ...

    def rule(self, asked: Asked) -> Decided: ...


class Outcome(Noun, Generic[Any_Decided], frozen=True, gc=True):
    decided: Any_Decided
    degraded: str = ""
    over_budget: bool = False


async def decide(
    decision: Decision[Any, Any_Decided], asked: Any, model: LanguageModel | None, tell: Tell
) -> Outcome[Any_Decided]:
    if model is None:
        return Outcome(decided=decision.rule(asked))
    try:
        return Outcome(decided=await _ask(decision, asked, model))
    except (ModelError, Unusable) as error:
        problem = error.what if isinstance(error, ModelError) else f"the model's answer cannot be used: {error}"
        tell(
            Step(
                type="thinking",
                detail=f"{decision.name}: {problem} The built-in rule decides instead.",
                data={"decision": decision.name, "degraded": True},
            )
        )
        over = isinstance(error, OverBudget)
        return Outcome(decided=decision.rule(asked), degraded=problem, over_budget=over)


async def _ask(decision: Decision[Any, Any_Decided], asked: Any, model: LanguageModel) -> Any_Decided:
    prompt = decision.prompt(asked)
    reply = await _reply(model, prompt, prompt.text)
    try:
        return decision.accept(asked, reply)
    except Unusable as problem:
        said = block(0, reply.model_dump_json()[:2_000])
        wrong = f"It cannot be used: {problem}" if not gives_orders(str(problem)) else "It cannot be used."
        again = f"{prompt.text}\n\nYour last answer was\n{said}\n{wrong}\nAnswer again."
        try:
            return decision.accept(asked, await _reply(model, prompt, again))
        except Unusable as still:
            if still.usable is None:
                raise
            usable: Any_Decided = still.usable  # type: ignore[assignment]
            return usable


async def _reply(model: LanguageModel, prompt: Prompt, text: str) -> BaseModel:
    return await model.ask(
        instructions=prompt.instructions, prompt=text, output=prompt.reply, max_tokens=prompt.max_tokens
    )
