"""Parquet files, read batch by batch with pyarrow (the extra `parquet`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tablewright.errors import BadFile
from tablewright.extras import need
from tablewright.table.files.grid import Batch, Grid, survey
from tablewright.table.files.incoming import Incoming
from tablewright.table.files.limits import BATCH_CELLS, MAX_COLUMNS
from tablewright.table.files.native_column import NativeColumn, header_text, is_empty


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
                    records = list(zip(*[column.to_pylist() for column in batch.columns], strict=True))
                    kept = [at for at, record in enumerate(records) if not all(map(is_empty, record))]
                    yield Batch(records=[records[at] for at in kept], lines=[line + at + 1 for at in kept])
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
