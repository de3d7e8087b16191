"""Tools for filling columns: fill, stop, resume, and decide on what was found."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from mcp.server.mcpserver import MCPServer
from pydantic import Field as Key

from tablewright.domain.text import to_json_document
from tablewright.errors import Forbidden
from tablewright.interfaces.mcp.answers import Answer, add_tool, tool_hints
from tablewright.interfaces.mcp.context import Call, ToolContext, refuse_failed
from tablewright.interfaces.mcp.tables import TableTools
from tablewright.operations.fill import FillTable, StartFill, estimate_fill, start_fill
from tablewright.operations.review import ApplyProposal, ChosenCells, apply_proposal, reject_proposal
from tablewright.operations.runs import ResumeRun, RunRequest, cancel_run, get_run, pause_run, resume_run
from tablewright.services import Services

Wait = Annotated[bool, Key(description="false: return at once; list_all(runs) shows the progress.")]


async def start_fill_run(services: Services, request: StartFill) -> str:
    return (await start_fill(services, request)).run_id


class ColumnsToFill(FillTable, frozen=True, kw_only=True):
    fields: Annotated[
        tuple[Annotated[str, msgspec.Meta(min_length=1, max_length=20_000)], ...],
        msgspec.Meta(
            min_length=1,
            max_length=30,
            description='Each "NAME:TYPE=QUESTION": "Founded:number=What year was {Company} founded?". {Column} stands '
            "for the row's value. Types: text, number(UNIT), boolean, select(A, B), date, url, list, money. A formula "
            'is computed: "Total:number={Price} * {Quantity}".',
        ),
    ]


class FillingTools:
    def __init__(self, context: ToolContext) -> None:
        self._context = context
        self._services = context.services
        self._tables = TableTools(context)

    def add_to(self, server: MCPServer[Any]) -> None:
        # Fields of a run that an assistant does not choose: describing them costs tokens in every conversation.
        add_tool(
            server,
            self._context,
            self.enrich,
            tool_hints(outside=True),
            without=("concurrency", "require_improvement", "budget_tokens", "offline"),
        )
        add_tool(server, self._context, self.decide_proposal, tool_hints(destroys=True))
        add_tool(server, self._context, self.control_run, tool_hints(outside=True))

    async def enrich(
        self,
        call: Call,
        request: ColumnsToFill,
        estimate: Annotated[bool, Key(description="Only estimate calls, time and cost; nothing is spent.")] = False,
        wait: Wait = True,
    ) -> Answer:
        """Fill columns of a table from the web, the user's documents or the row itself. May cost money and take
        minutes: estimate first where a table is long. The table is not changed: what was found becomes a proposal, and
        decide_proposal writes it once the user agrees."""
        if self._services.has_side_effects(request.strategy):
            raise Forbidden(
                f"{request.strategy} acts outside the table, so it is not started by an assistant.",
                advice="The user can start it.",
            )
        if estimate:
            return dict(to_json_document(await estimate_fill(self._services, request)))
        starting = StartFill(**{name: getattr(request, name) for name in FillTable.__struct_fields__})
        run_id = await self._context.start_run(start_fill_run(self._services, starting))
        # Between this and `wait` nothing may be awaited: a call that is broken off there would not stop its run.
        if wait or await self._is_computed(run_id):
            refuse_failed(await self._context.wait(call, run_id))
        return await self._enriched(run_id)

    async def decide_proposal(self, decision: Literal["apply", "reject"], request: ApplyProposal) -> Answer:
        """Write a proposal into its table, or reject it: all of it, or only some cells. Ask the user first. `cells`
        also counts those that only say why they are empty; cells that were changed since are left alone
        (`conflicts`), and so is a value for which nothing new was found (`kept`). undo takes back what was applied,
        not a rejection."""
        if decision == "apply":
            return dict(to_json_document(await apply_proposal(self._services, request)))
        chosen = {name: getattr(request, name) for name in ChosenCells.__struct_fields__}
        return dict(to_json_document(await reject_proposal(self._services, ChosenCells(**chosen))))

    async def control_run(
        self, run_id: str, action: Literal["cancel", "pause", "resume"], call: Call, wait: Wait = True
    ) -> Answer:
        """Stop or pause a run, keeping what it found, or resume one that was stopped, failed or paused; nothing is paid
        for twice."""
        run = await self._services.jobs.get(run_id)
        if action == "cancel":
            await cancel_run(self._services, RunRequest(run_id=run_id))
            await self._context.wait(call, run_id)
        elif action == "pause":
            await pause_run(self._services, RunRequest(run_id=run_id))
            await self._context.wait(call, run_id)
        else:
            await resume_run(self._services, ResumeRun(run_id=run_id))
            await self._context.remember(run_id)
            if wait:
                refuse_failed(await self._context.wait(call, run_id, after=run.last_event))
        return await self._report(run_id)

    async def _is_computed(self, run_id: str) -> bool:
        """Return True if the run only computes formulas, which takes no time."""
        run = await self._services.jobs.get(run_id)
        return bool(run.spec["strategy"] == "computation")

    async def _enriched(self, run_id: str) -> Answer:
        run = await self._report(run_id)
        head = await self._services.table(run["table_id"])
        proposal = await self._services.store.proposals.get(run["proposal_id"])
        ended = run["status"] not in ("running", "stopping")
        # Rows in the reply to `enrich`; show_table has the others by pages.
        found = (
            await self._tables.proposed(head, proposal, 0, 20) if ended else {"proposal": to_json_document(proposal)}
        )
        return found | {"run_id": run_id, "status": run["status"], "usage": run["usage"]}

    async def _report(self, run_id: str) -> Answer:
        return dict(to_json_document(await get_run(self._services, RunRequest(run_id=run_id))))
