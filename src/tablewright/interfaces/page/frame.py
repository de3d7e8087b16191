"""The frame of all pages: header, light and dark, the visitor, notices and errors.

    @ui.page("/things", title="Things · Tablewright")
    async def things_page() -> None:
        with page_frame("Things", here="/things"):
            ui.label("…")

Show texts from outside with `elements.show_paragraph`, never as HTML or Markdown. The classes in
`files/tablewright.css` (tw-card, tw-muted, tw-empty, …) replace a CSS framework.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Literal, ParamSpec
from weakref import WeakKeyDictionary

from fastapi import FastAPI
from msgspec.structs import replace
from nicegui import Client, context, ui
from nicegui import app as pages

from tablewright.errors import NotFound, TablewrightError, disk_full
from tablewright.interfaces.page.words import page_language, script_texts_json, t
from tablewright.interfaces.server.context import Visit
from tablewright.interfaces.server.errors import public_message
from tablewright.messages.catalogue import PageText
from tablewright.operations.operation import Effect, check_permission
from tablewright.operations.paths import make_path_hider

P = ParamSpec("P")

# Seconds to build a page. NiceGUI's default of 3 fails on a busy machine; pages are declared after this line.
vars(ui.page)["__init__"].__kwdefaults__["response_timeout"] = 60.0

# An open page closes this soon after its visitor has lost the right to see it.
RIGHTS_CHECK_SECONDS = 3.0
# Text, address, icon; in the order in which a new user needs them.
NAVIGATION: PageText[tuple[tuple[str, str, str], ...]] = (
    ("Tables", "/", "table_chart"),
    ("Documents", "/documents", "description"),
    ("Research", "/research", "travel_explore"),
    ("Shortlist", "/shortlist", "checklist"),
    ("Runs", "/runs", "directions_run"),
    ("Health", "/status", "monitor_heart"),
    ("Settings", "/settings", "settings"),
)


def current_visit() -> Visit:
    """Return the visitor, with the permissions they had when they opened the page."""
    server: FastAPI = pages.state.server
    request = context.client.request
    return Visit(request.state.person, server.state.services, "page")


async def visit_now(needs: Effect = "read", table_id: str = "") -> Visit:
    """Return the visitor with current permissions: for what writes, costs money or reads a table again. Raise if they
    may not do what it `needs`, or do not see the table."""
    visit = current_visit()
    # The owner of the installation is not in the list of users and cannot lose a right.
    if (seen := visit.person).id != "owner":
        # Read again, because a page can stay open for days while an admin changes roles.
        known = {person.id: person for person in await visit.services.store.users.all()}
        if seen.id not in known:
            raise NotFound(t("You are no longer a user of this server."), advice=t("Ask an admin for a new token."))
        # The token's scopes and expiry still limit what the user's role allows.
        by_now = replace(known[seen.id], scopes=seen.scopes, expires_at=seen.expires_at)
        visit = Visit(by_now, visit.server, "page")
    check_permission(visit.person, needs)
    if table_id:
        await visit.table(table_id)
    return visit


# By open page: the table that it is about.
_tables: WeakKeyDictionary[Client, str] = WeakKeyDictionary()


def note_page_table(table_id: str) -> None:
    """Note the table of the open page: a person who loses access to it loses the page."""
    if table_id:
        _tables[context.client] = table_id


async def reload_if_rights_were_lost() -> None:
    """Reload the page if the visitor may do less than when it was opened, or no longer sees its table. Losing another
    table leaves alone what is being typed here."""
    table_id = _tables.get(context.client)
    try:
        now = (await visit_now()).person
    except NotFound:
        ui.navigate.reload()
    else:
        if not now.may_all_of(current_visit().person) or (table_id and not now.sees(table_id)):
            ui.navigate.reload()


@contextmanager
def page_frame(title: str, *, here: str, wide: bool = False, tells: bool = True) -> Iterator[None]:
    """Build the header, and the page inside the `with`. `here` is its path in NAVIGATION; a `wide` page uses the whole
    window and has no heading; one that `tells` shows notices of later errors."""
    # The names of languages in NiceGUI and Quasar, for texts such as "Connection lost".
    framework_languages: dict[str, Literal["de", "en-US"]] = {"en": "en-US", "de": "de"}
    ui.colors(primary="#0f6b62", secondary="#4a5a6a", accent="#8a5a00", positive="#1d7a3a", negative="#b3261e")
    for sheet in ("tablewright", "workflows"):
        ui.add_head_html(f'<link rel="stylesheet" href="/page-files/{sheet}.css">')
    ui.add_head_html(
        f"<script>(window.tablewright ??= {{}}).words = {script_texts_json()}; "
        f"document.documentElement.lang = {json.dumps(page_language())};</script>"
    )
    ui.add_head_html('<script src="/page-files/frame.js"></script>')
    ui.page_title(f"{title} · Tablewright")
    pages.config.language = framework_languages[page_language()]
    if tells:
        ui.on_exception(show_error_notice)
    ui.link(t("Skip to the content"), "#content").classes("tw-skip")
    drawer = ui.left_drawer(value=False, bordered=True).props("overlay behavior=mobile width=240")
    with drawer, ui.element("nav").props(f'aria-label="{t("Main navigation, menu")}"').classes("tw-menu"):
        for name, path, icon in NAVIGATION:
            show_navigation_link(name, path, icon, is_here=path == here)
    with ui.header(elevated=False).classes("tw-header"):
        ui.button(icon="menu", on_click=drawer.toggle).props(
            f'flat round dense aria-label="{t("Open the menu")}"'
        ).classes("tw-menu-button")
        with ui.link(target="/").classes("tw-brand").props(f'aria-label="{t("Tablewright, all tables")}"'):
            ui.html(
                '<svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">'
                '<rect x="3" y="4" width="18" height="16" rx="3" fill="none" stroke="currentColor" stroke-width="1.8"/>'
                '<path d="M3 9.5h18M9.5 9.5V20" stroke="currentColor" stroke-width="1.8"/>'
                '<path d="M12.6 14.8l2.1 2.1 3.8-4.2" fill="none" stroke="currentColor" stroke-width="1.8" '
                'stroke-linecap="round" stroke-linejoin="round"/></svg>',
                sanitize=False,
            )
            ui.label("Tablewright")
        with ui.element("nav").props(f'aria-label="{t("Main navigation")}"').classes("tw-nav"):
            for name, path, icon in NAVIGATION:
                show_navigation_link(name, path, icon, is_here=path == here)
        ui.space()
        who = current_visit().person
        named = context.client.request.path_params.get("table_id", "")
        if who.sees(named):
            note_page_table(named)
        if who.id != "owner":
            ui.label(f"{who.name} ({who.role})").classes("tw-muted tw-who")
            ui.timer(RIGHTS_CHECK_SECONDS, reload_if_rights_were_lost)
        switch = ui.button(icon="contrast").props(f'flat round dense aria-label="{t("Light or dark mode")}"')
        switch.on("click", js_handler="() => window.tablewright.switchTheme()")
        with switch:
            ui.tooltip(t("Light or dark mode"))
    with ui.element("div").props("id=content tabindex=-1").classes("tw-wide" if wide else "tw-page"):
        if not wide:
            ui.label(title).classes("tw-h1").props("role=heading aria-level=1")
        yield


def show_navigation_link(name: str, path: str, icon: str, *, is_here: bool) -> None:
    with ui.link(target=path).classes("tw-place" + (" tw-here" if is_here else "")) as link:
        ui.icon(icon).props('aria-hidden="true"')
        ui.label(t(name))
    if is_here:
        link.props('aria-current="page"')


def explain_error(error: Exception) -> list[str]:
    """Return what went wrong, what was kept and what to do. The text of an unexpected error is only for the log."""
    error = disk_full(error) or error
    if isinstance(error, TablewrightError):
        return [hide_paths(public_message(error)), *error_advice(error)]
    return [
        t("Something went wrong on the server."),
        t("The server log has the details. Everything saved so far is kept."),
    ]


def show_error_notice(error: Exception) -> None:
    ui.notification(
        "\n".join(explain_error(error)),
        type="negative",
        position="bottom",
        multi_line=True,
        close_button="OK",
        timeout=12,
    )


def error_advice(error: TablewrightError) -> list[str]:
    """Return what was kept and what to do. Commands are left out; environment variables become the settings page."""
    lines = [
        t("An admin can change this under Settings.") if "TABLEWRIGHT_" in line else line
        for line in (error.kept, error.advice)
    ]
    return [hide_paths(line) for line in lines if line and "`tablewright " not in line]


def hide_paths(text: str) -> str:
    """Remove the folders of the server's disk from a text."""
    server: FastAPI = pages.state.server
    return make_path_hider(server.state.services.settings)(text)


