"""Cap dollars, tokens and calls over everything that runs at once: models and paid searches.

A user of a server has a limit of dollars as well, from which work on their behalf takes an allowance.

The most that a request can take is reserved before it, and what it took is counted after it, so the cap holds even with
many requests under way. A request that would fit once others release what they do not need waits for them.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import math
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import Context, ContextVar
from dataclasses import dataclass
from heapq import heappop, heappush

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


NO_SPEND = Spend()


def spend_of_usage(usage: Usage) -> Spend:
    return Spend(usage.cost_usd, usage.input_tokens + usage.output_tokens, usage.llm_calls)


_dispensable: ContextVar[bool] = ContextVar("dispensable", default=False)


@contextmanager
def optional_request() -> Iterator[None]:
    """Mark an unusually large request that can be left out: if it no longer fits, the budget is not yet exhausted."""
    token = _dispensable.set(True)
    try:
        yield
    finally:
        _dispensable.reset(token)


def copy_payer() -> Context:
    """Return a context that has nothing but who pays: the budget's account and the user's allowance of the caller."""
    context = Context()
    context.run(_account.set, _account.get())
    context.run(_allowance.set, _allowance.get())
    return context


# The place of the row in progress among those of its run; what belongs to no row goes first.
place_in_run: ContextVar[int] = ContextVar("place_in_run", default=0)


class WaitQueue:
    """A queue of requests that wait until others release something. One that is woken looks again, and waits again if
    it is gone.

    The row that began first is served first, so that rows are finished before others are begun: the first results come
    early, and at a cap on spending few rows are half done.
    """

    def __init__(self) -> None:
        self._count = itertools.count()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    async def next(self) -> None:
        woken = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (place_in_run.get(), next(self._count), woken))
        try:
            await woken
        except asyncio.CancelledError:
            # Else what was released for it would be lost on those behind it.
            if not woken.cancelled():
                self.wake_first()
            raise

    def wake_first(self) -> None:
        while self._waiting:
            *_, woken = heappop(self._waiting)
            # One that was cancelled while it waited is done.
            if not woken.done():
                woken.set_result(None)
                return

    def wake(self) -> None:
        """Wake all in their order."""
        for _ in range(len(self._waiting)):
            self.wake_first()


class Allowance:
    """The dollars that one piece of work may spend of its user's limit.

    They are held in the ledger before they are spent, in amounts that last for many requests. What is not spent is
    released when the work ends.
    """

    def __init__(self, hold_id: str, hold: Callable[[float, float], Awaitable[float]], words: str) -> None:
        """`hold(more, spent)` holds at least so many more dollars and returns how many, or 0 if the limit is reached.
        `words` name the limit in errors."""
        self.hold_id = hold_id
        self.words = words
        self.spent = 0.0
        self.exhausted = False
        self._hold = hold
        self._granted = self._reserved = 0.0
        self._holding = asyncio.Lock()
        self._waiting = WaitQueue()
        self._is_closed = False

    @property
    def spent_so_far(self) -> tuple[str, float]:
        """Return the hold and the dollars spent of it, to be stored with the results in case the process dies."""
        return self.hold_id, self.spent

    async def cover(self, usd: float) -> bool:
        """Reserve so many dollars; return True if they are available. Waits for what others reserved and may not
        need."""
        # A request of a price of 0 needs no reservation, so a limit that is used up does not stop local models.
        while usd > 0:
            async with self._holding:
                short = self.spent + self._reserved + usd - self._granted
                if short > ROUNDING_USD and not self._is_closed:
                    more = await self._hold(short, self.spent)
                    self._granted += more
                    short -= more
                if short <= ROUNDING_USD:
                    break
                if not self._reserved or self._is_closed:
                    return False
                # Awaited outside the lock, so that others can reserve in the meantime.
                waiting = self._waiting.next()
            await waiting
        self._reserved += usd
        return True

    def settle(self, reserved: float, used: float) -> None:
        self._reserved = max(0.0, self._reserved - reserved)
        self.spent += used
        # Differences of floats leave dust behind, which would look like a request still under way.
        if self._reserved < ROUNDING_USD:
            self._reserved = 0.0
        self._waiting.wake()

    def close(self) -> None:
        """Let requests of this work that are still under way take nothing more."""
        self._is_closed = True
        self._waiting.wake()


# Sums of floats are not exact; a billionth of a dollar is far below any price.
ROUNDING_USD = 1e-9

_allowance: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


def current_allowance() -> Allowance | None:
    """Return the allowance of the work under way, or None if its user has no limit."""
    return _allowance.get()


@contextmanager
def use_allowance(allowance: Allowance) -> Iterator[None]:
    """Charge what is bought inside, by this task and the tasks it starts, to the allowance."""
    token = _allowance.set(allowance)
    try:
        yield
    finally:
        _allowance.reset(token)
        allowance.close()


class Account:
    """The amounts spent and reserved of a budget."""

    def __init__(self, budget: Budget, by_others: Spend = NO_SPEND) -> None:
        self.budget = budget
        self.spent = NO_SPEND
        self.spent_by_others = by_others
        self.exhausted = ""
        self.held = NO_SPEND
        self.waiting = WaitQueue()


def over_budget_error(account: Account, cap: str, advice: str) -> OverBudget:
    # The budget is not exhausted by what can be left out: smaller requests may still fit.
    if not _dispensable.get():
        account.exhausted = cap
    return OverBudget(f"The cap of {cap} is reached.", advice=advice)


def release_reserved(account: Account, reserved: Spend) -> None:
    account.held -= reserved
    account.waiting.wake()


_account: ContextVar[Account | None] = ContextVar("account", default=None)


class Budget:
    """Caps on dollars, tokens and calls; None is no cap."""

    def __init__(self, *, usd: float | None = None, tokens: int | None = None, calls: int | None = None) -> None:
        self.usd = usd
        self.tokens = tokens
        self.calls = calls
        self.unpriced: set[str] = set()
        """Models without a known price: the cap on dollars does not cover them."""
        self._common = Account(self)

    @contextmanager
    def separate_account(self, before: Spend = NO_SPEND) -> Iterator[None]:
        """Give the work inside, in this task and the tasks it starts, the whole cap minus what it spent `before`.

        A server works for many users, and none of them is to pay for the others.
        """
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
    def spent_by_others(self) -> Spend:
        """Return what other processes have spent on the same run."""
        return self._open.spent_by_others

    @spent_by_others.setter
    def spent_by_others(self, amount: Spend) -> None:
        self._open.spent_by_others = amount

    @property
    def needs_estimates(self) -> bool:
        return self.usd is not None or self.tokens is not None or current_allowance() is not None

    @property
    def exhausted(self) -> str:
        """Return the cap that was reached, or "". Once it is reached, nothing new should be started."""
        return self._open.exhausted

    @property
    def first_cap(self) -> str:
        """Return the first cap that is set, such as "$5"."""
        return self._reached(Spend(math.inf, sys.maxsize, sys.maxsize))

    async def reserve(self, amount: Spend) -> None:
        account = self._open
        while True:
            if reached := self._reached(account.spent + account.spent_by_others + amount):
                raise over_budget_error(account, reached, "Raise the cap to go on.")
            if not self._reached(account.spent + account.spent_by_others + account.held + amount):
                break
            await account.waiting.next()
        # The budget of the process first, then the user's allowance: the second may have to ask the database.
        account.held += amount
        if (allowance := current_allowance()) is None:
            return
        is_covered = False
        try:
            is_covered = await allowance.cover(amount.usd)
        finally:
            # Also if it is cancelled while it waits: the amount must be free again.
            if not is_covered:
                release_reserved(account, amount)
        if not is_covered:
            allowance.exhausted = allowance.exhausted or not _dispensable.get()
            raise over_budget_error(account, allowance.words, "Ask an admin to raise it, or wait for the next month.")

    def settle(self, reserved: Spend, used: Spend) -> None:
        account = self._open
        account.spent += used
        release_reserved(account, reserved)
        if (allowance := current_allowance()) is not None:
            allowance.settle(reserved.usd, used.usd)

    @asynccontextmanager
    async def purchase(self, usd: float) -> AsyncIterator[None]:
        """Charge a known price for what is done inside; a failure is free."""
        price, used = Spend(usd), NO_SPEND
        await self.reserve(price)
        try:
            yield
            used = price
        finally:
            self.settle(price, used)

    def warn_unpriced(self, model: str) -> None:
        if model not in self.unpriced:
            self.unpriced.add(model)
            log.warning(
                "The price of %s is not known: its tokens are counted, but the cap on dollars cannot hold.", model
            )

    def _reached(self, total: Spend) -> str:
        """Return the cap that would be exceeded, or ""."""
        if self.calls is not None and total.calls > self.calls:
            return f"{self.calls} model calls"
        if self.tokens is not None and total.tokens > self.tokens:
            return f"{self.tokens:,} tokens"
        if self.usd is not None and total.usd > self.usd + ROUNDING_USD:
            return f"${self.usd:g}"
        return ""
