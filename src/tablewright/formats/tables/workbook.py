"""Workbooks (XLSX, XLS, ODS): the sheet to read, its cells as typed values."""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias
from xml.etree import ElementTree

from python_calamine import CalamineSheet, CalamineWorkbook, PasswordError, SheetTypeEnum, SheetVisibleEnum

from tablewright.domain.model import Money
from tablewright.errors import BadFile
from tablewright.formats.tables.archive import SheetSize, measure_sheets
from tablewright.formats.tables.columns import is_empty_value
from tablewright.formats.tables.incoming import Batch, Grid, Incoming, batch_records, survey_grid

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def read_workbook(path: Path, kind: str, *, header: bool, sheet: str | None) -> Incoming:
    sizes = {} if kind == "xls" else measure_sheets(path)
    members = _members_by_name(path, sizes) if kind == "xlsx" else {}
    by_name = {name: sizes[member] for name, member in members.items()}
    with CalamineErrors(path):
        # By its content: from_path goes by the name, and an XLSX is often called .xls
        book = CalamineWorkbook.from_filelike(BytesIO(path.read_bytes()))
    chosen, warnings = _choose_sheet(path, book, sheet, by_name)
    errors = _count_errors(path, kind, book, by_name, sizes).get(chosen.name, 0)
    if errors:
        cells = "1 cell holds an error" if errors == 1 else f"{errors:,} cells hold errors"
        warnings.append(f"{cells} such as #N/A in the sheet '{chosen.name}'; left empty.")
    formats = find_money_cells(path, members[chosen.name]) if chosen.name in members else {}
    grid = Grid(file=path.name, name=path.stem, batches=lambda: _read_batches(chosen, formats))
    return survey_grid(grid, header=header, warnings=warnings)


def _count_errors(
    path: Path, kind: str, book: CalamineWorkbook, by_name: dict[str, SheetSize], sizes: dict[str, SheetSize]
) -> dict[str, int]:
    """Return the number of errors such as #N/A by sheet: calamine reports those cells as empty."""
    if kind == "xls":
        return dict(zip((about.name for about in book.sheets_metadata), count_xls_errors(path), strict=False))
    if kind == "ods":
        return {name: count for size in sizes.values() for name, count in size.errors_in.items()}
    return {name: size.errors for name, size in by_name.items()}


def _read_batches(sheet: CalamineSheet, formats: dict[Place, MoneyFormat]) -> Iterator[Batch]:
    first_column = sheet.start[1] if sheet.start else 0  # calamine gives the empty rows above a table, not the columns
    rows = (
        (line, apply_money_formats(record, line - 1, first_column, formats) if formats else record)
        for line, record in enumerate(sheet.iter_rows(), start=1)
    )
    # A row without a value that has numbers, which are not finite, is missed; a row that is only empty is none.
    return batch_records(rows, sheet.width, lambda record: any(isinstance(value, float) for value in record))


def _choose_sheet(
    path: Path, book: CalamineWorkbook, wanted: str | None, sizes: dict[str, SheetSize]
) -> tuple[CalamineSheet, list[str]]:
    """Return the named sheet, or the first visible one with a value, and warnings about the others."""
    names = [about.name for about in book.sheets_metadata if about.typ == SheetTypeEnum.WorkSheet]
    if wanted is not None:
        name = next((name for name in names if name.strip().casefold() == wanted.strip().casefold()), None)
        if name is None:
            listed = ", ".join(f"'{name}'" for name in names[:30])
            raise BadFile(f"{path.name} has no sheet called '{wanted}'.", advice=f"Its sheets are {listed}.")
        return _open_sheet(path, book, name), []
    visible = [about.name for about in book.sheets_metadata if about.visible == SheetVisibleEnum.Visible]
    chosen: CalamineSheet | None = None
    others = []
    for name in [name for name in names if name in visible]:
        # The archive was measured already, so an empty sheet of an XLSX need not be opened to be passed over.
        if name in sizes and not sizes[name].rows:
            continue
        if chosen is not None and name in sizes:
            others.append(name)
            continue
        sheet = _open_sheet(path, book, name)
        if sheet.height and any(not is_empty_value(value) for record in sheet.iter_rows() for value in record):
            if chosen is None:
                chosen = sheet
            else:
                others.append(name)
    if chosen is None:
        raise BadFile(f"{path.name} is empty: no visible sheet has a value in it.")
    said = []
    if others:
        count = len(others) + 1
        said.append(f"{path.name} has {count} sheets with values; '{chosen.name}' was read. Name another with --sheet.")
    hidden = [name for name in names if name not in visible]
    if hidden:
        sheets = f"The hidden sheet '{hidden[0]}' was" if len(hidden) == 1 else f"{len(hidden):,} hidden sheets were"
        said.append(f"{sheets} not read. Name a sheet with --sheet to read it.")
    return chosen, said


