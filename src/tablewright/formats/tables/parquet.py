"""Parquet files, read batch by batch with pyarrow (the extra `parquet`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from tablewright.domain.model import PENDING, Row
from tablewright.errors import BadFile, UsageError
from tablewright.extras import require_extra
from tablewright.formats.tables.incoming import Batch, Grid, Incoming, batch_records, survey_grid
from tablewright.formats.tables.limits import TABLE_LIMITS
from tablewright.formats.tables.sheet import ExportColumn


def import_pyarrow() -> tuple[Any, Any]:
    """Imported when first needed: it is an extra, and takes 0.2 s."""
    require_extra("parquet", "Reading or writing Parquet")
    import pyarrow
    import pyarrow.parquet

    return pyarrow, pyarrow.parquet


def read_parquet(path: Path) -> Incoming:
    arrow, parquet = import_pyarrow()
    try:
        with parquet.ParquetFile(path) as file:
            names = list(file.schema_arrow.names)
        if len(names) > TABLE_LIMITS.columns:
            raise BadFile(f"{path.name} has {len(names):,} columns; a table can have at most {TABLE_LIMITS.columns:,}.")

        def records() -> Iterator[Sequence[Any]]:
            with parquet.ParquetFile(path) as file:
                for batch in file.iter_batches(batch_size=max(1, TABLE_LIMITS.batch_cells // max(1, len(names)))):
                    columns = [_read_column_values(path, *column) for column in zip(names, batch.columns, strict=True)]
                    yield from zip(*columns, strict=True)

        def batches() -> Iterator[Batch]:
            yield Batch(records=[names], lines=[0])
            yield from batch_records(enumerate(records(), start=1), len(names))

        grid = Grid(file=path.name, name=path.stem, batches=batches, named=True)
        return survey_grid(grid, header=True)
    except MemoryError:
        raise  # pyarrow's own is an ArrowException too
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise BadFile(f"{path.name} is a damaged Parquet file: {str(error).splitlines()[0][:200]}.") from error


def _read_column_values(path: Path, name: str, column: Any) -> list[Any]:
    """Python's dates and times count microseconds: what is finer stays text. What is beyond them is refused."""
    arrow, _ = import_pyarrow()
    kind = column.type
    try:
        if arrow.types.is_timestamp(kind) and kind.unit == "ns":
            column = _cast_to_microseconds(column, arrow.timestamp("us", kind.tz))
        elif arrow.types.is_time64(kind) and kind.unit == "ns":
            column = _cast_to_microseconds(column, arrow.time64("us"))
        values: list[Any] = column.to_pylist()
    except (OverflowError, LookupError) as error:
        raise BadFile(
            f"{path.name} has a date or time in '{name[:60]}' that cannot be read: {str(error)[:100]}.",
            advice="Write the column as text or as numbers.",
        ) from None
    return values


def _cast_to_microseconds(column: Any, wanted: Any) -> Any:
    arrow, _ = import_pyarrow()
    try:
        return column.cast(wanted)
    except arrow.ArrowInvalid:
        return column.cast(arrow.string())


class ParquetWriter:
    """Typed columns. Dates may be partial ("2024-05") and money has a currency, so both are text."""

    def __init__(self, stream: BinaryIO, columns: Sequence[ExportColumn]) -> None:
        self._arrow, parquet = import_pyarrow()
        self._columns = columns
        self._pending: list[list[Any]] = [[] for _ in columns]
        self._schema = self._arrow.schema([(column.name, self._type(column)) for column in columns])
        self._writer = parquet.ParquetWriter(stream, self._schema)

    def write(self, rows: Iterable[Row]) -> None:
        for row in rows:
            cells = row.cells
            for column, values in zip(self._columns, self._pending, strict=True):
                # Column-wise, because Parquet writes columns, not rows.
                values.append(_to_parquet_value(column, cells.get(column.field, PENDING)))
            # A row group is held in memory until it is written. Larger: better compression; smaller: flatter memory.
            if self._pending and len(self._pending[0]) >= 20_000:
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

    def _type(self, column: ExportColumn) -> Any:
        match column.type:
            case "number":
                # One type for all numbers: a column may begin with whole numbers and hold decimals later.
                return self._arrow.float64()
            case "boolean":
                return self._arrow.bool_()
            case "list":
                return self._arrow.list_(self._arrow.string())
        return self._arrow.string()


def _to_parquet_value(column: ExportColumn, cell: Any) -> Any:
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
