"""Check a zipped workbook before any library opens it: zip bombs, sheet sizes, the order of cells.

Every member is inflated through a counter, because the sizes that a zip file declares can lie. The sheets are measured
on the way: calamine holds a sheet as one dense block, so two cells in opposite corners would take all memory.
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
from tablewright.formats.tables.limits import TABLE_LIMITS

# The two compression methods of workbooks, as numbered in the zip format.
STORED, DEFLATED = 0, 8
# The signature, and after 22 bytes that the directory repeats, the lengths of the name and of the extra field.
_LOCAL_HEADER = struct.Struct("<4s22xHH")


@dataclass
class SheetSize:
    """The extent of the filled cells of a sheet, and how many hold an error such as #N/A."""

    rows: int = 0
    columns: int = 0
    errors: int = 0
    disordered: bool = False
    """True if two cells claim the same place: only the last one would be read."""
    errors_in: Counter[str] = field(default_factory=Counter)
    """Errors by sheet name in an ODS, whose sheets are in one file."""

    def reach(self, row: int, column: int) -> None:
        self.rows = max(self.rows, row)
        self.columns = max(self.columns, column)


def measure_sheets(path: Path) -> dict[str, SheetSize]:
    """Inflate the whole archive without keeping it; return the size of each sheet by the name of its member."""
    sizes: dict[str, SheetSize] = {}
    total = 0
    packed = path.stat().st_size
    with zipfile.ZipFile(path) as archive, path.open("rb") as file:
        members = archive.infolist()
        if len(members) > TABLE_LIMITS.zip_members:
            raise BadFile(f"{path.name} holds {len(members):,} parts; no workbook has so many.")
        for member in members:
            measure = _choose_meter(member.filename)
            for chunk in _inflate_member(path, file, member):
                total += len(chunk)
                if total > TABLE_LIMITS.unzipped_bytes:
                    raise _zip_bomb_error(path, f"more than {TABLE_LIMITS.unzipped_bytes // 1024**3} GB")
                # Sheets with many equal cells compress very well, so the ratio counts only above a size that does no
                # harm.
                if total > TABLE_LIMITS.unzip_free_bytes and total > packed * TABLE_LIMITS.unzip_ratio:
                    raise _zip_bomb_error(path, f"more than {TABLE_LIMITS.unzip_ratio} times its size")
                if measure is not None:
                    measure.feed(chunk)
                    _check_sheet_area(path, measure.size)
                    _check_cell_order(path, measure.size)
            if measure is not None:
                sizes[member.filename] = measure.size
    return sizes


def _zip_bomb_error(path: Path, size: str) -> BadFile:
    return BadFile(
        f"{path.name} unpacks to {size}, as only a zip bomb or a broken file does; it was not opened.",
        advice="If it is a real workbook, save the sheet as CSV.",
    )


def _check_sheet_area(path: Path, size: SheetSize) -> None:
    if size.rows * size.columns > TABLE_LIMITS.sheet_cells:
        raise BadFile(
            f"{path.name} has a sheet of {size.rows:,} rows by {size.columns:,} columns, too large to open.",
            advice="Delete stray cells far from the table, or save the sheet as CSV.",
        )


def _check_cell_order(path: Path, size: SheetSize) -> None:
    if size.disordered:
        raise BadFile(
            f"{path.name} is damaged: it has two rows with the same number, or two cells in the same place.",
            advice="Open it and save it again.",
        )


