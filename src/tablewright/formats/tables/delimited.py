"""CSV, TSV and their kin: quoted fields, any line end, a separator that is found out."""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import TYPE_CHECKING

from tablewright.domain.model import Cell, given
from tablewright.errors import BadFile
from tablewright.formats.tables.decode import Text
from tablewright.formats.tables.dialect import sniff
from tablewright.formats.tables.formula import unescape
from tablewright.formats.tables.grid import Batch, Grid, survey
from tablewright.formats.tables.incoming import Incoming
from tablewright.formats.tables.limits import BATCH_CELLS, BATCH_CHARS, MAX_FIELD_CHARS
from tablewright.formats.tables.text_column import TextColumn

SAMPLE_CHARS = 256 * 1024
# One more line after the last. It comes back as a record of its own unless a quoted field swallowed it, which is how an
# unclosed quote shows: the csv module itself says nothing. No text has NULs (`Text` refused them).
END = "\0"
_LINE_END = re.compile(r"\r\n|\r|\n")

if TYPE_CHECKING:
    from _csv import Reader


def read_delimited(text: Text, *, header: bool, delimiter: str | None) -> Incoming:
    file = Delimited(text, delimiter)
    grid = Grid(
        file=text.path.name,
        name=text.path.stem,
        batches=file.batches,
        # Who writes decimal commas separates with semicolons: between quoted commas, "1,234" is a thousand.
        column=lambda: TextColumn(_text_cell, commas_group=file.dialect.delimiter == ","),
        header_text=unescape,
        is_empty=lambda value: not value.strip(),
        empty="",
    )
    return survey(grid, header=header, warnings=(*text.warnings, *file.loose_quotes()))


class Delimited:
    def __init__(self, text: Text, delimiter: str | None = None) -> None:
        self.text = text
        with text.open() as lines:
            sample = lines.read(SAMPLE_CHARS)
            whole = not lines.read(1)
        self.dialect = sniff(
            sample, whole=whole, delimiter=delimiter, tabs=text.path.suffix.lower() in (".tsv", ".tab")
        )

    def batches(self) -> Iterator[Batch]:
        """Records of the file, a few thousand at a time: at most BATCH_CELLS cells or about BATCH_CHARS characters."""
        records: list[Sequence[str]] = []
        starts: list[int] = []
        cells = chars = 0
        with self._lines() as lines:
            reader = self._reader(chain(lines, [END]))
            start = 0
            try:
                for record in reader:
                    if any(map(str.strip, record)):
                        if cells >= BATCH_CELLS or chars >= BATCH_CHARS:
                            yield Batch(records=records, lines=starts)
                            records, starts, cells, chars = [], [], 0, 0
                        records.append(record)
                        starts.append(start + self._first_line)
                        cells += len(record)
                        chars += sum(map(len, record))
                    start = reader.line_num
            except csv.Error:
                raise self._too_long(start) from None
        last = records.pop()
        if last != [END]:
            raise self._unclosed(_opened(last, reader.line_num + self._first_line - 1))
        yield Batch(records=records, lines=starts[:-1])

    def loose_quotes(self) -> list[str]:
        """Where text follows a closing quote, as in `"Ada" Lovelace`, the csv module drops the quotes and says
        nothing, unless it is told to be strict."""
        with self._lines() as lines:
            reader = csv.reader(lines, strict=True, **self.dialect.reader_options())  # type: ignore[arg-type]
            try:
                deque(reader, maxlen=0)
            except csv.Error as error:
                if "expected after" in str(error):
                    line = reader.line_num + self._first_line - 1
                    return [f"Line {line:,} has text after a closing quote; such values are read without their quotes."]
        return []

    @property
    def _first_line(self) -> int:
        return 1 + self.dialect.skip_lines

    @contextmanager
    def _lines(self) -> Iterator[Iterable[str]]:
        with self.text.open() as lines:
            yield islice(lines, self.dialect.skip_lines, None)

    def _reader(self, lines: Iterable[str]) -> Reader:
        csv.field_size_limit(MAX_FIELD_CHARS)  # of the whole process; the csv module knows no other way
        return csv.reader(lines, **self.dialect.reader_options())  # type: ignore[arg-type]

    def _unclosed(self, line: int) -> BadFile:
        return BadFile(
            f"{self.text.path.name} has a quote ({self.dialect.quote}) opened in line {line:,} that is never closed.",
            advice="Close it there, or write it twice if it belongs to the text.",
        )

    def _too_long(self, start: int) -> BadFile:
        """A field beyond the limit, in the record after line `start`: an unclosed quote most of the time."""
        with self._lines() as lines:
            first = list(islice(lines, start, start + 100))
            more = next(iter(lines), None) is not None
        line = start + self._first_line
        if more:
            try:
                record = next(self._reader([*first, END]))
            except csv.Error:
                record = []
            if record and record[-1].endswith(END):
                return self._unclosed(_opened(record, line + len(first)))
        size = MAX_FIELD_CHARS // 1024**2
        return BadFile(f"{self.text.path.name} has a value of more than {size} million characters in line {line:,}.")


def _text_cell(text: str) -> Cell:
    return given(unescape(text) if text[0] == "'" else text)


def _opened(record: Sequence[str], last_line: int) -> int:
    """The line in which the last value of a record begins, if the record ends in `last_line`."""
    return last_line - len(_LINE_END.findall(record[-1]))
