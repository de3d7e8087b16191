"""Detect how a document writes numbers and dates, and find what it states without a label: its only date, e-mail
address, web address, telephone number or IBAN. Patterns alone, no model."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from tablewright.domain.documents import Annotation, ComparableValue, Property
from tablewright.values.comparable_value import make_comparable_date
from tablewright.values.dates import read_dates

# The first 50 pages show how a document writes its numbers.
SAMPLE_CHARACTERS = 200_000


def detect_decimal_mark(text: str) -> str:
    """Return "." or "," if all fractions of the text have it, else "": it decides if 1.575 m is more than a km."""
    text = text[:SAMPLE_CHARACTERS]
    # Three digits behind a mark may be a thousand, so they prove nothing.
    point = re.search(r"(?<![\d.,])\d+\.(?:\d{1,2}|\d{4,})(?![\d.,]\d|\d)|\d,\d{3}\.\d", text)
    comma = re.search(r"(?<![\d.,])\d+,(?:\d{1,2}|\d{4,})(?![\d.,]\d|\d)|\d\.\d{3},\d", text)
    return "" if bool(point) == bool(comma) else "." if point else ","


def detect_day_first(text: str) -> bool | None:
    """Return True if 03/05/2021 is the third of May in this text; None if no other date shows it."""
    text = text[:SAMPLE_CHARACTERS]
    day, month, written = False, False, ""
    # The same mark twice; other numbers with slashes are fractions.
    for date in re.finditer(r"(?<![\d/.-])(\d{1,2})\s?([/-])\s?(\d{1,2})\s?\2\s?(?:\d{4}|\d{2})(?![\d/])", text):
        first, second = int(date[1]), int(date[3])
        day = day or (12 < first <= 31 and 1 <= second <= 12)
        month = month or (12 < second <= 31 and 1 <= first <= 12)
        if first != second and max(first, second) <= 12:
            written = date[0]
    if day != month:
        return day
    return _day_first_by_words(text, written) if written and not day else None


def _day_first_by_words(text: str, written: str) -> bool | None:
    """Return the order in which a date is also written in words: "12/06/2007" and "On December 6, 2007"."""
    found = next(iter(read_dates(written)), None)
    if found is None or not found.other_iso:
        return None
    in_words = re.findall(
        r"(?<!\w)(?:[^\W\d_]{3,12}\.?\s\d{1,2},?|\d{1,2}(?:st|nd|rd|th|\.)?\s[^\W\d_]{3,12}\.?,?)\s\d{4}(?!\d)", text
    )
    named = {date.iso for words in set(in_words) for date in read_dates(words)}
    return None if (found.iso in named) == (found.other_iso in named) else found.iso in named


# ── known by its format ──────────────────────────────────────────────────────────────────────────────────────────────


def find_formatted_facts(
    text: str, labelled: Collection[tuple[int, int]], day_first: bool | None
) -> Iterator[Annotation]:
    """Yield a fact for each format that occurs with one value, unless that value already has a label."""
    # A single date in a long text says nothing about the document.
    if len(text) > 40_000:
        return
    for label, start, end in _find_single_values(text):
        if any(first <= start and end <= last for first, last in labelled):
            continue
        raw = text[start:end]
        date = next(iter(read_dates(raw)), None) if label == "Date" else None
        value = make_comparable_date(raw, date, day_first) if date else ComparableValue(raw=raw)
        stated = Property(label=label, value=value, start=start, end=end)
        yield Annotation(shape="fact", properties=(stated,), start=start, end=end, by="format")


def _find_single_values(text: str) -> Iterator[tuple[str, int, int]]:
    dates = [date for date in read_dates(text) if len(date.iso) == 10 and not date.doubtful]
    if len({date.iso for date in dates}) == 1:
        yield "Date", dates[0].start, dates[0].end
    # Formats that are recognised without a label; bounded so that no text makes them slow.
    formats = {
        "E-mail": re.finditer(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}(?![\w@])", text),
        "Website": re.finditer(r"(?<![\w@.])(?:https?://|www\.)[^\s<>\"'()|]{3,200}(?<![.,;:!?])", text),
        "Phone": re.finditer(r"(?<![\w+])\+\d(?:[ ()./-]{0,2}\d){6,14}(?!\w)", text),
        "IBAN": re.finditer(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){2,7}(?: ?[A-Z\d]{1,3})?(?!\w)", text),
    }
    for label, places in formats.items():
        found = [each for each in places if label != "IBAN" or is_valid_iban(each[0])]
        if len({each[0].casefold() for each in found}) == 1:
            yield label, *found[0].span()


def is_valid_iban(text: str) -> bool:
    """Return True if the check digits are right."""
    packed = text.replace(" ", "")
    return int("".join(str(int(each, 36)) for each in packed[4:] + packed[:4])) % 97 == 1
