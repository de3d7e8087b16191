"""All tables, and the ways to a first one: a sample, or a file."""

from __future__ import annotations

import tempfile
from importlib.resources import as_file, files
from pathlib import Path

import msgspec
from nicegui import events, ui
from nicegui.elements.upload_files import FileUpload

from tablewright.app import FileOptions, Imported, KnownFile, TableSummary
from tablewright.doors.api.uploads import safe_name
from tablewright.doors.server.context import Visit
from tablewright.doors.web.frame import empty_state, frame, heading, say, text, visit_now, visit_to_change
from tablewright.doors.web.plain import when
from tablewright.doors.web.uploads import file_drop
from tablewright.table.text import plural

LARGEST = 200 * 1024 * 1024
KINDS = ".csv,.tsv,.txt,.xlsx,.json,.jsonl,.md,.parquet"


@ui.page("/", title="Tables · Tablewright")
async def tables_page() -> None:
    visit = await visit_now()
    tables = await visit.tablewright.tables()
    with frame("Tables", here="/"):
        if tables:
            show_tables(tables)
            if visit.person.may_change:
                heading("Another one")
                show_drop()
                with ui.element("div").classes("tw-row"):
                    find_button()
                    ui.button("Try it with a sample table", icon="science", on_click=bring_sample).props("outline")
        elif visit.person.may_change:
            show_first_visit(visit)
        else:
            with empty_state("No table is shared with you yet", "table_chart"):
                ui.label("Ask an editor or an admin to grant you one; it then appears here.")


def show_first_visit(visit: Visit) -> None:
    with empty_state("Fill a table with facts that carry their evidence", "table_chart"):
        ui.label(
            "Bring rows, such as companies or products. Ask for columns in your own words. Every value that is found "
            "says where it stands, word for word, and how sure it is; what is not found stays empty and says why."
        )
        ui.button("Try it with a sample table", icon="science", on_click=bring_sample).props("unelevated size=lg")
        ui.label(sample_outlook(visit.tablewright.settings.search)).classes("tw-muted tw-small")
        ui.label("or").classes("tw-muted")
        show_drop()
        ui.label("or").classes("tw-muted")
        find_button()


def find_button() -> None:
    ui.button("Find rows", icon="manage_search", on_click=lambda: ui.navigate.to("/find")).props("outline")


def sample_outlook(search: str) -> str:
    """What will happen with the sample table, by where this server searches."""
    if search.strip() == "sample":
        return (
            "Twelve fictional companies, and a small web about them that comes with Tablewright: asking a column works "
            "at once, without a key and without the internet."
        )
    return (
        f"Twelve fictional companies. This server searches with {search.partition(':')[0]}, where they are not known, "
        "so columns that you ask stay empty; start the server with TABLEWRIGHT_SEARCH=sample to see them filled."
    )


def show_drop() -> None:
    label = "Drop a CSV or Excel file here, or click to choose one"
    file_drop(label, KINDS, largest=LARGEST, several=False, take=take_file, refuse=refuse_file).classes("tw-drop")


def refuse_file() -> None:
    say(f"That file is not taken. It must be one of {KINDS.replace(',', ', ')}, of at most 200 MB.", good=False)


async def bring_sample() -> None:
    visit = await visit_to_change()
    with as_file(files("tablewright.sample") / "companies.csv") as path:
        imported = await visit.tablewright.import_file(path, FileOptions(name="Sample companies"))
    ui.navigate.to(f"/tables/{imported.table.id}")


async def take_file(event: events.UploadEventArguments) -> None:
    event.sender.run_method("reset")  # it takes one file at a time, and this one has arrived
    await import_upload(event.file)


