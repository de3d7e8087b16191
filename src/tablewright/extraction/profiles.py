"""The head of a player's page, which names the team beside the player without any label: "Ann Lee #7 Guard Salem Owls".

A shirt number or a position has to stand there too: without one it is the head of some other page. And the page must
name the team once more. Where there is neither, the page's own title may name the team between the player and the site.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from tablewright.extraction.found import Found
from tablewright.extraction.menus import ends_in_navigation, is_navigation
from tablewright.table.countries import COUNTRIES, COUNTRY_OF, STATES
from tablewright.table.model import Noun

BELOW = 6  # lines below the name that belong to the head
LONGEST_HEAD = 400  # characters
MOST_HEADS = 6
MOST_WORDS = 5
TITLE_LINES = 3
HEADED = 0.72
TITLED = 0.62

_SHIRT = r"(?:(?:#\s?\d{0,3}|(?:№|\b[Nn]o\.|\b[Nn]r\.|\bNumber)\s?\d{1,3})(?:\[\d+\])?)"
_SIDE = r"(?:left|right|central|attacking|defensive|point|shooting|small|power|wide|offensive|starting)"
_PLACE = (
    r"(?:guard|forward|cent(?:er|re)|pitcher|catcher|(?:out|in)fielder|shortstop|(?:first|second|third) baseman|"
    r"designated hitter|quarterback|running back|receiver|tight end|linebacker|cornerback|kicker|punter|"
    r"goalkeeper|goalie|goaltender|defender|defen[cs]eman|midfielder|striker|winger|full-?back|half-?back|"
    r"fly-half|scrum-half|batsman|batter|bowler|all-rounder|wicket-?keeper|setter|libero)"
)
_ABBREVIATED = (
    r"(?:[PS]G|[SP]F|[GFCDKPS]|FC|GF|QB|RB|WR|TE|OL|DL|LB|CB|SP|RP|[123]B|SS|LF|CF|RF|OF|DH|GK|DF|MF|FW|LW|RW)"
)
_WORDED = rf"(?:(?i:(?:{_SIDE}[ -])?{_PLACE}s?)(?![\w'’]))"
_LETTERS = rf"(?:{_ABBREVIATED}(?![\w'’]))"
_ANOTHER = rf"\s?[/,–-]\s?(?:{_WORDED}|{_LETTERS})"
_POSITION = rf"(?:(?:{_WORDED}|{_LETTERS}(?={_ANOTHER}))(?:{_ANOTHER})*)"
_MARK = re.compile(
    rf"\s*(?:[-–]\s*)?(?:(?P<shirt>{_SHIRT})|(?P<position>{_POSITION})|(?P<letters>{_LETTERS}))\s*(?:[-–]\s*)?"
)
_SHIRT_BEHIND = re.compile(rf"\s*{_SHIRT}\s*(?:[-–]?\s*(?:{_POSITION}|{_LETTERS}))?\s*$")
_TELLING = frozenset(("shirt", "position"))  # "S" or "PG" alone may be anything: a street, a student
_APART = re.compile(r"\s+[-–—|•·/]+(?:\s+|$)|\s*\|\s*|\s+(?=[A-Z][\w./]{1,20}:\s)")
_APART_BESIDE = re.compile(rf"{_APART.pattern}|,\s+")
_TEAM = re.compile(
    r"[^\W\d_a-z][\w.&’'-]*(?: (?:(?:of|de|del|la|the|and|da|do) )?(?:[^\W\d_a-z][\w.&’'-]*|\d{2}ers|\d{2,4}))*"
)


def from_heading(name: str, text: str) -> Iterator[Found]:
    """The team beside the name at the head of the page, then the one of the page's title."""
    if len(name) < 4:
        return
    for count, head in enumerate(_head_pattern(name).finditer(text)):
        if count == MOST_HEADS:
            break
        if found := _in_head(name, text, head):
            yield found
    yield from _in_title(name, text)


def _head_pattern(name: str) -> re.Pattern[str]:
    words = r"[ \xa0]".join(re.escape(word) for word in name.split())
    return re.compile(rf"^[ \t]*(?P<before>{_SHIRT}[ \t]*)?{words}(?![\w’']|-\w)", re.MULTILINE | re.IGNORECASE)


class _Piece(Noun, frozen=True):
    """What stands between two line breaks or bars of a head: marks of a player, what may be a team, or both."""

    end: int
    marks: frozenset[str]
    rest: str
    team: bool


