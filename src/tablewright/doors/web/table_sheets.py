"""A table to Google Sheets: into a spreadsheet whose link is given, or into a new one for an address."""

from __future__ import annotations

from collections.abc import Sequence

from nicegui import ui

from tablewright.domain.model import RowId
from tablewright.doors.web.frame import outside_link, tell, text
from tablewright.doors.web.table_edit import visit_to_write
from tablewright.doors.web.words import many, t
from tablewright.errors import TablewrightError

LONGEST = 500


async def dialog(table_id: str, rows: str, row_ids: Sequence[RowId] | None, waiting: str) -> None:
    """`rows` says which, `waiting` what is not among them."""
    account = (await visit_to_write(table_id)).tablewright.sheets_account()
    with ui.dialog().props("persistent") as window, ui.card().classes("tw-dialog"):
        text(t("Export to Google Sheets"), "tw-h2")
        text(" ".join(filter(None, (f"{rows}.", waiting))), "tw-muted")
        to = ui.input(t("Link to a spreadsheet, or your Google address for a new one"))
        to.props(f"outlined dense autofocus maxlength={LONGEST}").classes("w-full")
        text(
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
                sent = await visit.tablewright.send_to_sheets(table_id, to.value or "", row_ids=row_ids)
            except TablewrightError as error:
                tell(error)
                return
            finally:
                sending.props(remove="loading")
                sending.enable()
            result.clear()
            with result:
                text(t("Wrote {rows} to “{sheet}”.", rows=many(sent.rows, "row"), sheet=sent.sheets[0]))
                outside_link(sent.link, t("Open the spreadsheet"))

        with ui.element("div").classes("tw-row tw-end"):
            ui.button(t("Close"), on_click=lambda: window.submit(None)).props("flat")
            sending = ui.button(t("Export"), on_click=send).props("unelevated")
        to.on("keydown.enter", send)
    await window
    window.delete()
