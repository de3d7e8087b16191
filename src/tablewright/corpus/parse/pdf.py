"""A PDF as text in reading order, page by page, with the tables that stand on its pages."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

import pypdfium2

from tablewright.corpus.parse import image
from tablewright.errors import Unreadable
from tablewright.extraction.layout.draft import Parsed, TextDraft
from tablewright.extraction.layout.pdf import PASSWORD_NEEDED, open_pdf, write_pdf_page
from tablewright.extraction.layout.placed import Word
from tablewright.sandbox.limits import ParserDeadline

MAX_PAGES = 20_000
SECONDS = 90.0
MAX_PIXELS = 12_000_000
SCAN_SCALE = 200 / 72


def parse(content: bytes, name: str) -> Parsed:
    with closing(_opened(content, name)) as document:
        count = len(document)
        if not count:
            raise Unreadable(f"{name} is a PDF without pages.", advice="It may be damaged; save or download it again.")
        draft = TextDraft()
        gaps = _Gaps()
        for_all, for_images = ParserDeadline(SECONDS), ParserDeadline(image.SECONDS)
        for number in range(min(count, MAX_PAGES)):
            gap = write_pdf_page(draft, document, number, lambda page: () if for_images.is_over else _scanned(page))
            if gap:
                (gaps.images if gap == "images" else gaps.broken).append(number + 1)
            if draft.is_full or for_all.is_over:
                break
        gaps.check(draft, name, read=number + 1, count=count)
        return draft.done("pdf", title=document.get_metadata_value("Title"))


class _Gaps:
    """Pages that could not be read: those of images, and those that cannot be opened at all."""

    def __init__(self) -> None:
        self.images: list[int] = []
        self.broken: list[int] = []

    def check(self, draft: TextDraft, name: str, *, read: int, count: int) -> None:
        """Notes them; raises where nothing else is left."""
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
            draft.notes.append(f"{_pages(self.images)} only images and could not be read. {image.image_advice()}")
        if self.broken:
            draft.notes.append(f"{_pages(self.broken)} damage and could not be read.")


def _pages(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"Page {numbers[0]} has"
    return f"{len(numbers):,} pages ({', '.join(map(str, numbers[:10]))}{', …' if len(numbers) > 10 else ''}) have"


def _opened(content: bytes, name: str) -> pypdfium2.PdfDocument:
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


def _scanned(page: pypdfium2.PdfPage) -> Sequence[Word]:
    if not image.can_read_images():
        return ()
    width, height = page.get_size()
    scale = min(SCAN_SCALE, (MAX_PIXELS / max(1.0, width * height)) ** 0.5)
    bitmap = page.render(scale=scale, rev_byteorder=False, prefer_bgrx=False)
    with closing(bitmap):
        return image.words_in(bitmap.to_numpy())
