"""Read a table file: detect its kind by its first bytes, or by its name if they do not tell, and read all of it.

A file that could crash its reader or fill its memory is read in a worker process, which writes the rows to a spool
file.
"""

from __future__ import annotations

import mmap
import re
import struct
import zipfile
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias, get_args

import msgspec
from msgspec import structs

from tablewright.domain.model import PENDING, Cell, Value, make_given_cell
from tablewright.errors import BadFile
from tablewright.formats.tables.decode import open_text
from tablewright.formats.tables.delimited import read_delimited
from tablewright.formats.tables.incoming import CellBatches, Incoming, TableOutline
from tablewright.formats.tables.json_tables import read_json_table
from tablewright.formats.tables.limits import TABLE_LIMITS
from tablewright.formats.tables.parquet import read_parquet
from tablewright.formats.tables.workbook import read_workbook
from tablewright.text import detect_unmarked_utf16, is_utf8


def read_table(
    path: Path,
    *,
    header: bool = True,
    sheet: str | None = None,
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
) -> Incoming:
    """Read the whole file once; options that are None are detected. Raise BadFile if anything about it is wrong."""
    try:
        before = _read_file_stamp(path)
        incoming = _read_by_kind(path, header, sheet, format, delimiter, encoding)
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}.") from error

    def batches() -> CellBatches:
        if _read_file_stamp(path) != before:
            raise BadFile(f"{path.name} was changed while it was being read.", advice="Start again.")
        yield from incoming.batches()

    return structs.replace(incoming, batches=batches)


def _read_by_kind(
    path: Path, header: bool, sheet: str | None, format: str | None, delimiter: str | None, encoding: str | None
) -> Incoming:
    if path.stat().st_size == 0:
        raise BadFile(f"{path.name} is empty (0 bytes).")
    kind, warnings = detect_table_kind(path, format)
    if sheet is not None and kind not in ("xlsx", "xls", "ods"):
        raise BadFile(f"{path.name} is no workbook, so it has no sheet '{sheet}'.")
    match kind:
        case "xlsx" | "xls" | "ods":
            incoming = read_workbook(path, kind, header=header, sheet=sheet)
        case "parquet":
            incoming = read_parquet(path)
        case "json" | "jsonl":
            incoming = read_json_table(open_text(path, encoding, long_lines=kind == "json"))
        case "csv" | "tsv":
            separator = delimiter or ("\t" if format == "tsv" else None)
            incoming = read_delimited(open_text(path, encoding), header=header, delimiter=separator)
    return structs.replace(incoming, warnings=(*warnings, *incoming.warnings))


# Size and time in nanoseconds: cheap enough to compare before each pass over a file that someone may save again.
def _read_file_stamp(path: Path) -> tuple[int, int]:
    about = path.stat()
    return about.st_size, about.st_mtime_ns


Kind: TypeAlias = Literal["csv", "tsv", "xlsx", "xls", "ods", "json", "jsonl", "parquet"]

SUFFIXES: dict[str, Kind] = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".xls": "xls",
    ".ods": "ods",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
READABLE: tuple[Kind, ...] = get_args(Kind)


def detect_table_kind(path: Path, format: str | None = None) -> tuple[Kind, tuple[str, ...]]:
    """Return the kind of a file, and a warning if its name says otherwise."""
    asked = next((kind for kind in READABLE if kind == format), None)
    if format is not None and asked is None:
        raise BadFile(f"{format!r} is no format a table can be read from.", advice=f"Use one of {', '.join(READABLE)}.")
    with path.open("rb") as file:
        head = file.read(8192)
    by_content = _detect_by_content(path, head)
    by_name = SUFFIXES.get(path.suffix.lower())
    # Content beats the name and the option, because only one reader can open it.
    if by_content is not None:
        expected = asked or by_name
        if expected is None or expected == by_content:
            return by_content, ()
        return by_content, (f"{path.name} is really {_name_kind(by_content)} file and was read as one.",)
    wanted = asked or by_name
    if wanted is not None and wanted in ("xlsx", "xls", "ods", "parquet"):
        raise BadFile(f"{path.name} is not {_name_kind(wanted)} file: its content is something else.")
    # A name that says JSON is believed even where the content is broken: the JSON reader says in which line.
    if wanted in ("json", "jsonl"):
        return wanted, ()
    if format is None and looks_like_json(head):
        kind: Kind = "json" if head.lstrip()[:1] == b"[" else "jsonl"
        return kind, (f"{path.name} holds JSON and was read as JSON.",) if by_name else ()
    return ("tsv" if wanted == "tsv" else "csv"), ()


