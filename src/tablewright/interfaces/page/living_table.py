"""The table of a shortlist, which fills while it is shown: cells change in place and nothing else moves."""

from __future__ import annotations

from functools import partial

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from tablewright.domain.model import Cell, Field, Row, RowId, Table
from tablewright.domain.shortlist import PRICE_COLUMN, Ranking
from tablewright.domain.text import cell_text, shorten_text
from tablewright.interfaces.page.elements import (
    display_text,
    flex_row,
    icon_button,
    inline_text,
    show_chip,
    show_paragraph,
    show_remark,
)
from tablewright.interfaces.page.frame import current_visit, show_heading, visit_now
from tablewright.interfaces.page.live import download_file
from tablewright.interfaces.page.table.evidence_panel import open_cell_evidence
from tablewright.interfaces.page.words import reason_text, t
from tablewright.operations.files import export_table_file
from tablewright.operations.grid_rows import cell_sort_key


class LivingTable:
    """The table of a shortlist; `id` is empty before there is one. The rows are in the order of the `ranking` until the
    person sorts them by a column."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.ranking = Ranking()
        self._sort = ""
        self._descending = False
        self._shape: tuple[object, ...] = ()
        self._cells: dict[tuple[RowId, str], TextElement] = {}
        self._shown: dict[tuple[RowId, str], Cell] = {}

    async def show(self) -> None:
        self._box = ui.element("div").classes("tw-column")
        with self._box:
            show_heading(t("The table"), level=2)
            show_remark(t("Candidates appear here as soon as they are found, each value with its source."))
        await self.update()

    async def update(self) -> None:
        if not self.id:
            return
        services = current_visit().services
        table = await services.table(self.id)
        # A shortlist compares a few dozen candidates; the table's own page shows more.
        rows = self._ordered(list(await services.page(table.id, limit=60)))
        shape = (table.fields, tuple(each.id for each in rows), self._sort, self._descending, self.ranking)
        # Rebuilding would move the rows under the pointer, so cells are updated in place while the shape stays.
        if shape != self._shape:
            count = await services.count(table.id)
            self._shape = shape
            self._box.clear()
            with self._box:
                self._build(table, rows, count)
        for each in rows:
            for field in table.shown_fields:
                self._fill(each.id, field.name, each.cell(field.name))

    def _ordered(self, rows: list[Row]) -> list[Row]:
        places = {each.row_id: place for place, each in enumerate(self.ranking.ranked)}
        # Unranked rows come last, in the order of the table.
        rows.sort(key=lambda row: places.get(row.id, len(places)))
        if self._sort:
            filled = [row for row in rows if row.cell(self._sort).value is not None]
            filled.sort(key=self._key, reverse=self._descending)
            rows = [*filled, *(row for row in rows if row.cell(self._sort).value is None)]
        return rows

    def _key(self, row: Row) -> tuple[int, str, float, str]:
        """Return the key to sort by; prices in different currencies by their worth."""
        euros = self.ranking.euros.get(row.id) if self._sort == PRICE_COLUMN else None
        return (0, "", euros, "") if euros is not None else cell_sort_key(row.cell(self._sort))

    async def _sort_by(self, name: str) -> None:
        """Sort up, then down, then by the ranking again."""
        is_up, is_down = ((self._sort, self._descending) == (name, down) for down in (False, True))
        self._sort, self._descending = "" if is_down else name, is_up
        await self.update()

    def _build(self, table: Table, rows: list[Row], count: int) -> None:
        self._cells, self._shown = {}, {}
        # The name first, links last: they are the widest and tell the least.
        fields = sorted(table.shown_fields, key=lambda field: (field.name != table.key_field, field.type == "url"))
        with flex_row():
            show_heading(display_text(table.name, 80)).classes("tw-grow")
            show_remark(t("{count} row|{count} rows", count=count))
            ui.link(t("Open the table"), f"/tables/{table.id}")
            icon_button("download", t("Download all as CSV"), self._download)
        box = ui.element("div").classes("tw-scroll tw-living").props("tabindex=0 role=region")
        box.props["aria-label"] = t("Candidates")
        with box, ui.element("table").classes("tw-grid"):
            with ui.element("thead"), ui.element("tr"):
                if self.ranking.ranked:
                    inline_text(t("Rank"), "th").props("scope=col").style("width: 1%")
                for field in fields:
                    self._head(field)
            with ui.element("tbody"):
                for each in rows:
                    with ui.element("tr"):
                        if self.ranking.ranked:
                            self._rank(each.id)
                        for field in fields:
                            self._place(table.id, each.id, field.name, is_key=field.name == table.key_field)
        if count > len(rows):
            show_paragraph(t("The first {shown} of {count}.", shown=len(rows), count=count))

    async def _download(self) -> None:
        now = await visit_now()
        table = await now.table(self.id)
        await download_file(lambda path: export_table_file(now.services, table.id, path), "shortlist.csv")

    def _head(self, field: Field) -> None:
        order = ("descending" if self._descending else "ascending") if self._sort == field.name else "none"
        sign = {"ascending": " ↑", "descending": " ↓"}.get(order, "")
        with ui.element("th").props(f"scope=col aria-sort={order}"):
            name = f"{field.name} ({field.unit})" if field.unit else field.name
            button = inline_text(f"{name}{sign}", "button").classes("tw-sorter").props("type=button")
            button.on("click", partial(self._sort_by, field.name))

    def _rank(self, row_id: RowId) -> None:
        """Show the place of a row, or that it is excluded; the reason is under its name."""
        places = {each.row_id: place for place, each in enumerate(self.ranking.ranked, 1)}
        with ui.element("td"):
            if row_id in places:
                inline_text(str(places[row_id])).classes("tw-strong")
            elif self._why_excluded(row_id):
                show_chip(t("excluded"), "failed")

    def _why_excluded(self, row_id: RowId) -> str:
        return next((each.reason for each in self.ranking.excluded if each.row_id == row_id), "")

    def _place(self, table_id: str, row_id: RowId, field: str, *, is_key: bool) -> None:
        with ui.element("td"):
            cell = inline_text("", "button").classes("tw-datum").props("type=button")
            cell.on("click", partial(open_cell_evidence, table_id, row_id, field))
            self._cells[row_id, field] = cell
            if is_key and (why := self._why_excluded(row_id)):
                show_remark(shorten_text(why, 120))

    def _fill(self, row_id: RowId, field: str, cell: Cell) -> None:
        known = self._cells.get((row_id, field))
        # Only changed cells are sent to the browser.
        if known is None or self._shown.get((row_id, field)) == cell:
            return
        self._shown[row_id, field] = cell
        look = ""
        if cell.status == "FLAGGED":
            look = "tw-flagged"
        elif cell.status == "ENRICHED" and not cell.is_given:
            look = f"tw-{cell.confidence_label}"
        known.set_text(display_text(living_cell_text(cell)))
        known.classes(remove="tw-high tw-medium tw-low tw-flagged", add=look)


def living_cell_text(cell: Cell) -> str:
    """Return a short text; of a web address the part that tells it apart."""
    if cell.status == "PENDING":
        return "…"
    text = reason_text(cell.reason) if cell.status == "FAILED" else cell_text(cell)
    scheme, there, address = text.partition("://")
    if there and scheme in ("http", "https"):
        return shorten_text(address.removeprefix("www."), 28)
    return shorten_text(text, 60)
