"""How a document writes its numbers and dates, as far as the rest of its text tells; and what it states without a
label: the date, e-mail address, web address, telephone number and IBAN of which it has only one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from tablewright.domain.corpus import Annotation, Property, Typed
from tablewright.values.dates import read_dates
from tablewright.values.typed import dated

LOOKED_AT = 200_000  # characters
LONGEST = 40_000  # characters; in a longer text that there is only one says nothing

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


# ── known by its format ──────────────────────────────────────────────────────────────────────────────────────────────

_FORMATS = {
    "E-mail": re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}(?![\w@])"),
    "Website": re.compile(r"(?<![\w@.])(?:https?://|www\.)[^\s<>\"'()|]{3,200}(?<![.,;:!?])"),
    "Phone": re.compile(r"(?<![\w+])\+\d(?:[ ()./-]{0,2}\d){6,14}(?!\w)"),
    "IBAN": re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){2,7}(?: ?[A-Z\d]{1,3})?(?!\w)"),
}


def formats_in(text: str, labelled: Collection[tuple[int, int]], day_first: bool | None) -> Iterator[Annotation]:
    """One fact for each format of which the text has a single value; none where that value has a label already."""
    if len(text) > LONGEST:
        return
    for label, start, end in _only(text):
        if any(first <= start and end <= last for first, last in labelled):
            continue
        raw = text[start:end]
        date = next(iter(read_dates(raw)), None) if label == "Date" else None
        value = dated(raw, date, day_first) if date else Typed(raw=raw)
        stated = Property(label=label, value=value, start=start, end=end)
        yield Annotation(shape="fact", properties=(stated,), start=start, end=end, by="format")


def _only(text: str) -> Iterator[tuple[str, int, int]]:
    dates = [date for date in read_dates(text) if len(date.iso) == 10 and not date.doubtful]
    if len({date.iso for date in dates}) == 1:
        yield "Date", dates[0].start, dates[0].end
    for label, pattern in _FORMATS.items():
        found = [each for each in pattern.finditer(text) if label != "IBAN" or is_iban(each[0])]
        if len({each[0].casefold() for each in found}) == 1:
            yield label, *found[0].span()


def is_iban(text: str) -> bool:
    """By its check digits."""
    packed = text.replace(" ", "")
    return int("".join(str(int(each, 36)) for each in packed[4:] + packed[:4])) % 97 == 1
