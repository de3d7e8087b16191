"""The button "Share": people who may see the thing on the page, and links to it."""

from __future__ import annotations

from urllib.parse import urlencode

from nicegui import ui

from tablewright.domain.access import Shareable, SharedThing
from tablewright.interfaces.page.elements import (
    build_dialog,
    compact_button,
    dialog_buttons,
    flex_row,
    show_paragraph,
    show_remark,
    wait_for_answer,
)
from tablewright.interfaces.page.frame import show_notice, visit_now
from tablewright.interfaces.page.words import t
from tablewright.operations.sharing import ShareThing, ThingRequest, create_view_link, get_sharing, share


async def can_share() -> bool:
    """Return True if there are others to share things with, and the visitor is no viewer."""
    seen = await visit_now()
    return seen.person.may_change and bool(await seen.services.store.users.all() or seen.services.settings.token)


def share_button(kind: Shareable, id: str) -> None:
    async def opened() -> None:
        visit = await visit_now("write")
        shared = await get_sharing(visit.services, ThingRequest(kind=kind, id=id))
        await ask_sharing(shared, may_invite=visit.person.may_administer)

    compact_button(t("Share"), "group_add", opened)


async def ask_sharing(shared: SharedThing, *, may_invite: bool) -> None:
    paths: dict[Shareable, str] = {
        "table": "/tables/{id}",
        "document": "/documents/{id}",
        "conversation": "/ask?conversation={id}",
        "research": "/research/{id}",
        "shortlist": "/shortlist/{id}",
    }

    async def keep() -> bool:
        people = tuple(name.strip() for name in (names.value or "").split(",") if name.strip())
        now = await visit_now("write")
        request = ShareThing(kind=shared.kind, id=shared.id, people=people, everyone=everyone.value, only=True)
        done = await share(now.services, request)
        people_text = t("Shared with {people}.", people=", ".join(done.people)) if done.people else t("Not shared.")
        show_notice(t("Shared with everyone.") if done.everyone else people_text)
        return True

    def copy() -> None:
        ui.clipboard.write(base + place)
        show_notice(t("Link copied. Anyone it is shared with can open it."))

    async def invite() -> None:
        now = await visit_now("administer")
        made_link = await create_view_link(now.services, ThingRequest(kind=shared.kind, id=shared.id))
        link = f"{base}/login?{urlencode({'next': place, 'token': made_link.token})}"
        ui.clipboard.write(link)
        with made:
            ui.input(t("View-only link"), value=link).props("readonly")
            show_remark(
                t(
                    "Copied. Anyone with this link can view this, and nothing else, without an account. The link "
                    "is shown only once. To revoke it, remove the user {name}.",
                    name=made_link.user.name,
                )
            )

    place = paths.get(shared.kind, "/").format(id=shared.id)
    base = f"{ui.context.client.request.base_url!s}".rstrip("/")
    with build_dialog(t("Share"), wide=True) as window:
        owner = shared.owner or t("this installation")
        show_paragraph(t("Owned by {owner}. People it is shared with can view it.", owner=owner))
        names = ui.input(t("Names of users, separated by commas"), value=", ".join(shared.people))
        everyone = ui.checkbox(t("Everyone who uses this server"), value=shared.everyone)
        with flex_row():
            ui.button(t("Copy link"), icon="link", on_click=copy).props("flat")
            if may_invite:
                ui.button(t("New view-only link"), icon="add_link", on_click=invite).props("flat")
        made = ui.element("div").classes("tw-column")
        dialog_buttons(window, (t("Share"), keep))
    await wait_for_answer(window)
