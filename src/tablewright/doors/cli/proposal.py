"""`tablewright proposals …`: look at what a run would change, and decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tablewright.domain.text import count_noun
from tablewright.doors.cli import output, views
from tablewright.doors.cli.root import Json, app, with_app
from tablewright.errors import UsageError

if TYPE_CHECKING:
    from tablewright.services import Selection, Services

commands = typer.Typer(help="Review what runs propose: show, apply, reject, edit.", no_args_is_help=True)
app.add_typer(commands, name="proposals")
app.add_typer(commands, name="proposal", hidden=True)  # its old name

ProposalId = Annotated[str, typer.Argument(metavar="PROPOSAL", help="A proposal's id.")]
Rows = Annotated[list[int] | None, typer.Option("--row", help="Only this row; may be repeated.")]
Fields = Annotated[list[str] | None, typer.Option("--field", help="Only this column; may be repeated.")]
Above = Annotated[
    float | None,
    typer.Option("--min-confidence", metavar="N", min=0, max=1, help="Only values with at least this confidence."),
]

Force = Annotated[
    bool, typer.Option("--force", help="Overwrite cells that were changed since, and apply unfinished runs too.")
]


@commands.command("list")
def list_(
    table: Annotated[str | None, typer.Option("--table", help="Only those of this table.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Include decided proposals.")] = False,
    json: Json = False,
) -> None:
    """List the proposals that are waiting for a decision."""
    found = with_app(lambda services: services.proposals(table, only_open=not everything))
    empty = "No proposals." if everything else "No open proposals; --all shows the decided ones too."
    lines = [[head.id, head.table_id, head.status, output.when(head.created_at), head.reasoning] for head in found]
    output.print_list(json, {"proposals": found}, empty, ["Proposal", "Table", "Status", "Made", "What"], lines)


@commands.command()
def show(
    proposal: ProposalId,
    rows: Annotated[int, typer.Option("--rows", metavar="N", min=1, help="The number of cells to show.")] = 40,
    failed: Annotated[bool, typer.Option("--failed", help="Only the cells that stayed empty, and why.")] = False,
    steps: Annotated[bool, typer.Option("--steps", help="Show how each value was found.")] = False,
    json: Json = False,
) -> None:
    """Show what a proposal would change."""

    async def work(services: Services) -> None:
        head = await services.proposal(proposal)
        if json:
            output.print_json(await services.proposal_report(proposal))
            return
        operations = await services.operations(proposal, limit=rows, failed=True if failed else None)
        await views.print_proposal(services, head, operations, steps=steps)

    with_app(work)


@commands.command()
def apply(
    proposal: ProposalId,
    row: Rows = None,
    field: Fields = None,
    min_confidence: Above = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Apply a proposal to its table: all of it, or only some cells."""

    async def work(services: Services) -> Any:
        done = await services.changes.apply(proposal, selection(row, field, min_confidence), force=force)
        return done, await services.proposal(proposal)

    done, head = with_app(work)
    if json:
        output.print_json(
            {
                "proposal_id": proposal,
                "table_id": head.table_id,
                "run_id": head.run_id,
                "status": head.status,
                "cells": done.cells,
                "conflicts": done.conflicts,
                "kept": done.kept,
                "change": done.change,
            }
        )
        return
    views.say_applied(done, head)


@commands.command()
def reject(
    proposal: ProposalId,
    row: Rows = None,
    field: Fields = None,
    json: Json = False,
) -> None:
    """Reject a proposal: all of it, or only some cells. The table stays as it is."""

    async def work(services: Services) -> Any:
        refused = await services.changes.reject(proposal, selection(row, field))
        return refused, await services.proposal(proposal)

    refused, head = with_app(work)
    output.print_result(
        json,
        {"proposal_id": proposal, "status": head.status, "refused": refused},
        f"Refused {count_noun(refused, 'cell')}; {head.counts.get('open', 0):,} still open.",
    )


@commands.command()
def review(
    proposal: ProposalId,
    row: Rows = None,
    field: Fields = None,
    below: Annotated[
        float | None,
        typer.Option("--below", metavar="N", min=0, max=1, help="Only values with a lower confidence than this."),
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only the cells that stayed empty.")] = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Decide cell by cell: accept, reject, or type your own value.

    Nothing is written before you quit with q; then everything at once, in one change that can be undone. Without a
    terminal the answers are read from stdin, line by line; if they end before q or x, nothing is applied.
    """
    from tablewright.doors.cli.review import report, review_proposal

    if failed and below is not None:
        raise UsageError("--failed and --below exclude each other.", advice="An empty cell has no confidence.")
    chosen = selection(row, field, below=below)

    async def work(services: Services) -> Any:
        head = await services.proposal(proposal)
        done = await review_proposal(services, head, chosen, failed=True if failed else None, force=force)
        return done, await services.proposal(proposal)

    done, head = with_app(work)
    if json:
        output.print_json(report(done, head))
    else:
        views.say_reviewed(done, head)


@commands.command()
def edit(
    proposal: ProposalId,
    value: Annotated[
        str, typer.Argument(metavar="VALUE", help="Your value; put -- before a value that begins with -.")
    ],
    row: Annotated[int, typer.Option("--row", help="The row's number.")],
    field: Annotated[str, typer.Option("--field", help="The column's name.")],
    force: Force = False,
    json: Json = False,
) -> None:
    """Write your own value in place of a proposed one."""
    from tablewright.doors.cli.review import report, write_own

    async def work(services: Services) -> Any:
        done = await write_own(services, await services.proposal(proposal), row, field, value, force=force)
        return done, await services.proposal(proposal)

    done, head = with_app(work)
    if json:
        output.print_json(report(done, head))
    else:
        views.say_reviewed(done, head)


def selection(
    rows: list[int] | None,
    fields: list[str] | None,
    min_confidence: float | None = None,
    below: float | None = None,
) -> Selection:
    from tablewright.services import Selection

    return Selection(rows=tuple(rows or ()), fields=tuple(fields or ()), min_confidence=min_confidence, below=below)
