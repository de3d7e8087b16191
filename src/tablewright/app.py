"""The composition root and the library's front door: reads the settings, chooses the parts, joins them.

async with Tablewright.open() as tablewright:
    imported = await tablewright.import_file("sales.csv")
"""

from __future__ import annotations

import asyncio
import getpass
import os
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from copy import copy
from dataclasses import replace
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from tablewright.engine.changes import Changes, Written
from tablewright.engine.fill import Fill
from tablewright.engine.outcome import Filled
from tablewright.engine.policy import RetryPolicy
from tablewright.engine.progress import Watch, ignore
from tablewright.errors import BadField, EditConflict, NotFound, UsageError
from tablewright.jobs.jobs import Jobs
from tablewright.journeys import enrich, refresh
from tablewright.journeys.enrich import OpenTools
from tablewright.journeys.files import (
    Exported,
    FileOptions,
    Imported,
    KnownFile,
    Preview,
    add_new_rows,
    check_names,
    export_file,
    import_file,
    import_rows,
    import_table,
    preview,
    recognise,
)
from tablewright.journeys.refresh import Round
from tablewright.logs import hide_secrets_of
from tablewright.models.catalog import CATALOG, CatalogModel
from tablewright.policies import acting_for, documents_unasked, retry_policy, terms_of
from tablewright.saved_settings import write_saved
from tablewright.settings import SAMPLE_WEB, Settings, load_settings, with_changes
from tablewright.store.audit import Action, Audit
from tablewright.store.audit import Entry as AuditEntry
from tablewright.store.conversations import Conversation
from tablewright.store.home import make_home
from tablewright.store.imports import SAMPLE
from tablewright.store.log import CellVersion, Change
from tablewright.store.operations import CellAt, Operation
from tablewright.store.proposals import EVERYTHING, Applied, ProposalHead, Review, Selection
from tablewright.store.quotas import MEGABYTE, Quota
from tablewright.store.rollback import Rollback
from tablewright.store.runs import PERSON, Run
from tablewright.store.staleness import StaleCell
from tablewright.store.store import Store
from tablewright.store.tables import TableSummary
from tablewright.store.tokens import Tokens
from tablewright.store.users import Users
from tablewright.strategies.strategy import Kind, Parameter, Strategy, announced, find_strategy
from tablewright.strategies.tools import NO_TOOLS, Need, Tools
from tablewright.table.access import Acting, Metered, Person, Shareable, Shared
from tablewright.table.attempts import Attempt
from tablewright.table.feed import Progress, Routine
from tablewright.table.fieldspec import parse_field
from tablewright.table.form import Form, KnownGroup, Where
from tablewright.table.listing import DEFAULT_ROWS, FindEvent, FoundRows, Listing, ListPlan
from tablewright.table.model import Cell, Field, Row, RowId, Step, Table
from tablewright.table.research import (
    DEFAULT_TASKS,
    Answered,
    Brief,
    Research,
    ResearchEstimate,
    ResearchEvent,
    ResearchRequest,
)
from tablewright.table.shortlist import ChatReply, ShortlistState
from tablewright.table.text import plural
from tablewright.table.usage import metered
from tablewright.table.wording import within_bounds
from tablewright.works import Works, find_spec, ingest_spec, recheck_spec, research_spec

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from tablewright.assembly import Given, Toolbox
    from tablewright.corpus.aggregate import Aggregated
    from tablewright.corpus.found import Found as FactsFound
    from tablewright.corpus.found import Thing
    from tablewright.corpus.ingest import Ingested, Reading
    from tablewright.corpus.search import CorpusHit
    from tablewright.corpus.search import Found as PassagesFound
    from tablewright.engine.estimate import Estimate
    from tablewright.engine.recheck import Rechecked
    from tablewright.health import Check, ModelTrial
    from tablewright.jobs.conductor import RunTools
    from tablewright.jobs.durable import DurableFill
    from tablewright.jobs.schedules import Schedule
    from tablewright.journeys.ask.ask import Asker
    from tablewright.journeys.ask.retrieval import Retrieval
    from tablewright.journeys.ask.things import RowTable
    from tablewright.journeys.documents import DocumentReport
    from tablewright.journeys.find.find import Finder
    from tablewright.journeys.research.research import Researcher
    from tablewright.models.listing import LocalServer
    from tablewright.sources.search.provider import SearchProvider
    from tablewright.table.corpus import Document
    from tablewright.table.reply import Reply
    from tablewright.table.usage import Usage

# Models, the web and what they stand on take a second to import. Commands that need none of it do not wait for it:
# those imports are in the functions that need them.

__all__ = [
    "EVERYTHING",
    "Action",
    "Aggregated",
    "Applied",
    "AuditEntry",
    "CatalogModel",
    "CellAt",
    "CellVersion",
    "Change",
    "Check",
    "Conversation",
    "CorpusHit",
    "DocumentReport",
    "DurableFill",
    "Estimate",
    "Exported",
    "FactsFound",
    "FileOptions",
    "Fill",
    "Filled",
    "Imported",
    "Ingested",
    "Kind",
    "KnownFile",
    "LocalServer",
    "ModelTrial",
    "Operation",
    "Parameter",
    "PassagesFound",
    "Preview",
    "Progress",
    "ProposalHead",
    "Quota",
    "Rechecked",
    "RetryPolicy",
    "Review",
    "Rollback",
    "Round",
    "Run",
    "Schedule",
    "SearchProvider",
    "Selection",
    "StaleCell",
    "Strategy",
    "TableSummary",
    "Tablewright",
    "Thing",
    "Watch",
    "Written",
    "doctor",
    "find_local_servers",
    "list_models",
    "retry_policy",
    "try_settings",
]

