"""[source N] in an answer: what may be said of a source, and whether all that an answer cites really stands there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tablewright.decisions.grounds import close, numbers_in
from tablewright.table.currencies import CODES, currency_of
from tablewright.table.dates import read_dates
from tablewright.table.evidence import stands_in
from tablewright.table.model import Noun
from tablewright.table.numbers import read_numbers
from tablewright.text.words import roots

LEAST_SHARE = 0.5
"""Of the telling words of a statement: so many must stand in its source, the others may be other words for the same."""
PIECE = 1_500
"""Characters of a source that are read for numbers and dates at a time."""
IN_WORDS = 3
"""A number in words counts from here on: "one of them" says nothing of how many."""

OPENERS = frozenset(
    """according additionally all although and another any as at because before both but by during each either every for
    from given he her here his however i if in it its many most my no none of on once one only or other our overall she
    since so some such that the their then there therefore these they this those thus to two under until upon we when
    where which while with within yes you your a an after also are do does is not total users""".split()
)
"""Words that begin a sentence with a capital letter and are no names."""

_CITED = re.compile(r"\[source (\d{1,6})\]")
_MEANT = re.compile(r"\[\s*sources?\b[^\]]*\]", re.IGNORECASE)
_NAME = re.compile(r"\b[^\W\d_a-z][\w’'&-]*")
_OPENS = re.compile(r"(?:^|[.!?:;]\s|[-•*]\s|[\"“(])\s*$")
_MARK = re.compile(r"[^\W\d_]+|[^\w\s]")
_VERBAL = ("ed", "ing", "ly")


class Problem(Noun, frozen=True):
    source: int
    statement: str
    what: str


def cite(statement: str, source: int) -> str:
    """The statement with its citation. What looks like one inside it is only something that a document says."""
    said = _MEANT.sub(lambda match: f"({match[0][1:-1]})", " ".join(statement.split()))
    return f"{said} [source {source}]"


def check_citations(text: str, sources: Mapping[int, str]) -> list[Problem]:
    """What is wrong with the citations of an answer; `sources` are the passages with their titles, by number."""
    found = []
    for statement, number in cited(text):
        if number not in sources:
            found.append(Problem(source=number, statement=statement, what="there is no such source"))
        elif problem := unsupported(statement, sources[number]):
            found.append(Problem(source=number, statement=statement, what=problem))
    odd = [match[0] for match in _MEANT.finditer(text) if not _CITED.fullmatch(match[0])]
    return found + [Problem(source=0, statement=mark, what="a citation without a number") for mark in odd]


def cited(text: str) -> Iterator[tuple[str, int]]:
    """Each citation with the words of its line that stand before it and after the citation before."""
    for line in text.splitlines():
        done, statement = 0, ""
        for match in _CITED.finditer(line):
            statement = line[done : match.start()].strip(" -•*.") or statement
            yield statement, int(match[1])
            done = match.end()


def unsupported(statement: str, source: str) -> str:
    """Why the source does not bear the statement, in words that a model can act on; "" where it does."""
    if not roots(statement):
        return "nothing is said"
    pieces = list(_pieces(source))
    rest = _without_known_dates(statement, pieces)
    known = set(roots(source))
    if missing := [written for written in _numbers_not_in(rest, pieces) if not stands_in(written, source)]:
        return f"the source does not say {', '.join(missing)}"
    strange = [name for name in _names(rest) if name not in source and not set(roots(name)) <= known]
    if missing := [name for name in strange if not _is_currency_of(name, source)]:
        return f"the source does not say {', '.join(missing)}"
    telling = set(roots(rest, telling=True))
    if len(telling & known) < LEAST_SHARE * len(telling):
        return "the source says something else"
    return ""


def _numbers_not_in(statement: str, pieces: list[str]) -> list[str]:
    held = {number for piece in pieces for number in numbers_in(piece)}
    stated = [
        (statement[number.start : number.end].strip(), value)
        for number in read_numbers(statement)
        for value in (number.value, number.high)
        if value is not None and (any(map(str.isdigit, statement[number.start : number.end])) or abs(value) >= IN_WORDS)
    ]
    read = " ".join(written for written, _ in stated)
    loose = [(digits, float(digits)) for digits in re.findall(r"\d+(?:\.\d+)?", statement) if digits not in read]
    return [written for written, value in (*stated, *loose) if not any(close(value, other) for other in held)]


def _names(statement: str) -> Iterator[str]:
    for match in _NAME.finditer(statement):
        opens = bool(_OPENS.search(statement, 0, match.start()))
        word = match[0].casefold()
        if not (opens and (word in OPENERS or word.endswith(_VERBAL))) and match[0] != "I":
            yield match[0]


def _is_currency_of(name: str, source: str) -> bool:
    """ "MYR" is said by "RM"."""
    return name in CODES and any(currency_of(mark) == name for mark in _MARK.findall(source))


def _without_known_dates(statement: str, pieces: list[str]) -> str:
    """ "3 May 2021" is said by "2021-05-03"; its day and month are then no numbers and names of their own."""
    held = {date.iso for piece in pieces for date in read_dates(piece)}
    for date in reversed(read_dates(statement)):
        if any(other.startswith(date.iso) for other in held):
            statement = statement[: date.start] + " " + statement[date.end :]
    return statement


def _pieces(source: str) -> Iterator[str]:
    """Cut at white space, so that no number is cut."""
    start = 0
    while start < len(source):
        end = len(source) if len(source) - start <= PIECE else source.rfind(" ", start, start + PIECE) + 1
        end = end if end > start else start + PIECE
        yield source[start:end]
        start = end
