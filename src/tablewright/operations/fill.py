"""Fill columns: estimate and start runs, recheck cited pages, refresh stale cells."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from tablewright.domain.history import Change
from tablewright.domain.model import Field, Struct, Table
from tablewright.domain.naming import check_request_text
from tablewright.domain.run import Estimate, ProgressCallback, ignore_progress
from tablewright.domain.text import to_json_document
from tablewright.engine import planning
from tablewright.engine.fill import FillRun
from tablewright.engine.planning import Redo
from tablewright.engine.policy import FillPlan, RetryPolicy, RunPolicy
from tablewright.engine.recheck import CellVerdict, RecheckOutcome
from tablewright.engine.runs.ownership import check_authority
from tablewright.errors import Cancelled, Paused, UsageError
from tablewright.operations.operation import (
    MAX_NUMBER,
    FieldNames,
    Name,
    Request,
    TableRef,
    TableRequest,
    Text,
    copy_fields,
    operation,
)
from tablewright.operations.rows import FieldSpecs, read_fields
from tablewright.operations.runs import show_run
from tablewright.settings import DECLARED, Evidence, Settings, Sources, write_setting
from tablewright.strategies.strategy import FunctionStrategy, RowFunction, Strategy
from tablewright.workflows import refresh
from tablewright.workflows.refresh import RefreshRound

if TYPE_CHECKING:
    from tablewright.engine.outcome import RunResult
    from tablewright.engine.runs.kinds import RunContext
    from tablewright.services import Services

ChosenRows = (
    Annotated[
        tuple[Annotated[int, msgspec.Meta(ge=1, le=MAX_NUMBER)], ...],
        msgspec.Meta(min_length=1, max_length=100_000, description="Only the rows of these numbers."),
    ]
    | None
)
Acts = Annotated[bool, msgspec.Meta(description="Must be true for a strategy that has an effect outside the table.")]

# Settings that a run may override: how rows are worked on, and how its tools are opened.
ROW_SETTINGS = ("concurrency", "attempts", "threshold", "require_improvement")
# Tools are opened again only if one of these differs; settings of rows need no other tools.
TOOL_SETTINGS = ("budget", "budget_tokens", "sources", "evidence", "cascade", "offline")


class Started(Struct, frozen=True):
    """Watch it at `/runs/{run_id}/events`; what it finds is a proposal."""

    run_id: str
    table_id: str


class FillOptions(Request, frozen=True, kw_only=True):
    """Options of a run that fills columns; the settings are the defaults."""

    strategy: Annotated[
        Name,
        msgspec.Meta(
            description="How each row is answered: lookup (search results only), research (many steps, expensive), "
            "pipeline (search, read, check), documents (the user's own), transform (from the row itself), computation, "
            "or an installed one. Default: a formula is computed, a question is answered by pipeline (sources docs: "
            "documents)."
        ),
    ] = ""
    params: Annotated[dict[Name, Text], msgspec.Meta(description="Parameters of the strategy.")] = msgspec.field(
        default_factory=dict
    )
    thoroughness: Annotated[
        Literal["", "exploratory", "comprehensive"], msgspec.Meta(description="For research; default: exploratory.")
    ] = ""
    rows: ChosenRows = None
    max_rows: Annotated[
        Annotated[int, msgspec.Meta(ge=1, le=MAX_NUMBER)] | None, msgspec.Meta(description="Only the first N rows.")
    ] = None
    again: Annotated[bool, msgspec.Meta(description="Look elsewhere for what earlier runs did not find.")] = False
    concurrency: Annotated[int, DECLARED["concurrency"].limits] | None = None
    attempts: Annotated[int, DECLARED["attempts"].limits] | None = None
    threshold: Annotated[float, DECLARED["threshold"].limits] | None = None
    require_improvement: Annotated[bool, DECLARED["require_improvement"].limits] | None = None
    budget: Annotated[float, DECLARED["budget"].limits] | None = None
    budget_tokens: Annotated[int, DECLARED["budget_tokens"].limits] | None = None
    sources: Annotated[Sources, DECLARED["sources"].limits] | None = None
    evidence: Annotated[Evidence, DECLARED["evidence"].limits] | None = None
    cascade: Annotated[bool, DECLARED["cascade"].limits] | None = None
    offline: Annotated[bool, DECLARED["offline"].limits] = False

    def texts(self) -> dict[str, str]:
        """Return the settings of this run as an installation would be given them."""
        said = {name: getattr(self, name) for name in (*ROW_SETTINGS, *TOOL_SETTINGS)}
        # False is the default of every switch here, so it need not be stored with the run.
        return {name: write_setting(value) for name, value in said.items() if value not in (None, False)}

    def settings(self, usual: Settings, names: Collection[str] = (*ROW_SETTINGS, *TOOL_SETTINGS)) -> Settings:
        """Return the settings that hold for this run. A cap that is set is never exceeded, and an installation that is
        offline stays so."""
        said = {name: value for name in names if (value := getattr(self, name)) is not None}
        for name in ("budget", "budget_tokens"):
            if name in said and getattr(usual, name) is not None:
                # A person may lower a cap for one run, never raise it.
                said[name] = min(said[name], getattr(usual, name))
        if "offline" in said:
            # An installation is offline for a reason: a request cannot lift it.
            said["offline"] = self.offline or usual.offline
        return replace(usual, **said)


class FillTable(FillOptions, frozen=True, kw_only=True):
    """A table, the columns to fill, and how. Models and search providers are those of the settings."""

    table: TableRef
    fields: Annotated[
        FieldSpecs,
        msgspec.Meta(
            min_length=1,
            # Each column adds to every prompt.
            max_length=100,
            description='Columns to fill, each an object, or a text "NAME:TYPE=QUESTION": '
            '"Founded:number=What year was {Company} founded?". {Column} stands for the row\'s value. Types: text, '
            "number(UNIT), boolean, select(A, B), date, url, list, money. A formula is computed: "
            '"Total:number={Price} * {Quantity}".',
            examples=[
                [
                    {"name": "Founded", "type": "number", "question": "What year was {Company} founded?"},
                    "Website:url=What is the website of {Company}?",
                ]
            ],
        ),
    ]


class StartFill(FillTable, frozen=True, kw_only=True):
    acts: Acts = False


@operation("read")
async def estimate_fill(services: Services, request: FillTable) -> Estimate:
    """Estimate a run: nothing is spent and nothing is stored."""
    async with AsyncExitStack() as stack:
        return await (await plan_request(services, request, stack)).estimate()


@operation("run")
async def start_fill(services: Services, request: StartFill) -> Started:
    """Fill columns in the background. What is found is a proposal: nothing changes before it is applied."""
    if services.has_side_effects(request.strategy) and not request.acts:
        raise UsageError(
            f"{request.strategy} acts outside the table, for every row.", advice='Say `"acts": true` to start it.'
        )
    async with AsyncExitStack() as stack:
        fill = await plan_request(services, request, stack)
        run_id = await services.jobs.start(fill, request.settings(services.settings).shared)
    return Started(run_id=run_id, table_id=fill.table_id)


async def plan_request(services: Services, request: FillTable, stack: AsyncExitStack) -> FillRun:
    if request.rows is not None and request.max_rows is not None:
        raise UsageError("`rows` and `max_rows` exclude each other.")
    return await plan_fill(services, request.table, read_fields(request.fields), how=request, stack=stack)


async def plan_fill(
    services: Services,
    table: str,
    fields: Sequence[Field],
    strategy: str | Strategy | RowFunction = "",
    *,
    how: FillOptions | None = None,
    usual: str = "",
    redo: Redo = "",
    stack: AsyncExitStack | None = None,
    watch: ProgressCallback = ignore_progress,
) -> FillRun:
    """Return a run that is ready: `await fill.run()` starts it, `fill.cancel()` stops it and keeps what was found;
    `await fill.estimate()` says before what it is likely to take.

    A strategy that is an object or a function is known to this process alone: run it here, not as a durable run.
    Without a strategy a formula is computed and a question answered by the `usual` one. `redo` "all" also fills what
    earlier runs found, but nothing that a person gave; "outdated" also cells whose question or inputs have changed, and
    cells that failed with an error. Tools for other settings than the usual ones are closed with `stack`."""
    how = how or FillOptions()
    chosen = strategy or how.strategy
    if not isinstance(chosen, str | Strategy):
        # A class is callable too, but a strategy must be an object of it.
        if isinstance(chosen, type) or not callable(chosen):
            raise UsageError(
                f"{chosen!r} is not a strategy.", advice="Give a name, an object of a Strategy, or a function."
            )
        chosen = FunctionStrategy(chosen)
    settings = how.settings(services.settings)
    filling = FillPlan(
        await services.table(table),
        fields,
        chosen,
        params={**how.params, **({"thoroughness": how.thoroughness} if how.thoroughness else {})},
        row_ids=how.rows,
        again=how.again,
        max_rows=how.max_rows,
        concurrency=settings.concurrency,
        retry=RetryPolicy.from_settings(settings),
        policy=RunPolicy.from_settings(settings),
    )
    return await planning.prepare_fill(
        services.store,
        filling,
        await services.opener_for(filling.table.id, how.settings(services.settings, TOOL_SETTINGS), stack),
        default=usual or ("documents" if settings.sources == "docs" else "pipeline"),
        redo=redo,
        watch=watch,
    )


async def report_fill(services: Services, filled: RunResult) -> dict[str, Any]:
    """Return a run as `GET /runs/{run_id}` has it, with every asked cell, its evidence and its trace: `rows` yields
    each row as JSON."""
    run = await show_run(services, await services.jobs.get(filled.run_id), reasons=True)
    summary = await planning.summarize_run(services.store, filled)
    return {**to_json_document(run), **summary, "rows": planning.iterate_row_reports(services.store, filled)}


async def load_fill_report(services: Services, filled: RunResult) -> dict[str, Any]:
    """Return the report of a run with all its rows, in memory."""
    report = await report_fill(services, filled)
    return {**report, "rows": [msgspec.json.decode(row) async for row in report["rows"]]}


def find_formula_problem(table: Table, question: str, others: Sequence[str] = ()) -> str:
    """Return why a question in the form of a formula can never be computed, or "". `others` are columns that are asked
    for together with it."""
    return planning.explain_formula_problem(table, question, others)


class PlanColumns(TableRequest, frozen=True):
    request: Annotated[Text, msgspec.Meta(description="What to know of every row, in the user's own words.")]


class ColumnsPlanned(Struct, frozen=True):
    """Each with a name, a type and a question; nothing is added to the table."""

    fields: tuple[Field, ...]


@operation("run")
async def plan_columns(services: Services, request: PlanColumns) -> ColumnsPlanned:
    """Turn a description of what to know into columns. It takes a model."""
    table = await services.table(request.table)
    async with services.spending():
        model = (await services.open_tools(["model"])).model
        words = check_request_text(request.request)
        return ColumnsPlanned(fields=await planning.propose_columns(services.store, table.id, words, model))


# ── recheck ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class RecheckTable(TableRequest, frozen=True, kw_only=True):
    fields: FieldNames = ()
    rows: ChosenRows = None
    dry_run: Annotated[bool, msgspec.Meta(description="Check, but flag nothing.")] = False


class RecheckResult(Struct, frozen=True):
    """`change` flags the cells that changed; null if there were none, or nothing was to be written."""

    table_id: str
    status: Literal["done", "cancelled"]
    pages: int
    checked: int
    supported: int
    changed: int
    not_checked: int
    cells: tuple[CellVerdict, ...]
    change: Change | None


@operation("run")
async def recheck(
    services: Services, request: RecheckTable, *, watch: ProgressCallback = ignore_progress
) -> RecheckResult:
    """Fetches the cited pages again and flags the cells whose quotes are gone. Values stay. Uses no model and no
    search; a page that refuses or cannot be reached proves nothing, so its cells are left as they are."""
    table_id, spec = await make_recheck(services, request)
    found: RecheckOutcome = await services.jobs.perform("recheck", table_id, spec, watch)
    counts = {verdict: found.count(verdict) for verdict in ("supported", "changed")}
    return copy_fields(
        RecheckResult, found, checked=sum(counts.values()), not_checked=found.count("not checked"), **counts
    )


@operation("run")
async def start_recheck(services: Services, request: RecheckTable) -> Started:
    """Fetch the cited pages again and flag the cells whose quotes are gone. A page that refuses access proves
    nothing."""
    table_id, spec = await make_recheck(services, request)
    return Started(run_id=await services.jobs.begin("recheck", table_id, spec), table_id=table_id)


async def make_recheck(services: Services, request: RecheckTable) -> tuple[str, dict[str, Any]]:
    table = await services.table(request.table)
    fields = [table.require_field(name).name for name in request.fields]
    return table.id, {"fields": fields, "row_ids": request.rows, "dry_run": request.dry_run}


async def run_recheck(services: Services, context: RunContext) -> RecheckOutcome:
    """Check if the cited pages still say what the cells say."""
    from tablewright.engine.recheck import Recheck

    table_id, request = context.run.table_id, context.request
    checking = Recheck(
        services.store,
        await services.store.tables.find(table_id),
        await (await services.toolbox_for(table_id)).open_pages(),
        actor=services.actor,
        fields=request["fields"],
        row_ids=request["row_ids"],
        dry_run=request["dry_run"],
        watch=context.tell,
    )
    context.on_stop = checking.cancel
    return await checking.run()


# ── refresh ─────────────────────────────────────────────────────────────────────────────────────────────────────────


class RefreshTable(TableRequest, frozen=True, kw_only=True):
    fields: FieldNames = ()
    acts: Acts = False


class RefreshRun(Struct, frozen=True):
    """Stale columns that are filled again together. `run_id` is empty if they wait for others that are stale: apply
    those, then refresh again. `error` says why it could not begin."""

    fields: tuple[str, ...]
    strategy: str
    cells: int
    run_id: str
    error: str


class RefreshStarted(Struct, frozen=True):
    table_id: str
    runs: tuple[RefreshRun, ...]


class RoundEstimate(Struct, frozen=True):
    fields: tuple[str, ...]
    strategy: str
    cells: int
    estimate: Estimate | None
    error: str


class RefreshEstimates(Struct, frozen=True):
    table_id: str
    rounds: tuple[RoundEstimate, ...]


@operation("run")
async def start_refresh(services: Services, request: RefreshTable) -> RefreshStarted:
    """Fill the stale cells again, and only those, each with the strategy that filled it before. Each run ends with a
    proposal; columns that depend on stale ones wait until those are applied."""
    table_id, runs = (await services.table(request.table)).id, []
    for of in await list_stale_rounds(services, table_id, request.fields):
        run_id, error = "", ""
        fill = await plan_round(services, table_id, of)
        if isinstance(fill, UsageError):
            error = str(fill)
        elif services.has_side_effects(of.strategy) and not request.acts:
            error = f"{of.strategy} acts outside the table: pass `acts` to start it."
        elif fill is not None:
            run_id = await services.jobs.start(fill)
        runs.append(RefreshRun(fields=of.fields, strategy=of.strategy, cells=len(of.cells), run_id=run_id, error=error))
    return RefreshStarted(table_id=table_id, runs=tuple(runs))


@operation("read")
async def estimate_refresh(services: Services, request: RefreshTable) -> RefreshEstimates:
    """Estimate filling the stale cells again."""
    table_id, found = (await services.table(request.table)).id, []
    for of in await list_stale_rounds(services, table_id, request.fields):
        fill = await plan_round(services, table_id, of, waiting=True)
        found.append(
            RoundEstimate(
                fields=of.fields,
                strategy=of.strategy,
                cells=len(of.cells),
                estimate=await fill.estimate() if isinstance(fill, FillRun) else None,
                error=str(fill) if isinstance(fill, UsageError) else "",
            )
        )
    return RefreshEstimates(table_id=table_id, rounds=tuple(found))


async def list_stale_rounds(services: Services, table: str, fields: Sequence[str] = ()) -> list[RefreshRound]:
    """Return what is stale, in the order in which it can be filled again; each round is applied before the next."""
    return await refresh.list_refresh_rounds(services.store, table, fields)


async def plan_round(
    services: Services,
    table: str,
    of: RefreshRound,
    *,
    waiting: bool = False,
    watch: ProgressCallback = ignore_progress,
) -> FillRun | UsageError | None:
    """Return a run over exactly these cells; None while they wait for others that are stale, and the error if the round
    cannot begin: other rounds can. With `waiting` the cells do not wait, to estimate what all would take."""
    settings = services.settings
    filling = FillPlan(
        await services.table(table),
        (),
        concurrency=settings.concurrency,
        retry=RetryPolicy.from_settings(settings),
        policy=RunPolicy.from_settings(settings),
    )
    open_tools = await services.opener_for(filling.table.id)
    try:
        return await refresh.plan_refresh_round(services.store, of, filling, open_tools, waiting=waiting, watch=watch)
    except UsageError as error:
        return error


async def run_refresh(services: Services, context: RunContext) -> None:
    """Recheck a table, then fill again the cells that are flagged, stale, or empty because nothing looked for them.
    The result is a proposal, or applied if the schedule's author said so."""
    await run_recheck(services, context)
    store, fields = services.store, context.request["fields"]
    table = await store.tables.find(context.run.table_id)
    for way in await refresh.list_fill_methods(store, table, fields):
        how = FillOptions(params=dict(way.params))
        fill = await plan_fill(services, table.id, way.fields, way.strategy, how=how, watch=context.tell)
        await _fill_and_apply(services, context, fill)
    for each in await refresh.list_refresh_rounds(store, table.id, fields):
        # Planned when its turn comes, because the rounds before it change what is stale.
        again = await plan_round(services, table.id, each, watch=context.tell)
        if isinstance(again, UsageError):
            raise again
        if again is not None:
            await _fill_and_apply(services, context, again)


async def _fill_and_apply(services: Services, context: RunContext, fill: FillRun) -> None:
    context.on_stop = fill.cancel
    if context.stopped:  # during an earlier part of the refresh
        raise Cancelled(f"Run {context.run.id} was stopped.", kept="What it found is kept.")
    filled = await fill.run()
    if filled.status == "paused":
        raise Paused(filled.problem, kept="What it found is kept.")
    if context.request["apply"] and filled.status == "done":
        await check_authority(services.store, context.run)
        await services.changes.apply_unseen(filled.proposal_id)
