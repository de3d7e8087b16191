"""`tablewright runs …`: what is being done, and what was; `tablewright worker`: a process that does it."""

from __future__ import annotations

import asyncio
import logging
import signal
from typing import TYPE_CHECKING, Annotated

import typer

from tablewright.domain.text import count_noun
from tablewright.doors.cli import output
from tablewright.doors.cli.adapter import command
from tablewright.doors.cli.root import Json, app, with_app
from tablewright.doors.interrupting import on_interrupt

if TYPE_CHECKING:
    from tablewright.operations.runs import AttemptPage, ResumeRun, RunPage, RunShown
    from tablewright.services import Services

commands = typer.Typer(help="Show, watch, stop and resume runs.", no_args_is_help=True)
app.add_typer(commands, name="runs")

RunId = Annotated[str, typer.Argument(metavar="RUN", help="A run's id.")]


@command(commands, "runs.list_runs", name="list", defaults={"limit": 20})
def list_(reply: RunPage) -> None:
    if not reply.runs:
        output.say("No runs.")
        return
    lines = [
        [
            run.run_id,
            run.kind,
            run.table_id or "—",
            run.status,
            f"{run.done:,}/{run.total:,}" if run.total else "",
            output.cost_text(run.cost_usd),
            output.when(run.started_at),
        ]
        for run in reply.runs
    ]
    columns = ["Run", "Kind", "Table", "Status", "Rows", "Cost", "Started"]
    output.stdout().print(output.grid("", columns, lines))
    for run in reply.runs:
        if run.error:
            output.say(f"{run.run_id} {run.status}: {run.error}")


@command(commands, "runs.get_run", name="show", arguments=("run_id",))
def show(reply: RunShown) -> None:
    used, more = reply.usage, reply.incomplete - len(reply.skipped_rows)
    said = [
        f"{reply.kind} of {reply.table_id}" if reply.table_id else reply.kind,
        reply.status + (f": {reply.error}" if reply.error else ""),
        f"{reply.done:,} of {count_noun(reply.total, 'row')}" if reply.total else "",
        f"about {output.duration(reply.seconds_left)} left" if reply.seconds_left else "",
        f"{count_noun(used.llm_calls, 'model call')}, {count_noun(used.searches, 'search')}, "
        f"{count_noun(used.fetches, 'page')}, {output.cost_text(reply.cost_usd)}",
        output.tokens(used),
        f"found {reply.found:,}" if reply.found else "",
        f"{count_noun(reply.degraded, 'answer')} without the model (degraded)" if reply.degraded else "",
        f"{count_noun(reply.unasked, 'cell')} could not be looked for" if reply.unasked else "",
        *(f"skipped row {each.row_id}: {each.why}" for each in reply.skipped_rows),
        f"skipped {more:,} more" if more else "",
        *(f"{count_noun(count, 'cell')} empty: {reason}" for reason, count in reply.empty.items()),
        f"proposal {reply.proposal_id}" if reply.proposal_id else "",
    ]
    for line in filter(None, said):
        output.stdout().print(output.plain(line, 500), highlight=False, soft_wrap=True)
    if reply.status in ("interrupted", "paused", "failed"):
        output.say(f"Resume it: tablewright runs resume {reply.run_id}.")


@command(commands, "runs.list_attempts", name="attempts", arguments=("run_id",))
def list_attempts(reply: AttemptPage) -> None:
    lines = [
        [
            str(row.row_id),
            str(each.number),
            "; ".join(each.queries),
            "; ".join(weak.reason for weak in each.assessment.weak),
        ]
        for row in reply.rows
        for each in row.attempts
    ]
    output.stdout().print(output.grid("", ["Row", "Attempt", "Searches", "Still weak"], lines))


