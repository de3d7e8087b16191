"""Tools for filling columns: estimate, run, watch, stop, go on, and decide about what was found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.app import Fill, ProposalHead, Selection
from tablewright.doors.mcp.answers import Answer, CellShown, FromOutside, Used, add_tool, cell_shown, hints
from tablewright.doors.mcp.desk import Call, Desk, refuse_failed
from tablewright.doors.mcp.tables import TableName
from tablewright.errors import Forbidden
from tablewright.table.document import document
from tablewright.table.feed import Progress
from tablewright.table.fieldspec import checked_name
from tablewright.table.model import Field, FieldType
from tablewright.table.text import cell_text

MOST_CELLS = 500
FEW_CELLS = 60


class ColumnAsked(BaseModel):
    """A column to fill."""

    name: str = Key(min_length=1, max_length=300, description='What to call it, e.g. "Founded".')
    type: FieldType = "text"
    question: str = Key(
        default="",
        max_length=2_000,
        description='What to find out for each row, e.g. "What year was {Company} founded?", or a formula over other '
        'columns, e.g. "{Price} * {Quantity}". {Column} stands for the row\'s value.',
    )
    unit: str = Key(default="", max_length=40, description="For numbers and money, e.g. kg or EUR.")
    options: list[str] = Key(default_factory=list, description="For select: the values that are possible.")


class Span(BaseModel):
    low: float
    likely: float
    high: float


class Estimated(Answer):
    rows: int
    cells: int
    model: str
    calls: Span
    input_tokens: Span
    output_tokens: Span
    searches: int
    pages: int
    cost_usd: Span | None = Key(description="null: the price of the model is not known.")
    seconds: float
    from_rows: int = Key(description="Rows of earlier runs that this is learned from; 0: it is a guess.")


class ProposedRow(BaseModel):
    row_id: int
    row: str
    cells: dict[str, CellShown]


class Enriched(FromOutside):
    run_id: str
    table_id: str
    proposal_id: str
    status: str
    reasoning: str
    rows: list[ProposedRow] = Key(description="What was found, or why not. It is proposed, not yet in the table.")
    next_cell: str = Key(description="Where show_proposal goes on (`after`); empty: these are all.")
    usage: Used
    next: str = Key(description="What can be done now.")


class RunShown(FromOutside):
    run_id: str
    kind: str
    table_id: str
    proposal_id: str
    status: str
    done: int
    total: int
    found: int
    empty: dict[str, int] = Key(description="How many cells stayed empty, by reason.")
    seconds_left: float | None
    usage: Used
    error: str | None
    started_at: str
    finished_at: str | None


class Runs(FromOutside):
    runs: list[RunShown]


class ProposalListed(BaseModel):
    proposal_id: str
    table_id: str
    run_id: str
    status: str
    reasoning: str
    created_at: str
    columns: list[str]
    counts: dict[str, int]


class Proposals(FromOutside):
    proposals: list[ProposalListed]


class ProposalPage(FromOutside):
    proposal: ProposalListed
    rows: list[ProposedRow]
    next_cell: str = Key(description="Pass as `after` for the next page; empty: these were the last.")


class Applied(Answer):
    proposal_id: str
    table_id: str
    status: str
    cells: int
    conflicts: int = Key(description="Cells that somebody changed since the run read them: kept, and still open.")
    still_open: int
    undo: str


class Rejected(Answer):
    proposal_id: str
    status: str
    refused: int


Columns = Annotated[list[ColumnAsked], Key(min_length=1, max_length=30, description="The columns to fill.")]
Strategy = Annotated[
    str,
    Key(
        description="lookup (one search a row), pipeline (search, read, check; the default for questions), research "
        "(many steps a row, dear), computation (formulas), transform (translate, classify, summarise from the row), "
        "documents (from the user's own documents)."
    ),
]
MaxRows = Annotated[int | None, Key(ge=1, description="Only the first so many rows; try a few before all.")]
RowIds = Annotated[list[int] | None, Key(description="Only these rows.")]
Again = Annotated[bool, Key(description="Whether to look elsewhere for what earlier runs did not find.")]
Params = Annotated[
    dict[str, str] | None,
    Key(description='Parameters of the strategy, e.g. {"max_steps": "8"} or {"thoroughness": "comprehensive"}.'),
]
Proof = Annotated[
    Literal["", "strict", "judged"],
    Key(description="strict refuses values that a model concluded from quotes instead of reading them there."),
]
RunId = Annotated[str, Key(description="The run's id.")]
ProposalId = Annotated[str, Key(description="The proposal's id.")]
Wait = Annotated[
    bool, Key(description="false: return the run's id at once; run_status tells how far it is. The run goes on.")
]


class FillingTools:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._tablewright = desk.tablewright

    def add_to(self, server: MCPServer[Any]) -> None:
        add_tool(server, self._desk, self.estimate_enrich, hints(reads=True))
        add_tool(server, self._desk, self.enrich, hints(outside=True))
        add_tool(server, self._desk, self.list_runs, hints(reads=True))
        add_tool(server, self._desk, self.run_status, hints(reads=True))
        add_tool(server, self._desk, self.cancel_run, hints(again=True))
        add_tool(server, self._desk, self.resume_run, hints(outside=True))
        add_tool(server, self._desk, self.list_proposals, hints(reads=True))
        add_tool(server, self._desk, self.show_proposal, hints(reads=True))
        add_tool(server, self._desk, self.apply_proposal, hints(destroys=True))
        add_tool(server, self._desk, self.reject_proposal, hints(destroys=True))

    async def estimate_enrich(
        self,
        table: TableName,
        columns: Columns,
        strategy: Strategy = "",
        max_rows: MaxRows = None,
        row_ids: RowIds = None,
        again: Again = False,
        params: Params = None,
    ) -> Estimated:
        """Say what filling these columns would take: model calls, searches, pages, dollars, time. Nothing is spent.
        Ask for it before `enrich` where a model is configured or the table is long."""
        fill = await self._plan(table, columns, strategy, max_rows, row_ids, again, params)
        return Estimated.model_validate(document(await fill.estimate()))

    async def enrich(
        self,
        table: TableName,
        columns: Columns,
        call: Call,
        strategy: Strategy = "",
        max_rows: MaxRows = None,
        row_ids: RowIds = None,
        again: Again = False,
        params: Params = None,
        evidence: Proof = "",
        wait: Wait = True,
    ) -> Enriched:
        """Fill columns of a table: each cell is searched for on the web (or in the user's documents, or computed),
        read, and checked against the text it was read in. Only cells that nobody has looked for, or that are
        doubted, are worked on; with `again` also what was not found. May cost money and take minutes; progress is told
        meanwhile. The table is not changed: what was found becomes a proposal with its evidence, and `apply_proposal`
        writes it once the user agrees."""
        if self._tablewright.acts(strategy):
            raise Forbidden(
                f"{strategy} acts outside the table, so it is not started by an assistant.",
                advice="The user can start it: tablewright enrich TABLE --strategy … --yes.",
            )
        async with self._desk.news(call) as watch:
            fill = await self._plan(table, columns, strategy, max_rows, row_ids, again, params, watch)
            if not fill.asks_others:
                return await self._enriched((await self._desk.apart(fill.run(), fill.cancel)).run_id)
        run_id = await self._desk.begun(
            self._tablewright.jobs.start(fill, {"evidence": evidence} if evidence else None)
        )
        if wait:
            refuse_failed(await self._desk.wait(call, run_id))
        return await self._enriched(run_id)

    async def list_runs(
        self,
        table: Annotated[str, Key(description="Only those of this table.")] = "",
        limit: Annotated[int, Key(ge=1, le=50)] = 10,
    ) -> Runs:
        """List runs, the newest first: what was filled, researched, rechecked or read, and how it ended."""
        table_id = (await self._tablewright.table(table)).id if table else None
        found = await self._tablewright.jobs.all(table_id, limit=limit)
        return Runs(runs=[await self._shown(run.id) for run in found])

    async def run_status(self, run_id: RunId) -> RunShown:
        """Tell how far a run is, what it found, what stayed empty and why, what it has cost, and how long it takes."""
        return await self._shown(run_id)

    async def cancel_run(self, run_id: RunId, call: Call) -> RunShown:
        """Stop a run within a second. What was found by then is kept in its proposal; `resume_run` goes on."""
        await self._tablewright.jobs.cancel(run_id)
        await self._desk.wait(call, run_id)
        return await self._shown(run_id)

    async def resume_run(self, run_id: RunId, call: Call, wait: Wait = True) -> RunShown:
        """Go on with a run that was stopped, interrupted or failed. What it bought already is not paid for again."""
        jobs = self._tablewright.jobs
        before = (await jobs.get(run_id)).last_event
        await jobs.resume_in_background(run_id)
        await self._desk.remember(run_id)
        if wait:
            refuse_failed(await self._desk.wait(call, run_id, after=before))
        return await self._shown(run_id)

    async def list_proposals(
        self,
        table: Annotated[str, Key(description="Only those of this table.")] = "",
        decided: Annotated[bool, Key(description="Also those that are decided.")] = False,
    ) -> Proposals:
        """List the proposals that wait for a decision: what runs found and nobody has applied or rejected yet."""
        table_id = (await self._tablewright.table(table)).id if table else None
        found = await self._tablewright.proposals(table_id, only_open=not decided)
        return Proposals(proposals=[listed(head) for head in found])

    async def show_proposal(
        self,
        proposal_id: ProposalId,
        after: Annotated[str, Key(description="`next_cell` of the page before.")] = "",
        limit: Annotated[int, Key(ge=1, le=MOST_CELLS, description="Cells a page.")] = FEW_CELLS,
    ) -> ProposalPage:
        """Show what a proposal would write, cell by cell, with confidence and sources: for the user to decide."""
        head = await self._tablewright.proposal(proposal_id)
        rows, following = await self._proposed(head, after, limit)
        return ProposalPage(proposal=listed(head), rows=rows, next_cell=following)

    async def apply_proposal(
        self,
        proposal_id: ProposalId,
        row_ids: RowIds = None,
        columns: Annotated[list[str] | None, Key(description="Only these columns.")] = None,
        min_confidence: Annotated[
            float | None, Key(ge=0, le=1, description="Only values that are at least this sure.")
        ] = None,
    ) -> Applied:
        """Write a proposal into its table, all of it or only some cells. It replaces what the cells hold now, so ask
        the user first. Cells that somebody changed meanwhile are left alone. The table's history can undo it."""
        chosen = selection(row_ids, columns, min_confidence)
        done = await self._tablewright.changes.apply(proposal_id, chosen)
        head = await self._tablewright.proposal(proposal_id)
        return Applied(
            proposal_id=head.id,
            table_id=head.table_id,
            status=head.status,
            cells=done.cells,
            conflicts=done.conflicts,
            still_open=head.counts.get("open", 0),
            undo=f"tablewright table rollback {head.table_id} --run {head.run_id}",
        )

    async def reject_proposal(
        self,
        proposal_id: ProposalId,
        row_ids: RowIds = None,
        columns: Annotated[list[str] | None, Key(description="Only these columns.")] = None,
    ) -> Rejected:
        """Refuse a proposal, all of it or only some cells; the table stays as it is. This cannot be taken back, so
        ask the user first."""
        refused = await self._tablewright.changes.reject(proposal_id, selection(row_ids, columns))
        head = await self._tablewright.proposal(proposal_id)
        return Rejected(proposal_id=head.id, status=head.status, refused=refused)

    async def _plan(
        self,
        table: str,
        columns: list[ColumnAsked],
        strategy: str,
        max_rows: int | None,
        row_ids: list[int] | None,
        again: bool,
        params: dict[str, str] | None,
        watch: Callable[[Progress], None] = lambda _: None,
    ) -> Fill:
        head = await self._tablewright.table(table)
        fields = [
            Field(
                name=checked_name(asked.name, asked.name),
                type=asked.type,
                question=asked.question.strip(),
                unit=asked.unit.strip(),
                options=tuple(asked.options),
            )
            for asked in columns
        ]
        return await self._tablewright.plan_enrich(
            head.id, fields, strategy, params=params, max_rows=max_rows, row_ids=row_ids, again=again, watch=watch
        )

    async def _enriched(self, run_id: str) -> Enriched:
        run = await self._shown(run_id)
        head = await self._tablewright.proposal(run.proposal_id)
        rows, following = await self._proposed(head, "", FEW_CELLS)
        ended = run.status not in ("running", "stopping")
        return Enriched(
            run_id=run.run_id,
            table_id=run.table_id,
            proposal_id=run.proposal_id,
            status=run.status,
            reasoning=head.reasoning,
            rows=rows if ended else [],
            next_cell=following if ended else "",
            usage=run.usage,
            next=f"Decide with apply_proposal or reject_proposal {head.id}; cell_evidence shows what a cell stands on."
            if ended
            else f"run_status {run.run_id} tells how far it is, cancel_run stops it.",
        )

    async def _shown(self, run_id: str) -> RunShown:
        jobs = self._tablewright.jobs
        return RunShown.model_validate(await jobs.report(await jobs.get(run_id), reasons=True))

    async def _proposed(self, head: ProposalHead, after: str, limit: int) -> tuple[list[ProposedRow], str]:
        row_id, _, column = after.partition(":")
        place = (int(row_id), column) if row_id.isdecimal() else (0, "")
        operations = await self._tablewright.operations(head.id, after=place, limit=limit + 1)
        table = await self._tablewright.table(head.table_id)
        known = await self._tablewright.rows_by_id(table.id, [each.row_id for each in operations])
        rows: dict[int, ProposedRow] = {}
        for each in operations[:limit]:
            name = cell_text(known[each.row_id].cell(table.key_field)) if each.row_id in known else ""
            row = rows.setdefault(each.row_id, ProposedRow(row_id=each.row_id, row=name, cells={}))
            row.cells[each.field] = cell_shown(each.cell)
        last = operations[limit - 1] if len(operations) > limit else None
        return list(rows.values()), f"{last.row_id}:{last.field}" if last else ""


def listed(head: ProposalHead) -> ProposalListed:
    return ProposalListed(
        proposal_id=head.id,
        table_id=head.table_id,
        run_id=head.run_id,
        status=head.status,
        reasoning=head.reasoning,
        created_at=head.created_at,
        columns=[field.name for field in head.fields],
        counts=head.counts,
    )


def selection(rows: list[int] | None, columns: list[str] | None, min_confidence: float | None = None) -> Selection:
    return Selection(rows=tuple(rows or ()), fields=tuple(columns or ()), min_confidence=min_confidence)
