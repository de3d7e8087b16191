"""A zipped workbook, looked through before any library opens it.

Every member is really inflated, through a counter, because the sizes a zip file declares can lie. On the way the
sheets are measured: calamine holds a sheet as one dense block, so two cells in opposite corners would take all memory.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import IO

from tablewright.errors import BadFile
from tablewright.formats.tables.limits import (
    MAX_SHEET_CELLS,
    MAX_UNZIPPED_BYTES,
    MAX_ZIP_MEMBERS,
    UNZIP_RATIO,
    UNZIP_RATIO_FREE_BYTES,
)

CHUNK = 256 * 1024
STORED, DEFLATED = 0, 8
_LOCAL_HEADER = struct.Struct("<4s22xHH")
# A row or cell of a sheet: (is a row, column letters, row number, nothing inside)
_XLSX_TAG = re.compile(
    rb"<(?:[\w.-]+:)?(?:(row)|c)(?=[\s/>])(?:[^<>]*?\sr\s*=\s*[\"']([A-Za-z]{0,3})([0-9]{1,7})[\"'])?[^<>]*?(/?)>"
)
_XLSX_ERROR = re.compile(rb"\st\s*=\s*[\"']e[\"']")
_ODS_TAG = re.compile(rb"<table:(table|table-row|table-cell|covered-table-cell)(?=[\s/>])([^<>]*?)(/?)>")
_ODS_NAME = re.compile(rb"table:name\s*=\s*[\"']([^\"']*)")
_ODS_ERROR = re.compile(rb"calcext:value-type\s*=\s*[\"']error")
_ODS_REPEATED = re.compile(rb"number-(?:rows|columns)-repeated\s*=\s*[\"']([0-9]{1,9})")


@dataclass
class SheetSize:
    """How far the filled cells of a sheet reach, and how many of them hold an error such as #N/A."""

    rows: int = 0
    columns: int = 0
    errors: int = 0
    disordered: bool = False
    """Whether cells claim the same place, of which only the last would be read."""
    errors_in: Counter[str] = field(default_factory=Counter)
    """Of an ODS, whose sheets are in one file: by the sheet's name."""

    def reach(self, row: int, column: int) -> None:
        self.rows = max(self.rows, row)
        self.columns = max(self.columns, column)


def look_through(path: Path) -> dict[str, SheetSize]:
    """Inflates the whole archive without keeping it. Returns the size of each sheet by the name of its member."""
    sizes: dict[str, SheetSize] = {}
    total = 0
    packed = path.stat().st_size
    with zipfile.ZipFile(path) as archive, path.open("rb") as file:
        members = archive.infolist()
        if len(members) > MAX_ZIP_MEMBERS:
            raise BadFile(f"{path.name} holds {len(members):,} parts; no workbook has so many.")
        for member in members:
            measure = _measure_for(member.filename)
            for chunk in _inflated(path, file, member):
                total += len(chunk)
                if total > MAX_UNZIPPED_BYTES:
                    raise _bomb(path, f"more than {MAX_UNZIPPED_BYTES // 1024**3} GB")
                if total > UNZIP_RATIO_FREE_BYTES and total > packed * UNZIP_RATIO:
                    raise _bomb(path, f"more than {UNZIP_RATIO} times its size")
                if measure is not None:
                    measure.feed(chunk)
                    _check_area(path, measure.size)
                    _check_order(path, measure.size)
            if measure is not None:
                sizes[member.filename] = measure.size
    return sizes


def _bomb(path: Path, size: str) -> BadFile:
    return BadFile(
        f"{path.name} unpacks to {size}, as only a zip bomb or a broken file does; it was not opened.",
        advice="If it is a real workbook, save the sheet as CSV.",
    )


def _check_area(path: Path, size: SheetSize) -> None:
    if size.rows * size.columns > MAX_SHEET_CELLS:
        raise BadFile(
            f"{path.name} has a sheet of {size.rows:,} rows by {size.columns:,} columns, too large to open.",
            advice="Delete stray cells far from the table, or save the sheet as CSV.",
        )


def _check_order(path: Path, size: SheetSize) -> None:
    if size.disordered:
        raise BadFile(
            f"{path.name} is damaged: it has two rows with the same number, or two cells in the same place.",
            advice="Open it and save it again.",
        )


