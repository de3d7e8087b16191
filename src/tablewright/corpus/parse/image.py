"""A picture of a page: its text, where the `ocr` extra is installed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from io import BytesIO
from typing import Any

from tablewright import extras
from tablewright.errors import Unreadable
from tablewright.extraction.layout.draft import Parsed, TextDraft, write_layout
from tablewright.extraction.layout.placed import Word, laid_out
from tablewright.sandbox.limits import ParserDeadline

MAX_PIXELS = 100_000_000
MAX_FRAMES = 500
SURE = 0.5
SECONDS = 75.0
"""For the images of one file: what was read by then is kept, rather than all lost at the limit of time."""
HOW_TO_INSTALL = "To read images, run `pip install 'tablewright[ocr]'`."
"""Kept with the document, for whoever may see it: it names no folder of this machine."""


def parse(content: bytes, name: str) -> Parsed:
    if not can_read_images():
        raise Unreadable(f"{name} is an image.", advice=HOW_TO_INSTALL)
    draft = TextDraft()
    patience = ParserDeadline(SECONDS)
    for picture in _frames(content, name):
        if patience.is_over:
            draft.notes.append(f"Only its first pages were read. {image_advice()}")
            break
        draft.page()
        write_layout(draft, laid_out(words_in(picture)))
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


@cache
def can_read_images() -> bool:
    return extras.is_installed("ocr")


def image_advice() -> str:
    return "Reading images takes long: divide the file to read the rest." if can_read_images() else HOW_TO_INSTALL


def words_in(image: Any) -> list[Word]:
    """The lines of text in an image (its encoded bytes, or an array of pixels), each as one word at its place."""
    found = _engine()(image)
    if found.boxes is None or found.txts is None:
        return []
    words = []
    for box, text, score in zip(found.boxes, found.txts, found.scores, strict=True):
        across, down = [float(point[0]) for point in box], [float(point[1]) for point in box]
        if text.strip() and score >= SURE:
            words.append(Word(text.strip(), min(across), min(down), max(across), max(down)))
    return words


@cache
def _engine() -> Any:
    """Loads the models, which takes a second: once for each process, and only where there is an image."""
    return import_module("rapidocr").RapidOCR(params={"Global.log_level": "error"})
