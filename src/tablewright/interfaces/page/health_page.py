"""The health page: what is configured and reachable, the workers and the schedules. It shows no secrets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from nicegui import ui

from tablewright.domain.health import Check
from tablewright.interfaces.page.elements import (
    GridContent,
    flex_row,
    format_page_time,
    page_card,
    page_link,
    show_chip,
    show_paragraph,
    show_remark,
    show_table_grid,
    titled_card,
    titled_page,
)
from tablewright.interfaces.page.frame import show_heading, visit_now
from tablewright.interfaces.page.words import t
from tablewright.operations.health import RunDoctor, run_doctor
from tablewright.operations.operation import NoInput
from tablewright.operations.schedules import ListSchedules, list_schedules
from tablewright.operations.settings import list_settings


@ui.page("/status", title="Health · Tablewright")
async def health_page() -> None:
    seen = await visit_now()
    found: list[Check] = []
    checks, workers = ui.refreshable(show_checks), ui.refreshable(show_workers)
    schedules = ui.refreshable(show_schedules)

    async def look(*, ask: bool = False) -> None:
        """Run the checks once the page is shown, because they can take a while. The model and a paid search are
        only asked when the button is pressed."""
        if seen.person.may_administer:
            button.disable()
            found.clear()
            checks.refresh()
            try:
                found[:] = (await run_doctor(seen.services, RunDoctor(ask=ask))).checks
            finally:
                button.enable()
            checks.refresh()
        await workers.refresh()
        await schedules.refresh(looked=True)

    with titled_page(t("Health"), here="/status"):
        with page_card(t("Checks")):
            with flex_row():
                show_heading(t("Configuration and checks")).classes("tw-grow")
                button = ui.button(t("Test now"), icon="bolt", on_click=partial(look, ask=True)).props("flat")
                button.set_visibility(seen.person.may_administer)
            if seen.person.may_administer:
                checks(found)
            else:
                show_remark(t("Only admins can see what is configured and reachable."))
        with titled_card(t("Workers")):
            await workers()
        with titled_card(t("Schedules")):
            await schedules(looked=False)
        if seen.person.may_administer:
            settings = (await list_settings(seen.services, NoInput())).settings
            lines = [[each.name, each.value or "—", each.help] for each in settings]
            with titled_card(t("Settings")), ui.expansion(t("All settings")).props("dense"):
                show_table_grid([t("Setting"), t("Value"), t("Meaning")], lines, t("Settings"))
    # The page is shown first: checks can take seconds.
    ui.timer(0.1, look, once=True)


def show_checks(found: Sequence[Check]) -> None:
    # Checks of extras are named by this prefix.
    prefix = "Extra "
    if not found:
        with flex_row():
            ui.spinner(size="1.5em").props('aria-hidden="true"')
            show_remark(t("Searching …"))
        return
    extras = [check for check in found if check.name.startswith(prefix)]
    with ui.element("div").classes("tw-column").props("aria-live=polite"):
        for check in found:
            if check in extras:
                continue
            with flex_row().classes("no-wrap items-start"):
                show_chip(t("ok") if check.ok else t("problem"), "high" if check.ok else "failed")
                with ui.element("div").classes("tw-grow"):
                    show_paragraph(f"{t(check.name)}: {check.detail}")
                    if check.advice:
                        show_remark(check.advice)
    if extras:
        lines = [[check.name.removeprefix(prefix), check.detail] for check in extras]
        with ui.expansion(t("Extras")).props("dense"):
            show_table_grid([t("Name"), t("Status")], lines, t("Extras"))


async def show_workers() -> None:
    workers = await (await visit_now()).services.jobs.workers()
    if not workers:
        show_remark(t("No worker is running. The server processes runs itself, or start `tablewright worker`."))
        return
    lines = [[each.kind, each.host, str(each.pid), format_page_time(each.started_at)] for each in workers]
    show_table_grid([t("Kind"), t("Machine"), t("Process"), t("Since")], lines, t("Worker processes"))


async def show_schedules(*, looked: bool) -> None:
    """Show the schedules once the checks are done: they are in the queue's database, which is slow to open."""
    if not looked:
        show_remark(t("Searching …"))
        return
    now = await visit_now()
    names = {each.id: each.name for each in await now.services.tables()}
    schedules = (await list_schedules(now.services, ListSchedules())).schedules
    if not schedules:
        show_remark(t("Nothing is scheduled. Tables can be rechecked or refreshed hourly, daily or weekly."))
        return
    lines: list[list[GridContent]] = []
    for each in schedules:
        table = page_link(names.get(each.table_id, each.table_id), f"/tables/{each.table_id}")
        lines.append([table, each.routine, f"{each.cron} (UTC)", format_page_time(each.last_at) or t("not yet")])
    show_table_grid([t("Table"), t("What"), t("When"), t("Last")], lines, t("Schedules"))