AnyPath: TypeAlias = str | os.PathLike[str]

DEFAULT_OPTIONS = FileOptions()
SERVER, ALL_USUAL = "server", "all as they come"
"""In the audit log: what the settings are of, and where none is set."""
READY_SECONDS = 5.0
WINDOW = 1_000
"""Rows that are read at once."""
LONGEST_KIND = 40
PATIENCE = 600.0
"""Seconds for which a database that is gone is waited for, once it was there."""


class Tablewright:
    def __init__(self, settings: Settings, store: Store, actor: str, stack: AsyncExitStack) -> None:
        self.settings = settings
        self._stack = stack
        self._toolbox: Toolbox | None = None
        self._given: Given | None = None
        self._sample_toolbox: Toolbox | None = None
        self.on_missing_model: Callable[[], None] = lambda: None
        """Called once, when somebody would ask a model and none is configured."""
        self._row_tables: dict[int, list[RowTable]] = {}
        self._turns: set[str] = set()
        self.changes = Changes(store, actor)
        self._store = store
        self._actor = actor
        self._works = Works(
            store,
            lambda: self._tools,
            self._tools_for,
            apart=self._apart,
            actor=actor,
            settings=settings,
        )
        self.jobs = Jobs(store, settings, self._open_run, stack, self._works.all())

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        settings: Settings | None = None,
        actor: str = "",
        *,
        door: str = "library",
        search: SearchProvider | None = None,
        model: Model | None = None,
    ) -> AsyncIterator[Tablewright]:
        """`search` and `model` are objects in place of those that the settings name. `door` is how whoever acts has
        come in: it stands in the audit log beside their name."""
        settings = settings or load_settings()
        if search is not None:
            settings = replace(settings, search=search.name)
        if model is not None:
            settings = replace(settings, model=f"{model.system}:{model.model_name}")
        if not settings.database_url:
            make_home(settings.home_folder)
        async with await Store.open(settings.database) as store, AsyncExitStack() as stack:
            store.database.patience = PATIENCE
            store.database.acting = Acting(actor=actor or whoami(), door=door)
            tablewright = cls(settings, store, actor or whoami(), stack)
            if search is not None or model is not None:
                from tablewright.assembly import Given

                tablewright._given = Given(search=search, model=model)
            try:
                yield tablewright
            finally:
                await tablewright.jobs.leave()

    def acting(
        self, actor: str, person: Person | None = None, *, door: str = "library", patience: float | None = None
    ) -> Tablewright:
        """The same, in somebody else's name: that is who stands in the history. With `person` they see only what is
        theirs or shared with them, and what they make is theirs. `patience`: seconds that they wait for a database that
        is away, where that is less than usual."""
        other = copy(self)
        other._toolbox, other._sample_toolbox = self._tools, self._sample_tools  # once for all, however many act
        other._actor = actor
        own = Acting(actor=actor, door=door) if person is None else acting_for(person, self.settings, door=door)
        other._store = self._store.seen_by(own, patience)
        other.jobs = self.jobs.seen_by(other._store)
        other.changes = Changes(other._store, actor)
        return other

    async def save_settings(self, changes: Mapping[str, str], *, actor: str = "") -> None:
        """Keeps them for whoever uses this home folder, and uses them from now on, for all who are served; runs under
        way go on with theirs. An empty value is the default again. In the audit log, but for the keys."""
        from tablewright.health import check_settings

        settings, changes = with_changes(self.settings, changes)
        check_settings(settings)
        await asyncio.to_thread(write_saved, settings.home_folder, changes)
        hide_secrets_of(settings)
        self.settings = self._works.settings = self.jobs.settings = settings
        # What is open of the old tools closes with this process: somebody may be asking them still.
        self._toolbox = self._sample_toolbox = None
        await self.note_settings(actor)

    async def check_ready(self, *, away_for: float = -1.0) -> None:
        """Fails unless the database answers. With `away_for` it is asked only after it was away for so many seconds."""
        if self._store.database.away_for > away_for:
            await self._store.database.probe(READY_SECONDS)

    @property
    def users(self) -> Users:
        """Who may use a server, and which tables they see."""
        return self._store.users

    @property
    def tokens(self) -> Tokens:
        """What users show to be let in."""
        return self._store.tokens

    async def import_file(
        self,
        path: AnyPath,
        options: FileOptions = DEFAULT_OPTIONS,
        progress: Callable[[int, int], None] | None = None,
    ) -> Imported:
        path = Path(path)
        await self._charge_files([path])
        return await import_file(self._store, path, options, actor=self._actor, progress=progress)

    async def import_rows(self, rows: Iterable[Mapping[str, Any]], options: FileOptions = DEFAULT_OPTIONS) -> Imported:
        """A table of what a program has in memory; the types of its columns are found out as for a JSON file."""
        return await import_rows(self._store, rows, options, actor=self._actor)

    async def import_table(self, table: Table) -> Table:
        """A copy of a table in memory, with its evidence as it is stated there."""
        return await import_table(self._store, table, actor=self._actor)

    async def preview_file(self, path: Path, options: FileOptions = DEFAULT_OPTIONS) -> Preview:
        """What a file would become. Nothing is imported."""
        return await preview(path, options)

    async def create_table(self, name: str, fields: Sequence[Field]) -> Table:
        """Without rows; the first column says what a row is about."""
        if not name.strip():
            raise BadField("The table needs a name.")
        check_names([field.name for field in fields])
        return await self._store.tables.create(
            name.strip(), fields, key_field=fields[0].name, actor=self._actor, note="created"
        )

    async def _charge_files(self, paths: Sequence[Path]) -> None:
        """What somebody hands in through a server counts towards their limit, whatever becomes of it."""
        if self._store.database.acting.person is not None:
            sizes = await asyncio.to_thread(lambda: sum(path.stat().st_size for path in paths if path.is_file()))
            await self._store.quotas.charge("uploads", sizes / MEGABYTE)

    async def add_sample(self) -> Table:
        """The sample's companies, with columns that are read, now, from the sample web by the built-in reader: no key,
        no internet, nothing to pay."""
        from tablewright.assembly import BUILTIN, Toolbox
        from tablewright.sample import COLUMNS

        with as_file(files("tablewright.sample") / "companies.csv") as path:
            options = FileOptions(name="Sample companies", origin=f"{SAMPLE}companies")
            table = (await import_file(self._store, path, options, actor=self._actor)).table
        settings = replace(self.settings, **SAMPLE_WEB, model=BUILTIN, model_fallback="", model_strong="")
        async with AsyncExitStack() as stack:
            fill = await enrich.plan(
                self._store,
                table.id,
                [parse_field(text) for text in COLUMNS],
                "pipeline",
                open_tools=Toolbox(settings, self._store, stack).open,
                terms=terms_of(settings),
            )
            filled = await fill.run()
        await self.changes.apply_unseen(filled.proposal_id)
        return table

    async def is_sample(self, table_id: str) -> bool:
        """Whether the table came with Tablewright: what it is about is fictional, and is found in the sample web."""
        return await self._store.imports.is_sample(table_id)

    async def recognise_file(self, path: Path, options: FileOptions = DEFAULT_OPTIONS) -> KnownFile | None:
        """The table that the file became when it was imported before, if any."""
        return await recognise(self._store, path, options)

    async def add_new_rows(self, known: KnownFile) -> None:
        """Of a file that has changed since it was imported; what is in its table stays as it is."""
        await add_new_rows(self._store, known, actor=self._actor)

    async def export_file(
        self,
        table_id: str,
        path: AnyPath,
        *,
        evidence: bool = False,
        cost: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> Exported:
        table, path = await self.table(table_id), Path(path)
        written = await export_file(self._store, table.id, path, evidence=evidence, cost=cost, progress=progress)
        count = written.rows
        await self._store.audit.note(
            "export", f"table {table.id}", f"{count:,} {plural('row', count)} as {path.suffix or 'text'}"
        )
        return written

    async def tables(self) -> list[TableSummary]:
        return await self._store.tables.all()

    async def table(self, name_or_id: str) -> Table:
        """Without its rows."""
        return await self._store.tables.find(name_or_id)

    async def load(self, name_or_id: str) -> Table:
        """With all its rows, in memory."""
        return await self._store.tables.load((await self.table(name_or_id)).id)

    async def rows(self, table_id: str) -> AsyncIterator[Row]:
        """All of them, in their order, however many: `async for row in tablewright.rows(table_id)`."""
        after = 0
        while page := await self.page(table_id, after=after, limit=WINDOW):
            for row in page:
                yield row
            after = page[-1].id

    async def page(self, table_id: str, *, after: RowId = 0, limit: int = 100) -> Sequence[Row]:
        """The rows that come after one of them, at most so many."""
        return (await self._store.tables.window(table_id, after=after, limit=limit)).rows

    async def rows_by_id(self, table_id: str, row_ids: Sequence[RowId]) -> dict[RowId, Row]:
        return {row.id: row for row in (await self._store.tables.rows(table_id, row_ids)).rows}

    async def cost(self, table_id: str) -> float:
        """The dollars that all runs of the table have spent."""
        return await self._store.runs.cost(table_id)

    async def count(self, table_id: str) -> int:
        return await self._store.tables.count(table_id)

    async def row_ids(self, table_id: str, keep: Callable[[Row], bool] | None = None) -> list[RowId]:
        """Of its rows, in their order; with `keep`, which is asked in a reader's thread, only of those it keeps."""
        if keep is None:
            return await self._store.tables.row_ids(table_id)
        kept: list[RowId] = []
        await self._store.tables.stream(table_id, lambda rows: kept.extend(row.id for row in rows if keep(row)))
        return kept

    async def column(self, table_id: str, field: str, take: Callable[[RowId, Cell], None]) -> None:
        """Hands the cells of a column to `take`, in the order of the rows, in a reader's thread."""
        table = await self.table(table_id)
        if table.field(field) is None:
            known = ", ".join(each.name for each in table.fields)
            raise NotFound(f"The table has no column {field!r}.", advice=f"Its columns: {known}.")

        def each(rows: Sequence[Row]) -> None:
            for row in rows:
                take(row.id, row.cell(field))

        await self._store.tables.stream(table_id, each, field=field)

    async def rename_table(self, table_id: str, name: str) -> None:
        """Its id stays."""
        await self._store.tables.rename(table_id, name)

    async def remove_table(self, table_id: str) -> None:
        """For good, with its runs and schedules and the researches and shortlists that are about it."""
        table = await self.table(table_id)
        if await self._store.tables.remove(table.id):
            await self.jobs.unschedule(table.id)

    async def share(
        self,
        kind: Shareable,
        name_or_id: str,
        people: Sequence[str] = (),
        *,
        everyone: bool = False,
        only: bool = False,
    ) -> Shared:
        """Lets these people see it too, by name, or everyone; with `only`, nobody but them and its owner. The table of
        a research or a shortlist is shared with it."""
        id = await self._id_of(kind, name_or_id)
        return await self._store.sharing.share(kind, id, people, everyone=everyone, only=only)

    async def unshare(self, kind: Shareable, name_or_id: str, people: Sequence[str]) -> Shared:
        return await self._store.sharing.unshare(kind, await self._id_of(kind, name_or_id), people)

    async def shared(self, kind: Shareable, name_or_id: str) -> Shared:
        """Who may see it."""
        return await self._store.sharing.of(kind, await self._id_of(kind, name_or_id))

    async def _id_of(self, kind: Shareable, name_or_id: str) -> str:
        if kind == "table":
            return (await self.table(name_or_id)).id
        if kind == "document":
            return (await self._store.documents.get(name_or_id)).id
        return name_or_id

    async def history(self, table_id: str, limit: int = 50) -> list[Change]:
        return await self._store.log.changes(table_id, limit)

    async def cell_history(self, table_id: str, row_id: RowId, field: str) -> list[CellVersion]:
        return await self._store.log.cell_history(table_id, row_id, field)

    async def plan_enrich(
        self,
        table_id: str,
        fields: Sequence[Field],
        strategy: str | Strategy = "",
        *,
        usual: str = "",
        params: Mapping[str, str] | None = None,
        row_ids: Sequence[RowId] | None = None,
        again: bool = False,
        max_rows: int | None = None,
        concurrency: int | None = None,
        retry: RetryPolicy | None = None,
        sources: str = "",
        watch: Watch = ignore,
    ) -> Fill:
        """A run that is ready: `await fill.run()` starts it, `fill.cancel()` stops it and keeps what was found;
        `await fill.estimate()` says before what it is likely to take. With `again` it also looks for what earlier runs
        did not find.

        Without `strategy` a formula is computed and a question answered by the `usual` one: from the web, or from the
        documents where `sources`, or the setting of that name, is only these. A strategy that is an object, not a
        name, is known to this process alone: run it here, not as `durable`."""
        return await enrich.plan(
            self._store,
            table_id,
            fields,
            strategy,
            usual=usual or ("documents" if (sources or self.settings.sources).strip() == "docs" else "pipeline"),
            params=params,
            open_tools=await self._opener_for(table_id),
            row_ids=row_ids,
            again=again,
            max_rows=max_rows,
            concurrency=concurrency or self.settings.rows_at_once,
            retry=retry or retry_policy(self.settings),
            terms=terms_of(self.settings),
            watch=watch,
        )

    async def stale(self, table_id: str) -> list[StaleCell]:
        """The cells of which an input has changed since they were filled."""
        return await self._store.log.stale(table_id)

    async def stale_rounds(self, table_id: str, fields: Sequence[str] = ()) -> list[Round]:
        """What is stale, in the order in which it can be filled again; each round is applied before the next."""
        return await refresh.rounds(self._store, table_id, fields)

    async def plan_refresh(
        self, table_id: str, of: Round, *, waiting: bool = False, watch: Watch = ignore
    ) -> Fill | None:
        """A run over exactly these cells; None while they wait for others that are stale. With `waiting` they do not,
        to estimate what all would take."""
        return await refresh.plan(
            self._store,
            table_id,
            of,
            waiting=waiting,
            open_tools=await self._opener_for(table_id),
            concurrency=self.settings.rows_at_once,
            retry=retry_policy(self.settings),
            terms=terms_of(self.settings),
            watch=watch,
        )

    async def recheck(
        self,
        table_id: str,
        fields: Sequence[str] = (),
        *,
        row_ids: Sequence[RowId] | None = None,
        dry_run: bool = False,
        watch: Watch = ignore,
    ) -> Rechecked:
        """Looks whether the cited pages still say what the cells say. `jobs.stop()` stops it; what was seen counts."""
        table = await self.table(table_id)
        spec = recheck_spec(self._actor, fields, row_ids=row_ids, dry_run=dry_run)
        return await self.jobs.perform("recheck", table.id, spec, partial(self._works.recheck, watch=watch))

    async def start_recheck(
        self,
        table_id: str,
        fields: Sequence[str] = (),
        *,
        row_ids: Sequence[RowId] | None = None,
        dry_run: bool = False,
    ) -> str:
        """As `recheck`, but does not wait for it; the id of its run."""
        table = await self.table(table_id)
        spec = recheck_spec(self._actor, fields, row_ids=row_ids, dry_run=dry_run)
        return await self.jobs.begin("recheck", table.id, spec)

    async def schedule(self, table_id: str, routine: Routine, every: str, *, apply: bool = False) -> Schedule:
        """Does it every hour, day or week, or by a cron expression, as long as a worker is up. What a refresh finds is
        a proposal, unless `apply`."""
        table_id = (await self.table(table_id)).id
        person = self._store.database.acting.person
        spec = recheck_spec(self._actor) | {"apply": apply, PERSON: person.id if person else ""}
        schedule = await self.jobs.schedule(table_id, routine, every, spec)
        await self._store.tables.note_schedule(table_id)
        return schedule

    async def durable(self, fill: Fill, watch: Watch = ignore) -> Fill | DurableFill:
        """The same run, so that another process can go on with it if this one dies. Where workers are up they do it. A
        run that asks nobody, such as a computation, stays as it is: it is done again in no time."""
        return await self.jobs.durable(fill, watch) if fill.asks_others else fill

    async def _open_run(self, recorded: Mapping[str, str], stack: AsyncExitStack, person: str = "") -> RunTools:
        """With the settings that the run was asked for with, the documents of whoever asked, by their id, and the keys
        of this process."""
        from tablewright.assembly import Toolbox
        from tablewright.jobs.conductor import RunTools

        settings = self.settings.with_shared(recorded)
        own = settings == self.settings and not self.jobs.serves_others
        toolbox = self._tools if own else Toolbox(settings, self._store, stack)
        seen = None
        if person:
            seen = self._store.seen_by(acting_for(await self.users.by_id(person), self.settings, door="worker"))
        return RunTools(
            open=partial(toolbox.open, seen=seen),
            terms=terms_of(settings),
            budget=toolbox.budget,
            most_rows=settings.rows_everywhere,
        )

    # ── your documents ───────────────────────────────────────────────────────────────────────────────────────────────

    async def add_documents(
        self,
        paths: Sequence[AnyPath],
        *,
        kind: str = "",
        workers: int = 0,
        watch: Callable[[Reading], None] = lambda _: None,
    ) -> Ingested:
        """Files and folders; only what is new or has changed is read. `kind` says what all of them are."""
        files = [Path(path) for path in paths]
        await self._charge_files(files)
        spec = ingest_spec(files, workers, kind_of(kind) if kind else "")
        return await self.jobs.perform("ingest", "", spec, partial(self._works.ingest, watch=watch))

    async def documents(self, *, kind: str = "", readable: bool | None = None) -> list[Document]:
        found = await self._store.documents.all(readable=readable)
        return [document for document in found if not kind or document.kind == kind]

    async def document_facts(self) -> dict[str, int]:
        """How many facts and rows were read from each document, by its id."""
        return await self._store.documents.facts()

    async def document(self, name: str) -> DocumentReport:
        """By its id, file name or path, with what was read from it."""
        from tablewright.journeys import documents

        return await documents.report(self._store, name)

    async def remove_documents(self, names: Sequence[str]) -> list[Document]:
        """With everything that was made of them; all of them or, where one is not there, none."""
        found = {document.id: document for document in [await self._store.documents.get(name) for name in names]}
        await self._store.documents.remove(list(found))
        return list(found.values())

    async def annotate_documents(self, names: Sequence[str], watch: Callable[[Reading], None] = lambda _: None) -> int:
        """Facts that the model finds beyond those of the rules; how many were new."""
        from tablewright.journeys import documents

        corpus, model = await self._tools.open_corpus(self._store), await self._tools.open_model()
        async with self._spending():
            return await documents.annotate(self._store, corpus, model, names, watch)

    async def table_of_documents(self, name: str, *, kind: str = "") -> Imported:
        """A table with a row for each document that could be read."""
        from tablewright.journeys import documents

        return await documents.as_table(self._store, name, kind=kind, actor=self._actor)

    async def ask(
        self,
        question: str,
        *,
        conversation: str = "",
        agreed: bool = False,
        tell: Callable[[Step], None] = lambda _: None,
    ) -> Reply:
        """A question about the documents, alone or in a conversation. Before very many of them are read for it, the
        reply asks, unless `agreed`."""
        asker = await self._open_asker(tell)
        async with self._spending():
            return await asker.ask(within_bounds(question), conversation, agreed=agreed)

    async def query_documents(self, form: Form, *, conversation: str = "") -> Reply:
        """What is known of the documents, by conditions that say just what they say; no model is asked."""
        return await (await self._open_asker()).query(form, conversation)

    async def more_rows(self, conversation: str) -> Reply:
        """The next rows of the last list in a conversation; no model is asked."""
        return await (await self._open_asker()).more(conversation)

    async def known_of_documents(self) -> list[KnownGroup]:
        """The kinds of documents, and the tables inside them, with the columns that a form can use."""
        return await (await self._open_asker()).known()

    async def set_document_kind(self, names: Sequence[str], kind: str) -> None:
        """What these documents are, said by a person; it stays when they are read again."""
        found = [await self._store.documents.get(name) for name in names]
        await self._store.kinds.set_kinds(dict.fromkeys((document.id for document in found), kind_of(kind)), "person")

    async def _open_asker(self, tell: Callable[[Step], None] = lambda _: None) -> Asker:
        from tablewright.journeys.ask.ask import Asker

        return Asker(
            self._store,
            await self._tools.open_corpus(self._store),
            await self._tools.open_model(),
            open_tools=self._open_tools,
            actor=self._actor,
            terms=terms_of(self.settings),
            concurrency=self.settings.rows_at_once,
            unasked=documents_unasked(self.settings),
            tell=tell,
            row_tables=self._row_tables,
        )

    async def conversation(self, conversation_id: str) -> Conversation:
        return await self._store.conversations.get(conversation_id)

    async def conversations(self) -> list[Conversation]:
        """Without their turns, the newest first."""
        return await self._store.conversations.all()

    async def remove_conversation(self, conversation_id: str) -> None:
        """With the rows of its answers."""
        await self._store.conversations.remove(conversation_id)

    async def export_result(self, result_id: str, path: AnyPath, *, folders: bool = False) -> int:
        """All rows of a reply; how many. `folders`: with where each document lies, not only its name."""
        from tablewright.journeys import documents

        path = Path(path)
        count = await documents.export_result(self._store, result_id, path, folders=folders)
        await self._store.audit.note(
            "export", f"result {result_id}", f"{count:,} {plural('row', count)} as {path.suffix or 'text'}"
        )
        return count

    async def document_text(self, name: str) -> str:
        """The whole text of a document, as it was read; evidence points into it."""
        return (await self._store.documents.retrieved((await self._store.documents.get(name)).id)).text

    @property
    def retrieval(self) -> Retrieval:
        """The five tools that answers are made with, for those who ask by themselves."""
        from tablewright.journeys.ask.retrieval import Retrieval

        return Retrieval(self._store, partial(self._tools.open_corpus, self._store), self._open_asker)

    # ── finding rows ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def begin_find(
        self,
        question: str,
        *,
        fields: Sequence[Field] = (),
        conditions: Sequence[Where] = (),
        rows: int = DEFAULT_ROWS,
    ) -> Listing:
        """Plans a table of the things that are described; `find_rows` finds its rows. `fields` are its columns, the
        first of which names the things; without them the model chooses. `conditions` are demanded of every row, beside
        what the question says."""
        finder = await self._finder()
        async with self._spending():
            return await finder.begin(within_bounds(question), fields=fields, conditions=conditions, rows=rows)

    async def find_rows(
        self,
        table_id: str,
        *,
        fill: bool = True,
        more: bool = False,
        rows: int = 0,
        watch: Callable[[FindEvent], None] = lambda _: None,
    ) -> FoundRows:
        """Finds the rows of a planned table, to the end or on from where it was cut off; with `more`, further ones,
        for `rows` in all. With `fill`, cells that no list states are looked for."""
        listing = await self._store.listings.get(table_id)
        spec = find_spec(self._actor, listing.plan.question, fill=fill, more=more, rows=rows)
        return await self.jobs.perform("find", listing.table_id, spec, partial(self._works.find, watch=watch))

    async def start_find(self, table_id: str, *, fill: bool = True, more: bool = False, rows: int = 0) -> str:
        """As `find_rows`, but does not wait for it; the id of its run."""
        listing = await self._store.listings.get(table_id)
        spec = find_spec(self._actor, listing.plan.question, fill=fill, more=more, rows=rows)
        return await self.jobs.begin("find", listing.table_id, spec)

    async def found_rows(self, table_id: str) -> FoundRows:
        """What the search for the rows of a table came to so far."""
        from tablewright.journeys.find.account import account

        return await account(self._store, await self._store.listings.get(table_id))

    async def list_plan(self, table_id: str) -> ListPlan:
        """What a search for the rows of a table looks for."""
        return (await self._store.listings.get(table_id)).plan

    async def estimate_find(self, table_id: str) -> Estimate:
        """What finding the rows of a planned table is likely to take."""
        from tablewright.journeys.find.expected import expected

        listing = await self._store.listings.get(table_id)
        return expected(listing, await self._open_tools(("web", "model")), terms_of(self.settings))

    async def _finder(self) -> Finder:
        from tablewright.journeys.find.find import Finder

        return Finder(
            self._store, await self._open_tools(("web", "model")), actor=self._actor, terms=terms_of(self.settings)
        )

    # ── deep research ────────────────────────────────────────────────────────────────────────────────────────────────

    async def plan_research(
        self, request: ResearchRequest, *, max_tasks: int = DEFAULT_TASKS, before: Brief | None = None, change: str = ""
    ) -> Brief:
        """What a question asks for, as a plan that its user can still change in words; nothing is searched or kept."""
        researcher = await self._researcher()
        request = msgspec.structs.replace(request, question=within_bounds(request.question))
        async with self._spending():
            return await researcher.brief(request, max_tasks=max_tasks, before=before, change=change)

    async def estimate_research(self, brief: Brief, *, max_tasks: int = DEFAULT_TASKS) -> ResearchEstimate:
        from tablewright.journeys.research.estimate import estimate

        return estimate(brief, await self._open_tools(("web", "model")), max_tasks)

    async def begin_research(
        self, asked: ResearchRequest | str, *, brief: Brief | None = None, max_tasks: int = DEFAULT_TASKS
    ) -> Research:
        """Planned, with a table of its own; `run_research` does it. `brief` is a plan that was made before."""
        request = ResearchRequest(question=asked) if isinstance(asked, str) else asked
        if brief is None:
            brief = await self.plan_research(request, max_tasks=max_tasks)
        researcher = await self._researcher()
        async with self._spending():
            return await researcher.begin(brief, max_tasks=max_tasks)

    async def run_research(
        self, research_id: str, *, minutes: float | None = None, watch: Callable[[ResearchEvent], None] = lambda _: None
    ) -> Research:
        """To the end, or on from where it was cut off; what a finished one came to is returned as it is."""
        research = await self._store.researches.get(research_id)
        spec = research_spec(self._actor, research, minutes)
        work = partial(self._works.research, watch=watch)
        return await self.jobs.perform("research", research.table_id, spec, work)

    async def start_research(self, research_id: str, *, minutes: float | None = None) -> str:
        """As `run_research`, but does not wait for it; the id of its run."""
        research = await self._store.researches.get(research_id)
        return await self.jobs.begin("research", research.table_id, research_spec(self._actor, research, minutes))

    async def refine_research(
        self, research_id: str, question: str, *, tell: Callable[[Step], None] = lambda _: None
    ) -> Answered:
        """A follow-up question: from what is stored or, where that does not say, from a search."""
        from tablewright.journeys.research.refine import refine

        research = await self._store.researches.get(research_id)
        tools = await self._open_tools(("web", "model"))
        async with self._spending():
            return await refine(self._store, tools, research, within_bounds(question), tell)

    async def research(self, research_id: str) -> Research:
        return await self._store.researches.get(research_id)

    async def researches(self) -> list[Research]:
        """Without their rounds, the newest first."""
        return await self._store.researches.all()

    async def research_report(self, research_id: str) -> dict[str, Any]:
        """All of it as one JSON document."""
        from tablewright.journeys.research.files import research_report

        return research_report(await self.research(research_id))

    async def write_report(self, research_id: str, path: AnyPath) -> None:
        """As .md, .html, .docx or .json."""
        from tablewright.journeys.research.files import write_report

        path = Path(path)
        await write_report(await self.research(research_id), path)
        await self._store.audit.note("export", f"research {research_id}", f"its report as {path.suffix}")

    async def remove_research(self, research_id: str) -> None:
        """Its table stays."""
        await self._store.researches.remove(research_id)

    async def _researcher(
        self, *, minutes: float | None = None, watch: Callable[[ResearchEvent], None] = lambda _: None
    ) -> Researcher:
        from tablewright.journeys.research.research import Researcher

        return Researcher(
            self._store,
            await self._open_tools(("web", "model")),
            actor=self._actor,
            minutes=minutes,
            terms=terms_of(self.settings),
            watch=watch,
        )

    # ── the advisor ──────────────────────────────────────────────────────────────────────────────────────────────────

    async def begin_shortlist(self) -> ShortlistState:
        """A new conversation about what to buy."""
        return await self._store.shortlists.start()

    async def shortlist_turn(
        self,
        shortlist_id: str,
        message: str,
        *,
        watch: Watch = ignore,
        tell: Callable[[Step], None] = lambda _: None,
        exports: Path | None = None,
    ) -> tuple[ShortlistState, ChatReply]:
        """What somebody says, or the label of a button, and what the advisor replies. `exports` is the folder for the
        files that they ask for, whatever place they name: on a server it must be given. While one turn is taken no
        other is: both would spend, and one reply would be lost."""
        from tablewright.journeys.shortlist.context import TurnContext
        from tablewright.journeys.shortlist.shortlist import Shortlist
        from tablewright.policies import rates_of, shortlist_limits

        if shortlist_id in self._turns:
            raise EditConflict(
                "The last turn of this conversation is still under way; nothing was done.",
                advice="Wait for its reply, then say it again.",
            )
        self._turns.add(shortlist_id)
        try:
            context = TurnContext(
                self._store,
                await self._open_tools(("web", "model")),
                actor=self._actor,
                terms=terms_of(self.settings),
                limits=shortlist_limits(self.settings),
                rates=rates_of(self.settings),
                concurrency=self.settings.rows_at_once,
                watch=watch,
                tell=tell,
                folder=exports,
            )
            async with self._spending():
                return await Shortlist(context).turn(shortlist_id, within_bounds(message, "message"))
        finally:
            self._turns.discard(shortlist_id)

    async def shortlist(self, shortlist_id: str) -> ShortlistState:
        return await self._store.shortlists.get(shortlist_id)

    async def shortlists(self) -> list[ShortlistState]:
        """The newest first."""
        return await self._store.shortlists.all()

    async def remove_shortlist(self, shortlist_id: str) -> None:
        """Its table stays."""
        await self._store.shortlists.remove(shortlist_id)

    @asynccontextmanager
    async def _spending(self) -> AsyncIterator[None]:
        """Around what may cost money and is no run: with a budget to itself, counted for whoever it is done for, and
        refused to those who have spent all that they may this month."""
        await self._store.quotas.left()
        person = self._store.database.acting.person
        with self._apart(), metered() as meter:
            try:
                yield
            finally:
                await self._store.quotas.spend(person.id if person else "", meter.usage.cost_usd)

    @property
    def audit(self) -> Audit:
        """Who did what, when, through which door."""
        return self._store.audit

    async def note_settings(self, actor: str = "") -> None:
        """In the audit log, where they are others than those of the last entry. Never a secret."""
        usual = Settings().shared
        said = "; ".join(f"{name} = {value}" for name, value in self.settings.shared.items() if value != usual[name])
        last = [each for each in await self.audit.entries(action="settings", limit=1_000) if each.thing == SERVER]
        if not last or last[0].detail != (said or ALL_USUAL):
            await self.audit.note("settings", SERVER, said or ALL_USUAL, who=actor)

    async def quotas(self, person: Person) -> list[Quota]:
        """What somebody may use a month, and has used."""
        return await self._store.quotas.of(person.name, acting_for(person, self.settings, door="").limits)

    async def limit_user(self, name: str, limits: Mapping[Metered, float | None]) -> None:
        """Limits of their own for a user; None: as the settings say for everybody."""
        await self._store.quotas.limit(name, limits)

    def _apart(self, before: Usage | None = None) -> AbstractContextManager[None]:
        """A server does the work of many: there each piece of work has the budget to itself. A command does one."""
        return self._tools.apart(before) if self.jobs.serves_others else nullcontext()

    @property
    def outage(self) -> str:
        """What was asked in vain and never answered: the model, the search or the web; "" where all of them did, and
        offline, where nobody is asked."""
        dead = self._toolbox.breaker.dead() if self._toolbox is not None and not self.is_offline else None
        return str(dead) if dead is not None else ""

    async def _open_tools(self, needs: Collection[Need]) -> Tools:
        return await self._tools.open(needs, self._store) if needs else NO_TOOLS

    @property
    def _tools(self) -> Toolbox:
        from tablewright.assembly import NOTHING_GIVEN, Toolbox

        if self._toolbox is None:
            given = self._given or NOTHING_GIVEN
            self._toolbox = Toolbox(self.settings, self._store, self._stack, self.on_missing_model, given)
        return self._toolbox

    @property
    def _sample_tools(self) -> Toolbox:
        from tablewright.assembly import Toolbox

        if self._sample_toolbox is None:
            self._sample_toolbox = Toolbox(replace(self.settings, **SAMPLE_WEB), self._store, self._stack)
        return self._sample_toolbox

    async def _tools_for(self, table_id: str) -> Toolbox:
        return self._sample_tools if await self.is_sample(table_id) else self._tools

    async def _opener_for(self, table_id: str) -> OpenTools:
        toolbox = await self._tools_for((await self.table(table_id)).id)

        async def open_tools(needs: Collection[Need]) -> Tools:
            return await toolbox.open(needs, self._store) if needs else NO_TOOLS

        return open_tools

    @staticmethod
    def strategies(kind: Kind | None = None) -> dict[str, Strategy | UsageError]:
        """All that are installed, or those of a kind, by name: the strategy, or why it cannot be loaded."""
        return announced(kind)

    def acts(self, strategy: str) -> bool:
        """Whether running it has an effect outside the table, so that people must be asked first."""
        return bool(strategy) and find_strategy(strategy).kind == "action"

    @property
    def is_offline(self) -> bool:
        return terms_of(self.settings).offline

    @property
    def warnings(self) -> list[str]:
        """What the person should know of the runs so far, in whole sentences."""
        unpriced = self._toolbox.unpriced if self._toolbox else ()
        return [f"The price of {model} is not known, so the cap on dollars does not hold for it." for model in unpriced]

    async def models(self) -> list[tuple[CatalogModel, bool]]:
        """The catalog, and which of it is on this machine."""
        return [(model, model.is_pulled(self._models_folder)) for model in CATALOG]

    async def pull_model(self, name: str, progress: Callable[[int, int], None]) -> Path:
        from tablewright.models.pull import pull

        return await pull(name, self._models_folder, progress)

    @property
    def _models_folder(self) -> Path:
        return self.settings.home_folder / "models"

    async def test_model(self) -> ModelTrial:
        """Asks the configured model one small question, and tells how it went."""
        from tablewright.health import try_model

        return await try_model(self.settings)

    async def stored_text(self, content_hash: str) -> str | None:
        """The text that a cell's evidence points to, as it was retrieved."""
        return await self._store.pages.text(content_hash)

    async def enrich_report(self, filled: Filled) -> dict[str, Any]:
        """The run as one JSON document."""
        return await enrich.run_report(self._store, filled)

    async def attempts(self, run_id: str) -> dict[RowId, list[Attempt]]:
        """What each attempt of a run tried and came to, by row; nothing for rows that are looked at only once."""
        await self._store.runs.get(run_id)
        return await self._store.attempts.of_run(run_id)

    async def proposals(self, table_id: str | None = None, *, only_open: bool = False) -> list[ProposalHead]:
        return await self._store.proposals.all(table_id, only_open=only_open)

    async def proposal(self, proposal_id: str) -> ProposalHead:
        return await self._store.proposals.get(proposal_id)

    async def proposal_report(self, proposal_id: str) -> dict[str, Any]:
        """The proposal as one JSON document: reasoning, operations, research log."""
        return await enrich.proposal_report(self._store, proposal_id)

    async def operations(
        self,
        proposal_id: str,
        *,
        after: tuple[RowId, str] = (0, ""),
        limit: int = 2_000,
        failed: bool | None = None,
        row_ids: Sequence[RowId] | None = None,
        field: str = "",
    ) -> list[Operation]:
        """In the order of rows, page by page; of these rows and this column alone, where they are given."""
        return await self._store.proposals.operations(
            proposal_id, after=after, limit=limit, failed=failed, row_ids=row_ids, field=field
        )

    async def operation(self, proposal_id: str, row_id: RowId, field: str) -> Operation:
        return await self._store.proposals.operation(proposal_id, row_id, field)

    async def open_cells(
        self,
        proposal_id: str,
        selection: Selection = EVERYTHING,
        *,
        failed: bool | None = None,
        even_unfinished: bool = False,
    ) -> list[CellAt]:
        """What of a proposal waits for a decision."""
        return await self._store.proposals.open_cells(
            proposal_id, selection, failed=failed, even_unfinished=even_unfinished
        )

    async def problems(self) -> list[str]:
        """What is wrong with the kept tables; empty when all are sound."""
        return [problem for table in await self.tables() for problem in await self._store.log.problems(table.id)]


