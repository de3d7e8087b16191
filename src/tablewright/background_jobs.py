"""What is done as a whole, by kind: reading documents, rechecking, research, a table's schedule.

Each is a run that others can watch and stop. Begun again, by whatever process, it goes on where it was: documents that
are there are not read again, research goes on with its next round, pages are rechecked with their validators.
"""

from __future__ import annotations

import platform
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from tablewright.domain.feed import Progress
from tablewright.domain.listing import FindEvent, FoundRows
from tablewright.domain.model import RowId
from tablewright.domain.research import Research, ResearchEvent
from tablewright.domain.usage import Usage
from tablewright.engine.changes import Changes
from tablewright.engine.fill import Fill, FillPlan
from tablewright.engine.progress import Watch, ignore
from tablewright.errors import Cancelled, ModelError, Paused, UsageError
from tablewright.jobs.authority import check_authority
from tablewright.journeys import enrich, refresh
from tablewright.policies import acting_for, rates_of, research_extent, retry_policy, terms_of
from tablewright.settings import Settings
from tablewright.store.runs import ACTOR, Run
from tablewright.store.store import Store

if TYPE_CHECKING:
    from tablewright.assembly import Toolbox
    from tablewright.corpus.ingest import Ingested, IngestProgress
    from tablewright.engine.recheck import Rechecked
    from tablewright.jobs.background import BackgroundRun, Work


Event = TypeVar("Event", ResearchEvent, FindEvent)


