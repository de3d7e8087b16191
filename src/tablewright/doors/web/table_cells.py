"""The cells of a selected range: copied, filled down, cleared, pasted over; rows added and removed."""

from __future__ import annotations

import asyncio
import csv
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nicegui import app as pages
from nicegui import ui

from tablewright.domain.edits import RemoveRow
from tablewright.domain.history import Change
from tablewright.domain.model import Field, Noun, Row, RowId, Table
from tablewright.domain.text import cell_text, count_noun, shortened
from tablewright.doors.server.context import Visit
from tablewright.doors.web.elements import answer_to, dialog, dialog_buttons, paragraph, quiet
from tablewright.doors.web.frame import say, visit_to_write
from tablewright.doors.web.grid_rows import RowOrders, RowQuery, proposed_cells, replaces, wanted_of
from tablewright.doors.web.words import many, t, type_text
from tablewright.errors import UsageError
from tablewright.formats.tables.markdown import escape_markdown
from tablewright.services import Services

MOST_WRITTEN = 20_000
"""Cells that are written at once."""
MOST_COPIED = 500_000
MOST_COPIED_CHARACTERS = 20_000_000
"""Of a text for the clipboard: browsers take little more, and it is held in memory as a whole."""


class RowRange(Noun, frozen=True):
    """Rows from `first` to `last` as they are shown, or to the end; `rows` counts them at the time of selection."""

    first: RowId | None = None
    last: RowId | None = None
    rows: int = 0


class Picked(Noun, frozen=True, gc=True):
    """The selection as the browser sends it: columns, and rows in the order of `query`."""

    spans: tuple[RowRange, ...] = ()
    fields: tuple[str, ...] = ()
    query: Mapping[str, Any] = {}

    def wanted(self, table_id: str) -> RowQuery:
        return wanted_of(table_id, self.query)


def orders() -> RowOrders:
    found: RowOrders = pages.state.server.state.page_rows
    return found


async def rows_of(services: Services, table_id: str, picked: Picked) -> list[RowId]:
    """Return all rows of the selection, including those the browser has not loaded."""
    order = await orders().order(services, picked.wanted(table_id))
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
    return list(dict.fromkeys(found))


async def rows_from(services: Services, table_id: str, picked: Picked, count: int) -> list[RowId]:
    """Return up to `count` rows from the first selected one on."""
    if not picked.spans:
        return []
    from_there = Picked(spans=(RowRange(first=picked.spans[-1].first),), query=picked.query)
    return (await rows_of(services, table_id, from_there))[:count]


async def text_of(services: Services, table: Table, picked: Picked) -> str:
    """Return the shown cells separated by tabs, as spreadsheets take them."""
    texts = await picked_texts(services, table, picked)
    return "\n".join("\t".join(quoted(text) for text in line) for line in texts)


async def markdown_of(services: Services, table: Table, picked: Picked) -> str:
    """Return the shown cells as a Markdown table with its columns' names."""
    figures = {field.name for field in table.fields if field.type in ("number", "money")}
    rule = ["---:" if name in figures else "---" for name in picked.fields]
    texts = [picked.fields, *await picked_texts(services, table, picked)]
    first, *lines = [" | ".join(escape_markdown(text) for text in line) for line in texts]
    return "\n".join(f"| {line} |" for line in (first, " | ".join(rule), *lines)) + "\n"


async def picked_texts(services: Services, table: Table, picked: Picked) -> list[list[str]]:
    row_ids = await rows_of(services, table.id, picked)
    if len(row_ids) * len(picked.fields) > MOST_COPIED:
        raise UsageError(
            t("That is more than {most_copied} cells.", most_copied=MOST_COPIED), advice=t("Export the table instead.")
        )
    return await shown_texts(services, table, picked.wanted(table.id).proposals, row_ids, picked.fields)


async def shown_texts(
    services: Services, table: Table, proposals: Sequence[str], row_ids: Sequence[RowId], fields: Sequence[str]
) -> list[list[str]]:
    proposed = await proposed_cells(services, proposals, row_ids)

    def text(row: Row, name: str) -> str:
        own, other = row.cell(name), proposed.get(row.id, {}).get(name)
        return cell_text(other if other and replaces(other, own) else own)

    texts: list[list[str]] = []
    size = 0
    async for rows in services.store.tables.windows_of(table.id, row_ids):
        lines = await asyncio.to_thread(lambda some: [[text(row, name) for name in fields] for row in some], rows)
        size += sum(len(each) for line in lines for each in line)
        if size > MOST_COPIED_CHARACTERS:
            raise UsageError(
                t("That is more than {most_copied} characters.", most_copied=MOST_COPIED_CHARACTERS),
                advice=t("Export the table instead."),
            )
        texts += lines
    return texts


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in '\t\n\r"') else text


