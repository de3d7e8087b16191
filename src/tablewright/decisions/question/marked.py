"""A typed text with one alphabet of quotes, spaces and digits."""

from __future__ import annotations

import re
import unicodedata

from tablewright.table.numbers import plain

LONGEST = 2_000

_SAME = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "‚": "'"})
_PLURAL_MARK = re.compile(r"(?<=\w)\((?:s|es|en|n)\)")


def tidy(text: str) -> str:
    """One alphabet of quotes, spaces and digits; "receipt(s)" means receipts."""
    text = unicodedata.normalize("NFC", text[:LONGEST]).translate(_SAME)
    return " ".join(_PLURAL_MARK.sub("s", plain(text)).split())
