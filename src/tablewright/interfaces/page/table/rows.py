"""Rows as the grid shows them: read in blocks, with the cells of open proposals in place of the table's own.

`operations/grid_rows.py` decides which rows match a query and in which order; this module remembers the orders and
draws the rows for the browser."""

from __future__ import annotations

import asyncio
from array import array
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from tablewright.domain.condition import Condition
from tablewright.domain.model import Cell, Row, RowId, Table
from tablewright.domain.text import cell_text, shorten_text
from tablewright.errors import UsageError
from tablewright.interfaces.page.words import (
    confidence_text,
    dispute_text,
    empty_text,
    reason_text,
    t,
    translated_basis,
)
from tablewright.interfaces.server.limits import RequestTurns
from tablewright.operations.grid_rows import (
    MatchingRows,
    RowMark,
    RowQuery,
    cell_mark,
    find_matching_rows,
    is_disputed,
    is_given_by_person,
    is_newer_than_cell,
    proposed_cells_by_row,
    replaces_cell,
)
from tablewright.services import Services


@dataclass(frozen=True)
class GridLimits:
    # A block ends after this many characters: browsers parse a few MB of JSON without a pause.
    block_characters: int = 4_000_000
    # Cells drawn at once, so that long texts cannot make a block many times too large: at most twice the limit above.
    block_cells: int = 4_000
    # Enough for several open pages of one person.
    orders_per_person: int = 24
    # The orders of all persons together, 16 million rows. Beyond it the person with the most loses their oldest.
    order_bytes: int = 128 * 1024 * 1024
    # Cells written in one change, which is one transaction and one step of undo.
    written_cells: int = 20_000
    # Of a text for the clipboard: browsers accept little more, and it is held in memory as a whole.
    copied_cells: int = 500_000
    copied_characters: int = 20_000_000


GRID_LIMITS = GridLimits()


def parse_row_query(table_id: str, query: Mapping[str, Any]) -> RowQuery:
    """Read a query as the browser sends it."""
    try:
        return RowQuery(
            table_id=table_id,
            proposals=tuple(filter(None, str(query.get("proposals", "")).split(","))),
            only=msgspec.convert(query.get("only", ""), RowMark),
            # Cut as the page's own field cuts it: the address can be written by hand.
            find=str(query.get("find", "")).strip()[:200],
            filters=msgspec.json.decode(query.get("filters") or "[]", type=tuple[Condition, ...]),
            sort=str(query.get("sort", "")),
            descending=str(query.get("descending", "")).lower() == "true",
            view=str(query.get("view", ""))[:60],
        )
    except msgspec.MsgspecError as error:
        raise UsageError(t("This search is not possible: {error}.", error=error)) from None


def describe_undecided_rows(matching: MatchingRows) -> str:
    """Say which rows the filters could not decide, or ""."""
    unlike = t(
        "{count} row not compared: its amount is in another currency ({currencies})"
        "|{count} rows not compared: their amounts are in other currencies ({currencies})",
        count=matching.unlike_amounts,
        currencies=", ".join(sorted(matching.currencies)),
    )
    vague = t(
        "{count} row not compared: its value is not exact enough"
        "|{count} rows not compared: their values are not exact enough",
        count=matching.vague_values,
    )
    return "; ".join([unlike] * bool(matching.unlike_amounts) + [vague] * bool(matching.vague_values))


class RowOrders:
    """Remember the order of matching rows, so that the grid can ask for rows 5,000 to 5,200.

    Each person has their own: many different orders displace that person's older ones, never another's. All people
    share the order of a plain table."""

    def __init__(self, kept_bytes: int = GRID_LIMITS.order_bytes) -> None:
        self._kept_bytes = kept_bytes
        self._of: OrderedDict[str, OrderedDict[tuple[RowQuery, int], asyncio.Task[MatchingRows]]] = OrderedDict()
        # Each order reads a whole table in a thread of its own: two at a time, one for each person.
        self._turns = RequestTurns(2, 1)

    def __len__(self) -> int:
        return sum(map(len, self._of.values()))

    async def order(self, services: Services, query: RowQuery) -> array[int]:
        return (await self.find(services, query)).row_ids

    async def find(self, services: Services, query: RowQuery) -> MatchingRows:
        # What was found or sorted stays as it was then: rows that vanish under the cursor are worse than old ones.
        person, at = services.actor, (query, 0)
        if query.is_plain:
            person = ""
            at = (RowQuery(table_id=query.table_id), (await services.store.tables.activity(query.table_id)).change)
        own = self._of.setdefault(person, OrderedDict())
        if at not in own or has_failed(own[at]):
            own[at] = asyncio.create_task(self._find(services, query, person))
        own.move_to_end(at)
        self._of.move_to_end(person)
        task = own[at]
        try:
            # One person's cancelled request must not cancel the order that others wait for.
            return await asyncio.shield(task)
        finally:
            self._forget_oldest(person)

    async def _find(self, services: Services, query: RowQuery, person: str) -> MatchingRows:
        async with nullcontext() if query.is_plain else self._turns.take(person):
            return await find_matching_rows(services, query)

    def _forget_oldest(self, person: str) -> None:
        own = self._of.get(person, OrderedDict())
        while len(own) > GRID_LIMITS.orders_per_person:
            own.popitem(last=False)
        # Measured each time, because the size of an order is known only once it is found.
        sizes = {each: sum(map(order_bytes, orders.values())) for each, orders in self._of.items()}
        while sum(sizes.values()) > self._kept_bytes:
            # Of several with the same size this is the person who was active the longest ago.
            largest = max(sizes, key=sizes.__getitem__)
            _, task = self._of[largest].popitem(last=False)
            sizes[largest] -= order_bytes(task)
            if not self._of[largest]:
                del self._of[largest], sizes[largest]


