"""The list of tables, the forms that create one, and the first steps of a new server."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace
from nicegui import events, ui
from nicegui.elements.upload_files import FileUpload

from tablewright.domain.files import FileOptions, ImportPreview
from tablewright.domain.history import TableSummary
from tablewright.domain.model import Field, Table
from tablewright.domain.text import shorten_text
from tablewright.errors import UsageError
from tablewright.interfaces.api.uploads import safe_name
from tablewright.interfaces.page.elements import (
    NO_SPACE,
    TOO_LARGE,
    build_dialog,
    dialog_buttons,
    file_drop_area,
    filter_chip,
    flex_row,
    format_page_time,
    loading_button,
    show_paragraph,
    show_remark,
    titled_page,
    wait_for_answer,
)
from tablewright.interfaces.page.frame import empty_state, page_frame, show_heading, show_notice, visit_now
from tablewright.interfaces.page.settings_page import SETTINGS_CARDS
from tablewright.interfaces.page.words import TYPE_NAMES, t, type_text
from tablewright.interfaces.server.context import Visit
from tablewright.interfaces.wording import reword_advice
from tablewright.messages.catalogue import PageText
from tablewright.operations.documents import make_document_table
from tablewright.operations.files import (
    add_new_file_rows,
    add_sample,
    create_empty_table,
    import_table_file,
    preview_file,
    recognise_file,
)
from tablewright.temporary import temporary_folder
from tablewright.workflows.files import KnownFile


@ui.page("/", title="Tables · Tablewright")
async def tables_page() -> None:
    visit = await visit_now()
    tables = await visit.services.tables()
    with page_frame(t("Tables"), here="/"):
        if tables:
            show_tables(tables)
            if visit.person.may_change:
                show_heading(t("New table"))
                show_new_table_buttons()
                with flex_row():
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
        explain_sample()
        if visit.person.may_administer:
            start = partial(ui.navigate.to, "/start")
            ui.button(t("Set up in three steps"), icon="tune", on_click=start).props("outline")
            show_remark(t("A model, a search engine, a first table. Each step can be skipped."))
    show_heading(t("Start with your own rows"))
    show_new_table_buttons()


def show_tables(tables: list[TableSummary]) -> None:
    newest = sorted(tables, key=lambda each: each.changed_at, reverse=True)
    tags = sorted({tag for table in tables for tag in table.tags}, key=str.casefold)
    wanted = {"words": "", "tag": ""}

    def is_wanted(table: TableSummary) -> bool:
        named = f"{table.name} {' '.join(table.tags)}".casefold()
        # Every word must match, in any order.
        return wanted["tag"] in ("", *table.tags) and all(word in named for word in wanted["words"].casefold().split())

    def choose(name: str, value: str) -> None:
        wanted[name] = value
        listed.refresh()
        chips.refresh()

    @ui.refreshable
    def chips() -> None:
        with ui.element("div").classes("tw-chips").props("role=group") as box:
            box.props["aria-label"] = t("Tags")
            for tag in ("", *tags):
                filter_chip(tag or t("All"), partial(choose, "tag", tag), is_pressed=tag == wanted["tag"])

    @ui.refreshable
    def listed() -> None:
        found = [table for table in newest if is_wanted(table)]
        if not found:
            show_remark(t("No table matches “{name}”.", name=wanted["words"]))
        with ui.element("ul").classes("tw-cards") as cards:
            cards.props["aria-label"] = t("Tables")
            for table in found:
                show_table_card(table)

    if len(tables) > 1:
        search = ui.input(placeholder=t("Search tables")).props("clearable debounce=200 maxlength=200")
        search.props["aria-label"] = t("Search tables")
        search.classes("tw-find").on_value_change(lambda event: choose("words", (event.value or "").strip()))
    if tags:
        chips()
    listed()


def show_table_card(table: TableSummary) -> None:
    with ui.element("li").classes("tw-plain"), ui.link(target=f"/tables/{table.id}").classes("tw-card tw-table"):
        show_paragraph(table.name, "tw-h2")
        rows = t("{count} row|{count} rows", count=table.row_count)
        show_paragraph(f"{rows} · {t('{count} column|{count} columns', count=table.field_count)}", "tw-muted")
        show_remark(t("changed {when}", when=format_page_time(table.changed_at)))
        if table.tags:
            with ui.element("div").classes("tw-chips"):
                for tag in table.tags:
                    ui.label(tag).classes("tw-chip")


# ── the ways to a new table ───────────────────────────────────────────────────────────────────────────────────────────


# The server's limit for a request that brings files.
MAX_UPLOAD_BYTES = 200 * 1024 * 1024


def sample_button(*, first: bool = False) -> ui.button:
    async def bring() -> None:
        with loading_button(button):
            table = await add_sample((await visit_now("write")).services)
        ui.navigate.to(f"/tables/{table.id}")

    button = ui.button(t("Open a filled sample"), icon="science", on_click=bring)
    button.props("unelevated size=lg" if first else "outline")
    return button


def explain_sample() -> None:
    """Say what people ask before a demo: what it needs, and what it sends."""
    show_remark(
        t(
            "Twelve fictional companies, filled from a small fictional web on this computer: no key, no internet, "
            "nothing to set up."
        )
    )


def show_new_table_buttons() -> None:
    """Show the buttons that create a table, for people who may do so."""
    # Without .xls and .ods, which are read as well: they are rare, and the notice lists all of these.
    endings = ".csv,.tsv,.txt,.xlsx,.json,.jsonl,.md,.parquet"

    def refuse() -> None:
        kinds = endings.replace(",", ", ")
        show_notice(t("This file cannot be imported. Use {kinds}, up to 200 MB.", kinds=kinds), good=False)

    label = t("Drop a CSV or Excel file here, or click to choose one")
    take = import_dropped_file
    area = file_drop_area(label, endings, largest=MAX_UPLOAD_BYTES, several=False, take=take, refuse=refuse)
    area.classes("tw-drop")
    with flex_row():
        ui.button(t("Blank table"), icon="add", on_click=ask_blank_table).props("outline")
        ui.button(t("Paste a list"), icon="content_paste", on_click=ask_pasted_list).props("outline")
        ui.button(t("Find rows"), icon="manage_search", on_click=lambda: ui.navigate.to("/find")).props("outline")
        ui.button(t("From documents"), icon="description", on_click=ask_document_table).props("outline")


async def import_dropped_file(event: events.UploadEventArguments) -> None:
    file = event.file
    visit = await visit_now("write")
    with temporary_folder() as folder:
        path = Path(folder) / safe_name(file.name, "table")
        await file.save(path)
        # The origin recognises the same file when the same person uploads it again.
        options = FileOptions(name=path.stem, origin=f"upload:{visit.person.id}:{path.name}")
        known = await recognise_file(visit.services, path, options)
        choice = "new" if known is None else await ask_which_table(path.name, known)
        if choice == "new":
            await import_previewed(visit, path, options)
        elif known is not None and choice == "known":
            if known.changed:
                await add_new_file_rows(visit.services, known)
            ui.navigate.to(f"/tables/{known.table.id}")


async def import_previewed(visit: Visit, path: Path, options: FileOptions) -> None:
    """Preview a file, and import it if the person confirms."""
    chosen = await ImportDialog(visit, path, options).ask()
    if chosen is not None:
        imported = await import_table_file(visit.services, path, chosen)
        ui.navigate.to(f"/tables/{imported.table.id}")


class ImportDialog:
    """The window with the first rows of a file, in which columns get names and types. It imports nothing."""

    def __init__(self, visit: Visit, path: Path, options: FileOptions) -> None:
        self._visit = visit
        self._path = path
        self._options = options

    async def ask(self) -> FileOptions | None:
        self._shown = await preview_file(self._visit.services, self._path, self._options)
        with build_dialog(t("Import a table"), wide=True, persistent=True) as window:
            self._name = ui.input(t("Table name"), value=self._shown.name).props("maxlength=200")
            self._header = ui.checkbox(t("The first line contains the column names"), value=self._options.header)
            self._header.on_value_change(self._reload_preview)
            self._body = ui.element("div").classes("tw-column")
            dialog_buttons(window, (t("Import"), self._check_options))
        self._show()
        return cast(FileOptions | None, await wait_for_answer(window))

    def _show(self) -> None:
        shown = self._shown
        self._body.clear()
        with self._body:
            rows = t("{count} row|{count} rows", count=shown.row_count)
            show_paragraph(f"{rows}, {t('{count} column|{count} columns', count=len(shown.fields))}", "tw-muted")
            self._problems = ui.element("div").classes("tw-column").props("role=status")
            self._show_problems(shown)
            scroll = ui.element("div").classes("tw-scroll").props("tabindex=0 role=region")
            scroll.props["aria-label"] = t("First rows")
            with scroll, ui.element("table").classes("tw-grid"):
                with ui.element("thead"), ui.element("tr"):
                    self._fields = [self._heading(field) for field in shown.fields]
                with ui.element("tbody"):
                    for cells in shown.rows:
                        with ui.element("tr"):
                            for cell in cells:
                                with ui.element("td"):
                                    show_paragraph(shorten_text(cell, 80))
            names = [field.name for field in shown.fields]
            self._key = ui.select(names, value=shown.key_field or None, label=t("Column that names the rows"))
            self._key.set_visibility(len(names) > 1)

    def _heading(self, field: Field) -> tuple[ui.input, ui.select]:
        types = {name: t(word) for name, word in TYPE_NAMES.items() if name != "select" or field.type == "select"}
        with ui.element("th").props("scope=col"):
            is_only = len(self._shown.fields) == 1 and not self._options.header
            name = ui.input(value=t("Name") if is_only else field.name).props("maxlength=300")
            name.props["aria-label"] = t("Name of {column}", column=field.name)
            kind = ui.select(types, value=field.type)
            kind.props["aria-label"] = t("Type of {column}", column=field.name)
            kind.on_value_change(self._show_misfits)
        return name, kind

    def _show_problems(self, shown: ImportPreview) -> None:
        self._problems.clear()
        with self._problems:
            show_warnings(shown.warnings)
            for name, (count, first) in shown.misfits.items():
                kind = next(type_text(field) for field in shown.fields if field.name == name)
                values = ", ".join(f"“{shorten_text(value, 40)}”" for value in first)
                left_out = t(
                    "{column}: {count} value is not of type {type} and would be left out: {values}|"
                    "{column}: {count} values are not of type {type} and would be left out: {values}",
                    column=name,
                    count=count,
                    type=kind,
                    values=f"{values}{' …' if count > len(first) else ''}",
                )
                show_paragraph(f"⚠ {left_out}", "tw-small tw-problem")

    def _chosen_options(self) -> FileOptions:
        """Return the options of the window; names and types only if they were changed."""
        changed = [
            replace(
                field,
                name=(name.value or "").strip(),
                type=kind.value,
                **({} if kind.value == field.type else {"unit": "", "options": ()}),
            )
            for field, (name, kind) in zip(self._shown.fields, self._fields, strict=True)
        ]
        names = [field.name for field in self._shown.fields]
        # The chosen column may have been renamed in this window.
        key = changed[names.index(self._key.value)].name if self._key.value in names else ""
        return replace(
            self._options,
            name=(self._name.value or "").strip() or self._shown.name,
            key_field="" if self._key.value == self._shown.key_field and tuple(changed) == self._shown.fields else key,
            fields=() if tuple(changed) == self._shown.fields else tuple(changed),
        )

    async def _reload_preview(self) -> None:
        self._options = replace(self._options, header=bool(self._header.value), key_field="", fields=())
        self._shown = await preview_file(self._visit.services, self._path, self._options)
        self._show()

    async def _show_misfits(self) -> None:
        """Show which values do not fit the changed type of a column."""
        self._show_problems(await preview_file(self._visit.services, self._path, self._chosen_options()))

    async def _check_options(self) -> FileOptions:
        await preview_file(self._visit.services, self._path, wanted := self._chosen_options())
        return wanted


def show_warnings(warnings: Sequence[str]) -> None:
    for warning in warnings:
        show_paragraph(f"⚠ {reword_advice({}, warning)}", "tw-small")


async def ask_which_table(file: str, known: KnownFile) -> Any:
    """Ask if a file that was imported before goes into its table ("known") or a new one ("new")."""
    rows = t("{count} new row|{count} new rows", count=len(known.new_rows))
    stories: PageText[dict[str, str]] = {
        "changed": "{file} has changed since it was imported as {table}. It has {rows}. Existing rows stay as "
        "they are.",
        "without new rows": "{file} has changed since it was imported as {table}. It has no new rows, and the table "
        "stays as it is.",
        "unchanged": "{file} has been imported as the table {table}.",
    }
    story = "unchanged" if not known.changed else "changed" if known.new_rows else "without new rows"
    with build_dialog(t("This file has been imported before"), persistent=True) as window:
        show_paragraph(t(stories[story], file=file, table=known.table.name, rows=rows))
        show_warnings(known.warnings)
        label = t("Add {rows}", rows=rows) if known.new_rows else t("Open the table")
        dialog_buttons(window, (t("Create a new table"), "new"), (label, "known"))
    return await wait_for_answer(window)


async def ask_blank_table() -> None:
    with build_dialog(t("Blank table")) as window:
        name = ui.input(t("Table name")).props("autofocus maxlength=200")
        columns = ui.input(t("Columns, separated by commas"), value="Name").props("maxlength=2000")
        show_remark(t("The first column says what a row is about, such as a company or a product."))

        async def create() -> Table:
            visit = await visit_now("write")
            fields = [Field(name=each.strip()) for each in (columns.value or "").split(",") if each.strip()]
            return await create_empty_table(visit.services, name.value or "", fields)

        dialog_buttons(window, (t("Create"), create))
    await open_created_table(window)


async def ask_pasted_list() -> None:
    separators: PageText[dict[str, str]] = {
        "\t": "One row per line, or cells from a spreadsheet",
        ",": "Commas",
        ";": "Semicolons",
    }
    arrived: list[FileUpload] = []
    with build_dialog(t("Paste a list")) as window:
        sender = ui.upload(on_upload=lambda event: arrived.append(event.file), max_file_size=MAX_UPLOAD_BYTES)
        # An element that the framework hides accepts no files.
        sender.style("display: none")
        name = ui.input(t("Table name"), value=t("List")).props("maxlength=200")
        # Not a field of the framework's: that would send each state of the text through the page's connection, which
        # takes a million characters at most.
        pasted = ui.element("textarea").classes("tw-pasted")
        pasted.props(f'autofocus rows=10 aria-label="{t("Rows")}" placeholder="{t("One row per line")}"')
        pasted.on("paste", js_handler="(event) => tablewright.pasteFast(event)")
        choices = {sign: t(label) for sign, label in separators.items()}
        between = ui.select(choices, value="\t", label=t("Columns are separated by"))

        async def preview() -> FileUpload:
            arrived.clear()
            address = json.dumps(sender.props["url"])
            sent = f"tablewright.sendText({address}, getHtmlElement({pasted.id}).value)"
            status = await ui.run_javascript(f"return await {sent}", timeout=600)
            # The script reports 0 if there is no text.
            if status == 0:
                raise UsageError(t("The list is empty."), advice=t("Paste one row per line."))
            if status != 200 or not arrived:
                raise pasted_list_error(status)
            return arrived[0]

        dialog_buttons(window, (t("Preview"), preview))
    content: FileUpload | None = await wait_for_answer(window)
    if content is None:
        return
    visit = await visit_now("write")
    with temporary_folder() as folder:
        path = Path(folder) / "list.csv"
        await content.save(path)
        with path.open(encoding="utf-8") as stream:
            first = stream.readline()
        options = FileOptions(
            name=(name.value or "").strip() or "List",
            # A first line with the separator is most likely the names of columns.
            header=between.value in first,
            delimiter=between.value,
            encoding="utf-8",
        )
        await import_previewed(visit, path, options)


def pasted_list_error(status: int) -> UsageError:
    """Return the error for a pasted list that did not arrive completely: it is never imported in part."""
    kept = t("Nothing was imported, and your list is still in the window.")
    if status == TOO_LARGE:
        larger = t("The list is larger than {most} MB.", most=MAX_UPLOAD_BYTES // 1024 // 1024)
        advice = t("Save it as several files and import them one after the other.")
        return UsageError(larger, kept=kept, advice=advice)
    if status == NO_SPACE:
        return UsageError(t("The disk of the server is full."), kept=kept, advice=t("Free some space first."))
    return UsageError(t("The list did not arrive."), kept=kept, advice=t("Try again."))


async def ask_document_table() -> None:
    visit = await visit_now("write")
    documents = await visit.services.store.documents.all(readable=True)
    if not documents:
        advice = t("Add some under Documents. Each can then become a row.")
        raise UsageError(t("There are no documents yet."), advice=advice)
    kinds = sorted({document.kind for document in documents if document.kind})
    with build_dialog(t("A table of your documents")) as window:
        name = ui.input(t("Table name"), value="Documents").props("maxlength=200")
        choices = {"": t("All {count}", count=len(documents)), **{kind: kind for kind in kinds}}
        kind = ui.select(choices, value="", label=t("Which documents"))
        show_remark(t("One row per file. New columns are then read from the documents."))

        async def create() -> Table:
            now = await visit_now("write")
            made = await make_document_table(now.services, (name.value or "").strip() or "Documents", kind.value)
            return made.table

        dialog_buttons(window, (t("Create"), create))
    await open_created_table(window)


async def open_created_table(window: ui.dialog) -> None:
    if table := await wait_for_answer(window):
        ui.navigate.to(f"/tables/{table.id}")


# ── first steps ───────────────────────────────────────────────────────────────────────────────────────────────────────


@ui.page("/start", title="First steps · Tablewright")
async def start_page(step: str = "model") -> None:
    reasons: PageText[dict[str, str]] = {
        "model": "A language model reads pages and documents and judges what they say. Without one, only what is "
        "stated plainly can be found.",
        "search": "Facts are looked up with this search engine. One with a key is reliable. Without a key you can "
        "start right away, but only a few searches in a row are allowed.",
        "table": "Add your rows, then ask for columns.",
    }
    steps: PageText[dict[str, str]] = {"model": "Model", "search": "Web search", "table": "First table"}
    visit = await visit_now()
    step = step if step in steps and visit.person.may_administer else "table"
    names = list(steps)
    number = names.index(step)
    with titled_page(t("Getting started"), here=""):
        with ui.element("ol").classes("tw-guide").props(f'aria-label="{t("Steps")}"'):
            for place, name in enumerate(names, 1):
                with ui.element("li").props("aria-current=step" if name == step else ""):
                    ui.link(f"{place}. {t(steps[name])}", f"/start?step={name}")
        show_remark(t(reasons[step]))
        if step == "table":
            if visit.person.may_change:
                show_new_table_buttons()
            with flex_row():
                sample_button()
                explain_sample()
            return

        def go_on() -> None:
            ui.navigate.to(f"/start?step={names[number + 1]}")

        SETTINGS_CARDS[step](visit.server.settings, on_save=go_on).build()
        with flex_row():
            ui.button(t("Skip"), icon="skip_next", on_click=go_on).props("flat")
