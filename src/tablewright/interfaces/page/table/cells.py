"""Actions on a selected range of cells: copy, fill down, clear, paste, delete rows; and adding a row."""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from nicegui import app as pages
from nicegui import ui

from tablewright.domain.edits import RemoveRow
from tablewright.domain.history import Change
from tablewright.domain.model import Field, Row, RowId, Struct, Table
from tablewright.domain.text import cell_text, count_noun, shorten_text
from tablewright.errors import UsageError
from tablewright.formats.tables.markdown import escape_markdown
from tablewright.interfaces.page.elements import (
    build_dialog,
    dialog_buttons,
    show_paragraph,
    show_remark,
    wait_for_answer,
)
from tablewright.interfaces.page.frame import show_notice, visit_now
from tablewright.interfaces.page.table.rows import GRID_LIMITS, RowOrders, parse_row_query
from tablewright.interfaces.page.words import counted_text, t, type_text
from tablewright.operations.grid_rows import RowQuery, proposed_cells_by_row, replaces_cell
from tablewright.services import Services


class RowRange(Struct, frozen=True):
    """Rows from `first` to `last` as they are shown, or to the end; `rows` counts them at the time of selection."""

    first: RowId | None = None
    last: RowId | None = None
    rows: int = 0


class CellSelection(Struct, frozen=True, gc=True):
    """The selection as the browser sends it: columns, and rows in the order of `query`."""

    spans: tuple[RowRange, ...] = ()
    fields: tuple[str, ...] = ()
    query: Mapping[str, Any] = {}

    def wanted(self, table_id: str) -> RowQuery:
        return parse_row_query(table_id, self.query)


def row_orders() -> RowOrders:
    found: RowOrders = pages.state.server.state.page_rows
    return found


async def selected_row_ids(services: Services, table_id: str, picked: CellSelection) -> list[RowId]:
    """Return all rows of the selection, including those the browser has not loaded."""
    order = await row_orders().order(services, picked.wanted(table_id))
    found: list[RowId] = []
    for span in picked.spans:
        try:
            first = 0 if span.first is None else order.index(span.first)
            last = len(order) - 1 if span.last is None else order.index(span.last)
        except ValueError:
            raise UsageError(
                t("The rows have changed since they were selected."),
                kept=t("Nothing was changed."),
                advice=t("Select them again."),
            ) from None
        found += order[first : last + 1]
    # Ranges can overlap; each row counts once.
    return list(dict.fromkeys(found))


async def selection_as_text(services: Services, table: Table, picked: CellSelection) -> str:
    """Return the shown cells separated by tabs, as spreadsheets take them."""
    texts = await selected_texts(services, table, picked)
    return "\n".join("\t".join(quote_spreadsheet_cell(text) for text in line) for line in texts)


async def selection_as_markdown(services: Services, table: Table, picked: CellSelection) -> str:
    """Return the shown cells as a Markdown table with its columns' names."""
    figures = {field.name for field in table.fields if field.type in ("number", "money")}
    rule = ["---:" if name in figures else "---" for name in picked.fields]
    texts = [picked.fields, *await selected_texts(services, table, picked)]
    first, *lines = [" | ".join(escape_markdown(text) for text in line) for line in texts]
    return "\n".join(f"| {line} |" for line in (first, " | ".join(rule), *lines)) + "\n"


async def selected_texts(services: Services, table: Table, picked: CellSelection) -> list[list[str]]:
    row_ids = await selected_row_ids(services, table.id, picked)
    if len(row_ids) * len(picked.fields) > GRID_LIMITS.copied_cells:
        raise UsageError(
            t("That is more than {most_copied} cells.", most_copied=GRID_LIMITS.copied_cells),
            advice=t("Export the table instead."),
        )
    return await displayed_texts(services, table, picked.wanted(table.id).proposals, row_ids, picked.fields)


async def displayed_texts(
    services: Services, table: Table, proposals: Sequence[str], row_ids: Sequence[RowId], fields: Sequence[str]
) -> list[list[str]]:
    proposed = await proposed_cells_by_row(services, proposals, row_ids)

    def text(row: Row, name: str) -> str:
        own, other = row.cell(name), proposed.get(row.id, {}).get(name)
        return cell_text(other if other and replaces_cell(other, own) else own)

    texts: list[list[str]] = []
    size = 0
    async for rows in services.store.tables.windows_of(table.id, row_ids):
        # Formatting thousands of cells would hold up the event loop.
        lines = await asyncio.to_thread(lambda some: [[text(row, name) for name in fields] for row in some], rows)
        size += sum(len(each) for line in lines for each in line)
        if size > GRID_LIMITS.copied_characters:
            raise UsageError(
                t("That is more than {most_copied} characters.", most_copied=GRID_LIMITS.copied_characters),
                advice=t("Export the table instead."),
            )
        texts += lines
    return texts


def quote_spreadsheet_cell(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in '\t\n\r"') else text


