"""Files of tables: what the user says about one, what became of it, what was written."""

from __future__ import annotations

from collections.abc import Mapping

from tablewright.domain.model import Field, Noun, RowId, Table
from tablewright.domain.text import plural


class Imported(Noun, frozen=True):
    """`row_ids` are the rows that the data became, in its order; None for all rows of the table."""

    table: Table
    rows: int
    warnings: tuple[str, ...] = ()
    row_ids: tuple[RowId, ...] | None = None


class FileOptions(Noun, frozen=True):
    """What the user says about a file; everything else is found out.

    `origin` tells an uploaded file when it comes again: its path is only for as long as it is read. `fields` are its
    columns with the names and types that the user wants, in the order of the file; empty: as they were found out."""

    name: str = ""
    origin: str = ""
    key_field: str = ""
    header: bool = True
    sheet: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    fields: tuple[Field, ...] = ()


class Exported(Noun, frozen=True):
    """What was written. `stale` and `flagged` are the cells that are not to be relied on as they are."""

    row_count: int
    stale: int = 0
    flagged: int = 0

    @property
    def warnings(self) -> list[str]:
        said = ((self.stale, "stale: the inputs have changed"), (self.flagged, "flagged as doubtful"))
        return [
            f"{count:,} exported {plural('value', count)} {'is' if count == 1 else 'are'} {what}."
            for count, what in said
            if count
        ]


class SentToSheets(Noun, frozen=True):
    """What was written to a Google spreadsheet: `sheets` are its new sheets, that of the values first."""

    row_count: int
    link: str
    sheets: tuple[str, ...]


class Preview(Noun, frozen=True):
    """What a file would become; nothing is imported yet. `rows` are the first, as texts. `misfits` are, by column, the
    values that do not fit the type that the user wants, and would be left out: how many, and the first few."""

    name: str
    fields: tuple[Field, ...]
    key_field: str
    row_count: int
    rows: tuple[tuple[str, ...], ...]
    warnings: tuple[str, ...] = ()
    misfits: Mapping[str, tuple[int, tuple[str, ...]]] = {}
