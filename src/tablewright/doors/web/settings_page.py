"""Settings: the model, the search, the budget, the evidence. For admins; used at once, without a restart."""

from __future__ import annotations

from nicegui import ui

from tablewright.doors.web.elements import journey, quiet
from tablewright.doors.web.frame import visit_now
from tablewright.doors.web.settings_form import PARTS
from tablewright.doors.web.words import t

PATH = "/settings"


@ui.page(PATH, title="Settings · Tablewright")
async def settings_page() -> None:
    visit = await visit_now()
    with journey(t("Settings"), here=PATH):
        if not visit.person.may_administer:
            quiet(t("Only admins can see and change the settings."))
            return
        quiet(
            t(
                "Saved on this server, with keys encrypted. The settings apply to everyone who uses it and to "
                "commands run on this computer."
            )
        )
        for part in PARTS.values():
            part(visit.server.settings).build()
