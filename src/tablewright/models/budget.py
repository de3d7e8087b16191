"""A hard cap on dollars, tokens and calls, shared by everything that runs at once: models and paid searches. And the
dollars that a user of a server may still spend, of which work in their name takes an allowance.

Before a request the most that it can take is set aside, after it what it took is counted: so the cap holds even when
many requests are under way. A request that would only fit once others have given back what they did not need, waits.
"""

from __future__ import annotations

import asyncio
import logging
import math
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from tablewright.domain.run import Usage
from tablewright.errors import OverBudget

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


class Waiting:
    """Requests that wait until others have given back what they did not need."""

    def __init__(self) -> None:
        self._futures: list[asyncio.Future[None]] = []

    async def next(self) -> None:
        future = asyncio.get_running_loop().create_future()
        self._futures.append(future)
        await future

    def wake(self) -> None:
        futures, self._futures = self._futures, []
        for future in futures:
            if not future.done():
                future.set_result(None)


class Allowance:
    """The dollars that one piece of work may take of what its user has left. They are held in the ledger in pieces that
    last for many requests, before they are spent; what is not spent goes back when the work ends."""

    def __init__(self, hold_id: str, hold: Callable[[float, float], Awaitable[float]], words: str) -> None:
        """`hold` holds at least so many dollars more, told what is spent, and says how many; 0 where it may not."""
        self.hold_id = hold_id
        self.words = words
        self.spent = 0.0
        self.exhausted = False
        self._hold = hold
        self._granted = self._reserved = 0.0
        self._holding = asyncio.Lock()
        self._waiting = Waiting()
        self._is_closed = False

    @property
    def spent_so_far(self) -> tuple[str, float]:
        """Of which hold, and how much: noted with what it was spent for, in case the process dies."""
        return self.hold_id, self.spent

    async def cover(self, usd: float) -> bool:
        """Set so many dollars aside; whether they are there. What others have set aside and may not need is waited
        for."""
        while usd > 0:
            async with self._holding:
                short = self.spent + self._reserved + usd - self._granted
                if short > ROUNDING and not self._is_closed:
                    more = await self._hold(short, self.spent)
                    self._granted += more
                    short -= more
                if short <= ROUNDING:
                    break
                if not self._reserved or self._is_closed:
                    return False
                waiting = self._waiting.next()
            await waiting
        self._reserved += usd
        return True

    def settle(self, reserved: float, used: float) -> None:
        self._reserved = max(0.0, self._reserved - reserved)
        self.spent += used
        if self._reserved < ROUNDING:
            self._reserved = 0.0
        self._waiting.wake()

    def close(self) -> None:
        """What is still under way in the name of this work may take nothing more."""
        self._is_closed = True
        self._waiting.wake()


ROUNDING = 1e-9
"""Dollars: their sums are not exact."""

_allowance: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


def open_allowance() -> Allowance | None:
    """Return that of the work under way; None where nobody's dollars are limited."""
    return _allowance.get()


@contextmanager
def allowed(allowance: Allowance) -> Iterator[None]:
    """Everything that is bought inside, in this task and the tasks it starts, comes out of the allowance."""
    token = _allowance.set(allowance)
    try:
        yield
    finally:
        _allowance.reset(token)
        allowance.close()


class Account:
    """What has gone from a budget so far."""

    def __init__(self, budget: Budget, elsewhere: Spend = NOTHING) -> None:
        self.budget = budget
        self.spent = NOTHING
        self.elsewhere = elsewhere
        self.exhausted = ""
        self.held = NOTHING
        self.waiting = Waiting()


def refused(account: Account, cap: str, advice: str) -> OverBudget:
    if not _dispensable.get():
        account.exhausted = cap
    return OverBudget(f"The cap of {cap} is reached.", advice=advice)


def give_back(account: Account, reserved: Spend) -> None:
    account.held -= reserved
    account.waiting.wake()


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
        """Return what others spend of it: those who work on the same run, or worked on it before."""
        return self._open.elsewhere

    @elsewhere.setter
    def elsewhere(self, amount: Spend) -> None:
        self._open.elsewhere = amount

    @property
    def needs_estimates(self) -> bool:
        return self.usd is not None or self.tokens is not None or open_allowance() is not None

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
                raise refused(account, reached, "Raise the cap to go on.")
            if not self._reached(account.spent + account.elsewhere + account.held + amount):
                break
            await account.waiting.next()
        account.held += amount
        if (allowance := open_allowance()) is None:
            return
        is_covered = False
        try:
            is_covered = await allowance.cover(amount.usd)
        finally:
            if not is_covered:
                give_back(account, amount)
        if not is_covered:
            allowance.exhausted = allowance.exhausted or not _dispensable.get()
            raise refused(account, allowance.words, "Ask an admin to raise it, or wait for the next month.")

    def settle(self, reserved: Spend, used: Spend) -> None:
        account = self._open
        account.spent += used
        give_back(account, reserved)
        if (allowance := open_allowance()) is not None:
            allowance.settle(reserved.usd, used.usd)

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
        if self.usd is not None and total.usd > self.usd + ROUNDING:
            return f"${self.usd:g}"
        return ""
