"""Tools for filling columns: fill, stop, go on, and decide about what was found."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from pydantic import Field as Key

from tablewright.domain.document import document
from tablewright.domain.fieldspec import parse_field
from tablewright.doors.mcp.answers import Answer, add_tool, hints
from tablewright.doors.mcp.context import Call, ToolContext, refuse_failed
from tablewright.doors.mcp.tables import TableName, TableTools
from tablewright.errors import Forbidden
from tablewright.operations.review import ApplyProposal, ChosenCells, apply_proposal, reject_proposal
from tablewright.operations.runs import ResumeRun, RunRequest, cancel_run, get_run, resume_run

FEW_ROWS = 20

Columns = Annotated[
    list[str],
    Key(
        min_length=1,
        max_length=30,
        description='Each "NAME:TYPE=QUESTION": "Founded:number=What year was {Company} founded?". {Column} stands for '
        "the row's value. Types: text, number(UNIT), boolean, select(A, B), date, url, list, money. A formula is "
        'computed: "Total:number={Price} * {Quantity}".',
    ),
]
Strategy = Annotated[
    str,
    Key(
        description="pipeline (search, read, check; for questions), lookup (one search a row), research (many steps, "
        "expensive), computation, transform (translate, classify, summarise from the row), documents (the user's own)."
    ),
]
Proof = Annotated[Literal["", "strict", "judged"], Key(description="strict: leave out values that a model inferred.")]
Wait = Annotated[bool, Key(description="false: return at once; list_all(runs) shows the progress.")]


class FillingTools:
    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._tablewright = context.services
        self._tables = TableTools(context)

    def add_to(self, server: MCPServer[Any]) -> None:
        add_tool(server, self._context, self.enrich, hints(outside=True))
        add_tool(server, self._context, self.decide_proposal, hints(destroys=True))
        add_tool(server, self._context, self.control_run, hints(outside=True))

    async def enrich(
        self,
        table: TableName,
        columns: Columns,
        call: Call,
        estimate: Annotated[bool, Key(description="Only estimate calls, time and cost; nothing is spent.")] = False,
        strategy: Strategy = "",
        max_rows: Annotated[int | None, Key(ge=1, description="Try a few rows first.")] = None,
        row_ids: list[int] | None = None,
        again: Annotated[bool, Key(description="Also look elsewhere for what was not found before.")] = False,
        params: Annotated[dict[str, str] | None, Key(description="Parameters of the strategy.")] = None,
        evidence: Proof = "",
        wait: Wait = True,
    ) -> Answer:
        """Fill columns of a table from the web, the user's documents or the row itself. May cost money and take
        minutes: estimate first where a table is long. The table is not changed: what was found becomes a proposal, and
        decide_proposal writes it once the user agrees."""
        if self._tablewright.acts(strategy):
            raise Forbidden(
                f"{strategy} acts outside the table, so it is not started by an assistant.",
                advice="The user can start it.",
            )
        async with self._context.news(call) as watch:
            fill = await self._tablewright.plan_enrich(
                (await self._tablewright.table(table)).id,
                [parse_field(text) for text in columns],
                strategy,
                params=params,
                max_rows=max_rows,
                row_ids=row_ids,
                again=again,
                watch=watch,
            )
            if estimate:
                return dict(document(await fill.estimate()))
        run_id = await self._context.begun(
            self._tablewright.jobs.start(fill, {"evidence": evidence} if evidence else None)
        )
        if wait or not fill.asks_others:  # a formula is computed in no time
            refuse_failed(await self._context.wait(call, run_id))
        return await self._enriched(run_id)

    async def decide_proposal(self, decision: Literal["apply", "reject"], request: ApplyProposal) -> Answer:
        """Write a proposal into its table, or reject it: all of it, or only some cells. Ask the user first. `cells`
        also counts those that only say why they are empty; cells that somebody changed meanwhile are left alone
        (`conflicts`), and so is a value for which nothing new was found (`kept`). undo takes back what was applied,
        not a rejection."""
        if decision == "apply":
            return dict(document(await apply_proposal(self._tablewright, request)))
        chosen = {name: getattr(request, name) for name in ChosenCells.__struct_fields__}
        return dict(document(await reject_proposal(self._tablewright, ChosenCells(**chosen))))

    async def control_run(
        self, run_id: str, action: Literal["cancel", "resume"], call: Call, wait: Wait = True
    ) -> Answer:
        """Stop a run, keeping what it found, or resume one that was stopped, failed or paused; nothing is paid for
        twice."""
        run = await self._tablewright.jobs.get(run_id)
        if action == "cancel":
            await cancel_run(self._tablewright, RunRequest(run_id=run_id))
            await self._context.wait(call, run_id)
        else:
            await resume_run(self._tablewright, ResumeRun(run_id=run_id))
            await self._context.remember(run_id)
            if wait:
                refuse_failed(await self._context.wait(call, run_id, after=run.last_event))
        return await self._report(run_id)

    async def _enriched(self, run_id: str) -> Answer:
        run = await self._report(run_id)
        head = await self._tablewright.table(run["table_id"])
        proposal = await self._tablewright.store.proposals.get(run["proposal_id"])
        ended = run["status"] not in ("running", "stopping")
        found = await self._tables.proposed(head, proposal, 0, FEW_ROWS) if ended else {"proposal": document(proposal)}
        return found | {"run_id": run_id, "status": run["status"], "usage": run["usage"]}

    async def _report(self, run_id: str) -> Answer:
        return dict(document(await get_run(self._tablewright, RunRequest(run_id=run_id))))
