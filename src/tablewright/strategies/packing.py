"""Rows whose texts are short share one model call. Each row's answers are checked against its own texts, and a row that
fails is asked alone; what was bought together is kept for each row as if it had been asked alone, so a later run finds
it whatever its neighbours are then."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import Context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from tablewright.decisions.decision import Outcome, Prompt, decide
from tablewright.decisions.extract import Extract, ExtractFields
from tablewright.decisions.extract_rows import accepted, of_row, prompt_for_rows
from tablewright.extraction.candidate import Candidate
from tablewright.strategies.strategy import Tell
from tablewright.table.usage import Meter, Usage, metered, spend

if TYPE_CHECKING:
    from pydantic import BaseModel

    from tablewright.models.model import LanguageModel

ROWS = 4
SHORT = 3_000
"""Characters of texts and fields that a row may have to be asked together with others: two fields, one page."""
FULL = 9_000
"""Characters of a common prompt, at most."""
TRIED = 6
"""Rows asked together before it is judged whether that pays: where most of them had to be asked again alone, the model
is too small for it."""
LINGER = 0.5
"""Seconds a row waits, at most, for others that are on their way."""

Found: TypeAlias = "dict[str, list[Candidate]]"
Together: TypeAlias = "tuple[BaseModel | None, list[str], Usage]"
"""A row's part of a common answer, the texts of its neighbours, and its share of what the answer took."""
Waiter: TypeAlias = "asyncio.Future[Together]"


@dataclass(eq=False)
class Pack:
    """Rows that wait to be asked together: the prompt that would ask for each alone, and who waits for its answer."""

    prompts: list[Prompt] = field(default_factory=list)
    waiting: list[Waiter] = field(default_factory=list)
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
        self._packs: dict[tuple[str, ...], Pack] = {}
        self._asking: set[asyncio.Task[None]] = set()

    def comes(self, seat: Seat) -> None:
        self._coming.add(seat)

    def is_there(self, seat: Seat) -> None:
        """It waits, or will not come: while nobody is on the way, nobody is waited for."""
        self._coming.discard(seat)
        if not self._coming and self._packs:
            asyncio.get_running_loop().call_soon(self._send_all)

    async def extract(self, asked: Extract, tell: Tell, seat: Seat) -> Outcome[Found]:
        prompt = ExtractFields().prompt(asked)
        if self._pays and len(prompt.text) <= SHORT and not await self._is_kept(prompt):
            reply, neighbours, share = await self._together(prompt, tuple(each.name for each in asked.fields), seat)
            spend(share)
            found = accepted(asked, reply, neighbours) if reply is not None else None
            self._shared_rows += reply is not None
            self._failed_rows += reply is not None and found is None
            if reply is not None and found is not None:
                await self.model.remember(
                    reply, instructions=prompt.instructions, prompt=prompt.text, max_tokens=prompt.max_tokens
                )
                return Outcome(decided=found)
        self.is_there(seat)
        return await decide(ExtractFields(), asked, self.model, tell)

    @property
    def _pays(self) -> bool:
        """Whether rows are asked together at all."""
        return self._rows > 1 and (self._shared_rows < TRIED or 2 * self._failed_rows <= self._shared_rows)

    async def _is_kept(self, prompt: Prompt) -> bool:
        return await self.model.knows(
            instructions=prompt.instructions, prompt=prompt.text, output=prompt.reply, max_tokens=prompt.max_tokens
        )

    async def _together(self, prompt: Prompt, names: tuple[str, ...], seat: Seat) -> Together:
        """No answer for one that is alone."""
        loop = asyncio.get_running_loop()
        if (started := self._packs.get(names)) and started.size + len(prompt.text) > FULL:
            self._send(names)
        pack = self._packs.setdefault(names, Pack())
        waiter: Waiter = loop.create_future()
        pack.prompts.append(prompt)
        pack.waiting.append(waiter)
        if len(pack.prompts) >= self._rows:
            self._send(names)
        elif pack.timer is None:
            pack.timer = loop.call_later(LINGER, self._send, names)
        self.is_there(seat)
        return await waiter

    def _send_all(self) -> None:
        if not self._coming:
            for names in list(self._packs):
                self._send(names)

    def _send(self, names: tuple[str, ...]) -> None:
        pack = self._packs.pop(names, None)
        if pack is None:
            return
        if pack.timer is not None:
            pack.timer.cancel()
        # In a context of its own: what it takes is told to each of its rows, not to the one that came first.
        task = asyncio.get_running_loop().create_task(self._ask(pack, names), context=Context())
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)
        for waiter in pack.waiting:
            waiter.add_done_callback(lambda _: None if pack.still_waiting() else task.cancel())

    async def _ask(self, pack: Pack, names: tuple[str, ...]) -> None:
        from tablewright.models.budget import dispensable

        reply: Any = None
        meter = Meter()
        try:
            with metered(meter), dispensable():
                if len(pack.prompts) > 1:
                    prompt = prompt_for_rows(tuple(pack.prompts), names)
                    reply = await self.model.ask(
                        instructions=prompt.instructions,
                        prompt=prompt.text,
                        output=prompt.reply,
                        max_tokens=prompt.max_tokens,
                    )
        except Exception:
            pass  # whatever it was: each row asks alone then, and says what is wrong
        finally:
            texts = [prompt.text for prompt in pack.prompts]
            shares = shared(meter.usage, len(texts))
            for place, waiter in enumerate(pack.waiting):
                if not waiter.done():
                    part = None if reply is None else of_row(reply, place)
                    waiter.set_result((part, texts[:place] + texts[place + 1 :], shares[place]))


class Seat:
    """One row's place among those that are packed."""

    def __init__(self, packer: Packer) -> None:
        self._packer = packer

    @property
    def model(self) -> LanguageModel:
        return self._packer.model

    @contextmanager
    def on_the_way(self) -> Iterator[None]:
        """Around everything that a row does until it has asked, if it asks at all: others may wait for it a little."""
        self._packer.comes(self)
        try:
            yield
        finally:
            self._packer.is_there(self)

    async def extract(self, asked: Extract, tell: Tell) -> Outcome[Found]:
        return await self._packer.extract(asked, tell, self)


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
