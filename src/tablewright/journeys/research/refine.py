"""A follow-up question: first from the pages that were read, and only for what they do not say from a new search."""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.decisions.decision import Tell, decide
from tablewright.decisions.research_brief import BriefResearch, ToBrief
from tablewright.decisions.take_notes import CitedStatement
from tablewright.domain.research import (
    AnsweredFollowUp,
    Brief,
    Gap,
    Memo,
    Note,
    Report,
    Research,
    ResearchRequest,
    Round,
)
from tablewright.errors import ModelError, SearchError, UsageError
from tablewright.formats.reports.wording import Words
from tablewright.journeys.research.library import Library, ResearchLimits, failures, number_tasks
from tablewright.journeys.research.notes import numbered, read_pages
from tablewright.journeys.research.report import ReportWriter
from tablewright.store.records import now
from tablewright.store.store import Store
from tablewright.strategies.strategy import Tools

SEARCHES = 3


async def refine(store: Store, tools: Tools, research: Research, question: str, tell: Tell) -> AnsweredFollowUp:
    if not question.strip():
        raise UsageError("There is no question.")
    asked = ToBrief(
        request=ResearchRequest(question=question, length="short"),
        today=now()[:10],
        most_queries=SEARCHES,
        context=research.brief.question,
    )
    outcome = await decide(BriefResearch(), asked, tools.model, tell)
    if outcome.degraded:
        raise ModelError(f"The question could not be planned: {outcome.degraded}", kept="Nothing was changed.")
    limits = ResearchLimits(tools.budget, None)
    limits.words = Words(outcome.decided.language)
    brief: Brief = outcome.decided
    library = Library(tools, brief, limits, searched=lambda _: None, tell=tell)
    await library.reopen(store, [result for each in research.rounds for result in each.notes])
    notes = (await read_pages(tools, brief, list(library.pages.values()), limits, tell)).taken
    report = await _report(store, tools, limits, brief, notes, tell)
    searched = not report.references or bool(report.unfound)
    if searched:
        before = set(library.pages)
        results = await _search(library, limits, brief)
        new = [page for origin, page in library.pages.items() if origin not in before]
        notes += (await read_pages(tools, brief, new, limits, tell)).taken
        report = await _report(store, tools, limits, brief, notes, tell, results)
    told = report.summary or tuple(each for section in report.sections for each in section.sentences)
    answered = AnsweredFollowUp(
        question=question,
        sentences=(report.answer, *told) if report.answer else told,
        references=report.references,
        searched=searched,
        at=now(),
    )
    await store.researches.add_answer(research.id, answered)
    return answered


async def _search(library: Library, limits: ResearchLimits, brief: Brief) -> list[Note]:
    tasks = number_tasks("f", "discover", brief.queries)
    results = await library.search_for(tasks)
    failed = failures(results, Words())
    if len(failed) == len(tasks) and not limits.spent:
        raise SearchError(failed[0], kept="The report is as it was.", advice="Ask again later.")
    return results


async def _report(
    store: Store,
    tools: Tools,
    limits: ResearchLimits,
    brief: Brief,
    notes: Sequence[CitedStatement],
    tell: Tell,
    results: Sequence[Note] = (),
) -> Report:
    """A small report on these notes. A model says which part of the question they leave open."""
    asked = Gap(gap_type="missing_topic", description=brief.question, missing_topic=brief.question)
    memo = Memo(
        query=brief.question,
        report_type=brief.report_type,
        round_index=1,
        tasks_completed=0,
        tasks_remaining=0,
        gaps=(asked,) if tools.model is not None else (),
    )
    only = Round(index=1, tasks=(), notes=tuple(results), memo=memo, source_notes=numbered(notes))
    return await ReportWriter(store, tools.model, limits, tell).write(Research(id="", brief=brief, rounds=(only,)))