def selected_table_columns(table: Table, picked: CellSelection) -> list[str]:
    """Return the selected columns that the table has, without proposed ones."""
    found = [name for name in picked.fields if table.field(name)]
    if not found:
        raise UsageError(t("These columns are only proposed."), advice=t("Accept them before you edit their cells."))
    return found


async def change_selection(
    act: Literal["clear", "fill_down", "delete_rows"], services: Services, table: Table, picked: CellSelection
) -> tuple[Change | None, str]:
    """Empty the selected cells, write those of the first selected row into the others, or delete the rows. Return the
    change, and what was done in words."""
    row_ids = await selected_row_ids(services, table.id, picked)
    if act == "delete_rows":
        edits = [RemoveRow(row_id=row_id) for row_id in row_ids]
        change = await services.changes.edit(table.id, edits, f"deleted {count_noun(len(row_ids), 'row')}")
        return change, t("{count} row deleted.|{count} rows deleted.", count=len(row_ids))
    names = selected_table_columns(table, picked)
    texts = [""] * len(names)
    if len(row_ids) * len(names) > GRID_LIMITS.written_cells:
        counts = {"cells": len(row_ids) * len(names), "most_written": GRID_LIMITS.written_cells}
        too_many = t("That is {cells} cells. At most {most_written} can be changed at once.", **counts)
        raise UsageError(too_many, kept=t("Nothing was changed."))
    if act == "fill_down":
        if len(row_ids) < 2:
            raise UsageError(t("Nothing to fill."), advice=t("Select the cell to copy and the cells below it."))
        proposals = picked.wanted(table.id).proposals
        (texts,) = await displayed_texts(services, table, proposals, row_ids[:1], names)
        del row_ids[0]
    values = {(row_id, name): text for row_id in row_ids for name, text in zip(names, texts, strict=True)}
    change, count = await services.changes.write_values(table.id, values), len(values)
    cleared = t("{count} cell cleared.|{count} cells cleared.", count=count)
    return change, cleared if act == "clear" else t("{count} cell filled.|{count} cells filled.", count=count)


# ── pasting ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class PastedBlock(CellSelection, frozen=True, gc=True):
    """A pasted text and the selection. `fields` are all columns from the first selected one on, `width` counts the
    selected ones."""

    text: str = ""
    width: int = 1
    is_too_long: bool = False
    lines: int = 0
    """Number of lines of a text that is too long to be sent."""


class PasteTarget(Struct, frozen=True):
    """The columns for the cells of a line. With `names`, the first line names them and is no row."""

    fields: tuple[Field | None, ...]
    names: bool = False
    left_out: int = 0
    """Columns at the right of the block beyond those of the table."""


def parse_pasted_cells(content: str) -> list[list[str]]:
    """Split a block as spreadsheets copy it: tabs between cells, quotes around cells with tabs or line breaks."""
    plain = io.StringIO(content.replace("\r\n", "\n").replace("\r", "\n"), newline="")
    try:
        # The csv module knows the quotes that spreadsheets put around cells with line breaks.
        lines = list(csv.reader(plain, delimiter="\t"))
    except csv.Error as error:
        raise UsageError(
            t("The pasted text cannot be read: {error}.", error=error), kept=t("Nothing was pasted.")
        ) from None
    # Spreadsheets end a copied block with an empty line.
    while lines and not any(cell.strip() for cell in lines[-1]):
        lines.pop()
    if sum(len(line) for line in lines) > GRID_LIMITS.written_cells:
        raise UsageError(
            t("That is more than {most} cells.", most=GRID_LIMITS.written_cells),
            advice=t("Import it as a file instead."),
        )
    return lines


def match_pasted_columns(table: Table, lines: Sequence[Sequence[str]], shown: Sequence[str]) -> PasteTarget:
    """Match pasted cells to columns: by a first line that names them, or in the order shown."""
    first = [name for name in lines[0] if name.strip()]
    if len(lines) > 1 and first and all(table.field(name) for name in first):
        return PasteTarget(fields=tuple(table.field(name) for name in lines[0]), names=True)
    width = max(len(line) for line in lines)
    known = {field.name: field for field in table.shown_fields}
    for name in shown[:width]:
        if name not in known:
            raise UsageError(
                t("The table has no column {name} yet, so nothing can be pasted into it.", name=shorten_text(name, 60)),
                kept=t("Nothing was pasted."),
                advice=t("Accept its proposed values first, or start in another column."),
            )
    return PasteTarget(fields=tuple(known[name] for name in shown[:width]), left_out=max(0, width - len(shown)))


