"""The elements of all pages: texts, cards, tables, forms, dialogs.

Other people's text (names, quotes, answers) is shown as text. Nothing here becomes HTML or Markdown.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeAlias, cast

from msgspec import structs
from msgspec.inspect import BoolType, FloatType, IntType, Metadata, StructType, UnionType, type_info
from nicegui import events, ui
from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement

from tablewright.domain.text import replace_unsafe_characters
from tablewright.errors import TablewrightError, UsageError
from tablewright.formats.reports.wording import safe_link
from tablewright.interfaces.page.frame import empty_state, page_frame, show_error_notice, show_heading, show_notice
from tablewright.interfaces.page.words import T, t
from tablewright.operations.operation import Request
from tablewright.settings import Settings

# A dialog's choice returns this to leave the dialog open.
KEEP_DIALOG_OPEN = object()

# A text, or a function that builds the content in its place.
GridContent: TypeAlias = str | Callable[[], object]

# Once for all pages, so that fields look alike without naming the props each time.
for _field in (ui.input, ui.number, ui.select, ui.textarea):
    _field.default_props("outlined dense")
ui.select.default_props("options-dense")


@contextmanager
def titled_page(title: str, *, here: str, wide: bool = False) -> Iterator[None]:
    """Build the frame of a page whose title may be a user's question."""
    with page_frame(display_text(title, 120), here=here, wide=wide):
        yield


# A limit for everything that is shown: one long value must not push the rest of a page away.
def display_text(text: str, limit: int = 4_000) -> str:
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    return replace_unsafe_characters(cut)


def show_paragraph(text: str, classes: str = "") -> ui.label:
    """Show a paragraph with its line breaks."""
    # A browser lays out more only slowly; a text this long is a document, which is shown in parts.
    return ui.label(display_text(text, 200_000)).classes(f"tw-text {classes}".strip())


def show_remark(text: str) -> ui.label:
    """Show a remark that needs no attention."""
    return show_paragraph(text, "tw-muted tw-small")


def inline_text(text: str, tag: str = "span") -> TextElement:
    return TextElement(tag=tag, text=display_text(text, 200_000))


def show_web_link(text: str, url: str) -> Element:
    """Show a link to the web, or text if the address is not a plain web address."""
    if not safe_link(url):
        return inline_text(text)
    # Opened in a new tab without the opener: a page from the web must not reach ours.
    shown = ui.link(display_text(text, 300), url, new_tab=True).classes("tw-outside")
    return shown.props('rel="noopener noreferrer nofollow"')


def page_link(text: str, path: str) -> Callable[[], object]:
    """Return what shows a link to a page of this server, for a table's cell."""
    return lambda: ui.link(display_text(text, 200), path)


def show_chip(text: str, kind: str = "") -> TextElement:
    """Show a word or two about something; `kind` is high, medium, low or failed."""
    return inline_text(text).classes(f"tw-chip tw-{kind}" if kind else "tw-chip")


def filter_chip(text: str, on_click: Callable[[], object], *, is_pressed: bool, kind: str = "") -> None:
    """Show a chip that chooses what is shown."""
    chip = ui.element("button").classes(f"tw-chip tw-filter {kind}").on("click", on_click)
    chip.props(f"type=button aria-pressed={str(is_pressed).lower()}")
    with chip:
        ui.label(text)


def page_card(label: str = "") -> Element:
    section = ui.element("section").classes("tw-card")
    if label:
        section.props["aria-label"] = label
    return section


@contextmanager
def titled_card(title: str) -> Iterator[Element]:
    with page_card(title) as section:
        show_heading(title)
        yield section


def flex_row() -> Element:
    return ui.element("div").classes("tw-row")


def show_bullets(texts: Iterable[str], classes: str = "") -> None:
    """Show texts as a list."""
    with ui.element("ul").classes(f"tw-steps {classes}".strip()):
        for text in texts:
            with ui.element("li"):
                inline_text("·")
                inline_text(text)


def show_busy(text: str) -> None:
    """Show that something is under way."""
    with flex_row():
        ui.spinner("dots", size="2em").props('aria-hidden="true"')
        show_remark(text)


def show_problem(problem: str) -> Element:
    """Show why something did not work; ways out go inside."""
    with page_card(t("Problem")) as section:
        show_chip(t("That did not work"), "failed")
        show_paragraph(problem)
    return section


