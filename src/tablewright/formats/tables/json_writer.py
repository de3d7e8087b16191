"""JSON, with everything a table knows, and JSON Lines, with its values only; both streamed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import BinaryIO

import msgspec
from msgspec import structs

from tablewright.domain.model import PENDING, Cell, Row
from tablewright.formats.tables.sheet import ShownColumn, TableSchema, json_value


class RowDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A row as the JSON export writes it and as reading one expects it."""

    row_id: int = 0
    key: str = ""
    cells: dict[str, Cell] = {}


class JsonWriter:
    """One document: id, name, key_field, fields, and one line for each row with its full cells."""

    def __init__(self, stream: BinaryIO, heading: TableSchema) -> None:
        self._stream = stream
        self._encoder = msgspec.json.Encoder()
        self._separator = b"\n"
        head = {
            "id": heading.id,
            "name": heading.name,
            "key_field": heading.key_field,
            "fields": heading.fields,
        }
        self._stream.write(self._encoder.encode(head)[:-1] + b',\n"rows":[')

    def write(self, rows: Iterable[Row]) -> None:
        for row in rows:
            cells = {name: with_basis(cell) for name, cell in row.cells.items()}
            document = RowDocument(row_id=row.id, key=row.key, cells=cells)
            self._stream.write(self._separator + self._encoder.encode(document))
            self._separator = b",\n"

    def close(self) -> None:
        self._stream.write(b"\n]}\n")
        self._stream.flush()


def with_basis(cell: Cell) -> Cell:
    """For readers that do not know what we leave out: what came with the table says so."""
    return cell if cell.basis or cell.shown_basis is None else structs.replace(cell, basis=cell.shown_basis)


def as_stored(cell: Cell) -> Cell:
    """The inverse of `with_basis`."""
    bare = structs.replace(cell, basis=None) if cell.basis == "given" else cell
    return bare if bare.shown_basis == "given" else cell


class JsonLinesWriter:
    """One flat object a row: names and values."""

    def __init__(self, stream: BinaryIO, columns: Sequence[ShownColumn]) -> None:
        self._stream = stream
        self._columns = columns
        self._encoder = msgspec.json.Encoder()

    def write(self, rows: Iterable[Row]) -> None:
        for row in rows:
            cells = row.cells
            values = {
                column.name: json_value(column.value(cells.get(column.field, PENDING))) for column in self._columns
            }
            self._stream.write(self._encoder.encode(values) + b"\n")

    def close(self) -> None:
        self._stream.flush()
