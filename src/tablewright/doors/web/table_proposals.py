"""What runs propose for a table and nobody has decided yet: a line for each, and the ways to decide."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from nicegui import ui

from tablewright.domain.text import shortened
from tablewright.doors.web.elements import paragraph
from tablewright.doors.web.frame import say
from tablewright.doors.web.table_columns import visit_to_write
from tablewright.doors.web.words import many, t
from tablewright.services import Applied, ProposalHead

More = Callable[[ProposalHead], Awaitable[None]]


class ProposalPanel:
    """`heads` are the newest first; `changed` is told what was written, and `more` goes on with the rows that a run
    has left out."""

    def __init__(
        self, table_id: str, *, changed: Callable[[Applied | None], Awaitable[None]], more: More, may_change: bool
    ) -> None:
        self._table_id = table_id
        self._changed = changed
        self._more = more
        self._may_change = may_change
        self.heads: list[ProposalHead] = []
        self._shown: tuple[list[ProposalHead], dict[str, int]] | None = None
        self._box = ui.element("section").props(f'aria-label="{t("Open proposals")}"')

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(head.id for head in self.heads)

    def show(self, heads: Sequence[ProposalHead], left: dict[str, int]) -> None:
        """`left`: by proposal, the rows for which its run did not look. What is shown already stays as it is: nobody
        wants a button replaced under the finger."""
        self.heads = list(heads)
        if (self.heads, left) == self._shown:
            return
        self._shown = (self.heads, left)
        self._box.clear()
        with self._box:
            for head in self.heads:
                if head.status == "open":
                    self._show(head, left.get(head.id, 0))

    def _show(self, head: ProposalHead, left: int) -> None:
        found, empty = head.counts.get("with_value", 0), head.counts.get("without_value", 0)
        names = shortened(", ".join(field.name for field in head.fields), 80)
        what = t("{names}: {found} proposed.", names=names, found=many(found, "value"))
        if empty:
            both = {"found": many(found, "value"), "empty": many(empty, "cell")}
            what = t("{names}: {found} proposed, {empty} without a result.", names=names, **both)
        if not head.counts:
            what = t("{names}: no row was looked at before the run ended.", names=names)
        with ui.element("div").classes("tw-waiting"):
            with ui.element("div").classes("tw-grow"):
                paragraph(" ".join((what, t("The table changes only when you accept."))))
            if not self._may_change:
                return
            act = "dense padding='4px 12px'"
            review = ui.button(t("Review"), icon="fact_check", on_click=lambda: ui.navigate.to(f"/review/{head.id}"))
            review.props(f"unelevated {act}").set_visibility(bool(head.counts))
            accept = t("Accept all") if head.counts else t("Keep the columns")
            ui.button(accept, on_click=partial(self._accept, head)).props(f"outline {act}")
            if left:
                label = t("Continue with {count} more row|Continue with {count} more rows", count=left)
                ui.button(label, icon="play_arrow", on_click=partial(self._more, head)).props(f"outline {act}")
            ui.button(t("Discard"), on_click=partial(self._discard, head)).props(f"flat {act}")

    async def _accept(self, head: ProposalHead) -> None:
        visit = await visit_to_write(self._table_id)
        done = await visit.services.changes.apply(head.id)
        written = t("{count} cell written.|{count} cells written.", count=done.cells)
        kept = t("{count} changed since then and kept.", count=done.conflicts) if done.conflicts else ""
        undo = t("Press Ctrl+Z to undo.") if done.change else ""
        say(" ".join(filter(None, (written, say_stayed(done), kept, undo))))
        await self._changed(done)

    async def _discard(self, head: ProposalHead) -> None:
        visit = await visit_to_write(self._table_id)
        await visit.services.changes.reject(head.id)
        say(t("Discarded. The table is unchanged."))
        await self._changed(None)


def say_stayed(done: Applied) -> str:
    """Say how many values stay because nothing new was found, or return ""."""
    if not done.kept:
        return ""
    return t(
        "Nothing was found for {count} cell, so its value stays.|"
        "Nothing was found for {count} cells, so their values stay.",
        count=done.kept,
    )