async def doctor(settings: Settings, *, ask: bool = False) -> list[Check]:
    """What is configured and what works; never raises. With `ask` the model and the search are asked, which may cost
    a little."""
    from tablewright.health import examine

    return await examine(settings, ask=ask)


async def try_settings(settings: Settings, part: Literal["model", "search", "embedder"]) -> Check:
    """Asks one of them something small; never raises."""
    from tablewright import health

    tests = {"model": health.ask_model, "search": health.ask_search, "embedder": health.ask_embedder}
    return await tests[part](settings)


async def find_local_servers() -> list[LocalServer]:
    """Programs on this machine that serve models, and which."""
    from tablewright.models import listing

    return await listing.find_local_servers()


async def list_models(provider: str, base_url: str = "", api_key: str = "") -> list[str]:
    """What the provider offers to whoever has the key; without one what the price list knows, the newest first."""
    from tablewright.models import listing

    if api_key or base_url or provider == "ollama":
        return await listing.list_models(provider, base_url, api_key)
    return await asyncio.to_thread(listing.priced_models, provider)


def whoami() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"


def kind_of(text: str) -> str:
    kind = " ".join(text.lower().split())
    if not kind or len(kind) > LONGEST_KIND:
        raise UsageError(f"A kind has 1 to {LONGEST_KIND} characters.", advice="One or two words: lab report.")
    return kind
