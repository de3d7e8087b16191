"""Write a table to two sheets of a Google spreadsheet: its values, and their evidence. The table is only read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tablewright.domain.files import SheetsExport
from tablewright.domain.model import RowId, Table
from tablewright.domain.text import count_noun
from tablewright.errors import RunError, UsageError
from tablewright.formats.tables.sheet import SheetLines
from tablewright.store.store import Store
from tablewright.web.google_sheets import (
    LINK,
    MOST_CELLS,
    GoogleSheets,
    Line,
    batch_sheet_lines,
    find_free_titles,
    parse_sheet_target,
    read_service_key,
)


async def send_table_to_sheets(
    store: Store,
    table: Table,
    key: str,
    to: str,
    *,
    row_ids: Sequence[RowId] | None = None,
    progress: Callable[[int], None] | None = None,
) -> SheetsExport:
    """Write all rows, or those of `row_ids` in their order. `to` is the link or id of a spreadsheet, or the e-mail
    address of the owner of a new one."""
    account, target = read_service_key(key), parse_sheet_target(to)
    collected = SheetLines(table)
    if row_ids is None:
        await store.tables.stream(table.id, collected.add)
    else:
        async for rows in store.tables.windows_of(table.id, row_ids):
            collected.add(rows)
    both = [collected.values, collected.evidence] if len(collected.evidence) > 1 else [collected.values]
    cells = sum(len(lines) * len(lines[0]) for lines in both)
    if cells > MOST_CELLS:
        raise UsageError(
            f"A Google spreadsheet holds at most {MOST_CELLS:,} cells; this would be {cells:,}.",
            kept="Nothing was written.",
            advice="Export fewer rows, or to a file.",
        )
    async with GoogleSheets(account) as google:
        taken = await google.titles(target.id) if target.id else []
        sheets: list[tuple[str, Sequence[Line]]] = list(zip(find_free_titles(table.name, taken), both, strict=False))
        if target.id:
            id = target.id
            await google.add(id, sheets)
        else:
            id = await google.create(table.name, sheets, target.email)
        await write_sheets(google, id, sheets, progress)
    names = tuple(title for title, _ in sheets)
    return SheetsExport(row_count=len(collected.values) - 1, link=LINK.format(id=id), sheets=names)


async def write_sheets(
    google: GoogleSheets,
    id: str,
    sheets: Sequence[tuple[str, Sequence[Line]]],
    progress: Callable[[int], None] | None,
) -> None:
    for number, (title, lines) in enumerate(sheets):
        for start, part in batch_sheet_lines(lines):
            try:
                await google.write(id, title, part, start=start)
            except RunError as error:
                raise RunError(
                    error.what, kept=describe_partial_write(id, sheets, number, start), advice=error.advice
                ) from None
            if progress and number == 0:
                progress(start + len(part) - 2)


def describe_partial_write(id: str, sheets: Sequence[tuple[str, Sequence[Line]]], number: int, start: int) -> str:
    """Say what was written before line `start` of the sheet `number` failed."""
    title, lines = sheets[number]
    written, total = max(0, start - 2), len(lines) - 1
    whole = f"The sheet “{sheets[0][0]}” is complete. " if number else ""
    return (
        f"{whole}The sheet “{title}” in {LINK.format(id=id)} has {written:,} of {count_noun(total, 'line')}. "
        "The table here is unchanged."
    )
