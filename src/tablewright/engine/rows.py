"""The rows of a run: which they are, read window by window, what of each must be filled, and what was tried before."""

from __future__ import annotations

import asyncio
import heapq
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from types import TracebackType

import msgspec

from tablewright.domain.edits import flag_note
from tablewright.domain.model import Attempt, Cell, Field, Noun, Row, RowId
from tablewright.domain.proposal import CellAt
from tablewright.domain.text import cell_text, shortened, show
from tablewright.models.text_budget import batches
from tablewright.store.learning import Remark
from tablewright.store.runs import Todo
from tablewright.store.store import Store
from tablewright.store.tables import RowWindow
from tablewright.strategies.strategy import FIRST, Feedback, Strategy, Task

WINDOW = 2_000
SLICE = 40
SMALL_SLICE, SLICES = 5, 96
COMPUTED_SLICES, LARGEST_COMPUTED = 8, 10 * WINDOW
"""Rows. Handing out a slice takes tens of milliseconds, and who dies holds up a few. A small run has smaller ones, so
that several workers have something to do, and none still has much when the others are done; but not smaller than what
is done at once, or a worker would wait for the next."""


async def read_windows(
    store: Store,
    table_id: str,
    row_ids: Sequence[RowId] | None = None,
    *,
    fields: Collection[str] | None = None,
    most: int | None = None,
) -> AsyncIterator[RowWindow]:
    """Yield these rows of a table, or all, a window at a time, and at most so many."""
    if row_ids is not None:
        for some in batches(row_ids[:most], most=WINDOW):
            window = await store.tables.rows(table_id, some, fields=fields)
            if window.rows:
                yield window
        return
    after = read = 0
    while limit := WINDOW if most is None else min(WINDOW, most - read):
        window = await store.tables.window(table_id, after=after, limit=limit, fields=fields)
        if not window.rows:
            return
        yield window
        after = window.rows[-1].id
        read += len(window.rows)


