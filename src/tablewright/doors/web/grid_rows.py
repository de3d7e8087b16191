"""Rows as the grid shows them: what the table has, and over it what an open proposal says."""

from __future__ import annotations

import asyncio
from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, get_args

from tablewright.app import Operation, Selection, Tablewright
from tablewright.errors import NotFound, UsageError
from tablewright.table.model import Cell, Money, Noun, Row, RowId, Table
from tablewright.table.text import cell_text, plural, shortened

Only: TypeAlias = Literal["", "failed", "flagged", "stale", "empty", "unsure"]
ONLY: tuple[Only, ...] = get_args(Only)

LONGEST = 300
"""Characters of a value in the grid; the panel shows all of it."""
PAGE = 2_000
KEPT = 24
"""Orders of rows that are remembered, of whatever tables."""


class Wanted(Noun, frozen=True):
    """Which rows of a table somebody looks at. `view` is a number that changes when they ask to look anew."""

    table_id: str
    proposal_id: str = ""
    only: Only = ""
    find: str = ""
    sort: str = ""
    """The column in whose order they are; else they are in that of the table."""
    descending: bool = False
    view: int = 0


class RowOrders:
    """The numbers of the wanted rows, in their order, so that the grid can ask for the rows 5,000 to 5,200."""

    def __init__(self) -> None:
        self._orders: OrderedDict[tuple[Wanted, int], asyncio.Task[array[int]]] = OrderedDict()

    async def order(self, tablewright: Tablewright, wanted: Wanted) -> array[int]:
        newest = await tablewright.history(wanted.table_id, limit=1)
        # What was found or sorted stays as it was then: rows that vanish under the cursor are worse than old ones.
        change = 0 if wanted.only or wanted.find or wanted.sort else newest[0].number
        at = (wanted, change)
        if at not in self._orders or failed(self._orders[at]):
            self._orders[at] = asyncio.create_task(find_rows(tablewright, wanted))
            while len(self._orders) > KEPT:
                self._orders.popitem(last=False)
        self._orders.move_to_end(at)
        return await asyncio.shield(self._orders[at])


def failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


async def find_rows(tablewright: Tablewright, wanted: Wanted) -> array[int]:
    table = await tablewright.table(wanted.table_id)
    is_filtered = bool(wanted.only or wanted.find)
    found = await tablewright.row_ids(table.id, await keeper(tablewright, table, wanted) if is_filtered else None)
    return array("q", await sort_rows(tablewright, wanted, found) if wanted.sort else found)


async def sort_rows(tablewright: Tablewright, wanted: Wanted, row_ids: Sequence[RowId]) -> list[RowId]:
    """By what the column has, or would have: numbers before words, and what is empty last, whichever way round."""
    keys: dict[RowId, tuple[int, float, str]] = {}

    def take(row_id: RowId, cell: Cell) -> None:
        if cell.value is not None:
            keys[row_id] = sort_key(cell)

    await tablewright.column(wanted.table_id, wanted.sort, take)
    after = (0, "")
    while wanted.proposal_id:
        page = await tablewright.operations(wanted.proposal_id, after=after, limit=PAGE, field=wanted.sort)
        for operation in page:
            if operation.decision == "open":
                take(operation.row_id, operation.cell)
        if len(page) < PAGE:
            break
        after = (page[-1].row_id, page[-1].field)

    def ordered() -> list[RowId]:
        stated = sorted(
            (row_id for row_id in row_ids if row_id in keys), key=keys.__getitem__, reverse=wanted.descending
        )
        return [*stated, *(row_id for row_id in row_ids if row_id not in keys)]

    return await asyncio.to_thread(ordered)


def sort_key(cell: Cell) -> tuple[int, float, str]:
    value = cell.value.amount if isinstance(cell.value, Money) else cell.value
    if isinstance(value, (int, float)):
        return 0, float(value), ""
    return 1, 0.0, cell_text(cell).casefold()


async def keeper(tablewright: Tablewright, table: Table, wanted: Wanted) -> Callable[[Row], bool]:
    """Whether a row is one of the wanted; a proposed cell counts in place of the one that it would replace."""
    filled, empty, doubted = await proposed_cells(tablewright, wanted.proposal_id)
    names = [field.name for field in table.shown_fields]
    proposed = {name for _, name in (*filled, *empty)}
    every = [*names, *sorted(proposed - {*names})]
    needle = wanted.find.casefold()

    def has_mark(row: Row, name: str) -> bool:
        at, cell = (row.id, name), row.cell(name)
        match wanted.only:
            case "failed":
                return at in empty or (cell.status == "FAILED" and at not in filled)
            case "flagged":
                return cell.status == "FLAGGED"
            case "stale":
                return cell.stale
            case "empty":
                return cell.value is None and at not in filled
            case "unsure":
                return at in doubted or (at not in filled and is_unsure(cell))
            case _:
                return True

    def keep(row: Row) -> bool:
        if needle and not any(needle in cell_text(row.cell(name)).casefold() for name in names):
            return False
        return not wanted.only or any(has_mark(row, name) for name in every)

    return keep


