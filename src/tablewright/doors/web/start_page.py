"""The first steps: a model, a search engine, a first table. Each can be skipped and done later in the settings."""

from __future__ import annotations

from nicegui import ui

from tablewright.doors.web.elements import journey, quiet
from tablewright.doors.web.frame import visit_now
from tablewright.doors.web.settings_form import PARTS
from tablewright.doors.web.start_table import sample_button, show_ways
from tablewright.doors.web.tables_page import ABOUT_SAMPLE
from tablewright.doors.web.words import t
from tablewright.messages.catalogue import PageText

STEPS: PageText[dict[str, str]] = {"model": "Model", "search": "Web search", "table": "First table"}
WHY: PageText[dict[str, str]] = {
    "model": "A language model reads pages and documents and judges what they say. Without one, only what is "
    "stated plainly can be found.",
    "search": "Facts are looked up with this search engine. One with a key is reliable. Without a key you can "
    "start right away, but only a few searches in a row are allowed.",
    "table": "Add your rows, then ask for columns.",
}


@ui.page("/start", title="First steps · Tablewright")
async def start_page(step: str = "model") -> None:
    visit = await visit_now()
    step = step if step in STEPS and visit.person.may_administer else "table"
    names = list(STEPS)
    number = names.index(step)
    with journey(t("Getting started"), here=""):
        with ui.element("ol").classes("tw-guide").props(f'aria-label="{t("Steps")}"'):
            for place, name in enumerate(names):
                with ui.element("li") as line:
                    ui.link(f"{place + 1}. {t(STEPS[name])}", f"/start?step={name}")
                if name == step:
                    line.props("aria-current=step")
        quiet(t(WHY[step]))
        if step == "table":
            if visit.person.may_change:
                show_ways()
            with ui.element("div").classes("tw-row"):
                sample_button()
                quiet(t(ABOUT_SAMPLE))
            return

        def go_on() -> None:
            ui.navigate.to(f"/start?step={names[number + 1]}")

        PARTS[step](visit.server.settings, on_save=go_on).build()
        with ui.element("div").classes("tw-row"):
            ui.button(t("Skip"), icon="skip_next", on_click=go_on).props("flat")
