"""Tries again what may work a little later, and says the rest in our own words: above this layer there are only the
errors of `tablewright.errors`."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable

from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelTimeoutError,
    UserError,
)
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model

from tablewright.errors import BadAnswer, KeyWithheld, ModelError, ModelRefused, ModelUnavailable
from tablewright.models.layer import Layer, ModelCall
from tablewright.observe import availability, span

TRIES = 4
TRIES_IN_VAIN = 2
"""Of a request that nobody answers in time: each of them takes as long as the user is willing to wait."""
REST, LONGEST_REST = 2.0, 30.0
"""Seconds for which a model that nobody answers for is not asked again: as long as it took to find out, within these.
Whoever asks meanwhile is told the same at once."""
FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0
"""A server that asks for more patience than this is unavailable."""
WORTH_ANOTHER_TRY = (408, 409, 429)


class Retrying(Layer):
    """A model that was unavailable after all tries is asked once from then on, until it answers, and where nobody
    answered at all it rests first: waiting for it again and again would only delay saying so."""

    def __init__(
        self,
        wrapped: Model,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(wrapped)
        self._sleep = sleep
        self._jitter = jitter
        self._clock = clock
        self._is_down = False
        self._answered_at = -math.inf
        self._unreachable = (-math.inf, "", "")
        """Until when it rests, why, and what to do about it."""

    async def answer(self, call: ModelCall) -> ModelResponse:
        begun = self._clock()
        until, what, advice = self._unreachable
        if begun < until:
            raise ModelUnavailable(what, advice=advice)
        provider = availability("model", f"{self.system}:{self.model_name}")
        for tried in range(1, TRIES + 1):
            try:
                with span("model call", model=self.model_name):
                    response = await self.wrapped.request(*call)
                self._is_down, self._answered_at = False, self._clock()
                provider.answered()
                return response
            except (AgentRunError, UserError, KeyWithheld) as error:
                if (withheld := key_withheld_in(error)) is not None:
                    raise ModelRefused(withheld.what, kept=withheld.kept, advice=withheld.advice) from error
                wait = self._wait(error, tried)
                if wait is None:
                    problem = explain(error, self.model_name, tried)
                    self._is_down = isinstance(problem, ModelUnavailable)
                    if self._is_down:
                        provider.failed(problem.what)
                    if self._is_down and not isinstance(error, ModelHTTPError) and self._answered_at < begun:
                        rest = min(LONGEST_REST, max(REST, self._clock() - begun))
                        self._unreachable = self._clock() + rest, problem.what, problem.advice
                    raise problem from error
            await self._sleep(wait)
        raise AssertionError("unreachable: the last try returns or raises")

    def _wait(self, error: Exception, tried: int) -> float | None:
        """Seconds until the next try, or None when there is none."""
        most = TRIES_IN_VAIN if isinstance(error, ModelTimeoutError | ModelRequestTimeout) else TRIES
        if tried >= most or not isinstance(error, ModelAPIError) or not passes(error):
            return None
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= LONGEST_WAIT else None
        if self._is_down:
            return None
        return float(FIRST_WAIT * 2 ** (tried - 1) * (0.5 + self._jitter()))


def key_withheld_in(error: BaseException | None) -> KeyWithheld | None:
    """Return the refusal to send a key, which some libraries wrap as a connection that failed."""
    while error is not None and not isinstance(error, KeyWithheld):
        error = error.__cause__ or error.__context__
    return error


def passes(error: ModelAPIError) -> bool:
    """Return True if the same request may work later: busy, failing, slow or unreachable, rather than refused."""
    if isinstance(error, ModelQuotaExceededError | ModelRequestRejectedError):
        return False
    if isinstance(error, ModelHTTPError):
        return error.status_code >= 500 or error.status_code in WORTH_ANOTHER_TRY
    return True


def explain(error: Exception, name: str, tried: int) -> ModelError:
    if not isinstance(error, ModelAPIError):
        if isinstance(error, UserError):
            return ModelRefused(f"{name} cannot be asked this way: {short(error)}.")
        return BadAnswer(f"{name} answered something that is not an answer: {short(error)}.")
    if passes(error):
        return unavailable(error, name, tried)
    if isinstance(error, ModelAuthenticationError):
        return ModelRefused(
            f"{name} refused the key.", advice="Check TABLEWRIGHT_MODEL_API_KEY or the provider's own variable."
        )
    if isinstance(error, ModelNotFoundError):
        return ModelRefused(f"There is no model {name} there.", advice="Check its name and model_base_url.")
    if isinstance(error, ModelContextWindowExceededError):
        return ModelRefused(f"The request is too long for {name}.", advice="Use a model with a longer context.")
    if isinstance(error, ModelQuotaExceededError):
        return ModelRefused(f"The account for {name} has no credit left.", advice="Add credit, or use another model.")
    return ModelRefused(f"{name} refused the request: {reason(error)}.")


def unavailable(error: ModelAPIError, name: str, tried: int) -> ModelUnavailable:
    times = "" if tried == 1 else f", {tried} times"
    if isinstance(error, ModelTimeoutError | ModelRequestTimeout):
        return ModelUnavailable(f"{name} did not answer in time{times}.", advice="Raise model_timeout, or try later.")
    if isinstance(error, ModelHTTPError):
        later = f" It asks to wait {error.retry_after:.0f} seconds." if error.retry_after else ""
        return ModelUnavailable(f"{name} is not able to answer{times}: {reason(error)}.{later}", advice="Try later.")
    return ModelUnavailable(
        f"{name} cannot be reached{times}: {short(error)}.", advice="Check the address and network."
    )


def reason(error: ModelAPIError) -> str:
    """Return what the provider said, in one line."""
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error")
        body = inner if isinstance(inner, dict) else body
        body = body.get("message") or body.get("detail") or body
    status = f"{error.status_code}" if isinstance(error, ModelHTTPError) else ""
    said = clip(str(body)) if body else ""
    return ", ".join(part for part in (status, said) if part) or short(error)


def short(error: Exception) -> str:
    return clip(str(error) or type(error).__name__)


def clip(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= 200 else line[:199] + "…"
