"""Characters that no reader sees are how text is smuggled past a reader: none of them reaches the stored text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

LONGEST_LINE = 4_000

_REMOVED: tuple[tuple[int, int], ...] = (
    (0x00, 0x08),
    (0x0E, 0x1F),
    (0x7F, 0x84),
    (0x86, 0x9F),
    (0xAD, 0xAD),  # soft hyphen
    (0x34F, 0x34F),
    (0x61C, 0x61C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200B),  # zero-width space
    (0x200E, 0x200F),
    (0x202A, 0x202E),  # bidi embeddings and overrides
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xD800, 0xDFFF),
    (0xE000, 0xF8FF),  # private use: the glyphs of icon fonts
    (0xFE00, 0xFE0F),  # variation selectors carry hidden bytes
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF9, 0xFFFB),
    (0xFFFE, 0xFFFF),
    (0xE0000, 0xE0FFF),  # tags and further variation selectors
    (0xF0000, 0x10FFFF),
)
_SPACES = "\t\x0b\x0c\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"


def _class(ranges: Iterable[tuple[int, int]]) -> str:
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


# A joiner belongs to the spelling between letters of the scripts that join or stack, and between emoji that are shown
# as one; elsewhere it is invisible.
_JOINING = "[\u0600-\u109f\u1780-\u17ff\u2600-\u27bf\U0001f300-\U0001faff]"
_UNSEEN = re.compile(f"[{_class(_REMOVED)}]+|(?<!{_JOINING})[\u200c\u200d]+|[\u200c\u200d]+(?!{_JOINING})")
_TO_SPACE = str.maketrans(dict.fromkeys(_SPACES, " ") | {"\u2028": "\n", "\u2029": "\n"})


def visible(text: str) -> str:
    """Without unseen characters, every kind of space a plain one, composed (NFC)."""
    if text.isascii() and text.isprintable():
        return text
    text = _UNSEEN.sub("", text).translate(_TO_SPACE)
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def one_line(text: str) -> str:
    text = " ".join(text.split())
    return text if text.isascii() and text.isprintable() else " ".join(visible(text).split())


def lines(text: str) -> str:
    """Visible lines: spaces collapsed within each, empty ones left out."""
    collapsed = (" ".join(line.split()) for line in visible(text.replace("\r\n", "\n").replace("\r", "\n")).split("\n"))
    return "\n".join(part for line in collapsed if line for part in broken(line))


def broken(line: str) -> Iterator[str]:
    """In parts that a reader of lines can take in, broken at spaces: nobody writes longer ones, programs do."""
    while len(line) > LONGEST_LINE:
        at = line.rfind(" ", 1, LONGEST_LINE)
        at = at if at > 0 else LONGEST_LINE
        yield line[:at]
        line = line[at:].lstrip(" ")
    yield line