async def import_upload(file: FileUpload) -> None:
    visit = await visit_to_change()
    with tempfile.TemporaryDirectory(prefix="tablewright-upload-") as folder:
        path = Path(folder) / safe_name(file.name, "table")
        await file.save(path)
        options = FileOptions(name=path.stem, origin=f"upload:{visit.person.id}:{path.name}")
        known = await visit.tablewright.recognise_file(path, options)
        if known is not None:
            choice = await ask_which_table(path.name, known)
            if choice == "known" and known.changed:
                await visit.tablewright.add_new_rows(known)
            if choice == "known":
                ui.navigate.to(f"/tables/{known.table.id}")
            if choice != "new":
                return
        imported = await visit.tablewright.import_file(path, options)
        while (answer := await show_understood(imported, options)) != options:
            await visit.tablewright.remove_table(imported.table.id)
            if answer is None:
                return
            options = answer
            imported = await visit.tablewright.import_file(path, options)
    ui.navigate.to(f"/tables/{imported.table.id}")


async def ask_which_table(file: str, known: KnownFile) -> str | None:
    """A file that was imported before goes on with its table ("known"), unless the person wants a new one ("new")."""
    rows = f"{len(known.new_rows):,} new {plural('row', len(known.new_rows))}"
    changed = f"{file} has changed since it became the table {known.table.name}. "
    with ui.dialog().props("persistent") as window, ui.card().classes("tw-dialog"):
        ui.label("This file was imported before").classes("tw-h2")
        if known.changed and known.new_rows:
            text(f"{changed}It has {rows}; what is in the table stays as it is.")
        elif known.changed:
            text(f"{changed}It has no new rows, and what is in the table stays as it is.")
        else:
            text(f"{file} is the table {known.table.name}.")
        with ui.element("div").classes("tw-row tw-end"):
            ui.button("Do not import", on_click=lambda: window.submit(None)).props("flat")
            ui.button("Make a new table", on_click=lambda: window.submit("new")).props("flat")
            go_on = f"Add {rows}" if known.new_rows else "Open the table"
            ui.button(go_on, on_click=lambda: window.submit("known")).props("unelevated")
    answer: str | None = await window
    window.delete()
    return answer


async def show_understood(imported: Imported, options: FileOptions) -> FileOptions | None:
    """How the file was read, for the person to confirm: the same options, others to read it again with, or None."""
    table = imported.table
    with ui.dialog().props("persistent") as window, ui.card().classes("tw-dialog tw-dialog-wide"):
        ui.label("This is how the file was read").classes("tw-h2")
        text(f"{table.name}: {imported.rows:,} {plural('row', imported.rows)}, {len(table.fields)} columns", "tw-muted")
        with ui.element("div").classes("tw-types"):
            for field in table.fields:
                with ui.element("div").classes("tw-chip"):
                    text(field.name)
                    ui.label(field.type + (f", {field.unit}" if field.unit else "")).classes("tw-muted")
        for warning in imported.warnings:
            text(f"⚠ {warning}", "tw-small")
        names = [field.name for field in table.fields]
        key = ui.select(names, value=table.key_field or None, label="What names a row").props("outlined dense")
        header = ui.checkbox("The first line has the names of the columns", value=options.header)
        with ui.element("div").classes("tw-row tw-end"):
            ui.button("Do not import", on_click=lambda: window.submit(None)).props("flat")

            def go_on() -> None:
                if header.value != options.header:
                    window.submit(msgspec.structs.replace(options, header=header.value, key_field=""))
                elif key.value not in (None, table.key_field):
                    window.submit(msgspec.structs.replace(options, key_field=key.value))
                else:
                    window.submit(options)

            ui.button("Open the table", on_click=go_on).props("unelevated")
    answer: FileOptions | None = await window
    window.delete()
    return answer


def show_tables(tables: list[TableSummary]) -> None:
    with ui.element("ul").classes("tw-cards").props('aria-label="Tables"'):
        for table in sorted(tables, key=lambda each: each.changed_at, reverse=True):
            with (
                ui.element("li").classes("tw-plain"),
                ui.link(target=f"/tables/{table.id}").classes("tw-card tw-table"),
            ):
                text(table.name, "tw-h2")
                text(
                    f"{table.rows:,} {plural('row', table.rows)} · {table.fields} {plural('column', table.fields)}",
                    "tw-muted",
                )
                text(f"changed {when(table.changed_at)}", "tw-muted tw-small")
