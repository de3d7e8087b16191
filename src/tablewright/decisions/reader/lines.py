"""Reads short lines that are an answer by themselves: a price, a telephone number, "1.6 L engine", "by Jane Doe"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tablewright.decisions.reader.found import Found
from tablewright.decisions.reader.kinds import typed
from tablewright.decisions.reader.passages import Passages
from tablewright.decisions.reader.relations import stems
from tablewright.decisions.reader.wanted import Wanted

ALONE = 0.7
NAMED_AFTER = 0.6
MOST_ALONE = 6  # a page with more lines of one kind lists many things, not one


def from_lines(want: Wanted, page: Passages) -> Iterator[Found]:
    if want.relation.lone:
        yield from _alone(want, page)
    if want.relation.byline:
        yield from _bylines(want, page)
    if want.kind in ("text", "measure", "count", "number"):
        yield from _named_after(want, page)


def _alone(want: Wanted, page: Passages) -> Iterator[Found]:
    """Lines that are nothing but an answer of this kind. The first ones count most, and only where there are few."""
    answers = list(_whole_answers(want, page))
    for place, (value, start, end) in enumerate(answers):
        score = ALONE - 0.06 * place - (0.3 if len({answer[0] for answer in answers}) > MOST_ALONE else 0.0)
        if score > 0:
            yield Found(value=value, start=start, end=end, score=score)


def _whole_answers(want: Wanted, page: Passages) -> Iterator[tuple[str, int, int]]:
    before = ""
    for line, start in page.headings:
        if value := _whole_answer(want, line):
            if not (want.relation.unlike and re.search(want.relation.unlike, before, re.IGNORECASE)):
                yield value, start, start + len(line)
        before = line


def _whole_answer(want: Wanted, line: str) -> str:
    if want.relation.pattern:
        match = re.search(want.relation.pattern, line)
        return match[1] if match and len(line) - len(match[1]) <= 3 else ""
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
    for line, start in page.headings:
        if any(character.isdigit() for character in line):
            words = stems(line)
            if any(len(words) > len(label) and words[-len(label) :] == label for label in want.label_stems):
                yield Found(value=line.strip(" .,;|"), start=start, end=start + len(line), score=NAMED_AFTER)
