"""A table, written to a file while its rows still arrive."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Protocol

from tablewright.domain.model import Row, Table
from tablewright.errors import BadFile
from tablewright.formats.tables.delimited import CsvWriter
from tablewright.formats.tables.json_tables import JsonLinesWriter, JsonWriter
from tablewright.formats.tables.markdown import MarkdownWriter
from tablewright.formats.tables.parquet import ParquetWriter
from tablewright.formats.tables.sheet import TableSchema, export_columns

# No .xls and .ods: every program that opens them opens XLSX or CSV.
WRITABLE = ("csv", "tsv", "xlsx", "json", "jsonl", "md", "parquet")


class Writer(Protocol):
    """`write` may be called again and again; `close` finishes the file and leaves the stream open."""

    def write(self, rows: Iterable[Row]) -> None: ...
    def close(self) -> None: ...


def open_writer(
    stream: BinaryIO,
    format: str,
    heading: TableSchema,
    *,
    evidence: bool = False,
    cost: bool = False,
    units: bool = False,
) -> Writer:
    """`evidence` adds source, quote, confidence, basis, status, reason, stale and note, `cost` what a cell cost in
    dollars, `units` the units of numbers to the header. JSON carries both anyway, XLSX the evidence."""
    if format == "json":
        return JsonWriter(stream, heading)
    if format == "xlsx":
        # Here, since every run of the library imports this module and few write a workbook.
        from tablewright.formats.tables.xlsx_writer import XlsxWriter

        return XlsxWriter(stream, heading, cost=cost)
    columns = export_columns(heading, evidence=evidence, cost=cost, units=units)
    match format:
        case "csv":
            return CsvWriter(stream, columns)
        case "tsv":
            return CsvWriter(stream, columns, delimiter="\t")
        case "jsonl":
            return JsonLinesWriter(stream, columns)
        case "md":
            return MarkdownWriter(stream, columns)
        case "parquet":
            return ParquetWriter(stream, columns)
    raise _unknown_table_format(f"{format!r} is no format a table can be written in.")


def format_from_name(path: Path) -> str:
    """The format that a file's name asks for."""
    ending = path.suffix.lower().removeprefix(".")
    format = {"ndjson": "jsonl", "markdown": "md", "tab": "tsv"}.get(ending, ending)
    if format not in WRITABLE:
        raise _unknown_table_format(f"The name {path.name} does not say in which format to write it.")
    return format


def target_format(path: Path) -> str:
    """The format in which a file of that name can be written there; raises BadFile where it cannot."""
    format = format_from_name(path)
    if not path.parent.is_dir():
        raise BadFile(f"The folder {path.parent} does not exist.")
    return format


def render_csv(table: Table) -> str:
    stream = io.BytesIO()
    writer = open_writer(stream, "csv", table)
    writer.write(table.rows)
    writer.close()
    return stream.getvalue().decode()


def _unknown_table_format(what: str) -> BadFile:
    return BadFile(what, advice=f"Use one of {', '.join(f'.{format}' for format in WRITABLE)}.")
