"""Other people's text where it is printed: no character of it moves a cursor, sets a title, or turns around what is
read beside it."""

from __future__ import annotations

import json
import re

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
"""Control characters but for tab and line feed, marks of direction, and what has no width."""


def printable(text: str) -> str:
    """For eyes: a mark in the place of each."""
    return _UNSAFE.sub("\ufffd", text)


def escaped(text: str) -> str:
    """For programs and logs: each as \\uXXXX, which in JSON stands for the same character."""
    return _UNSAFE.sub(lambda found: json.dumps(found[0])[1:-1], text)
