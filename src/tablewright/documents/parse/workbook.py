"""Parse a workbook: each visible sheet under its name, its tables row by row. The file is untrusted."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import datetime, time
from pathlib import Path
from typing import Any

from python_calamine import CalamineSheet, CalamineWorkbook, PasswordError, SheetTypeEnum, SheetVisibleEnum

from tablewright.domain.text import format_float
from tablewright.errors import Unreadable
from tablewright.extraction.layout.draft import Parsed, TextDraft, is_header_row
from tablewright.formats.tables.archive import measure_sheets
from tablewright.temporary import temporary_folder
from tablewright.text import clean_one_line


def parse_workbook(content: bytes, name: str) -> Parsed:
    kind = "xls" if content.startswith(b"\xd0\xcf") else "ods" if name.lower().endswith(".ods") else "xlsx"
    if kind != "xls":
        _check_archive(content, name)
    draft = TextDraft()
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(content))
        for about in book.sheets_metadata:
            if about.typ != SheetTypeEnum.WorkSheet:
                continue
            if about.visible != SheetVisibleEnum.Visible:
                draft.notes.append(f"The hidden sheet '{about.name}' was not read.")
                continue
            _write_sheet(draft, about.name, book.get_sheet_by_name(about.name))
    except PasswordError:
        raise Unreadable(
            f"{name} is protected by a password.", advice="Save it without the password and add it again."
        ) from None
    except MemoryError:
        raise
    except BaseException as error:
        # calamine's panics are neither.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise Unreadable(
                f"{name} is a damaged workbook ({error}).", advice="Open it in a spreadsheet program and save it again."
            ) from None
        raise
    return draft.finish(kind)


def _check_archive(content: bytes, name: str) -> None:
    """Reject a file that calamine must not open: it would unpack a zip bomb, and allocate a whole sheet for a cell in
    the last corner."""
    with temporary_folder() as folder:
        path = folder / (Path(name).name[-100:] or "workbook")
        path.write_bytes(content)
        measure_sheets(path)


def _write_sheet(draft: TextDraft, name: str, sheet: CalamineSheet) -> None:
    headed = False
    for rows in _split_tables(sheet):
        if not headed:
            draft.add_heading(clean_one_line(name))
            headed = True
        width = max(len([cell for cell in row if cell]) for row in rows)
        while len(rows) > 1 and width > 1 and len([cell for cell in rows[0] if cell]) == 1:
            # A title above the table.
            draft.add_line(next(cell for cell in rows.pop(0) if cell))
        for row in rows:
            draft.add_row(row)
        draft.end_table(head=is_header_row(rows[:2]))


def _split_tables(sheet: CalamineSheet) -> Iterator[list[list[str]]]:
    """Yield blocks of rows without a blank row between them, without columns that are empty in the whole block."""
    block: list[list[str]] = []
    for record in sheet.iter_rows():
        row = [_format_workbook_cell(value) for value in record]
        if any(row):
            block.append(row)
        elif block:
            yield _drop_empty_columns(block)
            block = []
    if block:
        yield _drop_empty_columns(block)


def _drop_empty_columns(rows: list[list[str]]) -> list[list[str]]:
    kept = [column for column in range(len(rows[0])) if any(row[column] for row in rows)]
    return [[row[column] for column in kept] for row in rows]


def _format_workbook_cell(value: Any) -> str:
    if isinstance(value, str):
        return clean_one_line(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return format_float(value)
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "minutes")
    return str(value)
