"""Find rows: describe things, watch the lists being read, and see how complete the table is."""

from __future__ import annotations

from nicegui import ui

from tablewright.domain.fieldspec import split_field_specs
from tablewright.domain.listing import DEFAULT_ROWS, MAX_ROWS, FoundRows
from tablewright.interfaces.page.elements import (
    RequestForm,
    flex_row,
    show_budget_note,
    show_paragraph,
    show_remark,
    show_table_grid,
    show_web_link,
    titled_card,
    titled_page,
)
from tablewright.interfaces.page.frame import answer_missing, current_visit, visit_now
from tablewright.interfaces.page.live import FollowedRun, show_status_chip
from tablewright.interfaces.page.words import counted_text, t
from tablewright.interfaces.server.context import Visit
from tablewright.messages.catalogue import PageText
from tablewright.operations.find import FindMore, StartFind, find_more, get_found, start_find
from tablewright.operations.operation import TableRequest


@ui.page("/find", title="Find rows · Tablewright")
async def find_rows_page() -> None:
    seen = current_visit()
    with titled_page(t("Find rows"), here="/"):
        if seen.person.may_change:
            show_find_form(seen)


def show_find_form(seen: Visit) -> None:
    async def begin() -> None:
        services = (await visit_now("run")).services
        asked = form.read()
        fields = tuple(split_field_specs(asked.pop("fields", "")))
        started = await start_find(services, StartFind(**asked, fields=fields))
        ui.navigate.to(f"/tables/{started.table_id}/found")

    form = RequestForm(StartFind, begin)
    with form.open_card(t("What to find")):
        form.add_question(
            t("What do you want a table of?"),
            t("Nordic fintechs with more than 100 staff"),
            t("Describe what to find."),
        )
        columns = t("Columns, starting with the name")
        form.add_field("fields", columns, example=t("Name, Country, Staff:number, CEO"))
        form.add_field("where", t("Conditions that every row must meet"), example=t("Staff > 100"))
        with flex_row():
            form.add_field("rows", t("Max. rows"))
            form.add_field("fill", t("Look up values that are missing from the lists"))
            ui.space()
            form.add_button(t("Find rows"), "manage_search")
        if seen.services.settings.model == "builtin":
            show_remark(
                t(
                    "Without a model, rows come from tables whose headers match your columns. Nothing checks "
                    "whether they fit your description."
                )
            )
        show_budget_note(seen.services.settings)


# ── what was found ───────────────────────────────────────────────────────────────────────────────────────────────────


@ui.page("/tables/{table_id}/found", title="Find rows · Tablewright")
@answer_missing
async def found_page(table_id: str) -> None:
    seen = current_visit()
    found = await get_found((await visit_now()).services, TableRequest(table=table_id))
    with titled_page(found.question, here="/"):
        page = OpenSearch(seen, found)
        await page.show(t("Search"), found.table_id, page.show_account)


class OpenSearch(FollowedRun):
    progress_label: PageText[str] = "Progress of the search"

    def __init__(self, seen: Visit, found: FoundRows) -> None:
        super().__init__(seen)
        self.found = found

    async def read(self) -> None:
        self.found = await get_found(self.seen.services, TableRequest(table=self.found.table_id))
        # Fills of the same table may have started since the search.
        runs = await self.seen.services.jobs.all(self.found.table_id, limit=20)
        self.run = next((run for run in runs if run.kind == "find"), None)

    def show_head(self) -> None:
        found = self.found
        with flex_row():
            show_status_chip("running" if self.is_running else found.status)
            show_remark(t("{rows} of {things}", rows=counted_text(found.rows, "row"), things=found.things))
            ui.space()
            ui.link(t("Open table"), f"/tables/{found.table_id}")
            if self.run is not None:
                ui.link(t("Open run"), f"/runs/{self.run.id}")
            if not self.is_running and self.seen.person.may_change:
                ui.button(t("Find more"), icon="manage_search", on_click=self.find_more).props("outline")

    async def find_more(self) -> None:
        now = await visit_now("run")
        # The usual number of rows on top of those that were found, up to the limit of a search.
        rows = self.found.rows + DEFAULT_ROWS
        await find_more(now.services, FindMore(table=self.found.table_id, rows=min(rows, MAX_ROWS)))
        ui.navigate.reload()

    def show_account(self) -> None:
        # Pages, and things left out, that are listed: the run's own page has all.
        most = 100
        found = self.found
        with titled_card(t("Completeness")):
            show_paragraph(found.completeness)
            if found.problem:
                show_paragraph(t("Ended early: {problem}", problem=found.problem))
            if not found.by_model:
                show_paragraph(
                    t("No model checked these rows. They come from tables whose headers match your columns.")
                )
            if found.said:
                show_paragraph(found.said)
            if found.conditions:
                show_remark(t("Every row must meet: {conditions}", conditions="; ".join(found.conditions)))
            for assumption in found.assumed:
                show_remark(assumption)
            if found.left_over:
                show_paragraph(t("{left_over} more were found that are in no row.", left_over=found.left_over))
        for title, what, things in (
            (t("Not decided"), t("Row"), found.undecided),
            (t("Left out"), t("Name"), found.aside),
        ):
            if things:
                with titled_card(title):
                    show_table_grid([what, t("Why")], [[each.name, each.reason] for each in things[:most]], title)
        with titled_card(t("Pages read")):
            for query in found.queries:
                show_remark(t("Searched “{query}”", query=query))
            for query, why in found.failed_queries.items():
                show_paragraph(t("Search “{query}” failed: {why}", query=query, why=why))
            for origin in found.read[:most]:
                show_web_link(origin, origin)
            for origin, why in list(found.unreached.items())[:most]:
                show_paragraph(t("Not reached: {origin} ({why})", origin=origin, why=why))
