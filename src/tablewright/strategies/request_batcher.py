"""Batch the prompts of rows with short texts into shared model calls.

While calls are free, the rows that are there are spread over them, which answers them sooner; once as many calls are in
flight as may be, waiting rows collect into fuller batches, which saves instructions.

Each row's reply is checked against its own texts, and a row that fails is asked again alone. Shared replies are cached
for each row as if it had been asked alone, so a later run finds them whatever its other rows are."""

from __future__ import annotations

import asyncio
import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import BaseModel

from tablewright.domain.retrieved import track_documents, tracked_documents
from tablewright.domain.run import Usage, UsageMeter, measure_usage, record_usage
from tablewright.llm.budget import copy_payer, optional_request, place_in_run
from tablewright.llm.tasks.decision import Decision, Outcome, Prompt, answers_by_name, decide, reply_by_name
from tablewright.llm.text_budget import TEXT_LIMITS, RequestBatch
from tablewright.strategies.strategy import ROWS_PER_CALL, ModelCalls, Task, Tell

if TYPE_CHECKING:
    from tablewright.llm.model import LanguageModel

# Rows that start at the same moment may not have announced themselves yet.
GRACE_SECONDS = 0.05
# The longest time that a row waits for others on their way.
LINGER_SECONDS = 0.5
# Rows are spread over free calls in batches of at least so many. Fewer: ten rows take more than two calls, each with
# the instructions; more: rows of small tables wait for the answers of others.
MIN_SHARED_ROWS = 5

SHARED_INSTRUCTIONS = """

Several rows are asked at once, each under its own number. What is said above of one row holds for each of them by \
itself: use for a row nothing but what stands under its number, and number its texts or results as they are there."""


def rows_per_call(task: Task) -> int:
    return int(task.params.get(ROWS_PER_CALL.name, ROWS_PER_CALL.default))


# A row's part of a shared answer, and its share of the usage.
SharedReply: TypeAlias = "tuple[BaseModel | None, Usage]"
Waiter: TypeAlias = "asyncio.Future[SharedReply]"
# Prompts share a call only if they have the same instructions and the same form of reply.
Kind: TypeAlias = "tuple[str, type[BaseModel]]"


def build_shared_prompt(alone: tuple[Prompt, ...]) -> Prompt:
    """Return one prompt for several rows from the prompts for each row alone."""
    texts = list_results_once(alone)
    rows = "\n\n".join(f"=== ROW {number} ===\n{text}" for number, text in enumerate(texts, start=1))
    refers = " A result that is given as [3] of ROW 1 is the same page as that one." if alone[0].results else ""
    return Prompt(
        instructions=f"{alone[0].instructions}{SHARED_INSTRUCTIONS}{refers}",
        text=rows,
        reply=reply_by_name("Rows", tuple(f"row {number}" for number in range(1, len(alone) + 1)), alone[0].reply),
        max_tokens=sum(prompt.max_tokens for prompt in alone),
    )


def list_results_once(alone: Sequence[Prompt]) -> list[str]:
    """Return the text of each row, in which a search result of an earlier row is only referred to. Another snippet of
    the page is shown."""
    first: dict[str, tuple[str, str]] = {}
    texts = []
    for row, prompt in enumerate(alone, start=1):
        text = prompt.text
        for number, (page, snippet) in enumerate(prompt.results, start=1):
            own = f"[{number}] of ROW {row}", snippet
            place, shown = known = first.setdefault(page, own)
            if known != own:
                more = "" if snippet == shown else f" — {snippet}"
                text = text.replace(f"\n[{number}] {page} — {snippet}\n", f"\n[{number}] {place}{more}\n", 1)
        texts.append(text)
    return texts


@dataclass(eq=False)
class OpenBatch(RequestBatch[Prompt]):
    """Prompts for single rows that wait to share a call."""

    waiting: list[Waiter] = field(default_factory=list)
    slots: list[BatchSlot] = field(default_factory=list)
    documents: set[str] = field(default_factory=set)
    """The user's documents that the rows are about: the shared answer is deleted with any of them."""
    place: int = sys.maxsize
    """The place of the row among them that began first."""
    timer: asyncio.TimerHandle | None = None
    asking: asyncio.Task[None] | None = None
    """The call, which other rows may join until its turn has come."""


