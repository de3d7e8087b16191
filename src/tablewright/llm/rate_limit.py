"""Limit requests and tokens per minute for each provider: in one process, or in all that share `Slots`.

The limits hold over everything that runs at once. The time slots themselves are in pace.py.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass

from tablewright.llm.pace import USED_SHARE, Clock, Pace, Sleep, Slots
from tablewright.llm.request import ChatModel, ModelCall, ModelReply
from tablewright.llm.tokens import estimate_request_tokens
from tablewright.llm.wrappers import ModelWrapper

# Providers state their limits per minute.
WINDOW_SECONDS = 60.0
# Unused tokens of the last seconds can still be used: the part of a minute that `USED_SHARE` leaves free.
CREDIT_SECONDS = WINDOW_SECONDS / USED_SHARE - WINDOW_SECONDS


@dataclass
class CountedRequest:
    """One request of the last minute; its tokens are an estimate until it is answered."""

    at: float
    tokens: int


class RateWindow:
    """A sliding window: no span of 60 seconds has more requests or tokens than allowed. First come, first served."""

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

    async def wait_turn(self, tokens: int) -> CountedRequest:
        """Wait until one more request of so many tokens is within the limits."""
        if self.requests is None and self.tokens is None:
            return CountedRequest(self._clock(), tokens)
        # Held while waiting, so that small requests cannot overtake a large one forever.
        async with self._first_in_line:
            while (wait := self._wait(tokens)) > 0:
                await self._sleep(wait)
            turn = CountedRequest(self._clock(), tokens)
            self._turns.append(turn)
            return turn

    def settle(self, turn: CountedRequest, tokens: int) -> None:
        turn.tokens = tokens

    def _wait(self, tokens: int) -> float:
        """Return the seconds until enough old requests have left the window. A request above the limit goes alone."""
        now = self._clock()
        while self._turns and self._turns[0].at <= now - WINDOW_SECONDS:
            self._turns.popleft()
        count, used, wait = len(self._turns), sum(turn.tokens for turn in self._turns), 0.0
        for oldest in self._turns:
            if self._fits(count, used, tokens):
                break
            count, used, wait = count - 1, used - oldest.tokens, oldest.at + WINDOW_SECONDS - now
        return wait

    def _fits(self, count: int, used: int, tokens: int) -> bool:
        within_requests = self.requests is None or count + 1 <= self.requests
        return within_requests and (self.tokens is None or used + tokens <= self.tokens)


class SharedRateWindow:
    """The limits of several processes, evenly spaced: a request takes one slot, and time for its tokens."""

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
        self._pace = Pace(slots, f"model {provider}", requests / WINDOW_SECONDS, clock, sleep) if requests else None
        self._unused = 0.0
        self._first_in_line = asyncio.Lock()

    async def wait_turn(self, tokens: int) -> CountedRequest:
        if self.tokens is None:
            await self._request_turn()
        else:
            async with self._first_in_line:
                # Tokens that an answer did not need are returned with the next request, so no answer waits for the
                # database.
                unused, self._unused = self._unused, 0.0
                seconds = self._seconds(tokens)
                wait = await self._slots.reserve(self._key, seconds, refund=unused, credit=CREDIT_SECONDS)
                if wait > 0:
                    await self._sleep(wait)
                await self._request_turn()
        return CountedRequest(self._clock(), tokens)

    def settle(self, turn: CountedRequest, tokens: int) -> None:
        self._unused += self._seconds(turn.tokens) - self._seconds(tokens)
        turn.tokens = tokens

    async def _request_turn(self) -> None:
        if self._pace is not None:
            await self._pace.wait_turn()

    def _seconds(self, tokens: int) -> float:
        """Return the time that so many tokens take; a request above the limit takes a minute."""
        return min(tokens / self.tokens, 1.0) * WINDOW_SECONDS / USED_SHARE if self.tokens else 0.0


class RateLimits:
    """One window per provider. Models built with the same `RateLimits` share them, and with `slots` of a database so do
    all its processes."""

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
        self._windows: dict[str, RateWindow | SharedRateWindow] = {}

    def window_for(self, provider: str) -> RateWindow | SharedRateWindow:
        if provider not in self._windows:
            self._windows[provider] = (
                RateWindow(*self._limits, *self._time)
                if self._slots is None
                else SharedRateWindow(provider, *self._limits, self._slots, *self._time)
            )
        return self._windows[provider]


class RateLimited(ModelWrapper):
    """Let every try of a request wait for its turn in a window."""

    def __init__(self, wrapped: ChatModel, window: RateWindow | SharedRateWindow) -> None:
        super().__init__(wrapped)
        self._window = window

    async def answer(self, call: ModelCall) -> ModelReply:
        counts_tokens = self._window.tokens is not None
        expected = sum(estimate_request_tokens(self, call)) if counts_tokens else 0
        turn = await self._window.wait_turn(expected)
        reply = await self.wrapped.answer(call)
        if counts_tokens:
            # Providers that report no tokens count with the estimate.
            self._window.settle(turn, reply.usage.total_tokens or expected)
        return reply
