"""Runs: list, show, stop, resume; what each attempt at a row tried."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from tablewright.domain.model import Attempt, RowId, Struct
from tablewright.domain.run import (
    HOLDER,
    SETBACKS,
    SINCE,
    TALLY,
    Progress,
    Run,
    RunState,
    RunTally,
    SkippedRow,
    Usage,
    seconds_between,
)
from tablewright.errors import NotFound
from tablewright.operations.operation import (
    USUAL_LIMIT,
    After,
    Limit,
    ListRequest,
    Name,
    Page,
    Request,
    RowNumber,
    copy_fields,
    operation,
)
from tablewright.operations.paging import page_by_number, page_newest_first, read_moment
from tablewright.operations.paths import hide_existence, path_hider_for

if TYPE_CHECKING:
    from tablewright.services import Services

RunId = Annotated[str, msgspec.Meta(min_length=1, max_length=200, description="The run's id.")]


class RunShown(Struct, frozen=True):
    """The progress of a run. `cost_usd` is null if the price of the model is not known. `empty` (the cells that stayed
    empty, by reason) is given for a single run only. `unasked` cells could not be looked for, `degraded` answers came
    without the model although there is one, and `incomplete` rows were skipped because they lack what the question
    needs; `skipped_rows` are the first of these. `owner` is the process that works on it, for the machine's owner."""

    run_id: str
    kind: str
    table_id: str
    proposal_id: str
    status: RunState
    done: int
    total: int
    fraction: float
    found: int
    empty: dict[str, int]
    unasked: int
    cause: str
    degraded: int
    incomplete: int
    skipped_rows: tuple[SkippedRow, ...]
    seconds_left: float | None
    usage: Usage
    cost_usd: float | None
    error: str | None
    owner: str
    started_at: str
    finished_at: str | None
    last_event: int
    spec: dict[str, Any]


class RunPage(Page, frozen=True):
    runs: tuple[RunShown, ...]


class RowAttempts(Struct, frozen=True):
    row_id: RowId
    attempts: tuple[Attempt, ...]


class AttemptPage(Page, frozen=True):
    rows: tuple[RowAttempts, ...]


class ListRuns(ListRequest, frozen=True):
    table: Annotated[Name, msgspec.Meta(description="Only those of this table.")] = ""


@operation("read")
async def list_runs(services: Services, request: ListRuns) -> RunPage:
    """List the runs, newest first."""
    table_id = (await services.table(request.table)).id if request.table else None
    before = read_moment(request.after)
    found = await services.jobs.all(table_id, limit=request.limit + 1, before=before)
    some, more = page_newest_first(found, request.after, request.limit, lambda run: (run.started_at, run.id))
    return RunPage(runs=tuple([await show_run(services, run) for run in some]), next=more)


class RunRequest(Request, frozen=True):
    run_id: RunId


@operation("read")
async def get_run(services: Services, request: RunRequest) -> RunShown:
    """Show the progress of a run, its cost, the time left, and what failed and why."""
    return await show_run(services, await find_run(services, request.run_id), reasons=True)


@operation("run")
async def cancel_run(services: Services, request: RunRequest) -> RunShown:
    """Stop a run within a second, whichever process does the work. What was found is kept, and it can be resumed."""
    run = await find_run(services, request.run_id)
    await services.jobs.cancel(run.id)
    return await show_run(services, await services.jobs.get(run.id))


@operation("run")
async def pause_run(services: Services, request: RunRequest) -> RunShown:
    """Pause a run within a second, whichever process does the work. What was found is kept until it is resumed."""
    run = await find_run(services, request.run_id)
    await services.jobs.pause(run.id)
    return await show_run(services, await services.jobs.get(run.id))


class ResumeRun(RunRequest, frozen=True):
    current_settings: Annotated[
        bool, msgspec.Meta(description="Use the present model and search, not those it was started with.")
    ] = False


@operation("run")
async def resume_run(services: Services, request: ResumeRun) -> RunShown:
    """Resume a run that was interrupted, stopped, paused or failed. Nothing is paid for twice."""
    run = await find_run(services, request.run_id)
    await services.jobs.resume(run.id, with_current_settings=request.current_settings)
    return await show_run(services, await services.jobs.get(run.id))