@dataclass(frozen=True, kw_only=True)
class Rows:
    """`only` are the cells to fill, whatever their status; without it, those that need work."""

    store: Store
    strategy: Strategy
    task: Task
    row_ids: Sequence[RowId] | None
    only: Collection[CellAt] | None
    max_rows: int | None

    async def count(self) -> int:
        if self.row_ids is not None:
            count = len(self.row_ids)
        else:
            count = await self.store.tables.count(self.task.table.id)
        return count if self.max_rows is None else min(count, self.max_rows)

    async def windows(self, recall: Callable[[Sequence[Row]], Awaitable[None]]) -> AsyncIterator[list[tuple[Row, int]]]:
        """The rows to work on, some at a time, each with where the log stood when it was read. `recall` sees them
        first, as they stand in the table."""
        looked_at = self.strategy.columns(self.task)
        columns = None if looked_at is None else {*looked_at, *self._needed_columns}
        async for window in self._read(columns):
            await recall(window.rows)
            yield [(self._reopened(row), window.as_of) for row in window.rows]

    async def open_cells(self) -> tuple[int, dict[str, int]]:
        """How many rows need work, and how many cells of each field; read window by window."""
        rows, cells = 0, {field.name: 0 for field in self.task.fields}
        async for window in self._read(self._needed_columns):
            for row in map(self._reopened, window.rows):
                open_fields = [name for name in cells if row.cell(name).needs_work]
                if open_fields and not self.lacks(row, open_fields):
                    rows += 1
                    for name in open_fields:
                        cells[name] += 1
        return rows, cells

    async def slices(self, at_once: int, *, computed: bool = False) -> list[Todo]:
        """The same work in parts, of which as many can be done side by side as there are workers. What is only computed
        takes less time for a row than handing out a slice does, so its slices are whole windows, and few."""
        if self.row_ids is None:
            row_ids = await self.store.tables.row_ids(self.task.table.id, limit=self.max_rows)
        else:
            row_ids = list(self.row_ids)[: self.max_rows]
        of_row: dict[RowId, list[CellAt]] = {}
        for at in self.only or ():
            of_row.setdefault(at[0], []).append(at)
        todos = []
        if computed:
            size = min(LARGEST_COMPUTED, max(WINDOW, math.ceil(len(row_ids) / COMPUTED_SLICES)))
        else:
            size = min(SLICE, max(SMALL_SLICE, at_once, math.ceil(len(row_ids) / SLICES)))
        for some in batches(row_ids, most=size):
            only = None if self.only is None else tuple(at for row_id in some for at in of_row[row_id])
            todos.append(Todo(row_ids=some, only=only))
        return todos

    def lacks(self, row: Row, open_fields: Collection[str]) -> str:
        """What a row must have and lacks, in words: the column that names it, unless the questions name only others."""
        if not open_fields or not self.strategy.needs_identity:
            return ""
        key = self.task.table.key_field
        lacking: dict[str, None] = {}
        for field in self.task.fields:
            if field.name in open_fields:
                inputs = (key,) if not field.depends_on or key in field.depends_on else field.depends_on
                if any(name and cell_text(row.cell(name)) for name in inputs):
                    return ""
                lacking |= dict.fromkeys(filter(None, inputs))
        if not lacking:
            return "the table has no column that names its rows"
        return f"{', '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} empty"

    @property
    def _needed_columns(self) -> set[str]:
        """The row's name, the asked fields and what their questions name."""
        asked = {name for field in self.task.fields for name in (field.name, *field.depends_on)}
        return {self.task.table.key_field, *asked}

    def _read(self, columns: set[str] | None) -> AsyncIterator[RowWindow]:
        return read_windows(self.store, self.task.table.id, self.row_ids, fields=columns, most=self.max_rows)

    def _reopened(self, row: Row) -> Row:
        """With `only`, the row as the strategy is to see it: these cells need work, and the other asked ones do not."""
        if self.only is None:
            return row
        cells = dict(row.cells)
        for field in self.task.fields:
            cell = row.cell(field.name)
            if (row.id, field.name) in self.only:
                cells[field.name] = msgspec.structs.replace(cell, status="FLAGGED")
            elif cell.needs_work:
                cells[field.name] = msgspec.structs.replace(cell, status="FAILED", reason="not_found")
        return msgspec.structs.replace(row, cells=cells)


# ── how many rows at once ───────────────────────────────────────────────────────────────────────────────────────────


