"""Rows whose prompts are short share one model call. Each row's reply is checked against its own texts, and a row that
fails is asked again alone; what was bought together is kept for each row as if it had been asked alone, so a later run
finds it whatever its neighbours are then."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import BaseModel

from tablewright.decisions.decision import Decision, Outcome, Prompt, answers_by_name, decide, reply_by_name
from tablewright.domain.retrieved import concerned, concerning
from tablewright.domain.run import Meter, Usage, metered, spend
from tablewright.models.text_budget import ROWS_A_CALL, SHARED_CALL_SHARE, RequestBatch
from tablewright.strategies.strategy import Parameter, Task, Tell

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel

TRIED = 6
"""Rows asked together before it is judged whether that pays: where most of them had to be asked again alone, the model
is too small for it."""
GRACE = 0.05
"""Seconds left to rows that begin at the same time, though none of them is known to be on its way yet."""
LINGER = 0.5
"""Seconds a row waits, at most, for others that are on their way."""

SHARED_CALLS = Parameter(
    name="rows_a_call",
    help="How many rows with short texts share one model call, at most; 1: each has its own.",
    default=str(ROWS_A_CALL),
    least=1,
    most=20,
)


def rows_a_call(task: Task) -> int:
    return int(task.params.get(SHARED_CALLS.name, ROWS_A_CALL))


TOGETHER = """

Several rows are asked at once, each under its own number. What is said above of one row holds for each of them by \
itself: use for a row nothing but what stands under its number, and number its texts or results as they are there."""

Together: TypeAlias = "tuple[BaseModel | None, Usage]"
"""A row's part of a common answer, and its share of what the answer took."""
Waiter: TypeAlias = "asyncio.Future[Together]"
Kind: TypeAlias = "tuple[str, type[BaseModel]]"
"""What prompts must have in common to be asked together: the instructions and the form of the reply."""


def prompt_for_rows(alone: tuple[Prompt, ...]) -> Prompt:
    """One prompt out of those that would ask for each row alone."""
    rows = "\n\n".join(f"=== ROW {number} ===\n{prompt.text}" for number, prompt in enumerate(alone, start=1))
    return Prompt(
        instructions=alone[0].instructions + TOGETHER,
        text=rows,
        reply=reply_by_name("Rows", tuple(f"row {number}" for number in range(1, len(alone) + 1)), alone[0].reply),
        max_tokens=sum(prompt.max_tokens for prompt in alone),
    )


@dataclass(eq=False)
class OpenBatch(RequestBatch[Prompt]):
    """Prompts that would ask for each row alone, and wait to be asked together."""

    waiting: list[Waiter] = field(default_factory=list)
    documents: set[str] = field(default_factory=set)
    """Of the user, that the rows are about: with one of them the common answer is forgotten."""
    timer: asyncio.TimerHandle | None = None


