"""Filling columns: planned, refreshed, rechecked, now or on a schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tablewright.application.base import Application
from tablewright.domain.history import StaleCell
from tablewright.domain.model import Field, RowId, Table
from tablewright.domain.run import ACTOR, PERSON, Routine, Watch, ignore_progress
from tablewright.domain.wording import within_bounds
from tablewright.engine.fill import Fill, FillPlan
from tablewright.engine.policy import RetryPolicy
from tablewright.errors import UsageError
from tablewright.journeys import enrich, refresh
from tablewright.journeys.refresh import RefreshRound
from tablewright.policies import retry_policy, terms_of
from tablewright.strategies.strategy import FunctionStrategy, RowFunction, Strategy

if TYPE_CHECKING:
    from tablewright.engine.recheck import Rechecked
    from tablewright.jobs.schedules import Schedule


class EnrichVerbs(Application):
    async def plan_enrich(
        self,
        table_id: str,
        fields: Sequence[Field],
        strategy: str | Strategy | RowFunction = "",
        *,
        usual: str = "",
        params: Mapping[str, str] | None = None,
        row_ids: Sequence[RowId] | None = None,
        again: bool = False,
        anew: bool = False,
        outdated: bool = False,
        max_rows: int | None = None,
        concurrency: int | None = None,
        retry: RetryPolicy | None = None,
        sources: str = "",
        watch: Watch = ignore_progress,
    ) -> Fill:
        """A run that is ready: `await jobs.run(fill)` does it, `jobs.stop()` stops it and keeps what was found;
        `await fill.estimate()` says before what it is likely to take. With `again` it also looks for what earlier runs
        did not find, with `anew` also for what they found, but for nothing that a person gave. With `outdated` it also
        fills cells whose question or inputs have changed, and cells that failed with an error.

        Without `strategy` a formula is computed and a question answered by the `usual` one: from the web, or from the
        documents where `sources`, or the setting of that name, is only these. A strategy that is an object or
        a function, not a name, is known to this process alone, so no other can continue its run."""
        if not isinstance(strategy, str | Strategy):
            if isinstance(strategy, type) or not callable(strategy):
                raise UsageError(
                    f"{strategy!r} is not a strategy.", advice="Give a name, an object of a Strategy, or a function."
                )
            strategy = FunctionStrategy(strategy)
        filling = FillPlan(
            await self.table(table_id),
            fields,
            strategy,
            params=params or {},
            row_ids=row_ids,
            again=again,
            max_rows=max_rows,
            concurrency=concurrency or self.settings.concurrency,
            retry=retry or retry_policy(self.settings),
            terms=terms_of(self.settings),
        )
        return await enrich.plan(
            self.store,
            filling,
            await self.opener_for(table_id),
            usual=usual or ("documents" if (sources or self.settings.sources).strip() == "docs" else "pipeline"),
            redo="all" if anew else "outdated" if outdated else "",
            watch=watch,
        )

    async def plan_columns(self, table_id: str, request: str) -> tuple[Field, ...]:
        """The columns that somebody describes in their own words, each with a name, a type and a question; nothing is
        added to the table. It takes a model."""
        async with self.spending():
            tools = await self.open_tools(["model"])
            return await enrich.plan_columns(self.store, table_id, within_bounds(request), tools.model)

    def formula_problem(self, table: Table, question: str, others: Sequence[str] = ()) -> str:
        """Why a question that has the form of a formula can never be computed; empty where it can be, and for other
        questions. `others` are columns that are asked for together with it."""
        return enrich.formula_problem(table, question, others)

    async def stale(self, table_id: str) -> list[StaleCell]:
        """The cells of which an input has changed since they were filled."""
        return await self.store.log.stale(table_id)

    async def stale_rounds(self, table_id: str, fields: Sequence[str] = ()) -> list[RefreshRound]:
        """What is stale, in the order in which it can be filled again; each round is applied before the next."""
        return await refresh.rounds(self.store, table_id, fields)

    async def plan_refresh(
        self, table_id: str, of: RefreshRound, *, waiting: bool = False, watch: Watch = ignore_progress
    ) -> Fill | None:
        """A run over exactly these cells; None while they wait for others that are stale. With `waiting` they do not,
        to estimate what all would take."""
        filling = FillPlan(
            await self.table(table_id),
            (),
            concurrency=self.settings.concurrency,
            retry=retry_policy(self.settings),
            terms=terms_of(self.settings),
        )
        return await refresh.plan(
            self.store, of, filling, await self.opener_for(table_id), waiting=waiting, watch=watch
        )

    async def recheck(
        self,
        table_id: str,
        fields: Sequence[str] = (),
        *,
        row_ids: Sequence[RowId] | None = None,
        dry_run: bool = False,
        watch: Watch = ignore_progress,
    ) -> Rechecked:
        """Looks whether the cited pages still say what the cells say. `jobs.stop()` stops it; what was seen counts."""
        table = await self.table(table_id)
        spec = {"fields": list(fields), "row_ids": row_ids, "dry_run": dry_run}
        found: Rechecked = await self.jobs.perform("recheck", table.id, spec, watch)
        return found

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
        spec = {"fields": list(fields), "row_ids": row_ids, "dry_run": dry_run}
        return await self.jobs.begin("recheck", table.id, spec)

    async def schedule(
        self, table_id: str, routine: Routine, every: str, *, fields: Sequence[str] = (), apply: bool = False
    ) -> Schedule:
        """Does it every hour, day or week, or by a cron expression, as long as a worker is up; for all columns, or for
        these. What a refresh finds is a proposal, unless `apply`."""
        table_id = (await self.table(table_id)).id
        person = self.store.database.acting.person
        spec = {
            "fields": list(fields),
            "row_ids": None,
            "dry_run": False,
            "apply": apply,
            ACTOR: self.actor,
            PERSON: person.id if person else "",
        }
        schedule = await self.jobs.schedule(table_id, routine, every, spec)
        await self.store.tables.note_schedule(table_id)
        return schedule
