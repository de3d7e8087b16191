"""A block of cells from a spreadsheet comes in: as new rows, or over the cells from the chosen one on."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from tablewright.doors.server.context import Visit
from tablewright.doors.web.frame import say, tell, text
from tablewright.doors.web.grid_rows import Wanted
from tablewright.errors import TablewrightError, UsageError
from tablewright.table.model import Field, RowId, Table
from tablewright.table.text import plural, shortened

MOST = 20_000
"""Cells that are pasted at once."""
PREVIEW = 4


def cells_of(content: str) -> list[list[str]]:
    """The lines of a block as spreadsheets copy it: tabs between cells, quotes around what holds tabs or lines."""
    lines = list(csv.reader(io.StringIO(content.replace("\r\n", "\n").replace("\r", "\n"), newline=""), delimiter="\t"))
    while lines and not any(cell.strip() for cell in lines[-1]):
        lines.pop()
    if sum(len(line) for line in lines) > MOST:
        raise UsageError(f"That is more than {MOST:,} cells.", advice="Import it as a file instead.")
    return lines


def columns_from(table: Table, first: str | None) -> list[Field]:
    """The columns in the order of the grid, from one of them on."""
    fields = sorted(table.shown_fields, key=lambda field: field.name != table.key_field)
    at = next((place for place, field in enumerate(fields) if field.name == first), 0)
    return fields[at:]


def as_rows(table: Table, lines: Sequence[Sequence[str]], first: str | None) -> list[dict[str, str]]:
    """New rows. A first line that names columns says which cells are whose."""
    if lines and all(table.field(name) for name in lines[0] if name.strip()) and any(name.strip() for name in lines[0]):
        named = [table.field(name) for name in lines[0]]
        return [
            {field.name: cell for field, cell in zip(named, line, strict=False) if field and cell.strip()}
            for line in lines[1:]
        ]
    fields = columns_from(table, first)
    return [{field.name: cell for field, cell in zip(fields, line, strict=False) if cell.strip()} for line in lines]


def as_values(
    table: Table, lines: Sequence[Sequence[str]], row_ids: Sequence[RowId], first: str | None
) -> tuple[dict[tuple[RowId, str], str], list[dict[str, str]]]:
    """What goes into the rows that are there, and what is left over for new ones."""
    fields = columns_from(table, first)
    values = {
        (row_id, field.name): cell
        for row_id, line in zip(row_ids, lines, strict=False)
        for field, cell in zip(fields, line, strict=False)
    }
    return values, as_rows(table, lines[len(row_ids) :], first) if len(lines) > len(row_ids) else []


async def offer(visit: Visit, table: Table, wanted: Wanted, pasted: Mapping[str, Any]) -> None:
    lines = cells_of(str(pasted["text"]))
    if not lines:
        return
    first, row_id = pasted.get("field"), pasted.get("row_id")
    added = as_rows(table, lines, first)
    with ui.dialog() as window, ui.card().classes("tw-dialog"):
        count = len(lines)
        ui.label(f"Paste {count:,} {plural('line', count)}").classes("tw-h2")
        with ui.element("div").classes("tw-quote"):
            for line in lines[:PREVIEW]:
                text(shortened(" | ".join(line), 90), "tw-small")
            if count > PREVIEW:
                ui.label(f"… and {count - PREVIEW:,} more").classes("tw-muted tw-small")
        with ui.element("div").classes("tw-row tw-end"):
            ui.button("Cancel", on_click=lambda: window.submit("")).props("flat")
            if row_id is not None and not wanted.only and not wanted.find:
                ui.button(f"Write from row {row_id}, {first} on", on_click=lambda: window.submit("fill")).props(
                    "outline"
                )
            rows = len(added)
            ui.button(f"Add {rows:,} {plural('row', rows)}", on_click=lambda: window.submit("add")).props("unelevated")
    choice = await window
    window.delete()
    if choice == "add":
        await visit.tablewright.changes.write_values(table.id, {}, added)
        say(f"{len(added):,} {plural('row', len(added))} added.")
    elif choice == "fill" and row_id is not None:
        below = [row.id for row in await visit.tablewright.rows(table.id, after=row_id - 1, limit=len(lines))]
        values, more = as_values(table, lines, below, first)
        await visit.tablewright.changes.write_values(table.id, values, more)
        extra = f", {len(more):,} {plural('row', len(more))} added" if more else ""
        say(f"{len(values):,} {plural('cell', len(values))} written{extra}.")


async def ask_row(visit: Visit, table: Table) -> bool:
    """A new row, typed in; whether one was added."""
    fields = [field for field in columns_from(table, None) if not field.is_asked]
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
                await visit.tablewright.changes.write_values(table.id, {}, [row])
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
