"""Citations: numbers that open the cited quote, marked in the stored text of its page."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from urllib.parse import quote as quote_url
from urllib.parse import urlencode

from nicegui import ui

from tablewright.citations.quotes import locate_quote
from tablewright.domain.corpus import Document
from tablewright.domain.model import Evidence
from tablewright.domain.reply import Citation
from tablewright.domain.research import Reference
from tablewright.domain.retrieved import is_document
from tablewright.doors.server.context import Visit
from tablewright.doors.web.elements import (
    icon_button,
    inline,
    open_window,
    outside,
    paragraph,
    quiet,
    row,
    safe,
    when,
)
from tablewright.doors.web.frame import visit_now
from tablewright.doors.web.words import t
from tablewright.operations.documents import find_document

AROUND = 900
"""Characters before and after a quote, where a text has no pages."""
MOST = 20_000
"""Characters of a text that are shown at once."""
LONGEST_QUOTE = 600
"""Characters of a quote that are looked for on the picture of a page."""
_NUMBER = re.compile(r"\[(?:source )?(\d{1,4})\]")
_BULLET = re.compile(r"^[-*] ", re.MULTILINE)


def with_numbers(text: str, numbers: Sequence[int], open_number: Callable[[int], object]) -> None:
    """Show a text in which "[source 3]" is a button, followed by a button for each further number."""
    text = _BULLET.sub("• ", text)
    with ui.element("div").classes("tw-cited"):
        end = 0
        for found in _NUMBER.finditer(text):
            inline(text[end : found.start()])
            number_button(int(found[1]), open_number)
            end = found.end()
        inline(text[end:])
        for number in numbers:
            number_button(number, open_number)


def number_button(number: int, open_number: Callable[[int], object]) -> None:
    button = inline(str(number), "button").classes("tw-cite").props("type=button")
    button.props["aria-label"] = t("Show source {number}", number=number)
    button.on("click", lambda: open_number(number))


# ── a document ───────────────────────────────────────────────────────────────────────────────────────────────────────


async def open_citation(cited: Citation) -> None:
    visit = await visit_now()
    document = await find_document(visit.services, cited.document_id)
    await open_document(visit, document, cited.start, cited.end, cited.content_hash)


async def open_document(visit: Visit, document: Document, start: int, end: int, content_hash: str = "") -> None:
    """Open a window with the page of a document and a passage marked in it."""
    text = await visit.services.stored_text(content_hash or document.text_hash)
    with open_window(safe(document.title or document.name, 200)):
        ui.link(safe(document.name, 200), f"/documents/{document.id}")
        if text is None:
            paragraph(t("Its text is no longer stored."))
        else:
            pages_of(document, text, start, end)


def pages_of(document: Document, text: str, start: int = 0, end: int = 0) -> None:
    """Show a text page by page, from the page of the passage on."""
    starts = document.page_starts or (0,)
    shown = {"page": max(0, bisect_right(starts, start) - 1)}

    @ui.refreshable
    def page() -> None:
        number = shown["page"]
        first = starts[number]
        last = starts[number + 1] if number + 1 < len(starts) else len(text)
        if len(starts) > 1:
            with row():
                icon_button("chevron_left", t("Previous page"), lambda: turn(-1)).set_enabled(number > 0)
                ui.label(t("Page {value} of {starts}", value=number + 1, starts=len(starts))).props("aria-live=polite")
                icon_button("chevron_right", t("Next page"), lambda: turn(1)).set_enabled(number + 1 < len(starts))
        with ui.element("div").classes("tw-beside"):
            if document.media == "pdf":
                page_picture(document, number + 1, text[start:end] if first <= start < last else "")
            with ui.element("div"):
                marked(text, first, last, start, end)

    def turn(by: int) -> None:
        shown["page"] = min(max(0, shown["page"] + by), len(starts) - 1)
        page.refresh()

    page()


def page_picture(document: Document, number: int, quote: str) -> None:
    """Show a picture of a page, or nothing if the file is gone."""
    address = f"/page-data/documents/{quote_url(document.id, safe='')}/pages/{number}"
    address += f"?{urlencode({'quote': ' '.join(quote.split())[:LONGEST_QUOTE]})}" if quote else ""
    picture = ui.element("img").classes("tw-page-picture").props(f'src="{address}" loading=lazy')
    picture.props["alt"] = t("Page {value} of {starts}", value=number, starts=safe(document.name, 120))
    picture.on("error", js_handler="(event) => event.target.remove()")


def marked(text: str, first: int, last: int, start: int, end: int) -> None:
    """Show `text[first:last]` with `start:end` marked; of a long text the part around it."""
    if last - first > MOST:
        first = max(first, start - MOST // 2)
        last = min(last, first + MOST)
    start, end = max(first, start), min(last, end)
    with ui.element("div").classes("tw-stored").props(f'tabindex=0 role=region aria-label="{t("Stored text")}"'):
        if start >= end:
            inline(text[first:last])
            return
        inline(text[first:start])
        mark = inline(text[start:end], "mark")
        inline(text[end:last])
    ui.run_javascript(f"setTimeout(() => getElement({mark.id})?.scrollIntoView({{block: 'center'}}), 250)")


# ── the web ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def open_reference(reference: Reference) -> None:
    """Open a window with a source of a report and its quotes in the stored text."""
    with open_window(safe(reference.title or reference.url, 200)):
        if is_document(reference.url):
            ui.link(t("Open the document"), f"/documents/{reference.url}")
        else:
            outside(reference.url, reference.url)
        if reference.retrieved_at:
            quiet(t("Retrieved {retrieved_at}", retrieved_at=when(reference.retrieved_at)))
        text = await (await visit_now()).services.stored_text(reference.content_hash) or ""
        for quote in reference.quotes:
            show_quote(text, quote)


def show_quote(text: str, quote: str) -> None:
    if place := locate_quote(quote, text):
        start, end = place
        marked(text, max(0, start - AROUND), min(len(text), end + AROUND), start, end)
    else:
        paragraph(quote, "tw-quote")


def show_evidence(evidence: Evidence) -> None:
    with ui.element("div").classes("tw-column"):
        page = f", {t('page {page}', page=evidence.page)}" if evidence.page else ""
        with row():
            outside(evidence.title or evidence.domain or evidence.origin, evidence.origin)
            quiet(f"{evidence.domain}{page}")
        if evidence.quote:
            paragraph(evidence.quote, "tw-quote")
