"""Which font writes which word of a PDF.

Helvetica, which every viewer has, writes what western Europe writes. For other words a font of this computer is taken
that has their characters, and for Chinese, Japanese and Korean one that viewers bring. A character that none has
becomes a question mark.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFError, TTFont

PLAIN = "Helvetica"
_FOLDERS = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.local/share/fonts",
    "/Library/Fonts",
    "/System/Library/Fonts/Supplemental",
    "C:/Windows/Fonts",
)
_FILES = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "Arial Unicode.ttf", "arial.ttf", "Arial.ttf", "Vera.ttf")
_BROUGHT = {
    "HeiseiKakuGo-W5": re.compile(r"[\u3040-\u30ff]"),
    "HYGothic-Medium": re.compile(r"[\u1100-\u11ff\uac00-\ud7af]"),
    "STSong-Light": re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]"),
}
"""Fonts that viewers bring, each for words with one of these characters."""
_WORDS = re.compile(r"\S+|\s+")


def in_fonts(text: str) -> list[tuple[str, str]]:
    """The text in stretches, each with the name of its font. A word is of one font."""
    words = map(written, _WORDS.findall(text))
    return [(font, "".join(word for _, word in group)) for font, group in groupby(words, key=lambda each: each[0])]


@lru_cache(maxsize=1 << 12)
def written(word: str) -> tuple[str, str]:
    if is_western(word):
        return PLAIN, word
    points = frozenset(map(ord, word))
    fonts = installed()
    if name := next((name for name, glyphs in fonts if points <= glyphs), ""):
        return name, word
    if name := next((name for name, pattern in _BROUGHT.items() if pattern.search(word)), ""):
        pdfmetrics.registerFont(UnicodeCIDFont(name))
        return name, word
    name, glyphs = max(fonts, key=lambda each: len(points & each[1]))
    return name, "".join(character if ord(character) in glyphs else "?" for character in word)


def is_western(text: str) -> bool:
    try:
        text.encode("cp1252")
    except UnicodeEncodeError:
        return False
    return True


@lru_cache(maxsize=1)
def installed() -> tuple[tuple[str, frozenset[int]], ...]:
    """The fonts that were found, each with the characters that it has; looked for only where one is needed. The last
    came with reportlab, so there is one."""
    import reportlab

    folders = [Path(folder).expanduser() for folder in _FOLDERS]
    folders = [*filter(Path.is_dir, folders), Path(reportlab.__file__).parent / "fonts"]
    paths = (next((path for folder in folders for path in sorted(folder.rglob(file))), None) for file in _FILES)
    return tuple(font for path in paths if path is not None and (font := opened(path)))


def opened(path: Path) -> tuple[str, frozenset[int]] | None:
    try:
        font: Any = TTFont(path.stem, str(path))
    except (TTFError, OSError):
        return None
    pdfmetrics.registerFont(font)
    return path.stem, frozenset(font.face.charToGlyph)