def own_fields(table: Table, picked: Picked) -> list[str]:
    """Return the selected columns that the table has, without proposed ones."""
    found = [name for name in picked.fields if table.field(name)]
    if not found:
        raise UsageError(t("These columns are only proposed."), advice=t("Accept them before you edit their cells."))
    return found


def refuse_many(cells: int) -> None:
    if cells > MOST_WRITTEN:
        raise UsageError(
            t(
                "That is {cells} cells. At most {most_written} can be changed at once.",
                cells=cells,
                most_written=MOST_WRITTEN,
            ),
            kept=t("Nothing was changed."),
        )


async def clear(visit: Visit, table: Table, picked: Picked) -> tuple[Change | None, str]:
    row_ids, names = await rows_of(visit.services, table.id, picked), own_fields(table, picked)
    refuse_many(len(row_ids) * len(names))
    values = {(row_id, name): "" for row_id in row_ids for name in names}
    change = await visit.services.changes.write_values(table.id, values)
    return change, t("{count} cell cleared.|{count} cells cleared.", count=len(values))


async def fill_down(visit: Visit, table: Table, picked: Picked) -> tuple[Change | None, str]:
    """Write the cells of the first selected row into the others."""
    row_ids, names = await rows_of(visit.services, table.id, picked), own_fields(table, picked)
    if len(row_ids) < 2:
        raise UsageError(t("Nothing to fill."), advice=t("Select the cell to copy and the cells below it."))
    refuse_many(len(row_ids) * len(names))
    proposals = picked.wanted(table.id).proposals
    (first,) = await shown_texts(visit.services, table, proposals, row_ids[:1], names)
    values = {(row_id, name): text for row_id in row_ids[1:] for name, text in zip(names, first, strict=True)}
    change = await visit.services.changes.write_values(table.id, values)
    return change, t("{count} cell filled.|{count} cells filled.", count=len(values))


async def delete_rows(visit: Visit, table: Table, picked: Picked) -> tuple[Change | None, str]:
    row_ids = await rows_of(visit.services, table.id, picked)
    said = f"{count_noun(len(row_ids), 'row')}"
    edits = [RemoveRow(row_id=row_id) for row_id in row_ids]
    return await visit.services.changes.edit(table.id, edits, f"deleted {said}"), t(
        "{count} row deleted.|{count} rows deleted.", count=len(row_ids)
    )


CHANGES: dict[str, Callable[..., Any]] = {
    "grid_clear": clear,
    "grid_fill_down": fill_down,
    "grid_delete_rows": delete_rows,
}
"""By what the browser calls it."""


# ── pasting ───────────────────────────────────────────────────────────────────────────────────────────────────────────


PREVIEW = 4


class Pasted(Picked, frozen=True, gc=True):
    """A pasted text and the selection. `fields` are all columns from the first selected one on, `width` counts the
    selected ones."""

    text: str = ""
    width: int = 1
    is_too_long: bool = False
    lines: int = 0
    """Of a text that is too long to be sent."""


class PasteTarget(Noun, frozen=True):
    """The columns for the cells of a line. With `names`, the first line names them and is no row."""

    fields: tuple[Field | None, ...]
    names: bool = False
    left_out: int = 0
    """Columns at the right of the block beyond those of the table."""


def cells_of(content: str) -> list[list[str]]:
    """Split a block as spreadsheets copy it: tabs between cells, quotes around cells with tabs or line breaks."""
    plain = io.StringIO(content.replace("\r\n", "\n").replace("\r", "\n"), newline="")
    try:
        lines = list(csv.reader(plain, delimiter="\t"))
    except csv.Error as error:
        raise UsageError(
            t("The pasted text cannot be read: {error}.", error=error), kept=t("Nothing was pasted.")
        ) from None
    while lines and not any(cell.strip() for cell in lines[-1]):
        lines.pop()
    if sum(len(line) for line in lines) > MOST_WRITTEN:
        raise UsageError(
            t("That is more than {most} cells.", most=MOST_WRITTEN), advice=t("Import it as a file instead.")
        )
    return lines


def fit_columns(table: Table, lines: Sequence[Sequence[str]], shown: Sequence[str]) -> PasteTarget:
    """Match pasted cells to columns: by a first line that names them, or in the order shown."""
    first = [name for name in lines[0] if name.strip()]
    if len(lines) > 1 and first and all(table.field(name) for name in first):
        return PasteTarget(fields=tuple(table.field(name) for name in lines[0]), names=True)
    width = max(len(line) for line in lines)
    known = {field.name: field for field in table.shown_fields}
    for name in shown[:width]:
        if name not in known:
            raise UsageError(
                t("The table has no column {name} yet, so nothing can be pasted into it.", name=shortened(name, 60)),
                kept=t("Nothing was pasted."),
                advice=t("Accept its proposed values first, or start in another column."),
            )
    return PasteTarget(fields=tuple(known[name] for name in shown[:width]), left_out=max(0, width - len(shown)))


