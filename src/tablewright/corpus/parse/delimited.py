"""CSV and its kin: one table, a line for each row."""

from __future__ import annotations

import csv

from tablewright.corpus.parse import text as plain_text
from tablewright.extraction.layout.draft import Parsed, TextDraft, names_columns
from tablewright.formats.tables.delimited import ONE_COLUMN, read_records
from tablewright.sources.read.reader import decode
from tablewright.text import one_line


def parse(content: bytes, name: str) -> Parsed:
    text = decode(content).replace("\0", "")
    tabs = name.lower().endswith((".tsv", ".tab"))
    dialect, records = read_records(text, tabs=tabs)
    if dialect.delimiter == ONE_COLUMN:
        return plain_text.parse(content, name)
    draft = TextDraft()
    first: list[list[str]] = []
    try:
        for record in records:
            draft.row(record)
            if len(first) < 2 and any(map(str.strip, record)):
                first.append([one_line(cell) for cell in record])
            if draft.is_full:
                break
    except csv.Error as error:
        draft.notes.append(f"It was read only as far as it is well formed ({error}).")
    draft.end_table(head=names_columns(first))
    return draft.done("tsv" if dialect.delimiter == "\t" else "csv")
