"""Find rows: describe things, watch the lists being read, and see how complete the table is."""

from __future__ import annotations

from nicegui import ui

from tablewright.domain.fieldspec import split_columns
from tablewright.domain.listing import DEFAULT_ROWS, MOST_ROWS, FoundRows
from tablewright.doors.server.context import Visit
from tablewright.doors.web.elements import (
    budget_note,
    card,
    count_input,
    count_of,
    grid,
    journey,
    limit_of,
    outside,
    paragraph,
    question_box,
    quiet,
    row,
    titled_card,
)
from tablewright.doors.web.frame import or_missing, visit, visit_now, visit_to_run
from tablewright.doors.web.live import FollowedRun, status_chip
from tablewright.doors.web.words import many, t
from tablewright.messages.catalogue import PageText
from tablewright.operations.find import FindMore, FoundRef, StartFind, find_more, get_found, start_find

SHOWN = 100
"""The most pages, and things left out, that are listed."""
PROGRESS: PageText[str] = "Progress of the search"


@ui.page("/find", title="Find rows · Tablewright")
async def find_page() -> None:
    seen = visit()
    with journey(t("Find rows"), here="/"):
        if seen.person.may_change:
            find_form(seen)


def find_form(seen: Visit) -> None:
    async def begin() -> None:
        now = await visit_to_run()
        words = (question.value or "").strip()
        if not words:
            question.validate()
            return
        button.disable()
        try:
            request = StartFind(
                question=words,
                fields=tuple(split_columns(columns.value or "")),
                where=where.value or "",
                rows=count_of(rows) or DEFAULT_ROWS,
                fill=bool(fill.value),
            )
            started = await start_find(now.services, request)
        finally:
            button.enable()
        ui.navigate.to(f"/tables/{started.table_id}/found")

    with card(t("What to find")), ui.element("form").classes("tw-column").on("submit.prevent", begin):
        question = question_box(
            t("What do you want a table of?"),
            t("Nordic fintechs with more than 100 staff"),
            t("Describe what to find."),
            most=limit_of(StartFind, "question"),
        )
        columns = ui.input(t("Columns, starting with the name"), placeholder=t("Name, Country, Staff:number, CEO"))
        where = ui.input(t("Conditions that every row must meet"), placeholder=t("Staff > 100"))
        for field in (columns, where):
            field.props(remove="dense")
        with row():
            rows = count_input(t("Max. rows"), value=DEFAULT_ROWS, most=limit_of(StartFind, "rows"))
            fill = ui.checkbox(t("Look up values that are missing from the lists"), value=True)
            ui.space()
            button = ui.button(t("Find rows"), icon="manage_search").props("type=submit unelevated")
        if seen.services.settings.model == "builtin":
            quiet(
                t(
                    "Without a model, rows come from tables whose headers match your columns. Nothing checks "
                    "whether they fit your description."
                )
            )
        budget_note(seen.services.settings)


# ── what was found ───────────────────────────────────────────────────────────────────────────────────────────────────


@ui.page("/tables/{table_id}/found", title="Find rows · Tablewright")
@or_missing
async def found_page(table_id: str) -> None:
    seen = visit()
    found = await get_found((await visit_now()).services, FoundRef(table=table_id))
    with journey(found.question, here="/"):
        page = OpenSearch(seen, found)
        await page.show(t("Search"), found.table_id, page.show_account)


class OpenSearch(FollowedRun):
    progress_label = PROGRESS

    def __init__(self, seen: Visit, found: FoundRows) -> None:
        super().__init__(seen)
        self.found = found

    async def read(self) -> None:
        self.found = await get_found(self.seen.services, FoundRef(table=self.found.table_id))
        runs = await self.seen.services.jobs.all(self.found.table_id, limit=20)
        self.run = next((run for run in runs if run.kind == "find"), None)

    def show_head(self) -> None:
        found = self.found
        with row():
            status_chip("running" if self.is_running else found.status)
            quiet(t("{rows} of {things}", rows=many(found.rows, "row"), things=found.things))
            ui.space()
            ui.link(t("Open table"), f"/tables/{found.table_id}")
            if self.run is not None:
                ui.link(t("Open run"), f"/runs/{self.run.id}")
            if not self.is_running and self.seen.person.may_change:
                ui.button(t("Find more"), icon="manage_search", on_click=self.find_more).props("outline")

    async def find_more(self) -> None:
        now = await visit_to_run()
        rows = self.found.rows + DEFAULT_ROWS
        await find_more(now.services, FindMore(table=self.found.table_id, rows=min(rows, MOST_ROWS)))
        ui.navigate.reload()

    def show_account(self) -> None:
        found = self.found
        with titled_card(t("Completeness")):
            paragraph(found.completeness)
            if found.problem:
                paragraph(t("Ended early: {problem}", problem=found.problem))
            if not found.by_model:
                paragraph(t("No model checked these rows. They come from tables whose headers match your columns."))
            if found.said:
                paragraph(found.said)
            if found.conditions:
                quiet(t("Every row must meet: {conditions}", conditions="; ".join(found.conditions)))
            for assumption in found.assumed:
                quiet(assumption)
            if found.left_over:
                paragraph(t("{left_over} more were found that are in no row.", left_over=found.left_over))
        for title, what, things in (
            (t("Not decided"), t("Row"), found.undecided),
            (t("Left out"), t("Name"), found.aside),
        ):
            if things:
                with titled_card(title):
                    grid([what, t("Why")], [[each.name, each.reason] for each in things[:SHOWN]], title)
        with titled_card(t("Pages read")):
            for query in found.queries:
                quiet(t("Searched “{query}”", query=query))
            for query, why in found.failed_queries.items():
                paragraph(t("Search “{query}” failed: {why}", query=query, why=why))
            for origin in found.read[:SHOWN]:
                outside(origin, origin)
            for origin, why in list(found.unreached.items())[:SHOWN]:
                paragraph(t("Not reached: {origin} ({why})", origin=origin, why=why))