def pasted_as_rows(fit: PasteTarget, lines: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """Return the lines as new rows."""
    return [
        {field.name: cell for field, cell in zip(fit.fields, line, strict=False) if field and cell.strip()}
        for line in lines[fit.names :]
    ]


def pasted_as_values(
    fit: PasteTarget, lines: Sequence[Sequence[str]], row_ids: Sequence[RowId]
) -> tuple[dict[tuple[RowId, str], str], list[dict[str, str]]]:
    """Return values for existing rows, and the rest as new rows."""
    values = {
        (row_id, field.name): cell
        for row_id, line in zip(row_ids, lines, strict=False)
        for field, cell in zip(fit.fields, line, strict=False)
        if field
    }
    return values, pasted_as_rows(fit, lines[len(row_ids) :])


def repeat_block(lines: list[list[str]], pasted: PastedBlock) -> list[list[str]]:
    """Repeat a block that fits several times into the selection, as spreadsheets do."""
    rows = pasted.spans[-1].rows if len(pasted.spans) == 1 else 1
    width = max(len(line) for line in lines)
    # As in spreadsheets: only whole repetitions.
    down = rows // len(lines) if rows % len(lines) == 0 else 1
    across = pasted.width // width if pasted.width % width == 0 else 1
    if len(lines) * down * width * across > GRID_LIMITS.written_cells:
        return lines
    return [[*line, *[""] * (width - len(line))] * across if across > 1 else line for line in lines * max(1, down)]


async def paste_cells(table_id: str, pasted: PastedBlock) -> Change | None:
    """Write a block from the first selected cell on and return the change. Ask only if the place is unclear."""
    visit = await visit_now("write", table_id)
    if pasted.is_too_long:
        raise UsageError(
            t("{lines} lines are too much to paste at once.", lines=f"{pasted.lines:,}"),
            kept=t("Nothing was pasted."),
            advice=t("Import them as a new table: Tables, then Paste a list, which takes any length, or a file."),
        )
    lines = parse_pasted_cells(pasted.text)
    if not lines:
        return None
    table = await visit.services.table(table_id)
    fit = match_pasted_columns(table, lines, pasted.fields)
    if pasted.spans and not fit.names:
        lines = repeat_block(lines, pasted)
        fit = match_pasted_columns(table, lines, pasted.fields)
    below: list[RowId] = []
    if pasted.spans and not fit.names:
        # The last range is the one that the person has just made; the block covers the rows from its first one on.
        from_there = CellSelection(spans=(RowRange(first=pasted.spans[-1].first),), query=pasted.query)
        below = (await selected_row_ids(visit.services, table.id, from_there))[: len(lines)]
    choice = "fill" if below and not fit.left_out else await ask_where_to_paste(fit, lines, below)
    if not choice:
        return None
    values, more = pasted_as_values(fit, lines, below) if choice == "fill" else ({}, pasted_as_rows(fit, lines))
    change = await (await visit_now("write", table.id)).services.changes.write_values(table.id, values, more)
    done = ((len(values), "cell", "written"), (len(more), "row", "added"))
    show_notice(", ".join(f"{count_noun(count, noun)} {did}" for count, noun, did in done if count) + ".")
    return change


async def ask_where_to_paste(fit: PasteTarget, lines: Sequence[Sequence[str]], below: Sequence[RowId]) -> str:
    """Ask where a block goes: "add" rows, "fill" those that are there, or "" for nowhere."""
    previewed = 4
    count = len(lines)
    with build_dialog(t("Paste {count} line|Paste {count} lines", count=count)) as window:
        with ui.element("div").classes("tw-quote"):
            for line in lines[:previewed]:
                show_paragraph(shorten_text(" | ".join(line), 90), "tw-small")
            if count > previewed:
                show_remark(t("… and {value} more", value=count - previewed))
        if fit.left_out:
            left = counted_text(fit.left_out, "column")
            show_paragraph(
                t("The pasted cells are wider than the table: {left} on the right will be left out.", left=left),
                "tw-small",
            )
        choices = [(t("Add {rows}", rows=counted_text(count - fit.names, "row")), "add")]
        if below and fit.fields and fit.fields[0]:
            begin = t("row {number}, {column}", number=below[0], column=shorten_text(fit.fields[0].name, 40))
            choices.insert(0, (t("Paste from {begin}", begin=begin), "fill"))
        dialog_buttons(window, *choices)
    return await wait_for_answer(window) or ""


async def ask_new_row(table: Table) -> Change | None:
    """Ask for a new row, and return the change that adds it, if any."""
    shown = sorted(table.shown_fields, key=lambda field: field.name != table.key_field)
    fields = [field for field in shown if not field.is_asked]
    inputs: dict[str, ui.input] = {}
    with build_dialog(t("Add a row")) as window:
        # More inputs than this do not fit into a dialog; the others are filled in the grid.
        for field in fields[:30]:
            label = field.name + (f" ({field.unit or type_text(field)})" if field.type != "text" else "")
            inputs[field.name] = ui.input(label)
        show_remark(t("To add many rows, copy them from a spreadsheet, click a cell here and paste."))

        async def add() -> Change | None:
            row = {name: given.value or "" for name, given in inputs.items()}
            if not any(value.strip() for value in row.values()):
                raise UsageError(t("The row is empty."), advice=t("Fill in at least one cell."))
            return await (await visit_now("write", table.id)).services.changes.write_values(table.id, {}, [row])

        dialog_buttons(window, (t("Add"), add))
    return cast(Change | None, await wait_for_answer(window))
