"""`tablewright find`: a description of things becomes a table of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tablewright.domain.condition import describe_condition
from tablewright.domain.fieldspec import split_field_specs
from tablewright.domain.listing import DEFAULT_ROWS, FindEvent, FoundRows
from tablewright.domain.text import count_noun
from tablewright.errors import Cancelled, UsageError
from tablewright.interfaces.cli import output, views
from tablewright.interfaces.cli.adapter import command
from tablewright.interfaces.cli.root import Json, app, run_with_services

if TYPE_CHECKING:
    from tablewright.operations.find import FindMore, FindPlanned, StartFind
    from tablewright.services import Services

# Rows, and things set aside, that are printed.
MAX_SHOWN_THINGS = 20


def split_fields(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(split_field_specs(", ".join(texts)))


@command(
    app,
    "find.start_find",
    name="find",
    arguments=("question",),
    metavars={"question": "QUESTION"},
    helps={
        "question": "What to find: “Nordic fintechs with more than 100 staff”.",
        "fields": "A column, or several: “Name, Country, Staff:number”; the first one names things.",
        "rows": f"The most rows to find (default: {DEFAULT_ROWS}).",
        "fill": "Use only what the lists state; do not search for cells they leave empty.",
    },
    defaults={"question": "", "rows": None},
    parse={"fields": split_fields},
    settings=("model", "budget", "budget_tokens", "sources", "search"),
)
def find_command(
    request: StartFind,
    flags: Mapping[str, str],
    more: Annotated[
        str,
        typer.Option("--more", metavar="TABLE", help="Find more rows for a table, or continue an interrupted search."),
    ] = "",
    show: Annotated[
        str,
        typer.Option("--show", metavar="TABLE", help="Show what an earlier search for rows found, and what it read."),
    ] = "",
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Plan the table, estimate the cost of finding its rows, and stop.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Write the table here: .csv, .xlsx, .json or .md.")] = None,
    json: Json = False,
) -> None:
    """Find things that match a description, as the rows of a new table.

    Lists, registers and directories are read in full and merged; every cell cites the row it was read from. Values
    that no list states are searched for, row by row. Rows that fail a condition are set aside, with the reason. The
    summary says how many rows were found, how many are probably missing, what was read and what could not be reached.

    Without a model, only tables whose headers match the columns you ask for are read.
    """
    from tablewright.formats.tables.write import target_format
    from tablewright.operations.find import FindMore, PlanFind, estimate_find, get_found, plan_find
    from tablewright.operations.operation import TableRequest

    if sum(map(bool, (request.question, more, show))) != 1:
        raise UsageError(
            "Say what to find, or name a table with --more or --show.",
            advice='tablewright find "Nordic fintechs with more than 100 staff" --field "Name, Country, Staff"',
        )
    if out is not None:
        target_format(out)  # refuse an unknown format before anything is spent
    if not request.question and (request.fields or request.where):
        raise UsageError("--field and --where go with a new search.")

    async def work(services: Services) -> FoundRows | None:
        if show:
            found = await get_found(services, TableRequest(table=show))
        else:
            if more:
                table_id = (await get_found(services, TableRequest(table=more))).table_id
            else:
                rows = request.rows or DEFAULT_ROWS
                asked = PlanFind(question=request.question, fields=request.fields, where=request.where, rows=rows)
                planned = await plan_find(services, asked)
                table_id = planned.table_id
                if not json:
                    print_plan(planned)
            if estimate:
                likely = await estimate_find(services, TableRequest(table=table_id))
                output.print_json(likely) if json else views.print_estimate(likely)
                output.print_note(f"Find its rows with `tablewright find --more {table_id}`.")
                return None
            request_more = FindMore(table=table_id, fill=request.fill, rows=(request.rows or 0) if more else 0)
            found = await find_with_progress(services, request_more, quiet=json)
            output.print_warnings(services.warnings)
        if out is not None:
            from tablewright.operations.files import export_table_file

            output.print_warnings((await export_table_file(services, found.table_id, out, evidence=True)).warnings)
        if json:
            output.print_json(found)
        else:
            await print_found(services, found, out)
        return found

    run_with_services(work, flags)


def print_plan(planned: FindPlanned) -> None:
    plan = planned.plan
    output.print_note(f"Table {planned.table_id}: {plan.things}.")
    output.print_note(f"Columns: {', '.join(field.name for field in plan.fields)}.")
    if plan.conditions:
        output.print_note(f"Every row must meet: {'; '.join(map(describe_condition, plan.conditions))}.")
    if plan.said:
        output.print_note(plan.said)


async def find_with_progress(services: Services, request: FindMore, *, quiet: bool) -> FoundRows:
    """Find the rows and print what happens; Ctrl-C keeps what was found."""
    from tablewright.operations.find import find_rows

    with output.Bar("Searching") as bar:

        def watch(event: FindEvent) -> None:
            if not quiet and event.stage in ("searching", "reading"):
                output.print_note(f"  {event.stage} {event.detail}")
            doing = {"filling": "Looking for what the lists do not state", "reading": "Reading lists"}
            bar.count(event.done, event.total, doing.get(event.stage, "Searching"))

        try:
            return await find_rows(services, request, watch=watch)
        except asyncio.CancelledError:
            raise Cancelled(
                "Stopped.",
                kept="The pages that were read and the rows that were found are kept.",
                advice=f"`tablewright find --more {request.table}` continues.",
            ) from None


async def print_found(services: Services, found: FoundRows, out: Path | None) -> None:
    table = await services.table(found.table_id)
    if found.rows:
        rows = await services.page(found.table_id, limit=MAX_SHOWN_THINGS)
        output.print_rows(f"{table.name} ({count_noun(found.rows, 'row')})", table, rows)
        if found.rows > len(rows):
            output.print_note(f"… {found.rows - len(rows):,} more rows.")
    for line in completeness_lines(found):
        output.print_prose(line, 2_000)
    if out is not None:
        output.print_note(f"Wrote {count_noun(found.rows, 'row')} to {out}.")
    output.print_note(f"Table {found.table_id}. `tablewright find --more {found.table_id}` looks for more.")


def completeness_lines(found: FoundRows) -> list[str]:
    listed = count_noun(len(found.read), "page")
    lines = [f"{count_noun(found.rows, 'row')} of {found.found:,} things found on {listed}. {found.completeness}"]
    if not found.by_model and not found.found:
        lines.append("Without a model only tables count whose headers are named as your columns, and no page has one.")
    elif not found.by_model:
        lines.append(
            "Without a model: these are the rows of tables whose headers are named as your columns; no model "
            "has checked that they are what you asked for."
        )
    if found.undecided:
        lines.append(f"Of {count_noun(len(found.undecided), 'row')} it is not known whether every condition is met:")
        lines += [f"  {each.name}: {each.reason}" for each in found.undecided[:MAX_SHOWN_THINGS]]
    lines += found.assumed
    if found.aside:
        lines.append(f"Set aside, {len(found.aside):,}:")
        lines += [f"  {each.name}: {each.reason}" for each in found.aside[:MAX_SHOWN_THINGS]]
    if found.left_over and found.rows < found.wanted:
        lines.append(f"{found.left_over:,} more were found and are not in a row yet; --more adds them.")
    elif found.left_over:
        lines.append(f"{found.left_over:,} more were found than the rows asked for; --more with more --rows adds them.")
    lines += [f"Not reached: {origin} ({why})" for origin, why in list(found.unreached.items())[:MAX_SHOWN_THINGS]]
    lines += [f"Search failed: {query} ({why})" for query, why in found.failed_queries.items()]
    if found.problem:
        lines.append(f"Ended early: {found.problem}")
    return lines
