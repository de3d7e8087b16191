"""The composition root: reads the settings, chooses the parts and joins them. All interfaces and the library use it.

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

from tablewright.domain.access import METERED_RESOURCES, ActingUser, MeteredResource, Person
from tablewright.domain.history import TableSummary
from tablewright.domain.model import Row, RowId, Struct, Table
from tablewright.domain.research import ResearchExtent
from tablewright.domain.run import ACTOR, Run
from tablewright.domain.shortlist import ShortlistLimits
from tablewright.engine.changes import TableChanges
from tablewright.engine.policy import RunPolicy
from tablewright.engine.rows import read_windows
from tablewright.engine.runs.jobs import Jobs, Toolboxes
from tablewright.errors import NotFound
from tablewright.logs import hide_secrets_of
from tablewright.settings import Settings
from tablewright.settings_sources import load_settings
from tablewright.store.database import make_home
from tablewright.store.ledger import MEGABYTE_BYTES
from tablewright.store.store import Store
from tablewright.store.table_details import Views
from tablewright.strategies.strategy import Need, OpenTools, Tools, find_strategy
from tablewright.temporary import remove_abandoned
from tablewright.values.money import BUNDLED_RATES, ExchangeRates, read_rates

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from tablewright.documents.parse.parser import Parser
    from tablewright.domain.run import Usage
    from tablewright.strategies.toolbox import Toolbox
    from tablewright.web.search.provider import SearchFunction, SearchProvider
    from tablewright.workflows.ask.query_rows import RowTable

# Models, the web and their libraries take a second to import. Commands without them must start at once, so these
# imports are in the functions that need them.


class DatabaseWaits(Struct, frozen=True):
    # A load balancer asks for readiness every few seconds, and must not wait longer.
    probe_seconds: float = 5.0
    # Long enough for a restart or a failover of a database server that was reachable before.
    restart_seconds: float = 600.0


DATABASE_WAITS = DatabaseWaits()


class Services:
    """The store, the runs, the tools and the changes, in the name of one actor."""

    def __init__(self, settings: Settings, store: Store, actor: str, stack: AsyncExitStack) -> None:
        self.toolboxes = Toolboxes(settings, store, stack)
        self.server = self
        """The services of the process, also in copies that act for a person."""
        self.row_tables: dict[int, list[RowTable]] = {}
        self.turns_under_way: set[str] = set()
        self.changes = TableChanges(store, actor)
        self.store = store
        self.actor = actor
        """The name that the history shows for changes."""
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
        """Open the services. `search` and `model` are objects that replace those of the settings; `search` may be a
        function. `parsers` read documents, each by file ending. `door` is the interface in use, which the audit log
        records with the actor's name."""
        settings = settings or load_settings()
        provider: SearchProvider | None = None
        if search is not None:
            from tablewright.web.search.provider import make_search_provider

            provider = make_search_provider(search)
            # Recorded with each run under its name, so that its cached results are not mixed with those of the
            # settings.
            settings = replace(settings, search=provider.name)
        if model is not None:
            settings = replace(settings, model=f"{model.system}:{model.model_name}")
        if not settings.database_url:
            make_home(settings.home_folder)
        # Files of killed processes are removed at the next start of any process.
        await asyncio.to_thread(remove_abandoned, settings.home_folder / "uploads")
        async with await Store.open(settings.database) as store, AsyncExitStack() as stack:
            # Only after the first connection: a wrong address must fail at once.
            store.database.patience = DATABASE_WAITS.restart_seconds
            store.database.set_limits(default_user_limits(settings))
            store.database.acting = ActingUser(actor=actor or current_user_name(), door=door)
            services = cls(settings, store, actor or current_user_name(), stack)
            if provider is not None or model is not None or parsers:
                from tablewright.strategies.toolbox import Overrides

                services.toolboxes.provided = Overrides(search=provider, model=model, parsers=parsers or {})
            try:
                yield services
            finally:
                # Runs in progress finish their rows while the store is still open.
                await services.jobs.leave()

    async def tables(self) -> list[TableSummary]:
        return await self.store.tables.all()

    async def load(self, name_or_id: str) -> Table:
        """Return the table with all its rows, in memory."""
        return await self.store.tables.load((await self.table(name_or_id)).id)

    async def rows(self, table_id: str) -> AsyncIterator[Row]:
        """Yield all rows in order, however many: `async for row in services.rows(table_id)`."""
        async for window in read_windows(self.store, table_id):
            for row in window.rows:
                yield row

    async def page(self, table_id: str, *, after: RowId = 0, limit: int = 100) -> Sequence[Row]:
        """Return at most `limit` rows after the row `after`; fewer if they are long, and none at the end."""
        return (await self.store.tables.window(table_id, after=after, limit=limit)).rows

    async def rows_by_id(self, table_id: str, row_ids: Sequence[RowId]) -> dict[RowId, Row]:
        return {row.id: row for row in (await self.store.tables.rows(table_id, row_ids)).rows}

    async def row(self, table_id: str, row_id: RowId) -> Row:
        """Return a row. Raise NotFound if the table does not have it."""
        found = await self.rows_by_id(table_id, [row_id])
        if row_id not in found:
            raise NotFound(f"Table {table_id} has no row {row_id}.")
        return found[row_id]

    async def count(self, table_id: str) -> int:
        return await self.store.tables.count(table_id)

    def acting(
        self, actor: str, person: Person | None = None, *, door: str = "library", patience: float | None = None
    ) -> Services:
        """Return the services in the name of `actor`, who appears in the history. With `person` they see only what they
        own or share, and what they create is theirs. `patience`: seconds to wait for a database that is away, if less
        than usual."""
        # A shallow copy: tools, tables of rows and the process's services are shared.
        other = copy(self)
        other.actor = actor
        own = (
            ActingUser(actor=actor, door=door)
            if person is None
            else ActingUser(person=person, actor=person.name, door=door)
        )
        other.store = self.store.seen_by(own, patience)
        other.jobs = self.jobs.seen_by(other.store)
        other.changes = TableChanges(other.store, actor)
        return other

    @property
    def settings(self) -> Settings:
        return self.toolboxes.settings

    @settings.setter
    def settings(self, settings: Settings) -> None:
        self.toolboxes.settings = settings

    @property
    def person(self) -> Person | None:
        """The user who acts through a server; None for the owner of the machine."""
        return self.store.database.acting.person

    def use_settings(self, settings: Settings) -> None:
        """Use other settings from now on, for all users; runs in progress keep theirs."""
        # Before they are used: the first request with a new key may be logged.
        hide_secrets_of(settings)
        self.toolboxes.use_settings(settings)
        self.store.database.set_limits(default_user_limits(settings))

    async def check_ready(self, *, away_for: float = -1.0) -> None:
        """Raise StoreError unless the database answers. With `away_for` it is asked only if it was away for longer."""
        if self.store.database.away_for > away_for:
            await self.store.database.probe(DATABASE_WAITS.probe_seconds)

    @property
    def views(self) -> Views:
        """The views of tables: which rows are shown, and how the columns are laid out."""
        return self.store.views

    @asynccontextmanager
    async def _services_for(self, run: Run) -> AsyncIterator[Services]:
        """Act in the name of the user who started the run, with a separate budget."""
        person = await self.store.users.by_id(run.person) if run.person else None
        door = "worker" if person else self.store.database.acting.door
        with self._separate_budget(run.usage):
            yield self.acting(str(run.spec.get(ACTOR) or self.actor), person, door=door)

    @property
    def outage(self) -> str:
        """The model, search or web that never answered; "" if all of them did, or offline."""
        opened = self.toolboxes.opened
        dead = opened.breaker.find_outage() if opened is not None and not self.is_offline else None
        return str(dead) if dead is not None else ""

    def has_side_effects(self, strategy: str) -> bool:
        """Return True if the strategy has effects outside the table, so that people must be asked first."""
        return bool(strategy) and find_strategy(strategy).kind == "action"

    @property
    def is_offline(self) -> bool:
        return self.settings.offline

    @property
    def warnings(self) -> list[str]:
        """Warnings about the runs so far, in whole sentences."""
        unpriced = self.toolboxes.opened.unpriced if self.toolboxes.opened else ()
        return [f"The price of {model} is not known, so the budget does not cover it." for model in unpriced]

    async def stored_text(self, content_hash: str) -> str | None:
        """Return the text that a cell's evidence points to, as it was retrieved."""
        return await self.store.pages.text(content_hash)

    @property
    def policy(self) -> RunPolicy:
        return RunPolicy.from_settings(self.settings)

    @property
    def rates(self) -> ExchangeRates:
        return read_rates(Path(self.settings.rates).expanduser()) if self.settings.rates else BUNDLED_RATES

    @property
    def research_extent(self) -> ResearchExtent:
        return ResearchExtent(**self.settings.part("research_"))

    @property
    def shortlist_limits(self) -> ShortlistLimits:
        return ShortlistLimits(**self.settings.part("shortlist_"))

    async def charge_files(self, paths: Sequence[Path]) -> None:
        def measure() -> int:
            return sum(path.stat().st_size for path in paths if path.is_file())

        if self.store.database.acting.person is not None:
            await self.charge_upload(await asyncio.to_thread(measure))

    async def charge_upload(self, size: int) -> None:
        """Count uploaded bytes towards a person's limit, even if the upload fails."""
        if self.store.database.acting.person is not None:
            await self.store.ledger.charge("uploads", size / MEGABYTE_BYTES)

    async def is_sample(self, table_id: str) -> bool:
        """Return True if the table came with Tablewright: its facts are fictional, and found in the sample web."""
        return await self.store.imports.is_sample(table_id)

    async def table(self, name_or_id: str) -> Table:
        """Return the table without its rows."""
        return await self.store.tables.find(name_or_id)

    @asynccontextmanager
    async def spending(self) -> AsyncIterator[None]:
        """Set a separate budget for paid work that is not a run. It is paid by the acting user; raise OverQuota if they
        have spent all they may this month."""
        await self.store.ledger.refuse_spent()
        async with self.jobs.paid_by_acting():
            with self._separate_budget():
                yield

    def _separate_budget(self, before: Usage | None = None) -> AbstractContextManager[None]:
        """Separate budgets on a server, which works for many. A command does one piece of work and needs none."""
        from tablewright.llm.budget import current_allowance

        return self.toolbox.apart(before) if self.jobs.serves_others or current_allowance() else nullcontext()

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
        """Return what opens the tools for a table; tools for other settings than the usual ones close with `stack`."""
        if settings is None or settings == self.settings:
            toolbox = await self.toolbox_for(table_id)
        else:
            toolbox = self.toolboxes.build(settings, stack, is_sample=await self.is_sample(table_id))
        return partial(toolbox.open, seen=self.store)


def default_user_limits(settings: Settings) -> dict[MeteredResource, float]:
    """Return the limits of users who have none of their own."""
    return {what: most for what in METERED_RESOURCES if (most := getattr(settings, f"quota_{what}")) is not None}


def current_user_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A container may run under a number that has no name.
        return "unknown"
