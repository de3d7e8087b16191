"""CSV and its kin: one table, a line for each row."""

from __future__ import annotations

import csv
import io

from tablewright.corpus.parse import text as plain_text
from tablewright.extraction.layout.draft import TextDraft, names_columns
from tablewright.extraction.layout.parsed import Parsed
from tablewright.formats.tables.delimited import ONE_COLUMN, sniff
from tablewright.formats.tables.limits import MAX_FIELD_CHARS
from tablewright.sources.read.decode import decode
from tablewright.text.characters import one_line

SAMPLE_CHARS = 256 * 1024


def parse(content: bytes, name: str) -> Parsed:
    text = decode(content).replace("\0", "")
    tabs = name.lower().endswith((".tsv", ".tab"))
    dialect = sniff(text[:SAMPLE_CHARS], whole=len(text) <= SAMPLE_CHARS, tabs=tabs)
    if dialect.delimiter == ONE_COLUMN:
        return plain_text.parse(content, name)
    stream = io.StringIO(text, newline="")
    for _ in range(dialect.skip_lines):
        stream.readline()
    csv.field_size_limit(MAX_FIELD_CHARS)
    draft = TextDraft()
    first: list[list[str]] = []
    try:
        for record in csv.reader(stream, **dialect.reader_options()):  # type: ignore[arg-type]
            draft.row(record)
            if len(first) < 2 and any(map(str.strip, record)):
                first.append([one_line(cell) for cell in record])
            if draft.is_full:
                break
    except csv.Error as error:
        draft.notes.append(f"It was read only as far as it is well formed ({error}).")
    draft.end_table(head=names_columns(first))
    return draft.done("tsv" if dialect.delimiter == "\t" else "csv")
