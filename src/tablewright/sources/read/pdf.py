"""A PDF as text, page by page."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tablewright.extras import is_installed, lazy
from tablewright.sources.read.reading import MAX_CHARS, Reading, UnreadablePage
from tablewright.text.characters import lines, one_line

if TYPE_CHECKING:
    import pypdfium2
else:
    pypdfium2 = lazy("pypdfium2", "documents")

MAX_PAGES = 2_000
_HYPHEN_AT_LINE_END = "\ufffe"
_PASSWORD = 4

# PDFium has global state: two threads inside it at once crash the process.
_one_at_a_time = threading.Lock()


def read_pdf(body: bytes) -> Reading:
    if not is_installed("documents"):
        raise UnreadablePage("is a PDF, which only the extra 'documents' can read")
    with _one_at_a_time:
        return _read(body)


def _read(body: bytes) -> Reading:
    try:
        document = pypdfium2.PdfDocument(body)
    except pypdfium2.PdfiumError as error:
        reason = "is encrypted with a password" if error.err_code == _PASSWORD else "is a broken PDF"
        raise UnreadablePage(reason) from error
    try:
        pages, starts, length = [], [], 0
        for number in range(min(len(document), MAX_PAGES)):
            text = _page(document, number)[: MAX_CHARS - length]
            starts.append(length)
            pages.append(text)
            length += len(text) + 1
            if length >= MAX_CHARS:
                break
        title = one_line(document.get_metadata_value("Title"))
    finally:
        document.close()
    if not any(pages):
        raise UnreadablePage("is a PDF of images, without text" if pages else "is a PDF without pages")
    return Reading(text="\n".join(pages)[:MAX_CHARS], title=title[:500], page_starts=tuple(starts))


def _page(document: pypdfium2.PdfDocument, number: int) -> str:
    try:
        page = document[number]
        try:
            text_page = page.get_textpage()
            try:
                text = text_page.get_text_bounded()
            finally:
                text_page.close()
        finally:
            page.close()
    except pypdfium2.PdfiumError:
        return ""
    return lines(text.replace(f"{_HYPHEN_AT_LINE_END}\r\n", "").replace(_HYPHEN_AT_LINE_END, ""))