def _inflated(path: Path, file: IO[bytes], member: zipfile.ZipInfo) -> Iterator[bytes]:
    """The content of a member, as far as its compressed bytes really go."""
    if member.flag_bits & 1:
        raise BadFile(f"{path.name} is password-protected.", advice="Save it without a password, then try again.")
    if member.compress_type not in (STORED, DEFLATED):
        raise BadFile(f"{path.name} is packed in a way no workbook is ({member.filename}).")
    file.seek(member.header_offset)
    header = file.read(_LOCAL_HEADER.size)
    if len(header) < _LOCAL_HEADER.size or not header.startswith(b"PK\x03\x04"):
        raise _damaged(path)
    _, name_length, extra_length = _LOCAL_HEADER.unpack(header)
    file.seek(name_length + extra_length, 1)
    left = member.compress_size
    inflater = zlib.decompressobj(-zlib.MAX_WBITS) if member.compress_type == DEFLATED else None
    while left > 0 and not (inflater and inflater.eof):
        data = file.read(min(CHUNK, left))
        if not data:
            raise _damaged(path)
        left -= len(data)
        if inflater is None:
            yield data
            continue
        try:
            while data and not inflater.eof:
                yield inflater.decompress(data, CHUNK)
                data = inflater.unconsumed_tail
        except zlib.error:
            raise _damaged(path) from None
    if inflater is not None and not inflater.eof:
        raise _damaged(path)


def _damaged(path: Path) -> BadFile:
    return BadFile(f"{path.name} is damaged or cut short: it cannot be unpacked.", advice="Save or download it again.")


class _Measure:
    """Reads the tags of a sheet as its text streams by."""

    def __init__(self) -> None:
        self.size = SheetSize()
        self._rest = b""

    def feed(self, chunk: bytes) -> None:
        text = self._rest + chunk
        end = text.rfind(b">") + 1
        self._rest = text[end:][-CHUNK:]
        self._read(text[:end])

    def _read(self, tags: bytes) -> None:
        raise NotImplementedError


class _XlsxMeasure(_Measure):
    def __init__(self) -> None:
        super().__init__()
        self._row = self._column = 0
        self._columns: dict[bytes, int] = {}
        self._seen: set[int] = set()

    def _read(self, tags: bytes) -> None:
        self.size.errors += len(_XLSX_ERROR.findall(tags))
        row, column, columns, seen = self._row, self._column, self._columns, self._seen
        last_row, last_column = self.size.rows, self.size.columns
        for is_row, letters, digits, closed in _XLSX_TAG.findall(tags):
            if is_row:
                row, column = (int(digits) if digits else row + 1), 0
                if row in seen:
                    self.size.disordered = True
                seen.add(row)
                continue
            if letters:
                at = columns.get(letters) or columns.setdefault(letters, _column_number(letters))
                if int(digits) != row or at <= column:
                    self.size.disordered = True
                row, column = int(digits), at
            else:
                column += 1
            if not closed:
                if row > last_row:
                    last_row = row
                if column > last_column:
                    last_column = column
        self._row, self._column = row, column
        self.size.reach(last_row, last_column)


class _OdsMeasure(_Measure):
    """All tables of the document together: each is no larger than what is measured here."""

    def __init__(self) -> None:
        super().__init__()
        self._row = self._repeated = self._column = 0
        self._name = ""

    def _read(self, tags: bytes) -> None:
        for tag, attributes, closed in _ODS_TAG.findall(tags):
            match = _ODS_REPEATED.search(attributes)
            repeated = int(match[1]) if match else 1
            if tag == b"table":
                self._row = self._repeated = self._column = 0
                name = _ODS_NAME.search(attributes)
                self._name = unescape(name[1].decode("utf-8", "replace")) if name else ""
            elif tag == b"table-row":
                self._row += self._repeated
                self._repeated, self._column = repeated, 0
            else:
                self._column += repeated
                if _ODS_ERROR.search(attributes):
                    self.size.errors_in[self._name] += 1
                if not closed or b"value" in attributes:
                    self.size.reach(self._row + self._repeated, self._column)


def _measure_for(member: str) -> _Measure | None:
    if member.startswith("xl/worksheets/") and member.endswith(".xml"):
        return _XlsxMeasure()
    return _OdsMeasure() if member == "content.xml" else None


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number
