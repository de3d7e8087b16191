"""All tables, with a search over their names, and the ways to a new one."""

from __future__ import annotations

from functools import partial

from nicegui import ui

from tablewright.doors.server.context import Visit
from tablewright.doors.web.elements import paragraph, quiet, when
from tablewright.doors.web.frame import empty_state, frame, heading, visit_now
from tablewright.doors.web.start_table import sample_button, show_ways
from tablewright.doors.web.words import t
from tablewright.messages.catalogue import PageText
from tablewright.services import TableSummary

ABOUT_SAMPLE: PageText[str] = (
    "Twelve fictional companies, filled from a small fictional web on this computer: no key, no internet, nothing to "
    "set up."
)


@ui.page("/", title="Tables · Tablewright")
async def tables_page() -> None:
    visit = await visit_now()
    tables = await visit.services.tables()
    with frame(t("Tables"), here="/"):
        if tables:
            show_tables(tables)
            if visit.person.may_change:
                heading(t("New table"))
                show_ways()
                with ui.element("div").classes("tw-row"):
                    sample_button()
        elif visit.person.may_change:
            show_first_visit(visit)
        else:
            with empty_state(t("No table is shared with you yet"), "table_chart"):
                ui.label(t("Ask an editor or an admin to share one with you. It then appears here."))


def show_first_visit(visit: Visit) -> None:
    with empty_state(t("Fill tables with facts that come with their evidence"), "table_chart"):
        ui.label(
            t(
                "Start with rows, such as companies or products, and ask for columns in your own words. Every "
                "value comes with its source, the exact quote and a confidence. What cannot be found stays empty "
                "and says why."
            )
        )
        sample_button(first=True)
        ui.label(t(ABOUT_SAMPLE)).classes("tw-muted tw-small")
        if visit.person.may_administer:
            ui.button(t("Set up in three steps"), icon="tune", on_click=lambda: ui.navigate.to("/start")).props(
                "outline"
            )
            quiet(t("A model, a search engine, a first table. Each step can be skipped."))
    heading(t("Start with your own rows"))
    show_ways()


def show_tables(tables: list[TableSummary]) -> None:
    newest = sorted(tables, key=lambda each: each.changed_at, reverse=True)
    tags = sorted({tag for table in tables for tag in table.tags}, key=str.casefold)
    wanted = {"words": "", "tag": ""}

    def is_wanted(table: TableSummary) -> bool:
        named = f"{table.name} {' '.join(table.tags)}".casefold()
        words = wanted["words"].casefold().split()
        return all(word in named for word in words) and wanted["tag"] in ("", *table.tags)

    def choose(name: str, value: str) -> None:
        wanted[name] = value
        listed.refresh()
        chips.refresh()

    @ui.refreshable
    def chips() -> None:
        with ui.element("div").classes("tw-chips").props("role=group") as box:
            box.props["aria-label"] = t("Tags")
            for tag in ("", *tags):
                chip = ui.element("button").classes("tw-chip tw-filter")
                chip.props(f"type=button aria-pressed={'true' if tag == wanted['tag'] else 'false'}")
                chip.on("click", partial(choose, "tag", tag))
                with chip:
                    ui.label(tag or t("All"))

    @ui.refreshable
    def listed() -> None:
        found = [table for table in newest if is_wanted(table)]
        if not found:
            quiet(t("No table matches “{name}”.", name=wanted["words"]))
        with ui.element("ul").classes("tw-cards") as cards:
            cards.props["aria-label"] = t("Tables")
            for table in found:
                show_table(table)

    if len(tables) > 1:
        search = ui.input(placeholder=t("Search tables")).props("dense outlined clearable debounce=200 maxlength=200")
        search.props["aria-label"] = t("Search tables")
        search.classes("tw-find").on_value_change(lambda event: choose("words", (event.value or "").strip()))
    if tags:
        chips()
    listed()


def show_table(table: TableSummary) -> None:
    with ui.element("li").classes("tw-plain"), ui.link(target=f"/tables/{table.id}").classes("tw-card tw-table"):
        paragraph(table.name, "tw-h2")
        rows = t("{count} row|{count} rows", count=table.rows)
        paragraph(f"{rows} · {t('{count} column|{count} columns', count=table.fields)}", "tw-muted")
        paragraph(t("changed {when}", when=when(table.changed_at)), "tw-muted tw-small")
        if table.tags:
            with ui.element("div").classes("tw-chips"):
                for tag in table.tags:
                    ui.label(tag).classes("tw-chip")