def show_notice(message: str, *, good: bool = True) -> None:
    """Show a notice of what was done."""
    ui.notification(
        message,
        type="positive" if good else "warning",
        position="bottom",
        multi_line="\n" in message,
        close_button=t("Close"),
        timeout=6,
    )


def show_page_error(error: Exception) -> None:
    """Build the page that is shown if building another failed."""
    first, *more = explain_error(error)
    with page_frame(t("This did not work"), here="", tells=False), ui.element("section").classes("tw-empty"):
        ui.label(first).classes("tw-h2")
        for line in more:
            ui.label(line)
        ui.link(t("All tables"), "/")


def answer_missing(page: Callable[P, Awaitable[None]]) -> Callable[P, Awaitable[None]]:
    """Answer 404 if the thing that a page is about does not exist for this person; the page reads it before it shows
    anything."""

    @wraps(page)
    async def shown(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            await page(*args, **kwargs)
        except NotFound as error:
            context.client.status_code = 404
            show_page_error(error)

    return shown


def show_heading(title: str, *, level: int = 2) -> ui.label:
    return ui.label(title).classes(f"tw-h{level}").props(f"role=heading aria-level={level}")


@contextmanager
def empty_state(title: str, icon: str) -> Iterator[None]:
    """Show that there is nothing yet; the next steps go inside."""
    with ui.element("section").classes("tw-empty"):
        ui.icon(icon, size="40px").props('aria-hidden="true"').classes("tw-muted")
        show_heading(title)
        yield
