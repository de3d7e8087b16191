"""`tablewright proposals …`: look at what a run would change, and decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tablewright.domain.text import count_noun
from tablewright.errors import UsageError
from tablewright.interfaces.cli import output, views
from tablewright.interfaces.cli.adapter import NO_LIMIT, command
from tablewright.interfaces.cli.root import Json, app, run_with_services

if TYPE_CHECKING:
    from tablewright.operations.review import ApplyProposal, Decided, ListOperations, ProposalPage, Rejected
    from tablewright.services import Services

commands = typer.Typer(help="Review what runs propose: show, apply, reject, edit.", no_args_is_help=True)
app.add_typer(commands, name="proposals")


@command(commands, "review.list_proposals", name="list")
def list_proposals_command(reply: ProposalPage) -> None:
    """List the proposals that are waiting for a decision; with --all, also those that were decided."""
    lines = [
        [head.id, head.table_id, head.status, output.format_local_time(head.created_at), head.reasoning]
        for head in reply.proposals
    ]
    output.print_lines("No such proposals.", ["Proposal", "Table", "Status", "Made", "What"], lines)


@command(
    commands,
    "review.list_operations",
    name="show",
    arguments=("proposal_id",),
    defaults={"limit": 40},
    helps={"limit": "The number of cells to show; --json has all."},
)
def show_proposal_command(
    request: ListOperations,
    steps: Annotated[bool, typer.Option("--steps", help="Show how each value was found.")] = False,
    json: Json = False,
) -> None:
    """Show what a proposal would change."""
    from msgspec.structs import replace

    from tablewright.operations.review import GetProposal, get_proposal, list_operations

    async def work(services: Services) -> None:
        head = await get_proposal(services, GetProposal(proposal_id=request.proposal_id))
        found = await list_operations(services, replace(request, limit=NO_LIMIT) if json else request)
        if json:
            output.print_json({"proposal": head, "operations": found.operations})
        else:
            await views.print_proposal(services, head, found.operations, steps=steps)

    run_with_services(work)


@command(commands, "review.apply_proposal", name="apply", arguments=("proposal_id",))
def apply_proposal_command(reply: Decided) -> None:
    """Apply a proposal to its table: all of it, or only some cells."""
    views.say_applied(reply.applied, reply.proposal)


@command(commands, "review.reject_proposal", name="reject", arguments=("proposal_id",))
def reject_proposal_command(reply: Rejected) -> None:
    """Reject a proposal: all of it, or only some cells. The table stays as it is."""
    still = reply.proposal.counts.get("open", 0)
    output.print_note(f"Refused {count_noun(reply.refused, 'cell')}; {still:,} still open.")


@command(commands, "review.apply_proposal", name="review", arguments=("proposal_id",))
def review_proposal_command(
    request: ApplyProposal,
    failed: Annotated[bool, typer.Option("--failed", help="Only the cells that stayed empty.")] = False,
    unsure_first: Annotated[
        bool,
        typer.Option(
            "--unsure-first",
            help="Rows with disputed values or a second reading first, then the least sure.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Decide cell by cell: accept, reject, or type your own value.

    Nothing is written before you quit with q; then everything at once, in one change that can be undone. Without a
    terminal the answers are read from stdin, line by line; if they end before q or x, nothing is applied.
    """
    from tablewright.interfaces.cli.review import review_proposal

    if failed and (request.below, request.min_confidence) != (None, None):
        raise UsageError("--failed and a confidence exclude each other.", advice="An empty cell has no confidence.")
    print_decided(
        run_with_services(
            lambda services: review_proposal(
                services, request, failed=True if failed else None, unsure_first=unsure_first
            )
        ),
        json,
    )


@commands.command("edit")
def edit_proposal_command(
    proposal: Annotated[str, typer.Argument(metavar="PROPOSAL", help="The proposal's id.")],
    value: Annotated[
        str, typer.Argument(metavar="VALUE", help="Your value; put -- before a value that begins with -.")
    ],
    row: Annotated[int, typer.Option("--row", help="The row's number.")],
    field: Annotated[str, typer.Option("--field", help="The column's name.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite a cell that was changed since.")] = False,
    json: Json = False,
) -> None:
    """Write your own value in place of a proposed one."""
    from tablewright.interfaces.cli.review import write_own_value
    from tablewright.operations.review import DecideProposal, OwnCell

    request = DecideProposal(proposal_id=proposal, edited=(OwnCell(row_id=row, field=field, value=value),), force=force)
    print_decided(run_with_services(lambda services: write_own_value(services, request)), json)


def print_decided(done: Decided, json: bool) -> None:
    if json:
        output.print_json(done)
    else:
        views.say_reviewed(done.applied, done.proposal)