def show_table_grid(columns: Sequence[str], rows: Sequence[Sequence[GridContent]], label: str) -> Element:
    """Show a table. If it is too wide, it scrolls by itself; on a phone each row becomes a block of labelled values."""
    with ui.element("div").classes("tw-scroll").props("tabindex=0 role=region") as box:
        box.props["aria-label"] = label
        with ui.element("table").classes("tw-grid tw-stack"):
            with ui.element("thead"), ui.element("tr"):
                for column in columns:
                    inline_text(column, "th").props("scope=col")
            with ui.element("tbody"):
                for line in rows:
                    with ui.element("tr"):
                        for column, value in zip(columns, line, strict=True):
                            show_grid_cell(column, value)
    return box


def show_paged_grid(
    columns: Sequence[str], items: Sequence[T], line: Callable[[T], Sequence[GridContent]], label: str
) -> None:
    """Show a table of the first items, with a button for more."""
    # Larger: a slower page for everyone; smaller: more clicks in a long collection.
    shown = 50

    @ui.refreshable
    def listed() -> None:
        show_table_grid(columns, [line(item) for item in items[:shown]], label)
        if shown < len(items):
            more = min(shown, len(items) - shown)
            ui.button(t("Show {at_once} more", at_once=more), on_click=show_more).props("flat")

    def show_more() -> None:
        nonlocal shown
        # Doubling keeps the number of clicks small even for long lists.
        shown *= 2
        listed.refresh()

    listed()


def show_earlier_list(
    title: str,
    columns: Sequence[str],
    items: Sequence[T],
    line: Callable[[T], Sequence[GridContent]],
    *,
    nothing: tuple[str, str, str],
) -> None:
    """Show what was begun before; `nothing` is an icon, a title and advice for when there is none."""
    if items:
        with titled_card(title):
            show_paged_grid(columns, items, line, title)
        return
    icon, text, advice = nothing
    with empty_state(text, icon):
        ui.label(advice)


def show_grid_cell(column: str, value: GridContent) -> None:
    if value == "":
        ui.element("td")
        return
    with ui.element("td") as cell, ui.element("div"):
        cell.props["data-label"] = display_text(column, 60)
        if callable(value):
            value()
        else:
            inline_text(value)


def progress_bar(fraction: float | None, label: str) -> ui.linear_progress:
    """Show progress; None is for an unknown fraction."""
    shown = ui.linear_progress(fraction or 0.0, show_value=False).props("rounded size=8px")
    shown.props["aria-label"] = label
    return shown.props("indeterminate") if fraction is None else shown


def compact_button(label: str, icon: str, on_click: Callable[[], object] | None = None) -> ui.button:
    """Show a button that shrinks to its icon on a small screen."""
    button = ui.button(label, icon=icon, on_click=on_click).props("outline").classes("tw-brief")
    button.props["title"] = label
    return button


def icon_button(icon: str, label: str, on_click: Callable[[], object]) -> ui.button:
    button = ui.button(icon=icon, on_click=on_click).props("flat round dense")
    button.props["aria-label"] = label
    with button:
        ui.tooltip(label)
    return button


def conversation_log() -> Element:
    log = ui.element("div").classes("tw-talk").props("role=log aria-live=polite")
    log.props["aria-label"] = t("Conversation")
    return log


def message_form(
    label: str, button: str, then: Callable[[str], Awaitable[None]], *, most: int, placeholder: str = ""
) -> None:
    """Show a line to type into and a button to send it. The words come with the event, because they could
    arrive after it."""

    prevent_reload = "(event) => { event.preventDefault(); emit(event.target.querySelector('input').value); }"

    async def sent(event: events.GenericEventArguments) -> None:
        words = str(event.args or "").strip()[:most]
        if words:
            # Setting the same value twice would not reach the browser, so the text is set before it is cleared.
            line.value = words
            line.value = ""
            await then(words)

    form = ui.element("form").classes("tw-say")
    form.on("submit", sent, js_handler=prevent_reload)
    with form:
        line = ui.input(label, placeholder=placeholder).props(f"autofocus maxlength={most}", remove="dense")
        ui.button(button, icon="send").props("type=submit unelevated").style("height: 56px")


def request_kinds(request: type[Request], name: str) -> Iterator[Any]:
    """Yield the types of a request's field. They can be nested: an optional field is a union of its type and None."""
    declared = cast(StructType, type_info(request))
    waiting = [next(field.type for field in declared.fields if field.name == name)]
    while waiting:
        match waiting.pop():
            case Metadata(type=kind):
                waiting.append(kind)
            case UnionType(types=kinds):
                waiting += kinds
            case kind:
                yield kind


