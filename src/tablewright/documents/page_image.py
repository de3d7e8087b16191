"""Draw a page of a PDF as a picture, with a quote marked on it, in a sandboxed process: files are untrusted."""

from __future__ import annotations

import struct
import zlib
from contextlib import closing
from pathlib import Path

import numpy as np
import pypdfium2

from tablewright.errors import Unreadable
from tablewright.sandbox.limits import MEBIBYTE, SandboxLimits
from tablewright.sandbox.sandbox import Sandbox

# Legible at the width of the panel that shows it.
WIDTH_PIXELS = 1_100


async def render_page_image(path: Path, number: int, quote: str = "") -> bytes:
    """Return a PNG of the page, counted from 1."""
    # A page of vector drawings can take half a minute.
    async with Sandbox(SandboxLimits(seconds=30, memory=2 * 1024 * MEBIBYTE), workers=1) as sandbox:
        return await sandbox.run(path.name, draw_page, str(path.absolute()), number, quote)


def draw_page(path: str, number: int, quote: str) -> bytes:
    try:
        document = pypdfium2.PdfDocument(path)
    except (pypdfium2.PdfiumError, OSError):
        raise Unreadable("The file cannot be opened any more.") from None
    with closing(document):
        if not 1 <= number <= len(document):
            raise Unreadable(f"The file has no page {number}.")
        with closing(document[number - 1]) as page:
            # A page of a very long strip would need gigabytes.
            scale = min(WIDTH_PIXELS / max(1.0, page.get_width()), 4 * WIDTH_PIXELS / max(1.0, page.get_height()))
            with closing(page.render(scale=scale, rev_byteorder=True)) as bitmap:
                picture = np.array(bitmap.to_numpy()[:, :, :3])
            for left, bottom, right, top in find_quote_boxes(page, quote):
                rows = slice(int((page.get_height() - top) * scale), int((page.get_height() - bottom) * scale) + 1)
                columns = slice(max(0, int(left * scale) - 1), int(right * scale) + 2)
                # Yellow, with the text still legible.
                picture[rows, columns, 2] //= 3
    return encode_png(picture)


def find_quote_boxes(page: pypdfium2.PdfPage, quote: str) -> list[tuple[float, float, float, float]]:
    """Return the boxes of the quote (left, bottom, right, top, in points), or none if it cannot be found literally."""
    words = quote.split()
    with closing(page.get_textpage()) as text:
        # Line ends in a PDF differ from those of the text, so the beginning of a quote is often all that is found.
        for count in dict.fromkeys((len(words), 12, 6)):
            if found := find_words_on_page(text, " ".join(words[:count])):
                index, length = found
                return [text.get_rect(each) for each in range(text.count_rects(index, length))]
    return []


def find_words_on_page(text: pypdfium2.PdfTextPage, words: str) -> tuple[int, int] | None:
    if not words:
        return None
    with closing(text.search(words)) as searcher:
        found: tuple[int, int] | None = searcher.get_next()
        return found


def encode_png(picture: np.ndarray) -> bytes:
    """Encode rows of red, green and blue pixels."""
    height, width, _ = picture.shape
    lines = np.zeros((height, 1 + 3 * width), dtype=np.uint8)
    lines[:, 1:] = picture.reshape(height, 3 * width)

    def part(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + part(b"IHDR", head)
        + part(b"IDAT", zlib.compress(lines.tobytes(), 6))
        + part(b"IEND", b"")
    )
