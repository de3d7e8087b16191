"""Out of a table: as a file or on the clipboard, all rows or those that are shown, and always said which."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from nicegui import ui

from tablewright.domain.model import RowId
from tablewright.doors.web import table_cells
from tablewright.doors.web.elements import brief_button, outside, paragraph
from tablewright.doors.web.frame import say, tell, visit_now
from tablewright.doors.web.table_cells import Picked, RowRange, markdown_of
from tablewright.doors.web.table_columns import visit_to_write
from tablewright.doors.web.words import all_rows, many, t
from tablewright.errors import TablewrightError
from tablewright.messages.catalogue import PageText

if TYPE_CHECKING:
    from tablewright.doors.web.table_page import OpenTable

FORMATS: PageText[tuple[tuple[str, dict[str, str]], ...]] = (
    ("CSV", {"format": "csv"}),
    ("CSV with evidence", {"format": "csv", "evidence": "true"}),
    ("Excel with evidence", {"format": "xlsx"}),
    ("JSON", {"format": "json"}),
)


class ExportMenu:
    def __init__(self, page: OpenTable) -> None:
        self._page = page

    def build(self) -> None:
        with brief_button(t("Export"), "download"):
            self._menu = ui.menu().on("before-show", self._fill)

    @property
    def _query(self) -> dict[str, str]:
        """Which rows are shown, in which order."""
        view, query = self._page.views.view, self._page.grid.query()
        return {**query, "sort": view.sort, "descending": str(view.descending).lower()}

    async def _fill(self) -> None:
        services = (await visit_now()).services
        total, wanted = await services.count(self._page.table.id), self._page.grid.wanted
        self._menu.clear()
        with self._menu:
            if wanted.is_filtered:
                shown = len(await table_cells.orders().order(services, wanted))
                self._offer(t("{count} row shown|{count} rows shown", count=shown), shown=True)
                ui.separator()
            self._offer(all_rows(total), shown=False)

    def _offer(self, rows: str, *, shown: bool) -> None:
        ui.item_label(rows).props("header").classes("tw-menu-head")
        for label, query in FORMATS:
            ui.menu_item(t(label), on_click=partial(self._download, query, rows, shown=shown))
        ui.menu_item(t("Copy as Markdown"), on_click=partial(self._copy, rows, shown=shown))
        if self._page.may_change:
            ui.menu_item(t("Google Sheets…"), on_click=partial(self._send, rows, shown=shown))

    def _download(self, query: dict[str, str], rows: str, *, shown: bool) -> None:
        query = {**self._query, "shown": "true", **query} if shown else query
        ui.navigate.to(f"/page-data/tables/{self._page.table.id}/file?{urlencode(query)}")
        self._announce(t("Exporting: {rows}.", rows=rows))

    def _announce(self, words: str) -> None:
        say(f"{words} {self._waiting}".strip())

    @property
    def _waiting(self) -> str:
        """What is only proposed is in no file."""
        return t("Values waiting for review are not included.") if self._page.proposals.heads else ""

    async def _send(self, rows: str, *, shown: bool) -> None:
        services = (await visit_now()).services
        row_ids = list(await table_cells.orders().order(services, self._page.grid.wanted)) if shown else None
        await dialog(self._page.table.id, rows, row_ids, self._waiting)

    async def _copy(self, rows: str, *, shown: bool) -> None:
        visit = await visit_now()
        table = await visit.table(self._page.table.id)
        names = tuple(field.name for field in table.shown_fields)
        picked = Picked(spans=(RowRange(),), fields=names, query=self._query if shown else {})
        ui.clipboard.write(await markdown_of(visit.services, table, picked))
        self._announce(t("Copied as Markdown: {rows}.", rows=rows))


# ── Google Sheets ───────────────────────────────────────────────────────────────────────────────────────────────────
# A table to Google Sheets: into a spreadsheet whose link is given, or into a new one for an address.


LONGEST = 500


async def dialog(table_id: str, rows: str, row_ids: Sequence[RowId] | None, waiting: str) -> None:
    """`rows` says which, `waiting` what is not among them."""
    account = (await visit_to_write(table_id)).services.sheets_account()
    with ui.dialog().props("persistent") as window, ui.card().classes("tw-dialog"):
        paragraph(t("Export to Google Sheets"), "tw-h2")
        paragraph(" ".join(filter(None, (f"{rows}.", waiting))), "tw-muted")
        to = ui.input(t("Link to a spreadsheet, or your Google address for a new one"))
        to.props(f"outlined dense autofocus maxlength={LONGEST}").classes("w-full")
        paragraph(
            t(
                "Share the spreadsheet with {account} as an editor first. What is in it stays as it is.",
                account=account,
            ),
            "tw-muted tw-small",
        )
        result = ui.element("div").props("role=status")

        async def send() -> None:
            sending.props("loading")
            sending.disable()
            try:
                visit = await visit_to_write(table_id)
                sent = await visit.services.send_to_sheets(table_id, to.value or "", row_ids=row_ids)
            except TablewrightError as error:
                tell(error)
                return
            finally:
                sending.props(remove="loading")
                sending.enable()
            result.clear()
            with result:
                paragraph(t("Wrote {rows} to “{sheet}”.", rows=many(sent.rows, "row"), sheet=sent.sheets[0]))
                outside(t("Open the spreadsheet"), sent.link)

        with ui.element("div").classes("tw-row tw-end"):
            ui.button(t("Close"), on_click=lambda: window.submit(None)).props("flat")
            sending = ui.button(t("Export"), on_click=send).props("unelevated")
        to.on("keydown.enter", send)
    await window
    window.delete()
