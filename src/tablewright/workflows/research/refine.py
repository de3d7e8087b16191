"""Answer a follow-up question from the pages that were read, and from a new search only if they do not answer it.

Saves the answer with the research; its rounds and its report stay unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence

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
from tablewright.formats.reports.wording import ReportWords
from tablewright.llm.tasks.decision import Tell, decide
from tablewright.llm.tasks.research_brief import PlanResearch, ResearchToPlan
from tablewright.llm.tasks.take_notes import CitedStatement
from tablewright.store.records import utc_now
from tablewright.store.store import Store
from tablewright.strategies.strategy import Tools
from tablewright.workflows.research.library import Library, ResearchLimits, describe_failed_searches, number_tasks
from tablewright.workflows.research.notes import number_notes, read_pages
from tablewright.workflows.research.report import ReportWriter


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
