"""A claim in parts: the names, numbers, dates and telling words that a text which bears it has to say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, TypeAlias

from tablewright.decisions.entailment.words import SMALL, WORD, meaning, plain, root
from tablewright.decisions.grounds import numbers_in
from tablewright.table.dates import read_dates
from tablewright.table.model import Noun
from tablewright.table.numbers import read_numbers

Kind: TypeAlias = Literal["name", "number", "date", "word"]

NAME, NUMBER, SPELLED = 10.0, 12.0, 8.0
"""What a part of the kind counts, beside words of 2 to 14."""
LEAST, MOST = 2.0, 14.0
FEW = 3
""" "One of them" and "both" say nothing of how many."""

_UNITS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty"""
IN_WORDS = {word: number for number, word in enumerate(_UNITS.split())}
_MONTHS = "january february march april may june july august september october november december".split()
MONTHS = {name: number for number, month in enumerate(_MONTHS, 1) for name in (month, month[:3])} | {"sept": 9}
_DAY = re.compile(
    r"\b(?P<month>[A-Z][a-z]{2,8})\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?\b"
    r"|\b(?P<first>\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<then>[A-Z][a-z]{2,8})\b"
)
_MONTH = re.compile(r"\b(?:J(?:an|une?|uly?)|Feb|Mar|Apr|May|Aug|Sept?|Oct|Nov|Dec)[a-z]*\b")


class Part(Noun, frozen=True):
    """`written` stands at `start:end` of the claim. A word or name has its `root`, a number its `values` (two of a
    range), a date its `iso`. A `common` name is a word as well: "Club", "Summer"."""

    kind: Kind
    written: str
    start: int
    end: int
    weight: float
    root: str = ""
    plain: str = ""
    values: tuple[float, ...] = ()
    iso: str = ""
    common: bool = False

    @property
    def is_hard(self) -> bool:
        """Whether another word will not do."""
        return self.kind != "word"


def parts(claim: str, about: str = "") -> tuple[Part, ...]:
    """In order. What the claim is `about` is a name even where it opens the sentence, and the "17" of "Vario 17" is no
    figure."""
    named = [match.span() for match in re.finditer(re.escape(about), claim)] if about else []
    figures = [*_dates(claim), *_numbers(claim)]
    found: list[Part] = []
    for each in figures:
        if not _within(each, found) and not any(start <= each.start and each.end <= end for start, end in named):
            found.append(each)
    subject = {plain(word) for word in WORD.findall(about)}
    found += [each for each in _words(claim, subject) if not _within(each, found)]
    return tuple(sorted(found, key=lambda part: part.start))


def _within(part: Part, others: list[Part]) -> bool:
    return any(part.start < other.end and other.start < part.end for other in others)


def _dates(claim: str) -> Iterator[Part]:
    for date in read_dates(claim):
        written = claim[date.start : date.end]
        yield Part(kind="date", written=written, start=date.start, end=date.end, weight=NUMBER, iso=date.iso)


def _numbers(claim: str) -> Iterator[Part]:
    for number in read_numbers(claim):
        written = claim[number.start : number.end].strip()
        values = tuple(float(value) for value in (number.value, number.high) if value is not None)
        if any(map(str.isdigit, written)) or abs(values[0]) >= FEW:
            yield Part(kind="number", written=written, start=number.start, end=number.end, weight=NUMBER, values=values)


def _words(claim: str, subject: set[str]) -> Iterator[Part]:
    for match in WORD.finditer(claim):
        written, word = match[0], plain(match[0])
        start, end = match.span()
        if word in SMALL or len(word) < 2 or (word.title() in _MONTH_NAMES and written[0].isupper()):
            continue
        if word not in subject and (number := IN_WORDS.get(word, 0)) >= FEW:
            yield Part(kind="number", written=written, start=start, end=end, weight=SPELLED, values=(float(number),))
        elif word not in subject and (digits := re.match(r"\d+", written)):
            yield Part(kind="number", written=written, start=start, end=end, weight=NUMBER, values=(float(digits[0]),))
        elif (written[0].isupper() or written[0].isdigit()) and (start or word in subject or meaning(word).pieces > 1):
            common = written[1:].islower() and meaning(word).pieces == 1
            yield Part(
                kind="name",
                written=written,
                start=start,
                end=end,
                weight=NAME,
                root=root(written),
                plain=word,
                common=common,
            )
        else:
            weight = min(MOST, max(LEAST, meaning(word).weight))
            yield Part(
                kind="word", written=written, start=start, end=end, weight=weight, root=root(written), plain=word
            )


_MONTH_NAMES = frozenset(map(str.title, _MONTHS))


# ── what a sentence says of numbers and days ─────────────────────────────────────────────────────────────────────────


@lru_cache(4_096)
def amounts(sentence: str) -> frozenset[float]:
    """Those of a day or of a time are none."""
    spelled = {float(IN_WORDS[word]) for word in map(plain, WORD.findall(sentence)) if word in IN_WORDS}
    return frozenset(numbers_in(_DAY_OR_TIME.sub(" ", sentence)) | spelled)


_DAY_OR_TIME = re.compile(r"\b(?:\d{4}-\d{2}-\d{2}|\d{1,2}:\d{2}(?::\d{2})?)\b")


@lru_cache(4_096)
def dates(sentence: str) -> frozenset[str]:
    return frozenset(date.iso for date in read_dates(sentence))


def days(sentence: str) -> set[str]:
    """Of the year, "11-02": many texts leave the year to their own date."""
    found = set()
    for match in _DAY.finditer(sentence):
        month = MONTHS.get((match["month"] or match["then"]).casefold())
        if month:
            found.add(f"{month:02}-{int(match['day'] or match['first']):02}")
    return found


def months(sentence: str) -> set[int]:
    found = (MONTHS.get(match[0].casefold()) for match in _MONTH.finditer(sentence))
    return {month for month in found if month}