def _members_by_name(path: Path, sizes: dict[str, SheetSize]) -> dict[str, str]:
    """Return the file of each sheet by its name, without those that cannot be resolved."""
    try:
        with zipfile.ZipFile(path) as archive:
            links = {
                link.get("Id"): link.get("Target", "")
                for link in _parse_member(archive, "xl/_rels/workbook.xml.rels").iter()
            }
            link = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
            sheets = [
                (sheet.get("name", ""), links.get(sheet.get(link), ""))
                for sheet in _parse_member(archive, "xl/workbook.xml").iter(f"{_MAIN}sheet")
            ]
    except (KeyError, ElementTree.ParseError, zipfile.BadZipFile):
        return {}
    found = {name: target.lstrip("/") for name, target in sheets if target}
    members = {name: target if target in sizes else str(PurePosixPath("xl") / target) for name, target in found.items()}
    return {name: member for name, member in members.items() if member in sizes}


def _parse_member(archive: zipfile.ZipFile, member: str) -> ElementTree.Element:
    with archive.open(member) as file:
        # The list of sheets and its links are a few kilobytes; a cut XML fails to parse: the sheets are then not named.
        return ElementTree.fromstring(file.read(4 * 1024**2))


def _open_sheet(path: Path, book: CalamineWorkbook, name: str) -> CalamineSheet:
    with CalamineErrors(path):
        return book.get_sheet_by_name(name)


