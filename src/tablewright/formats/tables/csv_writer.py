"""CSV and TSV as RFC 4180 has them: UTF-8 without a byte-order mark, lines end in CRLF.

Any value that holds one of the separators a reader may try, or begins or ends oddly, is quoted, so that our own reader
(and others that guess) find the right separator even in a table of one column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import BinaryIO

from tablewright.domain.model import PENDING, Row
from tablewright.formats.tables.formula import escape
from tablewright.formats.tables.sheet import ShownColumn

_CARE = re.compile(r"""[,;|"\x00-\x1f]|^[\W_]|\s\Z""")
_QUOTED = re.compile(r"""[,;|"\x00-\x1f\x85\u2028\u2029]|^[\s'\ufeff]|\s\Z""")
BUFFER_ROWS = 1000


class CsvWriter:
    def __init__(self, stream: BinaryIO, columns: Sequence[ShownColumn], *, delimiter: str = ",") -> None:
        self._stream = stream
        self._columns = [(column.field, column.text) for column in columns]
        self._delimiter = delimiter
        self._put([self._line([column.name for column in columns])])

    def write(self, rows: Iterable[Row]) -> None:
        lines: list[str] = []
        for row in rows:
            cells = row.cells
            lines.append(self._line([text(cells.get(field, PENDING)) for field, text in self._columns]))
            if len(lines) == BUFFER_ROWS:
                self._put(lines)
                lines = []
        self._put(lines)

    def close(self) -> None:
        self._stream.flush()

    def _line(self, texts: list[str]) -> str:
        line = self._delimiter.join([_written(text) if _CARE.search(text) else text for text in texts])
        return line or '""'  # a blank line would be no row at all

    def _put(self, lines: list[str]) -> None:
        if lines:
            self._stream.write(("\r\n".join(lines) + "\r\n").encode("utf-8", "replace"))


def _written(text: str) -> str:
    text = escape(text.replace("\0", "\ufffd"))
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
