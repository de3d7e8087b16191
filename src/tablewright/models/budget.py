"""A hard cap on dollars, tokens and calls, shared by everything that runs at once: models and paid searches.

Before a request the most that it can take is set aside, after it what it took is counted: so the cap holds even when
many requests are under way. A request that would only fit once others have given back what they did not need, waits.
"""

from __future__ import annotations

import asyncio
import logging
import math
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from tablewright.errors import OverBudget
from tablewright.models.layer import Layer
from tablewright.models.price import estimate
from tablewright.models.request_size import most_tokens
from tablewright.table.usage import Usage

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Spend:
    usd: float = 0.0
    tokens: int = 0
    calls: int = 0

    def __add__(self, other: Spend) -> Spend:
        return Spend(self.usd + other.usd, self.tokens + other.tokens, self.calls + other.calls)

    def __sub__(self, other: Spend) -> Spend:
        return Spend(self.usd - other.usd, self.tokens - other.tokens, self.calls - other.calls)


NOTHING = Spend()


def amount(usage: Usage) -> Spend:
    return Spend(usage.cost_usd, usage.input_tokens + usage.output_tokens, usage.llm_calls)


_dispensable: ContextVar[bool] = ContextVar("dispensable", default=False)


@contextmanager
def dispensable() -> Iterator[None]:
    """Around a request that is larger than most and that one can do without: that it does not fit any more does not say
    that the money is spent."""
    token = _dispensable.set(True)
    try:
        yield
    finally:
        _dispensable.reset(token)


class Account:
    """What has gone from a budget so far."""

    def __init__(self, budget: Budget, elsewhere: Spend = NOTHING) -> None:
        self.budget = budget
        self.spent = NOTHING
        self.elsewhere = elsewhere
        self.exhausted = ""
        self.held = NOTHING
        self.waiting: list[asyncio.Future[None]] = []


_account: ContextVar[Account | None] = ContextVar("account", default=None)


class Budget:
    def __init__(self, *, usd: float | None = None, tokens: int | None = None, calls: int | None = None) -> None:
        self.usd = usd
        self.tokens = tokens
        self.calls = calls
        self.unpriced: set[str] = set()
        """Models whose price nobody knows: the cap on dollars cannot hold for them."""
        self._common = Account(self)

    @contextmanager
    def apart(self, before: Spend = NOTHING) -> Iterator[None]:
        """What is done inside, in this task and the tasks it starts, has the whole cap to itself, but for what it took
        `before`: a server does the work of many, and none of them is to pay for the others."""
        token = _account.set(Account(self, before))
        try:
            yield
        finally:
            _account.reset(token)

    @property
    def _open(self) -> Account:
        account = _account.get()
        return account if account is not None and account.budget is self else self._common

    @property
    def spent(self) -> Spend:
        return self._open.spent

    @property
    def elsewhere(self) -> Spend:
        """What others spend of it: those who work on the same run, or worked on it before."""
        return self._open.elsewhere

    @elsewhere.setter
    def elsewhere(self, amount: Spend) -> None:
        self._open.elsewhere = amount

    @property
    def needs_estimates(self) -> bool:
        return self.usd is not None or self.tokens is not None

    @property
    def exhausted(self) -> str:
        """The cap in words, once something was refused because of it; then nothing new should be begun."""
        return self._open.exhausted

    @property
    def in_words(self) -> str:
        """The cap itself."""
        return self._reached(Spend(math.inf, sys.maxsize, sys.maxsize))

    async def reserve(self, amount: Spend) -> None:
        account = self._open
        while True:
            if reached := self._reached(account.spent + account.elsewhere + amount):
                if not _dispensable.get():
                    account.exhausted = reached
                raise OverBudget(f"The cap of {reached} is reached.", advice="Raise the cap to go on.")
            if not self._reached(account.spent + account.elsewhere + account.held + amount):
                account.held += amount
                return
            waiter = asyncio.get_running_loop().create_future()
            account.waiting.append(waiter)
            await waiter

    def settle(self, reserved: Spend, used: Spend) -> None:
        account = self._open
        account.held -= reserved
        account.spent += used
        waiting, account.waiting = account.waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    @asynccontextmanager
    async def buying(self, usd: float) -> AsyncIterator[None]:
        """Around something of a known price; what fails is free."""
        price, used = Spend(usd), NOTHING
        await self.reserve(price)
        try:
            yield
            used = price
        finally:
            self.settle(price, used)

    def price_unknown(self, model: str) -> None:
        if model not in self.unpriced:
            self.unpriced.add(model)
            log.warning(
                "The price of %s is not known: its tokens are counted, but the cap on dollars cannot hold.", model
            )

    def _reached(self, total: Spend) -> str:
        """The cap that would be passed, in words."""
        if self.calls is not None and total.calls > self.calls:
            return f"{self.calls} model calls"
        if self.tokens is not None and total.tokens > self.tokens:
            return f"{self.tokens:,} tokens"
        if self.usd is not None and total.usd > self.usd + 1e-9:
            return f"${self.usd:g}"
        return ""


class Budgeted(Layer):
    def __init__(self, wrapped: Model, budget: Budget) -> None:
        super().__init__(wrapped)
        self._budget = budget

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        most = self._most(messages, model_settings, model_request_parameters)
        await self._budget.reserve(most)
        used = NOTHING
        try:
            response = await self.wrapped.request(messages, model_settings, model_request_parameters)
            usage = response.usage
            used = Spend(float(usage.cost or 0), usage.total_tokens, 1)
            return response
        finally:
            self._budget.settle(most, used)

    def _most(
        self, messages: list[ModelMessage], settings: ModelSettings | None, asked: ModelRequestParameters
    ) -> Spend:
        if not self._budget.needs_estimates:
            return Spend(calls=1)
        read, written = most_tokens(self, messages, settings, asked)
        price = estimate(self.wrapped, read, written)
        if price is None and self._budget.usd == 0:
            return Spend(math.inf, read + written, 1)  # who spends nothing does not ask what it costs
        if price is None and self._budget.usd is not None:
            self._budget.price_unknown(self.model_name)
        return Spend(float(price or 0), read + written, 1)
