"""`tablewright table set` and `refresh`: a value of one's own, and what became stale through it filled again."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tablewright.doors.cli.root import Json, TableName, with_app
from tablewright.doors.cli.table import commands

if TYPE_CHECKING:
    from tablewright.app import Filled, Round, Tablewright, Written


@commands.command("set", context_settings={"ignore_unknown_options": True})
def set_(
    table: TableName,
    row: Annotated[int, typer.Argument(metavar="ROW", help="The row's number.")],
    column: Annotated[str, typer.Argument(metavar="COLUMN", help="The column's name.")],
    value: Annotated[str, typer.Argument(metavar="VALUE", help='Your own value; "" clears the cell.')],
    json: Json = False,
) -> None:
    """Write a value of your own into a cell. What was found from the old one becomes stale; nothing runs by itself."""
    from tablewright.doors.cli import output

    async def work(tablewright: Tablewright) -> tuple[str, Written]:
        head = await tablewright.table(table)
        return head.id, await tablewright.changes.set_value(head.id, row, column, value)

    table_id, written = with_app(work)
    change = written.change
    if json:
        output.print_json(
            {
                "table_id": table_id,
                "row_id": row,
                "field": written.field,
                "cell": written.cell,
                "stale": list(written.stale),
                "change": change,
            }
        )
        return
    undo = f"undo with `tablewright table rollback {table_id} --change {change.number}`"
    output.say(f"Changed {change.note} (change {change.number}; {undo}).")
    if written.stale:
        names = ", ".join(written.stale)
        are = "is" if len(written.stale) == 1 else "are"
        output.say(f"In this row {names} {are} stale now. `tablewright table refresh {table_id}` fills what is stale.")


@commands.command()
def refresh(
    table: TableName,
    field: Annotated[list[str] | None, typer.Option("--field", help="Only this column; repeatable.")] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Say what it would take, and stop: nothing is spent.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Fill and apply without a question.")] = False,
    model: Annotated[str, typer.Option("--model", help="Who thinks, instead of TABLEWRIGHT_MODEL.")] = "",
    search: Annotated[str, typer.Option("--search", help="Where to search, instead of TABLEWRIGHT_SEARCH.")] = "",
    budget: Annotated[str, typer.Option("--budget", help="The most dollars to spend on models and searches.")] = "",
    json: Json = False,
) -> None:
    """Fill the stale cells again, and only those, each in the way it was filled before.

    You see the price before it starts and what would change before it does. Cells that depend on other stale cells
    come after those are applied.
    """
    from tablewright.doors.cli import output

    names = field or []

    async def work(tablewright: Tablewright) -> list[Filled]:
        head = await tablewright.table(table)
        rounds = await tablewright.stale_rounds(head.id, names)
        if estimate:
            await print_estimates(tablewright, head.id, rounds, json=json)
            return []
        if not json:
            say_price(head.id, rounds)
        filled = await fill_rounds(tablewright, head.id, rounds, yes=yes, json=json)
        left = sum(len(each.cells) for each in await tablewright.stale_rounds(head.id, names))
        if json:
            output.print_json(
                {
                    **price_report(head.id, rounds),
                    "still_stale": left,
                    "runs": [await tablewright.enrich_report(each) for each in filled],
                }
            )
        elif left and rounds:
            output.say(f"Still stale: {output.many(left, 'cell')}.")
        return filled

    filled = with_app(work, {"model": model, "search": search, "budget": budget})
    if filled and filled[-1].status == "cancelled":
        output.say(f"Stopped. What was found is kept in proposal {filled[-1].proposal_id}.")
        raise typer.Exit(130)


async def fill_rounds(
    tablewright: Tablewright, table_id: str, rounds: Sequence[Round], *, yes: bool, json: bool
) -> list[Filled]:
    """One run for each round. What waits for cells that were not applied is left, and said."""
    from tablewright.doors.cli import output
    from tablewright.doors.cli.enrich import apply_all, offer
    from tablewright.errors import UsageError

    results: list[Filled] = []
    for each in rounds:
        acts = not yes and tablewright.acts(each.strategy)
        if acts and (json or not output.ask(f"{each.strategy} acts outside the table. Start?")):
            raise UsageError(f"{each.strategy} acts outside the table.", advice="Say --yes to start it.")
        filled = await fill_round(tablewright, table_id, each, may_ask=not (yes or json))
        if filled is None:
            continue
        output.warn(tablewright.warnings)
        results.append(filled)
        if filled.status == "cancelled":
            break
        head = await tablewright.proposal(filled.proposal_id)
        if yes:
            await apply_all(tablewright, head, show=not json)
        elif not json and not await offer(tablewright, head, decide_now=True):
            output.say(f"Nothing was applied. Decide with `tablewright proposal review {head.id}`.")
    return results


async def fill_round(tablewright: Tablewright, table_id: str, of: Round, *, may_ask: bool) -> Filled | None:
    """With a progress bar, until it is done or Ctrl-C is pressed; None where its cells wait, or it is not wanted."""
    from tablewright.doors.cli import output, views

    with output.bar() as progress:
        task = progress.add_task("Filling", total=None)
        run = await tablewright.plan_refresh(
            table_id,
            of,
            watch=lambda news: progress.update(
                task, completed=news.done, total=news.total, description=output.doing(news)
            ),
        )
        if run is None:
            output.say(f"{', '.join(of.fields)}: left, for what these cells depend on is still stale.")
            return None
        if may_ask and output.stderr().is_terminal and run.costs_money:
            progress.stop()
            if not output.ask(f"{', '.join(of.fields)}: {views.in_one_line(await run.estimate())}. Start?"):
                return None
            progress.start()
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, run.cancel)
        try:
            return await run.run()
        finally:
            loop.remove_signal_handler(signal.SIGINT)


async def print_estimates(tablewright: Tablewright, table_id: str, rounds: Sequence[Round], *, json: bool) -> None:
    from tablewright.doors.cli import output, views

    estimates = []
    for of in rounds:
        run = await tablewright.plan_refresh(table_id, of, waiting=True)
        if run is not None:
            estimates.append((of, await run.estimate()))
    if json:
        likely = [{"fields": of.fields, "strategy": of.strategy, "estimate": each} for of, each in estimates]
        output.print_json(price_report(table_id, rounds) | {"estimates": likely})
        return
    say_price(table_id, rounds)
    for of, each in estimates:
        output.say(f"{', '.join(of.fields)}: {views.in_one_line(each)}.")


def price_report(table_id: str, rounds: Sequence[Round]) -> dict[str, Any]:
    cells = [{"row_id": cell.row_id, "field": cell.field} for each in rounds for cell in each.cells]
    return {
        "table_id": table_id,
        "stale": len(cells),
        "last_cost_usd": sum(each.cost for each in rounds),
        "cells": cells,
    }


def say_price(table_id: str, rounds: Sequence[Round]) -> None:
    from tablewright.doors.cli import output

    count = sum(len(each.cells) for each in rounds)
    if not count:
        output.say(f"Nothing is stale in table {table_id}.")
        return
    columns = dict.fromkeys(name for each in rounds for name in each.fields)
    cost = output.dollars(sum(each.cost for each in rounds))
    output.say(f"Stale: {output.many(count, 'cell')} of {', '.join(columns)}; last time: {cost}.")
