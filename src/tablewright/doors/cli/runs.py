"""`tablewright runs …`: what is being done, and what was; `tablewright worker`: a process that does it."""

from __future__ import annotations

import asyncio
import logging
import signal
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tablewright.domain.text import count_noun
from tablewright.doors.cli import output
from tablewright.doors.cli.root import Json, app, with_app
from tablewright.doors.interrupting import on_interrupt

if TYPE_CHECKING:
    from tablewright.services import Services

commands = typer.Typer(help="Show, watch, stop and resume runs.", no_args_is_help=True)
app.add_typer(commands, name="runs")

RunId = Annotated[str, typer.Argument(metavar="RUN", help="A run's id.")]


@commands.command("list")
def list_(
    table: Annotated[str | None, typer.Option("--table", help="Only those of this table.")] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="The most entries to show.")] = 20,
    json: Json = False,
) -> None:
    """List the runs, newest first."""

    async def work(services: Services) -> list[dict[str, Any]]:
        runs = await services.jobs.all(table, limit=limit)
        reports = [await services.jobs.report(run) for run in runs]
        model = services.settings.model
        costs.extend(output.spent(each["usage"], run.spec, model) for run, each in zip(runs, reports, strict=True))
        return reports

    costs: list[str] = []
    found = with_app(work)
    if json:
        output.print_json({"runs": found})
    elif not found:
        output.say("No runs.")
    else:
        lines = [
            [
                each["run_id"],
                each["kind"],
                each["table_id"] or "—",
                each["status"],
                f"{each['done']:,}/{each['total']:,}" if each["total"] else "",
                cost,
                output.when(each["started_at"]),
            ]
            for each, cost in zip(found, costs, strict=True)
        ]
        columns = ["Run", "Kind", "Table", "Status", "Rows", "Cost", "Started"]
        output.stdout().print(output.grid("", columns, lines))
        for each in found:
            if each["error"]:
                output.say(f"{each['run_id']} {each['status']}: {each['error']}")


@commands.command()
def show(run: RunId, json: Json = False) -> None:
    """Show the progress of a run, its cost, the time left, and what failed and why."""

    async def work(services: Services) -> tuple[dict[str, Any], str]:
        shown = await services.jobs.get(run)
        report = await services.jobs.report(shown, reasons=True)
        return report, output.spent(report["usage"], shown.spec, services.settings.model)

    found, cost = with_app(work)
    if json:
        output.print_json(found)
        return
    used = found["usage"]
    said = [
        f"{found['kind']} of {found['table_id']}" if found["table_id"] else found["kind"],
        found["status"] + (": " + found["error"] if found["error"] else ""),
        f"{found['done']:,} of {count_noun(found['total'], 'row')}" if found["total"] else "",
        f"about {output.duration(found['seconds_left'])} left" if found["seconds_left"] else "",
        f"{count_noun(used['llm_calls'], 'model call')}, {count_noun(used['searches'], 'search')}, "
        f"{count_noun(used['fetches'], 'page')}, {cost}",
        output.tokens(used),
        f"found {found['found']:,}" if found["found"] else "",
        f"{count_noun(found['degraded'], 'answer')} without the model (degraded)" if found["degraded"] else "",
        f"{count_noun(found['unasked'], 'cell')} could not be looked for" if found["unasked"] else "",
        *(f"skipped row {each['row_id']}: {each['why']}" for each in found["skipped_rows"]),
        f"skipped {more:,} more" if (more := found["incomplete"] - len(found["skipped_rows"])) else "",
        *(f"{count_noun(count, 'cell')} empty: {reason}" for reason, count in found["empty"].items()),
        f"proposal {found['proposal_id']}" if found["proposal_id"] else "",
    ]
    for line in filter(None, said):
        output.stdout().print(output.plain(line, 500), highlight=False, soft_wrap=True)
    if found["status"] in ("interrupted", "paused", "failed"):
        output.say(f"Resume it: tablewright runs resume {run}.")


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
    """Stop a run, whichever process does the work. What was found is kept, and `runs resume` continues it."""

    async def work(services: Services) -> dict[str, Any]:
        await services.jobs.cancel(run)
        async for _ in services.jobs.watch(run):
            pass
        return await services.jobs.report(await services.jobs.get(run))

    found = with_app(work)
    if json:
        output.print_json(found)
    else:
        kept = f" What was found is in proposal {found['proposal_id']}." if found["proposal_id"] else ""
        so_far = f", after {found['done']:,} of {count_noun(found['total'], 'row')}" if found["total"] else ""
        output.say(f"Run {run} is {found['status']}{so_far}.{kept}")


@commands.command()
def resume(run: RunId, json: Json = False) -> None:
    """Resume a run that was interrupted, stopped or failed. Nothing is paid for twice."""

    async def work(services: Services) -> dict[str, Any]:
        before = (await services.jobs.get(run)).last_event
        await services.jobs.take(run)
        stopping: list[asyncio.Future[None]] = []
        watching = asyncio.ensure_future(follow(services, run, after=before, as_json=False, quiet=json))
        with on_interrupt(lambda: stopping.append(asyncio.ensure_future(services.jobs.cancel(run)))):
            try:
                await services.jobs.go_on(run)
                await watching
            finally:
                watching.cancel()
        return await services.jobs.report(await services.jobs.get(run))

    found = with_app(work)
    if json:
        output.print_json(found)
    else:
        output.say(f"Run {run} is {found['status']}" + (f": {found['error']}" if found["error"] else "."))
        if found["proposal_id"]:
            output.say(f"Decide with `tablewright proposals review {found['proposal_id']}` (or apply, or reject).")
        if found["status"] in ("paused", "failed"):
            output.say(f"Resume it: tablewright runs resume {run}.")
    if found["status"] in ("cancelled", "failed", "paused"):
        raise typer.Exit(130 if found["status"] == "cancelled" else 1)


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


async def follow(services: Services, run_id: str, *, after: int, as_json: bool, quiet: bool = False) -> None:
    """With a bar for eyes; a line of JSON for each event for programs."""
    run = await services.jobs.get(run_id)
    with output.Bar("Filling", run.total or None) as bar:
        bar.count(run.done)
        async for event in services.jobs.watch(run_id, after=after):
            if as_json:
                typer.echo(output.json_text(event))
            elif not quiet:
                bar.follow_fill(event.progress)
    if not as_json and not quiet:
        found = await services.jobs.report(await services.jobs.get(run_id))
        output.say(f"{found['status']}: {found['done']:,} of {count_noun(found['total'], 'row')}.")