def _in_head(name: str, text: str, head: re.Match[str]) -> Found | None:
    pieces = list(_read_pieces(name, text, head.end()))
    seen: frozenset[str] = frozenset(("shirt",)) if head["before"] else frozenset()
    for place, piece in enumerate(pieces):
        following = pieces[place + 1 :]
        next_marks = following[0].marks if following and not following[0].rest else frozenset()
        seen |= piece.marks
        if piece.team and _stands_elsewhere(piece.rest, text):
            if seen & _TELLING:
                is_found = not seen & next_marks  # the same marks again: the next of many players
            else:
                is_found = bool(_marks_below(following) & _TELLING) and not _another_follows(following)
            if is_found:
                return Found(value=piece.rest, start=head.start(), end=piece.end, score=HEADED)
        if ":" in piece.rest or (seen and piece.rest and piece.rest not in COUNTRIES):
            return None
    return None


def _stands_elsewhere(team: str, text: str) -> bool:
    """Whether the page speaks of the "Owls" once more, as one on a player of theirs does."""
    last = re.escape(team.split()[-1])
    return len(re.findall(rf"(?<!\w){last}(?!\w)", text, re.IGNORECASE)) > 1


def _marks_below(pieces: Sequence[_Piece]) -> frozenset[str]:
    bare = takewhile(lambda piece: not piece.rest, pieces)
    return frozenset(mark for piece in bare for mark in piece.marks)


def _another_follows(pieces: Sequence[_Piece]) -> bool:
    """ "Salem Owls, #7, Guard" and then no further name, as a list of players would have."""
    return next((piece.team for piece in pieces if piece.rest), False)


def _read_pieces(name: str, text: str, start: int) -> Iterator[_Piece]:
    for number, line in enumerate(text[start : start + LONGEST_HEAD].split("\n")[: BELOW + 1]):
        for piece, at in _pieces(line, start, _APART if number else _APART_BESIDE):
            rest, marks = _without_marks(piece)
            yield _Piece(end=at + len(piece), marks=marks, rest=rest, team=bool(rest) and _is_team(name, rest, text))
        start += len(line) + 1


def _without_marks(piece: str) -> tuple[str, frozenset[str]]:
    if behind := _SHIRT_BEHIND.search(piece):
        return piece[: behind.start()].strip(), frozenset(("shirt",))
    marks, place = set(), 0
    while mark := _MARK.match(piece, place):
        marks.add(str(mark.lastgroup))
        place = mark.end()
    return piece[place:].strip(), frozenset(marks)


def _pieces(line: str, start: int, apart: re.Pattern[str]) -> Iterator[tuple[str, int]]:
    place = 0
    for gap in [*apart.finditer(line), None]:
        stop = gap.start() if gap else len(line)
        if line[place:stop].strip():
            yield line[place:stop], start + place
        place = gap.end() if gap else place


def _in_title(name: str, text: str) -> Iterator[Found]:
    """ "Ann Lee - Salem Owls - Example Sports": between the player and the site, and known to the rest of the page."""
    place = 0
    for line in text[:600].split("\n")[:TITLE_LINES]:
        pieces = list(_pieces(line, place, _APART))
        own = next((at for at, (piece, _) in enumerate(pieces) if piece.strip().casefold() == name.casefold()), None)
        place += len(line) + 1
        if own is None:
            continue
        for piece, start in pieces[own + 1 : -1]:
            words = piece.split()
            known = re.search(rf"(?:^|\bthe ){re.escape(words[-1])}\b", text[place:], re.MULTILINE)
            if len(words) > 1 and known and _is_team(name, piece.strip(), text):
                yield Found(value=piece.strip(), start=pieces[own][1], end=start + len(piece), score=TITLED)
                return


_SPORT = re.compile(
    r"(?i:\b(?:basketball|football|soccer|baseball|hockey|cricket|rugby|tennis|golf|sports?|league|association|"
    r"college|university|school|player|career|personal|statistics|season|information|biography|bio)$)"
)
_NO_TEAM = re.compile(
    r"\b(?:Born|Contact|Lives|Raised|Joined|Drafted|Signed|In|At|By|From|With|To|For|Street|Road|Avenue|Coach|Trainer|"
    r"Manager|Student)\b"
)


def _is_team(name: str, words: str, text: str) -> bool:
    if not _TEAM.fullmatch(words) or len(words.split()) > MOST_WORDS or name.casefold() in words.casefold():
        return False
    if words in COUNTRIES or words in STATES or words in COUNTRY_OF or _SPORT.search(words) or _NO_TEAM.search(words):
        return False
    if is_navigation(words) or ends_in_navigation(words):
        return False
    if " " in words:
        return not words.isupper() or len(words) > 8
    return len(words) > 3 and not words.isupper() and text.count(words) > 1