def request_limit(request: type[Request], name: str) -> int:
    """Return the limit of a request's field: its longest text or largest number."""
    limits = (getattr(kind, "max_length", None) or getattr(kind, "le", None) for kind in request_kinds(request, name))
    return int(next(filter(None, limits)))


class RequestForm:
    """A form whose inputs have the types, limits and defaults of a request's fields. A wrong entry is refused rather
    than changed."""

    def __init__(self, request: type[Request], submit: Callable[[], Awaitable[None]]) -> None:
        self._request = request
        self._submit = submit
        self._inputs: dict[str, Any] = {}

    @contextmanager
    def open_card(self, title: str) -> Iterator[None]:
        with page_card(title), ui.element("form").classes("tw-column").on("submit.prevent", self._send):
            yield

    def add_question(self, label: str, example: str, refusal: str) -> None:
        """Add a large field for the question; `refusal` is shown if it is empty."""
        is_given = {refusal: lambda value: bool(value and value.strip())}
        # An empty field is wrong only when it is submitted, not while the person types.
        field = ui.textarea(label, placeholder=example, validation=is_given).without_auto_validation()
        most = request_limit(self._request, "question")
        field.props(f"autogrow autofocus maxlength={most} hide-bottom-space", remove="dense")
        self._inputs["question"] = field

    def add_field(
        self, name: str, label: str, *, example: str = "", choices: Mapping[Any, str] | None = None
    ) -> Element:
        default = next(field.default for field in structs.fields(self._request) if field.name == name)
        kinds = {type(kind) for kind in request_kinds(self._request, name)}
        field: Any
        if choices is not None:
            field = ui.select(dict(choices), value=default, label=label)
        elif BoolType in kinds:
            field = ui.checkbox(label, value=default)
        elif kinds & {IntType, FloatType}:
            most = request_limit(self._request, name)
            valid = {t("From 1 to {most}", most=most): lambda value: value is None or value in range(1, most + 1)}
            field = ui.number(label, value=default, validation=valid)
            field.props(f"hide-bottom-space max={most}").style("width: 150px")
        else:
            field = ui.input(label, placeholder=example).props(remove="dense")
        self._inputs[name] = field
        return cast(Element, field)

    def add_button(self, label: str, icon: str) -> None:
        self._button = ui.button(label, icon=icon).props("type=submit unelevated")

    async def _send(self) -> None:
        if self._inputs["question"].validate():
            with disabled_button(self._button):
                await self._submit()

    def read(self) -> dict[str, Any]:
        """Return what was entered, by the name of its field, without what was left empty."""
        entered = {}
        for name, field in self._inputs.items():
            value = field.value.strip() if isinstance(field.value, str) else field.value
            if isinstance(field, ui.number) and not field.validate():
                raise UsageError(
                    t("“{label}” cannot be {value}.", label=str(field.props["label"]), value=f"{value:g}"),
                    advice=field.error or "",
                )
            if value not in (None, ""):
                entered[name] = int(value) if isinstance(field, ui.number) else value
        return entered


@contextmanager
def disabled_button(button: ui.button) -> Iterator[None]:
    """Disable a button while its work is done."""
    button.disable()
    try:
        yield
    finally:
        button.enable()


@contextmanager
def loading_button(button: ui.button) -> Iterator[None]:
    """Show on a button that its work is under way; until then it cannot be pressed again."""
    button.props("loading")
    try:
        yield
    finally:
        button.props(remove="loading")


def small_button(label: str, on_click: Callable[[], object], *, icon: str = "", look: str = "outline") -> ui.button:
    """Show a button for a line of text or a bar."""
    return ui.button(label, icon=icon or None, on_click=on_click).props(f"{look} dense padding='4px 12px'")


def show_budget_note(settings: Settings) -> None:
    """Say what a run may spend, if that is limited."""
    if settings.budget is not None:
        show_remark(t("It may spend up to {budget} dollars.", budget=settings.texts["budget"]))


def format_page_time(at: str | None) -> str:
    """Return a time in the server's time zone, to the minute."""
    return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d\u00a0%H:%M") if at else ""


# ── files ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

# Status of an upload when the disk is full, and when the file is larger than the server takes.
NO_SPACE, TOO_LARGE = 507, 413


