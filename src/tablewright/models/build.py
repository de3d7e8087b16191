"""From settings to a model that can be asked. This is the one place that says in which order the layers lie.

Fallback        the second model, while the first is unavailable
  Cached        a kept answer is free: it passes neither budget nor limits
    Budgeted    sets aside the most a request can take; raises OverBudget
      Resting   a first model that was unavailable is left alone for a while (only where there is a second)
        Metered     tells tokens and dollars of every answer
          Retrying  tries again; from here up there are only our own errors
            Governed    every try takes its turn in requests and tokens a minute
              Fitted    the form of the request that this model understands
                the provider's model
"""

from __future__ import annotations

from msgspec import structs
from pydantic_ai.models import Model

from tablewright.models.budget import Budget
from tablewright.models.cache import AnswerCache, Cached, MemoryCache
from tablewright.models.governor import Governed, RateLimits
from tablewright.models.layer import Budgeted, Fallback, Metered, Resting
from tablewright.models.model import LanguageModel
from tablewright.models.pace import Slots
from tablewright.models.retry import Retrying
from tablewright.models.spec import Access, ModelSpec, ModelValues, access_from, create, parse
from tablewright.models.structured_output import StructuredOutput
from tablewright.models.tokens import UNKNOWN_WINDOW, known_window


def build(
    values: ModelValues,
    cache: AnswerCache | None = None,
    budget: Budget | None = None,
    *,
    limits: RateLimits | None = None,
    replay_only: bool = False,
    given: Model | None = None,
) -> LanguageModel | None:
    """None when no model is configured. Raises BadSetting for what can never work; nothing is contacted or loaded yet.

    Use it as `async with model:` to close its connections, and a local model, at the end. Give several models of one
    process the same `limits` (`limits_from(values)`) to share requests and tokens a minute. `given` is a model that the
    caller has made, in place of the one that the settings name.
    """
    spec = parse(values.model) if given is None else ModelSpec(provider=given.system, argument=given.model_name)
    if spec is None:
        return None
    if cache is None and replay_only:
        cache = MemoryCache()
    limits = limits or limits_from(values)
    access = access_from(values)
    second = parse(values.model_fallback)
    first = layered(spec, access, cache, budget, limits, replay_only, rests=second is not None, given=given)
    model, name, window = first, str(spec), window_of(first, access)
    if second is not None:
        if second.provider != spec.provider:  # the address and the key are those of the first
            access = structs.replace(access, base_url="", api_key="", window=None)
        other = layered(second, access, cache, budget, limits, replay_only)
        model, name = Fallback(first, other), f"{spec}, else {second}"
        window = min(window, window_of(other, access))
    return LanguageModel(model, name=name, cached=first if isinstance(first, Cached) else None, window=window)


def window_of(model: Model, access: Access) -> int:
    return access.window or known_window(model) or UNKNOWN_WINDOW


def limits_from(values: ModelValues, slots: Slots | None = None) -> RateLimits:
    """With the `slots` of a database they hold for all processes on it together."""
    return RateLimits(
        requests=values.model_requests_per_minute,
        tokens=values.model_tokens_per_minute,
        slots=slots,
    )


def layered(
    spec: ModelSpec,
    access: Access,
    cache: AnswerCache | None,
    budget: Budget | None,
    limits: RateLimits,
    replay_only: bool,
    rests: bool = False,
    given: Model | None = None,
) -> Model:
    # Who serves other people's models may promise tools that the model does not keep.
    model: Model = StructuredOutput(
        given or create(spec, access), json_tools=bool(access.base_url) or spec.provider in ("local", "ollama")
    )
    model = Metered(Retrying(Governed(model, limits.of(spec.provider))))
    if rests:
        model = Resting(model)
    if budget is not None:
        model = Budgeted(model, budget)
    if cache is not None:
        model = Cached(model, cache, replay_only=replay_only)
    return model
