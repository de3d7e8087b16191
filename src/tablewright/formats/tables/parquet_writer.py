"""Parquet with typed columns. Dates may be partial ("2024-05") and money has a currency, so both are text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

from tablewright.domain.model import PENDING, Row
from tablewright.errors import UsageError
from tablewright.formats.tables.parquet import import_pyarrow
from tablewright.formats.tables.sheet import ShownColumn

GROUP_ROWS = 20_000


class ParquetWriter:
    def __init__(self, stream: BinaryIO, columns: Sequence[ShownColumn]) -> None:
        self._arrow, parquet = import_pyarrow()
        self._columns = columns
        self._pending: list[list[Any]] = [[] for _ in columns]
        self._schema = self._arrow.schema([(column.name, self._type(column)) for column in columns])
        self._writer = parquet.ParquetWriter(stream, self._schema)

    def write(self, rows: Iterable[Row]) -> None:
        for row in rows:
            cells = row.cells
            for column, values in zip(self._columns, self._pending, strict=True):
                values.append(_stored(column, cells.get(column.field, PENDING)))
            if self._pending and len(self._pending[0]) >= GROUP_ROWS:
                self._flush()

    def close(self) -> None:
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if self._pending and self._pending[0]:
            arrays = [
                self._arrow.array(values, type=self._type(column))
                for column, values in zip(self._columns, self._pending, strict=True)
            ]
            self._writer.write_table(self._arrow.Table.from_arrays(arrays, schema=self._schema))
            self._pending = [[] for _ in self._columns]

    def _type(self, column: ShownColumn) -> Any:
        match column.type:
            case "number":
                return self._arrow.float64()
            case "boolean":
                return self._arrow.bool_()
            case "list":
                return self._arrow.list_(self._arrow.string())
        return self._arrow.string()


def _stored(column: ShownColumn, cell: Any) -> Any:
    value = column.value(cell)
    if value is None:
        return None
    fits: dict[str, type | tuple[type, ...]] = {"number": (int, float), "boolean": bool, "list": tuple}
    wanted = fits.get(column.type)
    if wanted is None:
        return column.text(cell)
    if not isinstance(value, wanted) or (column.type == "number" and isinstance(value, bool)):
        raise UsageError(
            f"The column {column.name!r} is of type {column.type} but holds {column.text(cell)[:60]!r}, "
            "which Parquet cannot store there.",
            advice="Export to CSV, XLSX or JSON instead.",
        )
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