class RowLimiter:
    """Lets in so many rows of a run at once, those of the slice that was begun first before all others.

    Served evenly, the slices that a process has would all end at the same moment, and it would wait for the next with
    nothing to do.
    """

    def __init__(self, size: int) -> None:
        self._free = size
        self._slices = count()
        self._arrivals = count()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []

    def of_next_slice(self) -> SliceEntry:
        return SliceEntry(self, next(self._slices))

    async def enter(self, slice_no: int) -> None:
        if self._free:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (slice_no, next(self._arrivals), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave()
            raise

    def leave(self) -> None:
        while self._waiting:
            *_, turn = heapq.heappop(self._waiting)
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


class SliceEntry:
    """The limiter for the rows of one slice: `async with entry`, as often as there are rows."""

    def __init__(self, limiter: RowLimiter, slice_no: int) -> None:
        self._limiter = limiter
        self._slice_no = slice_no

    async def __aenter__(self) -> None:
        await self._limiter.enter(self._slice_no)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._limiter.leave()


# ── what a run is told of the past: what earlier runs tried, and what people said of cells ───────────────────────────

SAID = 3
"""Remarks on a cell that are told, the newest."""
QUOTED = 160
"""Characters of a value or a note in a remark."""


class RunHistory:
    """Of the rows of one run, window by window."""

    def __init__(self, store: Store, table_id: str, fields: Sequence[Field], *, again: bool) -> None:
        """`again`: the user asked for another look, so what was searched and read before is avoided."""
        self._store = store
        self._table_id = table_id
        self._names = tuple(field.name for field in fields)
        self._again = again
        self._of_row: dict[RowId, RowHistory] = {}

    async def load(self, rows: Sequence[Row], run_id: str) -> None:
        """For these rows, as they stand in the table, from what there was before the run began."""
        row_ids = [row.id for row in rows]
        tried = [row.id for row in rows if self._again or self._is_tried(row)]
        attempts, corrections = self._store.attempts, self._store.corrections
        earlier = await attempts.of_rows(self._table_id, tried, columns=self._names, before=run_id) if tried else {}
        remarks = await corrections.remarks(self._table_id, row_ids, self._names)
        # A proposal is also refused as a whole, whatever its single values are worth. Who asks again means the value.
        refused = await corrections.refused(self._table_id, row_ids, self._names) if self._again else {}
        self._of_row = {
            row.id: RowHistory(
                attempts=tuple(earlier.get(row.id, ())),
                remarks={
                    name: [
                        *refused.get((row.id, name), ()),
                        *self._remarks(row.cell(name), remarks.get((row.id, name))),
                    ]
                    for name in self._names
                },
                flagged=frozenset(name for name in self._names if row.cell(name).status == "FLAGGED"),
            )
            for row in rows
        }

    def first(self, row: Row) -> Feedback:
        """What the first attempt at the row is told, of the cells that are open in it."""
        known = self._of_row.pop(row.id, None)
        if known is None:
            return FIRST
        is_open = {name for name in self._names if row.cell(name).needs_work}
        earlier = tuple(attempt for attempt in known.attempts if is_open.intersection(attempt.columns))
        said = {name: remarks[-SAID:] for name, remarks in known.remarks.items() if remarks and name in is_open}
        rejected = {name for name, remarks in said.items() if is_rejected(remarks, flagged=name in known.flagged)}
        asked_again = self._again or bool(rejected)
        return Feedback(
            earlier=earlier,
            avoided=tuple(each for each in earlier if asked_again and is_in_vain(each, is_open, rejected)),
            notes={name: ". ".join(map(in_words, remarks)) for name, remarks in said.items()},
        )

    def _is_tried(self, row: Row) -> bool:
        return any(cell.attempt > 0 or cell.status == "FLAGGED" for cell in map(row.cell, self._names))

    def _remarks(self, cell: Cell, known: Sequence[Remark] | None) -> list[Remark]:
        said = list(known or ())
        if cell.status == "FLAGGED" and not (said and said[-1].action == "flagged"):  # it came with its table
            said.append(Remark(action="flagged", value=cell.value, note=flag_note(cell)))
        return said


class RowHistory(Noun, frozen=True, gc=True):
    attempts: tuple[Attempt, ...]
    remarks: Mapping[str, Sequence[Remark]]
    flagged: frozenset[str]


def is_rejected(remarks: Sequence[Remark], *, flagged: bool) -> bool:
    """Whether a person does not want what was found. A page that no longer says what it said, which a recheck flags, is
    the first to ask what it says now."""
    return (flagged and remarks[-1].by_person) or any(remark.action == "refused" for remark in remarks)


def is_in_vain(attempt: Attempt, is_open: Collection[str], rejected: Collection[str]) -> bool:
    """Whether nothing that is wanted now came of it. What it found well, and nobody has decided on, is found again."""
    weak = {column.name for column in attempt.assessment.weak}
    return all(name in weak or name in rejected for name in attempt.columns if name in is_open)


def in_words(remark: Remark) -> str:
    value = f"'{shortened(show(remark.value), QUOTED)}'" if remark.value is not None else "the empty cell"
    if remark.action == "replaced":
        return f"A person replaced {value} by '{shortened(show(remark.replacement), QUOTED)}'"
    if remark.action in ("removed", "refused"):
        return f"A person {remark.action} {value}"
    flagged = f"A person flagged {value}" if remark.by_person else f"A check of its source flagged {value}"
    return f"{flagged}: {shortened(remark.note, QUOTED)}" if remark.note else flagged
