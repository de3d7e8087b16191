"""Find rows: describe things, watch the lists being read, and see how complete the table is."""

from __future__ import annotations

from nicegui import ui

from tablewright.domain.fieldspec import split_columns
from tablewright.domain.listing import DEFAULT_ROWS, MOST_ROWS, FoundRows, ListingStatus
from tablewright.doors.server.context import Visit
from tablewright.doors.web.elements import (
    bar,
    card,
    chip,
    count_input,
    count_of,
    grid,
    journey,
    outside,
    paragraph,
    quiet,
    row,
)
from tablewright.doors.web.frame import about, heading, or_missing, say, visit, visit_now, visit_to_run
from tablewright.doors.web.live import with_page
from tablewright.doors.web.words import many, t
from tablewright.errors import UsageError
from tablewright.messages.catalogue import PageText
from tablewright.operations.find import FindMore, FoundRef, StartFind, find_more, get_found, start_find
from tablewright.services import Run

LONGEST = 2_000
SHOWN = 100
"""Things set aside, and pages, that are listed."""
STATUS: PageText[dict[ListingStatus, tuple[str, str]]] = {
    "planned": ("planned", "medium"),
    "running": ("in progress", "medium"),
    "done": ("done", "high"),
    "partial": ("partial", "medium"),
    "cancelled": ("stopped", "low"),
    "failed": ("failed", "failed"),
}


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
                question=words[:LONGEST],
                fields=tuple(split_columns(columns.value or "")),
                where=where.value or "",
                rows=count_of(rows) or DEFAULT_ROWS,
                fill=bool(fill.value),
            )
            started = await start_find(now.services, request)
        except UsageError as error:
            say(str(error), good=False)
            return
        finally:
            button.enable()
        ui.navigate.to(f"/tables/{started.table_id}/found")

    with card(t("What to find")), ui.element("form").classes("tw-column").on("submit.prevent", begin):
        question = ui.textarea(
            t("What do you want a table of?"),
            placeholder=t("Nordic fintechs with more than 100 staff"),
            validation={t("Describe what to find."): lambda value: bool(value and value.strip())},
        ).props(f"outlined autogrow autofocus maxlength={LONGEST} hide-bottom-space")
        question.without_auto_validation()
        columns = ui.input(
            t("Columns, starting with the name"), placeholder=t("Name, Country, Staff:number, CEO")
        ).props("outlined")
        where = ui.input(t("Conditions that every row must meet"), placeholder=t("Staff > 100")).props("outlined")
        with row():
            rows = count_input(t("Max. rows"), value=DEFAULT_ROWS, most=MOST_ROWS)
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
        if seen.services.settings.budget is not None:
            quiet(t("It may spend up to {budget} dollars.", budget=seen.services.settings.texts["budget"]))


# ── what was found ───────────────────────────────────────────────────────────────────────────────────────────────────


@ui.page("/tables/{table_id}/found", title="Find rows · Tablewright")
@or_missing
async def found_page(table_id: str) -> None:
    seen = visit()
    found = await get_found((await visit_now()).services, FoundRef(table=table_id))
    with journey(found.question, here="/"):
        await OpenSearch(seen, found).show()


class OpenSearch:
    def __init__(self, seen: Visit, found: FoundRows) -> None:
        self.seen = seen
        self.found = found
        self.run: Run | None = None
        self.doing = ""
        self.fraction: float | None = None

    async def show(self) -> None:
        about(self.found.table_id)
        await self.look_for_run()
        self.head = ui.refreshable(self.show_head)
        self.state = ui.refreshable(self.show_state)
        self.account = ui.refreshable(self.show_account)
        with card(t("Search")):
            self.head()
            self.state()
        self.account()
        if self.is_running and self.run is not None:
            with_page(self.follow(self.run.id))

    async def look_for_run(self) -> None:
        runs = await self.seen.services.jobs.all(self.found.table_id, limit=20)
        self.run = next((run for run in runs if run.kind == "find"), None)

    @property
    def is_running(self) -> bool:
        return self.run is not None and self.run.status == "running"

    async def follow(self, run_id: str) -> None:
        async for event in self.seen.services.jobs.watch(run_id):
            news = event.progress
            self.doing = news.detail
            self.fraction = news.fraction if news.total else None
            self.state.refresh()
        self.found = await get_found(self.seen.services, FoundRef(table=self.found.table_id))
        await self.look_for_run()
        for part in (self.head, self.state, self.account):
            part.refresh()

    def show_head(self) -> None:
        found = self.found
        with row():
            label, look = STATUS["running" if self.is_running else found.status]
            chip(t(label), look)
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

    def show_state(self) -> None:
        if self.is_running:
            bar(self.fraction, t("Progress of the search"))
            paragraph(self.doing).props("aria-live=polite")

    def show_account(self) -> None:
        found = self.found
        with card(t("Completeness")):
            heading(t("Completeness"))
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
        if found.undecided:
            with card(t("Not decided")):
                heading(t("Not decided"))
                grid(
                    [t("Row"), t("Why")],
                    [[each.name, each.reason] for each in found.undecided[:SHOWN]],
                    t("Not decided"),
                )
        if found.aside:
            with card(t("Left out")):
                heading(t("Left out"))
                grid([t("Name"), t("Why")], [[each.name, each.reason] for each in found.aside[:SHOWN]], t("Left out"))
        self.show_sources()

    def show_sources(self) -> None:
        found = self.found
        with card(t("Pages read")):
            heading(t("Pages read"))
            for query in found.queries:
                quiet(t("Searched “{query}”", query=query))
            for query, why in found.failed_queries.items():
                paragraph(t("Search “{query}” failed: {why}", query=query, why=why))
            for origin in found.read[:SHOWN]:
                outside(origin, origin)
            for origin, why in list(found.unreached.items())[:SHOWN]:
                paragraph(t("Not reached: {origin} ({why})", origin=origin, why=why))
