"""What is done to a table again and again: its sources rechecked, or its columns refreshed, every hour, day or week."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from tablewright.domain.model import Table
from tablewright.doors.web.elements import paragraph, when
from tablewright.doors.web.frame import say, tell
from tablewright.doors.web.table_columns import visit_to_write
from tablewright.doors.web.words import t
from tablewright.errors import TablewrightError
from tablewright.messages.catalogue import PageText

if TYPE_CHECKING:
    from tablewright.doors.server.context import Visit
    from tablewright.services import Schedule

ROUTINES: PageText[dict[str, str]] = {
    "recheck": "Recheck: flag values that their sources no longer state",
    "refresh": "Refresh: recheck, then search again for flagged, empty or stale values",
}
TIMES: PageText[dict[str, str]] = {"hour": "Every hour", "day": "Every day", "week": "Every week"}
CRON = {"0 * * * *": "hour", "0 3 * * *": "day", "0 3 * * 1": "week"}


async def dialog(table: Table, column: str = "") -> None:
    """For all columns that can be looked for, or first for the one whose menu it was opened from."""
    visit = await visit_to_write(table.id)
    visit.must_run()
    known = await visit.services.jobs.schedules(table.id)
    columns = [field.name for field in table.shown_fields if field.is_asked]
    with ui.dialog() as window, ui.card().classes("tw-dialog"):
        paragraph(t("Schedule"), "tw-h2")
        for each in known:
            paragraph(in_words(each), "tw-small")
            if each.paused:
                paragraph(each.paused, "tw-small")
        routine = ui.radio({name: t(label) for name, label in ROUTINES.items()}, value="recheck")
        routine.props["aria-label"] = t("Action")
        every = ui.select({name: t(label) for name, label in TIMES.items()}, value="week", label=t("How often"))
        every.props("outlined dense")
        chosen = ui.select(columns, value=[column] if column else [], multiple=True, label=t("Columns"))
        chosen.props("outlined dense use-chips clearable").props["hint"] = t("Leave empty for all columns")
        paragraph(t("Runs at night (UTC) while the server is up. New values wait for your review."), "tw-muted")

        async def save() -> None:
            try:
                await put(table.id, routine.value, every.value, chosen.value or [])
            except TablewrightError as error:
                tell(error)
                return
            window.submit(True)
            say(t("Scheduled."))

        async def stop() -> None:
            now = await visit_to_write(table.id)
            await now.services.jobs.unschedule(table.id)
            window.submit(True)
            say(t("Nothing is scheduled for this table."))

        with ui.element("div").classes("tw-row tw-end"):
            if known:
                ui.button(t("Remove schedule"), on_click=stop).props("flat color=negative")
            ui.button(t("Cancel"), on_click=lambda: window.submit(False)).props("flat")
            ui.button(t("Save"), on_click=save).props("unelevated")
    await window
    window.delete()


async def put(table_id: str, routine: str, every: str, columns: list[str]) -> None:
    visit: Visit = await visit_to_write(table_id)
    visit.must_run()
    await visit.services.schedule(table_id, routine, every, fields=columns)  # type: ignore[arg-type]


def in_words(schedule: Schedule) -> str:
    """One that is there already."""
    what = t(ROUTINES[schedule.routine]).partition(":")[0]
    of = ", ".join(schedule.spec.get("fields", ())) or t("all columns")
    often = TIMES.get(CRON.get(schedule.cron, ""), "")
    last = when(schedule.last_at) or t("never")
    return f"{what}: {of} · {t(often) if often else schedule.cron} · {t('last run: {when}', when=last)}"
