"""The panel beside the grid: the evidence of the chosen cell, and what can be done with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from nicegui import context, events, ui

from tablewright.domain.model import Cell, Field, Row, RowId
from tablewright.domain.text import cell_text, shortened
from tablewright.doors.web.evidence_panel import Act, Acts, read_passages, show_evidence
from tablewright.doors.web.frame import say, visit_now
from tablewright.doors.web.grid_rows import is_over, stays_text
from tablewright.doors.web.table_columns import ask_reason, visit_to_write
from tablewright.doors.web.words import t
from tablewright.errors import NotFound, UsageError
from tablewright.services import Change, Operation, ProposalHead, Review

if TYPE_CHECKING:
    from tablewright.doors.web.table_page import OpenTable

WIDTH = 440


class CellPanel:
    """`at` is the cell that it shows."""

    def __init__(self, page: OpenTable) -> None:
        self._page = page
        self._client = context.client
        self.at: tuple[RowId, str] | None = None
        with ui.right_drawer(value=False, bordered=True, fixed=True) as self._drawer:
            self._handle = (
                ui.element("div")
                .classes("tw-panel-handle")
                .props(
                    f'role=separator aria-orientation=vertical aria-label="{t("Panel width")}" tabindex=0 '
                    f"aria-valuenow={WIDTH} aria-valuemin=280 aria-valuemax=1600"
                )
            )
            self._panel = ui.element("aside").classes("tw-panel").props(f'aria-label="{t("Evidence of the cell")}"')
        self._panel.on("keydown.esc", self.close)
        self._drawer.props(f"width={WIDTH} breakpoint=900 no-swipe-open").classes("tw-drawer")
        ui.on("panel_width", self._resize)
        ui.on("grid_open", self._open_by_hand)
        ui.keyboard(on_key=self._on_key, ignore=["input", "select", "button", "textarea"])
        ui.run_javascript("tablewright.panel.start()")

    def watch(self) -> None:
        """Once the grid is there."""
        self._opened = ui.label().classes("tw-unseen").props("role=status")
        self._drawer.on_value_change(lambda event: None if event.value else self._page.grid.leave_panel())

    @property
    def is_open(self) -> bool:
        return bool(self._drawer.value)

    def close(self) -> None:
        self._drawer.hide()

    def _on_key(self, event: events.KeyEventArguments) -> None:
        if event.action.keydown and event.key.escape and self.is_open:
            self.close()

    def _resize(self, event: events.GenericEventArguments) -> None:
        width = max(280, min(1_600, int(event.args)))
        self._drawer.props(f"width={width}")
        self._handle.props(f"aria-valuenow={width}")

    async def refresh(self) -> None:
        if self.at and self.is_open:
            await self.open(*self.at)

    async def _open_by_hand(self, event: events.GenericEventArguments) -> None:
        await self.open(event.args["row_id"], event.args["field"], by_key=event.args["by_key"])

    async def open(self, row_id: RowId, name: str, *, by_key: bool = False) -> None:
        self.at = (row_id, name)
        visit = await visit_now()
        table = await visit.table(self._page.table.id)
        row = (await visit.services.rows_by_id(table.id, [row_id])).get(row_id)
        field = next((field for field in (*table.fields, *self._page.extra()) if field.name == name), None)
        if row is None or field is None:
            return
        cell, (head, operation) = row.cell(name), await self._newest(row, name)
        before, note = None, ""
        if operation is not None and cell.keeps_its_value(operation.cell):
            note, head, operation = t("Looked up again: {result}", result=stays_text(operation.cell)), None, None
        if operation is not None:
            before, cell = cell, operation.cell
        else:
            operation = await visit.services.operation_behind(cell, row_id, name)
        passages = await read_passages(visit.services, cell)
        if self.at != (row_id, name):  # another cell was clicked meanwhile
            return
        self._panel.clear()
        with self._panel:
            title = t("{name} · row {number}", name=cell_text(row.cell(table.key_field)) or t("Row"), number=row_id)
            steps = operation.steps if operation else ()
            acts = self._acts(row, field, cell, head)
            heading = show_evidence(title, field, cell, steps, passages, acts, before=before, note=note)
        self._opened.set_text(shortened(f"{t('Evidence')}: {title}, {name}: {cell_text(cell) or t('No value')}", 200))
        self._drawer.show()
        self._page.grid.show_panel(heading, to_it=by_key)

    async def proposed(self, row: Row, name: str) -> tuple[ProposalHead | None, Operation | None]:
        """Return the newest proposal that would change a cell and is neither decided nor outdated."""
        head, operation = await self._newest(row, name)
        if operation is not None and row.cell(name).keeps_its_value(operation.cell):
            return None, None
        return head, operation

    async def _newest(self, row: Row, name: str) -> tuple[ProposalHead | None, Operation | None]:
        services = (await visit_now()).services
        for head in self._page.proposals.heads:
            try:
                found = await services.operation(head.id, row.id, name)
            except NotFound:
                continue
            if found.decision == "open" and is_over(found.cell.updated_at, row.cell(name).updated_at):
                return head, found
        return None, None

    def _acts(self, row: Row, field: Field, cell: Cell, head: ProposalHead | None) -> Acts:
        if not self._page.may_change:
            return Acts(close=self.close)
        own, can_decide = head is None, head is not None and head.status == "open"

        def act(do: Callable[[RowId, str], Awaitable[None]], on: bool) -> Act | None:
            return self._act(do, row.id, field.name) if on else None

        def use(number: int) -> Act:
            async def take(row_id: RowId, name: str) -> None:
                await self._use_other(row_id, name, number)

            return self._act(take, row.id, field.name)

        can_fill = cell.is_unfound and field.is_asked and own and not self._page.run.is_running
        return Acts(
            close=self.close,
            recheck=act(self._recheck, bool(cell.evidence) and own),
            flag=act(self._flag, cell.value is not None and own),
            accept=act(self._accept, can_decide and cell.value is not None),
            refuse=act(self._refuse, can_decide),
            fill=act(self._fill, can_fill),
            edit=act(self._page.edit_cell, self._page.table.field(field.name) is not None),
            use=use if own or can_decide else None,
        )

    def _act(self, act: Callable[[RowId, str], Awaitable[None]], row_id: RowId, name: str) -> Act:
        """Outside of the panel: what it opens stays when the panel shows another cell."""

        async def do() -> None:
            with self._client.content:
                await act(row_id, name)

        return do

    async def _recheck(self, row_id: RowId, name: str) -> None:
        await self._page.recheck([name], [row_id])

    async def _fill(self, row_id: RowId, name: str) -> None:
        await self._page.ask(self._page.table.field(name), row_ids=[row_id], single=True)

    async def _flag(self, row_id: RowId, name: str) -> None:
        """What is wrong with it steers the next look for it, which may begin at once."""
        field = self._page.table.field(name)
        may_look = field is not None and field.is_asked and not self._page.run.is_running
        reason, look = await ask_reason(may_look=may_look)
        if reason is None:
            return
        visit = await visit_to_write(self._page.table.id)
        await self._done(await visit.services.changes.flag(self._page.table.id, row_id, name, reason), t("Flagged."))
        if look and field is not None:
            await self._page.look_again(field, [row_id])

    async def _use_other(self, row_id: RowId, name: str, number: int) -> None:
        """What another source says, in place of the value; the two change places."""
        visit = await visit_to_write(self._page.table.id)
        changes = visit.services.changes
        row = (await visit.services.rows_by_id(self._page.table.id, [row_id]))[row_id]
        head, operation = await self.proposed(row, name)
        if head is not None and operation is not None:
            chosen = changes.other_value(operation.cell, number)
            done = await changes.decide(head.id, Review(edited={(row_id, name): chosen}))
            await self._done(done.change, t("{value} is in the table, with its source.", value=cell_text(chosen)))
            return
        written = await changes.use_other(self._page.table.id, row_id, name, number)
        await self._done(written.change, t("{value} is in the table, with its source.", value=cell_text(written.cell)))

    async def _done(self, change: Change | None, words: str) -> None:
        say(words)
        self._page.undo.note(change)
        await self._page.sync()

    async def _accept(self, row_id: RowId, name: str) -> None:
        await self._decide(row_id, name, Review(accepted=((row_id, name),)), t("Accepted."))

    async def _refuse(self, row_id: RowId, name: str) -> None:
        await self._decide(row_id, name, Review(refused=((row_id, name),)), t("Rejected. The table is unchanged."))

    async def _decide(self, row_id: RowId, name: str, review: Review, done_so: str) -> None:
        visit = await visit_to_write(self._page.table.id)
        row = (await visit.services.rows_by_id(self._page.table.id, [row_id])).get(row_id)
        head, _ = await self.proposed(row, name) if row else (None, None)
        if head is None:
            raise UsageError(t("Somebody else has decided this in the meantime."), kept=t("Nothing was changed."))
        done = await visit.services.changes.decide(head.id, review)
        if done.conflicts:
            say(t("The cell changed during the run, so its value was kept."), good=False)
            await self._page.sync()
        else:
            await self._done(done.change, done_so)
