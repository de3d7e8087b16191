"""Research a question: a plan to change, a run, a report that cites only what was read, and follow-up questions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from tablewright.domain.model import Step, Struct
from tablewright.domain.naming import check_request_text
from tablewright.domain.research import (
    AnsweredFollowUp,
    Brief,
    CheckedClaim,
    Gap,
    Length,
    Report,
    ReportFormat,
    ReportTable,
    ReportType,
    Research,
    ResearchEstimate,
    ResearchEvent,
    ResearchRequest,
    ResearchStatus,
    Round,
)
from tablewright.domain.run import Usage
from tablewright.errors import NotFound
from tablewright.operations.operation import (
    FileWritten,
    ListRequest,
    Name,
    Page,
    Question,
    Request,
    copy_fields,
    operation,
)
from tablewright.operations.paging import page_newest_first
from tablewright.operations.paths import hide_existence
from tablewright.operations.tables import Removed

if TYPE_CHECKING:
    from tablewright.engine.runs.kinds import RunContext
    from tablewright.services import Services
    from tablewright.workflows.research.research import Researcher

ResearchRef = Annotated[str, msgspec.Meta(min_length=1, max_length=200, description="The id of the research.")]
Minutes = Annotated[
    Annotated[float, msgspec.Meta(gt=0, le=1_440)] | None,
    msgspec.Meta(description="The longest it may take; then the report is partial."),
]


class ResearchHead(Struct, frozen=True):
    research_id: str
    question: str
    report_type: ReportType
    status: ResearchStatus
    table_id: str
    created_at: str
    updated_at: str


class ResearchPage(Page, frozen=True):
    researches: tuple[ResearchHead, ...]


class ResearchPlanned(Struct, frozen=True):
    """The plan of a question, and what it is likely to take. Change what you like in `brief` and start with it."""

    brief: Brief
    estimate: ResearchEstimate


class ResearchStarted(Struct, frozen=True):
    """Watch it at `/runs/{run_id}/events`."""

    research_id: str
    run_id: str
    table_id: str


class ResearchShown(Struct, frozen=True):
    """The research so far: what each round did and left open, the claims with their verdicts, and the report."""

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


@operation("read")
async def list_research(services: Services, request: ListRequest) -> ResearchPage:
    """All research, newest first."""
    found = await services.store.researches.all()
    some, more = page_newest_first(found, request.after, request.limit, lambda each: (each.created_at, each.id))
    heads = tuple(
        copy_fields(
            ResearchHead,
            each,
            research_id=each.id,
            question=each.brief.question,
            report_type=each.brief.report_type,
        )
        for each in some
    )
    return ResearchPage(researches=heads, next=more)


# ── start ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class ResearchQuestion(Request, frozen=True, kw_only=True):
    question: Annotated[
        Question,
        msgspec.Meta(
            description="What to find out.", examples=["Identify 5 AI providers with pricing and case studies"]
        ),
    ]
    report_type: Annotated[ReportType | None, msgspec.Meta(description="Overrides the type in the plan.")] = None
    items: Annotated[
        Annotated[int, msgspec.Meta(ge=1, le=50)] | None, msgspec.Meta(description="How many things a catalog lists.")
    ] = None
    fields: Annotated[
        tuple[Name, ...], msgspec.Meta(max_length=30, description="Details wanted of each thing in a catalog.")
    ] = ()
    sections: Annotated[tuple[Name, ...], msgspec.Meta(max_length=12, description="Sections of the report.")] = ()
    language: Annotated[Name, msgspec.Meta(description="Of the report; default: the question's.")] = ""
    length: Annotated[Length | None, msgspec.Meta(description="Default: standard.")] = None
    max_searches: Annotated[
        Annotated[int, msgspec.Meta(ge=1, le=200)] | None,
        msgspec.Meta(description="Searches in all rounds together. Default: the setting `research_searches`."),
    ] = None


class PlanResearch(ResearchQuestion, frozen=True, kw_only=True):
    brief: Annotated[Brief | None, msgspec.Meta(description="An earlier plan of this question, to be changed.")] = None
    change: Annotated[str, msgspec.Meta(max_length=4_000, description="What to change in `brief`, in words.")] = ""


@operation("run")
async def plan_research(services: Services, request: PlanResearch) -> ResearchPlanned:
    """Plan a question without starting: a plan to review and change. Nothing is searched or stored."""
    from tablewright.workflows.research.research import estimate_research

    asked = copy_fields(ResearchRequest, request, question=check_request_text(request.question))
    researcher = await open_researcher(services)
    async with services.spending():
        brief = await researcher.brief(
            asked, max_tasks=request.max_searches, before=request.brief, change=request.change
        )
    extent = services.research_extent
    tools = await services.open_tools(("web", "model"))
    likely = estimate_research(brief, tools, request.max_searches or extent.searches, extent)
    return ResearchPlanned(brief=brief, estimate=likely)


class StartResearch(ResearchQuestion, frozen=True, kw_only=True):
    brief: Annotated[
        Brief | None, msgspec.Meta(description="A plan of `/research/plan`, as it is or changed; else it is planned.")
    ] = None
    minutes: Minutes = None


@operation("run")
async def start_research(services: Services, request: StartResearch) -> ResearchStarted:
    """Plan the question, unless a plan is given, and start to research it in the background: discovery, gap-filling,
    verification, then a report."""
    created = await create_research(services, request)
    return await resume_research(services, ResumeResearch(research=created.id, minutes=request.minutes))


async def create_research(services: Services, request: StartResearch) -> Research:
    """Store the planned research and create its table, without starting."""
    brief = request.brief
    if brief is None:
        brief = (await plan_research(services, copy_fields(PlanResearch, request, brief=None, change=""))).brief
    researcher = await open_researcher(services)
    async with services.spending():
        return await researcher.begin(brief, max_tasks=request.max_searches)


class ResumeResearch(Request, frozen=True, kw_only=True):
    research: ResearchRef
    minutes: Minutes = None


@operation("run")
async def resume_research(services: Services, request: ResumeResearch) -> ResearchStarted:
    """Continue research that was interrupted, or whose report is partial, in the background."""
    research = await find_research(services, request.research)
    run_id = await services.jobs.begin("research", research.table_id, make_research_spec(research, request))
    return ResearchStarted(research_id=research.id, run_id=run_id, table_id=research.table_id)


async def run_to_report(
    services: Services, request: ResumeResearch, *, watch: Callable[[ResearchEvent], None] = lambda _: None
) -> ResearchShown:
    """Do what `resume_research` does in this process, and return the research."""
    research = await find_research(services, request.research)
    await services.jobs.perform("research", research.table_id, make_research_spec(research, request), watch)
    return await get_research(services, GetResearch(research=research.id))


def make_research_spec(research: Research, request: ResumeResearch) -> dict[str, Any]:
    return {"research": research.id, "minutes": request.minutes, "question": research.brief.question}


async def run_research(services: Services, context: RunContext) -> Research:
    """Perform a run of planned research; after an interruption it continues."""
    researcher = await open_researcher(services, minutes=context.request["minutes"], watch=context.tell)
    return await researcher.run(context.request["research"])


async def open_researcher(services: Services, **more: Any) -> Researcher:
    from tablewright.workflows.research.research import Researcher

    return Researcher(
        services.store,
        await services.open_tools(("web", "model")),
        actor=services.actor,
        extent=services.research_extent,
        policy=services.policy,
        **more,
    )


# ── one piece of research ───────────────────────────────────────────────────────────────────────────────────────────


class GetResearch(Request, frozen=True):
    research: ResearchRef


@operation("read")
async def get_research(services: Services, request: GetResearch) -> ResearchShown:
    """A piece of research, as far as it has progressed."""
    research = await find_research(services, request.research)
    run, report = None, research.report
    # None if it was done without one, or its table is gone. Runs are listed newest first.
    with suppress(NotFound):
        runs = await services.jobs.all(research.table_id)
        run = next((each for each in runs if each.spec.get("research") == research.id), None)
    return copy_fields(
        ResearchShown,
        research,
        research_id=research.id,
        run_id=run.id if run else "",
        gaps=research.rounds[-1].memo.gaps if research.rounds else (),
        claims=tuple(claim for each in research.rounds for claim in each.checked),
        table=report.table if report else None,
        usage=report.usage if report else None,
    )


async def find_research(services: Services, research_id: str) -> Research:
    with nullcontext() if services.person is None else hide_existence(f"research {research_id!r}"):
        return await services.store.researches.get(research_id)


@operation("write")
async def remove_research(services: Services, request: GetResearch) -> Removed:
    """Delete a piece of research; its table stays."""
    research = await find_research(services, request.research)
    await services.store.researches.remove(research.id)
    return Removed(removed=research.id)


class ExportReport(GetResearch, frozen=True):
    format: Annotated[ReportFormat, msgspec.Meta(description="The kind of file.")] = "md"


@operation("read")
async def export_report(services: Services, request: ExportReport, *, path: Path) -> FileWritten:
    """The report as a file."""
    research = await find_research(services, request.research)
    await write_report(services, research.id, path)
    return FileWritten(name=research.brief.question)


async def write_report(services: Services, research_id: str, path: Path) -> None:
    """Write it as .md, .html, .docx, .pdf or .json, by the ending of the path."""
    from tablewright.workflows.research.report import write_report_file

    await write_report_file(await find_research(services, research_id), path)
    await services.store.audit.note("export", f"research {research_id}", f"its report as {path.suffix}")


class AskFollowUp(Request, frozen=True, kw_only=True):
    research: ResearchRef
    question: Question


@operation("run")
async def ask_follow_up(
    services: Services, request: AskFollowUp, *, tell: Callable[[Step], None] = lambda _: None
) -> AnsweredFollowUp:
    """Answers a follow-up question from the stored evidence, or from a search if that does not say."""
    from tablewright.workflows.research.research import research_follow_up

    research = await find_research(services, request.research)
    tools = await services.open_tools(("web", "model"))
    async with services.spending():
        return await research_follow_up(services.store, tools, research, check_request_text(request.question), tell)
