"""The composition root and the library's front door: reads the settings, chooses the parts, joins them.

async with Services.open() as services:
    tables = await services.tables()
"""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tablewright.domain.access import METERED, Acting, Metered, Person
from tablewright.domain.history import TableSummary
from tablewright.domain.model import Row, RowId, Table
from tablewright.domain.research import Extent
from tablewright.domain.run import ACTOR, Run
from tablewright.domain.shortlist import ShortlistLimits
from tablewright.engine.changes import Changes
from tablewright.engine.fill import Fill
from tablewright.engine.outcome import Filled
from tablewright.engine.policy import Terms
from tablewright.engine.rows import read_windows
from tablewright.errors import NotFound
from tablewright.jobs.jobs import Jobs, Toolboxes
from tablewright.journeys.enrich import OpenTools
from tablewright.journeys.files import KnownFile
from tablewright.journeys.refresh import RefreshRound
from tablewright.logs import hide_secrets_of
from tablewright.settings import Settings
from tablewright.settings_sources import load_settings
from tablewright.store.home import make_home
from tablewright.store.ledger import MEGABYTE
from tablewright.store.store import Store
from tablewright.store.table_details import Views
from tablewright.strategies.strategy import Need, Strategy, Tools, find_strategy
from tablewright.temporary import remove_abandoned
from tablewright.values.money import BUNDLED, Rates, read_rates

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from tablewright.assembly import Toolbox
    from tablewright.corpus.parse.parser import Parser
    from tablewright.domain.run import Usage
    from tablewright.journeys.ask.members import RowTable
    from tablewright.sources.search.provider import SearchFunction, SearchProvider
    from tablewright.strategies.strategy import RowFunction

# Models, the web and what they stand on take a second to import. Commands that need none of it do not wait for it:
# those imports are in the functions that need them.

__all__ = [
    "Fill",
    "Filled",
    "KnownFile",
    "RefreshRound",
    "RowFunction",
    "SearchFunction",
    "SearchProvider",
    "Services",
    "Strategy",
]


READY_SECONDS = 5.0
PATIENCE = 600.0
"""Seconds for which a database that is gone is waited for, once it was there."""


