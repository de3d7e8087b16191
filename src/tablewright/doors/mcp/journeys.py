"""Tools for whole journeys: find the rows of a table, research a question into a report, find out with the advisor what
to buy."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.doors.mcp.answers import FromOutside, Used, add_tool, hints
from tablewright.doors.mcp.desk import Call, Desk, begins_round, in_words, refuse_failed, step_by_step
from tablewright.doors.mcp.filling import Wait
from tablewright.doors.mcp.resources import SCHEME
from tablewright.errors import UsageError
from tablewright.table.document import document
from tablewright.table.feed import Progress
from tablewright.table.fieldspec import parse_field
from tablewright.table.form import parse_where
from tablewright.table.listing import DEFAULT_ROWS, MOST_ROWS, FoundRows
from tablewright.table.reports import render
from tablewright.table.research import DEFAULT_TASKS, Answered, Length, Reference, ReportType, Research, ResearchRequest
from tablewright.table.shortlist import ChatReply, ShortlistState

LONGEST_MESSAGE = 4_000


class ReferenceShown(BaseModel):
    number: int
    url: str
    title: str
    domain: str
    quotes: list[str]
    page: int | None


class ClaimShown(BaseModel):
    claim: str
    verdict: str = Key(description="supported, contradicted, qualified or not checked.")
    reason: str


class ResearchShown(FromOutside):
    research_id: str
    run_id: str
    table_id: str
    status: str
    report_type: str
    report_markdown: str = Key(description="Its [n] are the numbers of `references`; empty while it is not written.")
    references: list[ReferenceShown]
    claims: list[ClaimShown]
    not_found: list[str] = Key(description="What was looked for and not found, with where.")
    rounds: int
    usage: Used | None


class FollowUp(FromOutside):
    question: str
    sentences: list[str] = Key(description="Each with the numbers of its references; none: nothing says it.")
    references: list[ReferenceShown]
    searched: bool = Key(description="Whether it took a new search.")


class RowsFound(FromOutside):
    table_id: str = Key(description="The table: show_table has its rows, cell_evidence its evidence.")
    run_id: str
    status: str
    things: str
    columns: list[str]
    conditions: list[str]
    rows: int
    undecided: list[str] = Key(description="Rows of which it is not known whether they meet every condition.")
    set_aside: list[str] = Key(description="Things that do not meet a condition, with the reason.")
    completeness: str = Key(description="How sure it is that all are found; repeat it when you report.")
    left_over: int = Key(description="Found and in no row: more than the rows asked for, or it ended early.")
    read: list[str]
    not_reached: list[str]
    judged: bool = Key(description="False: no model judged whether the rows are what was asked for.")
    usage: Used | None


class CardShown(BaseModel):
    place: int
    row_id: int
    name: str
    score: float
    said: list[str]
    official_url: str


class Offer(BaseModel):
    shop: str
    url: str
    price: str
    stock: str


class TurnTaken(FromOutside):
    shortlist_id: str = Key(description="Pass it to the next turn.")
    phase: str
    said: str = Key(description="What the advisor says; every product fact in it stands in a cell of the table.")
    buttons: list[str] = Key(description="What can be answered at once: send one of them as the message.")
    cards: list[CardShown]
    columns: list[str]
    rows: list[list[str]]
    offers: list[Offer]
    table_id: str


class JourneyTools:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._tablewright = desk.tablewright

    def add_to(self, server: MCPServer[Any]) -> None:
        add_tool(server, self._desk, self.research, hints(outside=True))
        add_tool(server, self._desk, self.refine_research, hints(outside=True))
        add_tool(server, self._desk, self.find_rows, hints(outside=True))
        add_tool(server, self._desk, self.shortlist_turn, hints(outside=True))

    async def research(
        self,
        question: Annotated[str, Key(min_length=1, max_length=4_000, description="What to find out.")],
        call: Call,
        report_type: Annotated[
            ReportType | None,
            Key(description="A text by topics, a comparison, one answer, or a list; default: as the question says."),
        ] = None,
        items: Annotated[int | None, Key(ge=1, le=50, description="How many things a catalog lists.")] = None,
        details: Annotated[list[str] | None, Key(max_length=12, description="Details wanted of each thing.")] = None,
        sections: Annotated[list[str] | None, Key(max_length=12, description="Parts that the report has.")] = None,
        language: Annotated[str, Key(max_length=40, description="Of the report; default: the question's.")] = "",
        length: Annotated[Length | None, Key(description="Default: standard.")] = None,
        searches: Annotated[int, Key(ge=1, le=200, description="At most so many searches.")] = DEFAULT_TASKS,
        minutes: Annotated[float | None, Key(gt=0, le=240, description="The longest it may take.")] = None,
        wait: Wait = True,
    ) -> ResearchShown:
        """Research a question in three rounds (discovery, gap-filling, verification) and write a report. Every sentence
        cites what was read, important claims are checked with independent sources, and what could not be found is
        said. May cost money and take minutes; each round is told as progress. Keep the citations when you report."""
        request = ResearchRequest(
            question=question,
            report_type=report_type,
            items=items,
            fields=tuple(details or ()),
            sections=tuple(sections or ()),
            language=language,
            length=length,
        )
        begun = await self._tablewright.begin_research(request, max_tasks=searches)
        run_id = await self._desk.begun(self._tablewright.start_research(begun.id, minutes=minutes))
        if wait:
            refuse_failed(await self._desk.wait(call, run_id, rounds_in_words()))
        return researched(await self._tablewright.research(begun.id), run_id)

    async def find_rows(
        self,
        call: Call,
        question: Annotated[
            str, Key(max_length=4_000, description="What to find: Nordic fintechs with more than 100 staff.")
        ] = "",
        columns: Annotated[
            list[str] | None,
            Key(max_length=24, description="The one that names the things first: Name, Country, Staff:number."),
        ] = None,
        where: Annotated[str, Key(max_length=4_000, description="Conditions of every row: Staff > 100.")] = "",
        rows: Annotated[int, Key(ge=0, le=MOST_ROWS, description="The most rows; 0: as usual.")] = 0,
        fill: Annotated[bool, Key(description="Look for the cells that no list states.")] = True,
        more_of: Annotated[str, Key(description="Instead of a question: a table to find more rows of.")] = "",
        wait: Wait = True,
    ) -> RowsFound:
        """Find things that fit a description, as the rows of a new table: lists are read whole and joined, every cell
        carries the row it was read from, conditions are checked, and the answer says how complete the list is. With
        `more_of`, find more rows of such a table. May cost money and take minutes."""
        if bool(question.strip()) == bool(more_of):
            raise UsageError("Say what to find, or name a table with more_of.")
        table_id = more_of
        if not more_of:
            listing = await self._tablewright.begin_find(
                question,
                fields=[parse_field(text) for text in columns or ()],
                conditions=parse_where(where)[2] if where else (),
                rows=rows or DEFAULT_ROWS,
            )
            table_id = listing.table_id
        run_id = await self._desk.begun(
            self._tablewright.start_find(table_id, fill=fill, more=bool(more_of), rows=rows if more_of else 0)
        )
        if wait:
            refuse_failed(await self._desk.wait(call, run_id))
        return rows_found(await self._tablewright.found_rows(table_id), run_id)

    async def refine_research(
        self,
        research_id: Annotated[str, Key(description="The research's id.")],
        question: Annotated[str, Key(min_length=1, max_length=4_000, description="The follow-up question.")],
        call: Call,
    ) -> FollowUp:
        """Ask a follow-up to a finished research: answered from the stored evidence, or, where that does not say it,
        from a new search."""

        async def answer(watch: Callable[[Progress], None]) -> Answered:
            watch(Progress(stage="working", detail="looking in the stored evidence"))
            return await self._tablewright.refine_research(research_id, question, tell=step_by_step(watch))

        return followed_up(await self._desk.telling(call, answer))

    async def shortlist_turn(
        self,
        message: Annotated[
            str, Key(min_length=1, max_length=LONGEST_MESSAGE, description="What the user says, or a button's label.")
        ],
        call: Call,
        shortlist_id: Annotated[str, Key(description="From the turn before; empty: a new conversation.")] = "",
    ) -> TurnTaken:
        """One turn with the shopping advisor. It asks what the user wants, has it confirmed (buttons), searches and
        compares products in a table with sources, and explains the trade-offs. Pass on what the user says, and let
        the user decide about the buttons: "Enrich Now" starts a search that may cost money."""
        tablewright = self._tablewright
        state = await (tablewright.shortlist(shortlist_id) if shortlist_id else tablewright.begin_shortlist())

        async def turn(watch: Callable[[Progress], None]) -> tuple[ShortlistState, ChatReply]:
            with tempfile.TemporaryDirectory(prefix="tablewright-") as folder:  # no file is left for an assistant
                return await tablewright.shortlist_turn(
                    state.id, message, watch=watch, tell=step_by_step(watch), exports=Path(folder)
                )

        return turn_taken(*await self._desk.telling(call, turn))


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


def rows_found(found: FoundRows, run_id: str) -> RowsFound:
    return RowsFound(
        table_id=found.table_id,
        run_id=run_id,
        status=found.status,
        things=found.things,
        columns=list(found.columns),
        conditions=list(found.conditions),
        rows=found.rows,
        undecided=[f"{each.name}: {each.reason}" for each in found.undecided],
        set_aside=[f"{each.name}: {each.reason}" for each in found.aside],
        completeness=found.completeness,
        left_over=found.left_over,
        read=list(found.read),
        not_reached=[f"{origin}: {why}" for origin, why in found.unreached.items()],
        judged=found.by_model,
        usage=Used.model_validate(document(found.usage)),
    )


def researched(found: Research, run_id: str) -> ResearchShown:
    report = found.report
    return ResearchShown(
        research_id=found.id,
        run_id=run_id,
        table_id=found.table_id,
        status=found.status,
        report_type=found.brief.report_type,
        report_markdown=render(report, "md").decode() if report else "",
        references=[reference(each) for each in report.references] if report else [],
        claims=[
            ClaimShown(claim=each.claim.claim_text, verdict=each.verdict, reason=each.reason)
            for each in (report.claims if report else ())
        ],
        not_found=[f"{each.what} ({each.where})" if each.where else each.what for each in report.unfound]
        if report
        else [],
        rounds=len(found.rounds),
        usage=Used.model_validate(document(report.usage)) if report else None,
    )


def reference(each: Reference) -> ReferenceShown:
    return ReferenceShown(
        number=each.number,
        url=each.url,
        title=each.title,
        domain=each.domain,
        quotes=list(each.quotes),
        page=each.page,
    )


def followed_up(answered: Answered) -> FollowUp:
    return FollowUp(
        question=answered.question,
        sentences=[
            f"{each.text} {''.join(f'[{number}]' for number in each.citations)}".rstrip() for each in answered.sentences
        ],
        references=[reference(each) for each in answered.references],
        searched=answered.searched,
    )


def turn_taken(state: ShortlistState, reply: ChatReply) -> TurnTaken:
    exported = f"The whole table is the resource {SCHEME}tables/{state.table_id}."
    return TurnTaken(
        shortlist_id=state.id,
        phase=state.phase,
        said=exported if reply.file else reply.text,
        buttons=list(reply.buttons),
        cards=[
            CardShown(
                place=card.place,
                row_id=card.row_id,
                name=card.name,
                score=round(card.score, 3),
                said=[each.text for each in card.said],
                official_url=card.official_url,
            )
            for card in reply.cards
        ],
        columns=list(reply.columns),
        rows=[list(row) for row in reply.rows],
        offers=[
            Offer(shop=each.shop, url=each.url, price=str(each.price) if each.price else "", stock=each.stock)
            for each in reply.listings
        ],
        table_id=state.table_id,
    )
