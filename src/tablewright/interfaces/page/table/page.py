"""The page of one table: it joins the grid with its menus, runs, proposals and the panel of evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Literal

import msgspec
from nicegui import context, events, ui

from tablewright.domain.history import Change, TableActivity, WrittenValue
from tablewright.domain.model import Field, RowId, Table
from tablewright.domain.proposal import ApplyOutcome, ProposalHead
from tablewright.domain.run import Run
from tablewright.domain.text import cell_text, shorten_text
from tablewright.errors import NotFound, TablewrightError, UsageError
from tablewright.interfaces.page.elements import ask_confirmation, compact_button
from tablewright.interfaces.page.frame import (
    answer_missing,
    empty_state,
    error_advice,
    page_frame,
    show_notice,
    visit_now,
)
from tablewright.interfaces.page.sharing import can_share, share_button
from tablewright.interfaces.page.table.ask_column import Redo, RowScope, ask_columns
from tablewright.interfaces.page.table.cells import (
    CellSelection,
    PastedBlock,
    ask_new_row,
    change_selection,
    paste_cells,
    row_orders,
    selected_row_ids,
    selected_table_columns,
)
from tablewright.interfaces.page.table.dialogs import (
    ExportMenu,
    UndoStack,
    ask_cell_value,
    ask_column_changes,
    ask_name_and_tags,
    ask_schedule,
    delete_column,
    notify_rechecked,
    show_column_statistics,
    show_table_history,
)
from tablewright.interfaces.page.table.evidence_panel import CellPanel
from tablewright.interfaces.page.table.grid import TableGrid, ViewBar, grid_columns, load_view
from tablewright.interfaces.page.table.rows import read_row_block
from tablewright.interfaces.page.table.run_bar import ProposalPanel, RunBar
from tablewright.interfaces.page.words import t
from tablewright.operations.fill import FillOptions, RecheckTable, plan_fill, recheck
from tablewright.operations.grid_rows import RowQuery, count_marks
from tablewright.operations.operation import TableRequest
from tablewright.operations.rows import list_row_ids
from tablewright.operations.tables import RenameTable, TagTable, remove_table, rename_table, tag_table

# Seconds between checks: for changes by other people, who expect them to show at once, and for ended runs.
TABLE_CHECK_SECONDS, RUN_CHECK_SECONDS = 0.4, 2.0
# Counting marks reads every row. Above the first limit it is left out, above the second it is not repeated after every
# change.
MAX_COUNTED_ROWS, MAX_RECOUNTED_ROWS = 30_000, 5_000


@ui.page("/tables/{table_id}", title="Table · Tablewright")
@answer_missing
async def table_page(table_id: str, view: str = "") -> None:
    visit = await visit_now()
    table = await visit.table(table_id)
    ui.page_title(f"{table.name} · Tablewright")
    page = OpenTable(table, await visit.services.count(table.id), may_change=visit.person.may_change)
    await page.build(view)


class OpenTable:
    """One open page of a table."""

    def __init__(self, table: Table, rows: int, *, may_change: bool) -> None:
        self.table = table
        self.may_change = may_change
        self.undo = UndoStack(table.id)
        self._rows = rows
        self._activity = TableActivity()
        self._writing = asyncio.Lock()
        """Held while a cell is written, so that edits are saved in the order in which they were typed."""
        self._runs: list[Run] = []
        self._client = context.client

    async def build(self, view_name: str) -> None:
        heads = await self._read()
        view = await load_view(self.table.id, view_name)
        self._may_share = await can_share()
        self.panel = CellPanel(self)
        with page_frame(self.table.name, here="/", wide=True):
            self._main = context.slot.parent
            self.views = ViewBar(self, view)
            self._build_bar()
            self.run = RunBar(self)
            self.proposals = ProposalPanel(self)
            self.proposals.heads = heads
            self.views.build(self._rows)
            wanted = RowQuery(
                table_id=self.table.id,
                proposals=self.proposals.ids,
                only=view.only,  # type: ignore[arg-type]
                find=view.find,
                filters=view.filters,
            )
            self.grid = TableGrid(self.table, self.extra(), wanted, view, rows=self._rows, may_edit=self.may_change)
            self.panel.watch()
        self.proposals.show(heads, self._rows_left(heads))
        self._listen()
        await self.run.follow_newest(self._runs)
        self._change_timer = ui.timer(TABLE_CHECK_SECONDS, self._check_for_changes)
        ui.timer(RUN_CHECK_SECONDS, self._check_runs)
        if self._rows <= MAX_RECOUNTED_ROWS:
            await self._count()
        else:
            # Counting a large table takes a moment, so the page is shown first.
            ui.timer(1.0, self._count, once=True)

    def _listen(self) -> None:
        """Handle the events of the grid."""
        ui.on("grid_edit", lambda event: self._write(event.args["row_id"], event.args["field"], event.args["text"]))
        ui.on("grid_edit_apart", lambda event: self.edit_cell(event.args["row_id"], event.args["field"]))
        ui.on("grid_paste", self._paste)
        ui.on("grid_undo", self._undo)
        ui.on("grid_redo", partial(self._undo, again=True))
        ui.on("grid_ask", self._ask_for_selection)
        ui.on("grid_recheck", self._recheck_picked)
        ui.on("grid_add_row", self._add_row)
        ui.on("grid_column", self._act_on_column)
        ui.on("grid_notice", lambda event: show_notice(str(event.args["text"]), good=bool(event.args["good"])))
        for name in ("clear", "fill_down", "delete_rows"):
            ui.on(f"grid_{name}", partial(self._change_selection, name))

    # ── what is around the grid ──────────────────────────────────────────────────────────────────────────────────────

    def _build_bar(self) -> None:
        with ui.element("div").classes("tw-bar"):
            with ui.element("div").classes("tw-grow tw-title"):
                ui.link(t("Tables"), "/").classes("tw-small")
                self._title = ui.label(self.table.name).classes("tw-h1 tw-ellipsis")
                self._title.props("role=heading aria-level=1")
            with ui.element("div").classes("tw-row tw-actions"):
                if self.may_change:
                    ui.button(t("Add columns"), icon="add", on_click=partial(self.ask, None)).props("unelevated")
                    compact_button(t("Add a row"), "playlist_add", self._add_row)
                self.views.build_menu()
                compact_button(t("History"), "history", self._show_history)
                if self._may_share:
                    share_button("table", self.table.id)
                ExportMenu(self).build()
                with (
                    ui.button(icon="more_vert").props(f'flat round aria-label="{t("More")}"').classes("tw-more"),
                    ui.menu(),
                ):
                    runs = f"/runs?table={self.table.id}"
                    ui.menu_item(t("Runs and statistics"), on_click=lambda: ui.navigate.to(runs))
                    if self.may_change:
                        ui.menu_item(t("Schedule…"), on_click=partial(ask_schedule, self.table))
                        ui.menu_item(t("Rename and tag…"), on_click=self._rename)
                        ui.menu_item(t("Delete table…"), on_click=self._delete)

    # ── what is known ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _read(self) -> list[ProposalHead]:
        """Read the table again, and return its undecided proposals, the newest first."""
        visit = await visit_now()
        self.table = await visit.table(self.table.id)
        self._activity = await visit.services.store.tables.activity(self.table.id)
        self._runs = await self._list_runs()
        heads = await visit.services.store.proposals.all(self.table.id)
        return [head for head in heads if head.status in ("open", "building")]

    async def _list_runs(self) -> list[Run]:
        # Newer runs may have started and ended since the running one did.
        return await (await visit_now()).services.jobs.all(self.table.id, limit=20)

    def extra(self) -> list[Field]:
        """Return columns that only proposals have."""
        proposed = [field for head in reversed(self.proposals.heads) for field in head.fields]
        return list({field.name: field for field in proposed if self.table.field(field.name) is None}.values())

    def _rows_left(self, heads: Sequence[ProposalHead]) -> dict[str, int]:
        """Count, by proposal, the rows that its run left for later."""
        looked_at = {run.id: run.total for run in self._runs if run.spec.get("max_rows") and run.total < self._rows}
        return {head.id: self._rows - looked_at[head.run_id] for head in heads if head.run_id in looked_at}

    async def sync(self) -> None:
        """Show columns, rows and proposals again after a change. The button that was pressed may be gone by the end,
        and with it the slot in which NiceGUI looks for the visitor."""
        with self._main:
            await self._sync()

    async def _sync(self) -> None:
        known = (self.table.fields, self.extra())
        heads = await self._read()
        self._rows = await (await visit_now()).services.count(self.table.id)
        await self.run.follow_newest(self._runs)
        ids = self.proposals.ids
        self.proposals.show(heads, self._rows_left(heads))
        if (self.table.fields, self.extra()) != known:
            before = [field.name for fields in known for field in fields]
            new = [field.name for field in (*self.table.fields, *self.extra()) if field.name not in before]
            columns = grid_columns(self.table, self.extra(), may_edit=self.may_change)
            # The last new column is scrolled into view.
            self.grid.call("columns", columns, new[-1] if new else "")
        if self.proposals.ids != ids:
            self.grid.show_rows(proposals=self.proposals.ids)
        else:
            self.grid.refresh()
        await self.panel.refresh()
        if self._rows <= MAX_RECOUNTED_ROWS:
            await self._count()

    async def _count(self) -> None:
        if self._rows > MAX_COUNTED_ROWS:
            return
        visit = await visit_now()
        self.views.count(await count_marks(visit.services, self.table, self.proposals.ids))

    async def run_ended(self) -> None:
        await self.sync()
        await self._count()

    async def _check_for_changes(self) -> None:
        try:
            now = await (await visit_now()).services.store.tables.activity(self.table.id)
        except NotFound as error:
            self._change_timer.cancel()
            self._show_missing(error)
            return
        # A run that is followed reports its own changes.
        if now.change != self._activity.change or (now != self._activity and not self.run.is_running):
            await self.sync()

    async def _check_runs(self) -> None:
        # `_check_for_changes` shows that the table is missing.
        with suppress(NotFound):
            if not self.run.is_running:
                await self.run.follow_newest(await self._list_runs())

    def _show_missing(self, error: NotFound) -> None:
        """Show that the table was removed, or is no longer shared with this person."""
        self.panel.close()
        self._main.clear()
        with self._main, empty_state(error.what, "search_off"):
            for line in error_advice(error):
                ui.label(line)
            ui.link(t("All tables"), "/")

    async def decided(self, done: ApplyOutcome | None) -> None:
        if done is not None:
            self.undo.note(done.change)
        else:
            self.panel.close()
        await self.sync()

    # ── changes ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def edit_cell(self, row_id: RowId, name: str) -> None:
        """Edit a cell in a window: for long texts, and on touch screens."""
        visit = await visit_now("write", self.table.id)
        table = await visit.services.table(self.table.id)
        row, field = (await visit.services.rows_by_id(table.id, [row_id])).get(row_id), table.field(name)
        if row is None or field is None:
            raise NotFound(t("The row {row_id} or its column {name} no longer exists.", row_id=row_id, name=name))
        _, proposed = await self.panel.proposed(row, name)
        content = cell_text(proposed.cell if proposed else row.cell(name))
        title = t("{name} · row {number}", name=cell_text(row.cell(table.key_field)) or t("Row"), number=row_id)

        async def save(given: str) -> None:
            with self._client.content:
                await self._write(row_id, name, given)

        await ask_cell_value(title, field, content, save)

    async def _write(self, row_id: RowId, name: str, content: str) -> None:
        async with self._writing:
            written, rows = await self._write_value(row_id, name, content)
        self.undo.note(written.change)
        # A larger number means that another person has changed something, too; then the table is read again.
        if written.change.number == self._activity.change + 1:
            self._activity = msgspec.structs.replace(self._activity, change=written.change.number)
        if written.stale:
            stale = ", ".join(written.stale)
            show_notice(t("Now stale: {stale}. Refill them whenever you like.", stale=stale), good=False)
        if not content.strip() and any(row["cells"].get(name, {}).get("proposed") for row in rows):
            show_notice(t("The cell is empty, but a proposed value is still open. Reject it to drop it."), good=False)
        if self.panel.at == (row_id, name):
            await self.panel.refresh()

    async def _write_value(self, row_id: RowId, name: str, content: str) -> tuple[WrittenValue, list[dict[str, Any]]]:
        try:
            visit = await visit_now("write", self.table.id)
        except TablewrightError:
            # The grid still shows what was typed.
            self.grid.refresh()
            raise
        table = await visit.services.table(self.table.id)
        try:
            written = await visit.services.changes.set_value(table.id, row_id, name, content)
        finally:
            rows = (await read_row_block(visit.services, table, self.proposals.ids, [row_id])).rows
            self.grid.call("update", [{**row, "whole": True} for row in rows])
        return written, rows

    async def _change_selection(
        self, act: Literal["clear", "fill_down", "delete_rows"], event: events.GenericEventArguments
    ) -> None:
        services = (await visit_now("write", self.table.id)).services
        table, picked = await services.table(self.table.id), msgspec.convert(event.args, CellSelection)
        change, words = await change_selection(act, services, table, picked)
        await self.note_change(change)
        show_notice(t("{words} Press Ctrl+Z to undo.", words=words))

    async def note_change(self, change: Change | None) -> None:
        """Show a change of the table, if there is one, and let Ctrl+Z undo it."""
        if change is not None:
            self.undo.note(change)
            await self.sync()

    async def _paste(self, event: events.GenericEventArguments) -> None:
        await self.note_change(await paste_cells(self.table.id, msgspec.convert(event.args, PastedBlock)))

    async def _undo(self, *, again: bool = False) -> None:
        await self.undo.undo(again=again)
        await self.sync()

    async def _add_row(self) -> None:
        visit = await visit_now("write", self.table.id)
        await self.note_change(await ask_new_row(await visit.services.table(self.table.id)))

    async def _show_history(self) -> None:
        if await show_table_history(self.table, may_change=self.may_change):
            await self.sync()

    async def _rename(self) -> None:
        """Change the table's name and tags."""
        visit = await visit_now("write", self.table.id)
        known = next(each for each in await visit.services.tables() if each.id == self.table.id)
        name, tags = await ask_name_and_tags(known.name, known.tags)
        if name:
            await rename_table(visit.services, RenameTable(table=self.table.id, name=name))
            await tag_table(visit.services, TagTable(table=self.table.id, tags=tuple(tags)))
            self._title.set_text(name)
            ui.page_title(f"{name} · Tablewright")

    async def _delete(self) -> None:
        name = shorten_text(self.table.name, 60)
        question = t("Delete “{name}” and its entire history? This cannot be undone.", name=name)
        if await ask_confirmation(question, t("Delete")):
            visit = await visit_now("write", self.table.id)
            self._change_timer.cancel()
            await remove_table(visit.services, TableRequest(table=self.table.id))
            ui.navigate.to("/")

    # ── columns ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _act_on_column(self, event: events.GenericEventArguments) -> None:
        visit = await visit_now()
        table = await visit.table(self.table.id)
        name = event.args["column"]
        field = next((field for field in (*table.fields, *self.extra()) if field.name == name), None)
        if field is None:
            raise NotFound(t("The column {name} no longer exists.", name=name))
        match event.args["act"]:
            case "filter":
                await self.views.filter_by(field, self.table.fields)
            case "statistics":
                await show_column_statistics(visit.services, table, field)
            case "edit":
                await self._columns_changed(await ask_column_changes(table, field))
            case "delete":
                await self._columns_changed(await delete_column(table, field))
            case "fill":
                await self.ask(field)
            case "rerun":
                await self.ask(field, redo="all")
            case "recheck":
                await self.recheck([field.name])
            case "schedule":
                await ask_schedule(table, field.name)

    async def _columns_changed(self, change: Change | None) -> None:
        await self.note_change(change)
        await self.views.keep_known([field.name for field in self.table.fields])

    # ── runs ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    async def ask(self, field: Field | None, *, row_ids: Sequence[RowId] = (), redo: Redo = "") -> None:
        """Ask for new columns, or fill one; `row_ids` are the selected rows."""
        if self.run.is_running:
            raise UsageError(t("A run is in progress."), advice=t("Stop it or wait until it has finished."))
        visit = await visit_now("write", self.table.id)
        table = await visit.services.table(self.table.id)
        wanted = self.grid.wanted
        shown = await row_orders().order(visit.services, wanted) if wanted.is_filtered else ()
        scope = RowScope(rows=self._rows, shown=tuple(shown), selected=tuple(row_ids))
        proposed = [each.name for each in self.extra()]
        if await ask_columns(visit, table, field, scope, proposed=proposed, redo=redo):
            await self.sync()

    async def _ask_for_selection(self, event: events.GenericEventArguments) -> None:
        """Fill the selected rows of the selected column if it has a question, or ask for new columns."""
        picked = msgspec.convert(event.args, CellSelection)
        row_ids = await selected_row_ids((await visit_now()).services, self.table.id, picked)
        field = self.table.field(picked.fields[0]) if len(picked.fields) == 1 else None
        await self.ask(field if field and field.is_asked else None, row_ids=row_ids)

    async def search_again(self, field: Field, row_ids: Sequence[RowId]) -> None:
        """Search again for a few cells at once, in other places, with the reasons of their flags."""
        visit = await visit_now("run", self.table.id)
        fill = await plan_fill(visit.services, self.table.id, [field], how=FillOptions(rows=tuple(row_ids), again=True))
        await visit.services.jobs.start(fill)
        await self.sync()

    async def fill_rest(self, head: ProposalHead) -> None:
        """Fill the remaining rows after a trial on the first ones, with the same settings."""
        visit = await visit_now("run", self.table.id)
        run = await visit.services.jobs.get(head.run_id)
        done = {row_id for row_id, _ in await visit.services.store.proposals.open_cells(head.id)}
        # Rows that the proposal already covers are not paid for twice.
        others = [row_id for row_id in await list_row_ids(visit.services, self.table.id) if row_id not in done]
        how = FillOptions(params=run.spec["params"], rows=tuple(others))
        fill = await plan_fill(visit.services, self.table.id, head.fields, run.spec["strategy"], how=how)
        await visit.services.jobs.start(fill, run.spec.get("settings"))
        await self.sync()

    async def _recheck_picked(self, event: events.GenericEventArguments) -> None:
        picked = msgspec.convert(event.args, CellSelection)
        row_ids = await selected_row_ids((await visit_now()).services, self.table.id, picked)
        await self.recheck(selected_table_columns(self.table, picked), row_ids)

    async def recheck(self, names: Sequence[str], row_ids: Sequence[RowId] | None = None) -> None:
        visit = await visit_now("write", self.table.id)
        notice = ui.notification(t("Fetching the cited pages again …"), spinner=True, timeout=None, position="bottom")
        try:
            rows = None if row_ids is None else tuple(row_ids)
            done = await recheck(visit.services, RecheckTable(table=self.table.id, fields=tuple(names), rows=rows))
        finally:
            notice.dismiss()
        notify_rechecked(done)
        await self.sync()
