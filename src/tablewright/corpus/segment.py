"""A document's text, cut into segments: short enough to be quoted and embedded, long enough to say something.

A segment is whole paragraphs of one page under one heading, some 150 to 300 words; only a paragraph that is longer
than that is cut, between sentences where it has any. Whatever the text is (a script without spaces, one long line,
nothing but marks), no segment has more than `MOST_CHARACTERS` or `MOST_TOKENS`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice

from msgspec import structs

from tablewright.domain.corpus import Segment
from tablewright.domain.model import Noun
from tablewright.domain.text import normalize_whitespace
from tablewright.extraction.layout.draft import Parsed

ENOUGH = 150
MOST = 300
"""Words of a segment. One that has `ENOUGH` ends with its paragraph; a heading ends any."""
FEW = 40
"""Words under a heading that are too few to stand alone: they go with what follows."""
MOST_CHARACTERS = 4_000
"""300 words of prose have some 2,000, of German some 2,300: only what is no prose is cut by this."""
MOST_TOKENS = 2_000
"""As estimated by `count_tokens`. 300 words of prose have some 500, of numbers with decimals some 1,500."""
LONG_WORD = 40
"""Characters that count as one more word, for texts without spaces."""
IDEOGRAPHS_A_WORD = 2
"""Of Chinese and Japanese, which are written without spaces."""
LETTERS_A_WORD = 5
"""Of Thai, Lao, Khmer and Burmese, which are written without spaces."""

_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_BREAK = re.compile(r"\n[^\S\n]*(?:\n\s*)+")
_LINE = re.compile(r"[^\n]+")
_SENTENCE_END = re.compile(r"[.!?…]['\"”»)\]]*\s+|[。！？｡．][」』”’）]*\s*|[؟۔।॥።។။]\s*|\n")
_WORD = re.compile(
    rf"[^\s{_IDEOGRAPHS}{_UNSPACED}]{{1,{LONG_WORD}}}"
    rf"|[{_IDEOGRAPHS}]{{1,{IDEOGRAPHS_A_WORD}}}|[{_UNSPACED}]{{1,{LETTERS_A_WORD}}}"
)
_TOKEN = re.compile(r"[A-Za-z]{1,4}|[^\W\d_]{1,2}|\S")
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
        for group in groups(parsed.text, list(pieces(parsed, start, end))):
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


def groups(text: str, found: list[SegmentPiece]) -> list[list[SegmentPiece]]:
    """Pieces of a page that make a segment together."""
    made: list[list[SegmentPiece]] = []
    group: list[SegmentPiece] = []
    for piece in found:
        words = words_in(group)
        full = words >= ENOUGH or words + piece.words > MOST or (group and not is_short(text, group[0], piece))
        if group and (full or (piece.is_heading and words_in(group) >= FEW)):
            headless = len(group) > 1 and group[-1].is_heading  # a heading goes with what it is above
            made.append(group[:-1] if headless else group)
            group = group[-1:] if headless else []
        group.append(piece)
    crumb = bool(group) and words_in(group) < FEW and not group[0].is_heading  # a page number, the end of a sentence
    if crumb and made and is_short(text, made[-1][0], group[-1]):
        made[-1] += group
    elif group:
        made.append(group)
    return made


def words_in(group: list[SegmentPiece]) -> int:
    return sum(piece.words for piece in group)


def is_short(text: str, first: SegmentPiece, last: SegmentPiece) -> bool:
    """True if all from one piece to another is few enough characters and tokens for a segment."""
    characters = last.end - first.start
    if characters <= MOST_TOKENS:  # each token has a character at least
        return True
    return characters <= MOST_CHARACTERS and count_tokens(text, first.start, last.end) <= MOST_TOKENS


def count_tokens(text: str, start: int, end: int) -> int:
    """Return an estimate without a tokenizer: four Latin letters are a token, two of another alphabet, else each
    character is one."""
    return sum(1 for _ in _TOKEN.finditer(text, start, end))


def pieces(parsed: Parsed, start: int, end: int) -> Iterator[SegmentPiece]:
    """The paragraphs of a page, those that are headings apart, long ones in parts."""
    marked = [begin for begin, _ in parsed.headings]
    for begin, finish in paragraphs(parsed.text, start, end):
        at = begin
        for line in _LINE.finditer(parsed.text, begin, finish):
            if is_heading(parsed, marked, line.start(), line.end()):
                yield from parts(parsed.text, at, line.start())
                yield from (
                    structs.replace(each, is_heading=True) for each in parts(parsed.text, line.start(), line.end())
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
    """Without the space around; in parts that each fit into a segment, none a crumb."""
    found = _WORD.finditer(text, start, end)
    words: list[tuple[int, int]] = []  # where each begins and ends; no more than are looked at
    while True:
        words += [word.span() for word in islice(found, MOST + FEW - len(words))]
        most = count_fitting(text, words)
        if most == len(words):
            break
        if len(words) < most + FEW:  # so that what is left is no crumb
            most = max(1, min(most, len(words) * 2 // 3))
        cuts = [cut.end() for cut in _SENTENCE_END.finditer(text, words[most // 2][0], words[most - 1][1])]
        if cuts:
            most = next(index for index, (begin, _) in enumerate(words) if begin >= cuts[-1])
        yield SegmentPiece(start=words[0][0], end=words[most - 1][1], words=most)
        words = words[most:]
    if words:
        yield SegmentPiece(start=words[0][0], end=words[-1][1], words=len(words))


def count_fitting(text: str, words: list[tuple[int, int]]) -> int:
    """Return how many of the words, from the first, one segment takes."""
    if not words:
        return 0
    begin, ends = words[0][0], [end for _, end in words[:MOST]]
    count = bisect_right(ends, begin + MOST_CHARACTERS)
    if ends[count - 1] - begin > MOST_TOKENS:
        tokens = islice(_TOKEN.finditer(text, begin, ends[count - 1]), MOST_TOKENS, None)
        beyond = next(tokens, None)
        count = count if beyond is None else bisect_right(ends, beyond.start())
    return count


def plain_heading(line: str) -> str:
    return normalize_whitespace(line.strip().strip("#"))[:200]
