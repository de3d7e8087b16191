"""The rounds of research: discovery, gap-filling as long as the answer needs it, verification; then the report.

Workers search and open pages, a model notes what they say, reflects, and judges the claims that matter. A round is kept
when it is whole. What was cut off is done again from the last whole round: what it had bought is in the cache, so
nothing is paid for twice, and the report is the same.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from itertools import takewhile

import msgspec

from tablewright.decisions.translation import translated_lines
from tablewright.domain.research import Research, ResearchStatus, Round, TaskKind
from tablewright.domain.usage import Meter, Usage, metered
from tablewright.engine.fill import Terms
from tablewright.errors import ModelError
from tablewright.formats.reports.wording import Words
from tablewright.journeys.research.catalog import Catalog
from tablewright.journeys.research.claims import Verification
from tablewright.journeys.research.gather import ResearchGatherer
from tablewright.journeys.research.limits import ResearchLimits
from tablewright.journeys.research.notes import add_to_table
from tablewright.journeys.research.progress import ResearchProgress, Watch
from tablewright.journeys.research.report import ReportWriter
from tablewright.sources.provenance import Provenance, telling
from tablewright.store.store import Store
from tablewright.strategies.tools import Tools


class Rounds:
    """One piece of research, from its last whole round to the report."""

    def __init__(
        self,
        store: Store,
        tools: Tools,
        limits: ResearchLimits,
        research: Research,
        actor: str,
        terms: Terms,
        watch: Watch,
    ) -> None:
        limits.words = Words(research.brief.language, research.report.words if research.report else None)
        self._underway = ResearchProgress(store, tools, limits, research, actor=actor, watch=watch)
        self._catalog = Catalog(store, tools, actor, terms, watch) if research.brief.report_type == "catalog" else None
        self._spoken = bool(limits.words.lines)

    async def run(self) -> Research:
        underway = self._underway
        known = [source.url for note in underway.results for source in note.sources]
        try:
            with telling(Provenance(underway.brief, addresses=known)):
                return await self._run()
        except ModelError as error:  # wherever it happened: what is kept and how to resume is said with it
            raise ModelError(error.what, **self._underway.kept()) from error

    async def _run(self) -> Research:
        underway = self._underway
        if not underway.limits.spent:
            # With more time or money, a round in which a limit was reached is done again, and those after it.
            whole = tuple(takewhile(lambda each: not each.stopped, underway.research.rounds))
            underway.research = msgspec.structs.replace(underway.research, rounds=whole)
        await underway.library.reopen(underway.store, underway.results)
        underway.tell("brief", detail=underway.brief.asked or underway.brief.reason)
        gatherer = ResearchGatherer(underway, self._catalog)
        works: dict[TaskKind, Callable[[], Awaitable[Round]]] = {
            "discover": gatherer.discover,
            "fill": gatherer.fill_gaps,
            "verify": Verification(underway).verify,
        }
        while not underway.limits.spent and (kind := self._next()):
            underway.round, underway.kind = len(underway.research.rounds) + 1, kind
            meter, started = Meter(), time.monotonic()
            with metered(meter):
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
        listed = (
            await self._catalog.found(research.table_id, research.brief.language) if self._catalog is not None else None
        )
        meter, started = Meter(), time.monotonic()
        with metered(meter):
            await self._speak()
            report = await writer.write(research, listed)
        took = Usage(seconds=round(time.monotonic() - started, 3))
        usage = sum((each.usage for each in research.rounds), underway.brief.usage)
        report = msgspec.structs.replace(report, usage=usage + meter.usage + took)
        status: ResearchStatus = "partial" if writer.limit else "done" if underway.notes else "nothing"
        await underway.store.researches.finish(research.id, status, report)
        underway.tell("done", detail=status)
        return await underway.store.researches.get(research.id)
