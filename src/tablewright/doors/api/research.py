"""Deep research: a question becomes a report that cites only what was read."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import Query
from fastapi.responses import FileResponse, Response
from pydantic import ConfigDict
from pydantic import Field as Value

from tablewright.domain.model import Noun
from tablewright.domain.research import (
    AnsweredFollowUp,
    Brief,
    CheckedClaim,
    Gap,
    Length,
    Report,
    ReportTable,
    ReportType,
    ResearchEstimate,
    ResearchRequest,
    ResearchStatus,
    Round,
)
from tablewright.domain.usage import Usage
from tablewright.doors.api.answers import Json, Page, file_answer, file_responses, newest_first
from tablewright.doors.api.idempotency import OnlyOnce
from tablewright.doors.api.inputs import SOME, After, Body, Limit, Name, Question, ResearchId, resource
from tablewright.doors.api.schemas import EXAMPLES, described
from tablewright.doors.api.visible import seen_research
from tablewright.doors.server.context import Visiting
from tablewright.errors import UsageError
from tablewright.formats.reports.write import ReportFormat
from tablewright.operations.tables import Removed

router = resource("research")


class ResearchHead(Noun, frozen=True):
    research_id: str
    question: str
    report_type: ReportType
    status: ResearchStatus
    table_id: str
    created_at: str
    updated_at: str


class ResearchPage(Page, frozen=True):
    researches: tuple[ResearchHead, ...]


class ResearchStarted(Noun, frozen=True):
    """Watch it at `/runs/{run_id}/events`."""

    research_id: str
    run_id: str
    table_id: str


class ResearchShown(Noun, frozen=True):
    """As far as it has come: what each round did and left open, the claims with their verdicts, and the report."""

    research_id: str
    run_id: str
    status: ResearchStatus
    table_id: str
    brief: Brief
    rounds: tuple[Round, ...]
    gaps: tuple[Gap, ...]
    claims: tuple[CheckedClaim, ...]
    table: ReportTable | None
    report: Report | None
    answered: tuple[AnsweredFollowUp, ...]
    usage: Usage | None


EXAMPLES[ResearchStarted] = {"research_id": "s8wq3kzt5v", "run_id": "r7kq2mwx3p", "table_id": "ai-providers-9tz"}


class ResearchPlanned(Noun, frozen=True):
    """The plan of a question, and what it is likely to take. Change what you like in `brief` and start with it."""

    brief: Brief
    estimate: ResearchEstimate


class AskedResearch(Body):
    question: Question
    type: ReportType | None = Value(None, description="Overrides the type in the plan.")
    items: int | None = Value(None, ge=1, le=50, description="How many things a catalog lists.")
    fields: list[Name] = Value([], max_length=30, description="Details wanted of each thing.")
    sections: list[Name] = Value([], max_length=12, description="Sections of the report.")
    language: Name = Value("", description="Of the report; default: the question's.")
    length: Length | None = Value(None, description="Default: standard.")
    max_tasks: int | None = Value(
        None, ge=1, le=200, description="Searches in all rounds together. Default: the setting `research_searches`."
    )

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"question": "Identify 5 AI providers with pricing and case studies"}]},
    )

    @property
    def request(self) -> ResearchRequest:
        return ResearchRequest(
            question=self.question,
            report_type=self.type,
            items=self.items,
            fields=tuple(self.fields),
            sections=tuple(self.sections),
            language=self.language,
            length=self.length,
        )


class ResearchToStart(AskedResearch):
    minutes: float | None = Value(None, gt=0, le=1_440, description="The longest it may take.")
    brief: dict[str, Any] | None = Value(None, description="A plan of `/research/plan`, as it is or changed.")


class FollowUp(Body):
    question: Question


@router.get("/research", response_model=described(ResearchPage))
async def list_research(visit: Visiting, limit: Limit = SOME, after: After = "") -> Json:
    """All research, newest first."""
    some, more = newest_first(await visit.services.researches(), after, limit, lambda each: (each.created_at, each.id))
    heads = [
        ResearchHead(
            research_id=each.id,
            question=each.brief.question,
            report_type=each.brief.report_type,
            status=each.status,
            table_id=each.table_id,
            created_at=each.created_at,
            updated_at=each.updated_at,
        )
        for each in some
    ]
    return Json(ResearchPage(researches=tuple(heads), next=more))


@router.post("/research/plan", response_model=described(ResearchPlanned))
async def plan_research(visit: Visiting, asked: AskedResearch) -> Json:
    """Plans a question without starting: a plan to review and change. Nothing is searched or stored."""
    visit.must_run()
    brief = await visit.services.plan_research(asked.request, max_tasks=asked.max_tasks)
    likely = await visit.services.estimate_research(brief, max_tasks=asked.max_tasks)
    return Json(ResearchPlanned(brief=brief, estimate=likely))


@router.post("/research", status_code=202, response_model=described(ResearchStarted))
async def start_research(visit: Visiting, asked: ResearchToStart, once: OnlyOnce) -> Response:
    """Plans the question, unless a plan is given, and starts to research it in the background: discovery, gap-filling,
    verification, then a report."""
    visit.must_run()

    async def work() -> Json:
        begun = await visit.services.begin_research(
            asked.request, brief=planned(asked.brief), max_tasks=asked.max_tasks
        )
        run_id = await visit.services.start_research(begun.id, minutes=asked.minutes)
        return Json(ResearchStarted(research_id=begun.id, run_id=run_id, table_id=begun.table_id), 202)

    return await once.answer(work)


def planned(brief: dict[str, Any] | None) -> Brief | None:
    try:
        return None if brief is None else msgspec.convert(brief, Brief)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"The plan cannot be read: {error}", advice="Send `brief` as /research/plan gave it."
        ) from None


@router.get("/research/{research_id}", response_model=described(ResearchShown))
async def get_research(visit: Visiting, research_id: ResearchId) -> Json:
    """A piece of research, as far as it has progressed."""
    research = await seen_research(visit, research_id)
    report = await visit.services.research_report(research.id)
    run = await visit.services.research_run(research)
    return Json(report | {"run_id": run.id if run else ""})


@router.delete("/research/{research_id}", response_model=described(Removed))
async def remove_research(visit: Visiting, research_id: ResearchId) -> Json:
    """Deletes a piece of research; its table stays."""
    visit.must_change()
    research = await seen_research(visit, research_id)
    await visit.services.remove_research(research.id)
    return Json(Removed(removed=research.id))


@router.get(
    "/research/{research_id}/report",
    response_class=FileResponse,
    responses=file_responses("md", "html", "docx", "pdf", "json"),
)
async def get_report(
    visit: Visiting,
    research_id: ResearchId,
    format: Annotated[ReportFormat, Query(description="The kind of file.")] = "md",
) -> FileResponse:
    """The report as a file."""
    research = await seen_research(visit, research_id)
    return await file_answer(
        research.brief.question, format, lambda path: visit.services.write_report(research.id, path)
    )


@router.post("/research/{research_id}/questions", response_model=described(AnsweredFollowUp))
async def refine_research(visit: Visiting, research_id: ResearchId, asked: FollowUp, once: OnlyOnce) -> Response:
    """Answers a follow-up question from the stored evidence, or from a search if that does not say."""
    visit.must_run()
    research = await seen_research(visit, research_id)

    async def work() -> Json:
        return Json(await visit.services.refine_research(research.id, asked.question))

    return await once.answer(work)
