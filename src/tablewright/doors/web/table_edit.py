"""What is written into a table from its page: who may by now, and the windows in which a cell is spoken about."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from nicegui import ui

from tablewright.domain.model import Field
from tablewright.domain.text import shortened
from tablewright.doors.server.context import Visit
from tablewright.doors.web.frame import say, tell, text, visit_to_change
from tablewright.doors.web.words import t, type_text
from tablewright.errors import TablewrightError, UsageError
from tablewright.messages.catalogue import PageText

if TYPE_CHECKING:
    from tablewright.app import Rechecked

VERDICTS: PageText[dict[str, str]] = {
    "supported": "The source still says so.",
    "changed": "The source no longer says so. The cell is flagged.",
}
UNCHECKED: PageText[str] = "The source could not be checked."
MOST = 100_000
"""Characters of a cell that can be edited here: each change of them travels whole."""


async def visit_to_write(table_id: str) -> Visit:
    """Whoever has the page open, for what writes or costs money: they may change things, and still see the table."""
    visit = await visit_to_change()
    await visit.table(table_id)
    return visit


async def ask_value(name: str, field: Field, content: str, save: Callable[[str], Awaitable[None]]) -> None:
    """The whole text of a cell, to be written anew; what the column does not take can be mended."""
    if len(content) > MOST:
        raise UsageError(
            t("This text has {content} characters, too many to edit here.", content=len(content)),
            advice=t("Export the table, edit the file and import it."),
        )
    with ui.dialog() as window, ui.card().classes("tw-dialog tw-dialog-wide"):
        text(t("Edit {name}", name=shortened(field.name, 60)), "tw-h2")
        text(f"{shortened(name, 80)}; {type_text(field)}", "tw-muted tw-small")
        given = ui.textarea(t("Value"), value=content).props(f"outlined autofocus rows=8 debounce=200 maxlength={MOST}")

        async def take() -> None:
            try:
                await save(given.value or "")
            except TablewrightError as error:
                tell(error)
                return
            window.submit(True)

        with ui.element("div").classes("tw-row tw-end"):
            ui.button(t("Cancel"), on_click=lambda: window.submit(False)).props("flat")
            ui.button(t("Save"), on_click=take).props("unelevated")
    await window
    window.delete()


async def ask_name_and_tags(name: str, tags: Sequence[str]) -> tuple[str, list[str]] | None:
    """Of a table; None where they stay as they are."""
    with ui.dialog() as window, ui.card().classes("tw-dialog"):
        text(t("Rename and tag"), "tw-h2")
        named = ui.input(t("Table name"), value=name).props("outlined dense autofocus maxlength=200")
        tagged = ui.input(t("Tags, separated by commas"), value=", ".join(tags)).props("outlined dense maxlength=500")
        text(t("Tags group your tables: a client, a project, a quarter."), "tw-muted tw-small")
        named.on("keydown.enter", lambda: window.submit(True))
        tagged.on("keydown.enter", lambda: window.submit(True))
        with ui.element("div").classes("tw-row tw-end"):
            ui.button(t("Cancel"), on_click=lambda: window.submit(False)).props("flat")
            ui.button(t("Save"), on_click=lambda: window.submit(True)).props("unelevated")
    is_wanted = await window and (named.value or "").strip()
    window.delete()
    return (named.value.strip(), (tagged.value or "").split(",")) if is_wanted else None


async def ask_reason(*, may_look: bool) -> tuple[str | None, bool]:
    """What is wrong with a cell, and whether it is to be looked for again at once; None where it is not flagged."""
    with ui.dialog() as window, ui.card().classes("tw-dialog"):
        ui.label(t("What is wrong?")).classes("tw-h2")
        reason = ui.input(t("Reason"), placeholder=t("e.g. this is a different company")).props("autofocus outlined")
        ui.label(
            t("The cell keeps its value and evidence. The next search is told your reason and looks elsewhere.")
        ).classes("tw-muted")
        with ui.element("div").classes("tw-row tw-end"):
            ui.button(t("Cancel"), on_click=window.close).props("flat")
            flag = ui.button(t("Flag"), icon="flag", on_click=lambda: window.submit("flag"))
            flag.props("outline" if may_look else "unelevated")
            if may_look:
                again = ui.button(t("Flag and search again"), icon="search", on_click=lambda: window.submit("look"))
                again.props("unelevated")
        reason.on("keydown.enter", lambda: window.submit("flag"))
    choice = await window
    said = (reason.value or "").strip() if choice else None
    window.delete()
    return said, choice == "look"


def tell_rechecked(done: Rechecked) -> None:
    """What the cited pages say by now."""
    said = [verdict.verdict for verdict in done.cells]
    if not said:
        say(t("None of these cells has a source to check."), good=False)
    elif len(said) == 1:
        words = t(VERDICTS.get(said[0], UNCHECKED))
        note = done.cells[0].note
        say(words + (f"\n{note}" if note else ""), good=said[0] == "supported")
    else:
        changed, unknown = said.count("changed"), len(said) - said.count("supported") - said.count("changed")
        say(
            t(
                "{count} cell checked: {same} still supported, {changed} flagged because the source changed, {unknown} "
                "could not be checked.|"
                "{count} cells checked: {same} still supported, {changed} flagged because the source changed, "
                "{unknown} could not be checked.",
                count=len(said),
                same=said.count("supported"),
                changed=changed,
                unknown=unknown,
            ),
            good=not (changed or unknown),
        )


async def sure(question: str, yes: str) -> bool:
    with ui.dialog() as dialog, ui.card().classes("tw-dialog"):
        text(question)
        with ui.element("div").classes("tw-row tw-end"):
            ui.button(t("Cancel"), on_click=lambda: dialog.submit(False)).props("flat autofocus")
            ui.button(yes, on_click=lambda: dialog.submit(True)).props("unelevated color=negative")
    said = bool(await dialog)
    dialog.delete()
    return said
