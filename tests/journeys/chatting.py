"""A conversation with the advisor whose every reply is checked: nothing is said of a product that does not stand in a
cell."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tablewright.app import Tablewright
from tablewright.decisions.explain_tradeoffs import requirements_told
from tablewright.decisions.replies import bears, pushes
from tablewright.settings import Settings
from tablewright.table.model import Table
from tablewright.table.shortlist import (
    ChatReply,
    ShortlistState,
)

FIRST = "I want a kettle with variable temperature, under £50"
SECOND = "Build quality, prefer stainless steel"


def on_sample(home: Path) -> Settings:
    return Settings(home=str(home), search="sample", fetch_delay="0")


@dataclass
class Chat:
    app: Tablewright
    state: ShortlistState
    replies: list[ChatReply] = field(default_factory=list)

    async def say(self, *messages: str) -> ChatReply:
        for message in messages:
            self.state, reply = await self.app.shortlist_turn(self.state.id, message)
            self.replies.append(reply)
            assert not pushes(reply.text)
            if self.state.phase == "advise":
                await self.check(reply, message)
        return self.replies[-1]

    async def check(self, reply: ChatReply, message: str) -> None:
        table = await self.table()
        asked = f"{requirements_told(self.state.requirements)} {message}"
        for said in (*reply.said, *(each for card in reply.cards for each in card.said)):
            assert bears(said, table, asked) == "", said.text

    async def table(self) -> Table:
        return await self.app.load(self.state.table_id)

    @property
    def buttons(self) -> tuple[str, ...]:
        return self.replies[-1].buttons


@asynccontextmanager
async def chatting(settings: Settings, state_id: str = "") -> AsyncIterator[Chat]:
    async with Tablewright.open(settings) as app:
        state = await app.shortlist(state_id) if state_id else await app.begin_shortlist()
        yield Chat(app=app, state=state)


def counted(table: Table, name: str) -> int:
    return sum(row.cell(name).value is not None for row in table.rows)
