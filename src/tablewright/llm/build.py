"""Build the model of the settings. The order of its wrappers is decided here and nowhere else:

Fallback        the second model, while the first is unavailable
  Cached        a cached answer is free: it passes neither budget nor limits
    Budgeted    reserves the most a request can take; raises OverBudget
      CoolDown  leaves an unavailable first model alone for a while (only if there is a second)
        Metered     records tokens and dollars of every answer
          Retrying  tries again; outside it there are only our own errors
            RateLimited   every try waits for its turn in requests and tokens per minute
              StructuredOutput  the form of the request that this model supports
                the provider's model
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import structs

from tablewright.llm.budget import Budget
from tablewright.llm.cache import AnswerCache, Cached, MemoryCache
from tablewright.llm.model import LanguageModel
from tablewright.llm.pace import Slots
from tablewright.llm.rate_limit import RateLimited, RateLimits
from tablewright.llm.request import ChatModel
from tablewright.llm.retry import Retrying
from tablewright.llm.spec import (
    Access,
    ModelSpec,
    ModelValues,
    build_access,
    create_provider_model,
    parse_model_spec,
)
from tablewright.llm.structured_output import StructuredOutput
from tablewright.llm.tokens import DEFAULT_WINDOW_TOKENS, find_window_tokens
from tablewright.llm.wrappers import Budgeted, CoolDown, Fallback, Metered

if TYPE_CHECKING:
    from pydantic_ai.models import Model


def build_model(
    values: ModelValues,
    cache: AnswerCache | None = None,
    budget: Budget | None = None,
    *,
    limits: RateLimits | None = None,
    replay_only: bool = False,
    given: Model | None = None,
) -> LanguageModel | None:
    """Return the model of the settings, or None if none is configured. Raise BadSetting for what can never work.

    Nothing is contacted or loaded yet. Use it as `async with model:` to close its connections and a local model at the
    end. Models with the same `limits` (`build_rate_limits(values)`) share requests and tokens per minute. `given` is a
    model made by the caller in place of the one that the settings name.
    """
    spec = (
        parse_model_spec(values.model) if given is None else ModelSpec(provider=given.system, argument=given.model_name)
    )
    if spec is None:
        return None
    # Without a cache there is nothing to replay: an empty one refuses every request with the right error.
    if cache is None and replay_only:
        cache = MemoryCache()
    options = WrapperOptions(cache, budget, limits or build_rate_limits(values), replay_only)
    access = build_access(values)
    second = parse_model_spec(values.model_fallback)
    made = create_provider_model(spec, access) if given is None else given
    first = wrap_model(made, spec, access, options, has_fallback=second is not None)
    model, name, window = first, str(spec), choose_window_tokens(first, access)
    if second is not None:
        # The address, the key and the window are those of the first model.
        if second.provider != spec.provider:
            access = structs.replace(access, base_url="", api_key="", window=None)
        other = wrap_model(create_provider_model(second, access), second, access, options)
        model, name = Fallback(first, other), f"{spec}, else {second}"
        # A prompt is built before it is known which of the two answers, so it must fit into both.
        window = min(window, choose_window_tokens(other, access))
    return LanguageModel(model, name=name, cached=first if isinstance(first, Cached) else None, window=window)


def choose_window_tokens(model: ChatModel, access: Access) -> int:
    return access.window or find_window_tokens(model) or DEFAULT_WINDOW_TOKENS


def build_rate_limits(values: ModelValues, slots: Slots | None = None) -> RateLimits:
    """Return the limits of the settings; with the `slots` of a database, all its processes share them."""
    return RateLimits(
        requests=values.model_requests_per_minute,
        tokens=values.model_tokens_per_minute,
        slots=slots,
    )


@dataclass(frozen=True)
class WrapperOptions:
    cache: AnswerCache | None
    budget: Budget | None
    limits: RateLimits
    replay_only: bool


def wrap_model(
    made: Model | ChatModel, spec: ModelSpec, access: Access, options: WrapperOptions, *, has_fallback: bool = False
) -> ChatModel:
    # Compatible servers may offer tools that the model behind them does not support.
    model: ChatModel = StructuredOutput(
        as_chat_model(made), json_tools=bool(access.base_url) or spec.provider in ("local", "ollama")
    )
    model = Metered(Retrying(RateLimited(model, options.limits.window_for(spec.provider))))
    # Only with a second model: alone, a model that was unavailable is better asked again.
    if has_fallback:
        model = CoolDown(model)
    if options.budget is not None:
        model = Budgeted(model, options.budget)
    if options.cache is not None:
        model = Cached(model, options.cache, replay_only=options.replay_only)
    return model


def as_chat_model(made: Model | ChatModel) -> ChatModel:
    if isinstance(made, ChatModel):
        return made
    from tablewright.llm.pydantic_ai_bridge import PydanticAIModel

    return PydanticAIModel(made)
