"""A document's text, cut into segments: short enough to be quoted and embedded, long enough to say something.

A segment is whole paragraphs of one page under one heading, some 150 to 300 words; only a paragraph that is longer
than that is cut, between sentences where it has any.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from tablewright.corpus.parse.parsed import Parsed
from tablewright.table.corpus import Segment
from tablewright.table.model import Noun

ENOUGH = 150
MOST = 300
"""Words of a segment. One that has `ENOUGH` ends with its paragraph; a heading ends any."""
FEW = 40
"""Words under a heading that are too few to stand alone: they go with what follows."""
LONG_WORD = 40
"""Characters that count as one more word, for texts without spaces."""

_BREAK = re.compile(r"\n[^\S\n]*(?:\n\s*)+")
_LINE = re.compile(r"[^\n]+")
_SENTENCE_END = re.compile(r"[.!?…]['\"”»)\]]*\s+|[。！？]\s*|\n")
_WORD = re.compile(rf"\S{{1,{LONG_WORD}}}")
_MARKED = re.compile(r"\s{0,3}#{1,6}\s+\S")


class SegmentPiece(Noun, frozen=True):
    """A paragraph, or part of a long one, or a heading."""

    start: int
    end: int
    words: int
    is_heading: bool = False


def segments_of(parsed: Parsed) -> tuple[Segment, ...]:
    """All of the text but the space between paragraphs, in order, numbered from 0."""
    found: list[Segment] = []
    heading = ""
    for page, (start, end) in enumerate(pages(parsed), start=1):
        for group in groups(list(pieces(parsed, start, end))):
            inner = [parsed.text[piece.start : piece.end] for piece in group if piece.is_heading]
            # What has its heading within is under that; what goes on after a page or a long paragraph, under the last.
            heading = plain_heading(inner[0]) if inner and group[0].is_heading else heading
            begin, finish = group[0].start, group[-1].end
            found.append(
                Segment(
                    number=len(found),
                    start=begin,
                    end=finish,
                    text=parsed.text[begin:finish],
                    page=page if parsed.page_starts else None,
                    heading=heading,
                )
            )
            if inner:
                heading = plain_heading(inner[-1])
    return tuple(found)


def pages(parsed: Parsed) -> list[tuple[int, int]]:
    starts = list(parsed.page_starts) or [0]
    if starts[0] > 0:
        starts[0] = 0
    return list(zip(starts, [*starts[1:], len(parsed.text)], strict=True))


def groups(found: list[SegmentPiece]) -> list[list[SegmentPiece]]:
    """Pieces of a page that make a segment together."""
    made: list[list[SegmentPiece]] = []
    group: list[SegmentPiece] = []
    for piece in found:
        full = words_in(group) + piece.words > MOST or words_in(group) >= ENOUGH
        if group and (full or (piece.is_heading and words_in(group) >= FEW)):
            headless = len(group) > 1 and group[-1].is_heading  # a heading goes with what it is above
            made.append(group[:-1] if headless else group)
            group = group[-1:] if headless else []
        group.append(piece)
    if made and words_in(group) < FEW and not group[0].is_heading:  # the number of the page, the end of a sentence
        made[-1] += group
    elif group:
        made.append(group)
    return made


def words_in(group: list[SegmentPiece]) -> int:
    return sum(piece.words for piece in group)


def pieces(parsed: Parsed, start: int, end: int) -> Iterator[SegmentPiece]:
    """The paragraphs of a page, those that are headings apart, long ones in parts."""
    marked = [begin for begin, _ in parsed.headings]
    for begin, finish in paragraphs(parsed.text, start, end):
        at = begin
        for line in _LINE.finditer(parsed.text, begin, finish):
            if is_heading(parsed, marked, line.start(), line.end()):
                yield from parts(parsed.text, at, line.start())
                yield from (
                    SegmentPiece(start=each.start, end=each.end, words=each.words, is_heading=True)
                    for each in parts(parsed.text, line.start(), line.end())
                )
                at = line.end()
        yield from parts(parsed.text, at, finish)


def paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for gap in _BREAK.finditer(text, start, end):
        yield at, gap.start()
        at = gap.end()
    yield at, end


def is_heading(parsed: Parsed, marked: list[int], start: int, end: int) -> bool:
    before = bisect_right(marked, end - 1) - 1
    if before >= 0 and parsed.headings[before][1] > start:
        return True
    return parsed.media == "md" and _MARKED.match(parsed.text, start, end) is not None


def parts(text: str, start: int, end: int) -> Iterator[SegmentPiece]:
    """Without the space around; in parts of at most `MOST` words, none a crumb."""
    words = [(word.start(), word.end()) for word in _WORD.finditer(text, start, end)]
    while len(words) > MOST:
        most = MOST if len(words) >= MOST + FEW else len(words) * 2 // 3
        cuts = [cut.end() for cut in _SENTENCE_END.finditer(text, words[most // 2][0], words[most - 1][1])]
        cut = cuts[-1] if cuts else words[most][0]
        count = next(index for index, (begin, _) in enumerate(words) if begin >= cut)
        yield SegmentPiece(start=words[0][0], end=words[count - 1][1], words=count)
        words = words[count:]
    if words:
        yield SegmentPiece(start=words[0][0], end=words[-1][1], words=len(words))


def plain_heading(line: str) -> str:
    return " ".join(line.strip().strip("#").split())[:200]
