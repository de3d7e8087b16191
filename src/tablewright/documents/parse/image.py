"""Parse a picture of a page: its text, if the `ocr` extra is installed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from io import BytesIO
from typing import Any

from tablewright import extras
from tablewright.errors import Unreadable
from tablewright.extraction.layout.draft import Parsed, TextDraft, write_layout
from tablewright.extraction.layout.page_layout import PlacedWord, lay_out_page
from tablewright.sandbox.limits import ParserDeadline

# Less than a worker may take: pages read by then are kept, instead of all being lost.
SECONDS = 75.0
# Stored with the document, whose readers may be others: it names no folder of this machine.
HOW_TO_INSTALL = "To read images, run `pip install 'tablewright[ocr]'`."


def parse_image(content: bytes, name: str) -> Parsed:
    if not can_read_images():
        raise Unreadable(f"{name} is an image.", advice=HOW_TO_INSTALL)
    draft = TextDraft()
    patience = ParserDeadline(SECONDS)
    for picture in _load_frames(content, name):
        if patience.is_over:
            draft.notes.append(f"Only its first pages were read. {how_to_read_images()}")
            break
        draft.start_page()
        write_layout(draft, lay_out_page(read_image_words(picture)))
    if not draft.length:
        raise Unreadable(f"{name} is an image in which no text was found.")
    return draft.finish(name.rpartition(".")[2].lower() or "png")


def _load_frames(content: bytes, name: str) -> Iterator[Any]:
    """Yield each page of a TIFF; any other image is one page. Pillow and NumPy come with the extra."""
    import numpy
    from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

    try:
        with Image.open(BytesIO(content)) as image:
            # A decoded pixel takes three bytes, several times over.
            if image.width * image.height > 100_000_000:
                raise Unreadable(f"{name} is an image of more than 100 million pixels, too large.")
            for number, frame in enumerate(ImageSequence.Iterator(image)):
                # Far more than can be read in the time.
                if number == 500:
                    break
                upright = ImageOps.exif_transpose(frame)
                yield numpy.asarray(upright.convert("RGB"))[:, :, ::-1]
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise Unreadable(f"{name} is a damaged image.", advice="Save or download it again.") from None


@cache
def can_read_images() -> bool:
    return extras.is_installed("ocr")


def how_to_read_images() -> str:
    return "Reading images takes long: divide the file to read the rest." if can_read_images() else HOW_TO_INSTALL


def read_image_words(image: Any) -> list[PlacedWord]:
    """Return the lines of text in an image (encoded bytes or an array of pixels), each as one word with a position."""
    found = _load_ocr_engine()(image)
    if found.boxes is None or found.txts is None:
        return []
    words = []
    for box, text, score in zip(found.boxes, found.txts, found.scores, strict=True):
        across, down = [float(point[0]) for point in box], [float(point[1]) for point in box]
        # Below it, most readings are noise.
        if text.strip() and score >= 0.5:
            words.append(PlacedWord(text.strip(), min(across), min(down), max(across), max(down)))
    return words


@cache
def _load_ocr_engine() -> Any:
    """Return the OCR engine. Loading its models takes a second: once per process, and only for an image."""
    return import_module("rapidocr").RapidOCR(params={"Global.log_level": "error"})
