"""A workbook: each sheet under its name, its tables row by row."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import datetime, time
from pathlib import Path
from typing import Any

from python_calamine import CalamineSheet, CalamineWorkbook, PasswordError, SheetTypeEnum, SheetVisibleEnum

from tablewright.domain.text import show_float
from tablewright.errors import Unreadable
from tablewright.extraction.layout.draft import Parsed, TextDraft, names_columns
from tablewright.formats.tables.archive import look_through
from tablewright.temporary import temporary_folder
from tablewright.text import one_line


def parse(content: bytes, name: str) -> Parsed:
    kind = "xls" if content.startswith(b"\xd0\xcf") else "ods" if name.lower().endswith(".ods") else "xlsx"
    if kind != "xls":
        _look_through(content, name)
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
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":  # calamine's panics are neither
            raise Unreadable(
                f"{name} is a damaged workbook ({error}).", advice="Open it in a spreadsheet program and save it again."
            ) from None
        raise
    return draft.done(kind)


def _look_through(content: bytes, name: str) -> None:
    """Before calamine opens it: it would unpack a bomb, and lay out a sheet with a cell in its last corner."""
    with temporary_folder() as folder:
        path = folder / (Path(name).name[-100:] or "workbook")
        path.write_bytes(content)
        look_through(path)


def _write_sheet(draft: TextDraft, name: str, sheet: CalamineSheet) -> None:
    headed = False
    for rows in _tables(sheet):
        if not headed:
            draft.heading(one_line(name))
            headed = True
        width = max(len([cell for cell in row if cell]) for row in rows)
        while len(rows) > 1 and width > 1 and len([cell for cell in rows[0] if cell]) == 1:
            draft.line(next(cell for cell in rows.pop(0) if cell))  # a title above the table
        for row in rows:
            draft.row(row)
        draft.end_table(head=names_columns(rows[:2]))


def _tables(sheet: CalamineSheet) -> Iterator[list[list[str]]]:
    """Rows without a blank one between them, without the columns that are empty in all of them."""
    block: list[list[str]] = []
    for record in sheet.iter_rows():
        row = [_shown(value) for value in record]
        if any(row):
            block.append(row)
        elif block:
            yield _trimmed(block)
            block = []
    if block:
        yield _trimmed(block)


def _trimmed(rows: list[list[str]]) -> list[list[str]]:
    kept = [column for column in range(len(rows[0])) if any(row[column] for row in rows)]
    return [[row[column] for column in kept] for row in rows]


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return show_float(value)
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "minutes")
    return str(value)
