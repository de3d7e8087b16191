"""What is done with a selected range: its text for the clipboard, cells filled down or cleared, rows removed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nicegui import app as pages

from tablewright.domain.edits import RemoveRow
from tablewright.domain.model import Noun, Row, RowId, Table
from tablewright.domain.text import cell_text, count_noun
from tablewright.doors.server.context import Visit
from tablewright.doors.web.grid_rows import RowOrders, RowQuery, proposed_cells, replaces, wanted_of
from tablewright.doors.web.words import t
from tablewright.errors import UsageError
from tablewright.formats.tables.markdown import escape_markdown
from tablewright.services import Change, Services

MOST_WRITTEN = 20_000
"""Cells that are written at once."""
MOST_COPIED = 500_000
MOST_COPIED_CHARACTERS = 20_000_000
"""Of a text for the clipboard: browsers take no more than a few times that, and it is held whole meanwhile."""


class RowRange(Noun, frozen=True):
    """From one row to another, as they are shown; to the end where there is no `last`. `rows` is how many that were."""

    first: RowId | None = None
    last: RowId | None = None
    rows: int = 0


class Picked(Noun, frozen=True, gc=True):
    """What is selected, as the browser says it: rows of the order that `query` stands for, and columns."""

    spans: tuple[RowRange, ...] = ()
    fields: tuple[str, ...] = ()
    query: Mapping[str, Any] = {}

    def wanted(self, table_id: str) -> RowQuery:
        return wanted_of(table_id, self.query)


def orders() -> RowOrders:
    found: RowOrders = pages.state.server.state.page_rows
    return found


async def rows_of(services: Services, table_id: str, picked: Picked) -> list[RowId]:
    """All rows of the selection, also those that the browser does not have."""
    order = await orders().order(services, picked.wanted(table_id))
    found: list[RowId] = []
    for span in picked.spans:
        try:
            first = 0 if span.first is None else order.index(span.first)
            last = len(order) - 1 if span.last is None else order.index(span.last)
        except ValueError:
            raise UsageError(
                t("The rows have changed since they were selected."),
                kept=t("Nothing was changed."),
                advice=t("Select them again."),
            ) from None
        found += order[first : last + 1]
    return list(dict.fromkeys(found))


async def rows_from(services: Services, table_id: str, picked: Picked, count: int) -> list[RowId]:
    """So many rows from the first that is selected, or as many as there are."""
    if not picked.spans:
        return []
    from_there = Picked(spans=(RowRange(first=picked.spans[-1].first),), query=picked.query)
    return (await rows_of(services, table_id, from_there))[:count]


async def text_of(services: Services, table: Table, picked: Picked) -> str:
    """The cells as they are shown, with tabs between them, as spreadsheets take them."""
    texts = await picked_texts(services, table, picked)
    return "\n".join("\t".join(quoted(text) for text in line) for line in texts)


async def markdown_of(services: Services, table: Table, picked: Picked) -> str:
    """The same as a Markdown table, with the names of the columns."""
    figures = {field.name for field in table.fields if field.type in ("number", "money")}
    rule = ["---:" if name in figures else "---" for name in picked.fields]
    texts = [picked.fields, *await picked_texts(services, table, picked)]
    first, *lines = [" | ".join(escape_markdown(text) for text in line) for line in texts]
    return "\n".join(f"| {line} |" for line in (first, " | ".join(rule), *lines)) + "\n"


async def picked_texts(services: Services, table: Table, picked: Picked) -> list[list[str]]:
    row_ids = await rows_of(services, table.id, picked)
    if len(row_ids) * len(picked.fields) > MOST_COPIED:
        raise UsageError(
            t("That is more than {most_copied} cells.", most_copied=MOST_COPIED), advice=t("Export the table instead.")
        )
    return await shown_texts(services, table, picked.wanted(table.id).proposals, row_ids, picked.fields)


async def shown_texts(
    services: Services, table: Table, proposals: Sequence[str], row_ids: Sequence[RowId], fields: Sequence[str]
) -> list[list[str]]:
    proposed = await proposed_cells(services, proposals, row_ids)

    def text(row: Row, name: str) -> str:
        own, other = row.cell(name), proposed.get(row.id, {}).get(name)
        return cell_text(other if other and replaces(other, own) else own)

    texts: list[list[str]] = []
    size = 0
    async for rows in services.row_windows(table.id, row_ids):
        lines = await asyncio.to_thread(lambda some: [[text(row, name) for name in fields] for row in some], rows)
        size += sum(len(each) for line in lines for each in line)
        if size > MOST_COPIED_CHARACTERS:
            raise UsageError(
                t("That is more than {most_copied} characters.", most_copied=MOST_COPIED_CHARACTERS),
                advice=t("Export the table instead."),
            )
        texts += lines
    return texts


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in '\t\n\r"') else text


def own_fields(table: Table, picked: Picked) -> list[str]:
    """Those of the selected columns that the table has; others are only proposed."""
    found = [name for name in picked.fields if table.field(name)]
    if not found:
        raise UsageError(t("These columns are only proposed."), advice=t("Accept them before you edit their cells."))
    return found


def refuse_many(cells: int) -> None:
    if cells > MOST_WRITTEN:
        raise UsageError(
            t(
                "That is {cells} cells. At most {most_written} can be changed at once.",
                cells=cells,
                most_written=MOST_WRITTEN,
            ),
            kept=t("Nothing was changed."),
        )


async def clear(visit: Visit, table: Table, picked: Picked) -> tuple[Change | None, str]:
    row_ids, names = await rows_of(visit.services, table.id, picked), own_fields(table, picked)
    refuse_many(len(row_ids) * len(names))
    values = {(row_id, name): "" for row_id in row_ids for name in names}
    change = await visit.services.changes.write_values(table.id, values)
    return change, t("{count} cell cleared.|{count} cells cleared.", count=len(values))


async def fill_down(visit: Visit, table: Table, picked: Picked) -> tuple[Change | None, str]:
    """What the first selected row has, into the others."""
    row_ids, names = await rows_of(visit.services, table.id, picked), own_fields(table, picked)
    if len(row_ids) < 2:
        raise UsageError(t("Nothing to fill."), advice=t("Select the cell to copy and the cells below it."))
    refuse_many(len(row_ids) * len(names))
    proposals = picked.wanted(table.id).proposals
    (first,) = await shown_texts(visit.services, table, proposals, row_ids[:1], names)
    values = {(row_id, name): text for row_id in row_ids[1:] for name, text in zip(names, first, strict=True)}
    change = await visit.services.changes.write_values(table.id, values)
    return change, t("{count} cell filled.|{count} cells filled.", count=len(values))


async def delete_rows(visit: Visit, table: Table, picked: Picked) -> tuple[Change | None, str]:
    row_ids = await rows_of(visit.services, table.id, picked)
    said = f"{count_noun(len(row_ids), 'row')}"
    edits = [RemoveRow(row_id=row_id) for row_id in row_ids]
    return await visit.services.changes.edit(table.id, edits, f"deleted {said}"), t(
        "{count} row deleted.|{count} rows deleted.", count=len(row_ids)
    )


CHANGES: dict[str, Callable[..., Any]] = {
    "grid_clear": clear,
    "grid_fill_down": fill_down,
    "grid_delete_rows": delete_rows,
}
"""By what the browser calls it."""
