"""How many cells of each sheet of an .xls hold an error such as #N/A. calamine gives them as if they were empty.

An .xls is a file system in a file (a compound file); its stream "Workbook" is a row of records, the sheets after each
other. Whatever is not as it should be is no concern of ours: calamine has read the file already.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

_END_OF_CHAIN = 0xFFFFFFF0
_FATS_IN_HEADER = 109
_ENTRY = 128
_NAMES = frozenset(name.encode("utf-16-le") for name in ("Workbook\0", "Book\0", "WORKBOOK\0", "BOOK\0"))
_BOF, _EOF, _SHEET, _FORMULA, _BOOLEAN_OR_ERROR = 0x809, 0x0A, 0x85, 0x06, 0x205
_IS_ERROR = 2


def errors_of_sheets(path: Path) -> list[int]:
    """In the order of the sheets; empty where the file cannot be followed."""
    try:
        stream = _CompoundFile(path.read_bytes()).workbook()
        offsets = [struct.unpack_from("<I", body)[0] for kind, body in _records(stream, 0) if kind == _SHEET]
        return [sum(_is_error(*record) for record in _records(stream, offset)) for offset in offsets]
    except (struct.error, IndexError, ValueError):
        return []


def _records(stream: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    """From the beginning of a part to its end, with those of the charts in it."""
    depth = 0
    while True:
        kind, length = struct.unpack_from("<HH", stream, at)
        yield kind, stream[at + 4 : at + 4 + length]
        at += 4 + length
        depth += (kind == _BOF) - (kind == _EOF)
        if depth <= 0:
            return


def _is_error(kind: int, body: bytes) -> bool:
    if kind == _BOOLEAN_OR_ERROR:
        return body[7] == 1
    return kind == _FORMULA and body[12:14] == b"\xff\xff" and body[6] == _IS_ERROR


class _CompoundFile:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._size = 1 << struct.unpack_from("<H", data, 30)[0]
        if self._size not in (512, 4096):
            raise ValueError(self._size)
        per_sector = self._size // 4
        needed = len(data) // self._size // per_sector + 1
        fats = [*struct.unpack_from(f"<{_FATS_IN_HEADER}I", data, 76)]
        more, count = struct.unpack_from("<II", data, 68)
        for _ in range(min(count, needed)):
            *found, more = struct.unpack(f"<{per_sector}I", self._sector(more))
            fats += found
        used = [sector for sector in fats if sector < _END_OF_CHAIN][:needed]
        self._fat = [entry for sector in used for entry in struct.unpack(f"<{per_sector}I", self._sector(sector))]

    def workbook(self) -> bytes:
        directory = self._chain(struct.unpack_from("<I", self._data, 48)[0])
        for at in range(0, len(directory), _ENTRY):
            name = directory[at : at + struct.unpack_from("<H", directory, at + 64)[0]]
            if name in _NAMES:
                start, size = struct.unpack_from("<II", directory, at + 116)
                return self._chain(start)[:size]
        raise ValueError("no workbook")

    def _chain(self, sector: int) -> bytes:
        found: list[bytes] = []
        while sector < _END_OF_CHAIN:
            if len(found) > len(self._fat):
                raise ValueError("it goes round in a circle")
            found.append(self._sector(sector))
            sector = self._fat[sector]
        return b"".join(found)

    def _sector(self, number: int) -> bytes:
        """Sector 0 comes after the header."""
        return self._data[(number + 1) * self._size : (number + 2) * self._size]