def _inflate_member(path: Path, file: IO[bytes], member: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the content of a member, as far as its compressed bytes really go."""
    # Bit 0 of the flags marks an encrypted member.
    if member.flag_bits & 1:
        raise BadFile(f"{path.name} is password-protected.", advice="Save it without a password, then try again.")
    if member.compress_type not in (STORED, DEFLATED):
        raise BadFile(f"{path.name} is packed in a way no workbook is ({member.filename}).")
    file.seek(member.header_offset)
    header = file.read(_LOCAL_HEADER.size)
    if len(header) < _LOCAL_HEADER.size or not header.startswith(b"PK\x03\x04"):
        raise _damaged_archive_error(path)
    # The local header's own lengths: the extra field may differ from that of the directory.
    _, name_length, extra_length = _LOCAL_HEADER.unpack(header)
    file.seek(name_length + extra_length, 1)
    left = member.compress_size
    # Negative: a raw deflate stream without the zlib header, as zip files hold it.
    inflater = zlib.decompressobj(-zlib.MAX_WBITS) if member.compress_type == DEFLATED else None
    while left > 0 and not (inflater and inflater.eof):
        data = file.read(min(TABLE_LIMITS.inflated_bytes, left))
        if not data:
            raise _damaged_archive_error(path)
        left -= len(data)
        if inflater is None:
            yield data
            continue
        try:
            while data and not inflater.eof:
                yield inflater.decompress(data, TABLE_LIMITS.inflated_bytes)
                data = inflater.unconsumed_tail
        except zlib.error:
            raise _damaged_archive_error(path) from None
    if inflater is not None and not inflater.eof:
        raise _damaged_archive_error(path)


def _damaged_archive_error(path: Path) -> BadFile:
    return BadFile(f"{path.name} is damaged or cut short: it cannot be unpacked.", advice="Save or download it again.")


class SheetMeter:
    """Reads the tags of a sheet while its text streams by."""

    def __init__(self) -> None:
        self.size = SheetSize()
        self._rest = b""

    def feed(self, chunk: bytes) -> None:
        text = self._rest + chunk
        end = text.rfind(b">") + 1
        # An unfinished tag waits for the next chunk; a "tag" longer than a chunk is none, and must not grow without
        # end.
        self._rest = text[end:][-TABLE_LIMITS.inflated_bytes :]
        self._read(text[:end])

    def _read(self, tags: bytes) -> None:
        raise NotImplementedError


class XlsxMeter(SheetMeter):
    def __init__(self) -> None:
        super().__init__()
        self._row = self._column = 0
        self._columns: dict[bytes, int] = {}
        self._seen: set[int] = set()

    def _read(self, tags: bytes) -> None:
        self.size.errors += len(re.findall(rb"\st\s*=\s*[\"']e[\"']", tags))
        row, column, columns, seen = self._row, self._column, self._columns, self._seen
        last_row, last_column = self.size.rows, self.size.columns
        # A row or cell of a sheet: (is a row, column letters, row number, nothing inside)
        for is_row, letters, digits, closed in re.findall(
            rb"<(?:[\w.-]+:)?(?:(row)|c)(?=[\s/>])(?:[^<>]*?\sr\s*=\s*[\"']([A-Za-z]{0,3})([0-9]{1,7})[\"'])?[^<>]*?(/?)>",
            tags,
        ):
            if is_row:
                row, column = (int(digits) if digits else row + 1), 0
                if row in seen:
                    self.size.disordered = True
                seen.add(row)
                continue
            if letters:
                at = columns.get(letters) or columns.setdefault(letters, _parse_column_letters(letters))
                # Excel writes cells in order; two at one place are how a file hides a value from readers that keep the
                # other one.
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


class OdsMeter(SheetMeter):
    """All tables of the document together: each is no larger than what is measured here."""

    def __init__(self) -> None:
        super().__init__()
        self._row = self._repeated = self._column = 0
        self._name = ""

    def _read(self, tags: bytes) -> None:
        for tag, attributes, closed in re.findall(
            rb"<table:(table|table-row|table-cell|covered-table-cell)(?=[\s/>])([^<>]*?)(/?)>", tags
        ):
            match = re.search(rb"number-(?:rows|columns)-repeated\s*=\s*[\"']([0-9]{1,9})", attributes)
            repeated = int(match[1]) if match else 1
            if tag == b"table":
                self._row = self._repeated = self._column = 0
                name = re.search(rb"table:name\s*=\s*[\"']([^\"']*)", attributes)
                self._name = unescape(name[1].decode("utf-8", "replace")) if name else ""
            elif tag == b"table-row":
                self._row += self._repeated
                self._repeated, self._column = repeated, 0
            else:
                self._column += repeated
                if re.search(rb"calcext:value-type\s*=\s*[\"']error", attributes):
                    self.size.errors_in[self._name] += 1
                # Spreadsheets fill a sheet up to its last row with one empty cell that is repeated a million times.
                if not closed or b"value" in attributes:
                    self.size.reach(self._row + self._repeated, self._column)


def _choose_meter(member: str) -> SheetMeter | None:
    if member.startswith("xl/worksheets/") and member.endswith(".xml"):
        return XlsxMeter()
    return OdsMeter() if member == "content.xml" else None


def _parse_column_letters(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number