def file_drop_area(
    label: str,
    kinds: str,
    *,
    largest: int,
    several: bool,
    take: Callable[[events.UploadEventArguments], Awaitable[None]],
    refuse: Callable[[], None],
) -> ui.upload:
    """Show where files are dropped or chosen. The framework's own buttons have no names, so these are ours."""

    def lost(event: events.GenericEventArguments) -> None:
        full = t("The disk of the server is full. Nothing of the file was kept. Free some space first.")
        interrupted = t("The upload was interrupted. Choose the file again.")
        show_notice(full if event.args == NO_SPACE else interrupted, good=False)
        uploader.run_method("removeQueuedFiles")

    uploader = ui.upload(
        multiple=several,
        auto_upload=True,
        max_files=None if several else 1,
        max_file_size=largest,
        on_upload=take,
        on_rejected=refuse,
    ).props(f'flat accept="{kinds}"')
    with uploader.add_slot("header"), ui.element("div").classes("tw-row"):
        with ui.element("label").classes("tw-choose"):
            ui.icon("upload_file", size="24px").props('aria-hidden="true"')
            inline_text(label)
            chosen = ui.element("input").props(f'type=file accept="{kinds}"').classes("q-uploader__input absolute-full")
            chosen.props.set_bool("multiple", several)
            chosen.on("change", js_handler="(event) => props.addFiles([...event.target.files])")
        stop = ui.button(t("Stop"), icon="close", on_click=lambda: uploader.run_method("abort")).props("flat dense")
        stop.set_visibility(False)
    uploader.add_slot(
        "list",
        """
        <div><div v-for="file in props.files" :key="file.__key" class="tw-file">
          <span>{{ file.name }}</span>
          <span class="tw-muted">{{ file.__status === "uploaded" ? "arrived" : file.__progressLabel }}</span>
        </div></div>
        """,
    )
    uploader.on("start", lambda: stop.set_visibility(True), args=[])
    uploader.on("finish", lambda: stop.set_visibility(False), args=[])
    uploader.on("failed", lost, js_handler="(failure) => emit(failure?.xhr?.status ?? 0)")
    # Reset for the next file, but only once the browser knows that this one has arrived.
    if not several:
        uploader.on("uploaded", lambda: uploader.run_method("reset"), args=[])
    return uploader


# ── dialogs ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def build_dialog(title: str, *, wide: bool = False, persistent: bool = False) -> Iterator[ui.dialog]:
    """Build a window that asks for something; `wait_for_answer` opens it."""
    with ui.dialog() as window, ui.card().classes("tw-dialog tw-dialog-wide" if wide else "tw-dialog"):
        if persistent:
            window.props("persistent")
        show_heading(title)
        yield window


async def wait_for_answer(window: ui.dialog) -> Any:
    """Open a dialog and return what is submitted to it, or None if it is closed."""
    answer = await window
    # A closed dialog would stay in the page and grow its memory.
    window.delete()
    return answer


def dialog_buttons(
    window: ui.dialog, *choices: tuple[str, Any], cancel: str = "", look: str = "unelevated"
) -> Callable[[], Awaitable[None]]:
    """Add the buttons that end a dialog: Cancel, and one for each choice, of which the last stands out. Return the
    action of the last.

    A choice is a label and what to submit, or an async function that returns it. If that fails, a notice says why and
    the dialog stays open with what was typed."""

    def submit(choice: Any, button: ui.button) -> Callable[[], Awaitable[None]]:
        async def do() -> None:
            with loading_button(button):
                try:
                    answer = await choice() if callable(choice) else choice
                    if answer is not KEEP_DIALOG_OPEN:
                        window.submit(answer)
                except TablewrightError as error:
                    show_error_notice(error)

        return do

    async def leave() -> None:
        window.submit(None)

    do: Callable[[], Awaitable[None]] = leave
    with ui.element("div").classes("tw-row tw-end"):
        ui.button(cancel or t("Cancel"), on_click=leave).props("flat")
        for number, (label, choice) in enumerate(choices, 1):
            button = ui.button(label).props(look if number == len(choices) else "outline")
            do = submit(choice, button)
            button.on_click(do)
    return do


async def ask_confirmation(question: str, yes: str, *details: str, no: str = "") -> bool:
    with build_dialog(question) as window:
        for line in details:
            show_paragraph(line)
        dialog_buttons(window, (yes, True), cancel=no, look="unelevated color=negative")
    return bool(await wait_for_answer(window))


@contextmanager
def open_window(title: str) -> Iterator[ui.dialog]:
    """Open a window with a heading and a close button."""
    with ui.dialog(value=True) as window, ui.card().classes("tw-window") as content:
        content.props["aria-label"] = title
        with flex_row().classes("no-wrap"):
            show_heading(display_text(title, 200)).classes("tw-grow")
            icon_button("close", t("Close"), window.close)
        yield window
    # A hidden window would stay in the page and grow its memory.
    window.on("hide", window.delete)
