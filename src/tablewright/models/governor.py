"""Requests and tokens a minute, for each provider, over everything that runs at once."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from tablewright.models.layer import Layer
from tablewright.models.size import most_tokens

MINUTE = 60.0


@dataclass
class Turn:
    """One request in the last minute; its tokens are an estimate until the answer is there."""

    at: float
    tokens: int


class Window:
    """A sliding window: in no span of 60 seconds more is started than allowed. Who comes first, goes first."""

    def __init__(
        self,
        requests: float | None,
        tokens: float | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.requests = requests
        self.tokens = tokens
        self._clock = clock
        self._sleep = sleep
        self._turns: deque[Turn] = deque()
        self._first_in_line = asyncio.Lock()

    async def turn(self, tokens: int) -> Turn:
        """Waits until one more request of so many tokens is within the limits."""
        if self.requests is None and self.tokens is None:
            return Turn(self._clock(), tokens)
        async with self._first_in_line:
            while (wait := self._wait(tokens)) > 0:
                await self._sleep(wait)
            turn = Turn(self._clock(), tokens)
            self._turns.append(turn)
            return turn

    def _wait(self, tokens: int) -> float:
        """Until enough of the oldest have left the window. A request that alone is above the limit goes alone."""
        now = self._clock()
        while self._turns and self._turns[0].at <= now - MINUTE:
            self._turns.popleft()
        count, used, wait = len(self._turns), sum(turn.tokens for turn in self._turns), 0.0
        for oldest in self._turns:
            if self._fits(count, used, tokens):
                break
            count, used, wait = count - 1, used - oldest.tokens, oldest.at + MINUTE - now
        return wait

    def _fits(self, count: int, used: int, tokens: int) -> bool:
        within_requests = self.requests is None or count + 1 <= self.requests
        return within_requests and (self.tokens is None or used + tokens <= self.tokens)


class Limits:
    """One window for each provider. Models that shall share their limits are built with the same `Limits`."""

    def __init__(
        self,
        requests: float | None = None,
        tokens: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._limits = (requests, tokens, clock, sleep)
        self._windows: dict[str, Window] = {}

    def of(self, provider: str) -> Window:
        return self._windows.setdefault(provider, Window(*self._limits))


class Governed(Layer):
    def __init__(self, wrapped: Model, window: Window) -> None:
        super().__init__(wrapped)
        self._window = window

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        counts_tokens = self._window.tokens is not None
        expected = sum(most_tokens(self, messages, model_settings, model_request_parameters)) if counts_tokens else 0
        turn = await self._window.turn(expected)
        response = await self.wrapped.request(messages, model_settings, model_request_parameters)
        if counts_tokens:
            turn.tokens = response.usage.total_tokens or expected
        return response
