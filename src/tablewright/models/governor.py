"""Requests and tokens a minute, for each provider, over everything that runs at once: in one process, or in all that
share `Slots`."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass

from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model

from tablewright.models.layer import Layer, ModelCall
from tablewright.models.pace import FILLED, Clock, Pace, Sleep, Slots
from tablewright.models.tokens import most_tokens

MINUTE = 60.0
CREDIT = MINUTE / FILLED - MINUTE
"""Seconds of tokens that may be used later: the part of a minute that `FILLED` leaves free."""


@dataclass
class CountedRequest:
    """One request in the last minute; its tokens are an estimate until the answer is there."""

    at: float
    tokens: int


class RateWindow:
    """A sliding window: in no span of 60 seconds more is started than allowed. Who comes first, goes first."""

    def __init__(
        self,
        requests: float | None,
        tokens: float | None,
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.requests = requests
        self.tokens = tokens
        self._clock = clock
        self._sleep = sleep
        self._turns: deque[CountedRequest] = deque()
        self._first_in_line = asyncio.Lock()

    async def turn(self, tokens: int) -> CountedRequest:
        """Waits until one more request of so many tokens is within the limits."""
        if self.requests is None and self.tokens is None:
            return CountedRequest(self._clock(), tokens)
        async with self._first_in_line:
            while (wait := self._wait(tokens)) > 0:
                await self._sleep(wait)
            turn = CountedRequest(self._clock(), tokens)
            self._turns.append(turn)
            return turn

    def settle(self, turn: CountedRequest, tokens: int) -> None:
        turn.tokens = tokens

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


class SharedWindow:
    """The same for several processes, evenly spaced: a request takes one slot, and time for its tokens."""

    def __init__(
        self,
        provider: str,
        requests: float | None,
        tokens: float | None,
        slots: Slots,
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.tokens = tokens
        self._slots = slots
        self._key = f"model {provider} tokens"
        self._clock = clock
        self._sleep = sleep
        self._pace = Pace(slots, f"model {provider}", requests / MINUTE, clock, sleep) if requests else None
        self._unused = 0.0
        self._first_in_line = asyncio.Lock()

    async def turn(self, tokens: int) -> CountedRequest:
        if self.tokens is None:
            await self._request_turn()
        else:
            async with self._first_in_line:
                # What an answer did not need is told with the next request, so no answer waits for the database.
                unused, self._unused = self._unused, 0.0
                seconds = self._seconds(tokens)
                wait = await self._slots.reserve(self._key, seconds, refund=unused, credit=CREDIT)
                if wait > 0:
                    await self._sleep(wait)
                await self._request_turn()
        return CountedRequest(self._clock(), tokens)

    def settle(self, turn: CountedRequest, tokens: int) -> None:
        self._unused += self._seconds(turn.tokens) - self._seconds(tokens)
        turn.tokens = tokens

    async def _request_turn(self) -> None:
        if self._pace is not None:
            await self._pace.turn()

    def _seconds(self, tokens: int) -> float:
        """A request that alone is above the limit takes a minute."""
        return min(tokens / self.tokens, 1.0) * MINUTE / FILLED if self.tokens else 0.0


class RateLimits:
    """One window for each provider. Models that share limits are built with the same `RateLimits`; with `slots` of a
    database, all its processes share them."""

    def __init__(
        self,
        requests: float | None = None,
        tokens: float | None = None,
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
        slots: Slots | None = None,
    ) -> None:
        self._limits = (requests, tokens)
        self._time = (clock, sleep)
        self._slots = slots
        self._windows: dict[str, RateWindow | SharedWindow] = {}

    def of(self, provider: str) -> RateWindow | SharedWindow:
        if provider not in self._windows:
            self._windows[provider] = (
                RateWindow(*self._limits, *self._time)
                if self._slots is None
                else SharedWindow(provider, *self._limits, self._slots, *self._time)
            )
        return self._windows[provider]


class Governed(Layer):
    def __init__(self, wrapped: Model, window: RateWindow | SharedWindow) -> None:
        super().__init__(wrapped)
        self._window = window

    async def answer(self, call: ModelCall) -> ModelResponse:
        counts_tokens = self._window.tokens is not None
        expected = sum(most_tokens(self, *call)) if counts_tokens else 0
        turn = await self._window.turn(expected)
        response = await self.wrapped.request(*call)
        if counts_tokens:
            self._window.settle(turn, response.usage.total_tokens or expected)
        return response
