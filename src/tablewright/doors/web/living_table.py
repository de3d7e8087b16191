"""A table that is looked at while it fills: a cell changes where it stands, nothing else moves."""

from __future__ import annotations

from functools import partial

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from tablewright.doors.web.citations import open_cell
from tablewright.doors.web.frame import heading, visit, visit_now
from tablewright.doors.web.live import download
from tablewright.doors.web.plain import icon_button, inline, many, quiet, row, safe, said
from tablewright.table.model import Cell, Row, RowId, Table
from tablewright.table.text import cell_text, shortened

MOST_ROWS = 60
LOOKS = ("tw-high", "tw-medium", "tw-low", "tw-failed", "tw-flagged")


class LivingTable:
    """`id` is empty as long as there is none."""

    def __init__(self, id: str) -> None:
        self.id = id
        self._shape: tuple[object, ...] = ()
        self._cells: dict[tuple[RowId, str], TextElement] = {}
        self._shown: dict[tuple[RowId, str], Cell] = {}

    async def show(self) -> None:
        self._box = ui.element("div").classes("tw-column")
        with self._box:
            heading("The table", level=2)
            quiet("Candidates appear here as soon as they are found, each value with its source.")
        await self.update()

    async def update(self) -> None:
        if not self.id:
            return
        tablewright = visit().tablewright
        table = await tablewright.table(self.id)
        rows = await tablewright.page(table.id, limit=MOST_ROWS)
        shape = (table.fields, tuple(each.id for each in rows))
        if shape != self._shape:
            count = await tablewright.count(table.id)
            self._shape = shape
            self._box.clear()
            with self._box:
                self._build(table, list(rows), count)
        for each in rows:
            for field in table.shown_fields:
                self._fill(each.id, field.name, each.cell(field.name))

    def _build(self, table: Table, rows: list[Row], count: int) -> None:
        self._cells, self._shown = {}, {}
        fields = sorted(table.shown_fields, key=lambda field: (field.name != table.key_field, field.type == "url"))
        with row():
            heading(safe(table.name, 80)).classes("tw-grow")
            quiet(many(count, "row"))
            ui.link("Open the table", f"/tables/{table.id}")
            icon_button("download", "Download all as CSV", partial(save, table.id))
        box = ui.element("div").classes("tw-scroll tw-living").props('tabindex=0 role=region aria-label="Candidates"')
        with box, ui.element("table").classes("tw-grid"):
            with ui.element("thead"), ui.element("tr"):
                for field in fields:
                    inline(f"{field.name} ({field.unit})" if field.unit else field.name, "th").props("scope=col")
            with ui.element("tbody"):
                for each in rows:
                    with ui.element("tr"):
                        for field in fields:
                            self._place(table.id, each.id, field.name)
        if count > len(rows):
            said(f"The first {len(rows)} of {count:,}.")

    def _place(self, table_id: str, row_id: RowId, field: str) -> None:
        with ui.element("td"):
            cell = inline("", "button").classes("tw-datum").props("type=button")
            cell.on("click", partial(open_cell, table_id, row_id, field))
            self._cells[row_id, field] = cell

    def _fill(self, row_id: RowId, field: str, cell: Cell) -> None:
        known = self._cells.get((row_id, field))
        if known is None or self._shown.get((row_id, field)) == cell:
            return
        self._shown[row_id, field] = cell
        known.set_text(safe(short(text_of(cell))))
        known.classes(remove=" ".join(LOOKS), add=look_of(cell))


async def save(table_id: str) -> None:
    now = await visit_now()
    table = await now.table(table_id)
    await download(lambda path: now.tablewright.export_file(table.id, path), "shortlist.csv")


def text_of(cell: Cell) -> str:
    if cell.status == "PENDING":
        return "…"
    if cell.status == "FAILED":
        return (cell.reason or "failed").replace("_", " ")
    return cell_text(cell)


def short(text: str) -> str:
    """In few lines; of an address the part that tells it from others."""
    scheme, there, address = text.partition("://")
    if there and scheme in ("http", "https"):
        return shortened(address.removeprefix("www."), 28)
    return shortened(text, 60)


def look_of(cell: Cell) -> str:
    if cell.status == "FLAGGED":
        return "tw-flagged"
    if cell.status in ("PENDING", "FAILED") or cell.is_given:
        return ""
    return f"tw-{cell.confidence_label}"
