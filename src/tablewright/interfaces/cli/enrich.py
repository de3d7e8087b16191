"""`tablewright enrich`: the main job."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from tablewright.domain.text import count_noun
from tablewright.errors import BadFile, Paused, TablewrightError, UsageError
from tablewright.interfaces.cli import output, views
from tablewright.interfaces.cli.adapter import command
from tablewright.interfaces.cli.pipes import (
    PIPE,
    Delimiter,
    Encoding,
    Key,
    NoHeader,
    Sheet,
    name_output,
    open_input,
    open_output,
    refuse_overwriting,
    refuse_two_outputs,
)
from tablewright.interfaces.cli.root import Json, app, run_with_services
from tablewright.interfaces.interrupting import call_on_interrupt
from tablewright.interfaces.wording import format_dollars

if TYPE_CHECKING:
    from tablewright.domain.files import FileOptions, ImportOutcome
    from tablewright.domain.proposal import ProposalHead
    from tablewright.domain.run import ProgressCallback
    from tablewright.engine.fill import FillRun
    from tablewright.engine.outcome import RunResult
    from tablewright.operations.fill import StartFill
    from tablewright.services import Services
    from tablewright.workflows.files import KnownFile


@command(
    app,
    "fill.start_fill",
    name="enrich",
    arguments=("table",),
    metavars={"table": "FILE|TABLE"},
    helps={
        "table": "A table file (- for standard input), or the name of an existing table.",
        "fields": 'A column to fill, "NAME:TYPE=QUESTION or FORMULA"; may be repeated.',
        "params": "A parameter of the strategy, NAME=VALUE; repeatable. `tablewright strategies` lists them.",
    },
    fixed={"acts": False},
    advice={"evidence": "--with-evidence adds the sources to the file that --out writes."},
    settings=("model", "search"),
)
def enrich_command(
    request: StartFill,
    flags: Mapping[str, str],
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the result to this file (- for standard output) once applied.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Allow --out to overwrite the input file.")] = False,
    with_evidence: Annotated[
        bool, typer.Option("--with-evidence", help="With --out: add source, quote, confidence and basis.")
    ] = False,
    cost: Annotated[bool, typer.Option("--cost", help="With --out: add what each cell cost.")] = False,
    review: Annotated[bool, typer.Option("--review", help="Keep the proposal open; decide later.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Apply what was found without asking.")] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Estimate the cost and stop: nothing is spent or stored.")
    ] = False,
    new: Annotated[
        bool,
        typer.Option("--new", help="Make a new table, even if this file was imported before."),
    ] = False,
    key: Key = "",
    no_header: NoHeader = False,
    sheet: Sheet = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    json: Json = False,
) -> None:
    """Fill columns of a table. You see what would change before anything is written.

    A question is answered from the web: --field "Founded:number=What year was {Company} founded?". A formula
    is computed, with {Column} for the values of a row: --field "Total:number=round({Price} * {Quantity}, 2)".
    """
    from tablewright.domain.files import FileOptions
    from tablewright.formats.tables.write import target_format
    from tablewright.operations.fill import plan_fill
    from tablewright.operations.rows import read_fields

    target, strategy = request.table, request.strategy
    if review and yes:
        raise UsageError("--review and --yes exclude each other.")
    if request.rows and request.max_rows:
        raise UsageError("--row and --max-rows exclude each other.")
    fields = read_fields(request.fields)
    refuse_overwriting(target, out, force=force)
    if target == PIPE and not (yes or review or estimate):
        raise UsageError("Cannot prompt while the table is read from standard input.", advice="Pass --yes.")
    refuse_two_outputs(out, json=json)
    # Refuse what cannot be written before anything is spent.
    if out is not None and str(out) != PIPE:
        target_format(out)
    elif out is None and (with_evidence or cost):
        raise UsageError(
            "--with-evidence and --cost go with --out, the file that is written.",
            advice="`tablewright tables show TABLE --row N --field COLUMN` shows the evidence of a cell.",
        )
    options = FileOptions(key_field=key, header=not no_header, sheet=sheet, delimiter=delimiter, encoding=encoding)

    def plan(services: Services, table_id: str, watch: ProgressCallback) -> Awaitable[FillRun]:
        return plan_fill(services, table_id, fields, how=request, watch=watch)

    async def work(services: Services) -> RunResult | None:
        if estimate:
            await print_fill_estimate(services, target, options, plan, json=json)
            return None
        acts = not yes and services.has_side_effects(strategy)
        if acts and (json or not output.ask_yes_or_no(f"{strategy} acts outside the table. Start?")):
            raise UsageError(f"{strategy} acts outside the table, for every row.", advice="Pass --yes to start it.")
        table_id, filled = await import_and_fill(services, target, options, plan, new=new)
        output.print_warnings([*services.warnings, *filled.notes])
        head = await services.store.proposals.get(filled.proposal_id)
        stopped = filled.status in ("cancelled", "paused")
        applied = False
        if not stopped and not json and not head.counts:
            output.print_note(
                "Nothing to do: these columns have no cells left to fill. --again looks elsewhere for the empty ones."
            )
        if not stopped and yes:
            applied = await apply_whole_proposal(services, head, show=not json and str(out) != PIPE)
        elif not stopped and not json and head.counts:
            applied = await offer_proposal(services, head, decide_now=not review)
        # A file that cannot be written must not hide what was found and applied, so its error comes last.
        unwritten: TablewrightError | None = None
        if out is not None and applied:
            from tablewright.operations.files import export_table_file

            try:
                with open_output(out) as path:
                    written = await export_table_file(services, table_id, path, evidence=with_evidence, cost=cost)
                output.print_note(f"Wrote {count_noun(written.row_count, 'row')} to {name_output(out)}.")
                output.print_warnings(written.warnings)
            except TablewrightError as error:
                unwritten = error
        elif out is not None:
            output.print_note(f"{out} was not written, because nothing was applied.")
        still_open = (await services.store.proposals.get(head.id)).status == "open"
        if not applied and not json and not stopped and still_open:
            output.print_note(
                f"Nothing was applied. Decide with `tablewright proposals review {head.id}` (or apply, or reject)."
            )
        if filled.status == "over_budget":
            say_budget_reached(table_id, filled, applied=applied, command=f"enrich {table_id}")
        if json:
            failed = {} if unwritten is None else {"export_error": str(unwritten)}
            from tablewright.operations.fill import report_fill

            await output.stream_json(await report_fill(services, filled) | failed)
        if unwritten is not None:
            raise typer.Exit(unwritten.exit_code) if json else unwritten
        if filled.status == "done" and filled.cause and not services.is_offline:
            raise typer.Exit(1)  # a program must be able to tell "could not search" from "found nothing"
        return filled

    with open_input(target) as source:
        target = str(source) if target == PIPE else target
        filled = run_with_services(work, {**flags, **request.texts()})
    if filled is not None and filled.status == "paused":
        if not json:
            output.show_error(explain_pause(filled))
        raise typer.Exit(1)
    if filled is not None and filled.status == "cancelled":
        if count := filled.found + filled.empty:
            found = count_noun(count, "cell")
            output.print_note(
                f"Stopped. Kept in proposal {filled.proposal_id}: {found}; apply or reject it as you like."
            )
        else:
            output.print_note("Stopped before anything was found.")
        raise typer.Exit(130)


def explain_pause(filled: RunResult) -> Paused:
    """Return the error for a paused run: what fails, what is kept, and how to resume."""
    found = count_noun(filled.found, "value")
    return Paused(
        f"Run {filled.run_id} is paused. {filled.problem}",
        kept=f"Kept in proposal {filled.proposal_id}: {found} of {count_noun(filled.rows, 'row')}; "
        "all other cells are as they were.",
        advice=f"Resume with `tablewright runs resume {filled.run_id}`, or run the same command again.",
    )


def say_budget_reached(table_id: str, filled: RunResult, *, applied: bool, command: str) -> None:
    """Say what a run found before it reached its budget, and that `command` continues it."""
    where = f"in table {table_id}" if applied else f"in proposal {filled.proposal_id}"
    output.print_note(
        f"Stopped at the cap of {filled.cap}, after {format_dollars(filled.usage.cost_usd)}: "
        f"{count_noun(filled.found, 'value')} found, kept {where}; {count_noun(filled.left, 'cell')} left."
    )
    output.print_note(
        f"To continue, run the same command for table {table_id} (`tablewright {command} …`) and a new --budget: "
        "cached results are free."
    )


async def apply_whole_proposal(services: Services, head: ProposalHead, *, show: bool) -> bool:
    if head.counts.get("open"):
        done = await services.changes.apply_unseen(head.id)
        if show:
            await print_filled_table(services, head)
            views.say_applied(done, await services.store.proposals.get(head.id))
    return True


async def offer_proposal(services: Services, head: ProposalHead, *, decide_now: bool) -> bool:
    """Show what would change and ask what to do with it. Return True if anything was applied."""
    from tablewright.interfaces.cli.review import review_proposal
    from tablewright.operations.review import ApplyProposal, apply_proposal

    # Rows and cells in a preview: they fit on one screen.
    await views.print_proposal(services, head, await services.store.proposals.operations(head.id, limit=20))
    found = head.counts.get("with_value", 0)
    if not decide_now or not found:
        return False
    question = f"Apply {count_noun(found, 'value')} to table {head.table_id}? [y]es, [r]eview one by one, [N]o"
    said = output.ask_letter(question, "nyr")
    chosen = ApplyProposal(proposal_id=head.id)
    if said == "y":
        done = await apply_proposal(services, chosen)
        views.say_applied(done.applied, done.proposal)
        return True
    if said == "n":
        return False
    reviewed = await review_proposal(services, chosen)
    views.say_reviewed(reviewed.applied, reviewed.proposal)
    return reviewed.applied.change is not None


# A function that plans the requested run for a table.
Plan: TypeAlias = "Callable[[Services, str, ProgressCallback], Awaitable[FillRun]]"


async def import_and_fill(
    services: Services, target: str, options: FileOptions, plan: Plan, *, new: bool = False
) -> tuple[str, RunResult]:
    """Import the target if it is a file, and fill its table, with a progress bar, until done or Ctrl-C."""
    from tablewright.operations.tables import delete_table

    table_id, imported = await import_target(services, target, options, new=new)
    with output.Bar("Filling") as bar:
        try:
            run = await plan(services, table_id, bar.follow_fill)
            if output.stderr().is_terminal and run.costs_money:
                output.print_note(f"{views.summarize_estimate(await run.estimate())}.")
        except BaseException:
            if imported:
                await delete_table(services, table_id)
            raise
        with call_on_interrupt(services.jobs.stop):
            return table_id, await services.jobs.run(run)


async def import_target(
    services: Services, target: str, options: FileOptions, *, new: bool = False, only_look: bool = False
) -> tuple[str, ImportOutcome | None]:
    """Return the table's id, and what was imported if the target is a file. A file that was imported before continues
    with its table, unless `new`; with `only_look` no row is added to it."""
    from tablewright.operations.files import import_table_file, recognise_file

    if not Path(target).is_file():
        if Path(target).suffix or "/" in target:
            raise BadFile(f"There is no file {target}.")
        return (await services.table(target)).id, None
    known = None if new else await recognise_file(services, Path(target), options)
    if known is not None and not (only_look and known.changed) and await continue_known_file(services, target, known):
        return known.table.id, None
    with output.Bar(f"Importing {Path(target).name}") as bar:
        imported = await import_table_file(services, Path(target), options, bar.count)
    output.print_warnings(imported.warnings)
    return imported.table.id, imported


async def continue_known_file(services: Services, target: str, known: KnownFile) -> bool:
    """Return True to use the table that the file became before. If the file has changed, a person is asked; without one
    its new rows are added, and the table's rows stay as they are."""
    table_id = known.table.id
    if not known.changed:
        output.print_note(f"{target} is table {table_id}, imported before; --new makes a new table.")
        return True
    rows = count_noun(len(known.new_rows), "new row")
    question = (
        f"{target} has changed since it became table {table_id}. [A]dd {rows} to that table, or make a [n]ew one?"
    )
    if output.ask_letter(question, "an") == "n":
        return False
    from tablewright.operations.files import add_new_file_rows

    output.print_warnings(known.warnings)
    await add_new_file_rows(services, known)
    output.print_note(
        f"{target} has changed since it became table {table_id}: {rows} added, the others stay as they are in the "
        "table; --new makes a new table."
    )
    return True


async def print_fill_estimate(services: Services, target: str, options: FileOptions, plan: Plan, *, json: bool) -> None:
    """Print what a run is likely to take. A file becomes a table only while that is estimated."""
    from tablewright.operations.tables import delete_table

    table_id, imported = await import_target(services, target, options, only_look=True)
    try:
        run = await plan(services, table_id, lambda news: None)
        likely = await run.estimate()
    finally:
        if imported:
            await delete_table(services, table_id)
    if json:
        output.print_json(likely)
    else:
        views.print_estimate(likely)


async def print_filled_table(services: Services, head: ProposalHead) -> None:
    table = await services.table(head.table_id)
    rows = await services.page(table.id, limit=20)
    count = await services.count(table.id)
    asked = {field.name for field in head.fields}
    output.print_rows(f"{table.name} ({count_noun(count, 'row')})", table, rows, first=asked)
    if count > len(rows):
        output.print_note(f"… {count - len(rows):,} more rows.")