async def proposed_cells(
    tablewright: Tablewright, proposal_id: str
) -> tuple[set[tuple[RowId, str]], set[tuple[RowId, str]], set[tuple[RowId, str]]]:
    """Of an open proposal: the cells with a value, those without, and those with a value that is not sure."""
    if not proposal_id:
        return set(), set(), set()
    try:
        filled = await tablewright.open_cells(proposal_id, failed=False, even_unfinished=True)
        empty = await tablewright.open_cells(proposal_id, failed=True, even_unfinished=True)
        unsure = await tablewright.open_cells(proposal_id, Selection(below=0.5), failed=False, even_unfinished=True)
    except UsageError:  # it was decided in the meantime
        return set(), set(), set()
    return {*filled}, {*empty}, {*unsure}


def is_unsure(cell: Cell) -> bool:
    return cell.value is not None and (cell.confidence or 0) < 0.5


async def block(tablewright: Tablewright, table: Table, proposal_id: str, row_ids: Sequence[RowId]) -> list[Any]:
    """These rows as the grid takes them."""
    rows = await tablewright.rows_by_id(table.id, row_ids)
    proposed = await proposed_in(tablewright, proposal_id, row_ids) if proposal_id else {}
    return [
        shown_row(rows[row_id], [field.name for field in table.shown_fields], proposed.get(row_id, {}))
        for row_id in row_ids
        if row_id in rows
    ]


async def proposed_in(
    tablewright: Tablewright, proposal_id: str, row_ids: Sequence[RowId]
) -> dict[RowId, dict[str, Cell]]:
    """The open cells of a proposal in these rows."""
    found: dict[RowId, dict[str, Cell]] = {}
    after = (0, "")
    while True:
        page = await tablewright.operations(proposal_id, after=after, limit=PAGE, row_ids=row_ids)
        for operation in page:
            if operation.decision == "open":
                found.setdefault(operation.row_id, {})[operation.field] = operation.cell
        if len(page) < PAGE:
            return found
        after = (page[-1].row_id, page[-1].field)


def shown_row(row: Row, names: Sequence[str], proposed: dict[str, Cell]) -> dict[str, Any]:
    cells = {name: shown(row.cell(name)) for name in names if name in row.cells}
    cells |= {name: shown(cell, proposed=True) for name, cell in proposed.items()}
    return {"id": row.id, "cells": cells}


def shown(cell: Cell, *, proposed: bool = False) -> dict[str, Any]:
    """A cell as the grid draws it: its text, its mark, and what is told when the pointer rests on it."""
    content = cell_text(cell)
    view: dict[str, Any] = {"text": shortened(content, LONGEST), "mark": mark(cell), "note": note(cell, proposed)}
    if proposed:
        view["proposed"] = True
    if cell.stale:
        view["stale"] = True
    if cell.conflict:
        view["disputed"] = True
    if cell.value is None and cell.status == "FAILED":
        view["why"] = (cell.reason or "error").replace("_", " ")
    if view["text"] != content and len(content) <= 5_000:
        view["whole"] = content
    return view


def mark(cell: Cell) -> str:
    if cell.status == "FLAGGED":
        return "flagged"
    if cell.status == "FAILED":
        return "failed"
    if cell.value is None:
        return "empty"
    return "own" if is_own(cell) else {"none": "low"}.get(cell.confidence_label, cell.confidence_label)


def is_own(cell: Cell) -> bool:
    """Given or typed by a person: taken as true, so there is nothing to be sure or unsure of."""
    return cell.is_given or (not cell.evidence and cell.confidence == 1.0 and (cell.error or "").startswith("typed in"))


def note(cell: Cell, proposed: bool = False) -> str:
    parts = ["proposed, not in the table yet"] if proposed else []
    if cell.status == "FLAGGED":
        parts.append(cell.error or "flagged")
    elif cell.status == "FAILED":
        reason = (cell.reason or "error").replace("_", " ")
        parts.append(f"empty: {reason}" + (f" ({shortened(cell.error, 160)})" if cell.error else ""))
    elif cell.value is not None and not is_own(cell):
        count = len(cell.evidence)
        of = f", {count} {plural('source', count)}" if count else ""
        parts.append(f"{cell.confidence_label} confidence, {cell.confidence or 0:.2f}{of}")
    elif cell.value is not None:
        parts.append(cell.error or "given")
    if cell.conflict:
        parts.append("sources disagree")
    if cell.stale:
        parts.append("stale: an input changed since")
    return "; ".join(parts)


async def operation_of(
    tablewright: Tablewright, table_id: str, run_id: str, row_id: RowId, field: str
) -> Operation | None:
    """What the run that wrote a cell proposed for it, with the steps it took."""
    for head in await tablewright.proposals(table_id):
        if head.run_id == run_id:
            try:
                return await tablewright.operation(head.id, row_id, field)
            except NotFound:
                return None
    return None
