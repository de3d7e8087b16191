"""`tablewright tables refresh`: stale cells filled again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tablewright.domain.text import count_noun
from tablewright.doors.cli import output, views
from tablewright.doors.cli.adapter import command
from tablewright.doors.cli.enrich import apply_all, offer, paused, say_where_it_stopped
from tablewright.doors.cli.root import Json, with_app
from tablewright.doors.cli.table import commands
from tablewright.doors.interrupting import on_interrupt
from tablewright.errors import UsageError

if TYPE_CHECKING:
    from tablewright.operations.fill import RefreshEstimates, RefreshTable
    from tablewright.services import Filled, RefreshRound, Services


@dataclass(frozen=True, kw_only=True)
class Refreshed:
    """`refused` are the rounds that could not begin, and why."""

    runs: list[Filled] = dataclass_field(default_factory=list)
    refused: list[tuple[RefreshRound, UsageError]] = dataclass_field(default_factory=list)


@command(
    commands,
    "fill.start_refresh",
    name="refresh",
    arguments=("table",),
    fixed={"acts": False},
    settings=("model", "search", "budget", "budget_tokens"),
)
def refresh(
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

            output.print_json(
                {
                    **price_report(head.id, rounds),
                    "still_stale": left,
                    "runs": [await report_fill(services, each) for each in done.runs],
                    "refused": refused_report(done),
                }
            )
        elif left and rounds:
            output.say(f"Still stale: {count_noun(left, 'cell')}.")
        return done

    done = with_app(work, flags)
    if done.runs and done.runs[-1].status == "cancelled":
        output.say(f"Stopped. What was found is kept in proposal {done.runs[-1].proposal_id}.")
        raise typer.Exit(130)
    if done.runs and done.runs[-1].status == "paused":
        if not json:
            output.show_error(paused(done.runs[-1]))
        raise typer.Exit(1)
    if done.refused and not done.runs:
        raise typer.Exit(done.refused[0][1].exit_code)


async def fill_rounds(
    services: Services, table_id: str, rounds: Sequence[RefreshRound], *, yes: bool, json: bool
) -> Refreshed:
    """One run for each round. What waits for cells that were not applied is left, and said; so is what cannot begin."""
    done = Refreshed()
    for each in rounds:
        filled = await fill_round(services, table_id, each, yes=yes, json=json)
        if isinstance(filled, UsageError):
            done.refused.append((each, filled))
            say_refused(table_id, each.fields, str(filled))
        if filled is None or isinstance(filled, UsageError):
            continue
        output.warn(services.warnings)
        done.runs.append(filled)
        if filled.status in ("cancelled", "paused"):
            break
        head = await services.store.proposals.get(filled.proposal_id)
        applied = False
        if head.status == "open" and yes:
            applied = await apply_all(services, head, show=not json)
        elif head.status == "open" and not json:
            applied = await offer(services, head, decide_now=True)
            if not applied:
                output.say(f"Nothing was applied. Decide with `tablewright proposals review {head.id}`.")
        if filled.unasked:
            stay = "it stays" if filled.unasked == 1 else "they stay"
            output.say(f"{count_noun(filled.unasked, 'cell')} could not be asked; {stay} stale.")
        if filled.status == "over_budget":
            say_where_it_stopped(table_id, filled, applied=applied, command=f"tables refresh {table_id}")
            break
    return done


async def fill_round(
    services: Services, table_id: str, of: RefreshRound, *, yes: bool, json: bool
) -> Filled | UsageError | None:
    """With a progress bar, until it is done or Ctrl-C is pressed; None where its cells wait, or it is not wanted, and
    the error where it cannot begin."""
    from tablewright.operations.fill import plan_round

    with output.Bar("Filling") as bar:
        run = await plan_round(services, table_id, of, watch=bar.follow_fill)
        if isinstance(run, UsageError):
            return run
        if run is None:
            output.say(f"{', '.join(of.fields)}: left, for what these cells depend on is still stale.")
            return None
        bar.stop()
        acts = not yes and services.acts(of.strategy)
        if acts and (json or not output.ask(f"{of.strategy} acts outside the table. Start?")):
            return UsageError(f"{of.strategy} acts outside the table.", advice="Say --yes to start it.")
        costs = not (yes or json) and output.stderr().is_terminal and run.costs_money
        if costs and not output.ask(f"{', '.join(of.fields)}: {views.in_one_line(await run.estimate())}. Start?"):
            return None
        bar.start()
        with on_interrupt(services.jobs.stop):
            return await services.jobs.run(run)


def say_refused(table_id: str, fields: Sequence[str], error: str) -> None:
    output.say(f"{', '.join(fields)}: left. {error}")
    output.say(
        f"Or flag these cells and fill them in another way: `tablewright enrich {table_id} --field "
        f'"{fields[0]}" --strategy …`.'
    )


def refused_report(done: Refreshed) -> list[dict[str, Any]]:
    return [
        {"fields": of.fields, "strategy": of.strategy, "cells": len(of.cells), "error": str(error)}
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
                output.say(f"{', '.join(each.fields)}: {views.in_one_line(each.estimate)}.")
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
        output.say(f"Nothing is stale in table {table_id}.")
        return
    columns = dict.fromkeys(name for each in rounds for name in each.fields)
    cost = output.dollars(sum(each.cost for each in rounds))
    output.say(f"Stale: {count_noun(count, 'cell')} of {', '.join(columns)}; last time: {cost}.")
