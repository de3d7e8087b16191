"""One table: the grid, what can be done to it, and the evidence of the cell that was clicked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nicegui import context, events, ui

from tablewright.app import Operation, ProposalHead, Review
from tablewright.doors.web import ask_column, table_history, table_paste
from tablewright.doors.web.evidence_panel import Act, Acts, read_passages, show_evidence
from tablewright.doors.web.frame import frame, or_missing, say, text, visit_now, visit_to_change
from tablewright.doors.web.grid_rows import ONLY, Wanted, block, operation_of
from tablewright.doors.web.table_grid import TableGrid
from tablewright.doors.web.table_run import RunBar
from tablewright.errors import NotFound, UsageError
from tablewright.table.model import Cell, Field, Row, RowId, Table
from tablewright.table.text import cell_text, plural, shortened

LOOK_EVERY = 2.0
"""Seconds between two looks at whether somebody else has changed the table."""
FILTERS = dict(
    zip(ONLY, ("All rows", "✗ Failed", "⚑ Flagged", "↻ Stale", "Empty", "? Unsure"), strict=True),
)
LEGEND = (
    ("tw-high", "✓ high"),
    ("tw-medium", "◐ medium"),
    ("tw-low", "? low"),
    ("tw-failed", "✗ not found"),
    ("tw-flagged", "⚑ flagged"),
    ("", "↻ stale"),
    ("", "≠ sources disagree"),
    ("tw-is-new", "new: proposed"),
)
EXPORTS = (("CSV", "csv"), ("CSV with evidence", "csv&evidence=true"), ("Excel", "xlsx"), ("JSON", "json"))


@ui.page("/tables/{table_id}", title="Table · Tablewright")
@or_missing
async def table_page(table_id: str) -> None:
    visit = await visit_now()
    table = await visit.table(table_id)
    ui.page_title(f"{table.name} · Tablewright")
    page = TablePage(table, await visit.tablewright.count(table.id), may_change=visit.person.may_change)
    await page.build()


class TablePage:
    """What one open page knows. `_proposal` is the newest that is not decided: its cells are shown over the table's."""

    def __init__(self, table: Table, rows: int, *, may_change: bool) -> None:
        self._table = table
        self._rows = rows
        self._may_change = may_change
        self._proposal: ProposalHead | None = None
        self._change = 0
        self._at: tuple[RowId, str] | None = None
        self._client = context.client

    async def build(self) -> None:
        await self._read()
        with ui.right_drawer(value=False, bordered=True, fixed=True) as self._drawer:
            self._panel = ui.element("aside").classes("tw-panel").props('aria-label="Evidence of the cell"')
        self._drawer.props("width=440 breakpoint=900 no-swipe-open").classes("tw-drawer")
        with frame(self._table.name, here="/", wide=True):
            self._build_bar()
            self._run = RunBar(self._table.id, on_cells=self._show_live, on_end=self._sync, may_change=self._may_change)
            self._waiting = ui.element("section").classes("tw-waiting").props('aria-label="Open proposal"')
            self._build_filters()
            wanted = Wanted(table_id=self._table.id, proposal_id=self._proposal.id if self._proposal else "")
            self._grid = TableGrid(self._table, self._extra(), wanted, rows=self._rows, may_edit=self._may_change)
        self._show_waiting()
        ui.on("grid_open", lambda event: self._open(event.args["row_id"], event.args["field"]))
        ui.on("grid_edit", self._edit)
        ui.on("grid_paste", self._paste)
        ui.keyboard(on_key=self._on_key, ignore=["input", "select", "button", "textarea"])
        await self._run.pick_up()
        ui.timer(LOOK_EVERY, self._look_around)

    # ── what is around the grid ──────────────────────────────────────────────────────────────────────────────────────

    def _build_bar(self) -> None:
        with ui.element("div").classes("tw-bar"):
            with ui.element("div").classes("tw-grow tw-title"):
                ui.link("Tables", "/").classes("tw-small")
                ui.label(self._table.name).classes("tw-h1 tw-ellipsis").props("role=heading aria-level=1")
            with ui.element("div").classes("tw-row tw-actions"):
                if self._may_change:
                    ui.button("Ask a column", icon="add", on_click=self._ask).props("unelevated")
                    ui.button("Add a row", icon="playlist_add", on_click=self._add_row).props("outline").classes(
                        "tw-brief"
                    )
                ui.button("History", icon="history", on_click=self._show_history).props("outline").classes("tw-brief")
                with ui.button("Export", icon="download").props("outline").classes("tw-brief"), ui.menu():
                    for label, query in EXPORTS:
                        url = f"/page-data/tables/{self._table.id}/file?format={query}"
                        ui.menu_item(label, on_click=lambda url=url: ui.navigate.to(url))
                if self._may_change:
                    self._build_more()

    def _build_more(self) -> None:
        with ui.button(icon="more_vert").props('flat round aria-label="More"'), ui.menu():
            for field in self._table.shown_fields:
                if field.is_asked:
                    ui.menu_item(
                        f"Fill the rest of {shortened(field.name, 40)}", on_click=lambda field=field: self._ask(field)
                    )
            ui.separator()
            ui.menu_item("Delete the table…", on_click=self._delete)

    def _build_filters(self) -> None:
        with ui.element("div").classes("tw-filters"):
            ui.toggle(FILTERS, value="", on_change=lambda event: self._grid.look(only=event.value)).props(
                'unelevated dense toggle-color=primary aria-label="Which rows are shown" no-caps'
            ).classes("tw-toggle")
            find = ui.input(placeholder="Find in the table").props(
                'dense outlined clearable debounce=350 aria-label="Find in the table"'
            )
            find.on_value_change(lambda event: self._grid.look(find=(event.value or "").strip())).classes("tw-find")
            ui.label(f"{self._rows:,} {plural('row', self._rows)}").props("id=tw-found role=status").classes(
                "tw-muted tw-small"
            )
            with ui.element("ul").classes("tw-legend").props('aria-label="What the marks mean"'):
                for classes, label in LEGEND:
                    with ui.element("li"):
                        ui.label(label).classes(f"tw-chip {classes}")

    def _show_waiting(self) -> None:
        """The open proposal, and the ways to decide on it."""
        self._waiting.clear()
        head = self._proposal
        self._waiting.set_visibility(head is not None and head.status == "open")
        if head is None or head.status != "open":
            return
        found, empty = head.counts.get("with_value", 0), head.counts.get("without_value", 0)
        with self._waiting:
            ui.icon("rule", size="22px").props('aria-hidden="true"')
            with ui.element("div").classes("tw-grow"):
                text(
                    f"{found:,} {plural('value', found)} proposed; {empty:,} {plural('cell', empty)} stayed empty, "
                    "with the reason. Nothing is in the table yet."
                )
            if self._may_change:
                ui.button("Review", icon="fact_check", on_click=lambda: ui.navigate.to(f"/review/{head.id}")).props(
                    "unelevated dense padding='4px 12px'"
                )
                ui.button("Accept all", on_click=self._accept_all).props("outline dense padding='4px 12px'")
                ui.button("Discard", on_click=self._discard).props("flat dense padding='4px 12px'")

    # ── what is known ────────────────────────────────────────────────────────────────────────────────────────────────

    async def _read(self) -> None:
        visit = await visit_now()
        self._table = await visit.table(self._table.id)
        heads = await visit.tablewright.proposals(self._table.id)
        self._proposal = next((head for head in heads if head.status in ("open", "building")), None)
        self._change = (await visit.tablewright.history(self._table.id, limit=1))[0].number

    def _extra(self) -> list[Field]:
        """Columns that come with the proposal."""
        proposed = self._proposal.fields if self._proposal else ()
        return [field for field in proposed if self._table.field(field.name) is None]

    async def _sync(self) -> None:
        """After something has changed: the columns, the rows that are shown, the proposal."""
        before = (self._table.fields, self._extra())
        await self._read()
        if (self._table.fields, self._extra()) != before:
            self._grid.show_columns(self._table, self._extra())
        self._show_waiting()
        proposal_id = self._proposal.id if self._proposal else ""
        if proposal_id != self._grid.wanted.proposal_id:
            self._grid.look(proposal_id=proposal_id)
        else:
            self._grid.refresh()
        if self._at and self._drawer.value:
            await self._open(*self._at)

    async def _look_around(self) -> None:
        visit = await visit_now()
        await visit.table(self._table.id)
        newest = (await visit.tablewright.history(self._table.id, limit=1))[0].number
        if newest != self._change:
            await self._sync()
        if await self._run.pick_up():
            await self._sync()

    def _show_live(self, cells: dict[RowId, dict[str, Cell]]) -> None:
        self._grid.update(cells, proposed=True)

    # ── the evidence panel ───────────────────────────────────────────────────────────────────────────────────────────

    async def _open(self, row_id: RowId, name: str) -> None:
        visit = await visit_now()
        table = await visit.table(self._table.id)
        row = (await visit.tablewright.rows_by_id(table.id, [row_id])).get(row_id)
        field = next((field for field in (*table.fields, *self._extra()) if field.name == name), None)
        if row is None or field is None:
            return
        self._at = (row_id, name)
        cell, operation, proposed = row.cell(name), await self._proposed(row_id, name), False
        if operation is not None and operation.decision == "open":
            cell, proposed = operation.cell, True
        elif cell.run_id:
            operation = await operation_of(visit.tablewright, table.id, cell.run_id, row_id, name)
        passages = await read_passages(visit.tablewright, cell)
        if self._at != (row_id, name):  # another cell was clicked meanwhile
            return
        self._panel.clear()
        with self._panel:
            acts = self._acts(row, field, cell, proposed=proposed)
            title = f"{cell_text(row.cell(table.key_field)) or 'Row'} · row {row_id}"
            steps = operation.steps if operation else ()
            show_evidence(title, field, cell, steps, passages, acts, proposed=proposed)
        self._drawer.show()
        self._grid.panel(True)

    async def _proposed(self, row_id: RowId, name: str) -> Operation | None:
        if self._proposal is None:
            return None
        try:
            return await (await visit_now()).tablewright.operation(self._proposal.id, row_id, name)
        except NotFound:
            return None

    def _acts(self, row: Row, field: Field, cell: Cell, *, proposed: bool) -> Acts:
        if not self._may_change:
            return Acts(close=self._close)
        can_decide = proposed and self._proposal is not None and self._proposal.status == "open"
        idle = not self._run.is_running
        can_accept = can_decide and cell.value is not None
        can_flag = cell.value is not None and not proposed
        can_fill = cell.needs_work and field.is_asked and idle and not proposed
        return Acts(
            close=self._close,
            recheck=self._act(self._recheck, row.id, field.name) if cell.evidence and not proposed else None,
            flag=self._act(self._flag, row.id, field.name) if can_flag else None,
            accept=self._act(self._accept, row.id, field.name) if can_accept else None,
            refuse=self._act(self._refuse, row.id, field.name) if can_decide else None,
            fill=self._act(self._fill, row.id, field.name) if can_fill else None,
        )

    def _act(self, act: Callable[[RowId, str], Awaitable[None]], row_id: RowId, name: str) -> Act:
        """Outside of the panel: what it opens stays when the panel shows another cell."""

        async def do() -> None:
            with self._client.content:
                await act(row_id, name)

        return do

    def _close(self) -> None:
        self._drawer.hide()
        self._grid.panel(False)

    def _on_key(self, event: events.KeyEventArguments) -> None:
        if event.action.keydown and event.key.escape and self._drawer.value:
            self._close()

    async def _recheck(self, row_id: RowId, name: str) -> None:
        visit = await visit_to_change()
        notice = ui.notification("Asking for the cited pages again …", spinner=True, timeout=None, position="bottom")
        try:
            done = await visit.tablewright.recheck(self._table.id, [name], row_ids=[row_id])
        finally:
            notice.dismiss()
        for verdict in done.cells:
            said = {"supported": "still says so", "changed": "no longer says so; the cell is flagged"}
            say(
                f"The source {said.get(verdict.verdict, 'could not be checked')}."
                + (f"\n{verdict.note}" if verdict.note else ""),
                good=verdict.verdict == "supported",
            )
        await self._sync()

    async def _flag(self, row_id: RowId, name: str) -> None:
        with ui.dialog() as dialog, ui.card().classes("tw-dialog"):
            ui.label("What is wrong with it?").classes("tw-h2")
            reason = ui.input("Reason", placeholder="for example: this is another company").props("autofocus outlined")
            ui.label("It keeps its value and its evidence, and is looked for again by the next run.").classes(
                "tw-muted"
            )
            with ui.element("div").classes("tw-row tw-end"):
                ui.button("Cancel", on_click=dialog.close).props("flat")
                ui.button("Flag it", icon="flag", on_click=lambda: dialog.submit(True)).props("unelevated")
            reason.on("keydown.enter", lambda: dialog.submit(True))
        if await dialog:
            visit = await visit_to_change()
            await visit.tablewright.changes.flag(self._table.id, row_id, name, (reason.value or "").strip())
            say("Flagged.")
            await self._sync()
        dialog.delete()

    # ── changes ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _accept(self, row_id: RowId, name: str) -> None:
        await self._decide(Review(accepted=((row_id, name),)), "Accepted.")

    async def _refuse(self, row_id: RowId, name: str) -> None:
        await self._decide(Review(refused=((row_id, name),)), "Refused; the table stays as it is.")

    async def _decide(self, review: Review, done_so: str) -> None:
        assert self._proposal is not None
        visit = await visit_to_change()
        done = await visit.tablewright.changes.decide(self._proposal.id, review)
        if done.conflicts:
            say("The cell was changed since the run read it; its value was kept.", good=False)
        else:
            say(done_so)
        await self._sync()

    async def _accept_all(self) -> None:
        assert self._proposal is not None
        visit = await visit_to_change()
        done = await visit.tablewright.changes.apply(self._proposal.id)
        kept = f" {done.conflicts:,} changed since, and kept." if done.conflicts else ""
        say(f"{done.cells:,} {plural('cell', done.cells)} written.{kept} History can undo it.")
        await self._sync()

    async def _discard(self) -> None:
        assert self._proposal is not None
        visit = await visit_to_change()
        await visit.tablewright.changes.reject(self._proposal.id)
        say("Discarded; the table is as it was.")
        await self._sync()

    async def _edit(self, event: events.GenericEventArguments) -> None:
        row_id, name, content = event.args["row_id"], event.args["field"], str(event.args["text"])
        visit = await visit_to_change()
        table = await visit.table(self._table.id)
        try:
            written = await visit.tablewright.changes.set_value(table.id, row_id, name, content)
            self._change = written.change.number
        finally:
            proposal_id = self._proposal.id if self._proposal else ""
            self._grid.put_rows(await block(visit.tablewright, table, proposal_id, [row_id]))
        if written.stale:
            say(f"Stale now: {', '.join(written.stale)}. Fill them again when you like.", good=False)

    async def _paste(self, event: events.GenericEventArguments) -> None:
        visit = await visit_to_change()
        await table_paste.offer(visit, self._table, self._grid.wanted, event.args)
        await self._sync()

    async def _add_row(self) -> None:
        visit = await visit_to_change()
        if await table_paste.ask_row(visit, await visit.table(self._table.id)):
            await self._sync()

    async def _ask(self, field: Field | None = None, *, row_id: RowId | None = None) -> None:
        if self._run.is_running:
            raise UsageError("A run is going on.", advice="Stop it or wait for it first.")
        if self._proposal is not None and self._proposal.status == "open":
            raise UsageError("A proposal is waiting.", advice="Accept, review or discard it first.")
        visit = await visit_to_change()
        table = await visit.table(self._table.id)
        run_id = await ask_column.dialog(visit, table, field, row_ids=None if row_id is None else [row_id])
        if run_id:
            await self._run.pick_up()
            await self._sync()

    async def _fill(self, row_id: RowId, name: str) -> None:
        await self._ask(self._table.field(name), row_id=row_id)

    async def _show_history(self) -> None:
        if await table_history.dialog(self._table, may_change=self._may_change):
            await self._sync()

    async def _delete(self) -> None:
        question = f"Delete “{shortened(self._table.name, 60)}” with its whole history? This cannot be undone."
        if await sure(question, "Delete it"):
            visit = await visit_to_change()
            table = await visit.table(self._table.id)
            await visit.tablewright.remove_table(table.id)
            ui.navigate.to("/")


async def sure(question: str, yes: str) -> bool:
    with ui.dialog() as dialog, ui.card().classes("tw-dialog"):
        text(question)
        with ui.element("div").classes("tw-row tw-end"):
            ui.button("Cancel", on_click=lambda: dialog.submit(False)).props("flat autofocus")
            ui.button(yes, on_click=lambda: dialog.submit(True)).props("unelevated color=negative")
    said = bool(await dialog)
    dialog.delete()
    return said
