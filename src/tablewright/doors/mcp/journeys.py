"""Tools for whole journeys: find the rows of a table, research a question into a report, find out with the advisor what
to buy."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

import msgspec
from mcp.server.mcpserver import MCPServer
from pydantic import Field as Key

from tablewright.domain.document import document
from tablewright.domain.feed import Progress
from tablewright.domain.listing import DEFAULT_ROWS, MOST_ROWS, FoundRows
from tablewright.domain.research import AnsweredFollowUp, Length, Reference, ReportType, Research, ResearchRequest
from tablewright.domain.shortlist import ChatReply, ShortlistState
from tablewright.doors.mcp.answers import Answer, add_tool, hints
from tablewright.doors.mcp.context import Call, ToolContext, begins_round, in_words, refuse_failed, step_by_step
from tablewright.doors.mcp.filling import Wait
from tablewright.doors.mcp.resources import SCHEME
from tablewright.errors import UsageError
from tablewright.formats.reports import render
from tablewright.operations.find import (
    FindMore,
    FindStarted,
    FoundRef,
    PlanFind,
    StartFind,
    find_more,
    get_found,
    plan_find,
)

LONGEST_MESSAGE = 4_000


class RowsToFind(StartFind, frozen=True, kw_only=True):
    question: Annotated[
        str, msgspec.Meta(max_length=4_000, description="For example: Nordic fintechs with more than 100 staff.")
    ] = ""
    rows: Annotated[int, msgspec.Meta(ge=0, le=MOST_ROWS, description="The most rows; 0: the default.")] = 0
    table: Annotated[
        str, msgspec.Meta(max_length=300, description="Instead of a question: a table to find more rows for.")
    ] = ""


class JourneyTools:
    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._services = context.services

    def add_to(self, server: MCPServer[Any]) -> None:
        add_tool(server, self._context, self.find, hints(outside=True))
        add_tool(server, self._context, self.research, hints(outside=True))
        add_tool(server, self._context, self.shortlist_turn, hints(outside=True))

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
        run_id = await self._context.begun(start_run(find_more(services, more)))
        if wait:
            refuse_failed(await self._context.wait(call, run_id))
        return {"run_id": run_id} | show_found(await get_found(services, FoundRef(table=more.table)))

    async def research(
        self,
        question: Annotated[str, Key(min_length=1, max_length=4_000)],
        call: Call,
        research_id: Annotated[str, Key(description="Ask this as a follow-up to finished research.")] = "",
        report_type: ReportType | None = None,
        items: Annotated[int | None, Key(ge=1, le=50, description="How many things a catalog lists.")] = None,
        details: Annotated[list[str] | None, Key(max_length=20, description="What to find out about each.")] = None,
        sections: Annotated[list[str] | None, Key(max_length=20)] = None,
        language: Annotated[str, Key(max_length=40)] = "",
        length: Length | None = None,
        searches: Annotated[int | None, Key(ge=1, le=100)] = None,
        minutes: Annotated[float | None, Key(gt=0, description="The longest it may take.")] = None,
        wait: Wait = True,
    ) -> Answer:
        """Research a question on the web and write a report: every sentence cites what was read, claims are checked
        against independent sources, and gaps are named. May cost money and take minutes. Keep the citations."""
        if research_id:
            return await self._follow_up(research_id, question, call)
        request = ResearchRequest(
            question=question,
            report_type=report_type,
            items=items,
            fields=tuple(details or ()),
            sections=tuple(sections or ()),
            language=language,
            length=length,
        )
        begun = await self._services.begin_research(request, max_tasks=searches)
        run_id = await self._context.begun(self._services.start_research(begun.id, minutes=minutes))
        if wait:
            refuse_failed(await self._context.wait(call, run_id, rounds_in_words()))
        return researched(await self._services.research(begun.id), run_id)

    async def shortlist_turn(
        self,
        message: Annotated[
            str, Key(min_length=1, max_length=LONGEST_MESSAGE, description="What the user says, or a button's label.")
        ],
        call: Call,
        shortlist_id: Annotated[str, Key(description="From the turn before; empty: a new conversation.")] = "",
    ) -> Answer:
        """One turn with the shopping advisor, which asks what the user wants, compares products in a table with sources
        and explains trade-offs. Let the user decide about buttons: "Enrich Now" may cost money."""
        services = self._services
        state = await (services.shortlist(shortlist_id) if shortlist_id else services.begin_shortlist())

        async def turn(watch: Callable[[Progress], None]) -> tuple[ShortlistState, ChatReply]:
            with tempfile.TemporaryDirectory(prefix="tablewright-") as folder:  # no file is left for an assistant
                return await services.shortlist_turn(
                    state.id, message, watch=watch, tell=step_by_step(watch), exports=Path(folder)
                )

        return turn_taken(*await self._context.telling(call, turn))

    async def _follow_up(self, research_id: str, question: str, call: Call) -> Answer:
        """From the stored evidence or, where that does not say it, from a new search."""

        async def answer(watch: Callable[[Progress], None]) -> AnsweredFollowUp:
            watch(Progress(stage="working", detail="looking in the stored evidence"))
            return await self._services.refine_research(research_id, question, tell=step_by_step(watch))

        found = await self._context.telling(call, answer)
        return {
            "question": found.question,
            "sentences": [each.cited_text for each in found.sentences],
            "references": [reference(each) for each in found.references],
            "searched": found.searched,
        }


async def start_run(starting: Awaitable[FindStarted]) -> str:
    return (await starting).run_id


def rounds_in_words() -> Callable[[Progress], str]:
    """The feed of a run says "round: …" whenever one begins; which it is, whoever reads it counts."""
    number = 0

    def words(progress: Progress) -> str:
        nonlocal number
        if begins_round(progress):
            number += 1
        said = progress.detail or in_words(progress)
        return f"Round {number}: {said.removeprefix('round: ')}"[:300] if number else said[:300]

    return words


def show_found(found: FoundRows) -> Answer:
    """Without the passages of what was set aside, which would cost more than they tell."""
    aside = [{"name": each.name, "reason": each.reason} for each in found.aside]
    return dict(document(found)) | {"aside": aside}


def researched(found: Research, run_id: str) -> Answer:
    report = found.report
    said: Answer = {"research_id": found.id, "run_id": run_id, "table_id": found.table_id, "status": found.status}
    if report is None:
        return said
    return said | {
        "report_markdown": render(report, "md").decode(),
        "references": [reference(each) for each in report.references],
        "claims": [
            {"claim": each.claim.claim_text, "verdict": each.verdict, "reason": each.reason} for each in report.claims
        ],
        "not_found": [": ".join(filter(None, (each.what, each.where))) for each in report.unfound],
        "usage": document(report.usage),
    }


def reference(each: Reference) -> Answer:
    wanted = ("number", "url", "title", "quotes", "page")
    return {name: value for name, value in document(each).items() if name in wanted and value is not None}


def turn_taken(state: ShortlistState, reply: ChatReply) -> Answer:
    exported = f"The whole table is the resource {SCHEME}tables/{state.table_id}."
    return {
        "shortlist_id": state.id,
        "phase": state.phase,
        "said": exported if reply.file else reply.text,
        "buttons": list(reply.buttons),
        "cards": [
            {
                "place": card.place,
                "row_id": card.row_id,
                "name": card.name,
                "score": round(card.score, 3),
                "not_known_to_meet_every_must": card.is_open,
                "said": [each.text for each in card.said],
                "official_url": card.official_url,
            }
            for card in reply.cards
        ],
        "columns": list(reply.columns),
        "rows": [list(row) for row in reply.rows],
        "offers": [
            {"shop": each.shop, "url": each.url, "price": each.price_text, "stock": each.stock}
            for each in reply.listings
        ],
        "table_id": state.table_id,
    }
