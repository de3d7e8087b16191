"""A PDF from the web, read as documents are: in reading order, with its tables as rows."""

from __future__ import annotations

import threading
from contextlib import closing

from tablewright.extras import is_installed
from tablewright.sandbox.limits import ParserDeadline
from tablewright.sources.read.reading import MAX_CHARS, Reading, UnreadablePage

MAX_PAGES = 2_000
SECONDS = 30.0

# PDFium has global state: two threads inside it at once crash the process.
_one_at_a_time = threading.Lock()


def read_pdf(body: bytes) -> Reading:
    if not is_installed("documents"):
        raise UnreadablePage("is a PDF, which only the extra 'documents' can read")
    with _one_at_a_time:
        return _read(body)


def _read(body: bytes) -> Reading:
    from pypdfium2 import PdfiumError

    from tablewright.extraction.layout.draft import TextDraft
    from tablewright.extraction.layout.pdf import PASSWORD_NEEDED, open_pdf, write_pdf_page

    try:
        document = open_pdf(body)
    except PdfiumError as error:
        reason = "is encrypted with a password" if error.err_code == PASSWORD_NEEDED else "is a broken PDF"
        raise UnreadablePage(reason) from error
    draft = TextDraft()
    with closing(document):
        count = len(document)
        patience = ParserDeadline(SECONDS)
        for number in range(min(count, MAX_PAGES)):
            write_pdf_page(draft, document, number)
            if draft.length >= MAX_CHARS or patience.is_over:
                break
        parsed = draft.done("pdf", title=document.get_metadata_value("Title"))
    text = parsed.text[:MAX_CHARS]
    if not text.strip():
        raise UnreadablePage("is a PDF of images, without text" if count else "is a PDF without pages")
    starts = tuple(start for start in parsed.page_starts if start <= len(text))
    return Reading(text=text, title=parsed.title, page_starts=starts)
