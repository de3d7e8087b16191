"""One table: the grid, what can be done to it, and the evidence of the cell that was clicked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec
from nicegui import context, events, ui

from tablewright.app import Operation, ProposalHead, Review, Run
from tablewright.doors.server.context import Visit
from tablewright.doors.web import ask_column, table_history, table_paste
from tablewright.doors.web.evidence_panel import Act, Acts, read_passages, show_evidence
from tablewright.doors.web.frame import empty_state, frame, or_missing, say, text, visit_now, what_next
from tablewright.doors.web.grid_rows import ONLY, Wanted, block, is_over, operation_of, status_of
from tablewright.doors.web.sharing import may_share, share_button
from tablewright.doors.web.table_edit import ask_reason, ask_value, sure, visit_to_write
from tablewright.doors.web.table_grid import TableGrid
from tablewright.doors.web.table_paste import Pasted
from tablewright.doors.web.table_run import NEWEST, RunBar
from tablewright.errors import NotFound, TablewrightError, UsageError
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
        self._runs: list[Run] = []
        self._at: tuple[RowId, str] | None = None
        self._client = context.client

    async def build(self) -> None:
        await self._read()
        self._may_share = await may_share()
        with ui.right_drawer(value=False, bordered=True, fixed=True) as self._drawer:
            self._panel = ui.element("aside").classes("tw-panel").props('aria-label="Evidence of the cell"')
        self._panel.on("keydown.esc", self._close)
        self._drawer.props("width=440 breakpoint=900 no-swipe-open").classes("tw-drawer")
        with frame(self._table.name, here="/", wide=True):
            self._main = context.slot.parent
            self._build_bar()
            self._run = RunBar(self._table.id, on_cells=self._show_live, on_end=self._sync, may_change=self._may_change)
            self._waiting = ui.element("section").classes("tw-waiting").props('aria-label="Open proposal"')
            self._build_filters()
            wanted = Wanted(table_id=self._table.id, proposal_id=self._proposal.id if self._proposal else "")
            self._grid = TableGrid(self._table, self._extra(), wanted, rows=self._rows, may_edit=self._may_change)
            self._opened = ui.label().classes("tw-unseen").props("role=status")
        self._drawer.on_value_change(lambda event: None if event.value else self._grid.leave_panel())
        self._show_waiting()
        ui.on("grid_open", self._open_by_hand)
        ui.on("grid_edit", lambda event: self._write(event.args["row_id"], event.args["field"], event.args["text"]))
        ui.on("grid_edit_apart", lambda event: self._edit(event.args["row_id"], event.args["field"]))
        ui.on("grid_paste", self._paste)
        ui.keyboard(on_key=self._on_key, ignore=["input", "select", "button", "textarea"])
        await self._run.pick_up(self._runs)
        self._looking = ui.timer(LOOK_EVERY, self._look_around)

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
                if self._may_share:
                    share_button("table", self._table.id)
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
                'dense outlined clearable debounce=350 maxlength=200 aria-label="Find in the table"'
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
        self._change, self._runs = await self._newest(visit)
        heads = await visit.tablewright.proposals(self._table.id)
        self._proposal = next((head for head in heads if head.status in ("open", "building")), None)

    async def _newest(self, visit: Visit) -> tuple[int, list[Run]]:
        """The number of the newest change, and the newest runs."""
        change = (await visit.tablewright.history(self._table.id, limit=1))[0].number
        return change, await visit.tablewright.jobs.all(self._table.id, limit=NEWEST)

    def _extra(self) -> list[Field]:
        """Columns that come with the proposal."""
        proposed = self._proposal.fields if self._proposal else ()
        return [field for field in proposed if self._table.field(field.name) is None]

    async def _sync(self) -> None:
        """After something has changed: the columns, the rows that are shown, the proposal."""
        before = (self._table.fields, self._extra())
        await self._read()
        await self._run.pick_up(self._runs)
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
        try:
            visit = await visit_now()
            await visit.table(self._table.id)
            change, runs = await self._newest(visit)
            is_news = change != self._change or states(runs) != states(self._runs) or await self._is_decided(visit)
        except NotFound as error:
            self._looking.cancel()
            self._show_missing(error)
            return
        if await self._run.pick_up(runs) or is_news:
            await self._sync()

    async def _is_decided(self, visit: Visit) -> bool:
        """Whether the proposal is at another point than before: where all of it is refused, nothing else changes."""
        head = self._proposal
        return head is not None and await status_of(visit.tablewright, head.id) != head.status

    def _show_missing(self, error: NotFound) -> None:
        """The table was removed meanwhile, or is no longer this person's."""
        self._drawer.hide()
        self._main.clear()
        with self._main, empty_state(error.what, "search_off"):
            for line in what_next(error):
                ui.label(line)
            ui.link("All tables", "/")

    def _show_live(self, cells: dict[RowId, dict[str, Cell]]) -> None:
        self._grid.update(cells, proposed=True)

    # ── the evidence panel ───────────────────────────────────────────────────────────────────────────────────────────

    async def _open_by_hand(self, event: events.GenericEventArguments) -> None:
        await self._open(event.args["row_id"], event.args["field"], by_key=event.args["by_key"])

    async def _open(self, row_id: RowId, name: str, *, by_key: bool = False) -> None:
        self._at = (row_id, name)
        visit = await visit_now()
        table = await visit.table(self._table.id)
        row = (await visit.tablewright.rows_by_id(table.id, [row_id])).get(row_id)
        field = next((field for field in (*table.fields, *self._extra()) if field.name == name), None)
        if row is None or field is None:
            return
        cell, operation, proposed = row.cell(name), await self._proposed(row, name), False
        if operation is not None:
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
            heading = show_evidence(title, field, cell, steps, passages, acts, proposed=proposed)
        self._opened.set_text(shortened(f"Evidence: {title}, {name}: {cell_text(cell) or 'no value'}", 200))
        self._drawer.show()
        self._grid.show_panel(heading, to_it=by_key)

    async def _proposed(self, row: Row, name: str) -> Operation | None:
        """What the proposal says of a cell that is neither decided nor written by somebody since."""
        if self._proposal is None:
            return None
        try:
            found = await (await visit_now()).tablewright.operation(self._proposal.id, row.id, name)
        except NotFound:
            return None
        is_shown = found.decision == "open" and is_over(found.cell.updated_at, row.cell(name).updated_at)
        return found if is_shown else None

    def _acts(self, row: Row, field: Field, cell: Cell, *, proposed: bool) -> Acts:
        if not self._may_change:
            return Acts(close=self._close)
        can_decide = proposed and self._proposal is not None and self._proposal.status == "open"
        idle = not self._run.is_running
        can_accept = can_decide and cell.value is not None
        can_flag = cell.value is not None and not proposed
        can_fill = cell.is_unfound and field.is_asked and idle and not proposed
        return Acts(
            close=self._close,
            recheck=self._act(self._recheck, row.id, field.name) if cell.evidence and not proposed else None,
            flag=self._act(self._flag, row.id, field.name) if can_flag else None,
            accept=self._act(self._accept, row.id, field.name) if can_accept else None,
            refuse=self._act(self._refuse, row.id, field.name) if can_decide else None,
            fill=self._act(self._fill, row.id, field.name) if can_fill else None,
            edit=self._act(self._edit, row.id, field.name) if self._table.field(field.name) else None,
        )

    def _act(self, act: Callable[[RowId, str], Awaitable[None]], row_id: RowId, name: str) -> Act:
        """Outside of the panel: what it opens stays when the panel shows another cell."""

        async def do() -> None:
            with self._client.content:
                await act(row_id, name)

        return do

    def _close(self) -> None:
        self._drawer.hide()

    def _on_key(self, event: events.KeyEventArguments) -> None:
        if event.action.keydown and event.key.escape and self._drawer.value:
            self._close()

    async def _recheck(self, row_id: RowId, name: str) -> None:
        visit = await visit_to_write(self._table.id)
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
        reason = await ask_reason()
        if reason is not None:
            visit = await visit_to_write(self._table.id)
            await visit.tablewright.changes.flag(self._table.id, row_id, name, reason)
            say("Flagged.")
            await self._sync()

    # ── changes ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _accept(self, row_id: RowId, name: str) -> None:
        await self._decide(Review(accepted=((row_id, name),)), "Accepted.")

    async def _refuse(self, row_id: RowId, name: str) -> None:
        await self._decide(Review(refused=((row_id, name),)), "Refused; the table stays as it is.")

    async def _decide(self, review: Review, done_so: str) -> None:
        visit, proposal_id = await self._deciding()
        done = await visit.tablewright.changes.decide(proposal_id, review)
        if done.conflicts:
            say("The cell was changed since the run read it; its value was kept.", good=False)
        else:
            say(done_so)
        await self._sync()

    async def _accept_all(self) -> None:
        visit, proposal_id = await self._deciding()
        done = await visit.tablewright.changes.apply(proposal_id)
        kept = f" {done.conflicts:,} changed since, and kept." if done.conflicts else ""
        say(f"{done.cells:,} {plural('cell', done.cells)} written.{kept} History can undo it.")
        await self._sync()

    async def _discard(self) -> None:
        visit, proposal_id = await self._deciding()
        await visit.tablewright.changes.reject(proposal_id)
        say("Discarded; the table is as it was.")
        await self._sync()

    async def _deciding(self) -> tuple[Visit, str]:
        visit = await visit_to_write(self._table.id)
        if self._proposal is None:
            raise UsageError("It was decided by somebody else in the meantime.", kept="Nothing was changed.")
        return visit, self._proposal.id

    async def _edit(self, row_id: RowId, name: str) -> None:
        """In a window of its own: what is too long for the grid, or whatever the finger cannot tap twice."""
        visit = await visit_to_write(self._table.id)
        table = await visit.tablewright.table(self._table.id)
        row, field = (await visit.tablewright.rows_by_id(table.id, [row_id])).get(row_id), table.field(name)
        if row is None or field is None:
            raise NotFound(f"There is no row {row_id} with a column {name!r} any more.")
        proposed = await self._proposed(row, name)
        content = cell_text(proposed.cell if proposed else row.cell(name))
        title = f"{cell_text(row.cell(table.key_field)) or 'Row'} · row {row_id}"

        async def save(given: str) -> None:
            with self._client.content:
                await self._write(row_id, name, given)

        await ask_value(title, field, content, save)

    async def _write(self, row_id: RowId, name: str, content: str) -> None:
        try:
            visit = await visit_to_write(self._table.id)
        except TablewrightError:
            self._grid.refresh()  # it shows what was typed
            raise
        table = await visit.tablewright.table(self._table.id)
        try:
            written = await visit.tablewright.changes.set_value(table.id, row_id, name, content)
        finally:
            proposal_id = self._proposal.id if self._proposal else ""
            rows = await block(visit.tablewright, table, proposal_id, [row_id])
            self._grid.put_rows(rows)
        if written.change.number == self._change + 1:  # else somebody else has changed something too
            self._change = written.change.number
        if written.stale:
            say(f"Stale now: {', '.join(written.stale)}. Fill them again when you like.", good=False)
        if not content.strip() and any(row["cells"].get(name, {}).get("proposed") for row in rows):
            say("The cell is empty; what is proposed for it is still open. Refuse it to be rid of it.", good=False)
        if self._at == (row_id, name) and self._drawer.value:
            await self._open(row_id, name)

    async def _paste(self, event: events.GenericEventArguments) -> None:
        if await table_paste.offer(self._table.id, self._grid.wanted, msgspec.convert(event.args, Pasted)):
            await self._sync()

    async def _add_row(self) -> None:
        visit = await visit_to_write(self._table.id)
        if await table_paste.ask_row(await visit.tablewright.table(self._table.id)):
            await self._sync()

    async def _ask(self, field: Field | None = None, *, row_id: RowId | None = None) -> None:
        if self._run.is_running:
            raise UsageError("A run is going on.", advice="Stop it or wait for it first.")
        if self._proposal is not None and self._proposal.status == "open":
            raise UsageError("A proposal is waiting.", advice="Accept, review or discard it first.")
        visit = await visit_to_write(self._table.id)
        table = await visit.tablewright.table(self._table.id)
        if await ask_column.dialog(visit, table, field, row_ids=None if row_id is None else [row_id]):
            await self._sync()

    async def _fill(self, row_id: RowId, name: str) -> None:
        await self._ask(self._table.field(name), row_id=row_id)

    async def _show_history(self) -> None:
        if await table_history.dialog(self._table, may_change=self._may_change):
            await self._sync()

    async def _delete(self) -> None:
        question = f"Delete “{shortened(self._table.name, 60)}” with its whole history? This cannot be undone."
        if await sure(question, "Delete it"):
            visit = await visit_to_write(self._table.id)
            self._looking.cancel()
            await visit.tablewright.remove_table(self._table.id)
            ui.navigate.to("/")


def states(runs: list[Run]) -> list[tuple[str, str]]:
    return [(run.id, run.status) for run in runs]
