"""Other people's text, shown as text: names, quotes, answers. Nothing here becomes HTML or Markdown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TypeAlias

from nicegui import events, ui
from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement

from tablewright.domain.printable import printable
from tablewright.doors.web.frame import frame, tell
from tablewright.doors.web.words import t
from tablewright.errors import TablewrightError, UsageError
from tablewright.formats.reports.wording import link

LONGEST = 200_000
WORDS = "(event) => { event.preventDefault(); emit(event.target.querySelector('input').value); }"

Shown: TypeAlias = str | Callable[[], object]
"""A text, or what builds something where it is to stand."""


@contextmanager
def journey(title: str, *, here: str, wide: bool = False) -> Iterator[None]:
    """The frame of a journey's page, whose title may be somebody's question."""
    with frame(safe(title, 120), here=here, wide=wide):
        yield


def safe(text: str, limit: int = 4_000) -> str:
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return printable(cut)


def paragraph(text: str, classes: str = "") -> ui.label:
    """A paragraph; its line breaks stay."""
    return ui.label(safe(text, LONGEST)).classes(f"tw-text {classes}".strip())


def quiet(text: str) -> ui.label:
    """What is true and needs no attention."""
    return paragraph(text, "tw-muted tw-small")


def inline(text: str, tag: str = "span") -> TextElement:
    return TextElement(tag=tag, text=safe(text, LONGEST))


def outside(text: str, url: str) -> Element:
    """A link to the web; what is no plain web address stays text."""
    if not link(url):
        return inline(text)
    shown = ui.link(safe(text, 300), url, new_tab=True).classes("tw-outside")
    return shown.props('rel="noopener noreferrer nofollow"')


def chip(text: str, kind: str = "") -> TextElement:
    """A word or two about something; `kind` is high, medium, low or failed."""
    return inline(text).classes(f"tw-chip tw-{kind}" if kind else "tw-chip")


def card(label: str = "") -> Element:
    section = ui.element("section").classes("tw-card")
    if label:
        section.props["aria-label"] = label
    return section


def row() -> Element:
    return ui.element("div").classes("tw-row")


def grid(columns: Sequence[str], rows: Sequence[Sequence[Shown]], label: str) -> Element:
    """A table of texts, which screen readers read as one. Where it is too wide it scrolls by itself; on a phone each
    row becomes a block, with the names of the columns beside the values."""
    with ui.element("div").classes("tw-scroll").props("tabindex=0 role=region") as box:
        box.props["aria-label"] = label
        with ui.element("table").classes("tw-grid tw-stack"):
            with ui.element("thead"), ui.element("tr"):
                for column in columns:
                    inline(column, "th").props("scope=col")
            with ui.element("tbody"):
                for line in rows:
                    with ui.element("tr"):
                        for column, value in zip(columns, line, strict=True):
                            show_cell(column, value)
    return box


def show_cell(column: str, value: Shown) -> None:
    if value == "":
        ui.element("td")
        return
    with ui.element("td") as cell, ui.element("div"):
        cell.props["data-label"] = safe(column, 60)
        if callable(value):
            value()
        else:
            inline(value)


def bar(fraction: float | None, label: str) -> ui.linear_progress:
    """How far something is; None: nobody knows."""
    shown = ui.linear_progress(fraction or 0.0, show_value=False).props("rounded size=8px")
    shown.props["aria-label"] = label
    return shown.props("indeterminate") if fraction is None else shown


def brief_button(label: str, icon: str, on_click: Callable[[], object] | None = None) -> ui.button:
    """Only its icon where there is little room."""
    button = ui.button(label, icon=icon, on_click=on_click).props("outline").classes("tw-brief")
    button.props["title"] = label
    return button


def icon_button(icon: str, label: str, on_click: Callable[[], object]) -> ui.button:
    button = ui.button(icon=icon, on_click=on_click).props("flat round dense")
    button.props["aria-label"] = label
    with button:
        ui.tooltip(label)
    return button


def saying(
    label: str, button: str, then: Callable[[str], Awaitable[None]], *, placeholder: str = "", most: int = 2_000
) -> None:
    """A line to type into and a button to send it. The words come with the event itself: told apart, they could come
    later than it does."""

    async def sent(event: events.GenericEventArguments) -> None:
        words = str(event.args or "").strip()[:most]
        if words:
            line.value = words
            line.value = ""
            await then(words)

    form = ui.element("form").classes("tw-say")
    form.on("submit", sent, js_handler=WORDS)
    with form:
        line = ui.input(label, placeholder=placeholder).props(f"outlined autofocus maxlength={most}")
        ui.button(button, icon="send").props("type=submit unelevated").style("height: 56px")


def dialog_buttons(window: ui.dialog, label: str, act: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    """Add the buttons that end a dialog: Cancel, and one for `act`, which submits it. Return what the second does: what
    goes wrong is told, and the window stays with what was typed."""

    async def do() -> None:
        try:
            await act()
        except TablewrightError as error:
            tell(error)

    with ui.element("div").classes("tw-row tw-end"):
        ui.button(t("Cancel"), on_click=lambda: window.submit(None)).props("flat")
        ui.button(label, on_click=do).props("unelevated")
    return do


def count_input(label: str, *, most: int, value: int | None = None) -> ui.number:
    """A whole number from 1 up, or nothing; what is typed is refused rather than changed."""
    refusal = t("From 1 to {most}", most=most)
    field = ui.number(label, value=value, validation={refusal: lambda value: is_count(value, most)})
    return field.props(f"outlined dense hide-bottom-space max={most}").style("width: 150px")


def is_count(value: float | None, most: int) -> bool:
    return value is None or (1 <= value <= most and value == int(value))


def count_of(field: ui.number) -> int | None:
    """None where nothing was typed."""
    if not field.validate():
        label = str(field.props["label"])
        raise UsageError(
            t("“{label}” cannot be {value}.", label=label, value=f"{field.value:g}"), advice=field.error or ""
        )
    return None if field.value is None else int(field.value)


def when(at: str | None) -> str:
    """In the time zone of the server, to the minute."""
    return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d\u00a0%H:%M") if at else ""
