"""A conversation with the adviser, on the sample web."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tablewright.domain.model import Table
from tablewright.domain.shortlist import ChatReply, ShortlistState
from tablewright.services import Services
from tablewright.settings import Settings
from tests.operating import shortlist_turn

FORM = (
    "/form product: electric kettle | budget: 50 GBP | must: Variable temperature = yes; Capacity >= 1 l "
    "| nice: Weight < 1.2 kg; quiet | avoid: Material contains plastic | region: UK"
)


def on_sample(home: Path, **values: str) -> Settings:
    return Settings(home=str(home), search="sample", fetch_delay="0", **values)


@dataclass
class Chat:
    app: Services
    state: ShortlistState
    replies: list[ChatReply] = field(default_factory=list)

    async def say(self, *messages: str) -> ChatReply:
        for message in messages:
            self.state, reply = await shortlist_turn(self.app, self.state.id, message)
            self.replies.append(reply)
        return self.replies[-1]

    async def table(self) -> Table:
        return await self.app.load(self.state.table_id)

    @property
    def buttons(self) -> tuple[str, ...]:
        return self.replies[-1].buttons


@asynccontextmanager
async def chatting(settings: Settings, state_id: str = "") -> AsyncIterator[Chat]:
    async with Services.open(settings) as app:
        state = await app.store.shortlists.get(state_id) if state_id else await app.store.shortlists.start()
        yield Chat(app=app, state=state)


def counted(table: Table, name: str) -> int:
    return sum(row.cell(name).value is not None for row in table.rows)