def order_bytes(task: asyncio.Task[MatchingRows]) -> int:
    if not task.done() or has_failed(task):
        return 0
    found = task.result().row_ids
    return len(found) * found.itemsize


def has_failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


def kept_value_reason(proposed: Cell) -> str:
    """Return the reason why a cell keeps its value although a run has looked for a new one."""
    return t("{reason}; the present value stays", reason=reason_text(proposed.reason))


class RowBlock(NamedTuple):
    """Rows for the grid. `done` counts the requested rows that they cover, also removed ones: long rows make a short
    block."""

    rows: list[dict[str, Any]]
    done: int


async def read_row_block(
    services: Services, table: Table, proposals: Sequence[str], row_ids: Sequence[RowId]
) -> RowBlock:
    """Read as many of the rows as fit into a reply, starting with the first."""
    names = [field.name for field in table.shown_fields]
    found: list[dict[str, Any]] = []
    done = size = 0
    # Wide tables have fewer rows in a block.
    fits = max(1, GRID_LIMITS.block_cells // max(1, len(names)))
    for start in range(0, len(row_ids), fits):
        wanted = row_ids[start : start + fits]
        proposed = await proposed_cells_by_row(services, proposals, wanted)
        async for rows in services.store.tables.windows_of(table.id, wanted):
            drawn = await asyncio.to_thread(
                lambda some, over: [grid_row(row, names, over.get(row.id, {})) for row in some], rows, proposed
            )
            found += drawn
            # On its way to the browser, a cell has about 60 bytes in addition to its text.
            cells = [cell for row in drawn for cell in row["cells"].values()]
            size += sum(60 + len(cell["text"]) + len(cell.get("whole", "")) for cell in cells)
        done += len(wanted)
        if size > GRID_LIMITS.block_characters:
            break
    return RowBlock(found, done)


def grid_row(row: Row, names: Sequence[str], proposed: dict[str, Cell]) -> dict[str, Any]:
    cells = {name: grid_cell(row.cell(name)) for name in names if name in row.cells}
    for name, cell in proposed.items():
        if replaces_cell(cell, row.cell(name)):
            cells[name] = grid_cell(cell, proposed=True)
        elif is_newer_than_cell(cell.updated_at, row.cell(name).updated_at):
            cells[name]["note"] += f"; {t('Looked up again: {result}', result=kept_value_reason(cell))}"
    return {"id": row.id, "cells": cells}


def grid_cell(cell: Cell, *, proposed: bool = False) -> dict[str, Any]:
    """Return a cell as the grid draws it: text, mark and tooltip."""
    content = cell_text(cell)
    # The panel shows all of a value; the grid has room for this much.
    view: dict[str, Any] = {
        "text": shorten_text(content, 300),
        "mark": cell_mark(cell),
        "note": cell_tooltip(cell, proposed),
    }
    flags = {"proposed": proposed, "stale": cell.stale, "judged": cell.basis == "judged", "disputed": is_disputed(cell)}
    view |= {name: True for name, is_so in flags.items() if is_so}
    if cell.value is None and cell.status == "FAILED":
        view["why"] = empty_text(cell)
    if view["text"] != content:
        # A very long text is not sent with its row: it is read when the person opens it, and edited in a window.
        view |= {"whole": content} if len(content) <= 2_000 else {"cut": True}
    return view


def cell_tooltip(cell: Cell, proposed: bool = False) -> str:
    parts = [t("Proposed, not in the table yet")] if proposed else []
    if cell.status == "FLAGGED":
        parts.append(cell.error or t("flagged"))
    elif cell.status == "FAILED":
        why = f" ({shorten_text(cell.error, 160)})" if cell.error else ""
        parts.append(t("empty: {reason}", reason=reason_text(cell.reason)) + why)
    elif cell.value is not None and not is_given_by_person(cell):
        count = len(cell.evidence)
        of = f", {t('{count} source|{count} sources', count=count)}" if count else ""
        parts.append(f"{confidence_text(cell.confidence_label)}, {cell.confidence or 0:.2f}{of}")
        if basis := translated_basis(cell):
            parts.append(basis[:1].lower() + basis[1:])
        if cell.error:
            parts.append(shorten_text(cell.error, 160))
    elif cell.value is not None:
        parts.append(cell.error or t("Given"))
    if cell.imported:
        parts.append(t("Imported with its sources, not checked here"))
    if is_disputed(cell):
        parts.append(dispute_text(cell))
    if cell.stale:
        parts.append(t("↻ Stale: an input has changed"))
    return "; ".join(parts)