class ListAttempts(RunRequest, frozen=True):
    limit: Limit = USUAL_LIMIT
    after: After = ""
    row: Annotated[RowNumber | None, msgspec.Meta(description="Only of this row.")] = None


@operation("read")
async def list_attempts(services: Services, request: ListAttempts) -> AttemptPage:
    """List what each attempt at a row tried and found; empty for rows that were tried only once."""
    run = await find_run(services, request.run_id)
    tried = await services.store.attempts.of_run(run.id)
    found = [
        RowAttempts(row_id=row_id, attempts=tuple(each))
        for row_id, each in tried.items()
        if request.row in (None, row_id)
    ]
    some, more = page_by_number(found, request.after, request.limit, lambda each: each.row_id)
    return AttemptPage(rows=tuple(some), next=more)


async def find_run(services: Services, run_id: str) -> Run:
    """Find a run. One about no table, such as reading documents, is seen by the user who started it."""
    if services.person is None:
        return await services.jobs.get(run_id)
    with hide_existence(f"run {run_id!r}"):
        return await services.jobs.get(run_id)


async def show_run(services: Services, run: Run, *, reasons: bool = False) -> RunShown:
    """With `reasons`, all of its cells are read to say why some are empty."""
    store = services.store
    try:
        proposal_id = await store.proposals.of_run(run.id)
    except NotFound:
        proposal_id = ""
    # For one run only: it reads every cell of the proposal.
    empty = await store.proposals.reasons(proposal_id) if reasons and proposal_id else {}
    tally = await _tally_of(services, run)
    total = run.total or tally.rows  # what is computed at once has no slices that count its rows
    done = run.done if run.total else tally.rows
    is_interrupted = await services.jobs.is_interrupted(run)
    hide = path_hider_for(services.person, services.settings)
    return copy_fields(
        RunShown,
        run,
        run_id=run.id,
        proposal_id=proposal_id,
        status="interrupted" if is_interrupted else "stopping" if run.stopping else run.status,
        done=done,
        total=total,
        fraction=Progress(stage="complete" if run.finished_at else "working", done=done, total=total).fraction,
        found=empty.pop("", 0) if reasons else tally.found,
        empty=empty,
        unasked=tally.unasked,
        cause=hide(tally.cause),
        degraded=tally.degraded,
        incomplete=tally.incomplete,
        skipped_rows=tally.skipped_rows,
        seconds_left=None if is_interrupted else seconds_left(run, datetime.now(UTC).isoformat()),
        cost_usd=run.usage.cost_usd if _is_priced(run, services.settings.model) else None,
        error=hide(run.error) if run.error else None,
        owner=run.owner if services.person is None else "",
        # The others are only for the processes that work on it.
        spec={
            name: value
            for name, value in run.spec.items()
            if name not in ("settings", "paths", "host", SINCE, HOLDER, SETBACKS, TALLY)
        },
    )


def _is_priced(run: Run, usual_model: str) -> bool:
    """Return False if a model elsewhere was asked and no price came with its tokens."""
    model = str(run.spec.get("settings", {}).get("model") or usual_model)
    # Models on this machine cost nothing, so a missing price is no gap.
    is_here = model.partition(":")[0].strip().lower() in ("builtin", "local", "ollama")
    return bool(is_here or run.usage.cost_usd or not run.usage.input_tokens)


async def _tally_of(services: Services, run: Run) -> RunTally:
    # A run that has ended keeps its tally; only a running one adds up its slices.
    if run.status != "running" and TALLY in run.spec:
        return msgspec.convert(run.spec[TALLY], RunTally)
    return (await services.store.slices.totals(run.id)).tally


def seconds_left(run: Run, now: str) -> float | None:
    """Return the time left at the pace since a process last began to work on it; None while that says little."""
    done, left = run.done - run.since.done, run.total - run.done
    # Rows after which the pace of a run allows an estimate of the time left.
    if run.status != "running" or left <= 0 or done < min(20, run.total - run.since.done):
        return None
    return round(seconds_between(run.since.at, now) / done * left, 1)
