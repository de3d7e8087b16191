"""Where the sentences of a text begin and end."""

from __future__ import annotations

import re

_END = re.compile(
    r"[.!?。！？][\"”’')\]]{0,3}(?=\s)\s{1,20}(?=[\"“‘'(\[]{0,2}[^\W_a-z])"
    r"|(?<!\n)\n(?:[^\S\n]*+\n)++"  # an empty line
)
_SHORTENED = re.compile(r"(?<![^\W_])[^\W\d_]{1,2}\.$")  # "Dr.", "J. R.", "No."


def sentences(text: str) -> list[tuple[int, int]]:
    """All that has a letter in it, in order, without the space around it. A line that is broken to fit goes on."""
    found = []
    start = 0
    for end in _END.finditer(text):
        if not _SHORTENED.search(text, max(0, end.start() - 3), end.start() + 1):
            found.append((start, end.end()))
            start = end.end()
    found.append((start, len(text)))
    return [_stripped(text, start, end) for start, end in found if any(map(str.isalpha, text[start:end]))]


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
