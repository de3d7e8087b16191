"""What a document states without a label, known by its format alone: the date, the e-mail address, the web address, the
telephone number and the IBAN of which it has only one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from tablewright.domain.corpus import Annotation, Property, Typed
from tablewright.values.dates import read_dates
from tablewright.values.typed import dated

LONGEST = 40_000  # characters; in a longer text that there is only one says nothing

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
