"""The menus and dialogs of a table: export it, show its history, schedule it, change a column or a cell."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast
from urllib.parse import urlencode

import msgspec
from nicegui import ui

from tablewright.conditions.evaluate import make_column_filter, value_sort_key
from tablewright.domain.condition import CONDITION_OPERATORS, UNARY_OPERATORS, Condition, split_condition_values
from tablewright.domain.edits import RemoveField
from tablewright.domain.history import Change, Rollback
from tablewright.domain.model import Cell, Field, Money, RowId, Table
from tablewright.domain.text import cell_text, format_float, shorten_text
from tablewright.errors import UsageError
from tablewright.interfaces.page.elements import (
    KEEP_DIALOG_OPEN,
    build_dialog,
    compact_button,
    dialog_buttons,
    format_page_time,
    show_paragraph,
    show_remark,
    show_web_link,
    wait_for_answer,
)
from tablewright.interfaces.page.frame import show_notice, visit_now
from tablewright.interfaces.page.table.cells import CellSelection, RowRange, row_orders, selection_as_markdown
from tablewright.interfaces.page.words import TYPE_NAMES, all_rows_text, counted_text, t, translate_choices, type_text
from tablewright.messages.catalogue import PageText
from tablewright.operations.files import read_sheets_account, write_to_sheets
from tablewright.operations.grid_rows import cell_mark
from tablewright.operations.operation import TableRequest
from tablewright.operations.rows import read_column
from tablewright.operations.schedules import (
    ListSchedules,
    ScheduleShown,
    SetSchedule,
    list_schedules,
    remove_schedules,
    set_schedule,
)
from tablewright.operations.tables import ListChanges, list_changes
from tablewright.services import Services
from tablewright.values.units import format_with_unit

if TYPE_CHECKING:
    from tablewright.interfaces.page.table.page import OpenTable
    from tablewright.operations.fill import RecheckResult


class ExportMenu:
    def __init__(self, page: OpenTable) -> None:
        self._page = page

    def build(self) -> None:
        with compact_button(t("Export"), "download"):
            self._menu = ui.menu().on("before-show", self._fill)

    @property
    def _query(self) -> dict[str, str]:
        """Return the rows that are shown, and their order."""
        view, query = self._page.views.view, self._page.grid.query()
        return {**query, "sort": view.sort, "descending": str(view.descending).lower()}

    async def _fill(self) -> None:
        services = (await visit_now()).services
        total, wanted = await services.count(self._page.table.id), self._page.grid.wanted
        self._menu.clear()
        with self._menu:
            if wanted.is_filtered:
                shown = len(await row_orders().order(services, wanted))
                self._offer(t("{count} row shown|{count} rows shown", count=shown), shown=True)
                ui.separator()
            self._offer(all_rows_text(total), shown=False)

    def _offer(self, rows: str, *, shown: bool) -> None:
        formats: PageText[tuple[tuple[str, dict[str, str]], ...]] = (
            ("CSV", {"format": "csv"}),
            ("CSV with evidence", {"format": "csv", "evidence": "true"}),
            ("Excel with evidence", {"format": "xlsx"}),
            ("JSON", {"format": "json"}),
        )
        ui.item_label(rows).props("header").classes("tw-menu-head")
        for label, query in formats:
            ui.menu_item(t(label), on_click=partial(self._download, query, rows, shown=shown))
        ui.menu_item(t("Copy as Markdown"), on_click=partial(self._copy, rows, shown=shown))
        if self._page.may_change:
            ui.menu_item(t("Google Sheets…"), on_click=partial(self._send, rows, shown=shown))

    def _download(self, query: dict[str, str], rows: str, *, shown: bool) -> None:
        query = {**self._query, "shown": "true", **query} if shown else query
        ui.navigate.to(f"/page-data/tables/{self._page.table.id}/file?{urlencode(query)}")
        show_notice(f"{t('Exporting: {rows}.', rows=rows)} {self._waiting}".strip())

    @property
    def _waiting(self) -> str:
        """Return the note that files leave out proposed values, or ""."""
        return t("Values waiting for review are not included.") if self._page.proposals.heads else ""

    async def _send(self, rows: str, *, shown: bool) -> None:
        services = (await visit_now()).services
        row_ids = list(await row_orders().order(services, self._page.grid.wanted)) if shown else None
        await ask_google_sheet(self._page.table.id, rows, row_ids, self._waiting)

    async def _copy(self, rows: str, *, shown: bool) -> None:
        visit = await visit_now()
        table = await visit.table(self._page.table.id)
        names = tuple(field.name for field in table.shown_fields)
        picked = CellSelection(spans=(RowRange(),), fields=names, query=self._query if shown else {})
        ui.clipboard.write(await selection_as_markdown(visit.services, table, picked))
        show_notice(f"{t('Copied as Markdown: {rows}.', rows=rows)} {self._waiting}".strip())


# ── Google Sheets ───────────────────────────────────────────────────────────────────────────────────────────────────
# A table to Google Sheets: into a spreadsheet whose link is given, or into a new one for an address.


async def ask_google_sheet(table_id: str, rows: str, row_ids: Sequence[RowId] | None, waiting: str) -> None:
    """Send a table to a spreadsheet whose link is given, or a new one; `rows` says which, `waiting` what is missing."""
    account = read_sheets_account((await visit_now("write", table_id)).services.settings)
    with build_dialog(t("Export to Google Sheets"), persistent=True) as window:
        show_paragraph(" ".join(filter(None, (f"{rows}.", waiting))), "tw-muted")
        to = ui.input(t("Link to a spreadsheet, or your Google address for a new one"))
        to.props("autofocus maxlength=500").classes("w-full")
        show_remark(
            t(
                "Share the spreadsheet with {account} as an editor first. What is in it stays as it is.",
                account=account,
            )
        )
        result = ui.element("div").props("role=status")

        async def send() -> object:
            visit = await visit_now("write", table_id)
            sent = await write_to_sheets(visit.services, table_id, to.value or "", row_ids=row_ids)
            result.clear()
            with result:
                show_paragraph(
                    t("Wrote {rows} to “{sheet}”.", rows=counted_text(sent.row_count, "row"), sheet=sent.sheets[0])
                )
                show_web_link(t("Open the spreadsheet"), sent.link)
            return KEEP_DIALOG_OPEN

        to.on("keydown.enter", dialog_buttons(window, (t("Export"), send), cancel=t("Close")))
    await wait_for_answer(window)


# ── history ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class UndoStack:
    """The changes of one open page, for Ctrl+Z and Ctrl+Y. An undo is a change in the history, too; undoing it restores
    the change. Changes by others are left to the history."""

    def __init__(self, table_id: str) -> None:
        self._table_id = table_id
        self._done: list[int] = []
        self._undone: list[int] = []
        self._turn = asyncio.Lock()

    def note(self, change: Change | None) -> None:
        if change is not None:
            self._done.append(change.number)
            # As in every editor, a new change ends the chain of what can be redone.
            self._undone.clear()

    async def undo(self, *, again: bool = False) -> None:
        """Undo the last change, or redo with `again` what was undone last."""
        these, those = (self._undone, self._done) if again else (self._done, self._undone)
        # Keys may be pressed faster than changes are undone.
        async with self._turn:
            changes = (await visit_now("write", self._table_id)).services.changes
            while these:
                done = await changes.undo_change(self._table_id, these.pop())
                if done.change is not None:
                    those.append(done.change.number)
                    notify_undone(done, again=again)
                    return
            nothing = t("Nothing left to undo on this page. History has all changes.")
            show_notice(t("Nothing to redo.") if again else nothing, good=False)


async def show_table_history(table: Table, *, may_change: bool) -> bool:
    """Show who changed the table and when; True if something was undone."""
    visit = await visit_now()
    table_id = (await visit.table(table.id)).id
    # More than a person reads in a dialog.
    changes = (await list_changes(visit.services, ListChanges(table=table_id, limit=100))).changes
    with build_dialog(t("History"), wide=True) as window:
        show_remark(t("Undoing is a change too, so it can be undone itself. Later changes are kept."))
        with ui.element("ol").classes("tw-history"):
            for change in changes:
                show_history_entry(window, table, change, may_change=may_change)
        dialog_buttons(window, cancel=t("Close"))
    return bool(await wait_for_answer(window))


def show_history_entry(window: ui.dialog, table: Table, change: Change, *, may_change: bool) -> None:
    async def undo(*, back_to_here: bool = False) -> None:
        changes = (await visit_now("write", table.id)).services.changes
        number = change.number
        undone = changes.go_back(table.id, str(number)) if back_to_here else changes.undo_change(table.id, number)
        notify_undone(await undone)
        window.submit(True)

    with ui.element("li").classes("tw-change"):
        ui.label(str(change.number)).classes("tw-chip")
        with ui.element("div").classes("tw-grow"):
            show_paragraph(change.note or change.kind)
            edits = counted_text(change.edits, "edit") if change.edits else ""
            with ui.element("div").classes("tw-row tw-small tw-muted"):
                show_paragraph(" · ".join(filter(None, (format_page_time(change.at), change.actor, edits))))
                if change.run_id:
                    ui.link(t("Run"), f"/runs/{change.run_id}")
        look = 'flat dense padding="2px 8px"'
        # The first change created the table; undoing it would leave nothing.
        if may_change and change.number > 1:
            button = ui.button(t("Undo"), icon="undo", on_click=undo).props(look)
            button.props["aria-label"] = t("Undo change {number}", number=change.number)
        if may_change:
            restore = partial(undo, back_to_here=True)
            button = ui.button(t("Restore this version"), icon="restore", on_click=restore).props(look)
            button.props["aria-label"] = t("Restore this version: change {number}", number=change.number)


def notify_undone(done: Rollback, *, again: bool = False) -> None:
    """Show a notice of what was undone, or redone with `again`."""
    if done.change is None:
        show_notice(t("Nothing left to undo."), good=False)
        return
    lines = [t("Done again.") if again else t("Undone.")]
    if done.cells and not again:
        lines.append(t("{count} cell restored.|{count} cells restored.", count=done.cells))
    if done.kept_cells:
        lines.append(t("{count} changed since then and kept.", count=done.kept_cells))
    if done.kept_fields:
        lines.append(t("Kept because cells have changed since: {fields}.", fields=", ".join(done.kept_fields)))
    show_notice(" ".join(lines))


# ── schedule ──────────────────────────────────────────────────────────────────────────────────────────────────────────


ROUTINES: PageText[dict[str, str]] = {
    "recheck": "Recheck: flag values that their sources no longer state",
    "refresh": "Refresh: recheck, then search again for flagged, empty or stale values",
}
SCHEDULE_INTERVALS: PageText[dict[str, str]] = {"hour": "Every hour", "day": "Every day", "week": "Every week"}


async def ask_schedule(table: Table, column: str = "") -> None:
    """Ask for a schedule of rechecks or refreshes, for all columns with a question or for `column` alone."""
    visit = await visit_now("run", table.id)
    known = (await list_schedules(visit.services, ListSchedules(table=table.id))).schedules
    columns = [field.name for field in table.shown_fields if field.is_asked]
    with build_dialog(t("Schedule")) as window:
        for each in known:
            show_paragraph(describe_schedule(each), "tw-small")
            if each.paused:
                show_paragraph(each.paused, "tw-small")
        routine = ui.radio(translate_choices(ROUTINES), value="recheck")
        routine.props["aria-label"] = t("Action")
        every = ui.select(translate_choices(SCHEDULE_INTERVALS), value="week", label=t("How often"))
        chosen = ui.select(columns, value=[column] if column else [], multiple=True, label=t("Columns"))
        chosen.props("use-chips clearable").props["hint"] = t("Leave empty for all columns")
        show_paragraph(t("Runs at night (UTC) while the server is up. New values wait for your review."), "tw-muted")

        async def save() -> str:
            fields = tuple(chosen.value or ())
            request = SetSchedule(table=table.id, routine=routine.value, every=every.value, fields=fields)
            await set_schedule((await visit_now("run", table.id)).services, request)
            return t("Scheduled.")

        async def stop() -> str:
            await remove_schedules((await visit_now("write", table.id)).services, TableRequest(table=table.id))
            return t("Nothing is scheduled for this table.")

        remove = [(t("Remove schedule"), stop)] if known else []
        dialog_buttons(window, *remove, (t("Save"), save))
    if done := await wait_for_answer(window):
        show_notice(done)


def describe_schedule(schedule: ScheduleShown) -> str:
    intervals = {"0 * * * *": "hour", "0 3 * * *": "day", "0 3 * * 1": "week"}
    what = t(ROUTINES[schedule.routine]).partition(":")[0]
    of = ", ".join(schedule.fields) or t("all columns")
    often = SCHEDULE_INTERVALS.get(intervals.get(schedule.cron, ""), "")
    last = format_page_time(schedule.last_at) or t("never")
    return f"{what}: {of} · {t(often) if often else schedule.cron} · {t('last run: {when}', when=last)}"


# ── columns ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def ask_column_changes(table: Table, field: Field) -> Change | None:
    """Ask for the name, type and question of a column, and return the change, if any."""
    with build_dialog(t("Edit column {name}", name=shorten_text(field.name, 60)), wide=True) as window:
        with ui.element("div").classes("tw-form"):
            name = ui.input(t("Name"), value=field.name).props("autofocus maxlength=300")
            kind = ui.select(translate_choices(TYPE_NAMES), value=field.type, label=t("Type"))
            detail = detail_input(kind, ", ".join(field.options) or field.unit)
            question = ui.textarea(t("Question or formula"), value=field.question).props("autogrow").classes("tw-whole")
        if field.question:
            show_remark(
                t(
                    "Changing the question does not change any values. Use “Edit question and run again” to look "
                    "them up again."
                )
            )

        async def save() -> Change | None:
            changed = msgspec.structs.replace(
                field, name=(name.value or "").strip(), question=(question.value or "").strip(), type=kind.value
            )
            changes = (await visit_now("write", table.id)).services.changes
            return await changes.change_column(table.id, field.name, with_options_or_unit(changed, detail.value or ""))

        name.on("keydown.enter", dialog_buttons(window, (t("Save"), save)))
    return cast(Change | None, await wait_for_answer(window))


def detail_input(kind: ui.select, value: str = "") -> ui.input:
    """Show a field for the options of a select, or the unit of a figure; hidden for other types."""
    labels = {
        "select": t("Options, separated by commas"),
        "number": t("Unit (optional), e.g. kg"),
        "money": t("Currency (optional), e.g. EUR"),
    }
    detail = ui.input(value=value).classes("tw-whole")

    def show() -> None:
        detail.props["label"] = labels.get(kind.value, "")
        detail.set_visibility(kind.value in labels)

    kind.on_value_change(show)
    show()
    return detail


def with_options_or_unit(field: Field, detail: str) -> Field:
    options = tuple(option.strip() for option in detail.split(",") if option.strip())
    return msgspec.structs.replace(
        field,
        unit=detail.strip() if field.type in ("number", "money") else "",
        options=options if field.type == "select" else (),
    )


async def ask_filter(field: Field, fields: Sequence[Field], known: Condition | None) -> tuple[Condition | None] | None:
    """Ask for a condition on a column: (None,) removes it, None leaves all as it is."""
    with build_dialog(t("Filter {name}", name=shorten_text(field.name, 60))) as window:
        # What people mostly look for: a word in a text, a figure from a limit on.
        usual = "contains" if field.type not in ("number", "money", "date") else ">="
        operator = ui.select(
            translate_choices(CONDITION_OPERATORS), value=known.operator if known else usual, label=t("Condition")
        )
        value = ui.input(t("Value"), value=known.written_values if known else "").props("autofocus")
        value.bind_visibility_from(operator, "value", lambda chosen: chosen not in UNARY_OPERATORS)

        async def condition() -> tuple[Condition]:
            values = (
                () if operator.value in UNARY_OPERATORS else split_condition_values(value.value or "", operator.value)
            )
            chosen = Condition(column=field.name, operator=operator.value, values=values)
            # Raises if the value does not suit the column, while the dialog is still open.
            make_column_filter(chosen, fields)
            return (chosen,)

        remove = [(t("Remove filter"), (None,))] if known else []
        value.on("keydown.enter", dialog_buttons(window, *remove, (t("Filter"), condition)))
    return cast(tuple[Condition | None] | None, await wait_for_answer(window))


async def delete_column(table: Table, field: Field) -> Change | None:
    changes = (await visit_now("write", table.id)).services.changes
    change = await changes.edit(table.id, [RemoveField(name=field.name)], f"deleted column {field.name}")
    show_notice(t("{name} deleted. Press Ctrl+Z to undo.", name=shorten_text(field.name, 60)))
    return change


async def column_statistics(services: Services, table: Table, field: Field) -> list[tuple[str, str]]:
    """Summarise the values of a column, one figure in each line."""
    mark_names: PageText[dict[str, str]] = {
        "own": "Given or typed in",
        "high": "High confidence",
        "medium": "Medium confidence",
        "low": "Low confidence",
        "flagged": "Flagged",
        "failed": "Not found",
        "empty": "Empty",
    }
    summaries: PageText[tuple[tuple[str, Callable[[list[float]], float]], ...]] = (
        ("Sum", sum),
        ("Average", lambda all: sum(all) / len(all)),
        ("Smallest", min),
        ("Largest", max),
    )
    marks: Counter[str] = Counter()
    texts: Counter[str] = Counter()
    figures: dict[str, list[float]] = {}
    """By currency, because nothing is converted; else by the unit of the column."""

    def take(_: RowId, cell: Cell) -> None:
        marks[cell_mark(cell)] += 1
        if cell.value is not None:
            texts[cell_text(cell)] += 1
            if isinstance(value := value_sort_key(cell.value), float):
                unit = cell.value.currency if isinstance(cell.value, Money) else ""
                figures.setdefault(unit or field.unit, []).append(value)

    await read_column(services, table.id, field.name, take)
    filled = texts.total()
    lines = [
        (t("Filled"), t("{filled} of {all}", filled=filled, all=marks.total())),
        (t("Distinct values"), f"{len(texts):,}"),
    ]
    if figures and field.type in ("number", "money"):
        for name, of in summaries:
            # Four decimals: an average has endless ones.
            shown = [format_with_unit(format_float(round(of(some), 4)), unit) for unit, some in sorted(figures.items())]
            lines.append((t(name), "\n".join(shown)))
    elif texts:
        # Five fit into the dialog without scrolling.
        common = texts.most_common(5)
        lines.append((t("Most common"), "\n".join(f"{shorten_text(value, 60)}: {count:,}" for value, count in common)))
    lines += [(t(mark_names[name]), f"{marks[name]:,}") for name in mark_names if marks[name]]
    return lines


async def show_column_statistics(services: Services, table: Table, field: Field) -> None:
    lines = await column_statistics(services, table, field)
    with build_dialog(shorten_text(field.name, 80)) as window:
        with ui.element("dl").classes("tw-facts"):
            for name, value in lines:
                with ui.element("dt"):
                    ui.label(name)
                with ui.element("dd"):
                    show_paragraph(value)
        dialog_buttons(window, cancel=t("Close"))
    await wait_for_answer(window)


# ── editing cells ───────────────────────────────────────────────────────────────────────────────────────────────────


async def ask_cell_value(name: str, field: Field, content: str, save: Callable[[str], Awaitable[None]]) -> None:
    """Ask for the text of a cell; the dialog stays open if the column does not accept it."""
    # Every change of the text area sends the whole text.
    most_characters = 100_000
    if len(content) > most_characters:
        raise UsageError(
            t("This text has {content} characters, too many to edit here.", content=len(content)),
            advice=t("Export the table, edit the file and import it."),
        )
    with build_dialog(t("Edit {name}", name=shorten_text(field.name, 60)), wide=True) as window:
        show_remark(f"{shorten_text(name, 80)}; {type_text(field)}")
        given = ui.textarea(t("Value"), value=content).props(
            f"autofocus rows=8 debounce=200 maxlength={most_characters}"
        )
        dialog_buttons(window, (t("Save"), lambda: save(given.value or "")))
    await wait_for_answer(window)


async def ask_name_and_tags(name: str, tags: Sequence[str]) -> tuple[str, list[str]]:
    """Ask for the name and tags of a table; the name is "" if nothing changes."""
    with build_dialog(t("Rename and tag")) as window:
        named = ui.input(t("Table name"), value=name).props("autofocus maxlength=200")
        tagged = ui.input(t("Tags, separated by commas"), value=", ".join(tags)).props("maxlength=500")
        show_remark(t("Tags group your tables: a client, a project, a quarter."))
        save = dialog_buttons(window, (t("Save"), True))
        named.on("keydown.enter", save)
        tagged.on("keydown.enter", save)
    is_saved = await wait_for_answer(window)
    return (named.value or "").strip() if is_saved else "", (tagged.value or "").split(",")


async def ask_flag_reason(*, may_look: bool) -> tuple[str | None, bool]:
    """Ask what is wrong with a cell, and whether to search again at once; return no reason if it is not flagged."""
    with build_dialog(t("What is wrong?")) as window:
        reason = ui.input(t("Reason"), placeholder=t("e.g. this is a different company")).props("autofocus")
        show_paragraph(
            t("The cell keeps its value and evidence. The next search uses your reason and looks elsewhere."),
            "tw-muted",
        )
        reason.on("keydown.enter", lambda: window.submit("flag"))
        again = [(t("Flag and search again"), "look")] if may_look else []
        dialog_buttons(window, (t("Flag"), "flag"), *again)
    choice = await wait_for_answer(window)
    return (reason.value or "").strip() if choice else None, choice == "look"


def notify_rechecked(done: RecheckResult) -> None:
    """Show a notice of what the cited pages say now."""
    verdicts: PageText[dict[str, str]] = {
        "supported": "The source still says so.",
        "changed": "The source no longer says so. The cell is flagged.",
        "unknown": "The source could not be checked.",
    }
    found = [verdict.verdict for verdict in done.cells]
    if not found:
        show_notice(t("None of these cells has a source to check."), good=False)
    elif len(found) == 1:
        words = t(verdicts.get(found[0], verdicts["unknown"]))
        note = done.cells[0].note
        show_notice(words + (f"\n{note}" if note else ""), good=found[0] == "supported")
    else:
        same, changed = found.count("supported"), found.count("changed")
        words = t(
            "{count} cell checked: {same} still supported, {changed} flagged because the source changed, {unknown} "
            "could not be checked.|"
            "{count} cells checked: {same} still supported, {changed} flagged because the source changed, "
            "{unknown} could not be checked.",
            count=len(found),
            same=same,
            changed=changed,
            unknown=len(found) - same - changed,
        )
        show_notice(words, good=same == len(found))
