"""Requests and results of importing and exporting table files; `workflows/files.py` produces them."""

from __future__ import annotations

from collections.abc import Mapping

from tablewright.domain.model import Field, RowId, Struct, Table
from tablewright.domain.text import pluralize_noun


class ImportOutcome(Struct, frozen=True):
    """Result of an import. `row_ids` are the new rows in the order of the data; None means all rows of the table."""

    table: Table
    rows: int
    warnings: tuple[str, ...] = ()
    row_ids: tuple[RowId, ...] | None = None


class FileOptions(Struct, frozen=True):
    """The user's options for reading a file; everything else is detected.

    `origin` identifies a file that is uploaded again, since its path is temporary. `fields` are its columns in
    file order with the names and types that the user wants; empty means as detected."""

    name: str = ""
    origin: str = ""
    key_field: str = ""
    header: bool = True
    sheet: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    fields: tuple[Field, ...] = ()


class ExportOutcome(Struct, frozen=True):
    """Result of an export. `stale` and `flagged` count the cells that should not be relied on yet."""

    row_count: int
    stale: int = 0
    flagged: int = 0

    @property
    def warnings(self) -> list[str]:
        said = ((self.stale, "stale: the inputs have changed"), (self.flagged, "flagged as doubtful"))
        return [
            f"{count:,} exported {pluralize_noun('value', count)} {'is' if count == 1 else 'are'} {what}."
            for count, what in said
            if count
        ]


class SheetsExport(Struct, frozen=True):
    """Result of an export to a Google spreadsheet. `sheets` are its new sheets, the one with the values first."""

    row_count: int
    link: str
    sheets: tuple[str, ...]


class ImportPreview(Struct, frozen=True):
    """The table that an import would make. `rows` are the first rows, as texts. `misfits` are, by column, the number of
    values that do not fit the chosen type and would be left out, with the first few of them."""

    name: str
    fields: tuple[Field, ...]
    key_field: str
    row_count: int
    rows: tuple[tuple[str, ...], ...]
    warnings: tuple[str, ...] = ()
    misfits: Mapping[str, tuple[int, tuple[str, ...]]] = {}
