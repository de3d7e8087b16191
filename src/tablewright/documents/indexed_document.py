"""Index a parsed file: segments, summaries, annotations, kind. Runs in a worker process, without model or store."""

from __future__ import annotations

from pathlib import Path

from tablewright.documents.annotate.annotate import annotate_parsed, derive_categories, kind_by_format
from tablewright.documents.parse.parser import Parser, parse_document, parse_file, read_bounded_file
from tablewright.documents.segment import split_into_segments
from tablewright.documents.summarise import summarise_segments
from tablewright.documents.title_kinds import find_document_heading
from tablewright.domain.documents import Annotation, Category, Segment, Summary
from tablewright.domain.model import Struct
from tablewright.extraction.layout.draft import Parsed


class IndexedDocument(Struct, frozen=True, gc=True):
    parsed: Parsed
    segments: tuple[Segment, ...]
    summaries: tuple[Summary, ...]
    annotations: tuple[Annotation, ...]
    kind: str
    heading: str
    categories: tuple[Category, ...]


def index_file(path: str, size: int) -> IndexedDocument:
    """Parse and index a file of at most `size` bytes."""
    return index_document(parse_file(path, size))


def index_file_with_parser(parser: Parser, path: Path, size: int) -> IndexedDocument:
    """Parse and index a file with a parser of the caller's own, which only this process has."""
    return index_document(parse_document(read_bounded_file(path, size), path.name, parser))


def index_document(parsed: Parsed) -> IndexedDocument:
    annotations = annotate_parsed(parsed)
    segments = split_into_segments(parsed)
    return IndexedDocument(
        parsed=parsed,
        segments=segments,
        summaries=summarise_segments(parsed, segments),
        annotations=annotations,
        kind=kind_by_format(parsed),
        heading=find_document_heading(parsed, annotations),
        categories=derive_categories(parsed, annotations),
    )
