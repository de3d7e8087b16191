"""A table as GitHub's Markdown shows it. Values are text, never markup: what came from the web stays what it is."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from typing import BinaryIO

from tablewright.domain.model import PENDING, Row, Table
from tablewright.formats.tables.sheet import ExportColumn, export_columns


def render_markdown_table(table: Table, max_rows: int = 20) -> str:
    stream = io.BytesIO()
    writer = MarkdownWriter(stream, export_columns(table), max_rows=max_rows)
    writer.write(table.rows)
    writer.close()
    return stream.getvalue().decode()


class MarkdownWriter:
    def __init__(self, stream: BinaryIO, columns: Sequence[ExportColumn], *, max_rows: int | None = None) -> None:
        self._stream = stream
        self._columns = columns
        self._max_rows = max_rows
        self._count = 0
        self._line([escape_markdown(column.name) for column in columns])
        # Numbers are aligned to the right, so that their digits stand below each other.
        self._line(["---:" if column.type in ("number", "money") else "---" for column in columns])

    def write(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self._count += 1
            if self._max_rows is None or self._count <= self._max_rows:
                cells = row.cells
                self._line([escape_markdown(column.text(cells.get(column.field, PENDING))) for column in self._columns])

    def close(self) -> None:
        if self._max_rows is not None and self._count > self._max_rows:
            more = self._count - self._max_rows
            self._stream.write(f"\n… {more:,} more row{'s' if more > 1 else ''}\n".encode())
        self._stream.flush()

    def _line(self, texts: list[str]) -> None:
        self._stream.write(f"| {' | '.join(texts)} |\n".encode("utf-8", "replace"))


def escape_markdown(text: str) -> str:
    # Only what would be read as an entity: "AT&T" stays readable in the source.
    text = re.sub(r"&(?=#?\w+;)", "&amp;", text.strip()).replace("<", "&lt;").replace(">", "&gt;")
    # An underscore inside a word is plain in GitHub's Markdown; escaping it would spoil names such as row_id.
    text = re.sub(r"[\\`*\[\]~|]|(?<!\w)_|_(?!\w)", r"\\\g<0>", text)
    text = re.sub(r"\r\n|[\r\n\x0b\x0c\x85\u2028\u2029]", "<br>", text).replace("\t", " ")
    return re.sub(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]", "\ufffd", text)
