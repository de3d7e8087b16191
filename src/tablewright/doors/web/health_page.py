"""Health: what is configured and reachable, who is at work, what is done again and again. Never a secret."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from nicegui import ui

from tablewright.domain.health import Check
from tablewright.doors.web.elements import (
    Shown,
    card,
    chip,
    grid,
    journey,
    link_to,
    paragraph,
    quiet,
    row,
    titled_card,
    when,
)
from tablewright.doors.web.frame import heading, visit_now
from tablewright.doors.web.words import t
from tablewright.operations.health import NoInput, RunDoctor, run_doctor
from tablewright.operations.schedules import ListSchedules, ScheduleShown, list_schedules
from tablewright.operations.settings import SettingShown, list_settings

PATH = "/status"
EXTRA = "Extra "
"""The beginning of the names of checks of extras."""


@ui.page(PATH, title="Health · Tablewright")
async def health_page() -> None:
    seen = await visit_now()
    found: list[Check] = []
    checks, workers = ui.refreshable(show_checks), ui.refreshable(show_workers)
    schedules = ui.refreshable(show_schedules)

    async def look(*, ask: bool = False) -> None:
        """Run the checks after the page is there, because they may take a while. The model and a paid search are
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

    with journey(t("Health"), here=PATH):
        with card(t("Checks")):
            with row():
                heading(t("Configuration and checks")).classes("tw-grow")
                button = ui.button(t("Test now"), icon="bolt", on_click=partial(look, ask=True)).props("flat")
                button.set_visibility(seen.person.may_administer)
            if seen.person.may_administer:
                checks(found)
            else:
                quiet(t("Only admins can see what is configured and reachable."))
        with titled_card(t("Workers")):
            await workers()
        with titled_card(t("Schedules")):
            await schedules(looked=False)
        if seen.person.may_administer:
            show_settings((await list_settings(seen.services, NoInput())).settings)
    ui.timer(0.1, look, once=True)


def show_checks(found: Sequence[Check]) -> None:
    if not found:
        with row():
            ui.spinner(size="1.5em").props('aria-hidden="true"')
            quiet(t("Searching …"))
        return
    extras = [check for check in found if check.name.startswith(EXTRA)]
    with ui.element("div").classes("tw-column").props("aria-live=polite"):
        for check in found:
            if check not in extras:
                show_check(check)
    lines: list[list[Shown]] = [[check.name.removeprefix(EXTRA), check.detail] for check in extras]
    if lines:
        with ui.expansion(t("Extras")).props("dense"):
            grid([t("Name"), t("Status")], lines, t("Extras"))


def show_check(check: Check) -> None:
    with row().classes("no-wrap items-start"):
        chip(t("ok") if check.ok else t("problem"), "high" if check.ok else "failed")
        with ui.element("div").classes("tw-grow"):
            paragraph(f"{t(check.name)}: {check.detail}")
            if check.advice:
                quiet(check.advice)


async def show_workers() -> None:
    workers = await (await visit_now()).services.jobs.workers()
    if not workers:
        quiet(t("No worker is running. The server processes runs itself, or start `tablewright worker`."))
        return
    lines: list[list[Shown]] = [[each.kind, each.host, str(each.pid), when(each.started_at)] for each in workers]
    grid([t("Kind"), t("Machine"), t("Process"), t("Since")], lines, t("Worker processes"))


async def show_schedules(*, looked: bool) -> None:
    """After the checks: the queue's database, which has them, is slow to open."""
    if not looked:
        quiet(t("Searching …"))
        return
    now = await visit_now()
    names = {each.id: each.name for each in await now.services.tables()}
    schedules = (await list_schedules(now.services, ListSchedules())).schedules
    if not schedules:
        quiet(t("Nothing is scheduled. Tables can be rechecked or refreshed hourly, daily or weekly."))
        return
    grid(
        [t("Table"), t("What"), t("When"), t("Last")],
        [schedule_line(each, names) for each in schedules],
        t("Schedules"),
    )


def schedule_line(schedule: ScheduleShown, names: dict[str, str]) -> list[Shown]:
    table = link_to(names.get(schedule.table_id, schedule.table_id), f"/tables/{schedule.table_id}")
    return [table, schedule.routine, f"{schedule.cron} (UTC)", when(schedule.last_at) or t("not yet")]


def show_settings(settings: Sequence[SettingShown]) -> None:
    lines: list[list[Shown]] = [[each.name, each.value or "—", each.help] for each in settings]
    with titled_card(t("Settings")), ui.expansion(t("All settings")).props("dense"):
        grid([t("Setting"), t("Value"), t("Meaning")], lines, t("Settings"))
