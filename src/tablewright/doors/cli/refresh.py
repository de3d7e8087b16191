"""`tablewright tables refresh`: stale cells filled again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tablewright.domain.text import count_noun
from tablewright.doors.cli import output, views
from tablewright.doors.cli.enrich import apply_all, offer, paused, say_where_it_stopped
from tablewright.doors.cli.root import Budget, Json, Model, Search, TableName, with_app
from tablewright.doors.cli.table import commands
from tablewright.doors.interrupting import on_interrupt
from tablewright.errors import UsageError

if TYPE_CHECKING:
    from tablewright.services import Fill, Filled, RefreshRound, Services, Watch


@dataclass(frozen=True, kw_only=True)
class Refreshed:
    """`refused` are the rounds that could not begin, and why."""

    runs: list[Filled] = dataclass_field(default_factory=list)
    refused: list[tuple[RefreshRound, UsageError]] = dataclass_field(default_factory=list)


@commands.command()
def refresh(
    table: TableName,
    field: Annotated[list[str] | None, typer.Option("--field", help="Only this column; repeatable.")] = None,
    estimate: Annotated[bool, typer.Option("--estimate", help="Estimate the cost and stop: nothing is spent.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Fill and apply without asking.")] = False,
    model: Model = "",
    search: Search = "",
    budget: Budget = "",
    json: Json = False,
) -> None:
    """Fill the stale cells again, and only those, each by the strategy that filled it before.

    You see the price before it starts and what would change before it does. Cells that depend on other stale cells
    come after those are applied.
    """
    names = field or []

    async def work(services: Services) -> Refreshed:
        head = await services.table(table)
        rounds = await services.stale_rounds(head.id, names)
        if estimate:
            return await print_estimates(services, head.id, rounds, json=json)
        if not json:
            say_price(head.id, rounds)
        done = await fill_rounds(services, head.id, rounds, yes=yes, json=json)
        left = sum(len(each.cells) for each in await services.stale_rounds(head.id, names))
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

    done = with_app(work, {"model": model, "search": search, "budget": budget})
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
            say_refused(table_id, each, filled)
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
    with output.Bar("Filling") as bar:
        run = await planned(services, table_id, of, bar.follow_fill)
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


async def planned(
    services: Services, table_id: str, of: RefreshRound, watch: Watch | None = None, *, waiting: bool = False
) -> Fill | UsageError | None:
    """What one round lacks, such as a strategy that is gone or a key, does not keep the others from being filled."""
    try:
        return await services.plan_refresh(table_id, of, waiting=waiting, watch=watch or (lambda news: None))
    except UsageError as error:
        return error


def say_refused(table_id: str, of: RefreshRound, error: UsageError) -> None:
    output.say(f"{', '.join(of.fields)}: left. {error}")
    output.say(
        f"Or flag these cells and fill them in another way: `tablewright enrich {table_id} --field "
        f'"{of.fields[0]}" --strategy …`.'
    )


def refused_report(done: Refreshed) -> list[dict[str, Any]]:
    return [
        {"fields": of.fields, "strategy": of.strategy, "cells": len(of.cells), "error": str(error)}
        for of, error in done.refused
    ]


async def print_estimates(
    services: Services, table_id: str, rounds: Sequence[RefreshRound], *, json: bool
) -> Refreshed:
    done = Refreshed()
    estimates = []
    for of in rounds:
        run = await planned(services, table_id, of, waiting=True)
        if isinstance(run, UsageError):
            done.refused.append((of, run))
        elif run is not None:
            estimates.append((of, await run.estimate()))
    if json:
        likely = [{"fields": of.fields, "strategy": of.strategy, "estimate": each} for of, each in estimates]
        output.print_json(price_report(table_id, rounds) | {"estimates": likely, "refused": refused_report(done)})
        return Refreshed() if estimates else done
    say_price(table_id, rounds)
    for of, each in estimates:
        output.say(f"{', '.join(of.fields)}: {views.in_one_line(each)}.")
    for of, error in done.refused:
        say_refused(table_id, of, error)
    return Refreshed() if estimates else done


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
