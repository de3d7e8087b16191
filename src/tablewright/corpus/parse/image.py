"""A picture of a page: its text, where the `ocr` extra is installed."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any

from tablewright.corpus.parse import ocr
from tablewright.errors import Unreadable
from tablewright.extraction.layout.draft import Parsed, TextDraft, write_layout
from tablewright.extraction.layout.placed import laid_out
from tablewright.sandbox.limits import ParserDeadline

MAX_PIXELS = 100_000_000
MAX_FRAMES = 500


def parse(content: bytes, name: str) -> Parsed:
    if not ocr.is_installed():
        raise Unreadable(f"{name} is an image.", advice=ocr.HOW_TO_INSTALL)
    draft = TextDraft()
    patience = ParserDeadline(ocr.SECONDS)
    for picture in _frames(content, name):
        if patience.is_over:
            draft.notes.append(f"Only its first pages were read. {ocr.advice()}")
            break
        draft.page()
        write_layout(draft, laid_out(ocr.words_in(picture)))
    if not draft.length:
        raise Unreadable(f"{name} is an image in which no text was found.")
    return draft.done(name.rpartition(".")[2].lower() or "png")


def _frames(content: bytes, name: str) -> Iterator[Any]:
    """Each page of a TIFF; any other image is one page. Pillow and NumPy come with the extra."""
    import numpy
    from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

    try:
        with Image.open(BytesIO(content)) as image:
            if image.width * image.height > MAX_PIXELS:
                raise Unreadable(f"{name} is an image of more than {MAX_PIXELS // 10**6} million pixels, too large.")
            for number, frame in enumerate(ImageSequence.Iterator(image)):
                if number == MAX_FRAMES:
                    break
                upright = ImageOps.exif_transpose(frame)
                yield numpy.asarray(upright.convert("RGB"))[:, :, ::-1]
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise Unreadable(f"{name} is a damaged image.", advice="Save or download it again.") from None
