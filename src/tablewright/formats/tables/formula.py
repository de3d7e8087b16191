"""Text that a spreadsheet would run as a formula, made harmless in CSV by a leading apostrophe, and the way back.

`escape` adds one apostrophe to a dangerous text and to a dangerous text that already begins with apostrophes, so that
no two texts become the same and `unescape` gives back exactly what was written.
"""

from __future__ import annotations

import re

_INVISIBLE = r"\s\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff"
_PLAIN_NUMBER = rf"[{_INVISIBLE}]*[+-]?(?:[0-9][0-9.,]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*\Z"
_DANGEROUS = re.compile(rf"'*+(?:[\t\r](?=\s*\S)|(?!{_PLAIN_NUMBER})[{_INVISIBLE}]*[=+\-@＝＋－＠])")
_SUSPECT = re.compile(rf"[{_INVISIBLE}'=+\-@＝＋－＠]")


def escape(text: str) -> str:
    return "'" + text if _SUSPECT.match(text) and _DANGEROUS.match(text) else text


def unescape(text: str) -> str:
    return text[1:] if text[:1] == "'" and _DANGEROUS.match(text, 1) else text
