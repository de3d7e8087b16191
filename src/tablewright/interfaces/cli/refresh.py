"""`tablewright tables refresh`, `recheck` and `schedule`: fill stale cells again, and check cited pages again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tablewright.domain.text import count_noun
from tablewright.errors import UsageError
from tablewright.interfaces.cli import output, views
from tablewright.interfaces.cli.adapter import command
from tablewright.interfaces.cli.enrich import apply_whole_proposal, explain_pause, offer_proposal, say_budget_reached
from tablewright.interfaces.cli.root import Json, run_with_services
from tablewright.interfaces.cli.table import commands
from tablewright.interfaces.interrupting import call_on_interrupt
from tablewright.interfaces.wording import format_dollars

if TYPE_CHECKING:
    from rich.text import Text

    from tablewright.engine.outcome import RunResult
    from tablewright.operations.fill import RecheckResult, RecheckTable, RefreshEstimates, RefreshTable
    from tablewright.operations.schedules import ScheduleList, SetSchedule
    from tablewright.services import Services
    from tablewright.workflows.refresh import RefreshRound


@dataclass(frozen=True, kw_only=True)
class Refreshed:
    """`refused` has the rounds that could not begin, with their errors."""

    runs: list[RunResult] = dataclass_field(default_factory=list)
    refused: list[tuple[RefreshRound, UsageError]] = dataclass_field(default_factory=list)


@command(
    commands,
    "fill.start_refresh",
    name="refresh",
    arguments=("table",),
    fixed={"acts": False},
    settings=("model", "search", "budget", "budget_tokens"),
)
def refresh_command(
    request: RefreshTable,
    flags: Mapping[str, str],
    estimate: Annotated[bool, typer.Option("--estimate", help="Estimate the cost and stop: nothing is spent.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Fill and apply without asking.")] = False,
    json: Json = False,
) -> None:
    """Fill the stale cells again, and only those, each by the strategy that filled it before.

    You see the price before it starts and what would change before it does. Cells that depend on other stale cells
    come after those are applied.
    """
    from tablewright.operations.fill import estimate_refresh, list_stale_rounds

    async def work(services: Services) -> Refreshed:
        head = await services.table(request.table)
        rounds = await list_stale_rounds(services, head.id, request.fields)
        if estimate:
            print_estimates(await estimate_refresh(services, request), rounds, json=json)
            return Refreshed()
        if not json:
            say_price(head.id, rounds)
        done = await fill_rounds(services, head.id, rounds, yes=yes, json=json)
        left = sum(len(each.cells) for each in await list_stale_rounds(services, head.id, request.fields))
        if json:
            from tablewright.operations.fill import report_fill

            await output.stream_json(
                {
                    **price_report(head.id, rounds),
                    "still_stale": left,
                    "runs": [await report_fill(services, each) for each in done.runs],
                    "refused": refused_report(done),
                }
            )
        elif left and rounds:
            output.print_note(f"Still stale: {count_noun(left, 'cell')}.")
        return done

    done = run_with_services(work, flags)
    if done.runs and done.runs[-1].status == "cancelled":
        output.print_note(f"Stopped. What was found is kept in proposal {done.runs[-1].proposal_id}.")
        raise typer.Exit(130)
    if done.runs and done.runs[-1].status == "paused":
        if not json:
            output.show_error(explain_pause(done.runs[-1]))
        raise typer.Exit(1)
    if done.refused and not done.runs:
        raise typer.Exit(done.refused[0][1].exit_code)


async def fill_rounds(
    services: Services, table_id: str, rounds: Sequence[RefreshRound], *, yes: bool, json: bool
) -> Refreshed:
    """Run each round. Rounds that wait for unapplied cells, or cannot begin, are skipped and reported."""
    done = Refreshed()
    for each in rounds:
        filled = await fill_round(services, table_id, each, yes=yes, json=json)
        if isinstance(filled, UsageError):
            done.refused.append((each, filled))
            say_refused(table_id, each.fields, str(filled))
        if filled is None or isinstance(filled, UsageError):
            continue
        output.print_warnings(services.warnings)
        done.runs.append(filled)
        if filled.status in ("cancelled", "paused"):
            break
        head = await services.store.proposals.get(filled.proposal_id)
        applied = False
        if head.status == "open" and yes:
            applied = await apply_whole_proposal(services, head, show=not json)
        elif head.status == "open" and not json:
            applied = await offer_proposal(services, head, decide_now=True)
            if not applied:
                output.print_note(f"Nothing was applied. Decide with `tablewright proposals review {head.id}`.")
        if filled.unasked:
            stay = "it stays" if filled.unasked == 1 else "they stay"
            output.print_note(f"{count_noun(filled.unasked, 'cell')} could not be asked; {stay} stale.")
        if filled.status == "over_budget":
            say_budget_reached(table_id, filled, applied=applied, command=f"tables refresh {table_id}")
            break
    return done


async def fill_round(
    services: Services, table_id: str, of: RefreshRound, *, yes: bool, json: bool
) -> RunResult | UsageError | None:
    """Run a round with a progress bar until it is done or Ctrl-C is pressed. Return None if its cells wait or the
    person declines, and the error if it cannot begin."""
    from tablewright.operations.fill import plan_round

    with output.Bar("Filling") as bar:
        run = await plan_round(services, table_id, of, watch=bar.follow_fill)
        if isinstance(run, UsageError):
            return run
        if run is None:
            output.print_note(f"{', '.join(of.fields)}: skipped: these cells depend on others that are still stale.")
            return None
        bar.stop()
        acts = not yes and services.has_side_effects(of.strategy)
        if acts and (json or not output.ask_yes_or_no(f"{of.strategy} acts outside the table. Start?")):
            return UsageError(f"{of.strategy} acts outside the table.", advice="Pass --yes to start it.")
        costs = not (yes or json) and output.stderr().is_terminal and run.costs_money
        if costs and not output.ask_yes_or_no(
            f"{', '.join(of.fields)}: {views.summarize_estimate(await run.estimate())}. Start?"
        ):
            return None
        bar.start()
        with call_on_interrupt(services.jobs.stop):
            return await services.jobs.run(run)


def say_refused(table_id: str, fields: Sequence[str], error: str) -> None:
    output.print_note(f"{', '.join(fields)}: left. {error}")
    output.print_note(
        f"Or flag these cells and fill them in another way: `tablewright enrich {table_id} --field "
        f'"{fields[0]}" --strategy …`.'
    )


def refused_report(done: Refreshed) -> list[dict[str, Any]]:
    return [
        {"fields": of.fields, "strategy": of.strategy, "cells": len(of.cells), "run_id": "", "error": str(error)}
        for of, error in done.refused
    ]


def print_estimates(found: RefreshEstimates, rounds: Sequence[RefreshRound], *, json: bool) -> None:
    """Print what each round is likely to take; exit as wrong use if none can begin."""
    if json:
        output.print_json(found)
    else:
        say_price(found.table_id, rounds)
        for each in found.rounds:
            if each.estimate is not None:
                output.print_note(f"{', '.join(each.fields)}: {views.summarize_estimate(each.estimate)}.")
            elif each.error:
                say_refused(found.table_id, each.fields, each.error)
    if any(each.error for each in found.rounds) and not any(each.estimate for each in found.rounds):
        raise typer.Exit(UsageError.exit_code)


def price_report(table_id: str, rounds: Sequence[RefreshRound]) -> dict[str, Any]:
    cells = [{"row_id": cell.row_id, "field": cell.field} for each in rounds for cell in each.cells]
    return {
        "table_id": table_id,
        "stale": len(cells),
        "last_cost_usd": sum(each.cost for each in rounds),
        "cells": cells,
    }


def say_price(table_id: str, rounds: Sequence[RefreshRound]) -> None:
    count = sum(len(each.cells) for each in rounds)
    if not count:
        output.print_note(f"Nothing is stale in table {table_id}.")
        return
    columns = dict.fromkeys(name for each in rounds for name in each.fields)
    cost = format_dollars(sum(each.cost for each in rounds))
    output.print_note(f"Stale: {count_noun(count, 'cell')} of {', '.join(columns)}; last time: {cost}.")


@command(commands, "fill.recheck", name="recheck", arguments=("table",), settings=("search",))
def recheck_command(request: RecheckTable, flags: Mapping[str, str], json: Json = False) -> None:
    """Fetch the cited pages again and flag the cells whose quotes are gone.

    A page that refuses or cannot be reached proves nothing: its cells are left as they are.
    """
    from tablewright.operations.fill import recheck

    async def work(services: Services) -> RecheckResult:
        with output.Bar("Rechecking") as bar, call_on_interrupt(services.jobs.stop):
            return await recheck(services, request, watch=bar.follow)

    done = run_with_services(work, flags)
    if json:
        output.print_json(done)
    else:
        print_verdicts(done, dry_run=request.dry_run)
    if done.status == "cancelled":
        raise typer.Exit(130)


def print_verdicts(done: RecheckResult, *, dry_run: bool) -> None:
    """Print the cells that need attention as a table, and the others as a number."""
    # --json lists all of them.
    most = 50
    if not done.cells:
        output.print_note("None of these cells cites a source, so there is nothing to check.")
        return
    noted = sorted((cell for cell in done.cells if cell.note), key=lambda cell: cell.verdict != "changed")
    if noted:
        lines: list[list[str | Text]] = [
            [str(cell.row_id), cell.field, cell.verdict, output.harmless_text(cell.note, 400)] for cell in noted[:most]
        ]
        output.stdout().print(output.build_grid("", ["#", "Column", "Verdict", "Why"], lines))
    if len(noted) > most:
        output.print_note(f"… {len(noted) - most:,} more; --json lists all.")
    if done.status == "cancelled":
        output.print_note("Stopped before all pages were fetched.")
    output.print_note(
        f"{count_noun(done.pages, 'page')} fetched: {count_noun(done.supported, 'cell')} still supported, "
        f"{done.changed:,} changed, {done.not_checked:,} not checked."
    )
    if done.change is not None:
        output.print_note(
            f"Flagged: {count_noun(done.change.edits, 'cell')} (change {done.change.number}). The next run that asks "
            f"for their columns fills them again; `tablewright tables undo {done.table_id} --change "
            f"{done.change.number}` takes the flags back."
        )
    elif dry_run and done.changed:
        output.print_note("Nothing was flagged, because of --dry-run.")


@command(
    commands,
    "schedules.set_schedule",
    name="schedule",
    arguments=("table",),
    helps={
        "table": "A table's id or name; all tables if left out.",
        "fields": "Only this column; repeatable.",
        "apply": "Apply what a refresh finds; otherwise it waits for review.",
    },
    metavars={"table": "TABLE"},
    defaults={"table": "", "every": ""},
)
def schedule_command(
    request: SetSchedule,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the table's schedules.")] = False,
    json: Json = False,
) -> None:
    """Recheck or refresh a table every day or week, by a worker or server that is up then; or show the schedules."""
    from tablewright.operations import schedules
    from tablewright.operations.operation import TableRequest

    if (request.every or remove) and not request.table:
        raise UsageError("Which table?", advice="Name it: tablewright tables schedule TABLE --every day.")
    if request.every and remove:
        raise UsageError("--every and --remove do not go together.")

    async def work(services: Services) -> tuple[ScheduleList, int]:
        removed = 0
        if remove:
            removed = (await schedules.remove_schedules(services, TableRequest(table=request.table))).removed
        if request.every:
            await schedules.set_schedule(services, request)
        found = await schedules.list_schedules(services, schedules.ListSchedules(table=request.table))
        if not json and remove:
            output.print_note(f"Removed: {count_noun(removed, 'schedule')}.")
        if found.schedules and all(worker.kind == "command" for worker in await services.jobs.workers()):
            output.print_warnings(["No worker is up: start one with `tablewright worker`."])
        return found, removed

    reply, removed = run_with_services(work)
    found = reply.schedules
    if json:
        output.print_json({"schedules": found, "removed": removed})
    elif found:
        output.print_warnings([each.paused for each in found if each.paused])
        lines = [[each.table_id, each.routine, each.cron, each.last_at or "never"] for each in found]
        output.stdout().print(output.build_grid("", ["Table", "What", "When (UTC)", "Last"], lines))
    elif not remove:
        output.print_note("Nothing is scheduled.")
