"""The button "Share": who may see what is on the page."""

from __future__ import annotations

from nicegui import ui

from tablewright.doors.web.frame import heading, say, visit_now, visit_to_change
from tablewright.doors.web.plain import row, said
from tablewright.table.access import Shareable, Shared


async def may_share() -> bool:
    """Whether there is anybody to share things with, and this is no viewer."""
    seen = await visit_now()
    return seen.person.may_change and bool(await seen.tablewright.users.all())


def share_button(kind: Shareable, id: str) -> None:
    async def opened() -> None:
        window(await (await visit_to_change()).tablewright.shared(kind, id))

    ui.button("Share", icon="group_add", on_click=opened).props("flat")


def window(shared: Shared) -> None:
    async def keep() -> None:
        people = [name.strip() for name in (names.value or "").split(",") if name.strip()]
        now = await visit_to_change()
        done = await now.tablewright.share(shared.kind, shared.id, people, everyone=everyone.value, only=True)
        dialog.close()
        say("Shared with everyone." if done.everyone else f"Shared with {', '.join(done.people) or 'nobody'}.")

    with ui.dialog(value=True) as dialog, ui.card().classes("tw-window"):
        heading(f"Share this {shared.kind}")
        said(f"It belongs to {shared.owner or 'this installation'}. Those it is shared with may look at it.")
        names = ui.input("Names of users, separated by commas", value=", ".join(shared.people)).classes("full-width")
        everyone = ui.checkbox("Everyone who uses this server", value=shared.everyone)
        with row():
            ui.space()
            ui.button("Cancel", on_click=dialog.close).props("flat")
            ui.button("Share", on_click=keep).props("unelevated")
