"""Retry requests that may work a little later, and turn all other failures into the errors of `tablewright.errors`.

Outside this wrapper no other errors of models occur.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable

from tablewright.errors import BadAnswer, KeyWithheld, ModelError, ModelRefused, ModelUnavailable
from tablewright.llm.request import ChatModel, ModelCall, ModelReply, RequestFailed
from tablewright.llm.wrappers import ModelWrapper
from tablewright.observe import availability_of, trace_span

# With a first wait of half a second, doubled each time, the waits are 3.5 seconds in all. More: longer outages pass
# unnoticed; fewer: the second model, or the user, learns of them earlier.
MAX_TRIES = 4
# Seconds for which an unreachable model is not asked again: as long as it took to find out, within these limits. Other
# requests fail with the same error at once.
MIN_REST_SECONDS, MAX_REST_SECONDS = 2.0, 30.0
# Before the second try, times 0.5 to 1.5 by chance.
FIRST_WAIT_SECONDS = 0.5
# A server that asks to wait longer counts as unavailable.
MAX_RETRY_AFTER_SECONDS = 60.0


class Retrying(ModelWrapper):
    """Retry requests. After a model was unavailable, each request is tried only once until one is answered, and none is
    sent for a while if the model was unreachable: more waiting would only delay the error."""

    def __init__(
        self,
        wrapped: ChatModel,
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
        """The end of its rest, the error and the advice."""

    async def answer(self, call: ModelCall) -> ModelReply:
        begun = self._clock()
        until, what, advice = self._unreachable
        if begun < until:
            raise ModelUnavailable(what, advice=advice)
        provider = availability_of("model", f"{self.system}:{self.model_name}")
        for tried in range(1, MAX_TRIES + 1):
            try:
                with trace_span("model call", model=self.model_name):
                    reply = await self.wrapped.answer(call)
                self._is_down, self._answered_at = False, self._clock()
                provider.answered()
                return reply
            except RequestFailed as error:
                if (withheld := find_withheld_key(error)) is not None:
                    raise ModelRefused(withheld.what, kept=withheld.kept, advice=withheld.advice) from error
                wait = self._wait(error, tried)
                if wait is None:
                    problem = to_model_error(error, self.model_name, tried)
                    self._is_down = isinstance(problem, ModelUnavailable)
                    if self._is_down:
                        provider.failed(problem.what)
                    # Not for an HTTP status, which comes at once, nor if another request was answered since.
                    if self._is_down and error.status is None and self._answered_at < begun:
                        rest = min(MAX_REST_SECONDS, max(MIN_REST_SECONDS, self._clock() - begun))
                        self._unreachable = self._clock() + rest, problem.what, problem.advice
                    raise problem from error
            await self._sleep(wait)
        raise AssertionError("unreachable: the last try returns or raises")

    def _wait(self, error: RequestFailed, tried: int) -> float | None:
        """Return the seconds until the next try, or None if there is none."""
        # A request that times out is tried only twice: each try takes as long as the user is willing to wait.
        most = 2 if error.kind == "timeout" else MAX_TRIES
        if tried >= most or not error.is_transient:
            return None
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= MAX_RETRY_AFTER_SECONDS else None
        if self._is_down:
            return None
        # Jitter keeps requests that failed together from coming back together.
        return float(FIRST_WAIT_SECONDS * 2 ** (tried - 1) * (0.5 + self._jitter()))


def find_withheld_key(error: BaseException | None) -> KeyWithheld | None:
    """Return the refusal to send a key, which clients wrap as a connection that failed."""
    while error is not None and not isinstance(error, KeyWithheld):
        error = error.__cause__ or error.__context__
    return error


def to_model_error(error: RequestFailed, name: str, tried: int) -> ModelError:
    times = "" if tried == 1 else f" ({tried} attempts)"
    match error.kind:
        case "busy":
            later = f" It asks to wait {error.retry_after:.0f} seconds." if error.retry_after else ""
            return ModelUnavailable(
                f"{name} is not able to answer{times}: {provider_message(error)}.{later}", advice="Try later."
            )
        case "timeout":
            what = f"{name} did not answer in time{times}."
            return ModelUnavailable(what, advice="Raise model_timeout, or try later.")
        case "unreachable":
            what = f"{name} cannot be reached{times}: {error_line(error)}."
            return ModelUnavailable(what, advice="Check the address and network.")
        case "unusable":
            return BadAnswer(f"{name} answered something that is not an answer: {error_line(error)}.")
        case "unsupported":
            return ModelRefused(f"{name} cannot be asked this way: {error_line(error)}.")
        case "key":
            advice = "Check TABLEWRIGHT_MODEL_API_KEY or the provider's own variable."
            return ModelRefused(f"{name} refused the key.", advice=advice)
        case "missing":
            return ModelRefused(f"There is no model {name} there.", advice="Check its name and model_base_url.")
        case "context":
            return ModelRefused(f"The request is too long for {name}.", advice="Use a model with a longer context.")
        case "quota":
            advice = "Add credit, or use another model."
            return ModelRefused(f"The account for {name} has no credit left.", advice=advice)
        case "rejected":
            return ModelRefused(f"{name} refused the request: {provider_message(error)}.")


def provider_message(error: RequestFailed) -> str:
    """Return the provider's own message on one line."""
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error")
        body = inner if isinstance(inner, dict) else body
        body = body.get("message") or body.get("detail") or body
    status = str(error.status or "")
    message = clip_line(str(body)) if body else ""
    return ", ".join(part for part in (status, message) if part) or error_line(error)


def error_line(error: Exception) -> str:
    return clip_line(str(error) or type(error).__name__)


def clip_line(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    # Some providers answer with whole pages of HTML.
    return line if len(line) <= 200 else line[:199] + "…"
