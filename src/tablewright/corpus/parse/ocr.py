"""Text in images, where the `ocr` extra is installed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from tablewright import extras
from tablewright.extraction.layout.placed import Word

SURE = 0.5
SECONDS = 75.0
"""For the images of one file: what was read by then is kept, rather than all lost at the limit of time."""
HOW_TO_INSTALL = "To read images, run `pip install 'tablewright[ocr]'`."
"""Kept with the document, for whoever may see it: it names no folder of this machine."""


@cache
def is_installed() -> bool:
    return extras.is_installed("ocr")


def advice() -> str:
    return "Reading images takes long: divide the file to read the rest." if is_installed() else HOW_TO_INSTALL


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
