"""All that is worked out of a parsed file without asking anybody; it runs in a worker process."""

from __future__ import annotations

from pathlib import Path

from tablewright.corpus.annotate.annotate import annotate, categories_of, kind_of
from tablewright.corpus.parse.parser import Parser, parse, parse_file, read_file
from tablewright.corpus.segment import segments_of
from tablewright.corpus.summarise import summaries_of
from tablewright.corpus.title_kinds import heading_of
from tablewright.domain.corpus import Annotation, Category, Segment, Summary
from tablewright.domain.model import Noun
from tablewright.extraction.layout.draft import Parsed


class Digest(Noun, frozen=True, gc=True):
    parsed: Parsed
    segments: tuple[Segment, ...]
    summaries: tuple[Summary, ...]
    annotations: tuple[Annotation, ...]
    kind: str
    heading: str
    categories: tuple[Category, ...]


def digest_file(path: str, size: int) -> Digest:
    """`size` is how many bytes it may have."""
    return digest(parse_file(path, size))


def digest_with(parser: Parser, path: Path, size: int) -> Digest:
    """With a parser of the caller's own, which only this process has."""
    return digest(parse(read_file(path, size), path.name, parser))


def digest(parsed: Parsed) -> Digest:
    annotations = annotate(parsed)
    segments = segments_of(parsed)
    return Digest(
        parsed=parsed,
        segments=segments,
        summaries=summaries_of(parsed, segments),
        annotations=annotations,
        kind=kind_of(parsed),
        heading=heading_of(parsed, annotations),
        categories=categories_of(parsed, annotations),
    )
