"""Parquet files, read batch by batch with pyarrow (the extra `parquet`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tablewright.errors import BadFile
from tablewright.extras import need
from tablewright.formats.tables.grid import Batch, Grid, survey
from tablewright.formats.tables.incoming import Incoming
from tablewright.formats.tables.limits import BATCH_CELLS, MAX_COLUMNS
from tablewright.formats.tables.native_column import NativeColumn, header_text, is_empty


def import_pyarrow() -> tuple[Any, Any]:
    """Imported when first needed: it is an extra, and takes 0.2 s."""
    need("parquet", "Reading or writing Parquet")
    import pyarrow
    import pyarrow.parquet

    return pyarrow, pyarrow.parquet


def read_parquet(path: Path) -> Incoming:
    arrow, parquet = import_pyarrow()
    try:
        with parquet.ParquetFile(path) as file:
            names = list(file.schema_arrow.names)
        if len(names) > MAX_COLUMNS:
            raise BadFile(f"{path.name} has {len(names):,} columns; a table can have at most {MAX_COLUMNS:,}.")

        def batches() -> Iterator[Batch]:
            yield Batch(records=[names], lines=[0])
            line = 0
            with parquet.ParquetFile(path) as file:
                for batch in file.iter_batches(batch_size=max(1, BATCH_CELLS // max(1, len(names)))):
                    columns = [_values(path, *column) for column in zip(names, batch.columns, strict=True)]
                    records = list(zip(*columns, strict=True))
                    kept = [at for at, record in enumerate(records) if not all(map(is_empty, record))]
                    empty = [] if len(kept) == len(records) else sorted({*range(len(records))} - {*kept})
                    yield Batch(
                        records=[records[at] for at in kept],
                        lines=[line + at + 1 for at in kept],
                        without_value=[line + at + 1 for at in empty],
                    )
                    line += len(records)

        grid = Grid(
            file=path.name,
            name=path.stem,
            batches=batches,
            column=NativeColumn,
            header_text=header_text,
            is_empty=is_empty,
            empty=None,
            line="row",
            named=True,
        )
        return survey(grid, header=True)
    except MemoryError:
        raise  # pyarrow's own is an ArrowException too
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise BadFile(f"{path.name} is a damaged Parquet file: {str(error).splitlines()[0][:200]}.") from error


def _values(path: Path, name: str, column: Any) -> list[Any]:
    """Python's dates and times count microseconds: what is finer stays text. What is beyond them is refused."""
    arrow, _ = import_pyarrow()
    kind = column.type
    try:
        if arrow.types.is_timestamp(kind) and kind.unit == "ns":
            column = _in_microseconds(column, arrow.timestamp("us", kind.tz))
        elif arrow.types.is_time64(kind) and kind.unit == "ns":
            column = _in_microseconds(column, arrow.time64("us"))
        values: list[Any] = column.to_pylist()
    except (OverflowError, LookupError) as error:
        raise BadFile(
            f"{path.name} has a date or time in '{name[:60]}' that cannot be read: {str(error)[:100]}.",
            advice="Write the column as text or as numbers.",
        ) from None
    return values


def _in_microseconds(column: Any, wanted: Any) -> Any:
    arrow, _ = import_pyarrow()
    try:
        return column.cast(wanted)
    except arrow.ArrowInvalid:
        return column.cast(arrow.string())
