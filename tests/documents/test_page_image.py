"""A page of a PDF as a picture, with a quote marked on it."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from tablewright.documents.page_image import WIDTH_PIXELS, draw_page
from tablewright.errors import Unreadable
from tablewright.sample.pdf import write_pdf


def pixels(png: bytes) -> np.ndarray:
    width, height = struct.unpack(">II", png[16:24])
    start = png.index(b"IDAT") + 4
    (length,) = struct.unpack(">I", png[start - 8 : start - 4])
    lines = np.frombuffer(zlib.decompress(png[start : start + length]), dtype=np.uint8).reshape(height, 1 + 3 * width)
    return lines[:, 1:].reshape(height, width, 3)


def is_yellow(picture: np.ndarray) -> bool:
    return bool(((picture[:, :, 0] > 200) & (picture[:, :, 2] < 100)).any())


def test_the_quote_is_marked_and_a_page_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sheet.pdf"
    path.write_bytes(write_pdf("Data sheet", [["Rated width: 1.20 m", "Weight: 8 kg"], ["Page two"]]))
    plain = pixels(draw_page(str(path), 1, ""))
    assert plain.shape[1] == pytest.approx(WIDTH_PIXELS, abs=2)
    assert (plain < 100).any()  # there is ink
    assert not is_yellow(plain)
    assert is_yellow(pixels(draw_page(str(path), 1, "Rated width:  1.20 m")))
    assert not is_yellow(pixels(draw_page(str(path), 2, "Rated width: 1.20 m")))
    with pytest.raises(Unreadable, match="no page 3"):
        draw_page(str(path), 3, "")