def as_rows(fit: PasteTarget, lines: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """Return the lines as new rows."""
    return [
        {field.name: cell for field, cell in zip(fit.fields, line, strict=False) if field and cell.strip()}
        for line in lines[fit.names :]
    ]


def as_values(
    fit: PasteTarget, lines: Sequence[Sequence[str]], row_ids: Sequence[RowId]
) -> tuple[dict[tuple[RowId, str], str], list[dict[str, str]]]:
    """Return values for existing rows, and the rest as new rows."""
    values = {
        (row_id, field.name): cell
        for row_id, line in zip(row_ids, lines, strict=False)
        for field, cell in zip(fit.fields, line, strict=False)
        if field
    }
    return values, as_rows(fit, lines[len(row_ids) :])


def repeated(lines: list[list[str]], pasted: Pasted) -> list[list[str]]:
    """Repeat a block that fits several times into the selection, as spreadsheets do."""
    rows = pasted.spans[-1].rows if len(pasted.spans) == 1 else 1
    width = max(len(line) for line in lines)
    down = rows // len(lines) if rows % len(lines) == 0 else 1
    across = pasted.width // width if pasted.width % width == 0 else 1
    if len(lines) * down * width * across > MOST_WRITTEN:
        return lines
    return [[*line, *[""] * (width - len(line))] * across if across > 1 else line for line in lines * max(1, down)]


async def paste_cells(table_id: str, pasted: Pasted) -> Change | None:
    """Write a block from the first selected cell on and return the change. Ask only if the place is unclear."""
    visit = await visit_to_write(table_id)
    if pasted.is_too_long:
        raise UsageError(
            t("{lines} lines are too much to paste at once.", lines=f"{pasted.lines:,}"),
            kept=t("Nothing was pasted."),
            advice=t("Import them as a new table: Tables, then Paste a list, which takes any length, or a file."),
        )
    lines = cells_of(pasted.text)
    if not lines:
        return None
    table = await visit.services.table(table_id)
    fit = fit_columns(table, lines, pasted.fields)
    if pasted.spans and not fit.names:
        lines = repeated(lines, pasted)
        fit = fit_columns(table, lines, pasted.fields)
    below = [] if fit.names else await rows_from(visit.services, table.id, pasted, len(lines))
    choice = "fill" if below and not fit.left_out else await ask_where_to_paste(fit, lines, below)
    if not choice:
        return None
    values, more = as_values(fit, lines, below) if choice == "fill" else ({}, as_rows(fit, lines))
    change = await (await visit_to_write(table.id)).services.changes.write_values(table.id, values, more)
    done = ((len(values), "cell", "written"), (len(more), "row", "added"))
    say(", ".join(f"{count_noun(count, noun)} {did}" for count, noun, did in done if count) + ".")
    return change


async def ask_where_to_paste(fit: PasteTarget, lines: Sequence[Sequence[str]], below: Sequence[RowId]) -> str:
    """Ask where a block goes: "add" rows, "fill" those that are there, or "" for nowhere."""
    count = len(lines)
    with dialog(t("Paste {count} line|Paste {count} lines", count=count)) as window:
        with ui.element("div").classes("tw-quote"):
            for line in lines[:PREVIEW]:
                paragraph(shortened(" | ".join(line), 90), "tw-small")
            if count > PREVIEW:
                quiet(t("… and {value} more", value=count - PREVIEW))
        if fit.left_out:
            left = many(fit.left_out, "column")
            paragraph(
                t("The pasted cells are wider than the table: {left} on the right will be left out.", left=left),
                "tw-small",
            )
        choices = [(t("Add {rows}", rows=many(count - fit.names, "row")), "add")]
        if below and fit.fields and fit.fields[0]:
            begin = t("row {number}, {column}", number=below[0], column=shortened(fit.fields[0].name, 40))
            choices.insert(0, (t("Paste from {begin}", begin=begin), "fill"))
        dialog_buttons(window, *choices)
    return await answer_to(window) or ""


async def ask_row(table: Table) -> Change | None:
    """Ask for a new row, and return the change that adds it, if any."""
    shown = sorted(table.shown_fields, key=lambda field: field.name != table.key_field)
    fields = [field for field in shown if not field.is_asked]
    inputs: dict[str, ui.input] = {}
    with dialog(t("Add a row")) as window:
        for field in fields[:30]:
            label = field.name + (f" ({field.unit or type_text(field)})" if field.type != "text" else "")
            inputs[field.name] = ui.input(label)
        quiet(t("To add many rows, copy them from a spreadsheet, click a cell here and paste."))

        async def add() -> Change | None:
            row = {name: given.value or "" for name, given in inputs.items()}
            if not any(value.strip() for value in row.values()):
                raise UsageError(t("The row is empty."), advice=t("Fill in at least one cell."))
            return await (await visit_to_write(table.id)).services.changes.write_values(table.id, {}, [row])

        dialog_buttons(window, (t("Add"), add))
    change: Change | None = await answer_to(window)
    return change
