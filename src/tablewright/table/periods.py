"""Time ranges as people ask for them: "last quarter", "since 2022", "between January and March 2019", "last 30 days".

First the points of a text are found, each a day, a month, a quarter or a year; then the words around them say whether
one is meant as it is, as an open end ("before 5 May 2020"), or as the end of a range ("from 2019 to 2021"). A fiscal
year is taken as the calendar year, for nobody says when it begins. Four digits are a year only where they stand like
one: the 1500 of "1500 W" and the 2000 of "above 2000" are not.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta

from msgspec import structs

from tablewright.table.currencies import AFTER
from tablewright.table.model import Noun
from tablewright.table.units import unit_at


class Period(Noun, frozen=True):
    """From `start` to `end`, both included; an open end is None. `words` stand at `span` of the text."""

    start: date | None
    end: date | None
    words: str
    span: tuple[int, int]
    note: str = ""


def read_period(text: str, today: date) -> Period | None:
    """The first time range of the text."""
    return next(iter(read_periods(text, today)), None)


def read_periods(text: str, today: date) -> tuple[Period, ...]:
    """Every time range of the text, in order. `today` is what "last month" is reckoned from."""
    points = _points(text, today)
    found: list[Period] = []
    place = 0
    while place < len(points):
        period = _range(text, points, place) or _single(text, points[place])
        if period is None:
            place += 1
            continue
        found.append(period)
        place += sum(1 for point in points[place:] if point.start < period.span[1])
    return tuple(found)


# ── points ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Point(Noun, frozen=True):
    """A stretch of time that one expression names. A `shy` one counts only where a word before it makes it a time; a
    `yearless` one takes the year of the point that it makes a range with."""

    first: date
    last: date
    start: int
    end: int
    shy: bool = False
    yearless: bool = False
    note: str = ""


_MONTH_NAMES = "january february march april may june july august september october november december".split()
_MONTHS = {name[:length]: at for at, name in enumerate(_MONTH_NAMES, start=1) for length in (3, len(name))} | {
    "sept": 9
}
_UNITS = "day|week|fortnight|month|quarter|year"
_NUMBERS = {
    word: at
    for at, word in enumerate("one two three four five six seven eight nine ten eleven twelve".split(), start=1)
}
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "last": 4}
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\b\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\d|[.,]\d)"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_OPEN = r"(?<![\w.,$€£#/-])"

_GRAMMAR: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("day", rf"{_OPEN}(?P<year>\d{{4}})[-/.](?P<m>\d{{1,2}})[-/.]{_DAY}(?![\d-])"),
        ("day", rf"{_OPEN}{_DAY}(?P<sep>[./-])(?P<m>\d{{1,2}})(?P=sep)(?P<year>\d{{4}})(?!\d)"),
        ("days", rf"{_OPEN}{_DAY}\s?(?:-|–|to|and)\s?(?P<day2>[0-3]?\d)(?:st|nd|rd|th)?\s(?:of )?{_MONTH},?\s{_YEAR}"),
        ("day", rf"{_OPEN}{_DAY}[\s-](?:of )?{_MONTH}(?:,?[\s-]|\sof\s){_YEAR}"),
        ("day", rf"\b{_MONTH}\s{_DAY}(?:,\s?|\s){_YEAR}"),
        ("month", rf"{_OPEN}(?P<year>(?:19|20)\d\d)[-/](?P<m>0[1-9]|1[0-2])(?![\d/-])"),
        ("month", rf"{_OPEN}(?P<m>0?[1-9]|1[0-2])/{_YEAR}"),
        ("month", rf"\b{_MONTH}(?:,?\s|-|\sof\s){_YEAR}"),
        ("part", rf"\b(?P<part>[QH])(?P<n>[1-4])(?:[\s,/-]*|\sof\s)(?:FY\s?)?{_YEAR}"),
        ("part", rf"{_OPEN}{_YEAR}[\s,/-]*(?P<part>[QH])(?P<n>[1-4])\b"),
        ("part", rf"\b(?P<nth>{'|'.join(_ORDINALS)})\s(?P<part>quarter|half)\s(?:of\s)?(?:FY\s?)?{_YEAR}"),
        ("fiscal", rf"\b(?:FY|fiscal(?: year)?|financial year)[\s'-]?{_YEAR}"),
        ("fiscal", r"\b(?:FY|fiscal(?: year)?|financial year)[\s'-]?(?P<short>\d\d)(?!\d)"),
        ("decade", r"\b(?P<year>(?:19|20)\d0)s\b"),
        ("years", rf"{_OPEN}(?P<year>(?:19|20)\d\d)\s?[-–—]\s?(?P<year2>(?:19|20)\d\d)(?![\d-]|[.,]\d)"),
        ("ago", rf"\b(?P<count>\d{{1,3}}|an?|{'|'.join(_NUMBERS)})\s(?P<unit>{_UNITS})s?\sago\b"),
        ("rolling", rf"\b(?:last|past|previous)\s(?P<count>\d{{1,4}}|{'|'.join(_NUMBERS)})\s(?P<unit>{_UNITS})s?\b"),
        ("rolling", rf"\bpast\s(?P<unit>{_UNITS})\b"),
        ("relative", rf"\b(?P<which>this|current|last|previous|next)\s(?:calendar\s)?(?P<unit>{_UNITS})\b"),
        ("named", rf"\b(?P<which>this|last|next)\s{_MONTH}"),
        ("today", r"\b(?:today|yesterday|tomorrow)\b"),
        ("to date", r"\b(?:year to date|ytd)\b"),
        ("year", rf"\b(?:the\s)?years?\s{_YEAR}"),
        ("year", rf"{_OPEN}{_YEAR}(?![%\w-])"),
        ("yearless", rf"(?:(?<!\d){_DAY}[\s-](?:of )?)?\b{_MONTH}(?!\s?\d)"),
    )
)


def _points(text: str, today: date) -> list[_Point]:
    """The points of the text in order; an earlier line of the grammar keeps what it has found."""
    found: list[_Point] = []
    for kind, pattern in _GRAMMAR:
        for match in pattern.finditer(text):
            if any(match.start() < point.end and point.start < match.end() for point in found):
                continue
            try:
                point = _point(kind, match, today)
            except (ValueError, OverflowError):  # 31 February, the year 0
                continue
            found.append(point)
    return sorted(found, key=lambda point: point.start)


def _point(kind: str, match: re.Match[str], today: date) -> _Point:
    first, last = _stretch(kind, match, today)
    shy = (kind == "year" and match[0].isdecimal()) or kind == "yearless"
    note = "the fiscal year is taken as the calendar year" if kind == "fiscal" else ""
    return _Point(
        first=first, last=last, start=match.start(), end=match.end(), shy=shy, yearless=kind == "yearless", note=note
    )


def _stretch(kind: str, match: re.Match[str], today: date) -> tuple[date, date]:
    part = match.groupdict()
    year = int(part.get("year") or 0)
    month = int(part.get("m") or 0) or _MONTHS.get((part.get("month") or "").casefold(), 0)
    unit = (part.get("unit") or "").casefold()
    if kind in ("day", "days"):
        day = date(year, month, int(part["day"]))
        return day, date(year, month, int(part.get("day2") or part["day"]))
    if kind == "month":
        return _month(year, month)
    if kind == "part":
        length = 3 if part["part"][0] in "Qq" else 6
        number = int(part["n"]) if part.get("n") else _ORDINALS[part["nth"].casefold()]
        number = min(number, 12 // length)
        return date(year, (number - 1) * length + 1, 1), _month(year, number * length)[1]
    if kind == "decade":
        return date(year, 1, 1), date(year + 9, 12, 31)
    if kind == "years":
        return date(year, 1, 1), date(int(part["year2"]), 12, 31)
    if kind in ("year", "fiscal"):
        year = year or 2000 + int(part["short"])
        return date(year, 1, 1), date(year, 12, 31)
    if kind == "ago":
        return _calendar(unit, _back(today, unit, _count(part["count"])))
    if kind == "rolling":
        return _back(today, unit, _count(part.get("count") or "one")), today
    if kind == "relative":
        steps = {"last": 1, "previous": 1, "next": -1}.get(part["which"].casefold(), 0)
        return _calendar(unit, _back(_calendar(unit, today)[0], unit, steps))
    if kind == "today":
        day = today + timedelta(days={"yesterday": -1, "tomorrow": 1}.get(match[0].casefold(), 0))
        return day, day
    if kind == "to date":
        return date(today.year, 1, 1), today
    return _yearless(part, month, today)


def _yearless(part: dict[str, str | None], month: int, today: date) -> tuple[date, date]:
    """ "In March" is the latest March that has begun; "next March" the one to come."""
    which = (part.get("which") or "").casefold()
    year = today.year if month <= today.month else today.year - 1
    if which == "last" and month == today.month:
        year -= 1
    year = today.year if which == "this" else year + 1 if which == "next" else year
    if part.get("day"):
        day = date(year, month, int(part["day"] or 0))
        return day, day
    return _month(year, month)


def _month(year: int, month: int) -> tuple[date, date]:
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])


def _count(word: str) -> int:
    return int(word) if word.isdecimal() else _NUMBERS.get(word.casefold(), 1)


def _back(day: date, unit: str, count: int) -> date:
    """The same day some units earlier; of a shorter month its last."""
    if unit in ("day", "week", "fortnight"):
        return day - timedelta(days=count * {"day": 1, "week": 7, "fortnight": 14}[unit])
    months = day.year * 12 + day.month - 1 - count * {"month": 1, "quarter": 3, "year": 12}[unit]
    year, month = divmod(months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _calendar(unit: str, day: date) -> tuple[date, date]:
    """The day, week, month, quarter or year in which the day is; weeks begin on Monday."""
    if unit == "day":
        return day, day
    if unit in ("week", "fortnight"):
        monday = day - timedelta(days=day.weekday())
        return monday, monday + timedelta(days=6 if unit == "week" else 13)
    if unit == "month":
        return _month(day.year, day.month)
    if unit == "quarter":
        last = (day.month + 2) // 3 * 3
        return date(day.year, last - 2, 1), _month(day.year, last)[1]
    return date(day.year, 1, 1), date(day.year, 12, 31)


# ── the words around them ────────────────────────────────────────────────────────────────────────────────────────────

_THE = r"(?:the\s+)?(?:(?:start|beginning|end|month|year)\s+of\s+(?:the\s+)?)?"
_OPENERS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"(?<![\w-])(?:{words})\s+{_THE}$", re.IGNORECASE))
    for kind, words in (
        ("between", "between"),
        ("from", "from"),
        ("until", "no later than|not later than|up to(?: and including)?|until|till|through|up until|by"),
        ("not before", "not before|no earlier than|not earlier than"),
        ("since", "since|starting(?: in| from| on| with)?|beginning(?: in| with)?|as of|from"),
        ("before", "before|prior to|earlier than|older than|preceding"),
        ("after", "after|later than|newer than|following|past"),
        ("in", "in|during|within|throughout|over|for|of|on|at|dated|only|year|since the|in the month of"),
    )
)
_AFTERWARDS = re.compile(
    r"\s+(?:and\s+|or\s+)?(?:later\b|onwards?\b|newer\b|afterwards\b|(?:on|after)(?=\s*(?:[?.,;)]|$)))", re.I
)
_EARLIER = re.compile(r"\s+(?:and\s+|or\s+)(?:earlier\b|older\b|before(?=\s*(?:[?.,;)]|$)))", re.IGNORECASE)
_TO = re.compile(
    r"(?<!\s)\s*(?:-|–|—|\bto\b|\bthrough\b|\bthru\b|\buntil\b|\btill\b|\bup to\b)\s*(?:the\s+)?", re.IGNORECASE
)
_AND = re.compile(r"(?<!\s)\s+(?:and|to)\s+(?:the\s+)?", re.IGNORECASE)


def _range(text: str, points: list[_Point], place: int) -> Period | None:
    """Two points that the words between them join."""
    if place + 1 == len(points):
        return None
    first, last = points[place], points[place + 1]
    opener, start = _opener(text, first)
    joint = _AND if opener == "between" else _TO
    if not joint.fullmatch(text, first.end, last.start) or _is_a_quantity(text, last):
        return None
    if first.yearless and last.yearless and opener not in ("between", "from", "in"):
        return None
    if not last.yearless and first.yearless:
        first = _in_year_of(first, last)
    if first.first > last.last or (first.shy and _is_counted(text, first)):
        return None
    start = start if opener in ("between", "from", "in") else first.start
    return _period(text, first.first, last.last, start, last.end, first.note or last.note)


def _in_year_of(point: _Point, other: _Point) -> _Point:
    """ "November" of "between November and January 2019" is that of the year before."""
    year = other.first.year - (point.first.month > other.first.month)
    length = point.last - point.first
    first = point.first.replace(year=year)
    last = first if not length.days else _month(year, first.month)[1]
    return structs.replace(point, first=first, last=last)


def _single(text: str, point: _Point) -> Period | None:
    opener, start = _opener(text, point)
    if point.shy and not _stands_like_a_time(text, point, opener):
        return None
    if later := _AFTERWARDS.match(text, point.end):
        return _period(text, point.first, None, start if opener else point.start, later.end(), point.note)
    if earlier := _EARLIER.match(text, point.end):
        return _period(text, None, point.last, start if opener else point.start, earlier.end(), point.note)
    day = timedelta(days=1)
    ends: dict[str, tuple[date | None, date | None]] = {
        "until": (None, point.last),
        "since": (point.first, None),
        "not before": (point.first, None),
        "before": (None, point.first - day),
        "after": (point.last + day, None),
    }
    first, last = ends.get(opener, (point.first, point.last))
    return _period(text, first, last, start if opener else point.start, point.end, point.note)


def _period(text: str, first: date | None, last: date | None, start: int, end: int, note: str) -> Period:
    if only := _ONLY.match(text, end):
        end = only.end()
    return Period(start=first, end=last, words=text[start:end].strip(), span=(start, end), note=note)


_ONLY = re.compile(r"\s+(?:only|alone)\b", re.IGNORECASE)


def _opener(text: str, point: _Point) -> tuple[str, int]:
    """What the words right before a point make of it, and where they begin."""
    for kind, pattern in _OPENERS:
        if found := pattern.search(text, max(0, point.start - 40), point.start):
            return kind, found.start()
    return "", point.start


_COUNTED = re.compile(
    r"(?:\b(?:above|below|under|than|least|most|exceed(?:s|ing)?|exactly|about|around|approximately|with|has|have|"
    r"having"
    r"|costs?|weighs?|number|no\.?|nr\.?|model|item|part|page|id|code|order|invoice|ticket|room|type|series)"
    r"|[<>=≤≥$€£#])\s*$",
    re.IGNORECASE,
)
_STANDS_FREE = re.compile(r"(?:^|[,;:(]|\b(?:the|all|our|my|only|and|or|filter to|year))\s*$", re.IGNORECASE)
_AMOUNT_OF = re.compile(
    r"\b(?:an?|the|whose|with)\s+(?:[\w-]+\s+){0,3}(?:of|for|at)\s+$|\b(?:over|at)\s+$", re.IGNORECASE
)
_TIMELY = re.compile(
    r"\b(?:year|month|quarter|half|end|start|beginning|summer|winter|spring|autumn|fall|season|\w+s|report|list|issue"
    r"|edition|budget)\s+(?:of|for)\s+$",
    re.IGNORECASE,
)
_NOT_A_MONTH = re.compile(r"\s+(?:be|not|have|i|we|you|include|contain|apply|require)\b", re.IGNORECASE)


def _stands_like_a_time(text: str, point: _Point, opener: str) -> bool:
    if opener == "between":
        return False
    if point.yearless:
        timely = opener in ("in", "since", "until", "before", "after", "not before", "from")
        return timely and not _NOT_A_MONTH.match(text, point.end)
    if opener in ("since", "before", "after", "until", "not before"):
        return opener == "since" or not _is_a_quantity(text, point)
    amount = _AMOUNT_OF.search(text, 0, point.start)
    if _is_a_quantity(text, point) or _is_counted(text, point) or (amount and not _TIMELY.search(amount[0])):
        return False
    return bool(opener or _STANDS_FREE.search(text, 0, point.start) or _ONLY.match(text, point.end)) or (
        not text[point.end :].strip(" ?.!")
    )


def _is_counted(text: str, point: _Point) -> bool:
    return bool(_COUNTED.search(text, max(0, point.start - 24), point.start))


def _is_a_quantity(text: str, point: _Point) -> bool:
    """Whether four digits have a unit or a currency; an article is none, however much it looks like ampere."""
    if not point.shy or point.yearless:
        return False
    if AFTER.match(text, point.end):
        return True
    unit = unit_at(text, point.end)
    return unit is not None and text[point.end : unit[1]].strip() not in ("a", "in", "")
