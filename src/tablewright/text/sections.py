"""Where the sentences of a text begin and end, which of its lines only name something, and what stands under those.

A heading, the word of a menu and the number of a page say nothing by themselves: they are no statements, but they tell
what the sentences below them are about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tablewright.table.model import Noun

WRAPPED = 60
"""A line as long as this that ends in no full stop goes on in the next."""
LONGEST_HEADING = 10
"""Words."""
PATH = " > "
SHORT = 3
"""So few words say nothing without a full stop, a value or a verb."""


class Line(Noun, frozen=True):
    """A sentence, or what stands in its place. `names`: it says nothing by itself. `level` is that of a heading which
    is marked as one, 0 of everything else."""

    start: int
    end: int
    names: bool = False
    level: int = 0


class Section(Noun, frozen=True):
    """`heading` are the lines that name what the `body` says, `above` the marked headings that it stands under."""

    above: tuple[Line, ...]
    heading: tuple[Line, ...]
    body: tuple[Line, ...]


def sentences(text: str) -> list[tuple[int, int]]:
    """Also those that run over several lines, as texts of paged documents have them; and the headings."""
    return [(line.start, line.end) for line in lines(text)]


def lines(text: str) -> list[Line]:
    """All that has a letter in it, in order."""
    return [line for start, end in _paragraphs(text) for line in _in_paragraph(text, start, end)]


def sections(text: str) -> list[Section]:
    """In order. A marked heading begins one, and so does a line that names something after one that says something."""
    made: list[Section] = []
    above: tuple[Line, ...] = ()
    heading: list[Line] = []
    body: list[Line] = []
    for line in lines(text):
        if (line.level or (line.names and body)) and (heading or body):
            made.append(Section(above=above, heading=tuple(heading), body=tuple(body)))
            heading, body = [], []
        if line.level:
            above = (*(each for each in above if each.level < line.level), line)
        else:
            (heading if line.names else body).append(line)
    return [*made, Section(above=above, heading=tuple(heading), body=tuple(body))]


def readable(text: str) -> str:
    """A passage as one tells it: places in a menu in one line, without marks and the numbers of pages."""
    told = ""
    last: Line | None = None
    for line in lines(text):
        said = _unmarked(text[line.start : line.end])
        told += f"{_joint(text, last, line)}{said}" if last else said
        last = line
    return told


def _joint(text: str, above: Line, below: Line) -> str:
    if above.names:
        return PATH if below.names else " " if text[above.end - 1] == ":" else ": "
    gap = text[above.end : below.start]
    parted = gap.count("\n") > 1 or bool(gap.strip())
    return ". " if parted and not _ENDS.search(text[above.start : above.end]) else " "


# ── which lines only name something ──────────────────────────────────────────────────────────────────────────────────

_ENDS = re.compile(r"[.!?…:;。！？][\"”’')\]*_]*$")
_VALUE = re.compile(r"\d|[=|@]|:\s*\S")
_NUMBERED = re.compile(
    r"(?:(?:chapter|section|part|appendix|annex|figure|table|page)\s+(?:\d+(?:\.\d+)*|[ivxlc]+|[a-z])|\d+(?:\.\d+)+)"
    r"(?=[\s.:)]|$)[.:)]?\s*",
    re.IGNORECASE,
)
"""The number of a heading: "Chapter 3", "4.2", "Appendix B:"."""
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|can|could|may|might|must|shall|should|will|would|do|does|did|cannot|"
    r"\w+n['’]t)\b",
    re.IGNORECASE,
)
_OPENS_A_HEADING = re.compile(r"(?:[^\W\d_]+ing|how to)\b", re.IGNORECASE)
_MARKS = re.compile(r"\s*(?:(?P<level>#{1,6})|(?P<item>[-*+•·▪◦–]|\(?\d{1,2}[.)])|[>:,;])(?=\s)\s*")
_INLINE = re.compile(r"!?\[([^\]\[]*)\]\([^()\s]*\)|(?<!\w)(?:\*\*|__|`|\*)(?=\S)([^*`\n]*?\S)(?:\*\*|__|`|\*)(?!\w)")


def _line(text: str, start: int, end: int, *, alone: bool) -> Iterator[Line]:
    """Without the space and the marks around it; the number of a page is none. `alone`: nothing else stands in its
    paragraph."""
    level, item = 0, False
    while mark := _MARKS.match(text, start, end):
        level = level or len(mark["level"] or "")
        item = item or bool(mark["item"])
        start = mark.end()
    piece = text[start:end].rstrip(" \t\n#" if level else None).rstrip()
    start += len(piece) - len(piece.lstrip())
    piece = piece.lstrip()
    if any(map(str.isalpha, piece)):
        names = bool(level) or _only_names(piece, item=item, alone=alone)
        yield Line(start=start, end=start + len(piece), names=names, level=level)


def _only_names(piece: str, *, item: bool, alone: bool) -> bool:
    if piece.endswith(":"):
        return len(piece.split()) <= SHORT
    named = piece[number.end() :] if (number := _NUMBERED.match(piece)) else piece
    if _ENDS.search(piece) or _VALUE.search(named) or _VERB.search(piece) or not alone:
        return False
    words = named.split()
    if len(words) <= (1 if item else SHORT):
        return True
    titled = all(word[0].isupper() or not word[0].isalpha() for word in words if len(word) > SHORT)
    return not item and len(words) <= LONGEST_HEADING and (titled or bool(_OPENS_A_HEADING.match(named)))


def _unmarked(said: str) -> str:
    return " ".join(_INLINE.sub(lambda found: found[1] if found[1] is not None else found[2], said).split())


# ── where sentences begin and end ────────────────────────────────────────────────────────────────────────────────────

_BREAK = re.compile(r"\n\s*")
_STOP = re.compile(r"(?<=[.!?])[\"”’')\]]*\s+(?=[\"“‘'(\[]?[^\W_a-z])")
_SHORTENED = re.compile(
    r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|St|No|vs|ca|cf|e\.g|i\.e|U\.S|U\.K|Jr|Sr|Prof|Gen|Col|Capt|Lt|Fig|p|pp|Art)\.$"
)
_NUMBER_OF_ITEM = re.compile(r"\s*\(?\d{1,2}[.)]")
_GOES_ON = re.compile(
    r"(?:,|\b(?:by|the|and|of|to|a|an|in|on|for|or|with|then|from|at|your|is|are|as|if|when|that|this|some|its|their|can|"
    r"will|may|must|not|into|than|via|use|set|say|select|press|choose|click|tap))\s*$",
    re.IGNORECASE,
)
_CONTINUES = re.compile(r"[a-zß-ÿ,;)]|\.(?:\s|$)")
_WITH_LETTERS = re.compile(r"[^\n]*[^\W\d_][^\n]*")


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    start = line = 0
    for match in _BREAK.finditer(text):
        if not _goes_on(text, text[line : match.start()], match):
            yield start, match.start()
            start = match.end()
        line = match.end()
    yield start, len(text)


def _goes_on(text: str, above: str, broken: re.Match[str]) -> bool:
    """Whether the line above a break goes on below it."""
    mark = _MARKS.match(text, broken.start() + 1)
    if broken[0].count("\n") > 1 or above.startswith("#") or (mark and (mark["level"] or mark["item"])):
        return False
    if _CONTINUES.match(text, broken.end()):
        return True
    wrapped = len(above) >= WRAPPED and not above.rstrip().endswith((".", "!", "?", ":"))
    return (wrapped or bool(_GOES_ON.search(above))) and _WITH_LETTERS.match(text, broken.end()) is not None


def _in_paragraph(text: str, start: int, end: int) -> Iterator[Line]:
    begin = start
    for match in _STOP.finditer(text, start, end):
        stop = match.start() + len(match[0].rstrip())
        if not _SHORTENED.search(text, start, match.start()) and not _NUMBER_OF_ITEM.fullmatch(text, start, stop):
            yield from _line(text, start, stop, alone=False)
            start = match.end()
    yield from _line(text, start, end, alone=start == begin)
