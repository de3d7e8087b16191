"""`tablewright runs …`: what is being done, and what was; `tablewright worker`: a process that does it."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated

import typer

from tablewright.domain.text import count_noun
from tablewright.interfaces.cli import output
from tablewright.interfaces.cli.adapter import command
from tablewright.interfaces.cli.root import Json, app, run_with_services
from tablewright.interfaces.interrupting import call_on_interrupt
from tablewright.interfaces.wording import format_cost, format_duration, format_tokens

if TYPE_CHECKING:
    from tablewright.operations.runs import AttemptPage, ResumeRun, RunPage, RunRequest, RunShown
    from tablewright.services import Services

commands = typer.Typer(help="Show, watch, stop, pause and resume runs.", no_args_is_help=True)
app.add_typer(commands, name="runs")

RunId = Annotated[str, typer.Argument(metavar="RUN", help="A run's id.")]


@command(commands, "runs.list_runs", name="list", defaults={"limit": 20})
def list_runs_command(reply: RunPage) -> None:
    if not reply.runs:
        output.print_note("No runs.")
        return
    lines = [
        [
            run.run_id,
            run.kind,
            run.table_id or "—",
            run.status,
            f"{run.done:,}/{run.total:,}" if run.total else "",
            format_cost(run.cost_usd),
            output.format_local_time(run.started_at),
        ]
        for run in reply.runs
    ]
    columns = ["Run", "Kind", "Table", "Status", "Rows", "Cost", "Started"]
    output.stdout().print(output.build_grid("", columns, lines))
    for run in reply.runs:
        if run.error:
            output.print_note(f"{run.run_id} {run.status}: {run.error}")


@command(commands, "runs.get_run", name="show", arguments=("run_id",))
def show_run_command(reply: RunShown) -> None:
    used, more = reply.usage, reply.incomplete - len(reply.skipped_rows)
    said = [
        f"{reply.kind} of {reply.table_id}" if reply.table_id else reply.kind,
        reply.status + (f": {reply.error}" if reply.error else ""),
        f"{reply.done:,} of {count_noun(reply.total, 'row')}" if reply.total else "",
        f"about {format_duration(reply.seconds_left)} left" if reply.seconds_left else "",
        f"{count_noun(used.llm_calls, 'model call')}, {count_noun(used.searches, 'search')}, "
        f"{count_noun(used.fetches, 'page')}, {format_cost(reply.cost_usd)}",
        format_tokens(used),
        f"found {reply.found:,}" if reply.found else "",
        f"{count_noun(reply.degraded, 'answer')} without the model (degraded)" if reply.degraded else "",
        f"{count_noun(reply.unasked, 'cell')} could not be looked for" if reply.unasked else "",
        *(f"skipped row {each.row_id}: {each.why}" for each in reply.skipped_rows),
        f"skipped {more:,} more" if more else "",
        *(f"{count_noun(count, 'cell')} empty: {reason}" for reason, count in reply.empty.items()),
        f"proposal {reply.proposal_id}" if reply.proposal_id else "",
    ]
    for line in filter(None, said):
        output.stdout().print(output.harmless_text(line, 500), highlight=False, soft_wrap=True)
    if reply.status in ("interrupted", "paused", "failed"):
        output.print_note(f"Resume it: tablewright runs resume {reply.run_id}.")


@command(commands, "runs.list_attempts", name="attempts", arguments=("run_id",))
def list_attempts_command(reply: AttemptPage) -> None:
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
    output.stdout().print(output.build_grid("", ["Row", "Attempt", "Searches", "Still weak"], lines))


@commands.command("watch")
def watch_run_command(
    run: RunId,
    after: Annotated[int, typer.Option("--after", metavar="N", min=0, help="Only what comes after this number.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print each event as a line of JSON.")] = False,
) -> None:
    """Watch a run until it ends, whichever process does the work. Ctrl-C stops watching, not the run."""

    async def work(services: Services) -> None:
        if await services.jobs.is_interrupted(await services.jobs.get(run)):
            output.print_warnings(
                [f"No process is working on it. Start a worker, or resume it: tablewright runs resume {run}."]
            )
        await follow_run(services, run, after=after, as_json=json)

    run_with_services(work)


@commands.command("cancel")
def cancel_run_command(run: RunId, json: Json = False) -> None:
    """Stop a run within a second, whichever process does the work. What was found is kept, and it can be resumed."""
    from tablewright.operations.runs import cancel_run

    stop_and_report(run, cancel_run, as_json=json)


@commands.command("pause")
def pause_run_command(run: RunId, json: Json = False) -> None:
    """Pause a run within a second, whichever process does the work. What was found is kept until it is resumed."""
    from tablewright.operations.runs import pause_run

    stop_and_report(run, pause_run, as_json=json)


def stop_and_report(run: str, stop: Callable[[Services, RunRequest], Awaitable[RunShown]], *, as_json: bool) -> None:
    from tablewright.operations.runs import RunRequest, get_run

    async def work(services: Services) -> RunShown:
        await stop(services, RunRequest(run_id=run))
        async for _ in services.jobs.watch(run):
            pass
        return await get_run(services, RunRequest(run_id=run))

    found = run_with_services(work)
    kept = f" What was found is in proposal {found.proposal_id}." if found.proposal_id else ""
    so_far = f", after {found.done:,} of {count_noun(found.total, 'row')}" if found.total else ""
    output.print_json_or_note(as_json, found, f"Run {run} is {found.status}{so_far}.{kept}")


@command(commands, "runs.resume_run", name="resume", arguments=("run_id",))
def resume_run_command(request: ResumeRun, json: Json = False) -> None:
    from tablewright.operations.runs import cancel_run, find_run, get_run, resume_run

    async def work(services: Services) -> RunShown:
        run = await find_run(services, request.run_id)
        stopping: list[asyncio.Future[RunShown]] = []
        with call_on_interrupt(lambda: stopping.append(asyncio.ensure_future(cancel_run(services, request)))):
            await resume_run(services, request)
            with output.Bar("Filling", run.total or None) as bar:
                await services.jobs.wait(run.id, bar.follow_fill, after=run.last_event)
        return await get_run(services, request)

    found = run_with_services(work)
    if json:
        output.print_json(found)
    else:
        output.print_note(f"Run {found.run_id} is {found.status}" + (f": {found.error}" if found.error else "."))
        if found.proposal_id:
            output.print_note(f"Decide with `tablewright proposals review {found.proposal_id}` (or apply, or reject).")
        if found.status in ("paused", "failed"):
            output.print_note(f"Resume it: tablewright runs resume {found.run_id}.")
    if found.status in ("cancelled", "failed", "paused"):
        raise typer.Exit(130 if found.status == "cancelled" else 1)


@app.command("worker")
def worker_command(
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
    from tablewright.logs import set_up_logging
    from tablewright.telemetry import run_telemetry

    log = logging.getLogger("tablewright.worker")

    async def work(services: Services) -> None:
        set_up_logging(services.settings)
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        async with run_telemetry(services.settings, services.jobs.depth, port=metrics_port) as found:
            if found is not None and found.address:
                log.info("Metrics are at %s.", found.address)
            log.info("Working. SIGTERM or Ctrl-C finishes the rows under way, and ends.")
            await services.jobs.work(stop)
        log.info("Stopped.")

    run_with_services(work)


async def follow_run(services: Services, run_id: str, *, after: int, as_json: bool) -> None:
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
        output.print_note(f"{found.status}: {found.done:,} of {count_noun(found.total, 'row')}.")
