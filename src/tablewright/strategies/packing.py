"""Rows whose prompts are short share one model call. Each row's reply is checked against its own texts, and a row that
fails is asked again alone; what was bought together is kept for each row as if it had been asked alone, so a later run
finds it whatever its neighbours are then."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import BaseModel, ConfigDict, create_model
from pydantic import Field as Key

from tablewright.decisions.decision import Decision, Outcome, Prompt, decide
from tablewright.domain.usage import Meter, Usage, metered, spend
from tablewright.models.document_scope import concerned, concerning
from tablewright.strategies.strategy import Parameter, Task, Tell

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel

ROWS = 8
SHORT = 4
"""A row may share a call if its prompt takes at most this part of the room that the model has for texts."""
TRIED = 6
"""Rows asked together before it is judged whether that pays: where most of them had to be asked again alone, the model
is too small for it."""
GRACE = 0.05
"""Seconds left to rows that begin at the same time, though none of them is known to be on its way yet."""
LINGER = 0.5
"""Seconds a row waits, at most, for others that are on their way."""

ROWS_A_CALL = Parameter(
    name="rows_a_call",
    help="How many rows with short texts share one model call, at most; 1: each has its own.",
    default=str(ROWS),
    least=1,
    most=20,
)


def rows_a_call(task: Task) -> int:
    return int(task.params.get(ROWS_A_CALL.name, ROWS))


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
        reply=reply_for_rows(alone[0].reply, len(alone)),
        max_tokens=sum(prompt.max_tokens for prompt in alone),
    )


@lru_cache(maxsize=256)
def reply_for_rows(reply: type[BaseModel], rows: int) -> type[BaseModel]:
    """A form with the reply of each row under its number."""
    fields: dict[str, Any] = {f"r{place}": (reply, Key(alias=f"row {place + 1}")) for place in range(rows)}
    return create_model("Rows", __config__=ConfigDict(populate_by_name=True), **fields)


@dataclass(eq=False)
class Pack:
    """Rows that wait to be asked together: the prompt that would ask for each alone, and who waits for its answer."""

    prompts: list[Prompt] = field(default_factory=list)
    waiting: list[Waiter] = field(default_factory=list)
    documents: set[str] = field(default_factory=set)
    """Of the user, that the rows are about: with one of them the common answer is forgotten."""
    timer: asyncio.TimerHandle | None = None

    @property
    def size(self) -> int:
        return sum(len(prompt.text) for prompt in self.prompts)

    def still_waiting(self) -> list[Waiter]:
        return [waiter for waiter in self.waiting if not waiter.done()]


class Packer:
    def __init__(self, model: LanguageModel, *, rows: int = ROWS) -> None:
        self.model = model
        self._rows = rows
        self._shared_rows = self._failed_rows = 0
        self._coming: set[Seat] = set()
        self._packs: dict[Kind, Pack] = {}
        self._asking: set[asyncio.Task[None]] = set()

    def comes(self, seat: Seat) -> None:
        self._coming.add(seat)

    def is_there(self, seat: Seat) -> None:
        """It waits, or will not come: while nobody is on the way, nobody is waited for."""
        self._coming.discard(seat)
        if not self._coming and self._packs:
            asyncio.get_running_loop().call_later(GRACE, self._send_all)

    async def decide(self, decision: Decision[Any, Any], asked: Any, tell: Tell, seat: Seat) -> Outcome[Any]:
        prompt = decision.prompt(asked)
        reply: BaseModel | None = None
        if self._pays and len(prompt.text) <= self.model.text_room // SHORT and not await self._is_kept(prompt):
            reply, share = await self._together(prompt, seat)
            spend(share)
        self.is_there(seat)
        outcome = await decide(decision, asked, self.model, tell, reply)
        if reply is not None:
            self._shared_rows += 1
            self._failed_rows += bool(outcome.left_out or outcome.degraded)
            await self.model.remember(
                reply, instructions=prompt.instructions, prompt=prompt.text, max_tokens=prompt.max_tokens
            )
        return outcome

    @property
    def _pays(self) -> bool:
        """Whether rows are asked together at all."""
        return self._rows > 1 and (self._shared_rows < TRIED or 2 * self._failed_rows <= self._shared_rows)

    async def _is_kept(self, prompt: Prompt) -> bool:
        return await self.model.knows(
            instructions=prompt.instructions, prompt=prompt.text, output=prompt.reply, max_tokens=prompt.max_tokens
        )

    async def _together(self, prompt: Prompt, seat: Seat) -> Together:
        """No answer for one that is alone."""
        loop = asyncio.get_running_loop()
        kind = prompt.instructions, prompt.reply
        if (started := self._packs.get(kind)) and started.size + len(prompt.text) > self.model.text_room:
            self._send(kind)
        pack = self._packs.setdefault(kind, Pack())
        waiter: Waiter = loop.create_future()
        pack.prompts.append(prompt)
        pack.waiting.append(waiter)
        pack.documents.update(concerned())
        if len(pack.prompts) >= self._rows:
            self._send(kind)
        elif pack.timer is None:
            pack.timer = loop.call_later(LINGER, self._send, kind)
        self.is_there(seat)
        return await waiter

    def _send_all(self) -> None:
        if not self._coming:
            for kind in list(self._packs):
                self._send(kind)

    def _send(self, kind: Kind) -> None:
        pack = self._packs.pop(kind, None)
        if pack is None:
            return
        if pack.timer is not None:
            pack.timer.cancel()
        # In a context of its own: what it takes is told to each of its rows, not to the one that came first.
        task = asyncio.get_running_loop().create_task(self._ask(pack), context=Context())
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)
        for waiter in pack.waiting:
            waiter.add_done_callback(lambda _: None if pack.still_waiting() else task.cancel())

    async def _ask(self, pack: Pack) -> None:
        from tablewright.models.budget import dispensable

        reply: Any = None
        meter = Meter()
        try:
            with metered(meter), dispensable(), concerning(sorted(pack.documents)):
                if len(pack.prompts) > 1:
                    prompt = prompt_for_rows(tuple(pack.prompts))
                    reply = await self.model.ask(
                        instructions=prompt.instructions,
                        prompt=prompt.text,
                        output=prompt.reply,
                        max_tokens=prompt.max_tokens,
                    )
        except Exception:
            pass  # whatever it was: each row asks alone then, and says what is wrong
        finally:
            shares = shared(meter.usage, len(pack.prompts))
            for place, waiter in enumerate(pack.waiting):
                if not waiter.done():
                    waiter.set_result((None if reply is None else getattr(reply, f"r{place}"), shares[place]))


class Seat:
    """One row's place among those that are packed."""

    def __init__(self, packer: Packer) -> None:
        self._packer = packer
        self._on_the_way = False

    @property
    def model(self) -> LanguageModel:
        return self._packer.model

    @contextmanager
    def on_the_way(self) -> Iterator[None]:
        """Around everything that a row does until it has asked all it asks: others may wait for it a little."""
        self._on_the_way = True
        self._packer.comes(self)
        try:
            yield
        finally:
            self._on_the_way = False
            self._packer.is_there(self)

    async def decide(self, decision: Decision[Any, Any], asked: Any, tell: Tell) -> Outcome[Any]:
        try:
            return await self._packer.decide(decision, asked, tell, self)
        finally:
            if self._on_the_way:
                self._packer.comes(self)


def shared(usage: Usage, rows: int) -> list[Usage]:
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