class RequestBatcher:
    """Asks a model for several rows at once. Without a model, each slot decides by its fallback."""

    def __init__(self, model: LanguageModel | None, *, rows: int = ROWS_A_CALL) -> None:
        self.model = model
        self._rows = rows
        self._shared_rows = self._failed_rows = 0
        self._coming: set[BatchSlot] = set()
        self._open: dict[Kind, OpenBatch] = {}
        self._asking: set[asyncio.Task[None]] = set()

    def slot(self) -> BatchSlot:
        return BatchSlot(self)

    def expect(self, slot: BatchSlot) -> None:
        self._coming.add(slot)

    def stop_expecting(self, slot: BatchSlot) -> None:
        """It waits, or will not come: while nobody is on the way, nobody is waited for."""
        self._coming.discard(slot)
        if not self._coming and self._open:
            asyncio.get_running_loop().call_later(GRACE, self._send_all)

    async def decide(self, decision: Decision[Any, Any], asked: Any, tell: Tell, slot: BatchSlot) -> Outcome[Any]:
        model = self.model
        if model is None:
            return await decide(decision, asked, None, tell)
        prompt = decision.prompt(asked)
        request: dict[str, Any] = {"instructions": prompt.instructions, "prompt": prompt.text}
        request["max_tokens"] = prompt.max_tokens
        reply: BaseModel | None = None
        is_short = len(prompt.text) <= model.text_room // SHARED_CALL_SHARE
        if self._pays and is_short and not await model.knows(**request, output=prompt.reply):
            reply, share = await self._ask_together(model, prompt, slot)
            spend(share)
        self.stop_expecting(slot)
        outcome = await decide(decision, asked, model, tell, reply)
        if reply is not None:
            self._shared_rows += 1
            self._failed_rows += bool(outcome.left_out or outcome.degraded)
            await model.remember(reply, **request)
        return outcome

    @property
    def _pays(self) -> bool:
        """Return True if rows are asked together at all."""
        return self._rows > 1 and (self._shared_rows < TRIED or 2 * self._failed_rows <= self._shared_rows)

    async def _ask_together(self, model: LanguageModel, prompt: Prompt, slot: BatchSlot) -> Together:
        """No answer for one that is alone."""
        loop = asyncio.get_running_loop()
        kind = prompt.instructions, prompt.reply
        size = len(prompt.text)
        if (started := self._open.get(kind)) and not started.fits(size):
            self._send(kind)
        batch = self._open.setdefault(kind, OpenBatch(room=model.text_room, most=self._rows))
        waiter: Waiter = loop.create_future()
        batch.add(prompt, size)
        batch.waiting.append(waiter)
        batch.documents.update(concerned())
        if batch.is_full:
            self._send(kind)
        elif batch.timer is None:
            batch.timer = loop.call_later(LINGER, self._send, kind)
        self.stop_expecting(slot)
        return await waiter

    def _send_all(self) -> None:
        if not self._coming:
            for kind in list(self._open):
                self._send(kind)

    def _send(self, kind: Kind) -> None:
        batch = self._open.pop(kind, None)
        if batch is None:
            return
        if batch.timer is not None:
            batch.timer.cancel()
        # In a context of its own: what it takes is told to each of its rows, not to the one that came first.
        task = asyncio.get_running_loop().create_task(self._ask(batch), context=Context())
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)
        for waiter in batch.waiting:
            waiter.add_done_callback(lambda _: all(each.done() for each in batch.waiting) and task.cancel())

    async def _ask(self, batch: OpenBatch) -> None:
        from tablewright.models.budget import dispensable

        assert self.model is not None
        reply: Any = None
        meter = Meter()
        try:
            with metered(meter), dispensable(), concerning(sorted(batch.documents)):
                if len(batch.items) > 1:
                    prompt = prompt_for_rows(tuple(batch.items))
                    reply = await self.model.ask(
                        instructions=prompt.instructions,
                        prompt=prompt.text,
                        output=prompt.reply,
                        max_tokens=prompt.max_tokens,
                    )
        except Exception:
            pass  # whatever it was: each row asks alone then, and says what is wrong
        finally:
            replies = [None] * len(batch.items) if reply is None else answers_by_name(reply)
            shares = share_usage(meter.usage, len(batch.items))
            for waiter, one, share in zip(batch.waiting, replies, shares, strict=True):
                if not waiter.done():
                    waiter.set_result((one, share))


class BatchSlot:
    """The place of one row among those that are asked together."""

    def __init__(self, batcher: RequestBatcher) -> None:
        self._batcher = batcher
        self._on_the_way = False

    @property
    def model(self) -> LanguageModel | None:
        return self._batcher.model

    @contextmanager
    def on_the_way(self) -> Iterator[None]:
        """Around everything that a row does until it has asked all it asks: others may wait for it a little."""
        self._on_the_way = True
        self._batcher.expect(self)
        try:
            yield
        finally:
            self._on_the_way = False
            self._batcher.stop_expecting(self)

    async def decide(self, decision: Decision[Any, Any], asked: Any, tell: Tell) -> Outcome[Any]:
        try:
            return await self._batcher.decide(decision, asked, tell, self)
        finally:
            if self._on_the_way:
                self._batcher.expect(self)


def share_usage(usage: Usage, rows: int) -> list[Usage]:
    """Tokens and dollars in equal parts; the call itself counts for the first."""
    part = Usage(
        input_tokens=usage.input_tokens // rows,
        cached_tokens=usage.cached_tokens // rows,
        output_tokens=usage.output_tokens // rows,
        cost_usd=usage.cost_usd / rows,
    )
    first = Usage(
        llm_calls=usage.llm_calls,
        cache_hits=usage.cache_hits,
        input_tokens=usage.input_tokens - part.input_tokens * (rows - 1),
        cached_tokens=usage.cached_tokens - part.cached_tokens * (rows - 1),
        output_tokens=usage.output_tokens - part.output_tokens * (rows - 1),
        cost_usd=part.cost_usd,
    )
    return [first, *[part] * (rows - 1)]
