"""Reads short lines that are an answer by themselves: a price, a telephone number, "1.6 L engine", "by Jane Doe"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tablewright.extraction.found import Found
from tablewright.extraction.kinds import typed
from tablewright.extraction.passages import LOOKED_AT, Passages
from tablewright.extraction.wanted import Wanted
from tablewright.text.words import stems

ALONE = 0.7
FORMED = 0.8  # for what has a form of its own
NAMED_AFTER = 0.6
LONGEST_QUOTE = 120
MOST_ALONE = 6  # a page with more lines of one kind lists many things, not one


def from_lines(want: Wanted, page: Passages, text: str) -> Iterator[Found]:
    if want.relation.lone:
        found = list(_anywhere(want, text) if want.relation.pattern else _alone(want, page))
        yield from _weighed(found)
    if want.relation.byline:
        yield from _bylines(want, page)
    if want.kind in ("text", "measure", "count", "number"):
        yield from _named_after(want, page)


def _weighed(found: list[Found]) -> Iterator[Found]:
    """The first ones count most, and all of them less where the page has many."""
    several = len({answer.value for answer in found}) > MOST_ALONE
    for place, answer in enumerate(found[:MOST_ALONE]):
        yield answer.times(1 - 0.08 * place - (0.4 if several else 0.0))


def _anywhere(want: Wanted, text: str) -> Iterator[Found]:
    """What has a form of its own, such as a telephone number, with its line."""
    for match in re.finditer(want.relation.pattern, text[:LOOKED_AT]):
        start = text.rfind("\n", 0, match.start()) + 1
        end = (text.find("\n", match.end()) + 1 or len(text) + 1) - 1
        before = text[max(start, match.start() - 30) : match.start()]
        if not (want.relation.unlike and re.search(want.relation.unlike, before, re.IGNORECASE)):
            start, end = max(start, match.start() - LONGEST_QUOTE), min(end, match.end() + LONGEST_QUOTE)
            yield Found(value=match[1].strip(), start=start, end=end, score=FORMED)


def _alone(want: Wanted, page: Passages) -> Iterator[Found]:
    """Lines that are nothing but an answer of this kind."""
    before = ""
    for line, start in page.headings:
        value = _whole_answer(want, line)
        if value and not (want.relation.unlike and re.search(want.relation.unlike, before, re.IGNORECASE)):
            yield Found(value=value, start=start, end=start + len(line), score=ALONE)
        before = "" if _DIGIT.search(line) else line


_DIGIT = re.compile(r"\d")


def _whole_answer(want: Wanted, line: str) -> str:
    found = typed(want, line)
    whole = len(found) == 1 and found[0].sure == 1 and len(line.strip()) - (found[0].end - found[0].start) <= 2
    return found[0].value if whole else ""


_BY = re.compile(r"(?:(?:written|edited|directed|created|posted) )?by:?\s+(?=\S)", re.IGNORECASE)


def _bylines(want: Wanted, page: Passages) -> Iterator[Found]:
    for line, start in page.headings:
        if (by := _BY.match(line)) and (name := line[by.end() :].strip(" .,;|"))[:1].isupper():
            yield Found(value=name, start=start, end=start + len(line), score=0.75)


def _named_after(want: Wanted, page: Passages) -> Iterator[Found]:
    """A line with a number that ends in the field's name: "1.6 L four-cylinder engine"."""
    last_words = {label[-1] for label in want.label_stems if label}
    for line, start in page.headings:
        if _DIGIT.search(line):
            words = stems(line)
            if (
                words
                and words[-1] in last_words
                and any(len(words) > len(label) and words[-len(label) :] == label for label in want.label_stems)
            ):
                yield Found(value=line.strip(" .,;|"), start=start, end=start + len(line), score=NAMED_AFTER)
