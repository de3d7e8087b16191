"""Deep research: a question becomes a plan, rounds of searching and reading, and a report of what was read.

The rounds are discovery, gap-filling as long as the answer needs it, and verification (rounds.py).
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from datetime import date
from itertools import takewhile

import msgspec

from tablewright.decisions.decision import decide
from tablewright.decisions.research_brief import BriefResearch, ToBrief
from tablewright.decisions.translation import translated_lines
from tablewright.domain.model import Step
from tablewright.domain.research import (
    USUAL_EXTENT,
    Brief,
    Extent,
    Research,
    ResearchEstimate,
    ResearchEvent,
    ResearchRequest,
    ResearchStatus,
    Round,
    TaskKind,
)
from tablewright.domain.run import Usage, metered
from tablewright.engine.policy import USUAL, Terms
from tablewright.errors import ModelError, UsageError
from tablewright.formats.reports import wording
from tablewright.formats.reports.wording import Words
from tablewright.journeys.research.catalog import CANDIDATES, Catalog
from tablewright.journeys.research.library import ResearchLimits
from tablewright.journeys.research.notes import add_to_table, create_table
from tablewright.journeys.research.progress import ResearchProgress, Watch
from tablewright.journeys.research.report import ReportWriter, title_of
from tablewright.journeys.research.rounds import Rounds, Verification
from tablewright.models.text_budget import CHARACTERS_A_TOKEN, PAGES_A_CALL
from tablewright.models.tokens import estimate as price
from tablewright.sources.provenance import Provenance, telling
from tablewright.store.records import printable
from tablewright.store.store import Store
from tablewright.strategies.strategy import Tools


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
        """Plan the research, or change an earlier plan. Nothing is searched, and nothing is kept."""
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

        def note(step: Step) -> None:
            self._watch(ResearchEvent(stage="brief", detail=step.detail))

        with metered() as meter:
            outcome = await decide(BriefResearch(), asked, self._tools.model, note)
        if outcome.degraded:
            raise ModelError(f"The question could not be planned: {outcome.degraded}", kept="Nothing was searched.")
        spent = meter.usage + (before.usage if before else Usage())
        return msgspec.structs.replace(outcome.decided, usage=spent)

    async def begin(self, brief: Brief, *, max_tasks: int | None = None) -> Research:
        """Create the research and its table; nothing is searched yet."""
        if catalog := self._catalog(brief):
            with metered() as meter:
                table_id = await catalog.begin(brief)
            brief = msgspec.structs.replace(brief, usage=brief.usage + meter.usage)
        else:
            table_id = await create_table(self._store, title_of(brief), self._actor)
        return await self._store.researches.start(brief, table_id=table_id, max_tasks=self._searches(max_tasks))

    async def run(self, research_id: str) -> Research:
        """Continue from the last whole round to the report."""
        research = await self._store.researches.get(research_id)
        if research.report is not None and research.status in ("done", "nothing"):
            return research
        await self._store.researches.mark(research_id, "running")
        self._limits.words = Words(research.brief.language, research.report.words if research.report else None)
        try:
            underway = ResearchProgress(
                self._store, self._tools, self._limits, research, actor=self._actor, watch=self._watch
            )
            known = [source.url for note in underway.results for source in note.sources]
            with telling(Provenance(research.brief, addresses=known)):
                return await ResearchRun(underway, self._catalog(research.brief)).run()
        except asyncio.CancelledError:
            await self._store.researches.mark(research_id, "cancelled")
            raise
        except Exception as error:
            await self._store.researches.mark(research_id, "failed")
            if isinstance(error, ModelError):  # wherever it happened: what is kept and how to resume is said with it
                raise ModelError(error.what, **underway.kept()) from error
            raise

    def _catalog(self, brief: Brief) -> Catalog | None:
        if brief.report_type != "catalog":
            return None
        return Catalog(self._store, self._tools, self._actor, self._terms, self._watch)

    def _searches(self, asked: int | None) -> int:
        """In all rounds together; None: as many as usual."""
        searches = self._limits.extent.searches if asked is None else asked
        if searches < 1:
            raise UsageError("At least one search is needed.")
        return searches


class ResearchRun:
    """One piece of research, from its last whole round to the report.

    A round is kept when it is whole. What was cut off is done again from the last whole round: what it had bought is in
    the cache, so nothing is paid for twice, and the report is the same."""

    def __init__(self, underway: ResearchProgress, catalog: Catalog | None) -> None:
        self._underway = underway
        self._catalog = catalog
        self._spoken = bool(underway.limits.words.lines)

    async def run(self) -> Research:
        underway = self._underway
        if not underway.limits.spent:
            # With more time or money, a round in which a limit was reached is done again, and those after it.
            whole = tuple(takewhile(lambda each: not each.stopped, underway.research.rounds))
            underway.research = msgspec.structs.replace(underway.research, rounds=whole)
        await underway.library.reopen(underway.store, underway.results)
        underway.tell("brief", detail=underway.brief.asked or underway.brief.reason)
        rounds = Rounds(underway, self._catalog)
        works: dict[TaskKind, Callable[[], Awaitable[Round]]] = {
            "discover": rounds.discover,
            "fill": rounds.fill_gaps,
            "verify": Verification(underway).verify,
        }
        while not underway.limits.spent and (kind := self._next()):
            underway.round, underway.kind = len(underway.research.rounds) + 1, kind
            started = time.monotonic()
            with metered() as meter:
                done = await self._while_speaking(works[kind]())
            usage = meter.usage + Usage(seconds=round(time.monotonic() - started, 3))
            await self._keep(msgspec.structs.replace(done, kind=kind, usage=usage))
        return await self._finish()

    async def _while_speaking(self, work: Awaitable[Round]) -> Round:
        speaking = asyncio.create_task(self._speak())
        try:
            done = await work
            await speaking
        finally:
            speaking.cancel()
        return done

    async def _speak(self) -> None:
        """Our own lines in the language of the report. A model that cannot translate them leaves them in English."""
        underway = self._underway
        if self._spoken:
            return
        self._spoken = True
        asked = translated_lines("report", underway.brief.language, underway.tools.model, underway.note)
        underway.limits.words.lines = {
            text: line for (_, text), line in (await underway.limits.in_time(asked) or {}).items()
        }

    def _next(self) -> TaskKind | None:
        """What the next round is for, by the last one that is whole; None where the report is."""
        rounds, extent = self._underway.research.rounds, self._underway.limits.extent
        if not rounds:
            return "discover"
        if rounds[-1].kind == "verify":
            return None
        if extent.rounds > 1 and not rounds[-1].ended:
            return "fill"
        return "verify" if extent.rounds > 2 else None

    async def _keep(self, done: Round) -> None:
        underway = self._underway
        if self._catalog is None:
            by_model = underway.tools.model is not None
            await add_to_table(
                underway.store, underway.research.table_id, done.source_notes, by_model=by_model, actor=underway.actor
            )
        await underway.store.researches.keep_round(underway.research.id, done)
        underway.add(done)
        underway.tell("memo", detail=done.stopped or done.ended, gaps=done.memo.gaps, closed=done.closed)

    async def _finish(self) -> Research:
        underway, research = self._underway, self._underway.research
        underway.tell("writing")
        writer = ReportWriter(underway.store, underway.tools.model, underway.limits, underway.note)
        listed = await self._catalog.found(research.table_id, research.brief.language) if self._catalog else None
        started = time.monotonic()
        with metered() as meter:
            await self._speak()
            report = await writer.write(research, listed)
        took = Usage(seconds=round(time.monotonic() - started, 3))
        usage = sum((each.usage for each in research.rounds), underway.brief.usage)
        report = msgspec.structs.replace(report, usage=usage + meter.usage + took)
        status: ResearchStatus = "partial" if writer.limit else "done" if underway.notes else "nothing"
        await underway.store.researches.finish(research.id, status, report)
        underway.tell("done", detail=status)
        return await underway.store.researches.get(research.id)


# ── what it is likely to take ────────────────────────────────────────────────────────────────────────────────────────

GAPS = 4
"""Searches for gaps."""
NEW_PAGES = 3
"""Pages that a search brings and that were not read before."""
PAGE = 6_000
"""Characters of a page."""
NOTES = 2.5
"""Notes of a page."""
LIST_CALLS, ROW_CALLS = 12, 1.5
"""Of a catalog: to find the lists and read them, and for each of its rows, which are searched for one by one."""
NOTE, INSTRUCTIONS, REFLECTION, RULING, REPORT = 110, 900, 700, 300, 2_500
"""Tokens."""


def estimate_research(brief: Brief, tools: Tools, max_tasks: int, extent: Extent) -> ResearchEstimate:
    """Guess what the rounds and the report will take: nobody knows what a question opens up before it is read."""
    model = tools.model
    first = min(len(brief.queries) or extent.first_searches, max_tasks)
    if model is None:
        return ResearchEstimate(searches=first, pages=first * NEW_PAGES)
    claims = extent.checked_claims
    gaps = min(GAPS, max(max_tasks - first - extent.kept_searches, 0)) if extent.rounds > 1 else 0
    verified = min(extent.kept_searches, max_tasks - first - gaps)
    read = (first + gaps) * NEW_PAGES
    pages = read + verified * NEW_PAGES
    reading = math.ceil(max(read * PAGE / model.text_room, read / PAGES_A_CALL))
    noted = int(read * NOTES * NOTE)
    judged = claims * min(NEW_PAGES * (verified + 1) * PAGE, model.text_room)
    rows = CANDIDATES * brief.target_items if brief.report_type == "catalog" else 0
    calls = reading + 2 + claims + 2 + (LIST_CALLS + int(ROW_CALLS * rows) if rows else 0)
    characters = min(PAGE, model.text_room) * read + judged
    input_tokens = int(characters / CHARACTERS_A_TOKEN) + 3 * noted + calls * INSTRUCTIONS
    output_tokens = noted + 2 * REFLECTION + claims * RULING + REPORT
    cost = price(model.agent_model, input_tokens, output_tokens)
    return ResearchEstimate(
        searches=first + gaps + verified + rows,
        pages=pages + rows,
        calls=calls,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost_usd=None if cost is None else float(cost),
    )
