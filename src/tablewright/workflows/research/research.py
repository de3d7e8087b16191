"""Deep research: plan a question, search and read in rounds, and write a report of what was read.

The rounds are discovery, gap-filling as long as the answer needs it, and verification (`rounds.py`). This module saves
each complete round, so that an interrupted run resumes; everything below works on the state it passes down.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import takewhile

import msgspec

from tablewright.domain.model import Step
from tablewright.domain.research import (
    DEFAULT_EXTENT,
    AnsweredFollowUp,
    Brief,
    Gap,
    Memo,
    Note,
    Report,
    Research,
    ResearchEstimate,
    ResearchEvent,
    ResearchExtent,
    ResearchRequest,
    ResearchStatus,
    Round,
    TaskKind,
)
from tablewright.domain.run import Usage, measure_usage
from tablewright.engine.policy import DEFAULT_POLICY, RunPolicy
from tablewright.errors import ModelError, SearchError, UsageError
from tablewright.formats.reports import wording
from tablewright.formats.reports.wording import ReportWords
from tablewright.llm.tasks.decision import Tell, decide
from tablewright.llm.tasks.research_brief import PlanResearch, ResearchToPlan
from tablewright.llm.tasks.take_notes import CitedStatement
from tablewright.llm.tasks.translation import translate_lines
from tablewright.llm.text_budget import TEXT_LIMITS
from tablewright.llm.tokens import estimate_price as price
from tablewright.store.records import clean_for_storage, utc_now
from tablewright.store.store import Store
from tablewright.strategies.strategy import Tools
from tablewright.web.provenance import Provenance, track_provenance
from tablewright.workflows.research.catalog import CANDIDATES_PER_ITEM, Catalog
from tablewright.workflows.research.library import Library, ResearchLimits, describe_failed_searches, number_tasks
from tablewright.workflows.research.notes import add_notes_to_table, create_notes_table, number_notes, read_pages
from tablewright.workflows.research.progress import ResearchProgress, Watch
from tablewright.workflows.research.report import ReportWriter, make_report_title
from tablewright.workflows.research.rounds import ResearchRounds, Verification


class Researcher:
    """Starts, resumes and changes research for one person; the entry point of this package."""

    def __init__(
        self,
        store: Store,
        tools: Tools,
        *,
        actor: str = "",
        minutes: float | None = None,
        extent: ResearchExtent = DEFAULT_EXTENT,
        policy: RunPolicy = DEFAULT_POLICY,
        today: Callable[[], date] = date.today,
        watch: Watch = lambda _: None,
    ) -> None:
        self._store = store
        self._tools = tools
        self._actor = actor
        self._limits = ResearchLimits(tools.budget, minutes, extent)
        self._policy = policy
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
        """Plan the research, or change an earlier plan. Nothing is searched or saved."""
        if not request.question.strip():
            raise UsageError("There is no question.", advice="Say what to find out.")
        max_tasks = self._searches(max_tasks)
        asked = ResearchToPlan(
            request=msgspec.structs.replace(request, question=clean_for_storage(request.question)),
            today=self._today().isoformat(),
            most_queries=min(self._limits.extent.first_searches, max_tasks),
            usual_items=self._limits.extent.items,
            before=wording.describe_brief(before) if before else "",
            change=change,
        )

        def note(step: Step) -> None:
            self._watch(ResearchEvent(stage="brief", detail=step.detail))

        with measure_usage() as meter:
            outcome = await decide(PlanResearch(), asked, self._tools.model, note)
        if outcome.degraded:
            raise ModelError(f"The question could not be planned: {outcome.degraded}", kept="Nothing was searched.")
        spent = meter.usage + (before.usage if before else Usage())
        return msgspec.structs.replace(outcome.decided, usage=spent)

    async def begin(self, brief: Brief, *, max_tasks: int | None = None) -> Research:
        """Create the research and its table; nothing is searched yet."""
        if catalog := self._catalog(brief):
            with measure_usage() as meter:
                table_id = await catalog.begin(brief)
            brief = msgspec.structs.replace(brief, usage=brief.usage + meter.usage)
        else:
            table_id = await create_notes_table(self._store, make_report_title(brief), self._actor)
        return await self._store.researches.start(brief, table_id=table_id, max_tasks=self._searches(max_tasks))

    async def run(self, research_id: str) -> Research:
        """Continue from the last complete round to the report."""
        research = await self._store.researches.get(research_id)
        if research.report is not None and research.status in ("done", "nothing"):
            return research
        await self._store.researches.mark(research_id, "running")
        self._limits.words = ReportWords(research.brief.language, research.report.words if research.report else None)
        try:
            underway = ResearchProgress(
                self._store, self._tools, self._limits, research, actor=self._actor, watch=self._watch
            )
            known = [source.url for note in underway.results for source in note.sources]
            with track_provenance(Provenance(research.brief, addresses=known)):
                return await ResearchRun(underway, self._catalog(research.brief)).run()
        except asyncio.CancelledError:
            await self._store.researches.mark(research_id, "cancelled")
            raise
        except Exception as error:
            await self._store.researches.mark(research_id, "failed")
            if isinstance(error, ModelError):  # only here it is known what is kept and how to resume
                raise ModelError(error.what, **underway.kept()) from error
            raise

    def _catalog(self, brief: Brief) -> Catalog | None:
        if brief.report_type != "catalog":
            return None
        return Catalog(self._store, self._tools, self._actor, self._policy, self._watch)

    def _searches(self, asked: int | None) -> int:
        """Return the number of searches in all rounds together; `asked` None means the usual one."""
        searches = self._limits.extent.searches if asked is None else asked
        if searches < 1:
            raise UsageError("At least one search is needed.")
        return searches


class ResearchRun:
    """One run, from the last complete round to the report.

    Only complete rounds are saved; an interrupted one is repeated. Its results are in the cache, so nothing is paid for
    twice and the report is the same."""

    def __init__(self, underway: ResearchProgress, catalog: Catalog | None) -> None:
        self._underway = underway
        self._catalog = catalog
        self._spoken = bool(underway.limits.words.lines)

    async def run(self) -> Research:
        underway = self._underway
        if not underway.limits.spent:
            # With more time or money, the round that reached a limit is repeated, and those after it.
            whole = tuple(takewhile(lambda each: not each.stopped, underway.research.rounds))
            underway.research = msgspec.structs.replace(underway.research, rounds=whole)
        await underway.library.reopen(underway.store, underway.results)
        underway.tell("brief", detail=underway.brief.asked or underway.brief.reason)
        rounds = ResearchRounds(underway, self._catalog)
        works: dict[TaskKind, Callable[[], Awaitable[Round]]] = {
            "discover": rounds.discover,
            "fill": rounds.fill_gaps,
            "verify": Verification(underway).verify,
        }
        while not underway.limits.spent and (kind := self._next()):
            underway.round, underway.kind = len(underway.research.rounds) + 1, kind
            started = time.monotonic()
            with measure_usage() as meter:
                speaking = asyncio.create_task(self._speak())
                try:
                    done = await works[kind]()
                    await speaking
                finally:
                    speaking.cancel()
            usage = meter.usage + Usage(seconds=round(time.monotonic() - started, 3))
            await self._keep(msgspec.structs.replace(done, kind=kind, usage=usage))
        return await self._finish()

    async def _speak(self) -> None:
        """Translate our own lines into the language of the report; they stay English if the model fails."""
        underway = self._underway
        if self._spoken:
            return
        self._spoken = True
        asked = translate_lines("report", underway.brief.language, underway.tools.model, underway.note)
        underway.limits.words.lines = {
            text: line for (_, text), line in (await underway.limits.in_time(asked) or {}).items()
        }

    def _next(self) -> TaskKind | None:
        """Return the kind of the next round, or None if the report is next."""
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
            await add_notes_to_table(
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
        with measure_usage() as meter:
            await self._speak()
            report = await writer.write(research, listed)
        took = Usage(seconds=round(time.monotonic() - started, 3))
        usage = sum((each.usage for each in research.rounds), underway.brief.usage)
        report = msgspec.structs.replace(report, usage=usage + meter.usage + took)
        status: ResearchStatus = "partial" if writer.limit else "done" if underway.notes else "nothing"
        await underway.store.researches.finish(research.id, status, report)
        underway.tell("done", detail=status)
        return await underway.store.researches.get(research.id)


# ── the estimate ─────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class TypicalResearch:
    """Typical figures of a run; guesses, since a question shows how far it reaches only while it is researched."""

    gap_searches: int = 4
    new_pages_per_search: int = 3
    page_characters: int = 6_000
    notes_per_page: float = 2.5
    catalog_calls: int = 12
    """To find the lists of a catalog and read them."""
    calls_per_row: float = 1.5
    note_tokens: int = 110
    instruction_tokens: int = 900
    reflection_tokens: int = 700
    ruling_tokens: int = 300
    report_tokens: int = 2_500


def estimate_research(brief: Brief, tools: Tools, max_tasks: int, extent: ResearchExtent) -> ResearchEstimate:
    """Estimate the effort of all rounds and the report."""
    typical, model = TypicalResearch(), tools.model
    first = min(len(brief.queries) or extent.first_searches, max_tasks)
    if model is None:
        return ResearchEstimate(searches=first, pages=first * typical.new_pages_per_search)
    claims = extent.checked_claims
    gaps = min(typical.gap_searches, max(max_tasks - first - extent.kept_searches, 0)) if extent.rounds > 1 else 0
    verified = min(extent.kept_searches, max_tasks - first - gaps)
    read = (first + gaps) * typical.new_pages_per_search
    pages = read + verified * typical.new_pages_per_search
    reading = math.ceil(max(read * typical.page_characters / model.text_room, read / TEXT_LIMITS.pages_per_call))
    noted = int(read * typical.notes_per_page * typical.note_tokens)
    judged_characters = typical.new_pages_per_search * (verified + 1) * typical.page_characters
    judged = claims * min(judged_characters, model.text_room)
    rows = CANDIDATES_PER_ITEM * brief.target_items if brief.report_type == "catalog" else 0
    calls = reading + 2 + claims + 2 + (typical.catalog_calls + int(typical.calls_per_row * rows) if rows else 0)
    characters = min(typical.page_characters, model.text_room) * read + judged
    input_tokens = int(characters / TEXT_LIMITS.characters_per_token) + 3 * noted + calls * typical.instruction_tokens
    output_tokens = noted + 2 * typical.reflection_tokens + claims * typical.ruling_tokens + typical.report_tokens
    cost = price(model.asked, input_tokens, output_tokens)
    return ResearchEstimate(
        searches=first + gaps + verified + rows,
        pages=pages + rows,
        calls=calls,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost_usd=None if cost is None else float(cost),
    )


# ── follow-up questions ───────────────────────────────────────────────────────────────────────────────────────────────


async def research_follow_up(
    store: Store, tools: Tools, research: Research, question: str, tell: Tell
) -> AnsweredFollowUp:
    if not question.strip():
        raise UsageError("There is no question.")
    # A follow-up should take seconds, not minutes.
    asked = ResearchToPlan(
        request=ResearchRequest(question=question, length="short"),
        today=utc_now()[:10],
        most_queries=3,
        context=research.brief.question,
    )
    outcome = await decide(PlanResearch(), asked, tools.model, tell)
    if outcome.degraded:
        raise ModelError(f"The question could not be planned: {outcome.degraded}", kept="Nothing was changed.")
    limits = ResearchLimits(tools.budget, None)
    limits.words = ReportWords(outcome.decided.language)
    brief: Brief = outcome.decided
    library = Library(tools, brief, limits, searched=lambda _: None, tell=tell)
    await library.reopen(store, [result for each in research.rounds for result in each.notes])
    notes = (await read_pages(tools, brief, list(library.pages.values()), limits, tell)).taken
    report = await _write_follow_up(store, tools, limits, brief, notes, tell)
    searched = not report.references or bool(report.unfound)
    if searched:
        before = set(library.pages)
        results = await _search_follow_up(library, limits, brief)
        new = [page for origin, page in library.pages.items() if origin not in before]
        notes += (await read_pages(tools, brief, new, limits, tell)).taken
        report = await _write_follow_up(store, tools, limits, brief, notes, tell, results)
    sentences = report.summary or tuple(each for section in report.sections for each in section.sentences)
    answered = AnsweredFollowUp(
        question=question,
        sentences=(report.answer, *sentences) if report.answer else sentences,
        references=report.references,
        searched=searched,
        at=utc_now(),
    )
    await store.researches.add_answer(research.id, answered)
    return answered


async def _search_follow_up(library: Library, limits: ResearchLimits, brief: Brief) -> list[Note]:
    tasks = number_tasks("f", "discover", brief.queries)
    results = await library.search_for(tasks)
    failed = describe_failed_searches(results, ReportWords())
    if len(failed) == len(tasks) and not limits.spent:
        raise SearchError(failed[0], kept="The report is unchanged.", advice="Ask again later.")
    return results


async def _write_follow_up(
    store: Store,
    tools: Tools,
    limits: ResearchLimits,
    brief: Brief,
    notes: Sequence[CitedStatement],
    tell: Tell,
    results: Sequence[Note] = (),
) -> Report:
    """Write a small report on these notes; the model says which part of the question they leave open."""
    asked = Gap(gap_type="missing_topic", description=brief.question, missing_topic=brief.question)
    memo = Memo(
        query=brief.question,
        report_type=brief.report_type,
        round_index=1,
        tasks_completed=0,
        tasks_remaining=0,
        gaps=(asked,) if tools.model is not None else (),
    )
    only = Round(index=1, tasks=(), notes=tuple(results), memo=memo, source_notes=number_notes(notes))
    return await ReportWriter(store, tools.model, limits, tell).write(Research(id="", brief=brief, rounds=(only,)))