class Services:
    def __init__(self, settings: Settings, store: Store, actor: str, stack: AsyncExitStack) -> None:
        self.toolboxes = Toolboxes(settings, store, stack)
        self.server = self
        """The services of the process, whoever acts with a copy of them."""
        self.row_tables: dict[int, list[RowTable]] = {}
        self.turns_under_way: set[str] = set()
        self.changes = Changes(store, actor)
        self.store = store
        self.actor = actor
        """In whose name it works."""
        self.jobs = Jobs(store, self.toolboxes, stack, self._services_for)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        settings: Settings | None = None,
        actor: str = "",
        *,
        door: str = "library",
        search: SearchProvider | SearchFunction | None = None,
        model: Model | None = None,
        parsers: Mapping[str, Parser] | None = None,
    ) -> AsyncIterator[Services]:
        """`search` and `model` are objects in place of those that the settings name; `search` may be a function.
        `parsers` read documents, each under the ending of its files. `door` is how whoever acts has come in: it stands
        in the audit log beside their name."""
        settings = settings or load_settings()
        provider: SearchProvider | None = None
        if search is not None:
            from tablewright.sources.search.provider import as_provider

            provider = as_provider(search)
            settings = replace(settings, search=provider.name)
        if model is not None:
            settings = replace(settings, model=f"{model.system}:{model.model_name}")
        if not settings.database_url:
            make_home(settings.home_folder)
        await asyncio.to_thread(remove_abandoned, settings.home_folder / "uploads")
        async with await Store.open(settings.database) as store, AsyncExitStack() as stack:
            store.database.patience = PATIENCE
            store.database.set_limits(usual_limits(settings))
            store.database.acting = Acting(actor=actor or whoami(), door=door)
            services = cls(settings, store, actor or whoami(), stack)
            if provider is not None or model is not None or parsers:
                from tablewright.assembly import ProvidedObjects

                services.toolboxes.provided = ProvidedObjects(search=provider, model=model, parsers=parsers or {})
            try:
                yield services
            finally:
                await services.jobs.leave()

    async def tables(self) -> list[TableSummary]:
        return await self.store.tables.all()

    async def load(self, name_or_id: str) -> Table:
        """With all its rows, in memory."""
        return await self.store.tables.load((await self.table(name_or_id)).id)

    async def rows(self, table_id: str) -> AsyncIterator[Row]:
        """All of them, in their order, however many: `async for row in services.rows(table_id)`."""
        async for window in read_windows(self.store, table_id):
            for row in window.rows:
                yield row

    async def page(self, table_id: str, *, after: RowId = 0, limit: int = 100) -> Sequence[Row]:
        """The rows that come after one of them, at most so many; fewer where they are long, and none at the end."""
        return (await self.store.tables.window(table_id, after=after, limit=limit)).rows

    async def rows_by_id(self, table_id: str, row_ids: Sequence[RowId]) -> dict[RowId, Row]:
        return {row.id: row for row in (await self.store.tables.rows(table_id, row_ids)).rows}

    async def row(self, table_id: str, row_id: RowId) -> Row:
        """Raises NotFound where the table has no such row."""
        found = await self.rows_by_id(table_id, [row_id])
        if row_id not in found:
            raise NotFound(f"Table {table_id} has no row {row_id}.")
        return found[row_id]

    async def count(self, table_id: str) -> int:
        return await self.store.tables.count(table_id)

    def acting(
        self, actor: str, person: Person | None = None, *, door: str = "library", patience: float | None = None
    ) -> Services:
        """The same, in somebody else's name: that is who stands in the history. With `person` they see only what is
        theirs or shared with them, and what they make is theirs. `patience`: seconds that they wait for a database that
        is away, where that is less than usual."""
        other = copy(self)
        other.actor = actor
        own = Acting(actor=actor, door=door) if person is None else Acting(person=person, actor=person.name, door=door)
        other.store = self.store.seen_by(own, patience)
        other.jobs = self.jobs.seen_by(other.store)
        other.changes = Changes(other.store, actor)
        return other

    @property
    def settings(self) -> Settings:
        return self.toolboxes.settings

    @settings.setter
    def settings(self, settings: Settings) -> None:
        self.toolboxes.settings = settings

    @property
    def person(self) -> Person | None:
        """Who acts through a server; None for the owner of the machine."""
        return self.store.database.acting.person

    def use_settings(self, settings: Settings) -> None:
        """Use other settings from now on, for all who are served; runs in progress keep theirs."""
        hide_secrets_of(settings)
        self.toolboxes.use_settings(settings)
        self.store.database.set_limits(usual_limits(settings))

    async def check_ready(self, *, away_for: float = -1.0) -> None:
        """Fails unless the database answers. With `away_for` it is asked only after it was away for so many seconds."""
        if self.store.database.away_for > away_for:
            await self.store.database.probe(READY_SECONDS)

    @property
    def views(self) -> Views:
        """How people look at tables: which rows, and how the columns are laid out."""
        return self.store.views

    @asynccontextmanager
    async def _services_for(self, run: Run) -> AsyncIterator[Services]:
        """In the name of the user who started the run, with a budget of its own."""
        person = await self.store.users.by_id(run.person) if run.person else None
        door = "worker" if person else self.store.database.acting.door
        with self._apart(run.usage):
            yield self.acting(str(run.spec.get(ACTOR) or self.actor), person, door=door)

    @property
    def outage(self) -> str:
        """What was asked in vain and never answered: the model, the search or the web; "" where all of them did, and
        offline, where nobody is asked."""
        opened = self.toolboxes.opened
        dead = opened.breaker.dead() if opened is not None and not self.is_offline else None
        return str(dead) if dead is not None else ""

    def acts(self, strategy: str) -> bool:
        """Whether running it has an effect outside the table, so that people must be asked first."""
        return bool(strategy) and find_strategy(strategy).kind == "action"

    @property
    def is_offline(self) -> bool:
        return self.settings.offline

    @property
    def warnings(self) -> list[str]:
        """What the person should know of the runs so far, in whole sentences."""
        unpriced = self.toolboxes.opened.unpriced if self.toolboxes.opened else ()
        return [f"The price of {model} is not known, so the cap on dollars does not hold for it." for model in unpriced]

    async def stored_text(self, content_hash: str) -> str | None:
        """The text that a cell's evidence points to, as it was retrieved."""
        return await self.store.pages.text(content_hash)

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
        return self.toolboxes.usual

    async def toolbox_for(self, table_id: str) -> Toolbox:
        return self.toolboxes.sample if await self.is_sample(table_id) else self.toolbox

    async def opener_for(
        self, table_id: str, settings: Settings | None = None, stack: AsyncExitStack | None = None
    ) -> OpenTools:
        """Return what opens the tools for a table; those for other settings than the usual ones close with `stack`."""
        if settings is None or settings == self.settings:
            toolbox = await self.toolbox_for(table_id)
        else:
            toolbox = self.toolboxes.build(settings, stack, is_sample=await self.is_sample(table_id))
        return partial(toolbox.open, seen=self.store)


def usual_limits(settings: Settings) -> dict[Metered, float]:
    """Return what each user may use who has no limit of their own."""
    return {what: most for what in METERED if (most := getattr(settings, f"quota_{what}")) is not None}


def whoami() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"
