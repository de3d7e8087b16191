"""Tools for whole workflows: find the rows of a table, research a question into a report, find out with the advisor
what to buy."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

import msgspec
from mcp.server.mcpserver import MCPServer

from tablewright.domain.listing import DEFAULT_ROWS, MAX_ROWS, FoundRows
from tablewright.domain.run import Progress
from tablewright.domain.shortlist import ReplySentence
from tablewright.domain.text import to_json_document
from tablewright.errors import UsageError
from tablewright.formats.reports.write import render_report
from tablewright.interfaces.mcp.answers import Answer, add_tool, tool_hints
from tablewright.interfaces.mcp.context import (
    Call,
    ToolContext,
    begins_round,
    describe_progress,
    refuse_failed,
    report_steps,
)
from tablewright.interfaces.mcp.filling import Wait
from tablewright.interfaces.mcp.resources import SCHEME
from tablewright.operations.find import FindMore, FindStarted, PlanFind, StartFind, find_more, get_found, plan_find
from tablewright.operations.operation import Name, NoInput, TableRequest
from tablewright.operations.research import (
    AskFollowUp,
    GetResearch,
    Minutes,
    ResearchQuestion,
    ResearchShown,
    ResearchStarted,
    ResumeResearch,
    StartResearch,
    ask_follow_up,
    create_research,
    get_research,
    resume_research,
)
from tablewright.operations.shortlist import TakeTurn, TurnTaken, start_shortlist, take_turn
from tablewright.services import Services


class RowsToFind(StartFind, frozen=True, kw_only=True):
    question: Annotated[
        str, msgspec.Meta(max_length=4_000, description="For example: Nordic fintechs with more than 100 staff.")
    ] = ""
    fields: Annotated[
        tuple[Name, ...],
        msgspec.Meta(max_length=24, description="The column that names the things first: Name, Staff:number."),
    ] = ()
    rows: Annotated[int, msgspec.Meta(ge=0, le=MAX_ROWS, description="The most rows; 0: the default.")] = 0
    table: Annotated[
        str, msgspec.Meta(max_length=300, description="Instead of a question: a table to find more rows for.")
    ] = ""


class ToResearch(ResearchQuestion, frozen=True, kw_only=True):
    research: Annotated[
        str, msgspec.Meta(max_length=200, description="Ask this as a follow-up to finished research.")
    ] = ""
    minutes: Minutes = None


class TurnToTake(TakeTurn, frozen=True, kw_only=True):
    shortlist: Annotated[
        str, msgspec.Meta(max_length=200, description="From the turn before; empty: a new conversation.")
    ] = ""


class WorkflowTools:
    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._services = context.services

    def add_to(self, server: MCPServer[Any]) -> None:
        add_tool(server, self._context, self.find, tool_hints(outside=True))
        add_tool(server, self._context, self.research, tool_hints(outside=True))
        add_tool(server, self._context, self.shortlist_turn, tool_hints(outside=True))

    async def find(self, call: Call, request: RowsToFind, wait: Wait = True) -> Answer:
        """Find things on the web that fit a description, as rows of a new table with evidence and an estimate of how
        complete it is. May cost money and take minutes."""
        if bool(request.question.strip()) == bool(request.table):
            raise UsageError("Say what to find, or name a table with `table`.")
        services = self._services
        if request.table:
            more = FindMore(table=request.table, rows=request.rows, fill=request.fill)
        else:
            plan = PlanFind(
                question=request.question,
                fields=request.fields,
                where=request.where,
                rows=request.rows or DEFAULT_ROWS,
            )
            more = FindMore(table=(await plan_find(services, plan)).table_id, fill=request.fill)
        run_id = await self._context.start_run(take_run_id(find_more(services, more)))
        if wait:
            refuse_failed(await self._context.wait(call, run_id))
        return {"run_id": run_id} | show_found(await get_found(services, TableRequest(table=more.table)))

    async def research(self, call: Call, request: ToResearch, wait: Wait = True) -> Answer:
        """Research a question on the web and write a report: every sentence cites what was read, claims are checked
        against independent sources, and gaps are named. May cost money and take minutes. Keep the citations."""
        services = self._services
        if request.research:
            question = AskFollowUp(research=request.research, question=request.question)
            return await self._context.report_while(call, lambda watch: answer_follow_up(services, question, watch))
        asked = {name: getattr(request, name) for name in ResearchQuestion.__struct_fields__}
        created = await create_research(services, StartResearch(**asked))
        resume = ResumeResearch(research=created.id, minutes=request.minutes)
        run_id = await self._context.start_run(take_run_id(resume_research(services, resume)))
        if wait:
            refuse_failed(await self._context.wait(call, run_id, count_rounds()))
        return show_research(await get_research(services, GetResearch(research=created.id)), run_id)

    async def shortlist_turn(self, call: Call, request: TurnToTake) -> Answer:
        """One turn with the shopping advisor, which asks what the user wants, compares products in a table with sources
        and explains trade-offs. Let the user decide about buttons: "Enrich Now" may cost money."""
        services = self._services
        started = request.shortlist or (await start_shortlist(services, NoInput())).id
        turn = TakeTurn(shortlist=started, message=request.message)

        async def take(watch: Callable[[Progress], None]) -> TurnTaken:
            # The folder is removed with the turn: no file is left for an assistant.
            with tempfile.TemporaryDirectory(prefix="tablewright-") as folder:
                return await take_turn(services, turn, watch=watch, tell=report_steps(watch), exports=Path(folder))

        return show_turn(await self._context.report_while(call, take))


async def answer_follow_up(services: Services, question: AskFollowUp, watch: Callable[[Progress], None]) -> Answer:
    watch(Progress(stage="working", detail="looking in the stored evidence"))
    return dict(to_json_document(await ask_follow_up(services, question, tell=report_steps(watch))))


async def take_run_id(starting: Awaitable[FindStarted | ResearchStarted]) -> str:
    return (await starting).run_id


def count_rounds() -> Callable[[Progress], str]:
    """Return a function that describes progress with the number of the round. Events only say that a round begins."""
    number = 0

    def words(progress: Progress) -> str:
        nonlocal number
        if begins_round(progress):
            number += 1
        said = progress.detail or describe_progress(progress)
        return f"Round {number}: {said.removeprefix('round: ')}"[:300] if number else said[:300]

    return words


def show_found(found: FoundRows) -> Answer:
    """Return the rows found without the passages of what was set aside, which cost more tokens than they are worth."""
    aside = [{"name": each.name, "reason": each.reason} for each in found.aside]
    return dict(to_json_document(found)) | {"aside": aside}


def show_research(found: ResearchShown, run_id: str) -> Answer:
    """Return research without the brief, the rounds and the notes, which cost many tokens, and with the report as
    text."""
    whole = to_json_document(found)
    kept = ("research_id", "status", "table_id", "gaps", "claims", "answered", "usage")
    said: Answer = {name: whole[name] for name in kept} | {"run_id": run_id}
    if found.report is None:
        return said
    references, unfound = to_json_document(found.report.references), to_json_document(found.report.unfound)
    markdown = render_report(found.report, "md").decode()
    return said | {"report_markdown": markdown, "references": references, "unfound": unfound}


def show_turn(taken: TurnTaken) -> Answer:
    """Return a turn without the conversation so far, which the assistant has seen; an exported file is a resource."""
    state, reply = taken.shortlist, taken.reply
    if reply.file:
        exported = f"The whole table is the resource {SCHEME}tables/{state.table_id}."
        reply = msgspec.structs.replace(reply, file="", said=(ReplySentence(text=exported),))
    about: Answer = {"shortlist_id": state.id, "phase": state.phase, "table_id": state.table_id, "run_id": taken.run_id}
    return about | dict(to_json_document(reply))
