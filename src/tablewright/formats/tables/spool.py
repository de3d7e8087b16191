"""A table file read by another process: the rows it found, in a file between the two.

Workbooks, Parquet and JSON can be made to crash or swell whatever opens them. `read_to_spool` runs in a worker process;
what it leaves, `from_spool` reads row by row. The spool holds nothing but plain values.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import BinaryIO, TypeAlias

import msgspec

from tablewright.domain.model import PENDING, Cell, Field, Noun, Value, given
from tablewright.errors import BadFile
from tablewright.formats.tables.incoming import CellBatches, Incoming
from tablewright.formats.tables.kind import SUFFIXES, looks_like_json
from tablewright.formats.tables.limits import UNZIP_RATIO, UNZIP_RATIO_FREE_BYTES
from tablewright.formats.tables.read import read_table

_CONTAINERS = (b"PAR1", b"\xd0\xcf\x11\xe0", b"PK")
_LENGTH = struct.Struct(">Q")
_BATCH_ROWS = 500

Spooled: TypeAlias = tuple[Value, str | None] | Cell | None
"""A value as its owner gave it, with its text; a cell with a history, as our own exports have; or nothing."""


class Outline(Noun, frozen=True):
    """An `Incoming` without its rows."""

    name: str
    fields: tuple[Field, ...]
    row_count: int
    key_field: str = ""
    warnings: tuple[str, ...] = ()


def is_plain_text(path: Path) -> bool:
    """Whether it is read as delimited text, line by line, which can surprise nobody."""
    try:
        with path.open("rb") as file:
            head = file.read(8192)
    except OSError:
        return True  # reading it says what is wrong
    kind = SUFFIXES.get(path.suffix.lower(), "csv")
    return kind in ("csv", "tsv") and not head.startswith(_CONTAINERS) and not looks_like_json(head)


def read_to_spool(
    path: str, header: bool, sheet: str | None, delimiter: str | None, encoding: str | None, spool: str
) -> Outline:
    try:
        incoming = read_table(Path(path), header=header, sheet=sheet, delimiter=delimiter, encoding=encoding)
        with Path(spool).open("wb") as file:
            _write(file, incoming, Path(path))
    except OSError as error:
        raise BadFile(f"The rows of {Path(path).name} could not be kept: {error.strerror or error}.") from None
    return Outline(
        name=incoming.name,
        fields=incoming.fields,
        row_count=incoming.row_count,
        key_field=incoming.key_field,
        warnings=incoming.warnings,
    )


def from_spool(outline: Outline, spool: Path) -> Incoming:
    decoder = msgspec.msgpack.Decoder(list[tuple[Spooled, ...]])

    def batches() -> CellBatches:
        with spool.open("rb") as file:
            while head := file.read(_LENGTH.size):
                rows = decoder.decode(file.read(_LENGTH.unpack(head)[0]))
                yield [tuple([_cell(each) for each in row]) for row in rows]

    return Incoming(
        name=outline.name,
        fields=outline.fields,
        row_count=outline.row_count,
        batches=batches,
        key_field=outline.key_field,
        warnings=outline.warnings,
    )


def _write(file: BinaryIO, incoming: Incoming, path: Path) -> None:
    """A text that many cells share is small in the file and large in the table, so the rows are counted too."""
    encoder = msgspec.msgpack.Encoder()
    most = max(UNZIP_RATIO_FREE_BYTES, UNZIP_RATIO * path.stat().st_size)
    written = 0
    rows = incoming.rows()
    while batch := list(islice(rows, _BATCH_ROWS)):
        packed = encoder.encode(_spooled(batch))
        written += len(packed)
        if written > most:
            raise BadFile(
                f"{path.name} holds more than {UNZIP_RATIO} times its size in rows, as only a file made to fill a disk "
                "does; nothing was imported.",
                advice="If it is a real table, save it as CSV.",
            )
        file.write(_LENGTH.pack(len(packed)))
        file.write(packed)


def _spooled(rows: Iterable[tuple[Cell, ...]]) -> list[list[Spooled]]:
    return [[_bare(cell) for cell in row] for row in rows]


def _bare(cell: Cell) -> Spooled:
    if cell is PENDING:
        return None
    return (cell.value, cell.raw_value) if given(cell.value, cell.raw_value) == cell else cell


def _cell(spooled: Spooled) -> Cell:
    if isinstance(spooled, tuple):
        return given(*spooled)
    return PENDING if spooled is None else spooled
