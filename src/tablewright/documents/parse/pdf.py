"""Parse a PDF page by page: text in reading order, tables, and the text of scanned pages by OCR."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import pypdfium2

from tablewright.documents.parse import image
from tablewright.errors import Unreadable
from tablewright.extraction.layout.draft import Parsed, TextDraft
from tablewright.extraction.layout.page_layout import PlacedWord
from tablewright.extraction.layout.pdf import PASSWORD_NEEDED, open_pdf, write_pdf_page
from tablewright.sandbox.limits import ParserDeadline

# More pages are an attack.
MAX_PAGES = 20_000


def parse_pdf(content: bytes, name: str) -> Parsed:
    with closing(_open_pdf_file(content, name)) as document:
        count = len(document)
        if not count:
            raise Unreadable(f"{name} is a PDF without pages.", advice="It may be damaged; save or download it again.")
        draft = TextDraft()
        gaps = _Gaps()
        # Less than a worker may take: pages read by then are kept, instead of all being lost.
        for_all, for_images = ParserDeadline(90.0), ParserDeadline(image.SECONDS)
        for number in range(min(count, MAX_PAGES)):
            gap = write_pdf_page(
                draft, document, number, lambda page: () if for_images.is_over else _read_scanned_words(page)
            )
            if gap:
                (gaps.images if gap == "images" else gaps.broken).append(number + 1)
            if draft.is_full or for_all.is_over:
                break
        gaps.check(draft, name, read=number + 1, count=count)
        return draft.finish("pdf", title=document.get_metadata_value("Title"))


class _Gaps:
    """Numbers of unread pages: those with only images, and those that cannot be opened."""

    def __init__(self) -> None:
        self.images: list[int] = []
        self.broken: list[int] = []

    def check(self, draft: TextDraft, name: str, *, read: int, count: int) -> None:
        """Note the unread pages. Raise `Unreadable` if no page has text."""
        if not draft.has_text:
            if self.images:
                found = "no text was found" if image.can_read_images() else "there is no text"
                advice = "" if image.can_read_images() else image.HOW_TO_INSTALL
                raise Unreadable(f"{name} is a PDF of images in which {found}.", advice=advice)
            what = "cannot be opened" if self.broken else "are empty"
            raise Unreadable(
                f"{name} is a PDF whose pages {what}.", advice="It may be damaged; save or download it again."
            )
        if read < count:
            draft.notes.append(f"Only the first {read:,} of its {count:,} pages were read.")
        if self.images:
            draft.notes.append(
                f"{_format_pages(self.images)} only images and could not be read. {image.how_to_read_images()}"
            )
        if self.broken:
            draft.notes.append(f"{_format_pages(self.broken)} damage and could not be read.")


def _format_pages(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"Page {numbers[0]} has"
    return f"{len(numbers):,} pages ({', '.join(map(str, numbers[:10]))}{', …' if len(numbers) > 10 else ''}) have"


def _open_pdf_file(content: bytes, name: str) -> pypdfium2.PdfDocument:
    try:
        return open_pdf(content)
    except pypdfium2.PdfiumError as error:
        if error.err_code == PASSWORD_NEEDED:
            raise Unreadable(
                f"{name} is protected by a password.", advice="Save it without the password and add it again."
            ) from None
        raise Unreadable(
            f"{name} is a broken PDF: it is cut short or damaged.", advice="Save or download it again."
        ) from None


def _read_scanned_words(page: pypdfium2.PdfPage) -> Sequence[PlacedWord]:
    if not image.can_read_images():
        return ()
    width, height = page.get_size()
    # 200 dpi is enough for OCR; a poster must still fit into 12 million pixels.
    scale = min(200 / 72, (12_000_000 / max(1.0, width * height)) ** 0.5)
    bitmap = page.render(scale=scale, rev_byteorder=False, prefer_bgrx=False)
    with closing(bitmap):
        return image.read_image_words(bitmap.to_numpy())
