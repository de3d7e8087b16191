"""Split a document's text into segments: short enough to quote and embed, long enough to say something.

A segment is whole paragraphs of one page under one heading, 150 to 300 words. Only a longer paragraph is cut, between
sentences if it has any. Whatever the text is (a script without spaces, one long line, only punctuation), no segment has
more `characters` or `tokens` than `SEGMENT_LIMITS` allow.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from msgspec import structs

from tablewright.domain.documents import Segment
from tablewright.domain.model import Struct
from tablewright.domain.text import normalize_whitespace
from tablewright.extraction.layout.draft import Parsed


@dataclass(frozen=True)
class SegmentLimits:
    # A segment with so many words ends with its paragraph.
    enough_words: int = 150
    # The embedder represents about as many words well.
    words: int = 300
    # Fewer words say too little alone: they go with the text after them.
    few_words: int = 40
    # 300 words of prose have about 2,000 characters, of German 2,300: this only cuts text that is not prose.
    characters: int = 4_000
    # As estimated by `estimate_segment_tokens`. 300 words of prose have about 500, of decimal numbers 1,500.
    tokens: int = 2_000


SEGMENT_LIMITS = SegmentLimits()

# Chinese and Japanese, and Thai, Lao, Khmer and Burmese, are written without spaces: two ideographs or five letters
# count as a word there. Elsewhere 40 characters without a space count as one.
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
# A blank line, also with spaces in it.
_BREAK = re.compile(r"\n[^\S\n]*(?:\n\s*)+")
_LINE = re.compile(r"[^\n]+")
# Places to cut, in any script. `text.split_sentences` is stricter: it must not end a sentence at an abbreviation.
_SENTENCE_END = re.compile(r"[.!?…]['\"”»)\]]*\s+|[。！？｡．][」』”’）]*\s*|[؟۔।॥።។။]\s*|\n")
_WORD = re.compile(rf"[^\s{_IDEOGRAPHS}{_UNSPACED}]{{1,40}}|[{_IDEOGRAPHS}]{{1,2}}|[{_UNSPACED}]{{1,5}}")
_TOKEN = re.compile(r"[A-Za-z]{1,4}|[^\W\d_]{1,2}|\S")
# A heading in Markdown.
_MARKED = re.compile(r"\s{0,3}#{1,6}\s+\S")


class SegmentPiece(Struct, frozen=True):
    """A paragraph, or part of a long one, or a heading."""

    start: int
    end: int
    words: int
    is_heading: bool = False


def split_into_segments(parsed: Parsed) -> tuple[Segment, ...]:
    """Return the segments in order, numbered from 0: all of the text except the space between paragraphs."""
    found: list[Segment] = []
    heading = ""
    for page, (start, end) in enumerate(page_ranges(parsed), start=1):
        for group in group_pieces(parsed.text, list(split_page_pieces(parsed, start, end))):
            inner = [parsed.text[piece.start : piece.end] for piece in group if piece.is_heading]
            # A segment with its own heading is under that; the rest of a page or a long paragraph is under the last.
            heading = clean_heading(inner[0]) if inner and group[0].is_heading else heading
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
                heading = clean_heading(inner[-1])
    return tuple(found)


def page_ranges(parsed: Parsed) -> list[tuple[int, int]]:
    starts = list(parsed.page_starts) or [0]
    if starts[0] > 0:
        starts[0] = 0
    return list(zip(starts, [*starts[1:], len(parsed.text)], strict=True))


def group_pieces(text: str, found: list[SegmentPiece]) -> list[list[SegmentPiece]]:
    """Return the pieces of a page grouped into segments."""
    made: list[list[SegmentPiece]] = []
    group: list[SegmentPiece] = []
    for piece in found:
        words = count_piece_words(group)
        full = (
            words >= SEGMENT_LIMITS.enough_words
            or words + piece.words > SEGMENT_LIMITS.words
            or (group and not fits_in_segment(text, group[0], piece))
        )
        if group and (full or (piece.is_heading and count_piece_words(group) >= SEGMENT_LIMITS.few_words)):
            # A heading goes with the text below it.
            headless = len(group) > 1 and group[-1].is_heading
            made.append(group[:-1] if headless else group)
            group = group[-1:] if headless else []
        group.append(piece)
    # A page number or the end of a sentence goes with the segment before it.
    crumb = bool(group) and count_piece_words(group) < SEGMENT_LIMITS.few_words and not group[0].is_heading
    if crumb and made and fits_in_segment(text, made[-1][0], group[-1]):
        made[-1] += group
    elif group:
        made.append(group)
    return made


def count_piece_words(group: list[SegmentPiece]) -> int:
    return sum(piece.words for piece in group)


def fits_in_segment(text: str, first: SegmentPiece, last: SegmentPiece) -> bool:
    """Return True if the text from one piece to another has few enough characters and tokens for a segment."""
    characters = last.end - first.start
    # Each token has at least one character.
    if characters <= SEGMENT_LIMITS.tokens:
        return True
    return (
        characters <= SEGMENT_LIMITS.characters
        and estimate_segment_tokens(text, first.start, last.end) <= SEGMENT_LIMITS.tokens
    )


def estimate_segment_tokens(text: str, start: int, end: int) -> int:
    """Return an estimate without a tokenizer: four Latin letters, two of another alphabet or one other character."""
    return sum(1 for _ in _TOKEN.finditer(text, start, end))


def split_page_pieces(parsed: Parsed, start: int, end: int) -> Iterator[SegmentPiece]:
    """Yield the paragraphs of a page, headings on their own, long paragraphs in parts."""
    marked = [begin for begin, _ in parsed.headings]
    for begin, finish in find_paragraphs(parsed.text, start, end):
        at = begin
        for line in _LINE.finditer(parsed.text, begin, finish):
            if is_heading_line(parsed, marked, line.start(), line.end()):
                yield from split_paragraph(parsed.text, at, line.start())
                yield from (
                    structs.replace(each, is_heading=True)
                    for each in split_paragraph(parsed.text, line.start(), line.end())
                )
                at = line.end()
        yield from split_paragraph(parsed.text, at, finish)


def find_paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for gap in _BREAK.finditer(text, start, end):
        yield at, gap.start()
        at = gap.end()
    yield at, end


def is_heading_line(parsed: Parsed, marked: list[int], start: int, end: int) -> bool:
    before = bisect_right(marked, end - 1) - 1
    if before >= 0 and parsed.headings[before][1] > start:
        return True
    return parsed.media == "md" and _MARKED.match(parsed.text, start, end) is not None


def split_paragraph(text: str, start: int, end: int) -> Iterator[SegmentPiece]:
    """Yield a paragraph without the space around it, in parts that each fit into a segment and are not too short."""
    found = _WORD.finditer(text, start, end)
    # Start and end of each; only as many as are needed for the next part.
    words: list[tuple[int, int]] = []
    while True:
        words += [word.span() for word in islice(found, SEGMENT_LIMITS.words + SEGMENT_LIMITS.few_words - len(words))]
        most = count_fitting_words(text, words)
        if most == len(words):
            break
        # So that the rest is not too short.
        if len(words) < most + SEGMENT_LIMITS.few_words:
            most = max(1, min(most, len(words) * 2 // 3))
        cuts = [cut.end() for cut in _SENTENCE_END.finditer(text, words[most // 2][0], words[most - 1][1])]
        if cuts:
            most = next(index for index, (begin, _) in enumerate(words) if begin >= cuts[-1])
        yield SegmentPiece(start=words[0][0], end=words[most - 1][1], words=most)
        words = words[most:]
    if words:
        yield SegmentPiece(start=words[0][0], end=words[-1][1], words=len(words))


def count_fitting_words(text: str, words: list[tuple[int, int]]) -> int:
    """Return how many of the words fit into one segment."""
    if not words:
        return 0
    begin, ends = words[0][0], [end for _, end in words[: SEGMENT_LIMITS.words]]
    count = bisect_right(ends, begin + SEGMENT_LIMITS.characters)
    if ends[count - 1] - begin > SEGMENT_LIMITS.tokens:
        tokens = islice(_TOKEN.finditer(text, begin, ends[count - 1]), SEGMENT_LIMITS.tokens, None)
        beyond = next(tokens, None)
        count = count if beyond is None else bisect_right(ends, beyond.start())
    return count


def clean_heading(line: str) -> str:
    return normalize_whitespace(line.strip().strip("#"))[:200]
