"""`tablewright enrich`: the main job."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from tablewright.domain.text import count_noun
from tablewright.doors.cli import output, views
from tablewright.doors.cli.adapter import command
from tablewright.doors.cli.pipes import (
    PIPE,
    Delimiter,
    Encoding,
    Key,
    NoHeader,
    Sheet,
    incoming,
    outgoing,
    refuse_overwriting,
    refuse_two_outputs,
    spoken,
)
from tablewright.doors.cli.root import Json, app, with_app
from tablewright.doors.interrupting import on_interrupt
from tablewright.errors import BadFile, Paused, TablewrightError, UsageError

if TYPE_CHECKING:
    from tablewright.domain.files import FileOptions, Imported
    from tablewright.domain.proposal import ProposalHead
    from tablewright.domain.run import Watch
    from tablewright.operations.fill import StartFill
    from tablewright.services import Fill, Filled, KnownFile, Services

PREVIEW = 20


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
def enrich(
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
    from tablewright.formats.tables import target_format
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
        raise UsageError("Nobody can be asked while the table comes through standard input.", advice="Say --yes.")
    refuse_two_outputs(out, json=json)
    if out is not None and str(out) != PIPE:
        target_format(out)
    elif out is None and (with_evidence or cost):
        raise UsageError(
            "--with-evidence and --cost go with --out, the file that is written.",
            advice="`tablewright tables show TABLE --row N --field COLUMN` shows the evidence of a cell.",
        )
    options = FileOptions(key_field=key, header=not no_header, sheet=sheet, delimiter=delimiter, encoding=encoding)

    def plan(services: Services, table_id: str, watch: Watch) -> Awaitable[Fill]:
        return plan_fill(services, table_id, fields, how=request, watch=watch)

    async def work(services: Services) -> Filled | None:
        if estimate:
            await print_estimate(services, target, options, plan, json=json)
            return None
        acts = not yes and services.acts(strategy)
        if acts and (json or not output.ask(f"{strategy} acts outside the table. Start?")):
            raise UsageError(f"{strategy} acts outside the table, for every row.", advice="Say --yes to start it.")
        table_id, filled = await fill(services, target, options, plan, new=new)
        output.warn([*services.warnings, *filled.notes])
        head = await services.store.proposals.get(filled.proposal_id)
        stopped = filled.status in ("cancelled", "paused")
        applied = False
        if not stopped and not json and not head.counts:
            output.say(
                "Nothing to do: these columns have no cells left to fill. --again looks elsewhere for the empty ones."
            )
        if not stopped and yes:
            applied = await apply_all(services, head, show=not json and str(out) != PIPE)
        elif not stopped and not json and head.counts:
            applied = await offer(services, head, decide_now=not review)
        unwritten: TablewrightError | None = None
        if out is not None and applied:
            from tablewright.operations.files import export_file

            try:
                with outgoing(out) as path:
                    written = await export_file(services, table_id, path, evidence=with_evidence, cost=cost)
                output.say(f"Wrote {count_noun(written.row_count, 'row')} to {spoken(out)}.")
                output.warn(written.warnings)
            except TablewrightError as error:
                unwritten = error
        elif out is not None:
            output.say(f"{out} was not written, because nothing was applied.")
        still_open = (await services.store.proposals.get(head.id)).status == "open"
        if not applied and not json and not stopped and still_open:
            output.say(
                f"Nothing was applied. Decide with `tablewright proposals review {head.id}` (or apply, or reject)."
            )
        if filled.status == "over_budget":
            say_where_it_stopped(table_id, filled, applied=applied, command=f"enrich {table_id}")
        if json:
            failed = {} if unwritten is None else {"export_error": str(unwritten)}
            from tablewright.operations.fill import report_fill

            output.print_json(await report_fill(services, filled) | failed)
        if unwritten is not None:
            raise typer.Exit(unwritten.exit_code) if json else unwritten
        if filled.status == "done" and filled.cause and not services.is_offline:
            raise typer.Exit(1)  # not looked for is not the same as not found, also for programs
        return filled

    with incoming(target) as source:
        target = str(source) if target == PIPE else target
        filled = with_app(work, {**flags, **request.texts()})
    if filled is not None and filled.status == "paused":
        if not json:
            output.show_error(paused(filled))
        raise typer.Exit(1)
    if filled is not None and filled.status == "cancelled":
        if count := filled.found + filled.empty:
            found = count_noun(count, "cell")
            output.say(f"Stopped. Kept in proposal {filled.proposal_id}: {found}; apply or reject it as you like.")
        else:
            output.say("Stopped before anything was found.")
        raise typer.Exit(130)


def paused(filled: Filled) -> Paused:
    """What fails, what is kept, and how to go on."""
    found = count_noun(filled.found, "value")
    return Paused(
        f"Run {filled.run_id} is paused. {filled.problem}",
        kept=f"Kept in proposal {filled.proposal_id}: {found} of {count_noun(filled.rows, 'row')}; "
        "all other cells are as they were.",
        advice=f"Resume with `tablewright runs resume {filled.run_id}`, or run the same command again.",
    )


def say_where_it_stopped(table_id: str, filled: Filled, *, applied: bool, command: str) -> None:
    """What the money went to is kept, and the rest is only a matter of more, for `command`."""
    where = f"in table {table_id}" if applied else f"in proposal {filled.proposal_id}"
    output.say(
        f"Stopped at the cap of {filled.cap}, after {output.dollars(filled.usage.cost_usd)}: "
        f"{count_noun(filled.found, 'value')} found, kept {where}; {count_noun(filled.left, 'cell')} left."
    )
    output.say(
        f"To continue, run the same command for table {table_id} (`tablewright {command} …`) and a new --budget: "
        "what was bought is not paid for again."
    )


async def apply_all(services: Services, head: ProposalHead, *, show: bool) -> bool:
    if head.counts.get("open"):
        done = await services.changes.apply_unseen(head.id)
        if show:
            await print_result(services, head)
            views.say_applied(done, await services.store.proposals.get(head.id))
    return True


async def offer(services: Services, head: ProposalHead, *, decide_now: bool) -> bool:
    """Shows what would change and asks what to do with it; whether anything was applied."""
    from tablewright.doors.cli.review import review_proposal
    from tablewright.operations.review import ApplyProposal, apply_proposal

    await views.print_proposal(services, head, await services.store.proposals.operations(head.id, limit=PREVIEW))
    found = head.counts.get("with_value", 0)
    if not decide_now or not found:
        return False
    question = f"Apply {count_noun(found, 'value')} to table {head.table_id}? [y]es, [r]eview one by one, [N]o"
    said = output.ask_which(question, "nyr")
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


Plan: TypeAlias = "Callable[[Services, str, Watch], Awaitable[Fill]]"
"""Plans the run that was asked for, over a table."""


async def fill(
    services: Services, target: str, options: FileOptions, plan: Plan, *, new: bool = False
) -> tuple[str, Filled]:
    """Imports the file if it is one, and runs, with a progress bar, until it is done or Ctrl-C is pressed."""
    from tablewright.operations.tables import delete_table

    table_id, imported = await bring_in(services, target, options, new=new)
    with output.Bar("Filling") as bar:
        try:
            run = await plan(services, table_id, bar.follow_fill)
            if output.stderr().is_terminal and run.costs_money:
                output.say(f"{views.in_one_line(await run.estimate())}.")
        except BaseException:
            if imported:
                await delete_table(services, table_id)
            raise
        with on_interrupt(services.jobs.stop):
            return table_id, await services.jobs.run(run)


async def bring_in(
    services: Services, target: str, options: FileOptions, *, new: bool = False, only_look: bool = False
) -> tuple[str, Imported | None]:
    """The table's id, and what was imported if it is a file. One that was imported before goes on with its table,
    unless `new`; with `only_look` no row is added to it."""
    from tablewright.operations.files import import_file, recognise_file

    if not Path(target).is_file():
        if Path(target).suffix or "/" in target:
            raise BadFile(f"There is no file {target}.")
        return (await services.table(target)).id, None
    known = None if new else await recognise_file(services, Path(target), options)
    if known is not None and not (only_look and known.changed) and await goes_on(services, target, known):
        return known.table.id, None
    with output.Bar(f"Importing {Path(target).name}") as bar:
        imported = await import_file(services, Path(target), options, bar.count)
    output.warn(imported.warnings)
    return imported.table.id, imported


async def goes_on(services: Services, target: str, known: KnownFile) -> bool:
    """Whether to use the table that the file became before. Where the file has changed a person is asked; without one
    its new rows are added, and what is in the table stays as it is."""
    table_id = known.table.id
    if not known.changed:
        output.say(f"{target} is table {table_id}, imported before; --new makes a new table.")
        return True
    rows = count_noun(len(known.new_rows), "new row")
    question = (
        f"{target} has changed since it became table {table_id}. [A]dd {rows} to that table, or make a [n]ew one?"
    )
    if output.ask_which(question, "an") == "n":
        return False
    from tablewright.operations.files import add_new_rows

    output.warn(known.warnings)
    await add_new_rows(services, known)
    output.say(
        f"{target} has changed since it became table {table_id}: {rows} added, the others stay as they are in the "
        "table; --new makes a new table."
    )
    return True


async def print_estimate(services: Services, target: str, options: FileOptions, plan: Plan, *, json: bool) -> None:
    """What a run would take. A file is a table only for as long as that needs."""
    from tablewright.operations.tables import delete_table

    table_id, imported = await bring_in(services, target, options, only_look=True)
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


async def print_result(services: Services, head: ProposalHead) -> None:
    table = await services.table(head.table_id)
    rows = await services.page(table.id, limit=PREVIEW)
    count = await services.count(table.id)
    asked = {field.name for field in head.fields}
    output.print_rows(f"{table.name} ({count_noun(count, 'row')})", table, rows, first=asked)
    if count > len(rows):
        output.say(f"… {count - len(rows):,} more rows.")
