"""Citations: numbers that open the cited quote, marked in the stored text of its page."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from urllib.parse import quote as quote_url
from urllib.parse import urlencode

from nicegui import ui

from tablewright.citations.quotes import locate_quote
from tablewright.domain.documents import Document
from tablewright.domain.model import Evidence
from tablewright.domain.reply import Citation
from tablewright.domain.research import Reference
from tablewright.domain.retrieved import is_document_id
from tablewright.interfaces.page.elements import (
    display_text,
    flex_row,
    format_page_time,
    icon_button,
    inline_text,
    open_window,
    show_paragraph,
    show_remark,
    show_web_link,
)
from tablewright.interfaces.page.frame import visit_now
from tablewright.interfaces.page.words import t
from tablewright.interfaces.server.context import Visit
from tablewright.operations.documents import find_document


def show_cited_text(text: str, numbers: Sequence[int], open_number: Callable[[int], object]) -> None:
    """Show a text in which "[source 3]" is a button, followed by a button for each further number."""
    text = re.sub(r"^[-*] ", "• ", text, flags=re.MULTILINE)
    with ui.element("div").classes("tw-cited"):
        end = 0
        for found in re.finditer(r"\[(?:source )?(\d{1,4})\]", text):
            inline_text(text[end : found.start()])
            citation_button(int(found[1]), open_number)
            end = found.end()
        inline_text(text[end:])
        for number in numbers:
            citation_button(number, open_number)


def citation_button(number: int, open_number: Callable[[int], object]) -> None:
    button = inline_text(str(number), "button").classes("tw-cite").props("type=button")
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
    with open_window(display_text(document.title or document.name, 200)):
        ui.link(display_text(document.name, 200), f"/documents/{document.id}")
        if text is None:
            show_paragraph(t("Its text is no longer stored."))
        else:
            show_document_pages(document, text, start, end)


def show_document_pages(document: Document, text: str, start: int = 0, end: int = 0) -> None:
    """Show a text page by page, from the page of the passage on."""
    # A text without pages counts as one page.
    starts = document.page_starts or (0,)
    shown = {"page": max(0, bisect_right(starts, start) - 1)}

    @ui.refreshable
    def page() -> None:
        number = shown["page"]
        first = starts[number]
        last = starts[number + 1] if number + 1 < len(starts) else len(text)
        if len(starts) > 1:
            with flex_row():
                icon_button("chevron_left", t("Previous page"), lambda: turn(-1)).set_enabled(number > 0)
                ui.label(t("Page {value} of {starts}", value=number + 1, starts=len(starts))).props("aria-live=polite")
                icon_button("chevron_right", t("Next page"), lambda: turn(1)).set_enabled(number + 1 < len(starts))
        with ui.element("div").classes("tw-side-by-side"):
            # Text recognition and layout differ, so a PDF is shown as a picture, too.
            if document.media == "pdf":
                show_page_picture(document, number + 1, text[start:end] if first <= start < last else "")
            with ui.element("div"):
                show_marked_text(text, first, last, start, end)

    def turn(by: int) -> None:
        shown["page"] = min(max(0, shown["page"] + by), len(starts) - 1)
        page.refresh()

    page()


def show_page_picture(document: Document, number: int, quote: str) -> None:
    """Show a picture of a page, or nothing if the file is gone."""
    address = f"/page-data/documents/{quote_url(document.id, safe='')}/pages/{number}"
    # The quote goes into an address, and its beginning is enough to find the place on the picture.
    address += f"?{urlencode({'quote': ' '.join(quote.split())[:600]})}" if quote else ""
    picture = ui.element("img").classes("tw-page-picture").props(f'src="{address}" loading=lazy')
    picture.props["alt"] = t("Page {value} of {starts}", value=number, starts=display_text(document.name, 120))
    # The file may be gone while its text is still stored.
    picture.on("error", js_handler="(event) => event.target.remove()")


def show_marked_text(text: str, first: int, last: int, start: int, end: int) -> None:
    """Show `text[first:last]` with `start:end` marked; of a long text the part around it."""
    # More would make the page slow; the passage is in the middle of what is shown.
    most_characters = 20_000
    if last - first > most_characters:
        first = max(first, start - most_characters // 2)
        last = min(last, first + most_characters)
    start, end = max(first, start), min(last, end)
    with ui.element("div").classes("tw-stored").props(f'tabindex=0 role=region aria-label="{t("Stored text")}"'):
        if start >= end:
            inline_text(text[first:last])
            return
        inline_text(text[first:start])
        mark = inline_text(text[start:end], "mark")
        inline_text(text[end:last])
    # The window must have its size before it can scroll to the passage.
    ui.run_javascript(f"setTimeout(() => getElement({mark.id})?.scrollIntoView({{block: 'center'}}), 250)")


# ── the web ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def open_reference(reference: Reference) -> None:
    """Open a window with a source of a report and its quotes in the stored text."""
    with open_window(display_text(reference.title or reference.url, 200)):
        if is_document_id(reference.url):
            ui.link(t("Open the document"), f"/documents/{reference.url}")
        else:
            show_web_link(reference.url, reference.url)
        if reference.retrieved_at:
            show_remark(t("Retrieved {retrieved_at}", retrieved_at=format_page_time(reference.retrieved_at)))
        text = await (await visit_now()).services.stored_text(reference.content_hash) or ""
        for quote in reference.quotes:
            show_quote(text, quote)


def show_quote(text: str, quote: str) -> None:
    # characters before and after the quote: about a screen of text
    margin = 900
    # The stored text may have changed since; then the quote is shown by itself.
    if place := locate_quote(quote, text):
        start, end = place
        show_marked_text(text, max(0, start - margin), min(len(text), end + margin), start, end)
    else:
        show_paragraph(quote, "tw-quote")


def show_evidence_source(evidence: Evidence) -> None:
    with ui.element("div").classes("tw-column"):
        page = f", {t('page {page}', page=evidence.page)}" if evidence.page else ""
        with flex_row():
            show_web_link(evidence.title or evidence.domain or evidence.origin, evidence.origin)
            show_remark(f"{evidence.domain}{page}")
        if evidence.quote:
            show_paragraph(evidence.quote, "tw-quote")
