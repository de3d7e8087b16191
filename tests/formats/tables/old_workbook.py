"""Makes .xls files: enough of the format for a sheet of a few cells."""

from __future__ import annotations

import struct
from collections.abc import Sequence

END, FREE, OF_FAT = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
SECTOR = 512
GLOBALS, SHEET = 5, 16


def label(row: int, column: int, text: str) -> bytes:
    return record(0x204, struct.pack("<HHHHB", row, column, 0, len(text), 0) + text.encode("latin-1"))


def number(row: int, column: int, value: float) -> bytes:
    return record(0x203, struct.pack("<HHHd", row, column, 0, value))


def error(row: int, column: int) -> bytes:
    """#N/A"""
    return record(0x205, struct.pack("<HHHBB", row, column, 0, 0x2A, 1))


def failed_formula(row: int, column: int) -> bytes:
    """#DIV/0!"""
    result = bytes([2, 0, 7, 0, 0, 0, 0xFF, 0xFF])
    return record(0x006, struct.pack("<HHH", row, column, 0) + result + struct.pack("<HIH", 0, 0, 3) + b"\x1e\x01\x00")


def old_workbook(**sheets: Sequence[bytes]) -> bytes:
    """Of sheets that are given by their cells."""
    parts = [
        beginning(SHEET) + record(0x200, struct.pack("<IIHHH", 0, 100, 0, 10, 0)) + b"".join(cells) + record(0x0A)
        for cells in sheets.values()
    ]
    at = len(heading([*sheets], [0] * len(parts)))
    offsets = [at + sum(map(len, parts[:number])) for number in range(len(parts))]
    return compound_file(heading([*sheets], offsets) + b"".join(parts))


def heading(names: Sequence[str], offsets: Sequence[int]) -> bytes:
    listed = b"".join(
        record(0x85, struct.pack("<IHBB", offset, 0, len(name), 0) + name.encode())
        for name, offset in zip(names, offsets, strict=True)
    )
    return beginning(GLOBALS) + record(0x42, struct.pack("<H", 1200)) + listed + record(0x0A)


def beginning(of: int) -> bytes:
    return record(0x809, struct.pack("<HHHHII", 0x600, of, 0, 1997, 0, 6))


def record(kind: int, body: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(body)) + body


def compound_file(stream: bytes) -> bytes:
    """A table of sectors, a directory, and the stream."""
    stream = stream.ljust(max(4096, -(-len(stream) // SECTOR) * SECTOR), b"\0")
    count = len(stream) // SECTOR
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, END, 0, END, 0) + struct.pack("<109I", 0, *[FREE] * 108)
    sectors = [OF_FAT, END, *range(3, 2 + count), END]
    table = struct.pack("<128I", *sectors, *[FREE] * (128 - len(sectors)))
    directory = entry("Root Entry", 5, END, 0, 1) + entry("Workbook", 2, 2, len(stream)) + entry("", 0, 0, 0) * 2
    return header + table + directory + stream


def entry(name: str, kind: int, start: int, size: int, child: int = FREE) -> bytes:
    raw = f"{name}\0".encode("utf-16-le") if name else b""
    about = struct.pack("<HBBIII", len(raw), kind, 1, FREE, FREE, child)
    return raw.ljust(64, b"\0") + about + bytes(36) + struct.pack("<IQ", start, size)