def _detect_by_content(path: Path, head: bytes) -> Kind | None:
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return _detect_ole_kind(path)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _detect_zip_kind(path)
    # First bytes of files that are often mistaken for tables, and what they are, for the error.
    for magic, what in (
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF87a", "a GIF image"),
        (b"GIF89a", "a GIF image"),
        (b"II*\x00", "a TIFF image"),
        (b"MM\x00*", "a TIFF image"),
        (b"RIFF", "a media file (RIFF)"),
        (b"%PDF-", "a PDF document"),
        (b"\x7fELF", "a program (ELF)"),
        (b"\xcf\xfa\xed\xfe", "a program (Mach-O)"),
        (b"MZ\x90\x00", "a Windows program"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"BZh", "a bzip2 archive"),
        (b"\xfd7zXZ\x00", "an xz archive"),
        (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
        (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
        (b"Rar!\x1a\x07", "a RAR archive"),
        (b"SQLite format 3\x00", "an SQLite database"),
        (b"{\\rtf", "an RTF document"),
        (b"OggS", "an Ogg media file"),
        (b"ID3", "an MP3 sound file"),
        (b"ARROW1\x00\x00", "an Arrow file"),
        (b"Obj\x01", "an Avro file"),
    ):
        if head.startswith(magic):
            advice = "Unpack it first." if "archive" in what else ""
            raise BadFile(f"{path.name} is {what}, not a table.", advice=advice)
    # Many sites offer an HTML table under the name of an .xls file.
    if re.match(rb"\s*(?:<!doctype html|<html|<table)", head, re.IGNORECASE):
        raise BadFile(f"{path.name} is a web page (HTML), not a table.", advice="Save the table itself as CSV or XLSX.")
    if _has_control_bytes(head):
        raise BadFile(f"{path.name} is a binary file, not a table.")
    return None


def _detect_ole_kind(path: Path) -> Kind:
    """Return the kind in an old Office container: an .xls workbook, or an error for an encrypted .xlsx."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        # Names of streams, searched without following the container's tables: an encrypted .xlsx is such a container as
        # well.
        parts = [name for name in ("EncryptedPackage", "Workbook", "Book") if data.find(name.encode("utf-16-le")) >= 0]
    if "EncryptedPackage" in parts:
        raise BadFile(f"{path.name} is password-protected.", advice="Save it without a password, then try again.")
    if parts:
        return "xls"
    if path.suffix.lower() in (".xlsx", ".xlsm"):
        raise BadFile(
            f"{path.name} is password-protected or damaged: it is not a plain workbook.",
            advice="Save it again as XLSX without a password.",
        )
    raise BadFile(f"{path.name} is an old Office document, not a table.")


def _detect_zip_kind(path: Path) -> Kind:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            mimetype = b""
            if "mimetype" in names:
                with archive.open("mimetype") as member:
                    mimetype = member.read(100)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError):
        if path.suffix.lower() in (".xlsx", ".xlsm", ".ods"):
            raise BadFile(
                f"{path.name} is damaged or cut short: it cannot be opened as a workbook.",
                advice="Save or download it again.",
            ) from None
        raise BadFile(f"{path.name} is a damaged zip archive, not a table.") from None
    if "xl/workbook.xml" in names:
        return "xlsx"
    if "xl/workbook.bin" in names:
        raise BadFile(f"{path.name} is a binary workbook (XLSB).", advice="Save it as XLSX.")
    if b"opendocument.spreadsheet" in mimetype:
        return "ods"
    what = "a Word document" if "word/document.xml" in names else "a zip archive"
    raise BadFile(f"{path.name} is {what}, not a table.", advice="Unpack it first." if what == "a zip archive" else "")


def _has_control_bytes(head: bytes) -> bool:
    """Return True if more than a few bytes are control characters, in neither UTF-8 nor UTF-16."""
    # Byte-order marks of UTF-8 and UTF-16; a text that has one is no binary file, however many control bytes follow.
    if (
        head.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"))
        or detect_unmarked_utf16(head)
        or (0 not in head and is_utf8(head))
    ):
        return False
    control = sum(head.count(byte) for byte in range(32) if byte not in (9, 10, 11, 12, 13, 26, 27))
    # 5 %: a stray control character in a text is damage that the decoder reports with its place.
    return control * 20 > len(head)


def looks_like_json(head: bytes) -> bool:
    # An array must open an object: "[1]" or "[note]" may begin a CSV as well.
    return bool(
        re.match(r"\s*(?:\[\s*\{\s*[\"}]|\{\s*\")", head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
    )


def _name_kind(kind: str) -> str:
    return f"{'an' if kind[0] in 'xo' else 'a'} {'Parquet' if kind == 'parquet' else kind.upper()}"


# Each batch in the spool begins with its length, so that one batch at a time is decoded.
_LENGTH = struct.Struct(">Q")

# A value as its owner gave it, with its text; a cell with a history, as our own exports have; or nothing.
Spooled: TypeAlias = tuple[Value, str | None] | Cell | None


def is_plain_text(path: Path) -> bool:
    """Return True if the file is read as delimited text line by line, which is safe in this process."""
    try:
        with path.open("rb") as file:
            head = file.read(8192)
    except OSError:
        return True  # reading it says what is wrong
    kind = SUFFIXES.get(path.suffix.lower(), "csv")
    # First bytes of Parquet, OLE and zip files, whatever the name says.
    return (
        kind in ("csv", "tsv")
        and not head.startswith((b"PAR1", b"\xd0\xcf\x11\xe0", b"PK"))
        and not looks_like_json(head)
    )


def read_to_spool(
    path: str, header: bool, sheet: str | None, delimiter: str | None, encoding: str | None, spool: str
) -> TableOutline:
    """Write the rows to `spool` as plain values. Run in a worker process: a hostile workbook, Parquet or JSON file can
    crash its reader or fill its memory."""
    try:
        incoming = read_table(Path(path), header=header, sheet=sheet, delimiter=delimiter, encoding=encoding)
        with Path(spool).open("wb") as file:
            _write_spool(file, incoming, Path(path))
    except OSError as error:
        raise BadFile(f"The rows of {Path(path).name} could not be kept: {error.strerror or error}.") from None
    return TableOutline(**{name: getattr(incoming, name) for name in TableOutline.__struct_fields__})


def open_spool(outline: TableOutline, spool: Path) -> Incoming:
    decoder = msgspec.msgpack.Decoder(list[tuple[Spooled, ...]])

    def batches() -> CellBatches:
        with spool.open("rb") as file:
            while head := file.read(_LENGTH.size):
                rows = decoder.decode(file.read(_LENGTH.unpack(head)[0]))
                yield [tuple([_from_spooled(each) for each in row]) for row in rows]

    return Incoming(**structs.asdict(outline), batches=batches)


def _write_spool(file: BinaryIO, incoming: Incoming, path: Path) -> None:
    """Write the rows, and refuse a file whose rows unpack to far more than its size: shared texts can hide that."""
    encoder = msgspec.msgpack.Encoder()
    most = max(TABLE_LIMITS.unzip_free_bytes, TABLE_LIMITS.unzip_ratio * path.stat().st_size)
    written = 0
    rows = incoming.rows()
    # Rows encoded at a time; a batch is held in memory on both sides.
    while batch := list(islice(rows, 500)):
        packed = encoder.encode([[_to_spooled(cell) for cell in row] for row in batch])
        written += len(packed)
        if written > most:
            raise BadFile(
                f"{path.name} holds more than {TABLE_LIMITS.unzip_ratio} times its size in rows, as only a file made "
                "to fill a disk does; nothing was imported.",
                advice="If it is a real table, save it as CSV.",
            )
        file.write(_LENGTH.pack(len(packed)))
        file.write(packed)


def _to_spooled(cell: Cell) -> Spooled:
    if cell is PENDING:
        return None
    return (cell.value, cell.raw_value) if make_given_cell(cell.value, cell.raw_value) == cell else cell


def _from_spooled(spooled: Spooled) -> Cell:
    if isinstance(spooled, tuple):
        return make_given_cell(*spooled)
    return PENDING if spooled is None else spooled