class CalamineErrors:
    """Turns whatever calamine raises, even panics (which are no `Exception`), into BadFile."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is None or isinstance(error, MemoryError):
            return  # too little memory is no fault of the file's form
        if not (isinstance(error, Exception) or type(error).__name__ == "PanicException"):
            return
        if isinstance(error, PasswordError) or "password" in str(error).lower():
            raise BadFile(
                f"{self._path.name} is password-protected.", advice="Save it without a password, then try again."
            ) from None
        raise BadFile(
            f"{self._path.name} is damaged: it cannot be read as a workbook.", advice="Open it and save it again."
        ) from error


# A currency, and whether its amounts have cents.
MoneyFormat: TypeAlias = tuple[str, bool]
# Row and column, from 0.
Place: TypeAlias = tuple[int, int]


def find_money_cells(path: Path, member: str) -> dict[Place, MoneyFormat]:
    """Return the cells of a sheet whose number is an amount of a stated currency; none in a workbook we cannot follow.
    The currency is only in the format, which calamine does not tell."""
    try:
        with zipfile.ZipFile(path) as archive:
            styles = _read_money_styles(archive)
            return _find_cells_with_style(archive, member, styles) if styles else {}
    except (KeyError, ElementTree.ParseError, zipfile.BadZipFile, ValueError):
        return {}


def apply_money_formats(record: list[Any], row: int, first_column: int, formats: dict[Place, MoneyFormat]) -> list[Any]:
    """Return the record with amounts in place of numbers that are formatted as money."""
    return [to_amount(value, formats.get((row, column))) for column, value in enumerate(record, start=first_column)]


def to_amount(value: Any, format: MoneyFormat | None) -> Any:
    if format is None or isinstance(value, bool) or not isinstance(value, int | float) or is_empty_value(value):
        return value
    currency, has_cents = format
    whole = not has_cents and float(value).is_integer()
    return Money(amount=int(value) if whole else float(value), currency=currency)


def parse_currency_format(code: str) -> str:
    """Return the currency that a number format names, or ""."""
    # "GBP" or [$GBP] or [$£-809]; a dollar or yen sign alone does not say which.
    if found := re.search(r'"\s*([A-Z]{3})\s*"|\[\$([A-Z]{3})(?:-[0-9A-Fa-f]+)?\]', code):
        return found[1] or found[2]
    if found := re.search(r'"\s*([€£])\s*"|\[\$([€£])(?:-[0-9A-Fa-f]+)?\]|([€£])', code):
        return "EUR" if "€" in found[0] else "GBP"
    return ""


def _read_money_styles(archive: zipfile.ZipFile) -> dict[str, MoneyFormat]:
    """Return the money formats by the style number that cells refer to."""
    with archive.open("xl/styles.xml") as file:
        # Workbooks copied together for years collect tens of thousands of styles; a cut one only loses currencies.
        tree = ElementTree.fromstring(file.read(16 * 1024**2))
    codes = {each.get("numFmtId"): each.get("formatCode", "") for each in tree.iter(f"{_MAIN}numFmt")}
    formats = {
        number: (currency, "." in code) for number, code in codes.items() if (currency := parse_currency_format(code))
    }
    used = tree.find(f"{_MAIN}cellXfs")
    # Cells refer to a style by its place in cellXfs, not by the format's own number.
    styles = enumerate(used if used is not None else ())
    return {str(at): formats[style.get("numFmtId")] for at, style in styles if style.get("numFmtId") in formats}


def _find_cells_with_style(
    archive: zipfile.ZipFile, member: str, styles: dict[str, MoneyFormat]
) -> dict[Place, MoneyFormat]:
    places: dict[Place, MoneyFormat] = {}
    with archive.open(member) as file:
        for _, element in ElementTree.iterparse(file):
            if element.tag == f"{_MAIN}c":
                format = styles.get(element.get("s", ""))
                if format is not None:
                    places[_parse_reference(element.get("r", ""))] = format
            # Frees the row as soon as it was read: iterparse would keep the whole sheet.
            elif element.tag == f"{_MAIN}row":
                element.clear()
    return places


def _parse_reference(reference: str) -> Place:
    """Return row and column of a reference: (2, 1) for "B3"."""
    found = re.fullmatch(r"([A-Z]{1,3})([0-9]+)", reference)
    if found is None:
        raise ValueError(reference)
    column = 0
    for letter in found[1]:
        column = column * 26 + ord(letter) - ord("A") + 1
    return int(found[2]) - 1, column - 1


# From here on sector numbers are marks (end of chain, free, table), not places.
_END_OF_CHAIN = 0xFFFFFFF0
# Record types of BIFF8, the format of sheets in .xls.
_BOF, _EOF, _SHEET, _FORMULA, _BOOLEAN_OR_ERROR = 0x809, 0x0A, 0x85, 0x06, 0x205


def count_xls_errors(path: Path) -> list[int]:
    """Return how many cells of each sheet of an .xls hold an error such as #N/A, which calamine gives as if they were
    empty; nothing where the file cannot be followed, for calamine has read it already."""
    try:
        stream = CompoundFile(path.read_bytes()).workbook()
        offsets = [
            struct.unpack_from("<I", body)[0] for kind, body in _iterate_biff_records(stream, 0) if kind == _SHEET
        ]
        return [
            sum(_is_error_record(*record) for record in _iterate_biff_records(stream, offset)) for offset in offsets
        ]
    except (struct.error, IndexError, ValueError):
        return []


def _iterate_biff_records(stream: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """Yield the records of a sheet up to its end, with those of its charts."""
    depth = 0
    while True:
        kind, length = struct.unpack_from("<HH", stream, at)
        yield kind, stream[at + 4 : at + 4 + length]
        at += 4 + length
        depth += (kind == _BOF) - (kind == _EOF)
        if depth <= 0:
            return


def _is_error_record(kind: int, body: bytes) -> bool:
    if kind == _BOOLEAN_OR_ERROR:
        # Byte 7 of a BoolErr record says which of the two byte 6 holds.
        return body[7] == 1
    # A result that is no number: 0xFFFF ends it, and its first byte is 2 for an error.
    return kind == _FORMULA and body[12:14] == b"\xff\xff" and body[6] == 2


class CompoundFile:
    """The file system inside an .xls file; its stream "Workbook" is a sequence of records, sheet after sheet."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        # Sector size as a power of two at byte 30: 512 in version 3 of the format, 4096 in version 4.
        self._size = 1 << struct.unpack_from("<H", data, 30)[0]
        if self._size not in (512, 4096):
            raise ValueError(self._size)
        per_sector = self._size // 4
        # More allocation tables than the file has sectors would be a lie of the header; the excess is not followed.
        needed = len(data) // self._size // per_sector + 1
        # The header has room for the first 109 table numbers, from byte 76.
        fats = [*struct.unpack_from("<109I", data, 76)]
        # Byte 68: the first sector of further table numbers, and how many of those sectors follow.
        more, count = struct.unpack_from("<II", data, 68)
        for _ in range(min(count, needed)):
            *found, more = struct.unpack(f"<{per_sector}I", self._sector(more))
            fats += found
        used = [sector for sector in fats if sector < _END_OF_CHAIN][:needed]
        self._fat = [entry for sector in used for entry in struct.unpack(f"<{per_sector}I", self._sector(sector))]

    def workbook(self) -> bytes:
        directory = self._chain(struct.unpack_from("<I", self._data, 48)[0])
        # An entry has 128 bytes: the name in 64 bytes, its length at 64, the first sector and the size at 116.
        for at in range(0, len(directory), 128):
            name = directory[at : at + struct.unpack_from("<H", directory, at + 64)[0]]
            # "Book" is the stream of Excel 5 and 95; some programs write capitals.
            if name.decode("utf-16-le", "replace").capitalize() in ("Workbook\0", "Book\0"):
                start, size = struct.unpack_from("<II", directory, at + 116)
                return self._chain(start)[:size]
        raise ValueError("no workbook")

    def _chain(self, sector: int) -> bytes:
        found: list[bytes] = []
        while sector < _END_OF_CHAIN:
            # A chain longer than the table that links it is a circle.
            if len(found) > len(self._fat):
                raise ValueError("it goes round in a circle")
            found.append(self._sector(sector))
            sector = self._fat[sector]
        return b"".join(found)

    def _sector(self, number: int) -> bytes:
        """Return a sector; number 0 follows the header."""
        return self._data[(number + 1) * self._size : (number + 2) * self._size]
