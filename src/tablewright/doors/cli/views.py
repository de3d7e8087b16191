"""Cells, proposals and changes as people and programs see them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from tablewright.app import Applied, CellVersion, Change, Operation, ProposalHead, Tablewright
from tablewright.doors.cli.output import STYLES, grid, many, plain, say, shown, stdout, when
from tablewright.table.model import Cell, Row, Table
from tablewright.table.text import cell_text


def print_history(table: Table, changes: Sequence[Change]) -> None:
    lines = [
        [
            str(change.number),
            when(change.at),
            change.actor,
            change.kind,
            change.run_id or "",
            f"{change.edits:,}",
            change.note,
        ]
        for change in changes
    ]
    stdout().print(grid(table.name, ["Change", "When", "Who", "What", "Run", "Edits", "Note"], lines))


def print_cell_history(title: str, versions: Sequence[CellVersion]) -> None:
    lines: list[list[str | Text]] = [
        [
            str(version.change),
            when(version.at),
            version.actor,
            version.kind,
            version.run_id or "",
            shown(version.cell),
        ]
        for version in versions
    ]
    stdout().print(grid(title, ["Change", "When", "Who", "What", "Run", "Value"], lines))


def print_cell(title: str, cell: Cell) -> None:
    """One cell with all that is known about it."""
    lines: list[Sequence[str | Text]] = [["Value", shown(cell)], ["Status", cell.status]]
    if cell.raw_value is not None and cell.raw_value != cell_text(cell):
        lines.append(["As found", cell.raw_value])
    if cell.reason:
        lines.append(["Reason", cell.reason.replace("_", " ")])
    if cell.error:
        lines.append(["Note", cell.error])
    if cell.confidence is not None:
        label = cell.confidence_label
        lines.append(["Confidence", Text(f"{cell.confidence:.2f} ({label})", style=STYLES[label])])
    if cell.is_given:
        lines.append(["Source", "given by the table's owner"])
    for number, evidence in enumerate(cell.evidence, start=1):
        page = f", page {evidence.page}" if evidence.page else ""
        name = f"{evidence.title}{page}\n" if evidence.title else ""
        lines.append([f"Source {number}", name + evidence.origin])
        lines.append(["", f"“{evidence.quote}”"])
    for other in cell.conflict:
        said = f"{cell_text(Cell(value=other.value))}\n{other.evidence[0].origin}\n“{other.evidence[0].quote}”"
        lines.append(["Others say", said if other.evidence else cell_text(Cell(value=other.value))])
    if cell.run_id:
        lines.append(["Run", f"{cell.run_id}, attempt {cell.attempt}"])
    stdout().print(grid(title, ["", ""], lines))


async def print_proposal(
    tablewright: Tablewright, head: ProposalHead, operations: Sequence[Operation], *, steps: bool = False
) -> None:
    """Before and after of each cell, and for the empty ones why."""
    table = await tablewright.table(head.table_id)
    rows = await tablewright.rows_by_id(table.id, [operation.row_id for operation in operations])
    order = {field.name: position for position, field in enumerate(head.fields)}
    none = Row(id=0)
    replaces = any(rows.get(each.row_id, none).cell(each.field).value is not None for each in operations)
    decided = any(operation.decision != "open" for operation in operations)
    lines = []
    for operation in sorted(operations, key=lambda each: (each.row_id, order.get(each.field, 0))):
        row = rows.get(operation.row_id, none)
        name = cell_text(row.cell(table.key_field)) if table.key_field else ""
        line: list[str | Text] = [str(operation.row_id), plain(name, 40), operation.field]
        line += [shown(row.cell(operation.field))] if replaces else []
        line += [shown(operation.cell), confidence(operation.cell)]
        line += [operation.decision] if decided else []
        trace = [step.detail for step in operation.steps if step.type != "answer"]
        lines.append([*line, plain("\n".join(trace) if steps else note(operation.cell), 400)])
    columns = ["#", table.key_field or "Row", "Column", *(["Now"] if replaces else []), "Proposed", "Sure"]
    columns += [*(["Decision"] if decided else []), "How" if steps else "Note"]
    stdout().print(grid(head.reasoning, columns, lines))
    total = head.counts.get("with_value", 0) + head.counts.get("without_value", 0)
    if total > len(operations):
        say(f"{len(operations):,} of {total:,} cells shown; --rows N shows more.")
    say(
        f"Proposal {head.id} for table {head.table_id} is {head.status}: "
        f"{many(head.counts.get('with_value', 0), 'value')}; empty, with a reason: "
        f"{many(head.counts.get('without_value', 0), 'cell')}."
    )


def note(cell: Cell) -> str:
    """Why a cell is empty or doubtful; else the passage that states its value."""
    if cell.error or not cell.evidence or not cell.evidence[0].domain:
        return cell.error or ""
    others = f", and {many(len(cell.evidence) - 1, 'other')}" if len(cell.evidence) > 1 else ""
    disputed = "; others say otherwise" if cell.conflict else ""
    return f"“{cell.evidence[0].quote[:160]}” {cell.evidence[0].domain}{others}{disputed}"


def confidence(cell: Cell) -> Text:
    if cell.confidence is None:
        return Text("")
    return Text(f"{cell.confidence:.2f}", style=STYLES[cell.confidence_label])


def say_applied(done: Applied, head: ProposalHead) -> None:
    say(f"Applied {many(done.cells, 'cell')} to table {head.table_id}; undo with `{undo_command(head)}`.")
    if done.conflicts:
        say(f"Changed since the run read them, and kept: {many(done.conflicts, 'cell')}; --force overwrites them.")
    if head.counts.get("open"):
        say(f"Still open in proposal {head.id}: {many(head.counts['open'], 'cell')}.")


def undo_command(head: ProposalHead) -> str:
    return f"tablewright table rollback {head.table_id} --run {head.run_id}"
