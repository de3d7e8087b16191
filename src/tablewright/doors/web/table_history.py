"""Who changed the table, when, and the way back."""

from __future__ import annotations

import asyncio

from nicegui import ui

from tablewright.domain.model import Table
from tablewright.doors.web.elements import many, paragraph, when
from tablewright.doors.web.frame import say, visit_now
from tablewright.doors.web.table_columns import visit_to_write
from tablewright.doors.web.words import t
from tablewright.services import Change, Rollback

NEWEST = 100


class Undo:
    """What was done on one open page, so that Ctrl+Z takes it back and Ctrl+Y does it again: an undo is a change in the
    history, too, and undoing that is doing it again. What others did is left to the history."""

    def __init__(self, table_id: str) -> None:
        self._table_id = table_id
        self._done: list[int] = []
        self._undone: list[int] = []
        self._turn = asyncio.Lock()

    def note(self, change: Change | None) -> None:
        if change is not None:
            self._done.append(change.number)
            self._undone.clear()

    async def undo(self) -> None:
        await self._swap(self._done, self._undone, t("Nothing left to undo on this page. History has all changes."))

    async def redo(self) -> None:
        await self._swap(self._undone, self._done, t("Nothing to redo."))

    async def _swap(self, these: list[int], those: list[int], otherwise: str) -> None:
        async with self._turn:  # keys may come faster than they are followed
            changes = (await visit_to_write(self._table_id)).services.changes
            while these:
                done = await changes.undo_change(self._table_id, these.pop())
                if done.change is not None:
                    those.append(done.change.number)
                    tell_undone(done, again=these is self._undone)
                    return
            say(otherwise, good=False)


async def dialog(table: Table, *, may_change: bool) -> bool:
    """Whether something was undone."""
    visit = await visit_now()
    changes = await visit.services.history((await visit.table(table.id)).id, limit=NEWEST)
    with ui.dialog() as window, ui.card().classes("tw-dialog tw-dialog-wide"):
        ui.label(t("History")).classes("tw-h2")
        ui.label(t("Undoing is a change too, so it can be undone itself. Later changes are kept.")).classes(
            "tw-muted tw-small"
        )
        with ui.element("ol").classes("tw-history"):
            for change in changes:
                show_change(window, table, change, may_change=may_change)
        with ui.element("div").classes("tw-row tw-end"):
            ui.button(t("Close"), on_click=lambda: window.submit(False)).props("flat")
    undone = bool(await window)
    window.delete()
    return undone


def show_change(window: ui.dialog, table: Table, change: Change, *, may_change: bool) -> None:
    with ui.element("li").classes("tw-change"):
        ui.label(str(change.number)).classes("tw-chip")
        with ui.element("div").classes("tw-grow"):
            paragraph(change.note or change.kind)
            edits = many(change.edits, "edit") if change.edits else ""
            with ui.element("div").classes("tw-row tw-small tw-muted"):
                paragraph(" · ".join(filter(None, (when(change.at), change.actor, edits))))
                if change.run_id:
                    ui.link(t("Run"), f"/runs/{change.run_id}")
        if may_change and change.number > 1:

            async def undo() -> None:
                changes = (await visit_to_write(table.id)).services.changes
                tell_undone(await changes.undo_change(table.id, change.number))
                window.submit(True)

            ui.button(t("Undo"), icon="undo", on_click=undo).props(
                f'flat dense padding="2px 8px" aria-label="{t("Undo change {number}", number=change.number)}"'
            )
        if may_change:

            async def go_back() -> None:
                changes = (await visit_to_write(table.id)).services.changes
                tell_undone(await changes.go_back(table.id, str(change.number)))
                window.submit(True)

            restore = ui.button(t("Restore this version"), icon="restore", on_click=go_back)
            restore.props('flat dense padding="2px 8px"')
            restore.props["aria-label"] = t("Restore this version: change {number}", number=change.number)


def tell_undone(done: Rollback, *, again: bool = False) -> None:
    """`again`: what was undone has been done again."""
    if done.change is None:
        say(t("Nothing left to undo."), good=False)
        return
    lines = [t("Done again.") if again else t("Undone.")]
    if done.cells and not again:
        lines.append(t("{count} cell restored.|{count} cells restored.", count=done.cells))
    if done.kept_cells:
        lines.append(t("{count} changed since then and kept.", count=done.kept_cells))
    if done.kept_fields:
        lines.append(t("Kept because cells have changed since: {fields}.", fields=", ".join(done.kept_fields)))
    say(" ".join(lines))
