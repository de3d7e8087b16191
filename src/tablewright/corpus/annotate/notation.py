"""How a document writes its numbers and dates, as far as the rest of its text tells."""

from __future__ import annotations

import re

from tablewright.values.dates import read_dates

LOOKED_AT = 200_000  # characters

_POINT = re.compile(r"(?<![\d.,])\d+\.(?:\d{1,2}|\d{4,})(?![\d.,]\d|\d)|\d,\d{3}\.\d")
_COMMA = re.compile(r"(?<![\d.,])\d+,(?:\d{1,2}|\d{4,})(?![\d.,]\d|\d)|\d\.\d{3},\d")


def decimal_mark_in(text: str) -> str:
    """How the text writes fractions, where its numbers agree on it: it settles whether 1.575 m is more than a km."""
    text = text[:LOOKED_AT]
    point, comma = bool(_POINT.search(text)), bool(_COMMA.search(text))
    return "" if point == comma else "." if point else ","


_WRITTEN_DATE = re.compile(r"(?<![\d/.-])(\d{1,2})\s?([/-])\s?(\d{1,2})\s?\2\s?(?:\d{4}|\d{2})(?![\d/])")
_IN_WORDS = re.compile(
    r"(?<!\w)(?:[^\W\d_]{3,12}\.?\s\d{1,2},?|\d{1,2}(?:st|nd|rd|th|\.)?\s[^\W\d_]{3,12}\.?,?)\s\d{4}(?!\d)"
)


def day_first_in(text: str) -> bool | None:
    """Whether 03/05/2021 is the third of May here; None where no other date of the text tells."""
    text = text[:LOOKED_AT]
    day, month, written = False, False, ""
    for date in _WRITTEN_DATE.finditer(text):
        first, second = int(date[1]), int(date[3])
        day = day or (12 < first <= 31 and 1 <= second <= 12)
        month = month or (12 < second <= 31 and 1 <= first <= 12)
        if first != second and max(first, second) <= 12:
            written = date[0]
    if day != month:
        return day
    return _reading_in_words(text, written) if written and not day else None


def _reading_in_words(text: str, written: str) -> bool | None:
    """Whether one reading of a date stands in words elsewhere: "12/06/2007" and "On December 6, 2007"."""
    found = next(iter(read_dates(written)), None)
    if found is None or not found.other_iso:
        return None
    named = {date.iso for words in set(_IN_WORDS.findall(text)) for date in read_dates(words)}
    return None if (found.iso in named) == (found.other_iso in named) else found.iso in named
