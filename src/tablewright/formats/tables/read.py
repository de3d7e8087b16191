"""A table file, understood: what kind it is, how it is written, what its columns hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tablewright.errors import BadFile
from tablewright.formats.tables.decode import text_of
from tablewright.formats.tables.delimited import read_delimited
from tablewright.formats.tables.incoming import CellBatches, Incoming
from tablewright.formats.tables.kind import kind_of
from tablewright.formats.tables.objects import read_json
from tablewright.formats.tables.parquet import read_parquet
from tablewright.formats.tables.workbook import read_workbook


def read_table(
    path: Path,
    *,
    header: bool = True,
    sheet: str | None = None,
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
) -> Incoming:
    """Reads the whole file once; raises `BadFile` if anything about it is wrong. What is not said is found out."""
    try:
        before = _stamp(path)
        incoming = _read(path, header, sheet, format, delimiter, encoding)
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}.") from error

    def batches() -> CellBatches:
        if _stamp(path) != before:
            raise BadFile(f"{path.name} was changed while it was being read.", advice="Start again.")
        yield from incoming.batches()

    return replace(incoming, batches=batches)


def _read(
    path: Path, header: bool, sheet: str | None, format: str | None, delimiter: str | None, encoding: str | None
) -> Incoming:
    if path.stat().st_size == 0:
        raise BadFile(f"{path.name} is empty (0 bytes).")
    kind, warnings = kind_of(path, format)
    if sheet is not None and kind not in ("xlsx", "xls", "ods"):
        raise BadFile(f"{path.name} is no workbook, so it has no sheet '{sheet}'.")
    match kind:
        case "xlsx" | "xls" | "ods":
            incoming = read_workbook(path, kind, header=header, sheet=sheet)
        case "parquet":
            incoming = read_parquet(path)
        case "json" | "jsonl":
            incoming = read_json(text_of(path, encoding, long_lines=kind == "json"))
        case "csv" | "tsv":
            separator = delimiter or ("\t" if format == "tsv" else None)
            incoming = read_delimited(text_of(path, encoding), header=header, delimiter=separator)
    return replace(incoming, warnings=(*warnings, *incoming.warnings))


def _stamp(path: Path) -> tuple[int, int]:
    about = path.stat()
    return about.st_size, about.st_mtime_ns