class BackgroundJobs:
    def __init__(
        self,
        store: Store,
        tools: Callable[[], Toolbox],
        tools_for: Callable[[str], Awaitable[Toolbox]],
        *,
        apart: Callable[[Usage], AbstractContextManager[None]],
        actor: str,
        settings: Settings,
    ) -> None:
        """`tools_for` are those for a table: one that came with Tablewright is looked up in the sample web. `apart`
        gives a run that took so much already the budget that is its own."""
        self._store = store
        self._tools = tools
        self._tools_for = tools_for
        self._apart = apart
        self._actor = actor
        self.settings = settings

    def all(self) -> dict[str, Work]:
        return {
            "ingest": self.ingest,
            "find": self.find,
            "recheck": self.recheck,
            "refresh": self.refresh,
            "research": self.research,
        }

    async def ingest(
        self, run: Run, doing: BackgroundRun, watch: Callable[[IngestProgress], None] = lambda _: None
    ) -> Ingested:
        """Files are on one machine, so only there it goes on."""
        from tablewright.corpus.ingest import Ingest
        from tablewright.journeys.ask.kinds import guess_kinds

        if run.spec["host"] != platform.node():
            raise UsageError(f"The files are on {run.spec['host']}.", advice="Add them there.")

        def told(reading: IngestProgress) -> None:
            watch(reading)
            doing.tell(Progress(stage="working", done=reading.done, total=reading.total))

        store = await self._seen(run)
        corpus = await self._tools().open_corpus(store)
        paths = [Path(path) for path in run.spec["paths"]]
        ingest = Ingest(store, corpus.embedder, workers=run.spec["workers"], parsers=self._tools().parsers)
        done = await ingest.add(paths, told, kind=run.spec.get("kind", ""))
        doing.spec = {}  # who removes a document later finds its name nowhere
        await store.kinds.mark_changed()
        classified = await self._classify(store, run)
        return msgspec.structs.replace(done, classified=classified, from_titles=await guess_kinds(store))

    async def _classify(self, store: Store, run: Run) -> int:
        """What the new documents are, from the model if there is one and it is within the budget."""
        from tablewright.assembly import BUILTIN
        from tablewright.journeys.ask.kinds import AT_INGEST, classify

        if self.settings.model.strip() in ("", BUILTIN):
            return 0
        # The documents are read by now: a model that cannot be opened, or may not be paid, takes nothing from them.
        with self._apart(run.usage), suppress(UsageError, ModelError):
            await store.ledger.refuse_spent()
            return await classify(store, await self._tools().open_model(), lambda _: None, most=AT_INGEST)
        return 0

    async def recheck(self, run: Run, doing: BackgroundRun, watch: Watch = ignore) -> Rechecked:
        from tablewright.engine.recheck import Recheck

        def told(progress: Progress) -> None:
            watch(progress)
            doing.tell(progress)

        store = await self._seen(run)
        recheck = Recheck(
            store,
            await store.tables.find(run.table_id),
            await (await self._tools_for(run.table_id)).open_pages(),
            actor=self._actor_of(run),
            fields=run.spec["fields"],
            row_ids=run.spec["row_ids"],
            dry_run=run.spec["dry_run"],
            watch=told,
        )
        doing.halt = recheck.cancel
        return await recheck.run()

    async def refresh(self, run: Run, doing: BackgroundRun) -> None:
        """Rechecks the table, then fills again what is flagged, empty for want of looking, or stale. What is found is a
        proposal, or applied where the owner said so."""
        await self.recheck(run, doing)
        with self._apart(run.usage):
            await self._refill(run, doing)

    async def _refill(self, run: Run, doing: BackgroundRun) -> None:
        seen = await self._seen(run)
        table = await seen.tables.find(run.table_id)
        open_tools = partial((await self._tools_for(table.id)).open, seen=seen)
        for way in await refresh.ways(seen, table, run.spec["fields"]):
            how = await self._filling(seen, table.id)
            wanted = replace(how, fields=way.fields, strategy=way.strategy, params=way.params)
            await self._fill(await enrich.plan(seen, wanted, open_tools, watch=doing.tell), run, doing)
        for each in await refresh.rounds(seen, table.id, run.spec["fields"]):
            filling = await self._filling(seen, table.id)
            again = await refresh.plan(seen, each, filling, open_tools, watch=doing.tell)
            if again is not None:
                await self._fill(again, run, doing)

    def _actor_of(self, run: Run) -> str:
        """Who began it, whoever does it."""
        return str(run.spec.get(ACTOR) or self._actor)

    async def _seen(self, run: Run) -> Store:
        """As whoever began the run sees it, whoever does it."""
        if not run.person:
            return self._store
        person = await self._store.users.by_id(run.person)
        return self._store.seen_by(acting_for(person, door="worker"))

    async def _filling(self, seen: Store, table_id: str) -> FillPlan:
        """How the table, as it is now, is filled again."""
        retry, terms = retry_policy(self.settings), terms_of(self.settings)
        return FillPlan(await seen.tables.find(table_id), (), retry=retry, terms=terms)

    async def _fill(self, fill: Fill, run: Run, doing: BackgroundRun) -> None:
        doing.halt = fill.cancel
        if doing.stopped:  # while something before it was done
            raise Cancelled(f"Run {run.id} was stopped.", kept="What it had come to is kept.")
        filled = await fill.run()
        if filled.status == "paused":
            raise Paused(filled.problem, kept="What it had come to is kept.")
        if run.spec["apply"] and filled.status == "done":
            await check_authority(self._store, run)
            await Changes(await self._seen(run), self._actor_of(run)).apply_unseen(filled.proposal_id)

    async def research(
        self, run: Run, doing: BackgroundRun, watch: Callable[[ResearchEvent], None] = lambda _: None
    ) -> Research:
        from tablewright.journeys.research.research import Researcher

        store = await self._seen(run)
        researcher = Researcher(
            store,
            await self._tools().open(("web", "model"), store),
            actor=self._actor_of(run),
            minutes=run.spec["minutes"],
            extent=research_extent(self.settings),
            terms=terms_of(self.settings),
            watch=telling(doing, watch),
        )
        with self._apart(run.usage):
            return await researcher.run(run.spec["research"])

    async def find(
        self, run: Run, doing: BackgroundRun, watch: Callable[[FindEvent], None] = lambda _: None
    ) -> FoundRows:
        from tablewright.journeys.find.find import Finder

        store = await self._seen(run)
        finder = Finder(
            store,
            await self._tools().open(("web", "model"), store),
            actor=self._actor_of(run),
            terms=terms_of(self.settings),
            rates=rates_of(self.settings),
            concurrency=self.settings.rows_at_once,
            watch=telling(doing, watch),
        )
        with self._apart(run.usage):
            return await finder.run(run.table_id, fill=run.spec["fill"], more=run.spec["more"], rows=run.spec["rows"])


def find_spec(actor: str, question: str, *, fill: bool, more: bool, rows: int) -> dict[str, Any]:
    return {"question": question, "fill": fill, "more": more, "rows": rows, ACTOR: actor}


def recheck_spec(
    actor: str, fields: Sequence[str] = (), *, row_ids: Sequence[RowId] | None = None, dry_run: bool = False
) -> dict[str, Any]:
    return {"fields": list(fields), "row_ids": row_ids, "dry_run": dry_run, ACTOR: actor}


def research_spec(actor: str, research: Research, minutes: float | None) -> dict[str, Any]:
    return {"research": research.id, "minutes": minutes, "question": research.brief.question, ACTOR: actor}


def ingest_spec(paths: list[Path], workers: int, kind: str) -> dict[str, Any]:
    places = [str(path.absolute()) for path in paths]
    return {"paths": places, "workers": workers, "kind": kind, "host": platform.node()}


def telling(doing: BackgroundRun, watch: Callable[[Event], None]) -> Callable[[Event], None]:
    """What happens, told to whoever watches and written to the run's feed."""

    def told(event: Event) -> None:
        watch(event)
        said = f"{event.stage}: {event.detail}" if event.detail else event.stage
        doing.tell(Progress(stage="working", done=event.done, total=event.total, detail=said))

    return told
