"""Deep research: a question becomes a plan, rounds of searching and reading, and a report of what was read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import date

import msgspec

from tablewright.decisions.decision import decide
from tablewright.decisions.research_brief import BriefResearch, ToBrief
from tablewright.domain.model import Step
from tablewright.domain.research import USUAL_EXTENT, Brief, Extent, Research, ResearchEvent, ResearchRequest
from tablewright.domain.usage import Meter, Usage, metered
from tablewright.engine.fill import USUAL, Terms
from tablewright.errors import ModelError, UsageError
from tablewright.formats.reports import wording
from tablewright.journeys.research import notes
from tablewright.journeys.research.catalog import Catalog
from tablewright.journeys.research.limits import ResearchLimits
from tablewright.journeys.research.progress import Watch
from tablewright.journeys.research.report import title_of
from tablewright.journeys.research.rounds import Rounds
from tablewright.store.records import printable
from tablewright.store.store import Store
from tablewright.strategies.tools import Tools


def ignore(event: ResearchEvent) -> None:
    """For callers who do not watch."""


class Researcher:
    def __init__(
        self,
        store: Store,
        tools: Tools,
        *,
        actor: str = "",
        minutes: float | None = None,
        extent: Extent = USUAL_EXTENT,
        terms: Terms = USUAL,
        today: Callable[[], date] = date.today,
        watch: Watch = ignore,
    ) -> None:
        self._store = store
        self._tools = tools
        self._actor = actor
        self._limits = ResearchLimits(tools.budget, minutes, extent)
        self._terms = terms
        self._today = today
        self._watch = watch

    async def brief(
        self,
        request: ResearchRequest,
        *,
        max_tasks: int | None = None,
        before: Brief | None = None,
        change: str = "",
    ) -> Brief:
        """The plan, or an earlier plan with a change to it. Nothing is searched, and nothing is kept."""
        if not request.question.strip():
            raise UsageError("There is no question.", advice="Say what to find out.")
        max_tasks = self._searches(max_tasks)
        asked = ToBrief(
            request=msgspec.structs.replace(request, question=printable(request.question)),
            today=self._today().isoformat(),
            most_queries=min(self._limits.extent.first_searches, max_tasks),
            usual_items=self._limits.extent.items,
            before=wording.plan(before) if before else "",
            change=change,
        )
        meter = Meter()
        with metered(meter):
            outcome = await decide(BriefResearch(), asked, self._tools.model, self._note)
        if outcome.degraded:
            raise ModelError(f"The question could not be planned: {outcome.degraded}", kept="Nothing was searched.")
        spent = meter.usage + (before.usage if before else Usage())
        return msgspec.structs.replace(outcome.decided, usage=spent)

    async def begin(self, brief: Brief, *, max_tasks: int | None = None) -> Research:
        """With a table of its own; nothing is searched yet."""
        if brief.report_type == "catalog":
            catalog = Catalog(self._store, self._tools, self._actor, self._terms, self._watch)
            with metered() as meter:
                table_id = await catalog.begin(brief)
            brief = msgspec.structs.replace(brief, usage=brief.usage + meter.usage)
        else:
            table = await self._store.tables.create(
                title_of(brief), notes.fields(), key_field=notes.STATEMENT, actor=self._actor, note="deep research"
            )
            table_id = table.id
        return await self._store.researches.start(brief, table_id=table_id, max_tasks=self._searches(max_tasks))

    async def run(self, research_id: str) -> Research:
        """From the last whole round on, to the report."""
        research = await self._store.researches.get(research_id)
        if research.report is not None and research.status in ("done", "nothing"):
            return research
        await self._store.researches.mark(research_id, "running")
        try:
            rounds = Rounds(self._store, self._tools, self._limits, research, self._actor, self._terms, self._watch)
            return await rounds.run()
        except asyncio.CancelledError:
            await self._store.researches.mark(research_id, "cancelled")
            raise
        except Exception:
            await self._store.researches.mark(research_id, "failed")
            raise

    def _searches(self, asked: int | None) -> int:
        """In all rounds together; None: as many as usual."""
        searches = self._limits.extent.searches if asked is None else asked
        if searches < 1:
            raise UsageError("At least one search is needed.")
        return searches

    def _note(self, step: Step) -> None:
        self._watch(ResearchEvent(stage="brief", detail=step.detail))
