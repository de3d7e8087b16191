"""What all that the application does has in common: where things are kept, who acts, and who pays."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tablewright.domain.model import Table
from tablewright.domain.research import Extent
from tablewright.domain.shortlist import ShortlistLimits
from tablewright.engine.changes import Changes
from tablewright.engine.policy import Terms
from tablewright.jobs.jobs import Jobs
from tablewright.journeys.enrich import OpenTools
from tablewright.settings import SAMPLE_WEB, Settings
from tablewright.store.ledger import MEGABYTE
from tablewright.store.store import Store
from tablewright.strategies.strategy import Need, Tools
from tablewright.values.money import BUNDLED, Rates, read_rates

if TYPE_CHECKING:
    from tablewright.assembly import ProvidedObjects, Toolbox
    from tablewright.domain.usage import Usage
    from tablewright.journeys.ask.members import RowTable

AnyPath: TypeAlias = str | os.PathLike[str]


class Application:
    settings: Settings
    changes: Changes
    jobs: Jobs
    on_missing_model: Callable[[], None] | None
    store: Store
    actor: str
    _stack: AsyncExitStack
    _toolbox: Toolbox | None
    _given: ProvidedObjects | None
    _sample_toolbox: Toolbox | None
    row_tables: dict[int, list[RowTable]]
    turns_under_way: set[str]
    """The conversations in which a turn is being taken."""

    @property
    def terms(self) -> Terms:
        return Terms.from_settings(self.settings)

    @property
    def rates(self) -> Rates:
        return read_rates(Path(self.settings.rates).expanduser()) if self.settings.rates else BUNDLED

    @property
    def research_extent(self) -> Extent:
        return Extent(**self.settings.part("research_"))

    @property
    def shortlist_limits(self) -> ShortlistLimits:
        return ShortlistLimits(**self.settings.part("shortlist_"))

    async def charge_files(self, paths: Sequence[Path]) -> None:
        def measure() -> int:
            return sum(path.stat().st_size for path in paths if path.is_file())

        if self.store.database.acting.person is not None:
            await self.charge_upload(await asyncio.to_thread(measure))

    async def charge_upload(self, size: int) -> None:
        """Count bytes that a person sends through a server towards their limit, whatever becomes of them."""
        if self.store.database.acting.person is not None:
            await self.store.ledger.charge("uploads", size / MEGABYTE)

    async def is_sample(self, table_id: str) -> bool:
        """Whether the table came with Tablewright: what it is about is fictional, and is found in the sample web."""
        return await self.store.imports.is_sample(table_id)

    async def table(self, name_or_id: str) -> Table:
        """Without its rows."""
        return await self.store.tables.find(name_or_id)

    @asynccontextmanager
    async def spending(self) -> AsyncIterator[None]:
        """Around what may cost money and is no run: with a budget to itself, paid by the user it is done for, and
        refused to those who have spent all that they may this month."""
        await self.store.ledger.refuse_spent()
        async with self.jobs.paid_by_acting():
            with self._apart():
                yield

    def _apart(self, before: Usage | None = None) -> AbstractContextManager[None]:
        """A server does the work of many: there each piece of work has the budget to itself. A command does one."""
        from tablewright.models.budget import open_allowance

        return self.toolbox.apart(before) if self.jobs.serves_others or open_allowance() else nullcontext()

    async def open_tools(self, needs: Collection[Need]) -> Tools:
        return await self.toolbox.open(needs, self.store)

    @property
    def toolbox(self) -> Toolbox:
        from tablewright.assembly import NOTHING_GIVEN, Toolbox

        if self._toolbox is None:
            given = self._given or NOTHING_GIVEN
            self._toolbox = Toolbox(self.settings, self.store, self._stack, self.on_missing_model, given)
        return self._toolbox

    @property
    def sample_toolbox(self) -> Toolbox:
        from tablewright.assembly import Toolbox

        if self._sample_toolbox is None:
            self._sample_toolbox = Toolbox(replace(self.settings, **SAMPLE_WEB), self.store, self._stack)
        return self._sample_toolbox

    async def toolbox_for(self, table_id: str) -> Toolbox:
        return self.sample_toolbox if await self.is_sample(table_id) else self.toolbox

    async def opener_for(
        self, table_id: str, settings: Settings | None = None, stack: AsyncExitStack | None = None
    ) -> OpenTools:
        """Return what opens the tools for a table; those for other settings than the usual ones close with `stack`."""
        if settings is None or settings == self.settings:
            toolbox = await self.toolbox_for(table_id)
        else:
            from tablewright.assembly import NOTHING_GIVEN, Toolbox

            sample = await self.is_sample(table_id)
            settings = replace(settings, **SAMPLE_WEB) if sample else settings
            given = NOTHING_GIVEN if sample else self._given or NOTHING_GIVEN
            toolbox = Toolbox(settings, self.store, stack or self._stack, self.on_missing_model, given)
        return partial(toolbox.open, seen=self.store)
