"""Print cells, proposals, changes and estimates for people."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich.table import Table as Grid
from rich.text import Text

from tablewright.domain.model import Cell, Row
from tablewright.domain.proposal import ApplyOutcome, ProposalHead, ProposedCell
from tablewright.domain.text import cell_text, count_noun, describe_basis, describe_conflicts, format_cell_confidence
from tablewright.interfaces.cli.output import (
    STYLES,
    build_grid,
    format_cell,
    format_local_time,
    harmless_text,
    print_note,
    stderr,
    stdout,
)
from tablewright.interfaces.wording import format_dollars

if TYPE_CHECKING:
    from tablewright.domain.history import CellVersion, Change
    from tablewright.domain.run import Estimate
    from tablewright.services import Services


def print_history(title: str, changes: Sequence[Change]) -> None:
    lines = [
        [str(change.number), format_local_time(change.at), change.actor, describe_edits(change)] for change in changes
    ]
    stdout().print(build_grid(title, ["Change", "When", "Who", "What"], lines))


def describe_edits(change: Change) -> str:
    run = f", run {change.run_id}" if change.run_id else ""
    note = f"\n{change.note}" if change.note else ""
    return f"{change.kind}, {count_noun(change.edits, 'edit')}{run}{note}"


def print_cell_history(title: str, versions: Sequence[CellVersion]) -> None:
    noted = any(version.cell.error for version in versions)
    lines: list[list[str | Text]] = [
        [
            str(version.change),
            format_local_time(version.at),
            version.actor,
            version.kind,
            version.run_id or "",
            format_cell(version.cell),
            *([version.cell.error or ""] if noted else []),
        ]
        for version in versions
    ]
    columns = ["Change", "When", "Who", "What", "Run", "Value", *(["Note"] if noted else [])]
    stdout().print(build_grid(title, columns, lines))


def print_cell(title: str, cell: Cell, *, cost: bool = False) -> None:
    """Print one cell with all that is known about it; with `cost` also its cost."""
    value, *more = describe_cell(cell, "Value")
    lines: list[list[str | Text]] = [value, ["Status", cell.status], *more]
    if cell.run_id:
        lines.append(["Run", f"{cell.run_id}, attempt {cell.attempt}"])
    if cost and cell.run_id:
        lines.append(["Cost", format_dollars(cell.cost)])
    stdout().print(build_sheet(title, lines))


def print_operation(title: str, now: Cell, operation: ProposedCell) -> None:
    """Print one proposed cell for the person who decides on it."""
    steps = groupby((step for step in operation.steps if step.type != "answer"), key=lambda step: step.type)
    trace = "; ".join(f"{kind}: {', '.join(step.detail for step in group)}" for kind, group in steps)
    lines: list[list[str | Text]] = [["Now", format_cell_in_full(now)], *describe_cell(operation.cell, "Proposed")]
    if now.keeps_its_value(operation.cell):
        lines.append(["Accepted", STAYS])
    if trace:
        lines.append(["How", harmless_text(trace, 400)])
    stderr().print(build_sheet(title, lines))


def build_sheet(title: str, lines: list[list[str | Text]]) -> Grid:
    """Return a grid of names and values without a header."""
    table = build_grid(title, ["", ""], lines)
    table.show_header = False
    return table


def describe_cell(cell: Cell, name: str) -> list[list[str | Text]]:
    """Return lines for the value, called `name`, its reason, confidence, basis and sources, and other values."""
    lines: list[list[str | Text]] = [[name, format_cell_in_full(cell)]]
    if cell.raw_value is not None and cell.raw_value != cell_text(cell):
        lines.append(["As found", cell.raw_value])
    if cell.reason:
        lines.append(["Reason", cell.reason.replace("_", " ")])
    if cell.error:
        lines.append(["Note", cell.error])
    if cell.confidence is not None:
        label = cell.confidence_label
        lines.append(
            ["Confidence", Text(f"{cell.confidence:.2f} ({format_cell_confidence(cell)})", style=STYLES[label])]
        )
    if basis := describe_basis(cell):
        lines.append(["Basis", basis])
    if cell.imported:
        lines.append(["Imported", "with its sources; nothing of it was checked here"])
    if cell.stale:
        lines.append(["Stale", "an input changed since"])
    for number, evidence in enumerate(cell.evidence, start=1):
        page = f", page {evidence.page}" if evidence.page else ", in its title" if evidence.is_title else ""
        title = f"{evidence.title}{page}\n" if evidence.title else ""
        lines.append([f"Source {number}", harmless_text(title + evidence.origin, 500)])
        lines.append(["", harmless_text(f"“{evidence.quote}”", 500)])
    for other in cell.conflict:
        name = "Perhaps" if cell.value is None else "May also be" if other.reason else "Others say"
        lines.append([name, cell_text(Cell(value=other.value))])
        if other.reason:
            lines.append(["", harmless_text(other.reason, 500)])
        lines += [["", harmless_text(f"{each.origin}\n“{each.quote}”", 500)] for each in other.evidence[:1]]
    return lines


def say_stale(table_id: str, count: int) -> None:
    """Explain the mark ~ and name the command that fills stale cells again."""
    if count:
        are, them = ("is", "it") if count == 1 else ("are", "them")
        refresh = f"`tablewright tables refresh {table_id}` fills {them} again"
        print_note(f"{count_noun(count, 'cell')} (~) {are} stale: an input changed. {refresh}.")


def format_cell_in_full(cell: Cell) -> Text:
    """Return a cell with its whole text, which a grid would cut."""
    return harmless_text(cell_text(cell), 2_000) if len(cell_text(cell)) > 80 else format_cell(cell)


async def print_proposal(
    services: Services, head: ProposalHead, operations: Sequence[ProposedCell], *, steps: bool = False
) -> None:
    """Print each cell before and after, and why empty ones are empty."""
    table = await services.table(head.table_id)
    rows = await services.rows_by_id(table.id, [operation.row_id for operation in operations])
    order = {field.name: position for position, field in enumerate(head.fields)}
    none = Row(id=0)
    replaces = any(rows.get(each.row_id, none).cell(each.field).value is not None for each in operations)
    decided = any(operation.decision != "open" for operation in operations)
    lines = []
    for operation in sorted(operations, key=lambda each: (each.row_id, order.get(each.field, 0))):
        row = rows.get(operation.row_id, none)
        name = cell_text(row.cell(table.key_field)) if table.key_field else ""
        line: list[str | Text] = [str(operation.row_id), harmless_text(name, 40), operation.field]
        line += [format_cell(row.cell(operation.field))] if replaces else []
        line += [format_cell(operation.cell), format_confidence(operation.cell)]
        line += [format_decision(operation)] if decided else []
        stays = STAYS if row.cell(operation.field).keeps_its_value(operation.cell) else ""
        lines.append([*line, harmless_text("; ".join(filter(None, (stays, describe_doubt(operation.cell)))), 400)])
    columns = ["#", table.key_field or "Row", "Column", *(["Now"] if replaces else []), "Proposed", "Sure"]
    columns += [*(["Decision"] if decided else []), "Note"]
    stdout().print(build_grid(head.reasoning, columns, lines))
    if steps:
        for operation in operations:
            row = rows.get(operation.row_id, none)
            print_trace(cell_text(row.cell(table.key_field)) if table.key_field else str(row.id), operation)
    total = head.counts.get("with_value", 0) + head.counts.get("without_value", 0)
    if total > len(operations):
        print_note(f"{len(operations):,} of {total:,} cells shown; --rows N shows more.")
    print_note(
        f"Proposal {head.id} for table {head.table_id} is {head.status}: "
        f"{count_noun(head.counts.get('with_value', 0), 'value')}; empty, with a reason: "
        f"{count_noun(head.counts.get('without_value', 0), 'cell')}."
    )


# The note of a proposed cell without a value, where the table has one.
STAYS = "not found; the present value stays"
# One column wide in every terminal, so that the steps stay aligned.
MARKS = {"search": "⌕", "fetch": "↓", "thinking": "·", "compute": "=", "error": "✗", "coverage": "◔", "answer": "→"}


def print_trace(name: str, operation: ProposedCell) -> None:
    """Print the steps that found a cell."""
    console = stdout()
    console.print(Text("\n") + harmless_text(f"{name} · {operation.field}", 120), style="bold", highlight=False)
    for step in operation.steps:
        style = "dim" if step.type in ("search", "fetch", "thinking") else "red" if step.type == "error" else ""
        console.print(Text(f"  {MARKS[step.type]} ") + harmless_text(step.detail, 600), style=style, highlight=False)
    if operation.cell.value is None:
        reason = (operation.cell.reason or "failed").replace("_", " ")
        said = f": {operation.cell.error}" if operation.cell.error else ""
        console.print(harmless_text(f"  → empty, {reason}{said}", 600), highlight=False)


def describe_doubt(cell: Cell) -> str:
    """Return why a cell is empty or doubtful, or the passage that states its value."""
    if cell.error or not cell.evidence or not cell.evidence[0].domain:
        return cell.error or ""
    others = f", and {count_noun(len(cell.evidence) - 1, 'other')}" if len(cell.evidence) > 1 else ""
    disputed = f"; {describe_conflicts(cell.conflict)}" if cell.conflict else ""
    return f"“{cell.evidence[0].quote[:160]}” {cell.evidence[0].domain}{others}{disputed}"


def format_decision(operation: ProposedCell) -> str:
    if operation.edited is None:
        return operation.decision
    return f"{operation.decision}: {cell_text(operation.edited)}"


def format_confidence(cell: Cell) -> Text:
    if cell.confidence is None:
        return Text("")
    return Text(f"{cell.confidence:.2f}", style=STYLES[cell.confidence_label])


def print_estimate(likely: Estimate) -> None:
    """Print what a run is likely to take, each figure with its bounds if it has any."""
    spans = [("Model calls", likely.calls), ("Tokens in", likely.input_tokens), ("Tokens out", likely.output_tokens)]
    lines: list[list[str | Text]] = [
        ["To fill", f"{count_noun(likely.cells, 'cell')} in {count_noun(likely.rows, 'row')}"]
    ]
    if likely.model:
        lines.append(["Model", likely.model])
        lines += [[name, f"{span.likely:,.0f} ({span.low:,.0f} to {span.high:,.0f})"] for name, span in spans]
    lines += [["Searches", f"{likely.searches:,}"], ["Pages", f"{likely.pages:,}"]]
    if likely.cost_usd is None:
        lines.append(["Cost", "price not known"])
    else:
        cost = likely.cost_usd
        bounds = f" ({format_dollars(cost.low)} to {format_dollars(cost.high)})" if cost.high else ""
        lines.append(["Cost", f"{format_dollars(cost.likely)}{bounds}"])
    lines.append(["Time", format_seconds(likely.seconds)])
    learned = f"learned from {count_noun(likely.from_rows, 'row')} of earlier runs" if likely.from_rows else "not yet"
    lines.append(["From experience", learned])
    stdout().print(build_sheet("About", lines))
    print_note("Nothing was spent.")


def summarize_estimate(likely: Estimate) -> str:
    cost = "price not known" if likely.cost_usd is None else format_dollars(likely.cost_usd.likely)
    return f"About {cost}, {format_seconds(likely.seconds)}, {count_noun(round(likely.calls.likely), 'model call')}"


def format_seconds(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"


def say_applied(done: ApplyOutcome, head: ProposalHead) -> None:
    undo = f"; undo with `{name_undo(head)}`" if done.change else ""
    print_note(f"Applied {count_noun(done.cells, 'cell')} to table {head.table_id}{undo}.")
    say_kept(done)
    if head.counts.get("open"):
        print_note(f"Still open in proposal {head.id}: {count_noun(head.counts['open'], 'cell')}.")


# Compared with the result: a proposal can be applied without changing a cell.
NOTHING_APPLIED = ApplyOutcome(change=None, cells=0, conflicts=0)


def say_reviewed(done: ApplyOutcome, head: ProposalHead) -> None:
    """`head` is the proposal afterwards."""
    if done == NOTHING_APPLIED:
        print_note(f"Nothing was applied; proposal {head.id} is {head.status}.")
        return
    undo = f"; undo with `{name_undo(head)}`" if done.change else ""
    print_note(
        f"{done.cells - done.edited:,} accepted, {done.refused:,} refused, {done.edited:,} edited, "
        f"{head.counts.get('open', 0):,} left open{undo}."
    )
    say_kept(done)
    if done.gone:
        print_note(f"In rows that were removed since, and refused: {count_noun(done.gone, 'cell')}.")
    if done.too_late:
        print_note(f"Decided by another user in the meantime, and kept: {count_noun(done.too_late, 'cell')}.")


def say_kept(done: ApplyOutcome) -> None:
    if done.kept:
        print_note(f"Not found, so the present value stays: {count_noun(done.kept, 'cell')}.")
    if done.conflicts:
        print_note(
            f"Changed since the run read them, and kept: {count_noun(done.conflicts, 'cell')}; --force overwrites them."
        )


def name_undo(head: ProposalHead) -> str:
    return f"tablewright tables undo {head.table_id} --run {head.run_id}"
