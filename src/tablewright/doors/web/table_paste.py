"""A block of cells from a spreadsheet comes in: as new rows, or over the cells from the chosen one on."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from nicegui import ui

from tablewright.doors.server.context import Visit
from tablewright.doors.web.frame import say, tell, text
from tablewright.doors.web.grid_rows import Wanted
from tablewright.doors.web.table_edit import visit_to_write
from tablewright.errors import TablewrightError, UsageError
from tablewright.table.model import Field, Noun, RowId, Table
from tablewright.table.text import plural, shortened

MOST = 20_000
"""Cells that are pasted at once."""
PREVIEW = 4


class Pasted(Noun, frozen=True):
    """What the browser sends: the text, and what it shows from the focused cell on. `row_ids` are those that it has,
    without a gap; none where no cell is focused."""

    text: str = ""
    fields: tuple[str, ...] = ()
    row_ids: tuple[RowId, ...] = ()
    is_sorted: bool = False
    is_too_long: bool = False


class Fitted(Noun, frozen=True):
    """Which columns the cells of a line go into. With `names`, the first line says so, and is none of the rows."""

    fields: tuple[Field | None, ...]
    names: bool = False
    left_out: int = 0
    """Columns at the right of the block for which the table has none."""


def cells_of(content: str) -> list[list[str]]:
    """The lines of a block as spreadsheets copy it: tabs between cells, quotes around what holds tabs or lines."""
    lines = list(csv.reader(io.StringIO(content.replace("\r\n", "\n").replace("\r", "\n"), newline=""), delimiter="\t"))
    while lines and not any(cell.strip() for cell in lines[-1]):
        lines.pop()
    if sum(len(line) for line in lines) > MOST:
        raise UsageError(f"That is more than {MOST:,} cells.", advice="Import it as a file instead.")
    return lines


def fitted(table: Table, lines: Sequence[Sequence[str]], shown: Sequence[str]) -> Fitted:
    """A first line that names columns says which cells are whose; else they go into those that are shown, in turn."""
    first = [name for name in lines[0] if name.strip()]
    if len(lines) > 1 and first and all(table.field(name) for name in first):
        return Fitted(fields=tuple(table.field(name) for name in lines[0]), names=True)
    width = max(len(line) for line in lines)
    known = {field.name: field for field in table.shown_fields}
    for name in shown[:width]:
        if name not in known:
            raise UsageError(
                f"The table has no column {shortened(name, 60)!r} yet, so nothing can be pasted into it.",
                kept="Nothing was pasted.",
                advice="Accept what is proposed for it first, or begin in another column.",
            )
    return Fitted(fields=tuple(known[name] for name in shown[:width]), left_out=max(0, width - len(shown)))


def as_rows(fit: Fitted, lines: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """New rows."""
    return [
        {field.name: cell for field, cell in zip(fit.fields, line, strict=False) if field and cell.strip()}
        for line in lines[fit.names :]
    ]


def as_values(
    fit: Fitted, lines: Sequence[Sequence[str]], row_ids: Sequence[RowId]
) -> tuple[dict[tuple[RowId, str], str], list[dict[str, str]]]:
    """What goes into the rows that are there, and what is left over for new ones."""
    values = {
        (row_id, field.name): cell
        for row_id, line in zip(row_ids, lines, strict=False)
        for field, cell in zip(fit.fields, line, strict=False)
        if field
    }
    return values, as_rows(fit, lines[len(row_ids) :])


async def rows_below(visit: Visit, table: Table, wanted: Wanted, pasted: Pasted, count: int) -> list[RowId]:
    """The rows that lines are written over; none where that cannot be known. In the order of the table there may be
    fewer than lines: new ones follow. In any other, only rows that the browser has are known to be the next."""
    if not pasted.row_ids:
        return []
    if wanted.is_plain and not pasted.is_sorted:
        return [row.id for row in await visit.tablewright.page(table.id, after=pasted.row_ids[0] - 1, limit=count)]
    return list(pasted.row_ids[:count]) if len(pasted.row_ids) >= count else []


async def offer(table_id: str, wanted: Wanted, pasted: Pasted) -> bool:
    """Whether something was written."""
    visit = await visit_to_write(table_id)
    if pasted.is_too_long:
        raise UsageError("That is too much to be pasted at once.", advice="Import it as a file instead.")
    lines = cells_of(pasted.text)
    if not lines:
        return False
    table = await visit.tablewright.table(table_id)
    fit = fitted(table, lines, pasted.fields)
    below = [] if fit.names else await rows_below(visit, table, wanted, pasted, len(lines))
    choice = await choose(fit, lines, below)
    if choice == "add":
        added = as_rows(fit, lines)
        await (await visit_to_write(table.id)).tablewright.changes.write_values(table.id, {}, added)
        say(f"{len(added):,} {plural('row', len(added))} added.")
    elif choice == "fill":
        values, more = as_values(fit, lines, below)
        await (await visit_to_write(table.id)).tablewright.changes.write_values(table.id, values, more)
        extra = f", {len(more):,} {plural('row', len(more))} added" if more else ""
        say(f"{len(values):,} {plural('cell', len(values))} written{extra}.")
    return bool(choice)


async def choose(fit: Fitted, lines: Sequence[Sequence[str]], below: Sequence[RowId]) -> str:
    """To "add" rows, to "fill" those that are there, or nothing."""
    with ui.dialog() as window, ui.card().classes("tw-dialog"):
        count = len(lines)
        ui.label(f"Paste {count:,} {plural('line', count)}").classes("tw-h2")
        with ui.element("div").classes("tw-quote"):
            for line in lines[:PREVIEW]:
                text(shortened(" | ".join(line), 90), "tw-small")
            if count > PREVIEW:
                ui.label(f"… and {count - PREVIEW:,} more").classes("tw-muted tw-small")
        if fit.left_out:
            left = f"{fit.left_out:,} {plural('column', fit.left_out)}"
            ui.label(f"The block is wider than the table: {left} at its right will be left out.").classes("tw-small")
        with ui.element("div").classes("tw-row tw-end"):
            ui.button("Cancel", on_click=lambda: window.submit("")).props("flat")
            if below and fit.fields and fit.fields[0]:
                begin = f"row {below[0]}, {shortened(fit.fields[0].name, 40)}"
                ui.button(f"Write from {begin} on", on_click=lambda: window.submit("fill")).props("outline")
            rows = count - fit.names
            ui.button(f"Add {rows:,} {plural('row', rows)}", on_click=lambda: window.submit("add")).props("unelevated")
    choice = await window
    window.delete()
    return choice or ""


async def ask_row(table: Table) -> bool:
    """A new row, typed in; whether one was added."""
    shown = sorted(table.shown_fields, key=lambda field: field.name != table.key_field)
    fields = [field for field in shown if not field.is_asked]
    inputs: dict[str, ui.input] = {}
    with ui.dialog() as window, ui.card().classes("tw-dialog"):
        ui.label("Add a row").classes("tw-h2")
        for field in fields[:30]:
            label = field.name + (f" ({field.unit or field.type})" if field.type != "text" else "")
            inputs[field.name] = ui.input(label).props("outlined dense")
        ui.label("Many at once: copy them in a spreadsheet, click a cell here, and paste.").classes("tw-muted tw-small")

        async def add() -> None:
            row = {name: given.value or "" for name, given in inputs.items()}
            try:
                if not any(value.strip() for value in row.values()):
                    raise UsageError("The row is empty.", advice="Fill in at least one of its cells.")
                await (await visit_to_write(table.id)).tablewright.changes.write_values(table.id, {}, [row])
            except TablewrightError as error:
                tell(error)
                return
            window.submit(True)

        with ui.element("div").classes("tw-row tw-end"):
            ui.button("Cancel", on_click=lambda: window.submit(False)).props("flat")
            ui.button("Add", on_click=add).props("unelevated")
    added = bool(await window)
    window.delete()
    return added