class RequestBatcher:
    """Asks a model about several rows at once. Without a model, each slot uses the fallback."""

    def __init__(
        self,
        model: LanguageModel | None,
        *,
        rows: int = TEXT_LIMITS.rows_per_call,
        calls: ModelCalls | None = None,
    ) -> None:
        self.model = model
        self._rows = rows
        self._calls = calls or ModelCalls(1)
        self._shared_rows: Counter[Kind] = Counter()
        self._failed_rows: Counter[Kind] = Counter()
        self._coming: set[BatchSlot] = set()
        self._open: dict[Kind, OpenBatch] = {}
        self._asking: set[asyncio.Task[None]] = set()

    def slot(self) -> BatchSlot:
        return BatchSlot(self)

    def expect(self, slot: BatchSlot) -> None:
        self._coming.add(slot)
        self._calls.rows_to_come.add(slot)

    def leave(self, slot: BatchSlot) -> None:
        """Note that a row asks no more."""
        self._calls.rows_to_come.discard(slot)
        self.stop_expecting(slot)

    def stop_expecting(self, slot: BatchSlot) -> None:
        """Note that a row waits or asks alone; once none is on its way, send the open batches."""
        self._coming.discard(slot)
        if not self._coming and self._open:
            asyncio.get_running_loop().call_later(GRACE_SECONDS, self._send_all)

    async def decide(self, decision: Decision[Any, Any], asked: Any, tell: Tell, slot: BatchSlot) -> Outcome[Any]:
        model = self.model
        if model is None:
            return await decide(decision, asked, None, tell)
        prompt = decision.prompt(asked)
        request: dict[str, Any] = {"instructions": prompt.instructions, "prompt": prompt.text}
        request["max_tokens"] = prompt.max_tokens
        reply: BaseModel | None = None
        is_short = len(prompt.text) <= model.text_room // TEXT_LIMITS.shared_call_parts
        # A row whose answer is cached must not wait for others, or pay a part of their call.
        kind = prompt.instructions, prompt.reply
        if self._pays_for(kind) and is_short and not await model.has_answer(**request, output=prompt.reply):
            reply, share = await self._ask_together(model, kind, prompt, slot)
            record_usage(share)
        self.stop_expecting(slot)
        # With no shared reply, or one that fails its check, the row is asked alone here.
        with measure_usage() as again:
            outcome = await decide(decision, asked, model, tell, reply, prompt)
        if reply is not None:
            self._shared_rows[kind] += 1
            self._failed_rows[kind] += bool(again.usage.llm_calls or outcome.left_out or outcome.degraded)
            # Under the row's own prompt, as if it had been asked alone.
            await model.store_answer(reply, **request)
        return outcome

    def _pays_for(self, kind: Kind) -> bool:
        """Return True if rows share calls of this kind."""
        # Judged after this many shared rows: if most of them had to be asked again alone, the model is too small for
        # it.
        shared = self._shared_rows[kind]
        return self._rows > 1 and (shared < 5 or 2 * self._failed_rows[kind] <= shared)

    async def _ask_together(self, model: LanguageModel, kind: Kind, prompt: Prompt, slot: BatchSlot) -> SharedReply:
        """Return the row's part of a shared answer; no answer if no other row joined the batch."""
        loop = asyncio.get_running_loop()
        size = len(prompt.text)
        if (started := self._open.get(kind)) and not started.fits(size):
            self._send(kind)
            self._open.pop(kind, None)
        batch = self._open.setdefault(kind, OpenBatch(room=model.text_room, most=self._rows))
        waiter: Waiter = loop.create_future()
        batch.add(prompt, size)
        batch.waiting.append(waiter)
        waiter.add_done_callback(lambda _: self._cancel_if_unwanted(kind, batch))
        if batch.asking is None:
            batch.slots.append(slot)
        else:
            self._calls.rows_to_come.discard(slot)
        # The task that asks has a context of its own and would not know them.
        batch.documents.update(tracked_documents())
        batch.place = min(batch.place, place_in_run.get())
        if len(batch.items) >= self._enough_rows:
            self._send(kind)
        elif batch.timer is None and batch.asking is None:
            batch.timer = loop.call_later(LINGER_SECONDS, self._send, kind)
        self.stop_expecting(slot)
        return await waiter

    @property
    def _enough_rows(self) -> int:
        """Return how many rows a batch has when it waits for no further ones."""
        rows, free = len(self._calls.rows_to_come), self._calls.free
        if not free:
            return self._rows
        # As many calls as it takes, or as are free and would not be too small; the rows are spread evenly over them.
        calls = max(math.ceil(rows / self._rows), min(free, rows // MIN_SHARED_ROWS), 1)
        return min(self._rows, max(MIN_SHARED_ROWS, math.ceil(rows / calls)))

    def _send_all(self) -> None:
        if not self._coming:
            for kind in list(self._open):
                self._send(kind)

    def _send(self, kind: Kind) -> None:
        batch = self._open.get(kind)
        if batch is None:
            return
        if self._calls.free or batch.is_full:
            del self._open[kind]
        if batch.asking is not None:
            return
        if batch.timer is not None:
            batch.timer.cancel()
        # Counted now, so that the next batch knows of it although its task has not run yet.
        self._calls.begun += 1
        self._calls.rows_to_come.difference_update(batch.slots)
        # In its own context, so that the usage is split among the rows instead of counting for the first one.
        batch.asking = asyncio.get_running_loop().create_task(self._ask_in_turn(kind, batch), context=copy_payer())
        self._asking.add(batch.asking)
        batch.asking.add_done_callback(self._end_call)

    def _end_call(self, task: asyncio.Task[None]) -> None:
        self._calls.begun -= 1
        self._asking.discard(task)

    async def _ask_in_turn(self, kind: Kind, batch: OpenBatch) -> None:
        place_in_run.set(batch.place)
        async with self._calls.turn():
            if self._open.get(kind) is batch:
                del self._open[kind]
            await self._ask(batch)

    def _cancel_if_unwanted(self, kind: Kind, batch: OpenBatch) -> None:
        """Cancel the call of a batch if all its rows were cancelled."""
        if all(each.done() for each in batch.waiting):
            if self._open.get(kind) is batch:
                del self._open[kind]
            if batch.asking is not None:
                batch.asking.cancel()

    async def _ask(self, batch: OpenBatch) -> None:
        assert self.model is not None
        reply: Any = None
        meter = UsageMeter()
        try:
            with measure_usage(meter), optional_request(), track_documents(sorted(batch.documents)):
                # A batch of one is no batch: the row asks alone, with its usual prompt.
                if len(batch.items) > 1:
                    prompt = build_shared_prompt(tuple(batch.items))
                    reply = await self.model.ask(
                        instructions=prompt.instructions,
                        prompt=prompt.text,
                        output=prompt.reply,
                        max_tokens=prompt.max_tokens,
                    )
        except Exception:
            # Each row then asks alone, and reports the error itself.
            pass
        finally:
            replies = [None] * len(batch.items) if reply is None else answers_by_name(reply)
            shares = split_usage(meter.usage, len(batch.items))
            for waiter, one, share in zip(batch.waiting, replies, shares, strict=True):
                if not waiter.done():
                    waiter.set_result((one, share))


class BatchSlot:
    """One row's access to the batcher."""

    def __init__(self, batcher: RequestBatcher) -> None:
        self._batcher = batcher
        self._on_the_way = False

    @property
    def model(self) -> LanguageModel | None:
        return self._batcher.model

    @contextmanager
    def on_the_way(self) -> Iterator[None]:
        """Announce that the row will ask soon, so that others wait a little for it."""
        self._on_the_way = True
        self._batcher.expect(self)
        try:
            yield
        finally:
            self._on_the_way = False
            self._batcher.leave(self)

    async def decide(self, decision: Decision[Any, Any], asked: Any, tell: Tell) -> Outcome[Any]:
        try:
            return await self._batcher.decide(decision, asked, tell, self)
        finally:
            if self._on_the_way:
                self._batcher.expect(self)


def split_usage(usage: Usage, rows: int) -> list[Usage]:
    """Return the usage of each row: equal parts of tokens and dollars; the call counts for the first."""
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