@commands.command()
def watch(
    run: RunId,
    after: Annotated[int, typer.Option("--after", metavar="N", min=0, help="Only what comes after this number.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print each event as a line of JSON.")] = False,
) -> None:
    """Watch a run until it ends, whichever process does the work. Ctrl-C stops watching, not the run."""

    async def work(services: Services) -> None:
        if await services.jobs.is_interrupted(await services.jobs.get(run)):
            output.warn([f"No process is working on it. Start a worker, or resume it: tablewright runs resume {run}."])
        await follow(services, run, after=after, as_json=json)

    with_app(work)


@commands.command()
def cancel(run: RunId, json: Json = False) -> None:
    """Stop a run within a second, whichever process does the work. What was found is kept, and it can be resumed."""
    from tablewright.operations.runs import RunRequest, cancel_run, get_run

    async def work(services: Services) -> RunShown:
        await cancel_run(services, RunRequest(run_id=run))
        async for _ in services.jobs.watch(run):
            pass
        return await get_run(services, RunRequest(run_id=run))

    found = with_app(work)
    kept = f" What was found is in proposal {found.proposal_id}." if found.proposal_id else ""
    so_far = f", after {found.done:,} of {count_noun(found.total, 'row')}" if found.total else ""
    output.print_result(json, found, f"Run {run} is {found.status}{so_far}.{kept}")


@command(commands, "runs.resume_run", name="resume", arguments=("run_id",))
def resume(request: ResumeRun, json: Json = False) -> None:
    from tablewright.operations.runs import cancel_run, find_run, get_run, resume_run

    async def work(services: Services) -> RunShown:
        run = await find_run(services, request.run_id)
        stopping: list[asyncio.Future[RunShown]] = []
        with on_interrupt(lambda: stopping.append(asyncio.ensure_future(cancel_run(services, request)))):
            await resume_run(services, request)
            with output.Bar("Filling", run.total or None) as bar:
                await services.jobs.wait(run.id, bar.follow_fill, after=run.last_event)
        return await get_run(services, request)

    found = with_app(work)
    if json:
        output.print_json(found)
    else:
        output.say(f"Run {found.run_id} is {found.status}" + (f": {found.error}" if found.error else "."))
        if found.proposal_id:
            output.say(f"Decide with `tablewright proposals review {found.proposal_id}` (or apply, or reject).")
        if found.status in ("paused", "failed"):
            output.say(f"Resume it: tablewright runs resume {found.run_id}.")
    if found.status in ("cancelled", "failed", "paused"):
        raise typer.Exit(130 if found.status == "cancelled" else 1)


@app.command()
def worker(
    metrics_port: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            max=65535,
            help="Where Prometheus reads this worker's metrics, on 127.0.0.1, without a token.",
        ),
    ] = None,
) -> None:
    """Work on queued runs, together with all other workers of the same database, until SIGTERM or Ctrl-C.

    Each worker takes slices of the runs in progress, and takes over those of a worker that died. While workers are up,
    they do the work of every new run; the command that started it only watches.
    """
    from tablewright.logs import set_up
    from tablewright.telemetry import telemetry

    log = logging.getLogger("tablewright.worker")

    async def work(services: Services) -> None:
        set_up(services.settings)
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        async with telemetry(services.settings, services.jobs.depth, port=metrics_port) as found:
            if found is not None and found.address:
                log.info("Metrics are at %s.", found.address)
            log.info("Working. SIGTERM or Ctrl-C finishes the rows under way, and ends.")
            await services.jobs.work(stop)
        log.info("Stopped.")

    with_app(work)


async def follow(services: Services, run_id: str, *, after: int, as_json: bool) -> None:
    """With a bar for people; a line of JSON for each event for programs."""
    from tablewright.operations.runs import RunRequest, get_run

    run = await services.jobs.get(run_id)
    with output.Bar("Filling", run.total or None) as bar:
        bar.count(run.done)
        async for event in services.jobs.watch(run_id, after=after):
            if as_json:
                typer.echo(output.json_text(event))
            else:
                bar.follow_fill(event.progress)
    if not as_json:
        found = await get_run(services, RunRequest(run_id=run_id))
        output.say(f"{found.status}: {found.done:,} of {count_noun(found.total, 'row')}.")
